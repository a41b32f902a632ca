//! SWAR (SIMD within a register): names eight bytes at a time in one 64-bit word; the first byte is the lowest.

/// Bytes of a word.
pub(super) const WORD: usize = 8;
const HALF: usize = WORD / 2;

/// A one in every byte of a word; times a byte, that byte in every place.
pub(super) const ONES: u64 = u64::from_le_bytes([1; WORD]);
/// The high bit of every byte.
pub(super) const HIGH: u64 = ONES << 7;

/// Multiplier for hashes: an odd number without pattern in its bits (the golden ratio's fraction). A product's highest bits
/// depend on all bits of the input.
pub(crate) const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Sets the high bit of each byte that is equal in two words.
#[inline]
pub(super) fn equal_in(one: u64, other: u64) -> u64 {
    // A byte is zero if neither its low bits (the sum carries) nor its high bit are set; unlike `x - ONES`, this borrows from
    // no neighbour and is exact.
    let differs = one ^ other;
    HIGH & !(((differs & !HIGH) + !HIGH) | differs)
}

/// Loads the bytes after a name's whole words, padded with zeros. `rest` must not be empty.
#[inline]
pub(super) fn last_word(name: &[u8], rest: &[u8]) -> u64 {
    match name.last_chunk::<WORD>() {
        // One load of the last eight bytes, shifted past those that belong to the word before.
        Some(last) => u64::from_le_bytes(*last) >> (8 * (WORD - rest.len()) % u64::BITS as usize),
        None => short_word(rest),
    }
}

/// Loads fewer bytes than a word has, padded with zeros; more are cut.
#[inline]
pub(super) fn short_word(rest: &[u8]) -> u64 {
    match (rest.first_chunk::<HALF>(), rest.last_chunk::<HALF>()) {
        // Two loads of four bytes; where they overlap they agree.
        (Some(first), Some(last)) => {
            let last = u64::from(u32::from_le_bytes(*last)) << (8 * (rest.len() - HALF) % u64::BITS as usize);
            u64::from(u32::from_le_bytes(*first)) | last
        }
        _ => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}
