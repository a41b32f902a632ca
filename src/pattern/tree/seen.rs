//! Places of the set of all patterns, with names counted by bucket: their number decides about strict mode.
//!
//! Below a level that has collapsed, each name is looked up here, and nearly all were seen before. The table of all hashes
//! is larger than the caches of a processor, so recent names are looked up first in a bitmap of the buckets of one place.

use hashbrown::HashSet;

use super::limits::TreeLimits;
use super::step::{PathStep, StepKind};

/// Bitmaps of buckets. Tests have few, so that places evict each other.
const BITMAPS: usize = if cfg!(test) { 4 } else { 512 };

/// Hashes from which there are bitmaps: a smaller table is as fast.
const MANY: usize = if cfg!(test) { 8 } else { 4096 };

/// Words of a bitmap: as many buckets as a level has below the top. Others are looked up in the table.
const WORDS: usize = 256 / u64::BITS as usize;

/// Mark of names that no separator follows.
const NOTHING: u16 = 1 << 8;

/// Mark of names that one byte follows, which is added.
const SEPARATOR: u16 = 1 << 9;

/// Hashes of the places of a set of patterns.
#[derive(Debug, Clone, Default)]
pub(super) struct SeenPlaces {
    hashes: HashSet<u64>,
    /// Direct-mapped by place; empty as long as there are few hashes.
    recent: Vec<SeenBuckets>,
}

/// Bitmap of names seen below one place, of those that are followed by the same separator, or by none.
#[derive(Debug, Clone, Copy, Default)]
struct SeenBuckets {
    /// Hash of the place.
    above: u64,
    /// Mark of the bytes after the names: [`NOTHING`] or [`SEPARATOR`] with what is added; 0 in an unused bitmap.
    follows: u16,
    buckets: [u64; WORDS],
}

impl SeenPlaces {
    /// A set of these hashes.
    pub fn of(hashes: impl Iterator<Item = u64>) -> Self {
        SeenPlaces { hashes: hashes.collect(), recent: Vec::new() }
    }

    /// Returns the number of places.
    pub fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Returns the hashes in ascending order.
    pub fn into_sorted(self) -> Vec<u64> {
        let mut hashes: Vec<u64> = self.hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes
    }

    /// Adds the places of another set.
    pub fn merge(&mut self, other: &SeenPlaces) {
        self.hashes.extend(&other.hashes);
    }

    /// Adds the places that these steps lead to from the place with the hash `above`. Steps come with their level.
    #[inline]
    pub fn add<'a>(&mut self, mut above: u64, steps: impl Iterator<Item = (usize, PathStep<'a>)>, limits: &TreeLimits) {
        let SeenPlaces { hashes, recent } = self;
        let mut index = above;
        for (level, step) in steps {
            let bucket = step.bucket(level, limits);
            let mut bit = recent_bit(recent, index, above, bucket, &step);
            let was_seen = bit.as_ref().is_some_and(|(word, mask)| **word & mask != 0);
            if was_seen && step.ends {
                return;
            }
            let place = step.place(above, bucket);
            if !was_seen {
                hashes.insert(place);
                if let Some((word, mask)) = &mut bit {
                    **word |= *mask;
                }
            }
            // Places of one level below the same place have bitmaps of their own, behind the one of that place.
            index = above.wrapping_add(bucket).wrapping_add(1);
            above = place;
        }
        if recent.is_empty() && hashes.len() >= MANY {
            recent.resize(BITMAPS, SeenBuckets::default());
        }
    }
}

/// Returns the bit of a step's bucket in the bitmap at an index, as word and mask. Clears a bitmap of another place.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "any bits of the index will do")]
fn recent_bit<'a>(
    recent: &'a mut [SeenBuckets],
    index: u64,
    above: u64,
    bucket: u64,
    step: &PathStep<'_>,
) -> Option<(&'a mut u64, u64)> {
    let follows = match *step.separator() {
        _ if step.kind != StepKind::Literal => return None,
        [] => NOTHING | u16::from(step.ends),
        [separator] => SEPARATOR | u16::from(separator),
        _ => return None,
    };
    let bitmap = recent.get_mut(index as usize % BITMAPS)?;
    if bitmap.above != above || bitmap.follows != follows {
        *bitmap = SeenBuckets { above, follows, buckets: [0; WORDS] };
    }
    let bits = u64::from(u64::BITS);
    let word = bitmap.buckets.get_mut(usize::try_from(bucket / bits).ok()?)?;
    Some((word, 1 << (bucket % bits)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::step::{Path, bucket};
    use super::super::tests::split;
    use super::*;

    proptest! {
        #[test]
        fn recent_names_make_no_difference(
            names in prop::collection::vec("[ab]:[a-f]{1,2}[:/][a-h]{1,2}(:|/[0-9])?", 0..200),
            below in 1usize..400,
        ) {
            let limits = TreeLimits { top: 3, below, ..TreeLimits::default() };
            let mut expected = HashSet::new();
            let (mut seen, mut whole) = (SeenPlaces::default(), 0);
            for name in &names {
                let pattern = split(name);
                let steps = || (0..).zip(pattern.steps(limits.last_level(false)));
                steps().fold(0, |above, (level, step)| {
                    let place = bucket(above, level, &step, &limits);
                    expected.insert(place);
                    place
                });
                seen.add(0, steps(), &limits);
                whole = whole.max(seen.recent.len());
            }
            prop_assert_eq!(whole > 0, expected.len() >= MANY);
            let mut expected: Vec<u64> = expected.into_iter().collect();
            expected.sort_unstable();
            prop_assert_eq!(seen.into_sorted(), expected);
        }
    }
}
