//! Top-N list of keys by weight. Ties are broken by database and then by key, so that the number of threads does not
//! matter; of the copies of a key in overlapping shards, by the facts.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::limits;
use crate::pattern::kept_name;
use crate::report::Key;

/// A key with the weight it is ranked by and the facts that its row shows.
///
/// Most lists rank by one number; a list with a second criterion ranks by a tuple.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RankedKey<T, W = u64> {
    /// Weight; more is first.
    pub weight: W,
    /// Database; lower is first.
    pub db: u64,
    /// Name; smaller is first. Shared by all lists that contain the key.
    #[serde(with = "name")]
    pub key: Arc<[u8]>,
    /// Further facts of the row; they break ties between keys of the same name.
    pub facts: T,
}

impl<T, W> RankedKey<T, W> {
    /// Returns the name for a report.
    pub fn name(&self) -> Key {
        Key::kept(&self.key, limits::MAX_NAME_LEN)
    }
}

impl<T: Ord, W: Ord + Copy> Ord for RankedKey<T, W> {
    /// Orders keys: greater means earlier in a list.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_rank = rank(self.weight, self.db, &self.key).cmp(&rank(other.weight, other.db, &other.key));
        by_rank.then_with(|| self.facts.cmp(&other.facts))
    }
}

impl<T: Ord, W: Ord + Copy> PartialOrd for RankedKey<T, W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord, W: Ord + Copy> PartialEq for RankedKey<T, W> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Ord, W: Ord + Copy> Eq for RankedKey<T, W> {}

/// Cuts a name to the length that lists keep: a hostile file has names of any size, and there are many lists.
fn cut(key: &[u8]) -> &[u8] {
    kept_name::beginning(key, limits::MAX_NAME_LEN)
}

fn rank<W>(weight: W, db: u64, key: &[u8]) -> (W, Reverse<u64>, Reverse<&[u8]>) {
    (weight, Reverse(db), Reverse(key))
}

/// The first `limit` of all keys offered.
#[derive(Debug, Clone)]
pub struct TopList<T, W = u64> {
    limit: usize,
    /// Min-heap: the last key of the list is on top, the next to be evicted.
    kept: BinaryHeap<Reverse<RankedKey<T, W>>>,
}

impl<T: Ord, W: Ord + Copy> TopList<T, W> {
    /// Creates an empty list of at most `limit` keys. Allocates nothing before the first key.
    pub fn new(limit: usize) -> Self {
        TopList { limit, kept: BinaryHeap::new() }
    }

    /// Adds a key if it is among the first, its name cut at [`limits::MAX_NAME_LEN`]. Only then allocates and calls
    /// `facts`.
    #[inline]
    pub fn offer(&mut self, weight: W, db: u64, key: &[u8], facts: impl FnOnce() -> T) {
        // Weight alone rejects nearly all keys; ties need names and are left to the slow path.
        if self.kept.len() >= self.limit && self.kept.peek().is_none_or(|Reverse(last)| weight < last.weight) {
            return; // the common case
        }
        self.offer_heavy(weight, db, key, facts);
    }

    #[inline(never)]
    fn offer_heavy(&mut self, weight: W, db: u64, key: &[u8], facts: impl FnOnce() -> T) {
        if self.takes(weight, db, key) {
            let key = kept_name::stored(key, limits::MAX_NAME_LEN).as_ref().into();
            self.push(RankedKey { weight, db, key, facts: facts() });
        }
    }

    /// Returns whether a key would enter the list, without allocating.
    pub fn takes(&self, weight: W, db: u64, key: &[u8]) -> bool {
        let comes_before = |last: &RankedKey<T, W>| rank(weight, db, cut(key)) >= rank(last.weight, last.db, &last.key);
        self.kept.len() < self.limit || self.kept.peek().is_some_and(|Reverse(last)| comes_before(last))
    }

    fn push(&mut self, entry: RankedKey<T, W>) {
        self.kept.push(Reverse(entry));
        if self.kept.len() > self.limit {
            self.kept.pop();
        }
    }

    /// Merges the keys of `other`.
    pub fn merge(&mut self, other: Self) {
        for Reverse(entry) in other.kept {
            self.push(entry);
        }
    }

    /// Assigns all keys offered so far to database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.kept = self.kept.drain().map(|Reverse(entry)| Reverse(RankedKey { db, ..entry })).collect();
    }

    /// Returns the list, first key first.
    pub fn into_sorted(self) -> Vec<RankedKey<T, W>> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(entry)| entry).collect()
    }
}

/// Writes the keys, first key first: their order in the heap depends on how they came. The limit is a setting.
impl<T: Ord + Serialize, W: Ord + Copy + Serialize> Serialize for TopList<T, W> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut keys: Vec<_> = self.kept.iter().collect();
        keys.sort_unstable();
        serializer.collect_seq(keys.into_iter().map(|Reverse(entry)| entry))
    }
}

/// Reads keys into a list that is to be merged into one with a limit.
impl<'de, T: Ord + Deserialize<'de>, W: Ord + Copy + Deserialize<'de>> Deserialize<'de> for TopList<T, W> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys: Vec<RankedKey<T, W>> = Vec::deserialize(deserializer)?;
        Ok(TopList { limit: 0, kept: keys.into_iter().map(Reverse).collect() })
    }
}

/// Names as byte strings.
mod name {
    use super::*;

    pub fn serialize<S: Serializer>(name: &Arc<[u8]>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_bytes(name)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<[u8]>, D::Error> {
        Vec::<u8>::deserialize(deserializer).map(Arc::from)
    }
}

impl<T: Ord> TopList<T> {
    /// Returns the weight below which no key enters the list.
    pub fn least(&self) -> u64 {
        if self.kept.len() < self.limit {
            return 0;
        }
        self.kept.peek().map_or(u64::MAX, |Reverse(last)| last.weight) // a list of no keys accepts none
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys<T: Ord>(top: TopList<T>) -> Vec<(u64, u64, Vec<u8>, T)> {
        top.into_sorted().into_iter().map(|e| (e.weight, e.db, e.key.to_vec(), e.facts)).collect()
    }

    #[test]
    fn ties_fall_to_the_lower_database_then_the_smaller_key() {
        let mut top = TopList::new(3);
        for (weight, db, key) in [(5, 1, "b"), (5, 0, "z"), (5, 1, "a"), (4, 0, "a"), (9, 9, "q")] {
            top.offer(weight, db, key.as_bytes(), || ());
        }
        assert_eq!(keys(top), vec![(9, 9, b"q".to_vec(), ()), (5, 0, b"z".to_vec(), ()), (5, 1, b"a".to_vec(), ())]);
    }

    #[test]
    fn a_list_of_none_stays_empty() {
        let mut top = TopList::new(0);
        top.offer(1, 0, b"a", || ());
        assert!(keys(top).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn splitting_and_order_do_not_matter(
            offers in proptest::collection::vec((0u64..4, 0u64..3, 0u8..6, 0u8..3), 0..40), cut in 0usize..40, limit in 0usize..6,
        ) {
            let collect = |part: &[(u64, u64, u8, u8)]| {
                let mut top = TopList::new(limit);
                part.iter().for_each(|&(weight, db, key, facts)| top.offer(weight, db, &[key], || facts));
                top
            };
            let (left, right) = offers.split_at(cut.min(offers.len()));
            let whole = keys(collect(&offers));
            let mut forward = collect(left);
            forward.merge(collect(right));
            let mut backward = collect(right);
            backward.merge(collect(left));
            proptest::prop_assert_eq!(&keys(forward), &whole);
            proptest::prop_assert_eq!(&keys(backward), &whole);
        }
    }
}
