//! What the tables of the servers are computed from: keys, expiries and slots of every database of every file.
//!
//! Each file is a server of its own. Memory: a row a database of a file (from [`SHARED_FROM`] on they share one), and
//! where slots are counted 2 KiB for every 256 slots in use, for the first [`SLOTTED_DATABASES`] databases: a cluster's
//! node has one, or a few.

use std::collections::BTreeMap;
use std::mem;

use super::runs::{ByRun, Run, SHARED_FROM};
use super::slot_counts::{SLOTTED_DATABASES, SlotCounts};
use crate::memory::{DatabaseShape, InstanceShape};
use crate::units::Bytes;

/// What is counted of one server.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FileInstance {
    /// Position of its file among the inputs.
    pub file: usize,
    /// Its databases in numbers.
    pub shape: InstanceShape,
    /// Sum of `MEMORY USAGE` of all keys.
    pub memory: Bytes,
    /// What the allocator gives for all keys.
    pub allocated: Bytes,
}

/// One row a database of a file.
#[derive(Debug, Clone, Default)]
pub struct Instance {
    rows: BTreeMap<(usize, u64), Row>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    keys: u64,
    expiring: u64,
    name_bytes: Bytes,
    memory: Bytes,
    allocated: Bytes,
    slots: SlotCounts,
}

impl Row {
    fn merge(&mut self, other: Row) {
        self.keys += other.keys;
        self.expiring += other.expiring;
        self.name_bytes += other.name_bytes;
        self.memory += other.memory;
        self.allocated += other.allocated;
        self.slots.merge(other.slots);
    }
}

impl Instance {
    /// About how many bytes of memory it has grown to.
    pub fn heap_bytes(&self) -> usize {
        self.rows.values().map(|row| row.slots.heap_bytes()).sum()
    }

    /// The servers by their file.
    pub fn finish(self) -> Vec<FileInstance> {
        let mut servers: Vec<FileInstance> = Vec::new();
        for ((file, db), row) in self.rows {
            if servers.last().is_none_or(|last| last.file != file) {
                servers.push(FileInstance { file, ..FileInstance::default() });
            }
            let Some(server) = servers.last_mut() else { continue };
            server.memory += row.memory;
            server.allocated += row.allocated;
            let (name_bytes, slots) = (row.name_bytes.0, row.slots.in_use());
            let shape = DatabaseShape { db, keys: row.keys, expiring: row.expiring, name_bytes, slots };
            server.shape.databases.push(shape);
        }
        servers
    }
}

impl ByRun for Instance {
    fn add(&mut self, run: &mut Run) {
        let all = run.all();
        let row = Row {
            keys: all.keys,
            expiring: run.expiring(),
            name_bytes: run.name_bytes,
            memory: all.memory,
            allocated: run.allocated,
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

    fn instance(slotted: bool) -> Runs<Instance> {
        Runs::new(None, slotted, Instance::default())
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
        let servers = instance.finish().finish();
        let rows: Vec<_> = servers.iter().map(|server| (server.file, server.memory.0)).collect();
        assert_eq!(rows, [(0, 150), (1, 50)]);
        let databases = &servers[0].shape.databases;
        assert_eq!(
            databases.iter().map(|row| (row.db, row.keys, row.name_bytes)).collect::<Vec<_>>(),
            [(0, 2, 6), (3, 1, 3)]
        );
        assert_eq!(databases[0].slots, [SlotShape { keys: 2, expiring: 0 }]);
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
            assert!(instance.finish().finish()[0].shape.databases[0].slots.is_empty());
        }
    }

    struct BySum(Runs<Instance>);

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
            check_laws(&sample, || BySum(instance(true)), |instance| format!("{:?}", instance.0.finish().finish()));
        }
    }
}
