//! What the allocator gives for the parts of a value beyond what the server counts for them in `MEMORY USAGE`: room that
//! the rounding leaves, structures that are forgotten; or less, where the server counts what is not there.

use super::Model;
use super::growth::Growth;
use super::layout::*;
use super::rax::Shape;

/// An entry of a table whose elements have no value.
const BARE_ENTRY: u64 = 16;

/// What was given beyond what is counted.
#[inline]
pub fn gap(given: u64, counted: u64) -> i64 {
    given.wrapping_sub(counted).cast_signed()
}

/// A number of equal gaps.
fn gaps(each: i64, number: u64) -> i64 {
    each.saturating_mul(i64::try_from(number).unwrap_or(i64::MAX))
}

impl Model {
    /// What the allocator gives beyond what is counted for an allocation.
    #[inline]
    pub(super) fn slack(&self, size: u64, count: Count) -> i64 {
        match count {
            Count::Requested => gap(self.usable(size), size),
            Count::Usable => 0,
        }
    }

    /// What the allocator gives for a string of its own beyond what is counted.
    #[inline]
    pub(super) fn sds_slack(&self, len: u64) -> i64 {
        match self.layout.sds_count {
            SdsCount::Usable => 0,
            SdsCount::Requested | SdsCount::UsableUnlessTiny => {
                let size = self.sds_size(len);
                gap(self.usable(size), self.sds(len))
            }
        }
    }

    /// What the allocator gives for a packed blob beyond what is counted.
    pub(super) fn packed_slack(&self, size: u64) -> i64 {
        self.slack(size, self.layout.packed_count)
    }

    /// What the allocator gives for a pair beyond what is counted, the table's entry aside.
    #[inline]
    pub(super) fn pair_slack(&self, field: u64, value: u64, expires: bool) -> i64 {
        match self.layout.field {
            FieldForm::Strings => self.sds_slack(field) + self.sds_slack(value),
            FieldForm::Mstr => self.sds_slack(value),
            FieldForm::Entry { expiry } => {
                let (own, outside) = self.joint_pair(field, value, if expires { expiry } else { 0 });
                gap(self.usable(own), own) + if outside > 0 { self.sds_slack(value) } else { 0 }
            }
            FieldForm::RoundedEntry { .. } => 0,
        }
    }

    /// What the allocator gives for a table and its entries beyond what is counted for both.
    pub(super) fn table_slack(&self, table_use: TableUse, elements: u64, growth: &Growth) -> i64 {
        match self.layout.table {
            TableLayout::Dict { table, lone_members, entry, zset_entry } => {
                let structure = gap(self.usable(table), table);
                let counted = if table_use == TableUse::Zset { zset_entry } else { entry };
                let bare = match self.layout.bare {
                    BareElements::Never => false,
                    BareElements::Sets => table_use == TableUse::Set,
                    BareElements::All => true,
                };
                let entries = if table_use == TableUse::Set && lone_members {
                    0
                } else if bare {
                    gap(self.usable(BARE_ENTRY).saturating_mul(growth.followers()), counted.saturating_mul(elements))
                } else {
                    gaps(gap(self.usable(MAIN_ENTRY), counted), elements)
                };
                structure.saturating_add(entries)
            }
            TableLayout::Buckets { table, hash_metadata } => {
                let table = table + if table_use == TableUse::Hash { hash_metadata } else { 0 };
                gap(self.usable(table), table) + self.buckets_slack(growth)
            }
        }
    }

    /// What the allocator gives for buckets beyond their 64 bytes: one array of them, and those chained to it.
    pub(super) fn buckets_slack(&self, growth: &Growth) -> i64 {
        let array = growth.size().saturating_mul(64);
        gap(self.usable(array), array) + gaps(gap(self.usable(64), 64), growth.buckets().saturating_sub(growth.size()))
    }

    /// What the allocator gives for a skiplist and its table beyond what is counted, the nodes aside.
    pub(super) fn skiplist_slack(&self, members: u64, growth: &Growth) -> i64 {
        let skiplist = &self.layout.skiplist;
        let structure = gap(self.usable(skiplist.zset), skiplist.zset);
        let table = self.table_slack(TableUse::Zset, members, growth);
        if skiplist.only_nodes {
            let forgotten = self.usable(skiplist.list) + self.usable(skiplist.header) + self.bare_table();
            return structure + table + gap(forgotten, 0);
        }
        structure + table + self.slack(skiplist.list, skiplist.list_count)
    }

    /// What a radix tree really takes.
    pub(super) fn real_tree(&self, shape: TreeShape) -> u64 {
        let structure = match self.layout.stream.tree {
            TreeCount::Estimated => 24,
            TreeCount::Measured(structure) => structure,
        };
        self.usable(structure) + shape.bytes
    }
}
