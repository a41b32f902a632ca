//! Big keys: counted exactly, the heaviest listed.

use serde::{Deserialize, Serialize};

use super::Aggregate;
use super::key_row::{KeyFacts, rows};
use super::parts::TopList;
use crate::record::{Kind, Record};
use crate::report::Weight;
use crate::report::{BigKeys, BigRules};
use crate::units::Bytes;

/// Keys above one of the size limits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BigKeyStats {
    #[serde(skip)]
    rules: BigRules,
    /// The limits of `rules`, laid out for a fast check.
    #[serde(skip)]
    allowed: SizeLimits,
    all: Weight,
    expiring: u64,
    list: TopList<KeyFacts>,
}

impl BigKeyStats {
    /// Creates an empty aggregate that lists the `top` heaviest keys.
    pub fn new(rules: BigRules, top: usize) -> Self {
        BigKeyStats {
            rules,
            allowed: SizeLimits::by(&rules),
            all: Weight::default(),
            expiring: 0,
            list: TopList::new(top),
        }
    }

    /// Returns the report's section.
    pub fn finish(self) -> BigKeys {
        BigKeys {
            rules: self.rules,
            keys: self.all.keys,
            memory: self.all.memory,
            expiring: self.expiring,
            list: rows(self.list),
        }
    }
}

/// Size limits.
#[derive(Debug, Clone, Copy, Default)]
struct SizeLimits {
    /// Length by kind, in the order of [`Kind::ALL`].
    length: [u64; Kind::ALL.len()],
    payload: u64,
    memory: Bytes,
}

impl SizeLimits {
    /// Lays out the limits of `rules`. Only those of payload and memory concern streams and arrays, which no standard calls
    /// collections; only that of memory concerns modules.
    fn by(rules: &BigRules) -> Self {
        let length = |kind| match kind {
            Kind::String => rules.string_bytes,
            Kind::List | Kind::Set | Kind::Zset | Kind::Hash => rules.elements,
            Kind::Stream | Kind::Array | Kind::Module => u64::MAX,
        };
        SizeLimits {
            length: Kind::ALL.map(length),
            payload: rules.payload.map_or(u64::MAX, |payload| payload.0),
            memory: rules.memory.unwrap_or(Bytes(u64::MAX)),
        }
    }

    #[inline]
    fn is_exceeded(&self, record: &Record<'_>) -> bool {
        (record.length.unwrap_or(0) > self.length[record.kind as usize]
            || record.memory > self.memory
            || self.payload < u64::MAX && record.payload_over(self.payload).is_some())
            // Last, since it looks into the value.
            && !record.is_hyperloglog()
    }
}

impl BigKeyStats {
    /// Returns whether a key counts as big.
    #[inline]
    pub fn counts(&self, record: &Record<'_>) -> bool {
        self.allowed.is_exceeded(record)
    }

    /// Returns whether a key is big and would enter the list.
    pub fn takes(&self, record: &Record<'_>) -> bool {
        self.list.takes(record.memory.0, record.db, record.key) && self.counts(record)
    }

    /// Returns the payload up to which no key counts as big by its payload.
    pub fn allowed_payload(&self) -> u64 {
        self.allowed.payload
    }

    /// Returns a length and a memory up to which no key of this type counts as big, as far as its payload allows.
    pub fn allowed(&self, kind: Kind) -> (u64, Bytes) {
        (self.allowed.length[kind as usize], self.allowed.memory)
    }
}

