//! Keys, expiries and slots per database and file: the input for the sizes of the servers' hash tables.
//!
//! Each file is a server of its own, but for the files of a Dragonfly snapshot. Memory: one row per database of a file
//! (those from [`SHARED_FROM`] on share one), and where slots are counted 2 KiB per 256 slots in use, for the first
//! [`SLOTTED_DATABASES`] databases only: a cluster node has one database, or a few.

use std::collections::BTreeMap;
use std::mem;

use serde::{Deserialize, Serialize};

use super::runs::{ByRun, KeyRun, SHARED_FROM};
use super::slot_counts::{SLOTTED_DATABASES, SlotCounts};
use crate::memory::{DatabaseShape, InstanceShape};
use crate::report::Weight;
use crate::units::Bytes;

/// Counts of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInstance {
    /// Position of its first file with keys among the inputs.
    pub file: usize,
    /// Key counts of its databases.
    pub shape: InstanceShape,
    /// Sum of `MEMORY USAGE` of all keys.
    pub memory: Bytes,
    /// Bytes that the allocator hands out for all keys.
    pub allocated: Bytes,
    /// Keys without an expiry.
    pub without_ttl: Weight,
    /// Hashes among them whose fields all have one.
    pub fields_expire: Weight,
}

impl FileInstance {
    fn of(file: usize, databases: BTreeMap<u64, InstanceRow>) -> FileInstance {
        let mut server = FileInstance { file, ..FileInstance::default() };
        for (db, row) in databases {
            server.memory += row.memory;
            server.allocated += row.allocated;
            server.without_ttl.merge(row.without_ttl);
            server.fields_expire.merge(row.fields_expire);
            let (name_bytes, slots, first_slot) = (row.name_bytes.0, row.slots.in_use(), row.slots.first());
            let InstanceRow { keys, expiring, with_expiring_fields, .. } = row;
            let shape = DatabaseShape { db, keys, expiring, with_expiring_fields, name_bytes, slots, first_slot };
            server.shape.databases.push(shape);
        }
        server
    }
}

/// One row per database of a file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct InstanceStats {
    rows: BTreeMap<(usize, u64), InstanceRow>,
}

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct InstanceRow {
    keys: u64,
    expiring: u64,
    with_expiring_fields: u64,
    name_bytes: Bytes,
    memory: Bytes,
    allocated: Bytes,
    without_ttl: Weight,
    fields_expire: Weight,
    slots: SlotCounts,
}

impl InstanceRow {
    fn merge(&mut self, other: InstanceRow) {
        self.keys = self.keys.saturating_add(other.keys);
        self.expiring = self.expiring.saturating_add(other.expiring);
        self.with_expiring_fields = self.with_expiring_fields.saturating_add(other.with_expiring_fields);
        self.name_bytes += other.name_bytes;
        self.memory += other.memory;
        self.allocated += other.allocated;
        self.without_ttl.merge(other.without_ttl);
        self.fields_expire.merge(other.fields_expire);
        self.slots.merge(other.slots);
    }
}

impl InstanceStats {
    /// Returns roughly how many heap bytes it takes.
    pub fn heap_bytes(&self) -> usize {
        self.rows.values().map(|row| row.slots.heap_bytes()).sum()
    }

    /// Returns the servers, in the order of their files. `first_files` holds for each file the position of the first one of its server;
    /// those that it lacks are servers of their own.
    pub fn finish(self, first_files: &[usize]) -> Vec<FileInstance> {
        let mut servers: BTreeMap<usize, (usize, BTreeMap<u64, InstanceRow>)> = BTreeMap::new();
        for ((file, db), row) in self.rows {
            let first = first_files.get(file).copied().unwrap_or(file);
            let (_, databases) = servers.entry(first).or_insert_with(|| (file, BTreeMap::new()));
            databases.entry(db).or_default().merge(row);
        }
        servers.into_values().map(|(file, databases)| FileInstance::of(file, databases)).collect()
    }
}

impl ByRun for InstanceStats {
    fn add(&mut self, run: &mut KeyRun) {
        let all = run.all();
        let row = InstanceRow {
            keys: all.keys,
            expiring: run.expiring(),
            with_expiring_fields: run.with_expiring_fields,
            name_bytes: run.name_bytes,
            memory: all.memory,
            allocated: run.allocated,
            without_ttl: run.left.without_ttl(),
            fields_expire: run.fields_expire,
            slots: mem::take(&mut run.slots),
        };
        self.rows.entry((run.file, run.db)).or_default().merge(row);
    }

