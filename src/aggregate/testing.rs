//! Random records, and checks of the laws of aggregates, for tests.

use proptest::prelude::*;
use proptest::sample::select;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Aggregate;
use crate::memory::TemplateUse;
use crate::policy::testing::record;
use crate::record::{Encoding, Kind, ModuleName, Record, StreamFacts, ValueFacts};
use crate::units::{Bytes, Millis};

/// Reference time of the tests; random expiries lie on both sides of it.
pub const NOW: Millis = Millis(1_700_000_000_000);

/// A record that owns its key.
#[derive(Debug, Clone)]
pub struct OwnedRecord {
    /// The key's bytes.
    pub key: Vec<u8>,
    /// Facts of a stream, if it is one.
    pub stream: Option<StreamFacts>,
    /// Facts about the value.
    pub value: ValueFacts,
    /// All other fields; the key in it is empty.
    pub rest: Record<'static>,
}

impl OwnedRecord {
    /// Creates a string key of database 0 without metadata.
    pub fn string(key: &str, length: u64, memory: u64) -> Self {
        let rest = Record {
            length: Some(length),
            memory: Bytes(memory),
            allocated: Bytes(memory),
            disk: Bytes(length + 2),
            content: Bytes(length),
            ..record(b"")
        };
        OwnedRecord { key: key.into(), stream: None, value: ValueFacts::NONE, rest }
    }

    /// Creates a key of database 0 of any type and encoding.
    pub fn of(key: &str, kind: Kind, encoding: Encoding, length: u64, memory: u64) -> Self {
        let mut record = OwnedRecord::string(key, length, memory);
        record.rest.kind = kind;
        record.rest.encoding = encoding;
        record
    }

    /// Borrows the record in the form that the pipeline passes on.
    pub fn record(&self) -> Record<'_> {
        Record { key: &self.key, stream: self.stream.as_ref(), value: &self.value, ..self.rest.clone() }
    }

    fn in_database(&self, db: u64) -> Self {
        OwnedRecord { rest: Record { db, ..self.rest.clone() }, ..self.clone() }
    }
}

/// Records with a way to distribute them over three workers and to merge the workers.
#[derive(Debug, Clone)]
pub struct LawSample {
    /// Records, each with the worker that observes it.
    pub records: Vec<(OwnedRecord, usize)>,
    /// The order in which the workers are merged.
    order: [usize; 3],
    /// Merges the first two workers before the third, rather than the last two before the first.
    left_first: bool,
    /// Database that becomes known late.
    db: u64,
}

/// Generates samples with few different weights and names, so that ties are common, and some extreme numbers.
pub fn samples() -> impl Strategy<Value = LawSample> {
    let orders = vec![[0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]];
    let records = prop::collection::vec((records(), 0usize..3), 0..50);
    (records, select(orders), any::<bool>(), databases()).prop_map(|(records, order, left_first, db)| LawSample {
        records,
        order,
        left_first,
        db,
    })
}

const PRICES: [&[Bytes]; 3] = [&[Bytes(0), Bytes(7)], &[Bytes(12_345), Bytes(7)], &[Bytes(1), Bytes(u64::MAX)]];

fn records() -> impl Strategy<Value = OwnedRecord> {
    let names = select(&["", "a", "b", "u:1", "u:2", "{u}:1", "u::", "a b", "12", "\u{4e2d}:1"][..]);
    let place = (databases(), names, select(&Kind::ALL[..]), select(&Encoding::ALL[..]), 0u64..100);
    let size = (prop::option::weighted(0.9, numbers()), numbers(), numbers());
    let time = (
        prop::option::of(prop_oneof![-1_000_000_000i64..100_000_000_000, any::<i64>()]),
        prop::option::of(prop_oneof![0u64..100_000_000, any::<u64>()]),
        prop::option::of(any::<u8>()),
    );
    let stream =
        (numbers(), numbers()).prop_map(|(groups, pending)| StreamFacts { groups, pending, ..StreamFacts::default() });
    let alternatives = select(&PRICES[..]);
    (place, size, time, stream, alternatives).prop_map(|(place, size, time, stream, alternatives)| {
        let (db, name, kind, encoding, module) = place;
        let (length, memory, disk) = size;
        let (left, idle, freq) = time;
        let template = (kind == Kind::Hash && module % 2 == 0)
            .then_some(TemplateUse { set: module as usize, ordinary: Bytes(disk) });
        let rest = Record {
            db,
            kind,
            module: (kind == Kind::Module).then(|| ModuleName::from_id(module << 58 | module << 40)),
            encoding,
            length,
            memory: Bytes(memory),
            alternatives,
            allocated_elsewhere: alternatives,
            allocated: Bytes(memory / 2),
            disk: Bytes(disk),
            content: Bytes(disk / 2),
            expires_at: left.map(|left| Millis(NOW.0.wrapping_add(left))),
            idle,
            freq,
            ..record(b"")
        };
        let value = ValueFacts { template, ..ValueFacts::NONE };
        OwnedRecord { key: name.into(), stream: (kind == Kind::Stream).then_some(stream), value, rest }
    })
}

fn numbers() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 0u64..4, 8 => 0u64..20_000, 1 => any::<u64>()]
}

fn databases() -> impl Strategy<Value = u64> {
    select(&[0, 1, 2, 15, 65_535, 65_536, 70_000, u64::MAX][..])
}

/// Checks that any split and any order of merging give the result of a single worker, and that a database settled late
/// gives the result of one known from the start. Before each merge, an aggregate is stored and read as if by another process;
/// the stored bytes are those of a single worker.
pub fn check_laws<A, R>(sample: &LawSample, make: impl Fn() -> A, finish: impl Fn(A) -> R)
where
    A: Aggregate + Serialize + DeserializeOwned,
    R: Serialize,
{
    let finished = |aggregate: A| serde_json::to_string(&finish(aggregate)).unwrap();
    let observed = |records: &mut dyn Iterator<Item = OwnedRecord>| {
        let mut aggregate = make();
        records.for_each(|record| aggregate.observe(&record.record()));
        aggregate
    };

    let whole = observed(&mut sample.records.iter().map(|(record, _)| record.clone()));
    let [a, b, c] = sample.order.map(|worker| {
        observed(&mut sample.records.iter().filter(|(_, by)| *by == worker).map(|(record, _)| record.clone()))
    });
    let stored = |aggregate: &A| postcard::to_stdvec(aggregate).unwrap();
    let merged = |left: A, right: A| {
        let mut fresh = make();
        fresh.merge(postcard::from_bytes(&stored(&left)).unwrap());
        fresh.merge(postcard::from_bytes(&stored(&right)).unwrap());
        fresh
    };
    let parts = if sample.left_first { merged(merged(a, b), c) } else { merged(a, merged(b, c)) };
    assert_eq!(stored(&parts), stored(&whole), "the stored form of parts");
    assert_eq!(finished(parts), finished(whole), "splitting and merging");

    let mut settled = observed(&mut sample.records.iter().map(|(record, _)| record.in_database(0)));
    settled.settle_database(sample.db);
    let known = observed(&mut sample.records.iter().map(|(record, _)| record.in_database(sample.db)));
    assert_eq!(finished(settled), finished(known), "a database settled late");
}

/// Feeds all records to an aggregate.
pub fn observe_all<A: Aggregate>(mut aggregate: A, records: &[OwnedRecord]) -> A {
    records.iter().for_each(|record| aggregate.observe(&record.record()));
    aggregate
}
