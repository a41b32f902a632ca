//! Memory of a server's database tables, computed from the counts of keys and expiries.
//!
//! A database has a main table of all keys and a table of expiries. From Redis 7.4 and Valkey 8.0 on, a cluster node has
//! such a pair for every slot in use; older servers find slots by links in the entries or by a radix tree. Structures
//! allocated at startup (arrays of 16,384 slots, indexes) are not included, although servers report some of them as
//! overhead. Follows `getMemoryOverheadData` (`object.c`) and `kvstoreMemUsage` (`kvstore.c`).

use serde::{Deserialize, Serialize};

use super::growth::{Growth, TableKind, occupied};
use super::layout::{
    DatabaseEntry, DatabaseStructures, FieldExpiryIndex, Presized, SlotForm, StoreLayout, TableLayout,
};
use super::{Model, ServerConfig};
use crate::pattern::slot;

/// Slots of a cluster.
const SLOTS: u64 = slot::SLOTS as u64;
/// An entry of a table up to 7.2, to which links of slots are added.
const ENTRY: u64 = 24;
/// Radix tree nodes per key besides its compressed run: the leaf, and a share of the branches.
const TREE_LEAF: u64 = 8;
const TREE_BRANCHES: u64 = 20;
/// Hashes with expiring fields that are kept without a tree, and mean number of hashes of a segment: segments of 16 that are
/// halved when full are 69 % full.
const SEGMENT_ROOM: u64 = 16;
const SEGMENT_HASHES: u64 = 11;
/// A segment, its leaf, the compressed run before the leaf, and its share of a branch in a tree of times.
const SEGMENT: u64 = 16;
const SEGMENT_LEAF: u64 = 16;
const SEGMENT_RUN: u64 = 16;
const BRANCH: u64 = 10;

/// Key counts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceShape {
    /// Databases with keys, by number.
    pub databases: Vec<DatabaseShape>,
}

/// Key counts of one database.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseShape {
    /// Database number.
    pub db: u64,
    /// Number of keys.
    pub keys: u64,
    /// Number of keys with an expiry.
    pub expiring: u64,
    /// Number of hashes with expiring fields.
    pub with_expiring_fields: u64,
    /// Total length of all keys.
    pub name_bytes: u64,
    /// Cluster slots with keys; if empty, keys are assumed to be spread evenly.
    pub slots: Vec<SlotShape>,
    /// Slot 0, which is one of `slots` if it has keys.
    pub first_slot: SlotShape,
}

/// Key counts of one cluster slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotShape {
    /// Keys.
    pub keys: u32,
    /// Number of keys with an expiry.
    pub expiring: u32,
}

/// Memory of tables in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableBytes {
    /// Main tables.
    pub main: u64,
    /// Expiry tables.
    pub expires: u64,
    /// Structures that find the keys of a cluster slot: per-slot tables, links or a radix tree.
    pub slots: u64,
}

impl TableBytes {
    /// Returns the total.
    pub fn sum(&self) -> u64 {
        self.main.saturating_add(self.expires).saturating_add(self.slots)
    }

    fn add(&mut self, other: TableBytes) {
        self.main = self.main.saturating_add(other.main);
        self.expires = self.expires.saturating_add(other.expires);
        self.slots = self.slots.saturating_add(other.slots);
    }
}

/// Memory of the tables of one database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseMemory {
    /// Database number.
    pub db: u64,
    /// Allocated bytes.
    pub tables: TableBytes,
    /// Allocated bytes right after loading, while rehashing is still in progress.
    pub after_load: TableBytes,
    /// Overhead as reported by `MEMORY STATS`, whose `slot-to-keys` counts only links.
    pub overhead: TableBytes,
}

/// Memory of the tables of a server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceMemory {
    /// Tables by database.
    pub databases: Vec<DatabaseMemory>,
    /// Per-slot memory of a cluster node that does not depend on its keys, and is of no database.
    pub late: u64,
}

impl InstanceMemory {
    /// Returns the allocated bytes of all tables.
    pub fn tables(&self) -> TableBytes {
        self.with_late(self.total(|database| database.tables))
    }

