//! The aggregates over runs, as one.

use super::databases::Databases;
use super::expiry::Expiry;
use super::instance::Instance;
use super::runs::{ByRun, Run};
use super::totals::Totals;
use crate::units::Millis;

/// All aggregates over runs.
#[derive(Debug, Clone)]
pub struct Sums {
    /// Sums over all keys.
    pub totals: Totals,
    /// Sums per database.
    pub databases: Databases,
    /// Keys by the time left.
    pub expiry: Expiry,
    /// Counts that the sizes of the servers' tables depend on.
    pub instance: Instance,
}

impl Sums {
    /// Creates empty aggregates.
    pub fn new(reference: Option<Millis>) -> Self {
        Sums {
            totals: Totals::default(),
            databases: Databases::default(),
            expiry: Expiry::new(reference),
            instance: Instance::default(),
        }
    }
}

impl ByRun for Sums {
    fn add(&mut self, run: &mut Run) {
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
