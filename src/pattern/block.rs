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

    /// Loads the end of a name that begins `place` bytes after its start, a multiple of sixteen, padded with zeros.
    #[inline]
    pub fn load_end(name: &[u8], place: usize) -> Self {
        match name.last_chunk() {
            // One load of the last sixteen bytes, shifted past those that belong to the block before.
            Some(last) => {
                let before = (place + BLOCK - name.len()) % BLOCK;
                Block::load(&(u128::from_le_bytes(*last) >> (8 * before)).to_le_bytes())
            }
            None => Block::load_padded(name),
        }
    }

    /// Returns the two words of the block.
    #[inline]
    pub fn words(self) -> [u64; 2] {
        let both = u128::from_le_bytes(self.0.to_array());
        #[expect(clippy::cast_possible_truncation, reason = "the lower half and the upper half")]
        [both as u64, (both >> u64::BITS) as u64]
    }

    /// Replaces each decimal digit by 0x80. Returns the bitmap of the digits, too.
    #[inline]
    pub fn without_digits(self) -> (Self, u64) {
        let digits = within(self.0, b'0', b'9');
        (Block((self.0 & !digits) | (digits & u8x16::splat(0x80))), bits(digits))
    }

    /// Returns the bitmap of the bytes equal to this one.
    #[inline]
    pub fn equal(self, byte: u8) -> u64 {
        bits(self.0.simd_eq(u8x16::splat(byte)))
    }

    /// Returns the bitmap of the bytes that differ from those of another block.
    #[inline]
    pub fn differs(self, other: Block) -> u64 {
        bits(self.0.simd_eq(other.0)) ^ u64::from(u16::MAX)
    }

    /// Returns the bitmap of the bytes from `first` to `last`, both inclusive.
    #[inline]
    pub fn within(self, first: u8, last: u8) -> u64 {
        bits(within(self.0, first, last))
    }

    /// Like [`Block::within`], for letters of either case, given as lower-case ones.
    #[inline]
    pub fn within_letters(self, first: u8, last: u8) -> u64 {
        bits(within(self.0 | u8x16::splat(0x20), first, last))
    }

    /// Returns the bitmap of the bytes beyond ASCII.
    #[inline]
    pub fn beyond_ascii(self) -> u64 {
        bits(self.0)
    }
}

/// Calls `see` with each block of a name and its place, the last one padded with zeros.
#[inline(always)] // for every name
pub fn each_block(name: &[u8], mut see: impl FnMut(Block, usize)) {
    let (blocks, rest) = name.as_chunks();
    for (number, block) in blocks.iter().enumerate() {
        see(Block::load(block), number * BLOCK);
    }
    if !rest.is_empty() {
        let place = name.len() - rest.len();
        see(Block::load_end(name, place), place);
    }
}

/// Sets all bits of the bytes from `first` to `last`.
#[inline]
fn within(bytes: u8x16, first: u8, last: u8) -> u8x16 {
    bytes.max(u8x16::splat(first)).min(u8x16::splat(last)).simd_eq(bytes)
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
            let changed = bytes.map(|of_block| if of_block == byte { !byte } else { of_block });
            prop_assert_eq!(block.differs(Block::load(&changed)), block.equal(byte));
            prop_assert_eq!(block.within(first, last), of(&|other| (first..=last).contains(&other)));
            prop_assert_eq!(block.within_letters(b'a', b'f'), of(&|other| (b'a'..=b'f').contains(&(other | 0x20))));
            prop_assert_eq!(block.beyond_ascii(), of(&|other| !other.is_ascii()));
            let (bare, digits) = block.without_digits();
            prop_assert_eq!(digits, of(&|other| other.is_ascii_digit()));
            let marked = bytes.map(|other| if other.is_ascii_digit() { 0x80 } else { other });
            prop_assert_eq!(bare.differs(Block::load(&marked)), 0);
            prop_assert_eq!(Block::new(block.words()[0], block.words()[1]).differs(block), 0);
        }

        #[test]
        fn short_names_are_padded_with_zeros(bytes in prop::collection::vec(1..=255u8, 0..BLOCK)) {
            let padded = Block::load_padded(&bytes);
            prop_assert_eq!(padded.equal(0), u64::from(u16::MAX) >> bytes.len() << bytes.len());
            let mut whole = [0; BLOCK];
            whole[..bytes.len()].copy_from_slice(&bytes);
            prop_assert!((0..=255).all(|byte| padded.equal(byte) == Block::load(&whole).equal(byte)));
        }

        #[test]
        fn ends_of_names_are_padded_with_zeros(name in prop::collection::vec(any::<u8>(), 1..64)) {
            let place = (name.len() - 1) / BLOCK * BLOCK;
            let mut whole = [0; BLOCK];
            whole[..name.len() - place].copy_from_slice(&name[place..]);
            prop_assert_eq!(Block::load_end(&name, place).differs(Block::load(&whole)), 0);
        }
    }
}
