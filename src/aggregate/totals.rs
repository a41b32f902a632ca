//! Sums over all keys.

use serde::{Deserialize, Serialize};

use super::runs::{ByRun, KeyRun};
use crate::report;
use crate::report::{Unknown, Weight};
use crate::units::Bytes;

/// Sums over all keys. Without a reference time no key counts as expired.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TotalStats {
    all: Weight,
    disk: Bytes,
    name_bytes: Bytes,
    elements: u64,
    without_ttl: Weight,
    fields_expire: Weight,
    expired: Weight,
    unknown: Unknown,
}

impl TotalStats {
    /// Returns the report's section.
    pub fn finish(self) -> report::Totals {
        report::Totals {
            keys: self.all.keys,
            memory: self.all.memory,
            disk: self.disk,
            name_bytes: self.name_bytes,
            elements: self.elements,
            without_ttl: self.without_ttl,
            fields_expire: self.fields_expire,
            expired: self.expired,
            unknown: self.unknown,
        }
    }
}

impl ByRun for TotalStats {
    fn add(&mut self, run: &mut KeyRun) {
        self.all.merge(run.all());
        self.disk += run.disk;
        self.name_bytes += run.name_bytes;
        self.elements = self.elements.saturating_add(run.elements);
        self.without_ttl.merge(run.left.without_ttl());
        self.fields_expire.merge(run.fields_expire);
        self.expired.merge(run.left.expired());
        self.unknown.merge(run.left.all_unknown());
    }

    fn merge(&mut self, other: Self) {
        self.all.merge(other.all);
        self.disk += other.disk;
        self.name_bytes += other.name_bytes;
        self.elements = self.elements.saturating_add(other.elements);
        self.without_ttl.merge(other.without_ttl);
        self.fields_expire.merge(other.fields_expire);
        self.expired.merge(other.expired);
        self.unknown.merge(other.unknown);
    }
}

#[cfg(test)]
mod tests {
    use super::super::runs::Runs;
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::record::{Encoding, Kind};
    use crate::units::Millis;

    fn totals(reference: Option<Millis>) -> Runs<TotalStats> {
        Runs::new(reference, false, TotalStats::default())
    }

    #[test]
    fn a_string_is_one_element_and_a_list_all_of_its_own() {
        let records =
            [OwnedRecord::string("a", 500, 64), OwnedRecord::of("bc", Kind::List, Encoding::Quicklist, 7, 100)];
        let totals = observe_all(totals(None), &records).finish().finish();
        assert_eq!((totals.keys, totals.elements, totals.memory, totals.name_bytes), (2, 8, Bytes(164), Bytes(3)));
        assert_eq!(totals.without_ttl.keys, 2);
    }

    #[test]
    fn a_key_that_expires_at_the_reference_time_is_not_expired_yet() {
        let at = |millis| {
            let mut record = OwnedRecord::string("a", 1, 1);
            record.rest.expires_at = Some(Millis(millis));
            record
        };
        let totals = observe_all(totals(Some(NOW)), &[at(NOW.0), at(NOW.0 - 1)]).finish().finish();
        assert_eq!((totals.expired.keys, totals.without_ttl.keys), (1, 0));
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, || totals(Some(NOW)), |totals| totals.finish().finish());
        }
    }
}
