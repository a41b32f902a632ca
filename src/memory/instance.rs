//! What a whole server takes: the tables of its databases beside the keys, from counts alone.
//!
//! A database has a main table of all keys and one of those that expire. From Redis 7.4 and Valkey 8.0 on a cluster's
//! node has such a pair for every slot in use; before, slots are found by links in the entries, or by a radix tree.
//! What a server makes when it starts (arrays of 16 384 slots, indexes) is no part of this, but the servers count some
//! of it in their overhead lines. After `getMemoryOverheadData` in `object.c`, `kvstoreMemUsage` in `kvstore.c`.

use super::Model;
use super::growth::{Growth, TableKind, occupied};
use super::layout::{DatabaseEntry, Presized, SlotForm, StoreLayout, TableLayout};
use crate::pattern::slot;

/// Slots of a cluster.
const SLOTS: u64 = slot::SLOTS as u64;
/// An entry of a table up to 7.2, to which links of slots are added.
const ENTRY: u64 = 24;
/// Nodes of a radix tree beyond the run of a name's end, for each name: its leaf, and its part of the branches.
const TREE_LEAF: u64 = 8;
const TREE_BRANCHES: u64 = 20;

/// What one server holds, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceShape {
    /// Databases with keys, by number.
    pub databases: Vec<DatabaseShape>,
}

/// What one database holds, in numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DatabaseShape {
    /// Its number.
    pub db: u64,
    /// Keys.
    pub keys: u64,
    /// Those with an expiry.
    pub expiring: u64,
    /// Bytes of all names.
    pub name_bytes: u64,
    /// Cluster slots with keys; empty where they were not counted, and then the keys are taken to be spread evenly.
    pub slots: Vec<SlotShape>,
}

/// Keys of one cluster slot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SlotShape {
    /// Keys.
    pub keys: u32,
    /// Those with an expiry.
    pub expiring: u32,
}

/// Bytes of tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TableBytes {
    /// Tables of keys.
    pub main: u64,
    /// Tables of expiries.
    pub expires: u64,
    /// What finds the keys of a cluster slot: structures of its tables, links, or a tree.
    pub slots: u64,
}

impl TableBytes {
    /// All together.
    pub fn sum(&self) -> u64 {
        self.main.saturating_add(self.expires).saturating_add(self.slots)
    }

    fn add(&mut self, other: TableBytes) {
        self.main = self.main.saturating_add(other.main);
        self.expires = self.expires.saturating_add(other.expires);
        self.slots = self.slots.saturating_add(other.slots);
    }
}

/// What the tables of one database take.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseMemory {
    /// Its number.
    pub db: u64,
    /// What the allocator gives for the tables.
    pub tables: TableBytes,
    /// The same right after loading, while tables that grew are still moved.
    pub after_load: TableBytes,
    /// What `MEMORY STATS` answers as overhead; what it calls slot-to-keys are only links.
    pub overhead: TableBytes,
}

/// What the tables of a server take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct InstanceMemory {
    /// By database.
    pub databases: Vec<DatabaseMemory>,
    /// What a cluster's node takes for its slots, whatever its databases hold.
    pub late: u64,
}

impl InstanceMemory {
    /// What the allocator gives for all tables.
    pub fn tables(&self) -> TableBytes {
        self.with_late(self.total(|database| database.tables))
    }

    /// The same right after loading.
    pub fn after_load(&self) -> TableBytes {
        self.with_late(self.total(|database| database.after_load))
    }

    /// The overhead lines of all databases.
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

/// How a table has come to its size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableHistory {
    /// It was made for its keys.
    Presized,
    /// It has grown with them.
    Grown,
    /// The server had time for it since then.
    Rested,
}

/// When tables are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ReadMoment {
    Loaded,
    Settled,
}

impl StoreLayout {
    fn history(&self, moment: ReadMoment, cluster: bool) -> TableHistory {
        let presized = match self.presized {
            Presized::Never => false,
            Presized::InCluster => cluster,
            Presized::Always => true,
        };
        match moment {
            ReadMoment::Loaded if presized => TableHistory::Presized,
            ReadMoment::Loaded => TableHistory::Grown,
            ReadMoment::Settled if self.presized == Presized::Always => TableHistory::Presized,
            ReadMoment::Settled => TableHistory::Rested,
        }
    }
}

