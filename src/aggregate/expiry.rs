//! How long keys have left at the reference time.

use super::Aggregate;
use super::parts::Tally;
use crate::record::Record;
use crate::report::{self, ExpiryClass};
use crate::units::Millis;

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

/// Keys by the time they have left.
#[derive(Debug, Clone)]
pub struct Expiry {
    reference: Option<Millis>,
    classes: [Tally; CLASSES],
    next: Option<Millis>,
    last: Option<Millis>,
}

/// Whether a key has expired at the reference time. Without such a time nobody can tell, and the answer is no.
#[inline]
pub fn is_expired(expires_at: Option<Millis>, reference: Option<Millis>) -> bool {
    matches!((expires_at, reference), (Some(at), Some(reference)) if at < reference)
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

    #[inline]
    fn class_of(&mut self, at: Millis) -> usize {
        self.last = self.last.max(Some(at));
        let Some(reference) = self.reference else { return UNKNOWN };
        if at >= reference {
            self.next = earlier(self.next, Some(at));
        }
        let left = at.0.saturating_sub(reference.0);
        BELOW.iter().filter(|(_, below)| left >= *below).count()
    }
}

/// The earlier of two times, where a missing one does not count.
fn earlier(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

impl Aggregate for Expiry {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        let class = match record.expires_at {
            None => NONE,
            Some(at) => self.class_of(at),
        };
        self.classes[class].add(record.memory);
    }

    fn merge(&mut self, other: Self) {
        Tally::merge_all(&mut self.classes, &other.classes);
        self.next = earlier(self.next, other.next);
        self.last = self.last.max(other.last);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;

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
        let expiry = observe_all(Expiry::new(Some(NOW)), &records).finish();
        let expected = [("expired", 1), ("< 1 min", 2), ("< 10 min", 1), ("< 1 year", 1), ("> 1 year", 1)];
        assert_eq!(filled(&expiry), expected);
        assert_eq!((expiry.next, expiry.last), (Some(NOW), Some(Millis(NOW.0 + 365 * DAY))));
    }

    #[test]
    fn without_a_reference_time_expiries_are_unknown() {
        let expiry = observe_all(Expiry::new(None), &[expiring(Some(5)), expiring(None)]).finish();
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
            observe_all(Expiry::new(Some(reference)), &records).finish();
        }
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples(), known in proptest::bool::ANY) {
            check_laws(&sample, || Expiry::new(known.then_some(NOW)), Expiry::finish);
        }
    }
}
