//! How much there is.

use super::Aggregate;
use super::expiry::is_expired;
use super::parts::Tally;
use crate::record::{Kind, Record};
use crate::report;
use crate::units::{Bytes, Millis};

/// Sums over all keys.
#[derive(Debug, Clone)]
pub struct Totals {
    reference: Option<Millis>,
    all: Tally,
    disk: Bytes,
    name_bytes: Bytes,
    elements: u64,
    without_ttl: Tally,
    expired: Tally,
}

impl Totals {
    /// Nothing yet. Expiries will be held against `reference`; without one no key counts as expired.
    pub fn new(reference: Option<Millis>) -> Self {
        Totals {
            reference,
            all: Tally::default(),
            disk: Bytes(0),
            name_bytes: Bytes(0),
            elements: 0,
            without_ttl: Tally::default(),
            expired: Tally::default(),
        }
    }

    /// The report's section.
    pub fn finish(self) -> report::Totals {
        report::Totals {
            keys: self.all.keys,
            memory: self.all.memory,
            disk: self.disk,
            name_bytes: self.name_bytes,
            elements: self.elements,
            without_ttl: self.without_ttl.into(),
            expired: self.expired.into(),
        }
    }
}

/// Elements of a collection; a string is one element, a module that does not tell has none.
#[inline]
pub fn elements(record: &Record<'_>) -> u64 {
    match record.kind {
        Kind::String => 1,
        Kind::List | Kind::Set | Kind::Zset | Kind::Hash | Kind::Stream | Kind::Module | Kind::Array => {
            record.length.unwrap_or(0)
        }
    }
}

impl Aggregate for Totals {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        self.all.add(record.memory);
        self.disk += record.disk;
        self.name_bytes += Bytes(record.key.len() as u64);
        self.elements = self.elements.saturating_add(elements(record));
        if record.expires_at.is_none() {
            self.without_ttl.add(record.memory);
        } else if is_expired(record.expires_at, self.reference) {
            self.expired.add(record.memory);
        }
    }

    fn merge(&mut self, other: Self) {
        self.all.merge(other.all);
        self.disk += other.disk;
        self.name_bytes += other.name_bytes;
        self.elements = self.elements.saturating_add(other.elements);
        self.without_ttl.merge(other.without_ttl);
        self.expired.merge(other.expired);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::record::Encoding;

    #[test]
    fn a_string_is_one_element_and_a_list_all_of_its_own() {
        let records =
            [OwnedRecord::string("a", 500, 64), OwnedRecord::of("bc", Kind::List, Encoding::Quicklist, 7, 100)];
        let totals = observe_all(Totals::new(None), &records).finish();
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
        let totals = observe_all(Totals::new(Some(NOW)), &[at(NOW.0), at(NOW.0 - 1)]).finish();
        assert_eq!((totals.expired.keys, totals.without_ttl.keys), (1, 0));
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, || Totals::new(Some(NOW)), Totals::finish);
        }
    }
}
