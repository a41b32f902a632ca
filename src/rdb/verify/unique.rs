//! Search for elements, or keys, that occur twice.

use std::hash::{DefaultHasher, Hasher};

use crate::error::{Error, Result};
use crate::wording::wording;

/// Bits of an entry that hold the offset; the others are the hash.
const OFFSET_BITS: u32 = 48;

/// Hash of a name together with its place in the file, so that sorting brings equal names together in file order.
///
/// 80 bits of hash keep the chance that two of ten billion names are taken for equal below one in ten thousand; two of the
/// elements of one value, below one in a billion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PlacedHash(pub u128);

impl PlacedHash {
    /// Hashes `name` in the namespace `space`, such as a database number; the name is at `offset`.
    pub fn new(space: u64, name: &[u8], offset: u64) -> PlacedHash {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(space);
        hasher.write(name);
        let first = hasher.finish();
        hasher.write_u8(0);
        let hash = u128::from(first) << 64 | u128::from(hasher.finish());
        let offset = offset & ((1 << OFFSET_BITS) - 1);
        PlacedHash(hash >> OFFSET_BITS << OFFSET_BITS | u128::from(offset))
    }

    /// Returns the leading bits of the hash, below `parts`.
    pub fn part(self, parts: u64) -> u64 {
        // The upper half of a product of the leading 64 bits maps them onto the parts evenly.
        let leading = self.0 >> 64;
        u64::try_from((leading * u128::from(parts)) >> 64).unwrap_or_default()
    }

    /// Returns the place.
    pub fn offset(self) -> u64 {
        u64::try_from(self.0 & ((1 << OFFSET_BITS) - 1)).unwrap_or_default()
    }

    fn is_same_name(self, other: PlacedHash) -> bool {
        self.0 >> OFFSET_BITS == other.0 >> OFFSET_BITS
    }
}

/// Returns the places of the second and further occurrences among `hashes`, which are sorted, each with the one before it.
pub fn repeated(hashes: &mut [PlacedHash]) -> impl Iterator<Item = (u64, u64)> + '_ {
    hashes.sort_unstable();
    hashes.windows(2).filter_map(|two| match two {
        [one, next] if one.is_same_name(*next) => Some((one.offset(), next.offset())),
        _ => None,
    })
}

/// Maximum number of elements whose hashes are kept at a time: larger values are walked once for each part of them.
const MOST: u64 = if cfg!(test) { 1000 } else { 4 << 20 };

/// Set of the elements of one value that have to differ from each other.
#[derive(Debug, Default)]
pub struct Unique {
    hashes: Vec<PlacedHash>,
    /// Part of the elements that is looked at, of how many.
    part: u64,
    parts: u64,
}

impl Unique {
    /// Starts with a new value.
    pub fn clear(&mut self) {
        self.hashes.clear();
        (self.part, self.parts) = (0, 1);
    }

    /// Announces the number of elements.
    pub fn expect(&mut self, elements: u64) {
        self.parts = elements.div_ceil(MOST).max(1);
    }

    /// Goes on to the next part of the elements; false if there is none.
    pub fn next_part(&mut self) -> bool {
        self.hashes.clear();
        self.part += 1;
        self.part < self.parts
    }

    /// Adds an element.
    #[inline]
    pub fn add(&mut self, element: &[u8], offset: u64) {
        let hash = PlacedHash::new(0, element, offset);
        if self.parts == 1 || hash.part(self.parts) == self.part {
            self.hashes.push(hash);
        }
    }

    /// Fails at the first element that occurs twice, and forgets all.
    pub fn finish(&mut self) -> Result<()> {
        let first = repeated(&mut self.hashes).min_by_key(|&(_, again)| again);
        self.hashes.clear();
        match first {
            None => Ok(()),
            Some((before, again)) => Err(Error::corrupt(
                again,
                wording!("repeats the one at byte {before:#x}", "与字节 {before:#x} 处的重复"),
            )
            .with_remedy(wording!("servers do not load it", "服务器无法加载"))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_repeated(elements: &[&[u8]], parts: u64) -> Option<u64> {
        let mut unique = Unique::default();
        unique.clear();
        unique.parts = parts;
        let mut found = Vec::new();
        loop {
            for (at, element) in elements.iter().enumerate() {
                unique.add(element, at as u64);
            }
            found.extend(unique.finish().err().and_then(|error| error.offset()));
            if !unique.next_part() {
                return found.into_iter().min();
            }
        }
    }

    #[test]
    fn the_first_repeated_element_is_found_in_any_number_of_parts() {
        for parts in [1, 2, 7] {
            assert_eq!(first_repeated(&[b"a", b"b", b"c", b"b", b"a"], parts), Some(3));
            assert_eq!(first_repeated(&[b"a", b"b", b"", b"1", b"11"], parts), None);
            assert_eq!(first_repeated(&[b"", b""], parts), Some(1));
        }
    }

    #[test]
    fn parts_cover_all_hashes() {
        for name in 0..1000u32 {
            let hash = PlacedHash::new(3, &name.to_le_bytes(), u64::from(name));
            assert_eq!(hash.offset(), u64::from(name));
            assert!(hash.part(5) < 5 && hash.part(1) == 0);
        }
    }
}
