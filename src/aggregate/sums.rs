//! All aggregates over runs, combined.

use serde::{Deserialize, Serialize};

use super::databases::DatabaseStats;
use super::expiry::ExpiryStats;
use super::instance::InstanceStats;
use super::runs::{ByRun, KeyRun};
use super::totals::TotalStats;
use crate::units::Millis;

/// All aggregates over runs.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunStats {
    /// Sums over all keys.
    pub totals: TotalStats,
    /// Sums per database.
    pub databases: DatabaseStats,
    /// Keys by the time left.
    pub expiry: ExpiryStats,
    /// Counts that determine the sizes of the servers' tables.
    pub instance: InstanceStats,
}

impl RunStats {
    /// Creates empty aggregates.
    pub fn new(reference: Option<Millis>) -> Self {
        RunStats {
            totals: TotalStats::default(),
            databases: DatabaseStats::default(),
            expiry: ExpiryStats::new(reference),
            instance: InstanceStats::default(),
        }
    }
}

impl ByRun for RunStats {
    fn add(&mut self, run: &mut KeyRun) {
        self.totals.add(run);
        self.databases.add(run);
        self.expiry.add(run);
        self.instance.add(run);
    }

    fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.databases.merge(other.databases);
        self.expiry.merge(other.expiry);
        self.instance.merge(other.instance);
    }

    fn settle_database(&mut self, db: u64) {
        self.databases.settle_database(db);
        self.instance.settle_database(db);
    }
}
