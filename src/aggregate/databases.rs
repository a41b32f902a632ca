//! Keys and memory of each database.
//!
//! A file may select any 64-bit number, while a server has a few dozen databases. To keep a hostile file from creating
//! millions of rows, all databases from [`SHARED_FROM`] on share the row of that number. Which row a key belongs to
//! depends on its database alone, never on other keys.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::runs::{ByRun, KeyRun, SHARED_FROM};
use crate::report::{Database, Unknown};
use crate::units::Bytes;

/// One row per database. Without a reference time no key counts as expired.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DatabaseStats {
    rows: BTreeMap<u64, DatabaseSums>,
}

#[derive(Debug, Clone, Copy, Default, Serialize, Deserialize)]
struct DatabaseSums {
    keys: u64,
    memory: Bytes,
    disk: Bytes,
    with_ttl: u64,
    expired: u64,
    unknown: Unknown,
}

impl DatabaseSums {
    fn merge(&mut self, other: DatabaseSums) {
        self.keys = self.keys.saturating_add(other.keys);
        self.memory += other.memory;
        self.disk += other.disk;
        self.with_ttl = self.with_ttl.saturating_add(other.with_ttl);
        self.expired = self.expired.saturating_add(other.expired);
        self.unknown.merge(other.unknown);
    }
}

impl DatabaseStats {
    /// Returns the report's section: databases that hold keys, by number. The row numbered [`SHARED_FROM`] covers all
    /// databases from there on.
    pub fn finish(self) -> Vec<Database> {
        let row = |(db, row): (u64, DatabaseSums)| {
            let DatabaseSums { keys, memory, disk, with_ttl, expired, unknown } = row;
            Database { db, keys, memory, disk, with_ttl, expired, unknown }
        };
        self.rows.into_iter().map(row).collect()
    }
}

impl ByRun for DatabaseStats {
    fn add(&mut self, run: &mut KeyRun) {
        let all = run.all();
        let row = DatabaseSums {
            keys: all.keys,
            memory: all.memory,
            disk: run.disk,
            with_ttl: run.expiring(),
            expired: run.left.expired().keys,
            unknown: run.left.all_unknown(),
        };
        self.rows.entry(run.db).or_default().merge(row);
    }

    fn merge(&mut self, other: Self) {
        for (db, row) in other.rows {
            self.rows.entry(db).or_default().merge(row);
        }
    }

    fn settle_database(&mut self, db: u64) {
        for row in std::mem::take(&mut self.rows).into_values() {
            self.rows.entry(db.min(SHARED_FROM)).or_default().merge(row);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Aggregate;
    use super::super::runs::Runs;
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;

    fn databases() -> Runs<DatabaseStats> {
        Runs::new(Some(NOW), false, DatabaseStats::default())
    }

    fn in_database(db: u64) -> OwnedRecord {
        let mut record = OwnedRecord::string("a", 1, 10);
        record.rest.db = db;
        record
    }

    #[test]
    fn rows_come_by_number_however_the_file_jumps() {
        let databases = observe_all(databases(), &[2, 0, 2, 1, 0, 2].map(in_database)).finish().finish();
        let rows: Vec<_> = databases.iter().map(|row| (row.db, row.keys, row.memory.0)).collect();
        assert_eq!(rows, [(0, 2, 20), (1, 1, 10), (2, 3, 30)]);
    }

    #[test]
    fn absurd_databases_share_a_row() {
        let databases = observe_all(databases(), &[65_535, 65_536, 1 << 40, u64::MAX].map(in_database));
        let rows: Vec<_> = databases.finish().finish().iter().map(|row| (row.db, row.keys)).collect();
        assert_eq!(rows, [(65_535, 1), (65_536, 3)]);
    }

    #[test]
    fn a_part_without_keys_settles_to_no_row() {
        let mut databases = databases();
        databases.settle_database(5);
        assert!(databases.finish().finish().is_empty());
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, databases, |databases| databases.finish().finish());
        }
    }
}
