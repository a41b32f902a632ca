//! Recognition of HyperLogLogs and bitmaps: strings for commands that work on a whole string, such as PFADD and SETBIT.
//!
//! A HyperLogLog has a header. A bitmap has none: it is taken for one if it is binary, longer than an attribute, and shows neither the
//! header of a usual format (compressed data, images, serialized objects) nor a word, as serialized objects have, nor is an array of
//! floating-point numbers, as embeddings are.

use super::beginning;
use super::binary::IGBINARY;
use super::serialized::JAVA;
use super::text::begins_like_text;
use crate::record::{Kind, Record};

/// Header of a HyperLogLog, before its encoding.
const HYPERLOGLOG: &[u8] = b"HYLL";

/// Size of the header of a HyperLogLog.
const HEADER: u64 = 16;

/// Longest binary value of an attribute, in bytes.
const MAX_ATTRIBUTE_LEN: u64 = 128;

/// Bytes that are examined.
const EXAMINED: usize = 256;

/// Letters of a word that random bytes hardly ever have in a row.
const WORD: usize = 6;

/// Biased exponents of 32-bit floats from 2^-32 to 2^16, of which the components of vectors are made.
const FLOAT_EXPONENTS: std::ops::Range<u32> = 127 - 32..127 + 16;

/// Biased exponents of 64-bit floats in this range.
const DOUBLE_EXPONENTS: std::ops::Range<u64> = 1023 - 32..1023 + 16;

/// Beginnings of usual formats: gzip, zlib, zstd, LZ4, images, Java, pickle, igbinary.
const FORMATS: [&[u8]; 15] = [
    b"\x1f\x8b",
    b"\x78\x01",
    b"\x78\x5e",
    b"\x78\x9c",
    b"\x78\xda",
    b"\x28\xb5\x2f\xfd",
    b"\x04\x22\x4d\x18",
    b"\x89PNG",
    b"\xff\xd8\xff",
    JAVA,
    b"\x80\x02",
    b"\x80\x03",
    b"\x80\x04",
    b"\x80\x05",
    IGBINARY,
];

/// Returns whether a string is a HyperLogLog or, as far as can be told, a bitmap. Reads only its beginning.
pub fn holds_bits(record: &Record<'_>) -> bool {
    let length = record.length.unwrap_or_default();
    record.kind == Kind::String
        && length >= HEADER
        && beginning(record, EXAMINED, |bytes, whole| {
            let examined = bytes.get(..EXAMINED).unwrap_or(bytes);
            is_hyperloglog(examined)
                || length > MAX_ATTRIBUTE_LEN && is_bitmap(examined, whole && examined.len() == bytes.len())
        })
        .unwrap_or(false)
}

/// Returns whether a string of any length may be a bitmap by its beginning. Short ones may be numbers in binary form.
pub fn may_be_bits(record: &Record<'_>) -> bool {
    beginning(record, EXAMINED, |bytes, whole| {
        let examined = bytes.get(..EXAMINED).unwrap_or(bytes);
        is_bitmap(examined, whole && examined.len() == bytes.len())
    })
    .unwrap_or(false)
}

fn is_hyperloglog(bytes: &[u8]) -> bool {
    matches!(bytes.strip_prefix(HYPERLOGLOG), Some([0 | 1, ..]))
}

fn is_bitmap(bytes: &[u8], whole: bool) -> bool {
    let has_word = || bytes.split(|byte| !byte.is_ascii_alphabetic()).any(|word| word.len() >= WORD);
    !begins_like_text(bytes, whole)
        && !FORMATS.iter().any(|format| bytes.starts_with(format))
        && !has_word()
        && !is_vector(bytes)
}

/// Returns whether bytes are little-endian floating-point numbers of usual magnitudes: every one of them, zeros apart, and half of them
/// at least, since a bitmap has zeros in the same places.
fn is_vector(bytes: &[u8]) -> bool {
    let (floats, _) = bytes.as_chunks();
    let (doubles, _) = bytes.as_chunks();
    let is_float = |float: &[u8; 4]| FLOAT_EXPONENTS.contains(&(u32::from_le_bytes(*float) >> 23 & 0xff));
    let is_double = |double: &[u8; 8]| DOUBLE_EXPONENTS.contains(&(u64::from_le_bytes(*double) >> 52 & 0x7ff));
    are_all(floats, is_float) || are_all(doubles, is_double)
}

/// Returns whether all that are not zeros are as asked, and half of all at least.
fn are_all<const N: usize>(numbers: &[[u8; N]], is: impl Fn(&[u8; N]) -> bool) -> bool {
    let others = || numbers.iter().filter(|number| **number != [0; N]);
    others().count() * 2 >= numbers.len() && others().all(is)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::record;
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;

    fn holds(value: &[u8]) -> bool {
        let length = u16::try_from(value.len()).unwrap();
        let bytes = [&[0x40 | length.to_be_bytes()[0], length.to_be_bytes()[1]], value].concat();
        let raw = RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE };
        holds_bits(&Record { raw: Some(raw), length: Some(u64::from(length)), ..record(b"a:b") })
    }

    #[test]
    fn hyperloglogs_and_bitmaps_hold_bits() {
        assert!(holds(b"HYLL\x01\0\0\0\0\0\0\0\0\0\0\x80\x7f\xff"));
        let mut bitmap = vec![0; 1_000];
        bitmap[0] = 0x80;
        assert!(holds(&bitmap));
        let mixed: Vec<u8> = (0..500u32).map(|n| (n.wrapping_mul(2_654_435_769) >> 24) as u8).collect();
        assert!(holds(&mixed));
    }

    #[test]
    fn vectors_hold_none() {
        let floats: Vec<u8> = (0..100u8).flat_map(|n| ((f32::from(n) - 50.0) / 700.0).to_le_bytes()).collect();
        let doubles: Vec<u8> = (0..100u8).flat_map(|n| ((f64::from(n) - 50.0) / 700.0).to_le_bytes()).collect();
        assert!(!holds(&floats) && !holds(&doubles));
        // A bitmap with a few bits set is zero in the same places.
        let mut sparse = vec![0; 400];
        sparse[0..4].copy_from_slice(&1f32.to_le_bytes());
        assert!(holds(&sparse));
    }

    #[test]
    fn attributes_hold_none() {
        let long = |start: &[u8]| [start, &[0xfe; 300]].concat();
        for value in [
            b"tom".to_vec(),
            b"HYLL of the valley".to_vec(),
            "\u{5f20}\u{4e09}".repeat(100).into_bytes(),
            vec![0xfe; 128],
            long(b"\xac\xed\0\x05sr\0\x0ejava.util.Map"),
            long(b"\x1f\x8b\x08"),
            long(b"\x08\x96\x01\x12\x07profile"),
        ] {
            assert!(!holds(&value), "{}", value.escape_ascii());
        }
    }
}