    /// Returns the allocated bytes of all tables right after loading.
    pub fn after_load(&self) -> TableBytes {
        self.with_late(self.total(|database| database.after_load))
    }

    /// Returns the overhead of all databases as reported by `MEMORY STATS`.
    pub fn overhead(&self) -> TableBytes {
        self.total(|database| database.overhead)
    }

    fn with_late(&self, mut tables: TableBytes) -> TableBytes {
        tables.slots = tables.slots.saturating_add(self.late);
        tables
    }

    fn total(&self, of: impl Fn(&DatabaseMemory) -> TableBytes) -> TableBytes {
        let mut total = TableBytes::default();
        self.databases.iter().for_each(|database| total.add(of(database)));
        total
    }
}

/// Way a table has reached its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableHistory {
    /// Created with its final size.
    Presized,
    /// Created with its final size; if full, the server has begun to double it.
    PresizedAndIdle,
    /// Grown by insertions.
    Grown,
    /// Grown by insertions; if full, the server has begun to double it.
    GrownAndIdle,
    /// Grown, and rehashing completed in idle time.
    Rested,
}

/// Point in time at which tables are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadMoment {
    Loaded,
    Settled,
}

impl StoreLayout {
    fn history(&self, moment: ReadMoment, config: &ServerConfig) -> TableHistory {
        let cluster = config.in_cluster();
        let presized = match self.presized {
            Presized::Never => false,
            Presized::InCluster => cluster,
            Presized::AtLoad | Presized::Always => true,
        };
        match moment {
            _ if self.presized == Presized::Always => TableHistory::Presized,
            ReadMoment::Settled if config.active_rehashing => TableHistory::Rested,
            // In a cluster node, tables of slots are doubled one after the other, which takes minutes.
            ReadMoment::Settled | ReadMoment::Loaded => match (presized, cluster) {
                (true, true) => TableHistory::Presized,
                (true, false) => TableHistory::PresizedAndIdle,
                (false, true) => TableHistory::Grown,
                (false, false) => TableHistory::GrownAndIdle,
            },
        }
    }

    /// Returns whether a main table has an expiry table.
    fn has_expires(&self, expiring: u64, cluster: bool) -> bool {
        expiring > 0 || self.paired && (cluster || self.presized == Presized::AtLoad)
    }
}

impl Model {
    /// Returns the memory of the tables of a server with these key counts.
    pub fn instance(&self, shape: &InstanceShape) -> InstanceMemory {
        let databases = shape.databases.iter().filter(|database| database.keys > 0);
        let late = match self.layout.instance.slots {
            SlotForm::Tables(store) if self.in_cluster() => store.late,
            SlotForm::Tables(_) | SlotForm::Tree | SlotForm::Links { .. } => 0,
        };
        InstanceMemory { late, databases: databases.map(|database| self.database(database)).collect() }
    }

    fn database(&self, shape: &DatabaseShape) -> DatabaseMemory {
        let (mut tables, overhead) = self.tables(shape, ReadMoment::Settled);
        let (mut after_load, _) = self.tables(shape, ReadMoment::Loaded);
        let expires = self.field_expiries(shape.with_expiring_fields);
        tables.add(TableBytes { expires, ..TableBytes::default() });
        after_load.add(TableBytes { expires, ..TableBytes::default() });
        DatabaseMemory { db: shape.db, tables, after_load, overhead }
    }

    /// Returns the index of a database's hashes with expiring fields; an estimate for radix trees, whose shape depends on the
    /// times, and in a cluster node, where their slots are not known.
    fn field_expiries(&self, hashes: u64) -> u64 {
        match self.layout.instance.expiring_fields {
            FieldExpiryIndex::Buckets if hashes > SEGMENT_ROOM && !self.in_cluster() => {
                let leaf = if self.layout.stream.tree.has_leaves() { SEGMENT_LEAF } else { 0 };
                (hashes / SEGMENT_HASHES)
                    .saturating_mul(self.usable(SEGMENT) + self.usable(SEGMENT_RUN) + leaf + BRANCH)
            }
            FieldExpiryIndex::Table if hashes > 0 => {
                let tables = if self.in_cluster() { occupied(hashes, SLOTS).max(1) } else { 1 };
                let growth = Growth::rested(TableKind::Buckets, hashes.div_ceil(tables));
                let buckets = growth.buckets().saturating_mul(64).saturating_add_signed(self.buckets_slack(&growth));
                let table = match self.layout.instance.slots {
                    SlotForm::Tables(store) => self.usable(store.table),
                    SlotForm::Tree | SlotForm::Links { .. } => 0,
                };
                buckets.saturating_add(table).saturating_mul(tables)
            }
            FieldExpiryIndex::Buckets | FieldExpiryIndex::Table | FieldExpiryIndex::None => 0,
        }
    }

