//! The heaviest keys of each type, and the longest collections.

use serde::{Deserialize, Serialize};

use super::Aggregate;
use super::key_row::{KeyFacts, rows};
use super::parts::TopList;
use crate::record::{Kind, Record};
use crate::report::{self, TopOfType};
use crate::units::Bytes;

const KINDS: usize = Kind::ALL.len();

/// The heaviest keys of each type, and the longest collections.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TopKeys {
    #[serde(skip)]
    limit: usize,
    /// By kind, in the order of [`Kind::ALL`]. The overall list is merged from these at the end, since the heaviest of
    /// all are among the heaviest of each type.
    by_kind: [TopList<KeyFacts>; KINDS],
    by_length: TopList<KeyFacts>,
}

impl TopKeys {
    /// Creates empty lists of at most `limit` keys each.
    pub fn new(limit: usize) -> Self {
        TopKeys { limit, by_kind: std::array::from_fn(|_| TopList::new(limit)), by_length: TopList::new(limit) }
    }

    /// Returns the report's section.
    pub fn finish(self) -> report::Top {
        let mut by_memory = TopList::new(self.limit);
        self.by_kind.iter().for_each(|top| by_memory.merge(top.clone()));
        let by_type = Kind::ALL.into_iter().zip(self.by_kind).map(|(kind, top)| TopOfType { kind, list: rows(top) });
        report::Top {
            by_memory: rows(by_memory),
            by_length: rows(self.by_length),
            by_type: by_type.filter(|of_type| !of_type.list.is_empty()).collect(),
        }
    }
}

impl TopKeys {
    /// Returns whether a key would enter a list.
    pub fn takes(&self, record: &Record<'_>) -> bool {
        let by_length = |length| self.by_length.takes(length, record.db, record.key);
        self.by_kind[record.kind as usize].takes(record.memory.0, record.db, record.key)
            || (is_collection(record) && record.length.is_some_and(by_length))
    }

    /// Returns the length and memory below which no key of this type enters a list.
    pub fn least(&self, kind: Kind) -> (u64, Bytes) {
        let length = if kind == Kind::String { u64::MAX } else { self.by_length.least() };
        (length, Bytes(self.by_kind[kind as usize].least()))
    }
}

/// Returns whether the length of a value is a number of elements.
#[inline]
fn is_collection(record: &Record<'_>) -> bool {
    record.kind != Kind::String && !record.is_json_scalar()
}

impl Aggregate for TopKeys {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        let facts = || KeyFacts::of(record);
        // Kinds are numbered in the order of `Kind::ALL`, which a test of `breakdown` checks.
        if record.known_memory().is_some() {
            self.by_kind[record.kind as usize].offer(record.memory.0, record.db, record.key, facts);
        }
        if is_collection(record)
            && let Some(length) = record.length
        {
            self.by_length.offer(length, record.db, record.key, facts);
        }
    }

    fn merge(&mut self, other: Self) {
        self.by_kind.iter_mut().zip(other.by_kind).for_each(|(top, more)| top.merge(more));
        self.by_length.merge(other.by_length);
    }

    fn settle_database(&mut self, db: u64) {
        self.by_kind.iter_mut().for_each(|top| top.settle_database(db));
        self.by_length.settle_database(db);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::record::Encoding;
    use crate::report::KeyRow;

    fn names(rows: &[KeyRow]) -> Vec<&str> {
        rows.iter().map(|row| row.key.as_text().unwrap()).collect()
    }

    #[test]
    fn lists_go_by_memory_by_length_and_by_type() {
        let records = [
            OwnedRecord::string("long string", 9_000, 9_100),
            OwnedRecord::string("string", 1, 50),
            OwnedRecord::of("heavy list", Kind::List, Encoding::Quicklist, 3, 10_000),
            OwnedRecord::of("long list", Kind::List, Encoding::Listpack, 100, 300),
        ];
        let top = observe_all(TopKeys::new(2), &records).finish();
        assert_eq!(names(&top.by_memory), ["heavy list", "long string"]);
        assert_eq!(names(&top.by_length), ["long list", "heavy list"]);
        let by_type: Vec<_> = top.by_type.iter().map(|of_type| (of_type.kind, names(&of_type.list))).collect();
        let expected = [(Kind::String, vec!["long string", "string"]), (Kind::List, vec!["heavy list", "long list"])];
        assert_eq!(by_type, expected);
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples(), limit in 0usize..5) {
            check_laws(&sample, || TopKeys::new(limit), TopKeys::finish);
        }

        #[test]
        fn the_heaviest_of_all_are_those_of_a_list_over_all(sample in samples(), limit in 0usize..5) {
            let records: Vec<_> = sample.records.into_iter().map(|(record, _)| record).collect();
            let mut plain = TopList::new(limit);
            for owned in &records {
                let record = owned.record();
                if record.known_memory().is_some() {
                    plain.offer(record.memory.0, record.db, record.key, || KeyFacts::of(&record));
                }
            }
            let found = observe_all(TopKeys::new(limit), &records).finish().by_memory;
            proptest::prop_assert_eq!(found, rows(plain));
        }
    }
}
