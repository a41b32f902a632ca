//! Time since the last use of keys, in dumps that record it (LRU policies).

use serde::{Deserialize, Serialize};

use super::Aggregate;
use crate::record::Record;
use crate::report::{self, IdleClass, Unknown, Weight};
use crate::units::{DAY_SECONDS as DAY, HOUR_SECONDS as HOUR, MINUTE_SECONDS as MINUTE};

/// Classes of idle time with an upper end, each with its limit in seconds (exclusive).
const IDLE_BELOW: [(&str, u64); 9] = [
    ("< 1 min", MINUTE),
    ("< 10 min", 10 * MINUTE),
    ("< 1 hour", HOUR),
    ("< 6 hours", 6 * HOUR),
    ("< 1 day", DAY),
    ("< 7 days", 7 * DAY),
    ("< 30 days", 30 * DAY),
    ("< 90 days", 90 * DAY),
    ("< 1 year", 365 * DAY),
];
/// The class without an upper end.
const IDLE_OPEN: &str = "> 1 year";

/// Keys by the time since their last use.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct IdleTimes {
    classes: [Weight; IDLE_BELOW.len() + 1],
    unknown: [Unknown; IDLE_BELOW.len() + 1],
}

impl IdleTimes {
    #[inline(never)] // few dumps have idle times
    fn add(&mut self, record: &Record<'_>, idle: u64) {
        let class = IDLE_BELOW.iter().filter(|(_, below)| idle >= *below).count();
        self.classes[class].add(record.memory);
        self.unknown[class].note(record.memory, record.disk);
    }

    /// Returns the report's section, or `None` if no key records an idle time.
    pub fn finish(self) -> Option<report::Idle> {
        let keys = self.classes.iter().copied().sum::<Weight>().keys;
        let names = IDLE_BELOW.into_iter().map(|(idle, below)| (idle, Some(below))).chain([(IDLE_OPEN, None)]);
        let class = |(((idle, below_s), tally), unknown): (((&'static str, Option<u64>), &Weight), &Unknown)| {
            IdleClass { idle: idle.into(), below_s, keys: tally.keys, memory: tally.memory, unknown: *unknown }
        };
        let classes = names.zip(&self.classes).zip(&self.unknown).map(class).collect();
        // Patterns and owners come from aggregates of their own.
        (keys > 0).then(|| report::Idle { keys, classes, distinct_patterns: 0, parts: Vec::new() })
    }
}

impl Aggregate for IdleTimes {
    #[inline(always)]
    fn observe(&mut self, record: &Record<'_>) {
        if let Some(idle) = record.idle {
            self.add(record, idle);
        }
    }

    fn merge(&mut self, other: Self) {
        Weight::merge_all(&mut self.classes, &other.classes);
        Unknown::merge_all(&mut self.unknown, &other.unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;

    fn unused_for(seconds: Option<u64>) -> OwnedRecord {
        let mut record = OwnedRecord::string("a", 1, 10);
        record.rest.idle = seconds;
        record
    }

    #[test]
    fn a_dump_without_idle_times_has_no_section() {
        let mut used_often = unused_for(None);
        used_often.rest.freq = Some(9);
        assert!(observe_all(IdleTimes::default(), &[used_often]).finish().is_none());
    }

    #[test]
    fn classes_end_right_below_their_limit() {
        let records = [0, 59, 60, 365 * DAY - 1, 365 * DAY, u64::MAX].map(|idle| unused_for(Some(idle)));
        let idle = observe_all(IdleTimes::default(), &records).finish().unwrap();
        let filled: Vec<_> = idle.classes.iter().filter(|c| c.keys > 0).map(|c| (&*c.idle, c.keys)).collect();
        assert_eq!(filled, [("< 1 min", 2), ("< 10 min", 1), ("< 1 year", 1), ("> 1 year", 2)]);
        assert_eq!(idle.keys, 6);
    }

    #[test]
    fn sums_of_merged_partial_reports_saturate() {
        let mut merged = IdleTimes::default();
        merged.classes[0].keys = u64::MAX;
        merged.classes[1].keys = 1;
        assert_eq!(merged.finish().unwrap().keys, u64::MAX);
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, IdleTimes::default, IdleTimes::finish);
        }
    }
}