    /// Returns allocated bytes and reported overhead of one database.
    fn tables(&self, shape: &DatabaseShape, moment: ReadMoment) -> (TableBytes, TableBytes) {
        let &DatabaseShape { keys, expiring, name_bytes, .. } = shape;
        let cluster = self.config.in_cluster();
        match self.layout.instance.slots {
            SlotForm::Tree => {
                let (mut tables, overhead) = self.pair_of_tables(keys, expiring, TableHistory::Presized);
                tables.slots = if cluster { self.tree_of_names(keys, name_bytes) } else { 0 };
                (tables, overhead)
            }
            SlotForm::Links { entry, database } => {
                let (mut tables, mut overhead) = self.pair_of_tables(keys, expiring, TableHistory::Presized);
                if cluster {
                    tables.slots = keys.saturating_mul(self.usable(ENTRY + entry) - self.usable(ENTRY));
                    overhead.slots = keys.saturating_mul(entry).saturating_add(database);
                }
                (tables, overhead)
            }
            SlotForm::Tables(store) if cluster => self.tables_of_slots(shape, &store, moment),
            SlotForm::Tables(store) => {
                let history = store.history(moment, &self.config);
                let (mut tables, mut overhead) = self.pair_of_tables(keys, expiring, history);
                let expires_tables = u64::from(store.has_expires(expiring, cluster));
                let (main, expires) = (self.usable(store.main_table), expires_tables * self.usable(store.table));
                tables.add(TableBytes { main, expires, slots: 0 });
                let (main, expires) = (store.main_table, expires_tables * store.table);
                overhead.add(TableBytes { main: store.store + main, expires: store.store + expires, slots: 0 });
                tables.add(self.structures(shape.db, &store));
                (tables, overhead)
            }
        }
    }

    /// Returns the structures of a database that are allocated when it is first used.
    fn structures(&self, db: u64, store: &StoreLayout) -> TableBytes {
        let Some(structures) = store.on_demand.filter(|_| db > 0) else { return TableBytes::default() };
        let DatabaseStructures { database, dicts, dict, stores, store, index } = structures;
        let store: u64 = store.into_iter().map(|size| self.usable(size)).sum();
        let pointers = if self.in_cluster() { self.usable(8 * SLOTS) + self.usable(index) } else { self.usable(8) };
        let (main, slots) = if self.in_cluster() { (0, stores * pointers) } else { (stores * pointers, 0) };
        let main = main + self.usable(database) + dicts * self.usable(dict) + stores * store;
        TableBytes { main, expires: 0, slots }
    }

    /// Returns allocated bytes and reported overhead of a main and an expiry table, without their headers.
    fn pair_of_tables(&self, keys: u64, expiring: u64, history: TableHistory) -> (TableBytes, TableBytes) {
        let layout = &self.layout.instance;
        let (main, main_room) = self.database_table(keys, layout.main, history);
        let (expires, expires_room) = self.database_table(expiring, layout.expires, history);
        let counted = |entries: u64, each: u64, room: u64| entries.saturating_mul(each).saturating_add(room);
        let listed = if layout.expires == DatabaseEntry::NoTable { 0 } else { expiring };
        let overhead = TableBytes {
            main: counted(keys, layout.counted_entry + layout.counted_object, main_room),
            expires: counted(listed, layout.counted_entry, expires_room),
            slots: 0,
        };
        (TableBytes { main, expires, slots: 0 }, overhead)
    }

