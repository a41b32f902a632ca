//! The heaviest keys of all seen, ties broken by database and then by key, so that no thread's luck decides. (Shards
//! that overlap hold a key twice; then the facts decide.)

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;
use std::sync::Arc;

use crate::limits;

/// A key with the weight it is ranked by and the facts that its row shows.
///
/// The weight is one number in most lists; a list with a second criterion ranks by a tuple.
#[derive(Debug, Clone)]
pub struct Ranked<T, W = u64> {
    /// What it is ranked by; more is first.
    pub weight: W,
    /// Its database; lower is first.
    pub db: u64,
    /// Its name; smaller is first. Shared by all lists that the key stands in.
    pub key: Arc<[u8]>,
    /// What else a row shows. Decides only between two keys of one name.
    pub facts: T,
}

impl<T: Ord, W: Ord + Copy> Ord for Ranked<T, W> {
    /// Greater means earlier in a list.
    fn cmp(&self, other: &Self) -> Ordering {
        let by_rank = rank(self.weight, self.db, &self.key).cmp(&rank(other.weight, other.db, &other.key));
        by_rank.then_with(|| self.facts.cmp(&other.facts))
    }
}

impl<T: Ord, W: Ord + Copy> PartialOrd for Ranked<T, W> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T: Ord, W: Ord + Copy> PartialEq for Ranked<T, W> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T: Ord, W: Ord + Copy> Eq for Ranked<T, W> {}

/// As much of a name as a list keeps: a hostile file has names of any size, and the lists are many.
fn cut(key: &[u8]) -> &[u8] {
    &key[..key.len().min(limits::LONGEST_NAME)]
}

fn rank<W>(weight: W, db: u64, key: &[u8]) -> (W, Reverse<u64>, Reverse<&[u8]>) {
    (weight, Reverse(db), Reverse(key))
}

/// The `limit` first of all keys offered.
#[derive(Debug, Clone)]
pub struct Top<T, W = u64> {
    limit: usize,
    /// The last of the list on top, ready to be pushed out.
    kept: BinaryHeap<Reverse<Ranked<T, W>>>,
}

impl<T: Ord, W: Ord + Copy> Top<T, W> {
    /// An empty list of at most `limit` keys. Nothing is allocated before the first key.
    pub fn new(limit: usize) -> Self {
        Top { limit, kept: BinaryHeap::new() }
    }

    /// Takes the key into account, its name cut at [`limits::LONGEST_NAME`]. Allocates only when it enters the list; `facts` is called only then.
    #[inline]
    pub fn offer(&mut self, weight: W, db: u64, key: &[u8], facts: impl FnOnce() -> T) {
        if self.kept.len() >= self.limit && self.kept.peek().is_none_or(|Reverse(last)| weight < last.weight) {
            return; // the common case
        }
        self.offer_heavy(weight, db, key, facts);
    }

    #[inline(never)]
    fn offer_heavy(&mut self, weight: W, db: u64, key: &[u8], facts: impl FnOnce() -> T) {
        if self.takes(weight, db, key) {
            let key = cut(key);
            self.push(Ranked { weight, db, key: key.into(), facts: facts() });
        }
    }

    /// Whether the key would enter the list. Allocates nothing.
    pub fn takes(&self, weight: W, db: u64, key: &[u8]) -> bool {
        let comes_before = |last: &Ranked<T, W>| rank(weight, db, cut(key)) >= rank(last.weight, last.db, &last.key);
        self.kept.len() < self.limit || self.kept.peek().is_some_and(|Reverse(last)| comes_before(last))
    }

    fn push(&mut self, entry: Ranked<T, W>) {
        self.kept.push(Reverse(entry));
        if self.kept.len() > self.limit {
            self.kept.pop();
        }
    }

    /// Takes into account all that `other` has been offered.
    pub fn merge(&mut self, other: Self) {
        for Reverse(entry) in other.kept {
            self.push(entry);
        }
    }

    /// Says that all keys so far were of database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.kept = self.kept.drain().map(|Reverse(entry)| Reverse(Ranked { db, ..entry })).collect();
    }

    /// The list, first key first.
    pub fn into_sorted(self) -> Vec<Ranked<T, W>> {
        self.kept.into_sorted_vec().into_iter().map(|Reverse(entry)| entry).collect()
    }
}

impl<T: Ord> Top<T> {
    /// No lighter key enters the list.
    pub fn least(&self) -> u64 {
        if self.kept.len() < self.limit {
            return 0;
        }
        self.kept.peek().map_or(u64::MAX, |Reverse(last)| last.weight) // a list of no keys takes none
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys<T: Ord>(top: Top<T>) -> Vec<(u64, u64, Vec<u8>, T)> {
        top.into_sorted().into_iter().map(|e| (e.weight, e.db, e.key.to_vec(), e.facts)).collect()
    }

    #[test]
    fn ties_fall_to_the_lower_database_then_the_smaller_key() {
        let mut top = Top::new(3);
        for (weight, db, key) in [(5, 1, "b"), (5, 0, "z"), (5, 1, "a"), (4, 0, "a"), (9, 9, "q")] {
            top.offer(weight, db, key.as_bytes(), || ());
        }
        assert_eq!(keys(top), vec![(9, 9, b"q".to_vec(), ()), (5, 0, b"z".to_vec(), ()), (5, 1, b"a".to_vec(), ())]);
    }

    #[test]
    fn a_list_of_none_stays_empty() {
        let mut top = Top::new(0);
        top.offer(1, 0, b"a", || ());
        assert!(keys(top).is_empty());
    }

    proptest::proptest! {
        #[test]
        fn splitting_and_order_do_not_matter(
            offers in proptest::collection::vec((0u64..4, 0u64..3, 0u8..6, 0u8..3), 0..40), cut in 0usize..40, limit in 0usize..6,
        ) {
            let collect = |part: &[(u64, u64, u8, u8)]| {
                let mut top = Top::new(limit);
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
