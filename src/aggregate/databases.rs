//! How much each database holds.
//!
//! A file may select any 64-bit number, a server has a few dozen. So that a hostile file cannot make us keep
//! millions of rows, all databases from [`SHARED_FROM`] on share one row, under that number. Whether a key falls
//! there depends on its own database only, never on what else was seen.

use std::collections::BTreeMap;

use super::Aggregate;
use super::expiry::is_expired;
use crate::record::Record;
use crate::report::Database;
use crate::units::{Bytes, Millis};

/// Databases from this number on share the row of this number.
pub const SHARED_FROM: u64 = 65_536;

/// One row a database.
#[derive(Debug, Clone)]
pub struct Databases {
    reference: Option<Millis>,
    /// The database that is being read: keys come in runs of one database.
    current: u64,
    run: Row,
    /// What the runs before this one have added up to.
    rows: BTreeMap<u64, Row>,
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    keys: u64,
    memory: Bytes,
    disk: Bytes,
    with_ttl: u64,
    expired: u64,
}

impl Row {
    fn merge(&mut self, other: Row) {
        self.keys += other.keys;
        self.memory += other.memory;
        self.disk += other.disk;
        self.with_ttl += other.with_ttl;
        self.expired += other.expired;
    }
}

impl Databases {
    /// Nothing yet. Expiries will be held against `reference`; without one no key counts as expired.
    pub fn new(reference: Option<Millis>) -> Self {
        Databases { reference, current: 0, run: Row::default(), rows: BTreeMap::new() }
    }

    /// The report's section: databases that hold keys, by number. A row numbered [`SHARED_FROM`] stands for all
    /// databases from there on.
    pub fn finish(mut self) -> Vec<Database> {
        self.end_run();
        let row = |(db, row): (u64, Row)| {
            let Row { keys, memory, disk, with_ttl, expired } = row;
            Database { db, keys, memory, disk, with_ttl, expired }
        };
        self.rows.into_iter().map(row).collect()
    }

    #[cold]
    fn start_run(&mut self, row: u64) {
        self.end_run();
        self.current = row;
    }

    fn end_run(&mut self) {
        let run = std::mem::take(&mut self.run);
        if run.keys > 0 {
            self.rows.entry(self.current).or_default().merge(run);
        }
    }
}

impl Aggregate for Databases {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        let row = record.db.min(SHARED_FROM);
        if row != self.current {
            self.start_run(row);
        }
        self.run.keys += 1;
        self.run.memory += record.memory;
        self.run.disk += record.disk;
        self.run.with_ttl += u64::from(record.expires_at.is_some());
        self.run.expired += u64::from(is_expired(record.expires_at, self.reference));
    }

    fn merge(&mut self, mut other: Self) {
        other.end_run();
        for (db, row) in other.rows {
            self.rows.entry(db).or_default().merge(row);
        }
    }

    fn settle_database(&mut self, db: u64) {
        self.end_run();
        for row in std::mem::take(&mut self.rows).into_values() {
            self.run.merge(row);
        }
        self.current = db.min(SHARED_FROM);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;

    fn in_database(db: u64) -> OwnedRecord {
        let mut record = OwnedRecord::string("a", 1, 10);
        record.rest.db = db;
        record
    }

    #[test]
    fn rows_come_by_number_however_the_file_jumps() {
        let databases = observe_all(Databases::new(None), &[2, 0, 2, 1, 0, 2].map(in_database)).finish();
        let rows: Vec<_> = databases.iter().map(|row| (row.db, row.keys, row.memory.0)).collect();
        assert_eq!(rows, [(0, 2, 20), (1, 1, 10), (2, 3, 30)]);
    }

    #[test]
    fn absurd_databases_share_a_row() {
        let databases = observe_all(Databases::new(None), &[65_535, 65_536, 1 << 40, u64::MAX].map(in_database));
        let rows: Vec<_> = databases.finish().iter().map(|row| (row.db, row.keys)).collect();
        assert_eq!(rows, [(65_535, 1), (65_536, 3)]);
    }

    #[test]
    fn a_part_without_keys_settles_to_no_row() {
        let mut databases = Databases::new(None);
        databases.settle_database(5);
        assert!(databases.finish().is_empty());
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, || Databases::new(Some(NOW)), Databases::finish);
        }
    }
}
