//! How long keys have left at the reference time.

use super::parts::Tally;
use super::runs::{ByRun, Run};
use crate::report::{self, ExpiryClass};
use crate::units::{Bytes, Millis};

const MINUTE: i64 = 60_000;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// The classes that have an upper end, in order of time, each with the milliseconds that a key of it stays below.
const BELOW: [(&str, i64); 10] = [
    ("expired", 0),
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
/// The classes behind these.
const OPEN: [&str; 3] = ["> 1 year", "unknown", "none"];

const UNKNOWN: usize = BELOW.len() + 1;
const NONE: usize = BELOW.len() + 2;
const CLASSES: usize = BELOW.len() + OPEN.len();

/// By the number of bits of the time left: the first class it can be, and up to when it is that one. No two limits
/// are between the same powers of two.
static BY_BITS: [(u8, i64); 65] = by_bits();

const fn by_bits() -> [(u8, i64); 65] {
    let mut by_bits = [(0, i64::MAX); 65];
    let mut bits = 0;
    // Times past have the sign's bit, and are of the first class.
    while bits < 64 {
        let (mut class, mut last) = (0, i64::MAX);
        while class < BELOW.len() && bits_of(BELOW[class].1) < bits || class == 0 {
            class += 1;
        }
        if class < BELOW.len() && bits_of(BELOW[class].1) == bits {
            last = BELOW[class].1 - 1;
        }
        by_bits[bits as usize] = (class as u8, last);
        bits += 1;
    }
    by_bits
}

const fn bits_of(left: i64) -> u32 {
    u64::BITS - left.cast_unsigned().leading_zeros()
}

/// The class of a time left.
#[inline]
fn class_of(left: i64) -> usize {
    let (class, last) = BY_BITS[bits_of(left) as usize];
    usize::from(class) + usize::from(left > last)
}

/// Keys and memory by the time they have left, as it is counted key by key.
#[derive(Debug, Clone)]
pub struct Left {
    /// In the order of the report.
    pub classes: [Tally; CLASSES],
    /// The next expiry, if a key is in a class of them.
    next: i64,
    /// The last expiry, if a key has one.
    last: i64,
}

impl Default for Left {
    fn default() -> Self {
        Left { classes: [Tally::default(); CLASSES], next: i64::MAX, last: i64::MIN }
    }
}

impl Left {
    /// Counts a key.
    #[inline]
    pub fn add(&mut self, expires_at: Option<Millis>, reference: Option<Millis>, memory: Bytes) {
        let class = match (expires_at, reference) {
            (None, _) => NONE,
            (Some(Millis(at)), reference) => {
                self.last = self.last.max(at);
                reference.map_or(UNKNOWN, |Millis(reference)| {
                    self.next = self.next.min(if at >= reference { at } else { i64::MAX });
                    class_of(at.saturating_sub(reference))
                })
            }
        };
        self.classes[class].add(memory);
    }

    /// Keys without an expiry.
    pub fn without_ttl(&self) -> Tally {
        self.classes[NONE]
    }

    /// Counts keys without an expiry.
    pub fn add_without_ttl(&mut self, keys: Tally) {
        self.classes[NONE].merge(keys);
    }

    /// Keys that have expired.
    pub fn expired(&self) -> Tally {
        self.classes[0]
    }

    fn next(&self) -> Option<Millis> {
        let to_come = self.classes[1..UNKNOWN].iter().any(|class| class.keys > 0);
        to_come.then_some(Millis(self.next))
    }

    fn last(&self) -> Option<Millis> {
        let any = self.classes[..NONE].iter().any(|class| class.keys > 0);
        any.then_some(Millis(self.last))
    }
}

/// Keys by the time they have left.
#[derive(Debug, Clone)]
pub struct Expiry {
    reference: Option<Millis>,
    classes: [Tally; CLASSES],
    next: Option<Millis>,
    last: Option<Millis>,
}

impl Expiry {
    /// Nothing yet. Without a reference time all keys with an expiry are in the class `unknown`.
    pub fn new(reference: Option<Millis>) -> Self {
        Expiry { reference, classes: [Tally::default(); CLASSES], next: None, last: None }
    }

    /// The report's section.
    pub fn finish(self) -> report::Expiry {
        let closed = BELOW.into_iter().map(|(left, below)| (left, Some(below)));
        let names = closed.chain(OPEN.into_iter().map(|left| (left, None)));
        let class = |((left, below_ms), tally): ((&'static str, Option<i64>), Tally)| ExpiryClass {
            left: left.into(),
            below_ms,
            keys: tally.keys,
            memory: tally.memory,
        };
        report::Expiry {
            reference_time: self.reference,
            classes: names.zip(self.classes).map(class).collect(),
            next: self.next,
            last: self.last,
        }
    }
}

/// The earlier of two times, where a missing one does not count.
fn earlier(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

impl ByRun for Expiry {
    fn add(&mut self, run: &mut Run) {
        Tally::merge_all(&mut self.classes, &run.left.classes);
        self.next = earlier(self.next, run.left.next());
        self.last = self.last.max(run.left.last());
    }

    fn merge(&mut self, other: Self) {
        Tally::merge_all(&mut self.classes, &other.classes);
        self.next = earlier(self.next, other.next);
        self.last = self.last.max(other.last);
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;

    fn expiry(reference: Option<Millis>) -> Runs<Expiry> {
        Runs::new(reference, false, Expiry::new(reference))
    }

    #[test]
    fn the_class_by_bits_is_the_one_between_the_limits() {
        let near = BELOW.iter().flat_map(|(_, below)| (below - 2)..(below + 2));
        let powers = (0..63).flat_map(|bits| [(1i64 << bits) - 1, 1 << bits]);
        for left in near.chain(powers).chain([i64::MIN, -1, 0, i64::MAX]) {
            let slowly = BELOW.iter().filter(|(_, below)| left >= *below).count();
            assert_eq!(class_of(left), slowly, "{left}");
        }
    }

    fn expiring(left: Option<i64>) -> OwnedRecord {
        let mut record = OwnedRecord::string("a", 1, 10);
        record.rest.expires_at = left.map(|left| Millis(NOW.0 + left));
        record
    }

    fn filled(expiry: &report::Expiry) -> Vec<(&str, u64)> {
        expiry.classes.iter().filter(|class| class.keys > 0).map(|class| (&*class.left, class.keys)).collect()
    }

    #[test]
    fn a_class_ends_right_below_its_limit() {
        let records = [-1, 0, MINUTE - 1, MINUTE, 365 * DAY - 1, 365 * DAY].map(|left| expiring(Some(left)));
        let expiry = observe_all(expiry(Some(NOW)), &records).finish().finish();
        let expected = [("expired", 1), ("< 1 min", 2), ("< 10 min", 1), ("< 1 year", 1), ("> 1 year", 1)];
        assert_eq!(filled(&expiry), expected);
        assert_eq!((expiry.next, expiry.last), (Some(NOW), Some(Millis(NOW.0 + 365 * DAY))));
    }

    #[test]
    fn without_a_reference_time_expiries_are_unknown() {
        let expiry = observe_all(expiry(None), &[expiring(Some(5)), expiring(None)]).finish().finish();
        assert_eq!(filled(&expiry), [("unknown", 1), ("none", 1)]);
        assert_eq!((expiry.next, expiry.last), (None, Some(Millis(NOW.0 + 5))));
    }

    #[test]
    fn empty_classes_are_kept_in_order_of_time() {
        let expiry = Expiry::new(Some(NOW)).finish();
        let limits: Vec<_> = expiry.classes.iter().filter_map(|class| class.below_ms).collect();
        assert!(limits.is_sorted());
        assert_eq!((expiry.classes.len(), limits.len()), (13, 10));
    }

    #[test]
    fn absurd_times_do_not_overflow() {
        let mut records = [expiring(None), expiring(None)];
        records[0].rest.expires_at = Some(Millis(i64::MIN));
        records[1].rest.expires_at = Some(Millis(i64::MAX));
        for reference in [NOW, Millis(i64::MIN), Millis(i64::MAX)] {
            observe_all(expiry(Some(reference)), &records).finish().finish();
        }
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples(), known in proptest::bool::ANY) {
            check_laws(&sample, || expiry(known.then_some(NOW)), |expiry| expiry.finish().finish());
        }
    }
}
