//! Bottom-k samples: the keys with the lowest hashes. The sample depends on the set of keys alone, not on their order or on
//! how they were divided among workers.

use std::collections::BinaryHeap;
use std::mem::size_of;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Odd multiplier with well-mixed bits: the fraction of the golden ratio.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Entry of a sample, ordered by the hash of its key first.
pub(super) trait SampleEntry: Ord + Copy + Default {
    /// Highest entry.
    const LAST: Self;

    /// Returns the upper 32 bits of the hash.
    fn upper(self) -> u32;
}

impl SampleEntry for u64 {
    const LAST: u64 = u64::MAX;

    #[inline]
    fn upper(self) -> u32 {
        (self >> 32) as u32
    }
}

/// Lowest entries of all that were offered: a commutative monoid.
#[derive(Debug, Clone)]
pub(super) struct BottomK<E = u64> {
    /// Entries from here on do not enter: the highest of a full sample. INVARIANT: the last of all if the sample is not full.
    bar: E,
    /// Maximum number of entries.
    most: usize,
    /// Max-heap. INVARIANT: holds at most `most` entries, and all that were offered unless it is full.
    lowest: BinaryHeap<E>,
}

impl<E: SampleEntry> BottomK<E> {
    /// Creates an empty sample of at most `most` entries.
    pub fn new(most: usize) -> Self {
        BottomK::of(most, BinaryHeap::new())
    }

    fn of(most: usize, lowest: BinaryHeap<E>) -> Self {
        let mut sample = BottomK { bar: E::default(), most, lowest };
        sample.set_bar();
        sample
    }

    fn set_bar(&mut self) {
        let full = self.lowest.len() >= self.most;
        self.bar = if full { self.lowest.peek().copied().unwrap_or_default() } else { E::LAST };
    }

    /// Returns whether no entry with these upper bits enters the sample, as is so for most keys.
    #[inline(always)] // for nearly every key
    pub fn excludes(&self, upper: u32) -> bool {
        upper > self.bar.upper()
    }

    /// Returns whether an entry would enter the sample.
    #[inline]
    pub fn takes(&self, entry: E) -> bool {
        entry < self.bar
    }

    /// Adds an entry if it is among the lowest. Returns the growth of the sample in bytes.
    pub fn offer(&mut self, entry: E) -> usize {
        if !self.takes(entry) {
            return 0;
        }
        let before = self.lowest.capacity();
        match self.lowest.len() < self.most {
            true => self.lowest.push(entry),
            false => self.lowest.peek_mut().into_iter().for_each(|mut highest| *highest = entry),
        }
        self.set_bar();
        (self.lowest.capacity() - before) * size_of::<E>()
    }

    /// Merges another sample; the smaller limit of the two applies.
    pub fn merge(&mut self, other: Self) {
        self.keep(other.most);
        other.lowest.into_iter().for_each(|entry| _ = self.offer(entry));
    }

    /// Lowers the limit to `most` entries.
    pub fn keep(&mut self, most: usize) {
        self.most = self.most.min(most);
        if self.lowest.len() > self.most {
            while self.lowest.len() > self.most {
                self.lowest.pop();
            }
            self.lowest.shrink_to_fit();
        }
        self.set_bar();
    }

    /// Returns the highest entry of a full sample; higher entries do not enter it. `None` if the sample is not full.
    pub fn highest(&self) -> Option<E> {
        if self.lowest.len() < self.most { None } else { self.lowest.peek().copied() }
    }

    /// Returns the entries, in no order.
    pub fn entries(&self) -> impl Iterator<Item = E> {
        self.lowest.iter().copied()
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.lowest.len()
    }

    /// Returns the bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.lowest.capacity() * size_of::<E>()
    }
}

/// Stored form: the entries ascending, since their order in the heap depends on how they came.
#[derive(Serialize, Deserialize)]
struct Stored<E> {
    most: usize,
    lowest: Vec<E>,
}

impl<E: SampleEntry + Serialize> Serialize for BottomK<E> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut lowest: Vec<E> = self.entries().collect();
        lowest.sort_unstable();
        Stored { most: self.most, lowest }.serialize(serializer)
    }
}

impl<'de, E: SampleEntry + DeserializeOwned> Deserialize<'de> for BottomK<E> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Stored { most, lowest } = Stored::deserialize(deserializer)?;
        Ok(BottomK::of(most, lowest.into()))
    }
}

/// Hashes a key for a sample, eight bytes per step. The result still has to be mixed by [`finish`].
///
/// The seed is fixed per kind of sample instead of random, so that every run on every machine draws the same sample. Names
/// crafted to collide can spoil only the sample of their own pattern.
#[inline]
pub(super) fn hash(seed: u64, key: &[u8]) -> u64 {
    let mut state = seed ^ key.len() as u64;
    let (words, rest) = key.as_chunks::<8>();
    for word in words {
        state = fold(state, u64::from_le_bytes(*word)).rotate_left(23);
    }
    fold(state, tail(key, rest.len()))
}

/// Returns the last `len` bytes of a key, fewer than eight, as a big-endian number.
#[inline]
fn tail(key: &[u8], len: usize) -> u64 {
    match key.last_chunk() {
        Some(last) => u64::from_be_bytes(*last) & !(u64::MAX << (8 * len)),
        None => key.iter().fold(0, |tail, &byte| tail << 8 | u64::from(byte)),
    }
}

/// Hashes the first and the last eight bytes of a key. The result still has to be mixed by [`finish`].
#[inline]
pub(super) fn hash_ends(seed: u64, key: &[u8]) -> u64 {
    match (key.first_chunk(), key.last_chunk()) {
        // Rotated, so that equal ends do not cancel each other out.
        (Some(first), Some(last)) => fold(seed, u64::from_le_bytes(*first).rotate_left(23) ^ u64::from_le_bytes(*last)),
        _ => hash(seed, key),
    }
}

/// Mixes a hash once more, so that its upper bits depend on the last bytes, too.
#[inline]
pub(super) fn finish(state: u64) -> u64 {
    fold(state, FACTOR)
}

/// Returns the upper bits of a hash, mixed once more.
#[inline]
pub(super) fn upper(state: u64) -> u32 {
    (finish(state) >> 32) as u32
}

/// Multiplies to twice the width and folds the halves of the product together.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "folds the halves of the product")]
fn fold(state: u64, word: u64) -> u64 {
    let product = u128::from(state ^ word) * u128::from(FACTOR);
    (product as u64) ^ (product >> 64) as u64
}
