//! Difference between allocated bytes and those counted by `MEMORY USAGE`: rounding, omitted structures, or a negative
//! value where the server counts too much.

use super::Model;
use super::growth::Growth;
use super::layout::*;
use super::rax::TreeShape;

/// Size of an entry of a table without values.
const BARE_ENTRY: u64 = 16;
/// Size of a leaf of a radix tree.
const LEAF: u64 = 16;

/// Returns `given - counted`, saturating.
#[inline]
pub fn gap(given: u64, counted: u64) -> i64 {
    given.wrapping_sub(counted).cast_signed()
}

/// Returns the sum of `number` equal gaps.
fn gaps(each: i64, number: u64) -> i64 {
    each.saturating_mul(i64::try_from(number).unwrap_or(i64::MAX))
}

impl Model {
    /// Returns the slack of an allocation.
    #[inline]
    pub(super) fn slack(&self, size: u64, count: Count) -> i64 {
        match count {
            Count::Requested => gap(self.usable(size), size),
            Count::Usable => 0,
        }
    }

    /// Returns the slack of a separate string.
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

    /// Returns the slack of a packed blob.
    #[inline]
    pub(super) fn packed_slack(&self, size: u64) -> i64 {
        self.slack(size, self.layout.packed_count)
    }

    /// Returns the slack of a pair, without its table entry.
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

    /// Returns the slack of a table and its entries.
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

    /// Returns the slack of the bucket array and the chained buckets, of 64 bytes each.
    pub(super) fn buckets_slack(&self, growth: &Growth) -> i64 {
        let array = growth.size().saturating_mul(64);
        gap(self.usable(array), array) + gaps(gap(self.usable(64), 64), growth.buckets().saturating_sub(growth.size()))
    }

    /// Returns the slack of a skiplist and its table, without nodes.
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

    /// Returns the allocated size of a radix tree.
    pub(super) fn real_tree(&self, shape: TreeShape) -> u64 {
        let tree = self.layout.stream.tree;
        let leaves = if tree.has_leaves() { 0 } else { self.usable(LEAF).saturating_mul(shape.keys) };
        self.usable(tree.structure()).saturating_add(shape.bytes.saturating_sub(leaves))
    }
}
