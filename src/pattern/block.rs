//! Blocks of sixteen bytes, compared at once: each comparison yields a bitmap with one bit for each byte.

use wide::u8x16;

use super::word::{WORD, last_word, short_word};

/// Bytes of a block.
pub const BLOCK: usize = 16;

/// Sixteen bytes of a name; the first byte has the lowest bit in bitmaps.
#[derive(Debug, Clone, Copy)]
pub struct Block(u8x16);

impl Block {
    /// Loads sixteen bytes.
    #[inline]
    pub fn load(bytes: &[u8; BLOCK]) -> Self {
        Block(u8x16::new(*bytes))
    }

    /// Creates a block of two words.
    #[inline]
    pub fn new(first: u64, last: u64) -> Self {
        Block::load(&(u128::from(first) | u128::from(last) << u64::BITS).to_le_bytes())
    }

    /// Loads at most sixteen bytes, padded with zeros; more are cut.
    #[inline]
    pub fn load_padded(bytes: &[u8]) -> Self {
        match bytes.split_first_chunk::<WORD>() {
            Some((first, [])) => Block::new(u64::from_le_bytes(*first), 0),
            Some((first, rest)) => Block::new(u64::from_le_bytes(*first), last_word(bytes, rest)),
            None => Block::new(short_word(bytes), 0),
        }
    }

    /// Returns the bitmap of the bytes equal to this one.
    #[inline]
    pub fn equal(self, byte: u8) -> u64 {
        bits(self.0.simd_eq(u8x16::splat(byte)))
    }

    /// Returns the bitmap of the bytes from `first` to `last`, both inclusive.
    #[inline]
    pub fn within(self, first: u8, last: u8) -> u64 {
        within(self.0, first, last)
    }

    /// Like [`Block::within`], for letters of either case, given as lower-case ones.
    #[inline]
    pub fn within_letters(self, first: u8, last: u8) -> u64 {
        within(self.0 | u8x16::splat(0x20), first, last)
    }

    /// Returns the bitmap of the bytes beyond ASCII.
    #[inline]
    pub fn beyond_ascii(self) -> u64 {
        bits(self.0)
    }
}

#[inline]
fn within(bytes: u8x16, first: u8, last: u8) -> u64 {
    bits(bytes.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(bytes))
}

/// Gathers the high bits of all bytes.
#[inline]
fn bits(bytes: u8x16) -> u64 {
    u64::from(bytes.to_bitmask())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_bit_answers_for_its_byte(bytes in any::<[u8; BLOCK]>(), one in any::<u8>(), [first, last] in any::<[u8; 2]>()) {
            let (first, last) = (first.min(last), first.max(last));
            let of = |is: &dyn Fn(u8) -> bool| (0..BLOCK).filter(|&at| is(bytes[at])).fold(0u64, |bits, at| bits | 1 << at);
            let (block, byte) = (Block::load(&bytes), bytes[usize::from(one) % BLOCK]);
            prop_assert_eq!(block.equal(byte), of(&|other| other == byte));
            prop_assert_eq!(block.within(first, last), of(&|other| (first..=last).contains(&other)));
            prop_assert_eq!(block.within_letters(b'a', b'f'), of(&|other| (b'a'..=b'f').contains(&(other | 0x20))));
            prop_assert_eq!(block.beyond_ascii(), of(&|other| !other.is_ascii()));
        }

        #[test]
        fn short_names_are_padded_with_zeros(bytes in prop::collection::vec(1..=255u8, 0..BLOCK)) {
            let padded = Block::load_padded(&bytes);
            prop_assert_eq!(padded.equal(0), u64::from(u16::MAX) >> bytes.len() << bytes.len());
            let mut whole = [0; BLOCK];
            whole[..bytes.len()].copy_from_slice(&bytes);
            prop_assert!((0..=255).all(|byte| padded.equal(byte) == Block::load(&whole).equal(byte)));
        }
    }
}
