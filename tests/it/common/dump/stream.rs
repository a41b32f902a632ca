//! Streams with one consumer group.

use super::listpack::Listpack;
use super::{length, string};

/// Entries in a node.
const NODE: u64 = 100;

/// Stream whose entries have one field, `data`.
#[derive(Debug, Clone, Copy)]
pub struct Stream {
    /// Number of entries.
    pub entries: u64,
    /// Time of the first entry, in milliseconds; the others follow within the same millisecond.
    pub first: i64,
    /// Number of delivered entries that were not acknowledged.
    pub pending: u64,
    /// Time of their delivery.
    pub delivered: i64,
    /// Time at which the consumer was last seen.
    pub seen: i64,
}

impl Stream {
    fn id(&self, number: u64) -> (u64, u64) {
        (self.first.cast_unsigned(), number + 1)
    }

    fn raw_id(&self, number: u64) -> Vec<u8> {
        let (ms, seq) = self.id(number);
        [ms.to_be_bytes(), seq.to_be_bytes()].concat()
    }

    /// Returns a node as master id and listpack.
    fn node(&self, from: u64, to: u64) -> Vec<u8> {
        let mut pack = Listpack::default();
        pack.int((to - from) as i64).int(0).int(1).text("data").int(0);
        for number in from..to {
            // Flag 2: the same fields as the master entry.
            pack.int(2).int(0).int((number - from) as i64).text(&format!("order {number}")).int(4);
        }
        [string(&self.raw_id(from)), string(&pack.bytes())].concat()
    }

    /// Returns the value as in a file, in layout 3.
    pub fn bytes(&self) -> Vec<u8> {
        let nodes: Vec<_> = (0..self.entries)
            .step_by(NODE as usize)
            .map(|from| self.node(from, self.entries.min(from + NODE)))
            .collect();
        let id = |(ms, seq): (u64, u64)| [length(ms as usize), length(seq as usize)].concat();
        let last = self.id(self.entries.saturating_sub(1));
        let ids = [id(last), id(self.id(0)), id((0, 0))].concat();
        let head = [length(nodes.len()), nodes.concat(), length(self.entries as usize), ids].concat();
        [head, length(self.entries as usize), length(1), self.group(id(last))].concat()
    }

    fn group(&self, last: Vec<u8>) -> Vec<u8> {
        let pending = length(self.pending as usize);
        let entry = |number| [self.raw_id(number), self.delivered.to_le_bytes().to_vec(), length(1)].concat();
        let entries: Vec<u8> = (0..self.pending).flat_map(entry).collect();
        let ids: Vec<u8> = (0..self.pending).flat_map(|number| self.raw_id(number)).collect();
        let times = [self.seen.to_le_bytes(), self.seen.to_le_bytes()].concat();
        let consumer = [string(b"worker-1"), times, pending.clone(), ids].concat();
        let read = length(self.entries as usize);
        [string(b"workers"), last, read, pending, entries, length(1), consumer].concat()
    }
}

/// Encodes a stream of one node in layout 1, without groups.
pub fn node_of(entries: &[&[(&str, &str)]]) -> Vec<u8> {
    let fields = entries[0].len() as i64;
    let mut pack = Listpack::default();
    pack.int(entries.len() as i64).int(0).int(fields);
    for (field, _) in entries[0] {
        pack.text(field);
    }
    pack.int(0);
    for (place, pairs) in entries.iter().enumerate() {
        pack.int(2).int(0).int(place as i64);
        for (_, value) in *pairs {
            pack.text(value);
        }
        pack.int(fields + 3);
    }
    let count = length(entries.len());
    [length(1), string(&[0; 16]), string(&pack.bytes()), count.clone(), length(0), count, length(0)].concat()
}
