//! How long keys have not been used, or how often they are, in dumps that tell.

use super::Aggregate;
use super::parts::Tally;
use crate::record::Record;
use crate::report::{self, FreqClass, IdleClass};

const MINUTE: u64 = 60;
const HOUR: u64 = 60 * MINUTE;
const DAY: u64 = 24 * HOUR;

/// The classes of idle time that have an upper end, each with the seconds that a key of it stays below.
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
/// The class behind these.
const IDLE_OPEN: &str = "> 1 year";

/// The lowest counter of each class. A new key starts at 5, and the counter is logarithmic: with the server's
/// defaults 10 stands for about a hundred uses, 255 for a million.
const FREQ_FROM: [u8; 9] = [0, 1, 5, 6, 10, 20, 50, 100, 255];

/// Keys by the time since their last use (LRU policies) and by their use counter (LFU policies).
#[derive(Debug, Clone, Default)]
pub struct Usage {
    idle: [Tally; IDLE_BELOW.len() + 1],
    freq: [Tally; FREQ_FROM.len()],
}

impl Usage {
    /// Nothing yet.
    pub fn new() -> Self {
        Usage::default()
    }

    /// The report's two sections; each is there when a key carries what it is about.
    pub fn finish(self) -> (Option<report::Idle>, Option<report::Freq>) {
        (self.finish_idle(), self.finish_freq())
    }

    fn finish_idle(&self) -> Option<report::Idle> {
        let keys = counted(&self.idle)?;
        let names = IDLE_BELOW.into_iter().map(|(idle, below)| (idle, Some(below))).chain([(IDLE_OPEN, None)]);
        let class = |((idle, below_s), tally): ((&'static str, Option<u64>), &Tally)| IdleClass {
            idle: idle.into(),
            below_s,
            keys: tally.keys,
            memory: tally.memory,
        };
        Some(report::Idle { keys, classes: names.zip(&self.idle).map(class).collect() })
    }

    fn finish_freq(&self) -> Option<report::Freq> {
        let keys = counted(&self.freq)?;
        let ends = FREQ_FROM.iter().skip(1).map(|next| next - 1).chain([u8::MAX]);
        let class =
            |((&from, to), tally): ((&u8, u8), &Tally)| FreqClass { from, to, keys: tally.keys, memory: tally.memory };
        Some(report::Freq { keys, classes: FREQ_FROM.iter().zip(ends).zip(&self.freq).map(class).collect() })
    }
}

fn counted(classes: &[Tally]) -> Option<u64> {
    let keys = classes.iter().map(|tally| tally.keys).sum();
    (keys > 0).then_some(keys)
}

impl Aggregate for Usage {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        if let Some(idle) = record.idle {
            let class = IDLE_BELOW.iter().filter(|(_, below)| idle >= *below).count();
            self.idle[class].add(record.memory);
        }
        if let Some(freq) = record.freq {
            // The first class starts at 0, so every counter is past at least one start.
            let class = FREQ_FROM.iter().skip(1).filter(|from| freq >= **from).count();
            self.freq[class].add(record.memory);
        }
    }

    fn merge(&mut self, other: Self) {
        Tally::merge_all(&mut self.idle, &other.idle);
        Tally::merge_all(&mut self.freq, &other.freq);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;

    fn used(idle: Option<u64>, freq: Option<u8>) -> OwnedRecord {
        let mut record = OwnedRecord::string("a", 1, 10);
        (record.rest.idle, record.rest.freq) = (idle, freq);
        record
    }

    #[test]
    fn a_dump_that_does_not_tell_has_no_section() {
        let (idle, freq) = observe_all(Usage::new(), &[used(None, None)]).finish();
        assert!(idle.is_none() && freq.is_none());
    }

    #[test]
    fn idle_classes_end_right_below_their_limit() {
        let records = [0, 59, 60, 365 * DAY - 1, 365 * DAY, u64::MAX].map(|idle| used(Some(idle), None));
        let (idle, freq) = observe_all(Usage::new(), &records).finish();
        let idle = idle.unwrap();
        let filled: Vec<_> = idle.classes.iter().filter(|c| c.keys > 0).map(|c| (&*c.idle, c.keys)).collect();
        assert_eq!(filled, [("< 1 min", 2), ("< 10 min", 1), ("< 1 year", 1), ("> 1 year", 2)]);
        assert!(idle.keys == 6 && freq.is_none());
    }

    #[test]
    fn every_counter_is_in_exactly_the_class_that_spans_it() {
        for counter in 0..=u8::MAX {
            let (_, freq) = observe_all(Usage::new(), &[used(None, Some(counter))]).finish();
            let classes = freq.unwrap().classes;
            let spanning = classes.iter().filter(|class| class.from <= counter && counter <= class.to);
            assert_eq!(spanning.map(|class| class.keys).collect::<Vec<_>>(), [1], "counter {counter}");
        }
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, Usage::new, Usage::finish);
        }
    }
}