impl Aggregate for BigKeyStats {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        if !self.allowed.is_exceeded(record) {
            return; // the common case
        }
        self.all.add(record.memory);
        self.expiring += u64::from(record.expires_at.is_some() && record.kind != Kind::String);
        self.list.offer(record.memory.0, record.db, record.key, || KeyFacts::of(record));
    }

    fn merge(&mut self, other: Self) {
        self.all.merge(other.all);
        self.expiring = self.expiring.saturating_add(other.expiring);
        self.list.merge(other.list);
    }

    fn settle_database(&mut self, db: u64) {
        self.list.settle_database(db);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{NOW, OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::rdb::payload::Payload;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::record::Encoding;
    use crate::units::Bytes;

    #[test]
    fn a_key_at_the_limit_is_not_big() {
        let rules = BigRules { memory: Some(Bytes(1_000_000)), ..BigRules::default() };
        let hash = |name, length| OwnedRecord::of(name, Kind::Hash, Encoding::Hashtable, length, 400_000);
        let records = [
            OwnedRecord::string("string at", 10_240, 12_000),
            OwnedRecord::string("string over", 10_241, 12_001),
            hash("hash at", 5_000),
            hash("hash over", 5_001),
            OwnedRecord::of("heavy at", Kind::Set, Encoding::Hashtable, 10, 1_000_000),
            OwnedRecord::of("heavy over", Kind::Set, Encoding::Hashtable, 10, 1_000_001),
            OwnedRecord::of("module", Kind::Module, Encoding::Unknown, 1_000_000, 1_000),
        ];
        let big = observe_all(BigKeyStats::new(rules, 2), &records).finish();
        assert_eq!((big.keys, big.memory.0), (3, 12_001 + 400_000 + 1_000_001));
        let listed: Vec<_> = big.list.iter().map(|row| row.key.as_text().unwrap()).collect();
        assert_eq!(listed, ["heavy over", "hash over"]);
    }

    #[test]
    fn payload_counts_without_overhead() {
        let rules = BigRules { payload: Some(Bytes(10_240)), ..BigRules::default() };
        let set = |name, payload| {
            let mut set = OwnedRecord::of(name, Kind::Set, Encoding::Hashtable, 500, 50_000);
            set.value.payload = Some(Payload { bytes: payload, longest: 0 });
            set
        };
        let stream = OwnedRecord::of("stream", Kind::Stream, Encoding::Stream, 6_000, 900_000);
        let records = [set("at", 10_240), set("over", 10_241), stream];
        let big = observe_all(BigKeyStats::new(rules, 5), &records).finish();
        assert_eq!((big.keys, big.list[0].key.as_text()), (1, Some("over")));
    }

    #[test]
    fn hyperloglogs_are_not_big() {
        let text = |byte| [&[0x80, 0, 0, 0x30, 0x10][..], b"HYLL\0\0\0\0", &[byte; 12_296]].concat().leak();
        let records = [b"HYLL\0\0\0\0", b"HYLLxxxx"].map(|start| {
            let bytes = text(7);
            bytes[5..13].copy_from_slice(start);
            let mut record = OwnedRecord::string("uv", 12_304, 14_400);
            record.rest.raw = Some(RawValue { value_type: ValueType::String, bytes, templates: Templates::NONE });
            record
        });
        assert_eq!(observe_all(BigKeyStats::new(BigRules::default(), 5), &records).finish().keys, 1);
    }

    #[test]
    fn big_collections_with_an_expiry_are_counted_separately() {
        let expiring = |mut record: OwnedRecord| {
            record.rest.expires_at = Some(NOW);
            let big = observe_all(BigKeyStats::new(BigRules::default(), 5), &[record]).finish();
            (big.keys, big.expiring, big.list[0].expires_at)
        };
        assert_eq!(expiring(OwnedRecord::of("a", Kind::Set, Encoding::Hashtable, 5_001, 9)), (1, 1, Some(NOW)));
        // Freeing a string takes no time.
        assert_eq!(expiring(OwnedRecord::string("a", 20_000, 20_000)), (1, 0, Some(NOW)));
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples(), top in 0usize..5) {
            let rules = BigRules { string_bytes: 100, elements: 50, payload: Some(Bytes(200)), memory: Some(Bytes(10_000)) };
            check_laws(&sample, || BigKeyStats::new(rules, top), BigKeyStats::finish);
        }
    }
}
