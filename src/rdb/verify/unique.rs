//! Search for elements, or keys, that occur twice.

use std::sync::Arc;

use super::name_hash::NameHasher;
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
    #[inline]
    pub fn new(hasher: &NameHasher, space: u64, name: &[u8], offset: u64) -> PlacedHash {
        let offset = offset & ((1 << OFFSET_BITS) - 1);
        PlacedHash(hasher.hash(space, name) >> OFFSET_BITS << OFFSET_BITS | u128::from(offset))
    }

    /// Returns the leading bits of the hash, below `parts`.
    pub fn part(self, parts: u64) -> u64 {
        part_of(self.0, parts)
    }

    /// Returns the place.
    pub fn offset(self) -> u64 {
        u64::try_from(self.0 & ((1 << OFFSET_BITS) - 1)).unwrap_or_default()
    }

    /// Returns 32 bits from bit `at` on.
    fn bits(self, at: u32) -> u32 {
        u32::try_from(self.0 >> at & u128::from(u32::MAX)).unwrap_or_default()
    }

    /// Returns whether both are of one name.
    pub fn is_same_name(self, other: PlacedHash) -> bool {
        self.0 >> OFFSET_BITS == other.0 >> OFFSET_BITS
    }
}

/// Returns the part that a hash belongs to, out of `parts`, by its leading bits.
pub fn part_of(hash: u128, parts: u64) -> u64 {
    // The upper half of a product of the leading 64 bits maps them onto the parts evenly.
    u64::try_from(((hash >> 64) * u128::from(parts)) >> 64).unwrap_or_default()
}

/// Returns the places of the second and further occurrences among `hashes`, each with the one before it. `table` is a buffer.
pub fn repeated<'h>(hashes: &'h mut [PlacedHash], table: &mut Vec<u32>) -> impl Iterator<Item = (u64, u64)> + 'h {
    // Sorting takes several times as long as looking for two equal ones, of which there are hardly ever any.
    let hashes = if may_repeat(hashes, table) { hashes } else { &mut [] };
    hashes.sort_unstable();
    hashes.windows(2).filter_map(|two| match two {
        [one, next] if one.is_same_name(*next) => Some((one.offset(), next.offset())),
        _ => None,
    })
}

/// Most hashes that are looked up in a table; it then has 4 MiB. More are sorted.
const MAX_IN_TABLE: usize = 1 << 19;

/// Returns false if all hashes differ; true if two seem to be equal, which one in 2^12 at most does by chance.
fn may_repeat(hashes: &[PlacedHash], table: &mut Vec<u32>) -> bool {
    if hashes.len() < 2 {
        return false;
    }
    if hashes.len() > MAX_IN_TABLE {
        return true;
    }
    // At most half full, so that the search for a free place is short.
    let places = (2 * hashes.len()).next_power_of_two();
    table.clear();
    table.resize(places, 0);
    hashes.iter().any(|hash| {
        // The upper 32 bits choose the place, others tell the hashes apart.
        let (mut place, own) = (hash.bits(96) as usize & (places - 1), hash.bits(OFFSET_BITS) | 1);
        while table[place] != 0 && table[place] != own {
            place = (place + 1) & (places - 1);
        }
        std::mem::replace(&mut table[place], own) == own
    })
}

/// Size of a hash.
const HASH_BYTES: u64 = 16;
/// Number of elements whose hashes are kept at a time in any case: larger values are walked once for each part of them.
const MIN_KEPT: u64 = if cfg!(test) { 1000 } else { 4 << 20 };

/// Set of the elements of one value that have to differ from each other.
#[derive(Debug)]
pub struct Unique {
    hasher: Arc<NameHasher>,
    hashes: Vec<PlacedHash>,
    table: Vec<u32>,
    /// Part of the elements that is looked at, of how many.
    part: u64,
    parts: u64,
    /// Maximum number of elements in `hashes`.
    most: u64,
}

impl Unique {
    /// Creates an empty set.
    pub fn new(hasher: &Arc<NameHasher>) -> Unique {
        Unique { hasher: Arc::clone(hasher), hashes: Vec::new(), table: Vec::new(), part: 0, parts: 1, most: MIN_KEPT }
    }

    /// Sets the maximum size of a packed value. Hashes may take as much, so that few walks suffice for any.
    pub fn for_parts_up_to(self, bytes: u64) -> Unique {
        Unique { most: MIN_KEPT.max(bytes / HASH_BYTES), ..self }
    }

    /// Starts with a new value.
    pub fn clear(&mut self) {
        self.hashes.clear();
        (self.part, self.parts) = (0, 1);
    }

    /// Announces the number of elements, or more.
    pub fn expect(&mut self, elements: u64) {
        self.parts = elements.div_ceil(self.most).max(1);
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
        let hash = PlacedHash::new(&self.hasher, 0, element, offset);
        if self.parts == 1 || hash.part(self.parts) == self.part {
            self.hashes.push(hash);
        }
    }

    /// Fails at the first element that occurs twice, and forgets all.
    pub fn finish(&mut self) -> Result<()> {
        let first = repeated(&mut self.hashes, &mut self.table).min_by_key(|&(_, again)| again);
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
        let mut unique = Unique::new(&Arc::new(NameHasher::random()));
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
    fn a_repeated_element_is_found_among_any_number() {
        let hasher = Arc::new(NameHasher::random());
        let mut unique = Unique::new(&hasher);
        for count in [3_u32, 4, 100, 1000] {
            for (before, again) in [(0, 1), (0, count - 1), (count / 2, count - 1)] {
                for at in 0..count {
                    let name = if at == again { before } else { at };
                    unique.add(&name.to_le_bytes(), u64::from(at));
                }
                let error = unique.finish().unwrap_err();
                assert_eq!(error.offset(), Some(u64::from(again)));
            }
            (0..count).for_each(|at| unique.add(&at.to_le_bytes(), u64::from(at)));
            assert!(unique.finish().is_ok());
        }
    }

    #[test]
    fn parts_cover_all_hashes() {
        let hasher = NameHasher::random();
        for name in 0..1000u32 {
            let hash = PlacedHash::new(&hasher, 3, &name.to_le_bytes(), u64::from(name));
            assert_eq!(hash.offset(), u64::from(name));
            assert!(hash.part(5) < 5 && hash.part(1) == 0);
        }
    }
}
