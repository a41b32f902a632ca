//! Sorting of lists that a report holds, by one function for items of all types.
//!
//! Each call of `slice::sort_by` compiles some 7 kB for its type and its comparison. A hundred lists, most of a few rows, made that a
//! twelfth of the program.

use std::cmp::Ordering;

/// Stable sorting in little code. Takes eight bytes per item, and a call through a pointer per comparison: for lists that are sorted
/// once per report, not for what is sorted per key or per value.
pub trait CompactSort<T> {
    /// Sorts like `sort_by`.
    fn compact_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts like `sort_by_key`.
    fn compact_sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> CompactSort<T> for [T] {
    fn compact_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        if self.len() > 1 {
            let order = order(self.len(), &mut |one, other| compare(&self[one], &self[other]));
            rearrange(self, order);
        }
    }

    fn compact_sort_by_key<K: Ord>(&mut self, mut key: impl FnMut(&T) -> K) {
        self.compact_sort_by(|one, other| key(one).cmp(&key(other)));
    }
}

/// Returns the positions of `len` items in the order of `compare`.
#[inline(never)]
fn order(len: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..len).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

/// Moves the item at `order[i]` to `i`, for every `i`, along the cycles of the permutation.
fn rearrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for start in 0..order.len() {
        let mut at = start;
        loop {
            let from = std::mem::replace(&mut order[at], at);
            if from == start {
                break;
            }
            items.swap(at, from);
            at = from;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sorts_like_the_stable_sort_of_the_standard_library(keys in prop::collection::vec(0u8..20, 0..200)) {
            let numbered: Vec<(u8, usize)> = keys.into_iter().enumerate().map(|(at, key)| (key, at)).collect();
            let (mut expected, mut by, mut by_key) = (numbered.clone(), numbered.clone(), numbered);
            expected.sort_by_key(|item| item.0);
            by.compact_sort_by(|one, other| one.0.cmp(&other.0));
            by_key.compact_sort_by_key(|item| item.0);
            prop_assert_eq!(&by, &expected);
            prop_assert_eq!(&by_key, &expected);
        }
    }
}
