//! Streams with their consumer groups and unacknowledged entries.

use serde::{Deserialize, Serialize};

use super::Aggregate;
use super::parts::{RankedKey, TopList};
use crate::record::{Kind, Record};
use crate::report::Weight;
use crate::report::{self, StreamRow};
use crate::units::Bytes;

/// Rank of a stream: pending entries, then entries.
type Rank = (u64, u64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct ListedStream {
    groups: u64,
    memory: Bytes,
}

/// Sums over all streams, and the streams with most pending entries.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StreamStats {
    all: Weight,
    entries: u64,
    groups: u64,
    pending: u64,
    list: TopList<ListedStream, Rank>,
}

impl StreamStats {
    /// Creates an empty aggregate that lists the first `top` streams.
    pub fn new(top: usize) -> Self {
        StreamStats { all: Weight::default(), entries: 0, groups: 0, pending: 0, list: TopList::new(top) }
    }

    /// Returns the report's section, or `None` without streams.
    pub fn finish(self) -> Option<report::Streams> {
        (self.all.keys > 0).then(|| report::Streams {
            keys: self.all.keys,
            memory: self.all.memory,
            entries: self.entries,
            groups: self.groups,
            pending: self.pending,
            list: self.list.into_sorted().into_iter().map(row).collect(),
        })
    }

    #[cold]
    fn observe_stream(&mut self, record: &Record<'_>) {
        let entries = record.length.unwrap_or(0);
        let stream = record.stream.copied().unwrap_or_default();
        self.all.add(record.memory);
        self.entries = self.entries.saturating_add(entries);
        self.groups = self.groups.saturating_add(stream.groups);
        self.pending = self.pending.saturating_add(stream.pending);
        let facts = || ListedStream { groups: stream.groups, memory: record.memory };
        self.list.offer((stream.pending, entries), record.db, record.key, facts);
    }
}

fn row(ranked: RankedKey<ListedStream, Rank>) -> StreamRow {
    let key = ranked.name();
    let RankedKey { weight: (pending, entries), db, key: _, facts: ListedStream { groups, memory } } = ranked;
    StreamRow { db, key, entries, groups, pending, memory }
}

impl Aggregate for StreamStats {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        if record.kind == Kind::Stream {
            self.observe_stream(record);
        }
    }

    fn merge(&mut self, other: Self) {
        self.all.merge(other.all);
        self.entries = self.entries.saturating_add(other.entries);
        self.groups = self.groups.saturating_add(other.groups);
        self.pending = self.pending.saturating_add(other.pending);
        self.list.merge(other.list);
    }

    fn settle_database(&mut self, db: u64) {
        self.list.settle_database(db);
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::record::{Encoding, StreamFacts};

    fn stream(key: &str, entries: u64, groups: u64, pending: u64) -> OwnedRecord {
        let mut record = OwnedRecord::of(key, Kind::Stream, Encoding::Stream, entries, 100);
        record.stream = Some(StreamFacts { groups, pending, ..StreamFacts::default() });
        record
    }

    #[test]
    fn a_dump_without_streams_has_no_section() {
        assert!(observe_all(StreamStats::new(3), &[OwnedRecord::string("a", 1, 1)]).finish().is_none());
    }

    #[test]
    fn pending_entries_rank_before_entries() {
        let records =
            [stream("long", 900, 0, 0), stream("slow", 10, 2, 7), stream("longer", 901, 1, 0), stream("idle", 3, 0, 0)];
        let streams = observe_all(StreamStats::new(3), &records).finish().unwrap();
        let listed: Vec<_> = streams.list.iter().map(|row| row.key.as_text().unwrap()).collect();
        assert_eq!(listed, ["slow", "longer", "long"]);
        assert_eq!((streams.keys, streams.entries, streams.groups, streams.pending), (4, 1_814, 3, 7));
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples(), top in 0usize..5) {
            check_laws(&sample, || StreamStats::new(top), StreamStats::finish);
        }
    }
}