    /// Returns the allocated bytes of a table with its entries, and the counted bytes of its slots or buckets.
    fn database_table(&self, elements: u64, entry: DatabaseEntry, history: TableHistory) -> (u64, u64) {
        // Up to 7.2, a table is created for the declared number of keys even if that is 0.
        let created = history == TableHistory::Presized && !matches!(self.layout.instance.slots, SlotForm::Tables(_));
        if entry == DatabaseEntry::NoTable || elements == 0 && !created {
            return (0, 0);
        }
        let kind = match self.layout.table {
            TableLayout::Dict { .. } => TableKind::Slots,
            TableLayout::Buckets { .. } => TableKind::Buckets,
        };
        let growth = match history {
            TableHistory::Presized => Growth::presized(kind, elements),
            TableHistory::PresizedAndIdle => Growth::presized(kind, elements).once_idle(),
            TableHistory::Grown => Growth::after(kind, elements),
            TableHistory::GrownAndIdle => Growth::after(kind, elements).once_idle(),
            TableHistory::Rested => Growth::rested(kind, elements),
        };
        let entries = match entry {
            DatabaseEntry::Each(size) => elements.saturating_mul(self.usable(size)),
            DatabaseEntry::Chained(size) => growth.followers().saturating_mul(self.usable(size)),
            DatabaseEntry::None | DatabaseEntry::NoTable => 0,
        };
        let (given, counted) = match kind {
            TableKind::Slots => {
                let counted = growth.size().saturating_mul(8);
                (self.usable(counted), counted)
            }
            TableKind::Buckets => {
                let counted = growth.buckets().saturating_mul(64);
                (counted.saturating_add_signed(self.buckets_slack(&growth)), counted)
            }
        };
        (given.saturating_add(entries), counted)
    }

    /// Returns allocated bytes and reported overhead of a pair of tables per slot in use.
    fn tables_of_slots(
        &self,
        shape: &DatabaseShape,
        store: &StoreLayout,
        moment: ReadMoment,
    ) -> (TableBytes, TableBytes) {
        let history = store.history(moment, &self.config);
        let made = store.store + store.index;
        let mut sums = (self.structures(shape.db, store), TableBytes { main: made, expires: made, slots: 0 });
        let mut add = |keys: u64, expiring: u64, times: u64| {
            let (tables, overhead) = self.pair_of_tables(keys, expiring, history);
            let expires_tables = u64::from(store.has_expires(expiring, true));
            let all = |bytes: u64| bytes.saturating_mul(times);
            sums.0.add(TableBytes {
                main: all(tables.main),
                expires: all(tables.expires),
                slots: all(self.usable(store.main_table) + expires_tables * self.usable(store.table)),
            });
            sums.1.add(TableBytes {
                main: all(overhead.main.saturating_add(store.main_table)),
                expires: all(overhead.expires.saturating_add(expires_tables * store.table)),
                slots: 0,
            });
        };
        if shape.slots.is_empty() {
            let used = occupied(shape.keys, SLOTS).max(1);
            add(shape.keys.div_ceil(used), shape.expiring.div_ceil(used), used);
        }
        for slot in &shape.slots {
            add(slot.keys.into(), slot.expiring.into(), 1);
        }
        // The search for expired keys begins with slot 0, and frees its table if that is empty.
        if store.paired && shape.expiring > 0 && shape.first_slot.keys > 0 && shape.first_slot.expiring == 0 {
            sums.0.slots = sums.0.slots.saturating_sub(self.usable(store.table));
            sums.1.expires = sums.1.expires.saturating_sub(store.table);
        }
        sums
    }

    /// Estimates the radix tree of all keys, prefixed by slot (up to 6.2); its shape depends on common prefixes.
    fn tree_of_names(&self, keys: u64, name_bytes: u64) -> u64 {
        let name = name_bytes.checked_div(keys).unwrap_or_default();
        let run = (4 + name).next_multiple_of(8) + 8;
        keys.saturating_mul(self.usable(run) + self.usable(TREE_LEAF) + TREE_BRANCHES)
    }
}

#[cfg(test)]
mod tests;
