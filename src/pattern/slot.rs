//! Cluster slot of a key: CRC16 of its hash tag, or of the whole key, modulo 16384.
//!
//! ```text
//! {user:1001}:cart     hashes user:1001
//! foo{{bar}}zap        hashes {bar: the first opening brace, the first closing one after it
//! {}:x  {a  a}b{       hash whole: nothing in the braces, or no pair of them
//! ```
//!
//! The rule is that of the cluster specification. The CRC is XMODEM's: polynomial 0x1021, not reflected, initial value
//! 0.

use std::ops::Range;

use super::block::each_block;

pub use crate::rdb::slot_info::SLOTS;

/// Longest key in which a bitmap can show the braces.
const BITS: usize = u64::BITS as usize;

/// Bytes per step of the CRC of a long key.
const STRIDE: usize = 8;

/// Longest key whose CRC is the sum of those of its bytes: its tables take half of a usual L1 cache.
const SHORT: usize = 32;

/// `TABLES[n][b]`: the CRC of byte `b` followed by `n` zero bytes.
static TABLES: [[u16; 256]; SHORT] = tables();

/// Returns the cluster slot of `key`.
pub fn slot_of(key: &[u8]) -> u16 {
    let hashed = tag(key).and_then(|tag| key.get(tag)).unwrap_or(key);
    crc16(hashed) % SLOTS
}

/// Returns the cluster slot of a key that is known to have no hash tag.
#[inline]
pub fn slot_of_untagged(key: &[u8]) -> u16 {
    crc16(key) % SLOTS
}

/// Returns true if `key` has a hash tag.
pub fn has_tag(key: &[u8]) -> bool {
    tag(key).is_some()
}

/// Splits `key` at the braces of its hash tag: before, inside and after it. A key without a tag is all in the first
/// piece.
pub fn untagged(key: &[u8]) -> [&[u8]; 3] {
    match tag(key) {
        Some(tag) => [&key[..tag.start - 1], &key[tag.clone()], &key[tag.end + 1..]],
        None => [key, &[], &[]],
    }
}

/// Returns the range of the hash tag of `key`, without its braces: what is between the first `{` and the first `}` after
/// it, unless that is empty.
#[inline]
pub fn tag(key: &[u8]) -> Option<Range<usize>> {
    if key.len() > BITS {
        return long_tag(key);
    }
    let (mut opening, mut closing) = (0, 0);
    each_block(key, |block, place| {
        opening |= block.equal(b'{') << place;
        closing |= block.equal(b'}') << place;
    });
    let start = opening.trailing_zeros() + 1;
    let length = closing.checked_shr(start)?.trailing_zeros();
    (length > 0 && length < u64::BITS).then(|| start as usize..(start + length) as usize)
}

/// Like [`tag`], for any key.
fn long_tag(key: &[u8]) -> Option<Range<usize>> {
    let start = memchr::memchr(b'{', key)? + 1;
    let length = memchr::memchr(b'}', key.get(start..)?)?;
    (length > 0).then_some(start..start + length)
}

/// Computes CRC16/XMODEM. Leading zeros do not change it.
#[inline]
fn crc16(bytes: &[u8]) -> u16 {
    if bytes.len() <= SHORT {
        // No look-up waits for another.
        let sum = |crc, (&byte, table): (&u8, &[u16; 256])| crc ^ table[usize::from(byte)];
        return bytes.iter().rev().zip(&TABLES).fold(0, sum);
    }
    crc16_long(bytes)
}

/// Computes the CRC eight bytes a step; the first step takes the odd ones.
fn crc16_long(bytes: &[u8]) -> u16 {
    let (odd, words) = bytes.as_rchunks::<STRIDE>();
    let first = odd.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    words.iter().fold(step(0, first), |crc, word| step(crc, u64::from_be_bytes(*word)))
}

#[inline]
fn step(crc: u16, word: u64) -> u16 {
    let [a, b, c, d, e, f, g, h] = (word ^ u64::from(crc) << 48).to_be_bytes();
    TABLES[7][usize::from(a)]
        ^ TABLES[6][usize::from(b)]
        ^ TABLES[5][usize::from(c)]
        ^ TABLES[4][usize::from(d)]
        ^ TABLES[3][usize::from(e)]
        ^ TABLES[2][usize::from(f)]
        ^ TABLES[1][usize::from(g)]
        ^ TABLES[0][usize::from(h)]
}

const fn tables() -> [[u16; 256]; SHORT] {
    let mut tables = [[0; 256]; SHORT];
    let mut byte = 0;
    while byte < 256 {
        #[expect(clippy::cast_possible_truncation, reason = "the byte is below 256")]
        let mut crc = (byte as u16) << 8;
        let mut zeros = 0;
        while zeros < SHORT {
            let mut bit = 0;
            while bit < 8 {
                crc = if crc & 0x8000 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 };
                bit += 1;
            }
            tables[zeros][byte] = crc;
            zeros += 1;
        }
        byte += 1;
    }
    tables
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn bitwise(bytes: &[u8]) -> u16 {
        bytes.iter().fold(0, |crc, &byte| {
            (0..8).fold(crc ^ u16::from(byte) << 8, |crc, _| if crc >> 15 == 0 { crc << 1 } else { crc << 1 ^ 0x1021 })
        })
    }

    #[test]
    fn check_value_is_xmodems() {
        assert_eq!(crc16(b"123456789"), 0x31C3);
        assert_eq!(slot_of(b"123456789"), 12739);
        assert_eq!(slot_of(b""), 0);
    }

    #[test]
    fn slots_match_cluster_keyslot() {
        for (key, slot) in [("foo", 12182), ("bar", 5061), ("hello", 866), ("somekey", 11058)] {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn the_first_pair_of_braces_with_something_in_it_is_the_tag() {
        for (key, tag) in [
            ("foo{bar}baz", "bar"),
            ("{user:1001}:cart", "user:1001"),
            ("foo{{bar}}zap", "{bar"),
            ("foo{bar}{zap}", "bar"),
            ("a}b{c}", "c"),
        ] {
            assert!(has_tag(key.as_bytes()), "{key}");
            assert_eq!(slot_of(key.as_bytes()), bitwise(tag.as_bytes()) % SLOTS, "{key}");
        }
        for key in ["", "{", "}", "{}", "{}x", "foo{}{bar}", "foo{bar", "foo}bar{", "plain"] {
            assert!(!has_tag(key.as_bytes()), "{key}");
            assert_eq!(slot_of_untagged(key.as_bytes()), slot_of(key.as_bytes()), "{key}");
            assert_eq!(slot_of(key.as_bytes()), bitwise(key.as_bytes()) % SLOTS, "{key}");
        }
    }

    proptest! {
        #[test]
        fn tags_of_short_keys_are_found_as_those_of_long_ones(key in "[{}a]{0,5}[{}a-z]{0,63}") {
            prop_assert_eq!(tag(key.as_bytes()), long_tag(key.as_bytes()));
        }

        #[test]
        fn crc_is_the_bitwise_crc(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert_eq!(crc16(&bytes), bitwise(&bytes));
            let expected = TABLES_BY_CRATE.checksum(&bytes);
            prop_assert_eq!(crc16(&bytes), expected);
        }
    }

    const TABLES_BY_CRATE: crc::Crc<u16> = crc::Crc::<u16>::new(&crc::CRC_16_XMODEM);
}
