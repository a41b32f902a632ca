//! Expiry times of the keys of a pattern: a bounded sample that shows whether many of them expire at once.
//!
//! A **bottom-k sample** keeps the `k` keys whose names have the lowest hashes, with the second in which each expires. It
//! depends on the set of keys alone and is a commutative monoid. Up to `k` keys it is complete; above, it is a uniform
//! sample, since the hash is independent of the time. The total weight is exact. Counting per second would be exact, too,
//! but a TTL of a week spans 600,000 seconds, too many for each pattern, and coarser counts cannot tell a burst of one second from a busy
//! hour. The [counts](super::SecondCounts) of all patterns together are exact.
//!
//! For a full sample, most keys cost one comparison and none costs more than one update of a heap of `k` entries. Names
//! crafted to collide or to have low hashes can spoil only the sample of their own pattern.

use serde::{Deserialize, Serialize};

use super::bottom_k::{self, BottomK};
use super::seconds::second;
use crate::report::Weight;
use crate::units::{Bytes, Millis};

/// Maximum number of sampled keys: enough to show that a sixtieth of a pattern expires in one second.
pub const MAX_EXPIRIES: usize = 4096;

/// Seed of the hashes.
const SEED: u64 = 0x243f_6a88_85a3_08d3;

/// Sentinel for times that do not fit into 32 bits: the year 2106 and later.
const FAR: u32 = u32::MAX;

/// Sample of the keys of a pattern that expire.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Expiries {
    all: Weight,
    /// Entries: hash in the upper half, second in the lower.
    lowest: BottomK,
}

impl Expiries {
    /// Creates an empty sample of at most `most` keys.
    pub fn new(most: usize) -> Self {
        Expiries { all: Weight::default(), lowest: BottomK::new(most) }
    }

    /// Adds a key. Returns the growth in bytes.
    #[inline(always)] // for every key that expires
    pub fn add(&mut self, key: &[u8], memory: Bytes, at: Millis) -> usize {
        self.all.add(memory);
        let hash = hash(key);
        if self.lowest.excludes(hash) { 0 } else { self.offer(hash, at) }
    }

    #[inline(never)]
    fn offer(&mut self, hash: u32, at: Millis) -> usize {
        self.lowest.offer(u64::from(hash) << 32 | u64::from(second(at)))
    }

    /// Merges another sample; the smaller limit of the two applies.
    pub fn merge(&mut self, other: Expiries) {
        self.all.merge(other.all);
        self.lowest.merge(other.lowest);
    }

    /// Lowers the limit to `most` keys.
    pub fn keep(&mut self, most: usize) {
        self.lowest.keep(most);
    }

    /// Returns the exact weight of all keys.
    pub fn all(&self) -> Weight {
        self.all
    }

    /// Returns the number of sampled keys.
    pub fn kept(&self) -> usize {
        self.lowest.len()
    }

    /// Returns whether only some of the keys are in the sample.
    pub fn is_sampled(&self) -> bool {
        self.all.keys > self.kept() as u64
    }

    /// Returns the expiry times of the sampled keys in seconds since 1970, in no order, without those of the year 2106 and
    /// later.
    #[expect(clippy::cast_possible_truncation, reason = "masked to 32 bits")]
    pub fn known_seconds(&self) -> impl Iterator<Item = u32> {
        self.lowest.entries().map(|entry| (entry & u64::from(u32::MAX)) as u32).filter(|&second| second < FAR)
    }

    /// Returns the bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.lowest.heap_bytes()
    }
}

/// Hashes a name to the upper half of an entry.
#[inline]
fn hash(key: &[u8]) -> u32 {
    bottom_k::upper(bottom_k::hash(SEED, key))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sample(keys: &[(u16, u32)], most: usize) -> Expiries {
        let mut expiries = Expiries::new(most);
        for (key, second) in keys {
            expiries.add(&key.to_le_bytes(), Bytes(3), Millis(i64::from(*second) * 1000 + 7));
        }
        expiries
    }

    fn seconds(expiries: &Expiries) -> Vec<u32> {
        let mut seconds: Vec<u32> = expiries.known_seconds().collect();
        seconds.sort_unstable();
        seconds
    }

    fn shown(expiries: &Expiries) -> (Weight, Vec<u64>) {
        let mut entries: Vec<_> = expiries.lowest.entries().collect();
        entries.sort_unstable();
        (expiries.all(), entries)
    }

    #[test]
    fn few_keys_are_all_kept() {
        let expiries = sample(&[(1, 9), (2, 7), (3, 9)], 4);
        assert_eq!(seconds(&expiries), [7, 9, 9]);
        assert_eq!(expiries.all(), Weight { keys: 3, memory: Bytes(9) });
    }

    #[test]
    fn many_keys_are_sampled_uniformly() {
        let keys: Vec<_> = (0..40_000u16).map(|key| (key, u32::from(key % 4))).collect();
        let expiries = sample(&keys, MAX_EXPIRIES);
        assert_eq!((expiries.kept(), expiries.all().keys), (MAX_EXPIRIES, 40_000));
        assert!(expiries.heap_bytes() <= MAX_EXPIRIES * 8);
        for quarter in 0..4 {
            let share = expiries.known_seconds().filter(|second| *second == quarter).count();
            assert!((900..=1148).contains(&share), "{share} of 1024");
        }
    }

    #[test]
    fn names_spread_evenly_over_hashes() {
        let mut buckets = [0u32; 64];
        for number in 0..64_000 {
            buckets[(hash(format!("session:{number}").as_bytes()) >> 26) as usize] += 1;
        }
        assert!(buckets.iter().all(|&keys| (850..1150).contains(&keys)), "{buckets:?}");
    }

    #[test]
    fn extreme_times_are_clamped() {
        let mut expiries = Expiries::new(8);
        for at in [i64::MIN, -1, i64::MAX, i64::from(u32::MAX) * 1000, 5_000] {
            expiries.add(b"x", Bytes(u64::MAX), Millis(at));
        }
        assert_eq!((seconds(&expiries), expiries.kept()), (vec![0, 0, 5], 5));
    }

    #[test]
    fn growth_is_reported() {
        let mut expiries = Expiries::new(MAX_EXPIRIES);
        let grown: usize = (0..9000u16).map(|key| expiries.add(&key.to_le_bytes(), Bytes(1), Millis(0))).sum();
        assert_eq!(grown, expiries.heap_bytes());
    }

    proptest! {
        #[test]
        fn splitting_and_order_do_not_matter(
            keys in prop::collection::vec((0u16..40, 0u32..20), 0..120), cut in 0usize..120, most in 1usize..50,
        ) {
            let whole = sample(&keys, most);
            let (left, right) = keys.split_at(cut.min(keys.len()));
            for (one, other) in [(left, right), (right, left)] {
                let mut merged = sample(one, most);
                merged.merge(sample(other, most));
                prop_assert_eq!(shown(&merged), shown(&whole));
            }
            // The smaller limit applies whichever part has it.
            let mut merged = sample(left, MAX_EXPIRIES);
            merged.merge(sample(right, most));
            prop_assert_eq!(shown(&merged), shown(&whole));
            let mut merged = sample(left, most * 2);
            merged.merge(sample(right, MAX_EXPIRIES));
            merged.keep(most);
            prop_assert_eq!(shown(&merged), shown(&whole));
        }
    }
}
