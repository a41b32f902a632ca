//! Keys out of use, by the least time since their last access.

use serde::{Deserialize, Serialize};

use crate::record::Record;
use crate::report::{COLD_DAYS, ColdStep, Weight};
use crate::units::DAY_SECONDS;

/// Keys that were not accessed for each of [`COLD_DAYS`]; a key that counts for 30 days counts for 7, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColdKeys([Weight; COLD_DAYS.len()]);

impl ColdKeys {
    /// Returns the idle time of a key that is out of use for the first of the limits; `None` for all others.
    #[inline]
    pub fn idle_time(record: &Record<'_>) -> Option<u64> {
        record.idle.filter(|idle| *idle >= COLD_DAYS[0] * DAY_SECONDS)
    }

    /// Adds a key, given its idle time in seconds.
    pub fn add(&mut self, record: &Record<'_>, idle: u64) {
        let steps = self.0.iter_mut().zip(COLD_DAYS).filter(|(_, days)| idle >= days * DAY_SECONDS);
        steps.for_each(|(weight, _)| weight.add(record.memory));
    }

    /// Adds the keys of `other`.
    pub fn merge(&mut self, other: &ColdKeys) {
        Weight::merge_all(&mut self.0, &other.0);
    }

    /// Returns the keys not accessed for the first of the limits.
    pub fn least(&self) -> Weight {
        self.0[0]
    }

    /// Returns a step for each limit.
    pub fn steps(&self) -> Vec<ColdStep> {
        let step = |(days, weight): (u64, &Weight)| ColdStep { days, keys: weight.keys, memory: weight.memory };
        COLD_DAYS.into_iter().zip(&self.0).map(step).collect()
    }
}
