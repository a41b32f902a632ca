//! Keys by the time they have left at the reference time.

use serde::{Deserialize, Serialize};

use super::runs::{ByRun, KeyRun};
use super::time_left::{BELOW, CLASSES, OPEN};
use crate::report::{self, ExpiryClass, Unknown, Weight};
use crate::units::Millis;

/// Keys by the time left.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct ExpiryStats {
    #[serde(skip)]
    reference: Option<Millis>,
    classes: [Weight; CLASSES],
    unknown: [Unknown; CLASSES],
    next: Option<Millis>,
    last: Option<Millis>,
}

impl ExpiryStats {
    /// Creates an empty aggregate. Without a reference time all keys with an expiry are in the class `unknown`.
    pub fn new(reference: Option<Millis>) -> Self {
        ExpiryStats {
            reference,
            classes: [Weight::default(); CLASSES],
            unknown: [Unknown::default(); CLASSES],
            next: None,
            last: None,
        }
    }

    /// Returns the report's section.
    pub fn finish(self) -> report::Expiry {
        let closed = BELOW.into_iter().map(|(left, below)| (left, Some(below)));
        let names = closed.chain(OPEN.into_iter().map(|left| (left, None)));
        let sums = self.classes.into_iter().zip(self.unknown);
        let classes = names.zip(sums).map(|((left, below_ms), (Weight { keys, memory }, unknown))| ExpiryClass {
            left: left.into(),
            below_ms,
            keys,
            memory,
            unknown,
        });
        report::Expiry { reference_time: self.reference, classes: classes.collect(), next: self.next, last: self.last }
    }
}

/// Returns the earlier of two times, ignoring a missing one.
fn earlier(a: Option<Millis>, b: Option<Millis>) -> Option<Millis> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (one, other) => one.or(other),
    }
}

impl ByRun for ExpiryStats {
    fn add(&mut self, run: &mut KeyRun) {
        Weight::merge_all(&mut self.classes, &run.left.classes);
        Unknown::merge_all(&mut self.unknown, &run.left.unknown);
        self.next = earlier(self.next, run.left.next());
        self.last = self.last.max(run.left.last());
    }

    fn merge(&mut self, other: Self) {
        Weight::merge_all(&mut self.classes, &other.classes);
        Unknown::merge_all(&mut self.unknown, &other.unknown);
        self.next = earlier(self.next, other.next);
        self.last = self.last.max(other.last);
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::units::ReferenceTimes;
    use crate::units::{DAY, MINUTE};

    fn expiry(reference: Option<Millis>) -> Runs<ExpiryStats> {
        Runs::new(reference, false, ExpiryStats::new(reference))
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
    fn a_key_is_compared_with_the_time_of_its_file() {
        let (early, own) = (Millis(NOW.0 - 2 * MINUTE), [1, 0, 1]);
        let times = ReferenceTimes::new(Some(NOW), [Some(early), None].into_iter());
        // Alive in the first file only; the runs alternate.
        let left = |file| {
            let mut record = expiring(Some(-MINUTE - 1));
            record.rest.file = file;
            record
        };
        let expiry = Runs::new(times, false, ExpiryStats::new(Some(NOW)));
        let expiry = observe_all(expiry, &own.map(left)).finish().finish();
        assert_eq!(filled(&expiry), [("expired", 2), ("< 1 min", 1)]);
        // The next expiry is one after the time of the report.
        assert_eq!((expiry.next, expiry.last), (None, Some(Millis(NOW.0 - MINUTE - 1))));
    }

    #[test]
    fn empty_classes_are_kept_in_order_of_time() {
        let expiry = ExpiryStats::new(Some(NOW)).finish();
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
