//! Bottom-k samples: of all keys those with the lowest hashes, so that which keys belong to a sample depends on the set of
//! keys alone, and neither on their order nor on how they were divided among workers.

use std::collections::BinaryHeap;
use std::mem::size_of;

/// An odd number whose bits are in no order: the golden ratio's fraction.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The lowest entries of all that were offered: a commutative monoid.
#[derive(Debug, Clone)]
pub(super) struct BottomK {
    /// Entries that are kept at most.
    most: usize,
    /// The highest on top. INVARIANT: at most `most`, and all entries unless there are as many.
    lowest: BinaryHeap<u64>,
}

impl BottomK {
    /// An empty sample of at most `most` entries.
    pub fn new(most: usize) -> Self {
        BottomK { most, lowest: BinaryHeap::new() }
    }

    /// Takes an entry if it is among the lowest. Returns the bytes by which that made the sample grow.
    #[inline]
    pub fn offer(&mut self, entry: u64) -> usize {
        if self.lowest.len() < self.most {
            let before = self.lowest.capacity();
            self.lowest.push(entry);
            return (self.lowest.capacity() - before) * size_of::<u64>();
        }
        // In a full sample most entries are too high, which costs one comparison.
        if let Some(mut highest) = self.lowest.peek_mut()
            && entry < *highest
        {
            *highest = entry;
        }
        0
    }

    /// Takes the entries of another sample; of both, as many are kept as the smaller has room for.
    pub fn merge(&mut self, other: BottomK) {
        self.keep(other.most);
        other.lowest.into_iter().for_each(|entry| _ = self.offer(entry));
    }

    /// Keeps at most `most` entries from now on.
    pub fn keep(&mut self, most: usize) {
        self.most = self.most.min(most);
        if self.lowest.len() > self.most {
            while self.lowest.len() > self.most {
                self.lowest.pop();
            }
            self.lowest.shrink_to_fit();
        }
    }

    /// Returns the highest entry of a full sample: any above it does not belong to the sample.
    #[inline]
    pub fn highest(&self) -> Option<u64> {
        if self.lowest.len() < self.most { None } else { self.lowest.peek().copied() }
    }

    /// Returns the entries, in no order.
    pub fn entries(&self) -> impl Iterator<Item = u64> {
        self.lowest.iter().copied()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.lowest.len()
    }

    /// Returns its bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.lowest.capacity() * size_of::<u64>()
    }
}

/// Hashes a key for a sample. There is no random seed, so that every run on every machine draws the same sample; each kind
/// of sample has a `seed` of its own. Names that are made to collide spoil the sample of their own pattern, no more.
///
/// Eight bytes a step, folded from a product of twice the width. The result still has to be mixed by [`finish`].
#[inline]
pub(super) fn hash(seed: u64, key: &[u8]) -> u64 {
    let mut state = seed ^ key.len() as u64;
    let (words, rest) = key.as_chunks::<8>();
    for word in words {
        state = fold(state, u64::from_le_bytes(*word)).rotate_left(23);
    }
    let tail = rest.iter().fold(0, |tail, &byte| tail << 8 | u64::from(byte));
    fold(state, tail)
}

/// Mixes a hash once more, so that its high bits depend on the last bytes as well.
#[inline]
pub(super) fn finish(state: u64) -> u64 {
    fold(state, FACTOR)
}

/// Multiplies and folds both halves of the product together.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "folds the halves of the product")]
fn fold(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64
}