    fn merge(&mut self, other: Self) {
        for (place, row) in other.rows {
            self.rows.entry(place).or_default().merge(row);
        }
    }

    fn settle_database(&mut self, db: u64) {
        let db = db.min(SHARED_FROM);
        for ((file, _), mut row) in mem::take(&mut self.rows) {
            if db >= SLOTTED_DATABASES {
                row.slots = SlotCounts::default();
            }
            self.rows.entry((file, db)).or_default().merge(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Aggregate;
    use super::super::runs::Runs;
    use super::super::testing::{OwnedRecord, check_laws, samples};
    use super::*;
    use crate::memory::SlotShape;
    use crate::record::Record;

    fn instance(slotted: bool) -> Runs<InstanceStats> {
        Runs::new(None, slotted, InstanceStats::default())
    }

    fn slot_of(record: &Record<'_>) -> u16 {
        record.key.iter().map(|&byte| u16::from(byte) * 37).sum()
    }

    #[test]
    fn every_file_is_a_server_of_its_own() {
        let mut instance = instance(true);
        for (file, db, slot) in [(0, 0, 5), (1, 0, 5), (0, 0, 5), (0, 3, 16_383)] {
            let mut record = OwnedRecord::string("key", 1, 50);
            (record.rest.file, record.rest.db) = (file, db);
            instance.observe(&record.record());
            instance.count_slot(&record.record(), slot);
        }
        let servers = instance.finish().finish(&[]);
        let rows: Vec<_> = servers.iter().map(|server| (server.file, server.memory.0)).collect();
        assert_eq!(rows, [(0, 150), (1, 50)]);
        let databases = &servers[0].shape.databases;
        assert_eq!(
            databases.iter().map(|row| (row.db, row.keys, row.name_bytes)).collect::<Vec<_>>(),
            [(0, 2, 6), (3, 1, 3)]
        );
        assert_eq!(databases[0].slots, [SlotShape { keys: 2, expiring: 0 }]);
        assert_eq!(databases[0].first_slot, SlotShape::default());
    }

    #[test]
    fn files_of_one_server_are_counted_together() {
        let mut instance = instance(true);
        for file in [0, 1, 2, 4, 5] {
            let mut record = OwnedRecord::string("key", 1, 50);
            record.rest.file = file;
            instance.observe(&record.record());
        }
        // The file at 3 has no keys, such as one that cannot be read.
        let servers = instance.finish().finish(&[0, 1, 0, 3, 3, 3]);
        let rows: Vec<_> = servers.iter().map(|it| (it.file, it.memory.0, it.shape.databases[0].keys)).collect();
        assert_eq!(rows, [(0, 100, 2), (1, 50, 1), (4, 100, 2)]);
    }

    #[test]
    fn slot_0_is_told_apart() {
        let mut instance = instance(true);
        let record = OwnedRecord::string("key", 1, 50);
        for slot in [0, 5, 0] {
            instance.observe(&record.record());
            instance.count_slot(&record.record(), slot);
        }
        let databases = &instance.finish().finish(&[])[0].shape.databases;
        assert_eq!(databases[0].first_slot, SlotShape { keys: 2, expiring: 0 });
    }

    #[test]
    fn slots_are_counted_where_they_are_of_use() {
        let mut record = OwnedRecord::string("key", 1, 50);
        record.rest.db = SLOTTED_DATABASES;
        for slotted in [false, true] {
            let mut instance = instance(slotted);
            instance.observe(&record.record());
            instance.count_slot(&record.record(), 3);
            assert_eq!(instance.heap_bytes().0, 0);
            assert!(instance.finish().finish(&[])[0].shape.databases[0].slots.is_empty());
        }
    }

    #[derive(Serialize, Deserialize)]
    struct BySum(Runs<InstanceStats>);

    impl Aggregate for BySum {
        fn observe(&mut self, record: &Record<'_>) {
            self.0.observe(record);
            self.0.count_slot(record, slot_of(record));
        }
        fn merge(&mut self, other: Self) {
            self.0.merge(other.0);
        }
        fn settle_database(&mut self, db: u64) {
            self.0.settle_database(db);
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, || BySum(instance(true)), |instance| format!("{:?}", instance.0.finish().finish(&[])));
        }
    }
}
