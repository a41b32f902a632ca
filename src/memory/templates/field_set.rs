//! Identity of sets of field names.

/// Set of field names, whatever their order: the sum of a 128-bit hash of each name, and their number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct FieldSet {
    sum: u128,
    fields: u64,
}

/// Odd constants with well mixed bits, one for each half of a hash.
const SEEDS: [u64; 2] = [0x9E37_79B9_7F4A_7C15, 0xC2B2_AE3D_27D4_EB4F];

impl FieldSet {
    /// Returns the set of these names.
    pub fn of<'n>(names: impl Iterator<Item = &'n [u8]>) -> FieldSet {
        let mut set = FieldSet::default();
        names.for_each(|name| set.add(name));
        set
    }

    /// Adds a name.
    #[inline]
    pub fn add(&mut self, name: &[u8]) {
        let [low, high] = SEEDS.map(|seed| u128::from(hash(name, seed)));
        self.sum = self.sum.wrapping_add(low | high << 64);
        self.fields += 1;
    }
}

/// Hashes a name, eight bytes at a time.
#[inline]
fn hash(name: &[u8], seed: u64) -> u64 {
    let (words, rest) = name.as_chunks::<8>();
    let mut last = [0; 8];
    last.iter_mut().zip(rest).for_each(|(to, &from)| *to = from);
    let start = fold(seed ^ name.len() as u64, seed.rotate_left(32));
    let words = words.iter().copied().chain([last]).map(u64::from_le_bytes);
    let hash = words.fold(start, |hash, word| fold(hash ^ word, seed).wrapping_add(hash.rotate_left(23)));
    fold(hash, !seed)
}

/// Multiplies, and folds the upper half of the product into the lower one.
#[inline]
fn fold(one: u64, other: u64) -> u64 {
    let product = (u128::from(one) * u128::from(other)).to_le_bytes();
    product.as_chunks::<8>().0.iter().fold(0, |folded, &word| folded ^ u64::from_le_bytes(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(names: &[&[u8]]) -> FieldSet {
        FieldSet::of(names.iter().copied())
    }

    #[test]
    fn order_does_not_matter_and_names_do() {
        assert_eq!(set(&[b"id", b"body", b""]), set(&[b"", b"body", b"id"]));
        let other: [&[&[u8]]; 7] =
            [&[b"id"], &[b"di"], &[b"id\0"], &[b"id", b""], &[b"i", b"d"], &[b"id", b"id"], &[b"identity"]];
        for (at, one) in other.iter().enumerate() {
            assert!(other.iter().skip(at + 1).all(|next| set(one) != set(next)), "{one:?}");
        }
    }

    #[test]
    fn hashes_of_similar_names_differ_in_both_halves() {
        let mut halves: Vec<u64> =
            (0..5000u32).flat_map(|number| SEEDS.map(|seed| hash(format!("field{number}").as_bytes(), seed))).collect();
        halves.sort_unstable();
        halves.dedup();
        assert_eq!(halves.len(), 10_000);
    }
}
