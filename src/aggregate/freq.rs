//! Use counters of keys, in dumps that record them (LFU policies).

use serde::{Deserialize, Serialize};

use super::Aggregate;
use crate::record::Record;
use crate::report::{self, FreqClass, Unknown, Weight};

/// Lowest counter of each class. A new key starts at 5, and the counter is logarithmic: with the server's defaults 10
/// means about a hundred uses, 255 a million.
const FREQ_FROM: [u8; 9] = [0, 1, 5, 6, 10, 20, 50, 100, 255];

/// Keys by their use counter.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct UseCounters {
    classes: [Weight; FREQ_FROM.len()],
    unknown: [Unknown; FREQ_FROM.len()],
}

impl UseCounters {
    #[inline(never)] // few dumps have counters
    fn add(&mut self, record: &Record<'_>, freq: u8) {
        // The first class starts at 0, so every counter is past at least one start.
        let class = FREQ_FROM.iter().skip(1).filter(|from| freq >= **from).count();
        self.classes[class].add(record.memory);
        self.unknown[class].note(record.memory, record.disk);
    }

    /// Returns the report's section, or `None` if no key records a counter.
    pub fn finish(self) -> Option<report::Freq> {
        let keys = self.classes.iter().copied().sum::<Weight>().keys;
        let ends = FREQ_FROM.iter().skip(1).map(|next| next - 1).chain([u8::MAX]);
        let sums = self.classes.iter().zip(&self.unknown);
        let class = |((&from, to), (tally, unknown)): ((&u8, u8), (&Weight, &Unknown))| FreqClass {
            from,
            to,
            keys: tally.keys,
            memory: tally.memory,
            unknown: *unknown,
        };
        let classes = FREQ_FROM.iter().zip(ends).zip(sums).map(class);
        (keys > 0).then(|| report::Freq { keys, classes: classes.collect() })
    }
}

impl Aggregate for UseCounters {
    #[inline(always)]
    fn observe(&mut self, record: &Record<'_>) {
        if let Some(freq) = record.freq {
            self.add(record, freq);
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

    fn used(freq: Option<u8>) -> OwnedRecord {
        let mut record = OwnedRecord::string("a", 1, 10);
        record.rest.freq = freq;
        record
    }

    #[test]
    fn a_dump_without_counters_has_no_section() {
        let mut idle = used(None);
        idle.rest.idle = Some(9);
        assert!(observe_all(UseCounters::default(), &[idle]).finish().is_none());
    }

    #[test]
    fn every_counter_is_in_exactly_the_class_that_spans_it() {
        for counter in 0..=u8::MAX {
            let freq = observe_all(UseCounters::default(), &[used(Some(counter))]).finish();
            let classes = freq.unwrap().classes;
            let spanning = classes.iter().filter(|class| class.from <= counter && counter <= class.to);
            assert_eq!(spanning.map(|class| class.keys).collect::<Vec<_>>(), [1], "counter {counter}");
        }
    }

    #[test]
    fn sums_of_merged_partial_reports_saturate() {
        let mut merged = UseCounters::default();
        merged.classes[0].keys = u64::MAX;
        merged.classes[1].keys = 1;
        assert_eq!(merged.finish().unwrap().keys, u64::MAX);
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, UseCounters::default, UseCounters::finish);
        }
    }
}
