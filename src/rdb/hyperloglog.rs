//! Recognition of HyperLogLogs, which servers store as strings (`hyperloglog.c`).
//!
//! ```text
//! "HYLL", encoding (0 dense, 1 sparse), 3 zero bytes, 8 bytes of cached cardinality, registers
//! dense   16384 registers of 6 bits
//! sparse  00xxxxxx x+1 zeros | 01xxxxxx yyyyyyyy xy+1 zeros | 1vvvvvxx x+1 registers of value v+1
//! ```

use super::cursor::Cursor;
use super::peek::RawValue;
use super::string::RawString;
use super::value_type::ValueType;
use crate::rdb::scratch::Scratch;

const HEADER: usize = 16;
const REGISTERS: usize = 16_384;
/// Size of a dense HyperLogLog.
pub const DENSE_BYTES: u64 = (HEADER + REGISTERS * 6 / 8) as u64;
/// Maximum size of a sparse one: two bytes for each register.
const SPARSE_BYTES: u64 = (HEADER + REGISTERS * 2) as u64;

impl RawValue<'_> {
    /// Returns whether the value is a HyperLogLog that the server would accept. A text that begins with the magic is none.
    pub fn is_hyperloglog(&self) -> bool {
        self.value_type == ValueType::String && Cursor::new(self.bytes, 0).string().is_ok_and(is_hyperloglog)
    }
}

fn is_hyperloglog(string: RawString<'_>) -> bool {
    let len = string.len();
    if len < HEADER as u64 || len > SPARSE_BYTES {
        return false;
    }
    let mut scratch = Scratch::default();
    match string.prefix(HEADER, &mut scratch) {
        Ok([b'H', b'Y', b'L', b'L', 0, 0, 0, 0, ..]) => len == DENSE_BYTES,
        Ok([b'H', b'Y', b'L', b'L', 1, 0, 0, 0, ..]) => {
            let mut scratch = Scratch::default();
            string.decode(&mut scratch).is_ok_and(|bytes| bytes.get(HEADER..).is_some_and(covers_all_registers))
        }
        _ => false,
    }
}

/// Returns whether the instructions of a sparse HyperLogLog cover each register once.
fn covers_all_registers(mut instructions: &[u8]) -> bool {
    let mut covered = 0;
    loop {
        let (run, rest) = match instructions {
            [] => return covered == REGISTERS,
            [zeros @ 0x00..=0x3F, rest @ ..] => (usize::from(*zeros) + 1, rest),
            [high @ 0x40..=0x7F, low, rest @ ..] => ((usize::from(high & 0x3F) << 8 | usize::from(*low)) + 1, rest),
            [0x40..=0x7F] => return false,
            [value @ 0x80..=0xFF, rest @ ..] => (usize::from(value & 0x03) + 1, rest),
        };
        covered += run;
        instructions = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::template::Templates;

    fn recognised(text: &[u8]) -> bool {
        is_hyperloglog(RawString::plain(text))
    }

    fn with_header(encoding: u8, rest: &[u8]) -> Vec<u8> {
        [b"HYLL", &[encoding, 0, 0, 0][..], &[7, 0, 0, 0, 0, 0, 0, 0x80], rest].concat()
    }

    #[test]
    fn dense_ones_have_one_size() {
        assert!(recognised(&with_header(0, &[0xAA; 12_288])));
        assert!(!recognised(&with_header(0, &[0xAA; 12_289])));
        assert!(!recognised(&with_header(0, &[0xAA; 12_287])));
        assert_eq!(DENSE_BYTES, 12_304);
    }

    #[test]
    fn sparse_ones_cover_all_registers() {
        assert!(recognised(&with_header(1, &[0x7F, 0xFF])));
        assert!(recognised(&with_header(1, &[0x3F, 0x80, 0x7F, 0xBE])));
        for rest in [&b""[..], b"\x7f", b"\x7f\xfe", b"\x7f\xff\x00", b"aaaa"] {
            assert!(!recognised(&with_header(1, rest)), "{rest:?}");
        }
    }

    #[test]
    fn texts_that_begin_with_the_magic_are_none() {
        assert!(!recognised(b"HYLL"));
        assert!(!recognised(b"HYLLO WORLD, this is a text"));
        assert!(!recognised(&[b"HYLL".as_slice(), &[b'x'; 12_300]].concat()));
        assert!(!recognised(&with_header(2, &[0; 12_288])));
    }

    #[test]
    fn compressed_ones_are_recognised() {
        // The header, one zero, and a run of zeros from one byte back.
        let zeros = 12_304 - 9;
        let mut block = b"\x08HYLL\0\0\0\0\0".to_vec();
        let mut left = zeros;
        while left > 0 {
            let run: usize = left.min(264);
            assert!(run >= 9);
            block.extend([0xE0, (run - 9) as u8, 0]);
            left -= run;
        }
        let bytes = [&[0xC3, 0x40 | (block.len() >> 8) as u8, block.len() as u8, 0x70, 0x10], &block[..]].concat();
        assert!(RawValue { value_type: ValueType::String, bytes: &bytes, templates: Templates::NONE }.is_hyperloglog());
        assert!(!RawValue { value_type: ValueType::Set, bytes: &bytes, templates: Templates::NONE }.is_hyperloglog());
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..60)) {
            recognised(&bytes);
            recognised(&with_header(1, &bytes));
        }
    }
}
