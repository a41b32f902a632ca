//! Names eight bytes at a time, in operations on one number: the first byte is the lowest.

/// Bytes of a word.
pub(super) const WORD: usize = 8;
const HALF: usize = WORD / 2;

/// Every byte of a word.
pub(super) const ONES: u64 = u64::from_le_bytes([1; WORD]);
/// The high bit of every byte.
pub(super) const HIGH: u64 = ONES << 7;

/// An odd number whose bits are in no order: multiplying by it spreads what is hashed, most of all into the highest bits.
pub(crate) const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// The high bit of each byte of a word that is one from `first` to `last`, if all are ASCII, as these two are.
#[inline]
pub(super) fn within(word: u64, first: u8, last: u8) -> u64 {
    // No sum leaves its byte: ASCII ends below 0x80, and what is added is at most that.
    let ascii = word & !HIGH;
    let from_first = ascii + ONES * (0x80 - u64::from(first));
    let above_last = ascii + ONES * (0x80 - u64::from(last) - 1);
    // What is above the last is also from the first on.
    (from_first ^ above_last) & HIGH
}

/// The high bit of each byte that is the same in two words.
#[inline]
pub(super) fn equal_in(one: u64, other: u64) -> u64 {
    let differs = one ^ other;
    HIGH & !(((differs & !HIGH) + !HIGH) | differs)
}

/// A bit for each byte whose high bit is set, if no other bits are.
#[inline]
pub(super) fn bits(high: u64) -> u64 {
    // The bit of byte `i` is moved to place 56 + i.
    (high >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// The bytes of a name behind its whole words, of which there are some, and zeros.
#[inline]
pub(super) fn last_word(name: &[u8], rest: &[u8]) -> u64 {
    match name.last_chunk::<WORD>() {
        // The last eight bytes, without those that are not of the rest.
        Some(last) => u64::from_le_bytes(*last) >> (8 * (WORD - rest.len()) % u64::BITS as usize),
        None => short_word(rest),
    }
}

/// Fewer bytes than a word has, and zeros; more are cut.
#[inline]
pub(super) fn short_word(rest: &[u8]) -> u64 {
    match (rest.first_chunk::<HALF>(), rest.last_chunk::<HALF>()) {
        // They overlap in the same bytes.
        (Some(first), Some(last)) => {
            let last = u64::from(u32::from_le_bytes(*last)) << (8 * (rest.len() - HALF) % u64::BITS as usize);
            u64::from(u32::from_le_bytes(*first)) | last
        }
        _ => rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte)),
    }
}