impl Model {
    /// The tables of a server that holds this.
    pub fn instance(&self, shape: &InstanceShape) -> InstanceMemory {
        let databases = shape.databases.iter().filter(|database| database.keys > 0);
        let late = match self.layout.instance.slots {
            SlotForm::Tables(store) if self.in_cluster() => store.late,
            SlotForm::Tables(_) | SlotForm::Tree | SlotForm::Links { .. } => 0,
        };
        InstanceMemory { late, databases: databases.map(|database| self.database(database)).collect() }
    }

    fn database(&self, shape: &DatabaseShape) -> DatabaseMemory {
        let (tables, overhead) = self.tables(shape, ReadMoment::Settled);
        let (after_load, _) = self.tables(shape, ReadMoment::Loaded);
        DatabaseMemory { db: shape.db, tables, after_load, overhead }
    }

    /// What the tables take, and what of it the server calls overhead.
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
                let history = store.history(moment, cluster);
                let (mut tables, mut overhead) = self.pair_of_tables(keys, expiring, history);
                let expires_tables = u64::from(expiring > 0);
                let (main, expires) = (self.usable(store.main_table), expires_tables * self.usable(store.table));
                tables.add(TableBytes { main, expires, slots: 0 });
                let (main, expires) = (store.main_table, expires_tables * store.table);
                overhead.add(TableBytes { main: store.store + main, expires: store.store + expires, slots: 0 });
                (tables, overhead)
            }
        }
    }

    /// A table of keys and one of expiries without the structures in front of them.
    fn pair_of_tables(&self, keys: u64, expiring: u64, history: TableHistory) -> (TableBytes, TableBytes) {
        let layout = &self.layout.instance;
        let (main, main_room) = self.database_table(keys, layout.main, history);
        let (expires, expires_room) = self.database_table(expiring, layout.expires, history);
        let counted = |entries: u64, each: u64, room: u64| entries.saturating_mul(each).saturating_add(room);
        let overhead = TableBytes {
            main: counted(keys, layout.counted_entry + layout.counted_object, main_room),
            expires: counted(expiring, layout.counted_entry, expires_room),
            slots: 0,
        };
        (TableBytes { main, expires, slots: 0 }, overhead)
    }

    /// A table with its entries as the allocator gives it, and its slots or buckets as they are counted.
    fn database_table(&self, elements: u64, entry: DatabaseEntry, history: TableHistory) -> (u64, u64) {
        if elements == 0 {
            return (0, 0);
        }
        let kind = match self.layout.table {
            TableLayout::Dict { .. } => TableKind::Slots,
            TableLayout::Buckets { .. } => TableKind::Buckets,
        };
        let growth = match history {
            TableHistory::Presized => Growth::presized(kind, elements),
            TableHistory::Grown => Growth::after(kind, elements),
            TableHistory::Rested => Growth::rested(kind, elements),
        };
        let entries = match entry {
            DatabaseEntry::Each(size) => elements.saturating_mul(self.usable(size)),
            DatabaseEntry::Chained(size) => growth.followers().saturating_mul(self.usable(size)),
            DatabaseEntry::None => 0,
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

    /// A pair of tables for each slot in use.
    fn tables_of_slots(
        &self,
        shape: &DatabaseShape,
        store: &StoreLayout,
        moment: ReadMoment,
    ) -> (TableBytes, TableBytes) {
        let history = store.history(moment, true);
        let made = store.store + store.index;
        let mut sums = (TableBytes::default(), TableBytes { main: made, expires: made, slots: 0 });
        let mut add = |keys: u64, expiring: u64, times: u64| {
            let (tables, overhead) = self.pair_of_tables(keys, expiring, history);
            let expires_tables = u64::from(expiring > 0 || store.paired);
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
        sums
    }

    /// Up to 6.2: a tree of all names, each behind its slot. An estimate: its shape depends on what names share.
    fn tree_of_names(&self, keys: u64, name_bytes: u64) -> u64 {
        let name = name_bytes.checked_div(keys).unwrap_or_default();
        let run = (4 + name).next_multiple_of(8) + 8;
        keys.saturating_mul(self.usable(run) + self.usable(TREE_LEAF) + TREE_BRANCHES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Allocator, Server, ServerConfig};

    fn model(server: &str, cluster: bool) -> Model {
        let mut config = ServerConfig::default();
        config.set("cluster-enabled", if cluster { "yes" } else { "no" }).unwrap();
        Model::for_server(Server::parse(server).unwrap(), Allocator::Jemalloc, &config)
    }

    fn shape(keys: u64, expiring: u64) -> InstanceShape {
        InstanceShape { databases: vec![DatabaseShape { keys, expiring, ..DatabaseShape::default() }] }
    }

    fn overhead(server: &str, keys: u64, expiring: u64) -> (u64, u64) {
        let TableBytes { main, expires, slots } = model(server, false).instance(&shape(keys, expiring)).overhead();
        assert_eq!(slots, 0);
        (main, expires)
    }

    /// Read off `MEMORY STATS` of running servers.
    #[test]
    fn overhead_is_what_servers_say() {
        assert_eq!(overhead("redis-4.0", 1209, 292), (64_744, 11_104));
        assert_eq!(overhead("redis-6.2", 1896, 473), (92_224, 15_448));
        assert_eq!(overhead("redis-7.2", 2076, 553), (115_808, 21_464));
        assert_eq!(overhead("redis-7.4", 1250, 314), (66_664, 11_912));
        assert_eq!(overhead("redis-8.0", 1275, 313), (70_080, 11_904));
        assert_eq!(overhead("redis-8.2", 1971, 475), (82_136, 11_976));
        assert_eq!(overhead("redis-8.6", 1971, 480), (82_168, 12_056));
        assert_eq!(overhead("valkey-8.0", 1896, 447), (92_400, 15_000));
    }

    #[test]
    fn links_of_slots_are_a_line_of_their_own() {
        let of = |server| model(server, true).instance(&shape(1116, 398)).overhead();
        assert_eq!(of("redis-7.0"), TableBytes { main: 61_024, expires: 13_648, slots: 17_856 });
        assert_eq!(of("redis-7.2").slots, 17_864);
        assert_eq!(of("redis-6.2").slots, 0);
        assert!(model("redis-6.2", true).instance(&shape(1116, 398)).tables().slots > 0);
    }

    #[test]
    fn every_slot_in_use_has_its_tables() {
        let slots = vec![SlotShape { keys: 1, expiring: 1 }, SlotShape { keys: 5, expiring: 0 }];
        let database = DatabaseShape { keys: 6, expiring: 1, slots, ..DatabaseShape::default() };
        let memory = model("redis-8.2", true).instance(&InstanceShape { databases: vec![database] });
        assert_eq!(memory.tables().slots, 2 * 2560 + 64);
        assert_eq!(memory.overhead().main, 6 * 32 + 8 * (4 + 8) + 2 * 2464 + 216);
        assert_eq!(memory.overhead().expires, 16 + 8 * 4 + 64 + 216);
    }

    #[test]
    fn tables_that_still_move_are_there_twice() {
        let memory = model("redis-7.4", false).instance(&shape(1500, 0));
        assert_eq!(memory.after_load().main - memory.tables().main, 8 * 1024);
        let memory = model("redis-7.2", false).instance(&shape(1500, 0));
        assert_eq!(memory.after_load(), memory.tables());
    }

    #[test]
    fn claims_do_not_overflow() {
        for server in ["redis-6.2", "redis-7.0", "redis-7.4", "redis-8.6", "valkey-9.1"] {
            for cluster in [false, true] {
                let mut shape = shape(u64::MAX, u64::MAX);
                shape.databases[0].name_bytes = u64::MAX;
                assert!(model(server, cluster).instance(&shape).tables().sum() > 0, "{server}");
            }
        }
    }
}
