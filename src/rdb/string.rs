//! Strings as they stand in the file, undecoded until someone asks.
//!
//! ```text
//! length, bytes           plain
//! C0 i8 | C1 i16 | C2 i32 the decimal text of a number, little endian
//! C3 clen ulen bytes      an LZF block of clen bytes that expands to ulen
//! ```

use std::borrow::Cow;

use super::cursor::{Cursor, Length};
use super::lzf;
use crate::error::{Error, Result};
use crate::limits;

/// A string of any form, borrowed from the file.
#[derive(Debug, Clone, Copy)]
pub struct RawString<'a> {
    /// Absolute offset of its content (for numbers: of the form byte).
    pub offset: u64,
    /// How it is stored.
    pub form: StringForm<'a>,
}

/// The form byte of a compressed string.
const COMPRESSED: u8 = 0xC3;

/// How a string is stored.
#[derive(Debug, Clone, Copy)]
pub enum StringForm<'a> {
    /// As it is.
    Plain(&'a [u8]),
    /// As a number that stands for its decimal text.
    Int(i32),
    /// As an LZF block that announces `len` bytes.
    Lzf {
        /// The compressed bytes.
        block: &'a [u8],
        /// Bytes that they expand to.
        len: u64,
    },
}

impl<'a> Cursor<'a> {
    /// A string. Nothing is decoded, nothing allocated.
    ///
    /// Inlined always: the result is large, and copying it out of a call takes as long as reading it.
    #[inline(always)]
    pub fn string(&mut self) -> Result<RawString<'a>> {
        match self.short_text() {
            Some((head, text)) => {
                let offset = self.offset() + head as u64;
                self.advance(head + text.len());
                Ok(RawString { offset, form: StringForm::Plain(text) })
            }
            None => self.other_string(),
        }
    }

    /// What is most: a text below 16 KiB, and the bytes in front of it. None when the bytes do not suffice.
    #[inline(always)]
    fn short_text(&self) -> Option<(usize, &'a [u8])> {
        let rest = self.rest();
        let (len, behind) = short_length(rest)?;
        Some((rest.len() - behind.len(), behind.get(..len)?))
    }

    /// What most other strings are: a compressed text below 16 KiB. None for all else, damage included.
    #[inline(always)]
    fn short_block(&mut self) -> Option<RawString<'a>> {
        let rest = self.rest();
        let (compressed, behind) = short_length(rest.strip_prefix(&[COMPRESSED])?)?;
        let (len, behind) = short_length(behind)?;
        let block = behind.get(..compressed).filter(|_| is_possible(compressed as u64, len as u64))?;
        let head = rest.len() - behind.len();
        let offset = self.offset() + head as u64;
        self.advance(head + compressed);
        Some(RawString { offset, form: StringForm::Lzf { block, len: len as u64 } })
    }

    /// Any string.
    #[inline(never)]
    fn other_string(&mut self) -> Result<RawString<'a>> {
        if let Some(string) = self.short_block() {
            return Ok(string);
        }
        let start = self.clone();
        match self.length_or_special()? {
            Length::Plain(len) => {
                let offset = self.offset();
                match self.take(len) {
                    Ok(bytes) => Ok(RawString { offset, form: StringForm::Plain(bytes) }),
                    Err(_) => Err(self.back_to(start, len)),
                }
            }
            Length::Special(form) => self.special_string(start, form),
        }
    }

    /// Passes over a string and tells its decoded length: what [`Cursor::string`] does, for those who want no more.
    #[inline(always)]
    pub fn string_len(&mut self) -> Result<u64> {
        match self.short_string_len() {
            Some(len) => Ok(len),
            None => self.other_string().map(|string| string.len()),
        }
    }

    /// The same for short texts and for numbers, which is most; none when the bytes do not suffice.
    #[inline(always)]
    fn short_string_len(&mut self) -> Option<u64> {
        if let Some((head, text)) = self.short_text() {
            self.advance(head + text.len());
            return Some(text.len() as u64);
        }
        let rest = self.rest();
        let &first = rest.first().filter(|first| (0xC0..=0xC2).contains(*first))?;
        // One, two or four bytes; four are read of any, and what is too much is shifted out.
        let width = 1u32 << (first & 3);
        let beyond = 32 - 8 * width;
        let raw = i32::from_le_bytes(*rest.get(1..)?.first_chunk::<4>()?);
        self.advance(1 + width as usize);
        Some(decimal_len((raw << beyond) >> beyond))
    }

    /// Returns to the beginning of a string that goes on for `len` bytes from here, beyond the bytes at hand.
    #[cold]
    fn back_to(&mut self, start: Cursor<'a>, len: u64) -> Error {
        let head = (self.consumed() - start.consumed()) as u64;
        *self = start;
        Error::truncated(self.offset(), len.saturating_add(head), self.left() as u64)
    }

    fn special_string(&mut self, start: Cursor<'a>, form: u8) -> Result<RawString<'a>> {
        let read = |cursor: &mut Cursor<'a>| -> Result<StringForm<'a>> {
            match form {
                0 => cursor.array::<1>().map(|b| StringForm::Int(i32::from(i8::from_le_bytes(*b)))),
                1 => cursor.array::<2>().map(|b| StringForm::Int(i32::from(i16::from_le_bytes(*b)))),
                2 => cursor.i32_le().map(StringForm::Int),
                3 => {
                    let compressed = cursor.length()?;
                    let len = cursor.length()?;
                    if !is_possible(compressed, len) {
                        return Err(Error::corrupt(
                            start.offset(),
                            format!("no LZF block of {compressed} bytes expands to {len}"),
                        ));
                    }
                    cursor.take(compressed).map(|block| StringForm::Lzf { block, len })
                }
                other => Err(Error::corrupt(start.offset(), format!("unknown string form {other}"))),
            }
        };
        match read(self) {
            Ok(form) => {
                let offset = match form {
                    StringForm::Lzf { block, .. } => self.offset() - block.len() as u64,
                    StringForm::Plain(_) | StringForm::Int(_) => start.offset(),
                };
                Ok(RawString { offset, form })
            }
            Err(error) => Err(match error.needed() {
                Some(needed) => self.back_to(start, needed),
                None => error,
            }),
        }
    }
}

/// Whether so many compressed bytes may expand to `len`.
#[inline]
fn is_possible(compressed: u64, len: u64) -> bool {
    compressed > 0 && len > 0 && len / limits::LZF_MAX_RATIO <= compressed
}

/// A length below 16 KiB, and the bytes behind it: what [`Cursor::length`] reads, for the lengths that most things have.
#[inline(always)]
fn short_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (&first, behind) = bytes.split_first()?;
    if first < 0x40 {
        return Some((usize::from(first), behind));
    }
    let (&low, behind) = behind.split_first().filter(|_| first < 0x80)?;
    Some((usize::from(first & 0x3F) << 8 | usize::from(low), behind))
}

impl<'a> RawString<'a> {
    /// A string that is not from a file, for tests and for values made of parts.
    pub fn plain(bytes: &'a [u8]) -> Self {
        RawString { offset: 0, form: StringForm::Plain(bytes) }
    }

    /// Number of bytes once decoded.
    #[inline]
    pub fn len(&self) -> u64 {
        match self.form {
            StringForm::Plain(bytes) => bytes.len() as u64,
            StringForm::Int(number) => decimal_len(number),
            StringForm::Lzf { len, .. } => len,
        }
    }

    /// True for the empty string.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether it has to be expanded to be read.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        matches!(self.form, StringForm::Lzf { .. })
    }

    /// The decoded bytes: borrowed where they stand in the file, else made in `scratch` (which is cleared first).
    #[inline]
    pub fn decode<'s>(&self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        match self.form {
            StringForm::Plain(bytes) => Ok(bytes),
            StringForm::Int(_) | StringForm::Lzf { .. } => self.decode_into(scratch),
        }
    }

    fn decode_into<'s>(&self, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        match self.form {
            StringForm::Plain(bytes) => Ok(bytes),
            StringForm::Int(number) => {
                scratch.clear();
                scratch.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                Ok(scratch)
            }
            StringForm::Lzf { block, len } => {
                scratch.clear();
                let len = self.expandable(len)?;
                lzf::expand(block, len, scratch).map_err(|error| Error::corrupt(self.offset, error.message()))?;
                Ok(scratch)
            }
        }
    }

    /// The first `want` decoded bytes, or all if there are fewer, or some more: borrowed where they stand in the file, else made
    /// in `scratch`.
    pub fn prefix<'s>(&self, want: usize, scratch: &'s mut Vec<u8>) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        match self.form {
            StringForm::Lzf { block, len } => {
                let len = self.expandable(len)?;
                if let Some(literals) = lzf::first_literals(block, len, want) {
                    return Ok(literals);
                }
                scratch.clear();
                lzf::expand_prefix(block, len, want, scratch)
                    .map_err(|error| Error::corrupt(self.offset, error.message()))?;
                Ok(scratch)
            }
            StringForm::Plain(_) | StringForm::Int(_) => self.decode(scratch),
        }
    }

    /// The decoded bytes, owned only where they do not stand in the file.
    pub fn to_bytes(&self) -> Result<Cow<'a, [u8]>> {
        match self.form {
            StringForm::Plain(bytes) => Ok(Cow::Borrowed(bytes)),
            StringForm::Int(_) | StringForm::Lzf { .. } => {
                let mut made = Vec::new();
                self.decode(&mut made)?;
                Ok(Cow::Owned(made))
            }
        }
    }

    fn expandable(&self, len: u64) -> Result<usize> {
        match usize::try_from(len) {
            Ok(small) if len <= limits::MAX_BLOB_BYTES => Ok(small),
            _ => Err(Error::at(
                self.offset,
                crate::error::ErrorKind::Limit(format!("a compressed value of {len} bytes is beyond what is expanded")),
            )),
        }
    }
}

/// Characters of the decimal text of a number.
#[inline]
fn decimal_len(number: i32) -> u64 {
    let digits = match number.unsigned_abs().checked_ilog10() {
        Some(log) => u64::from(log) + 1,
        None => 1,
    };
    digits + u64::from(number < 0)
}

/// The number whose canonical decimal text this is: no sign but `-`, no leading zero, within 64 bits. The servers
/// store such strings as numbers (`string2ll` in `util.c`).
#[inline]
pub fn canonical_int(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    match digits {
        [b'0'] if !negative => return Some(0),
        [b'1'..=b'9', ..] if digits.len() <= 19 => {}
        _ => return None,
    }
    let mut magnitude: u64 = 0;
    for &digit in digits {
        if !digit.is_ascii_digit() {
            return None;
        }
        // 19 digits stay below 10^19, which fits 64 bits.
        magnitude = magnitude * 10 + u64::from(digit - b'0');
    }
    if negative { 0i64.checked_sub_unsigned(magnitude) } else { i64::try_from(magnitude).ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decoded(bytes: &[u8]) -> Vec<u8> {
        let string = Cursor::new(bytes, 0).string().unwrap();
        let text = string.to_bytes().unwrap().into_owned();
        assert_eq!(text.len() as u64, string.len());
        text
    }

    #[test]
    fn strings_of_every_form() {
        assert_eq!(decoded(b"\x05hello"), b"hello");
        assert_eq!(decoded(&[0xC0, 0x7B]), b"123");
        assert_eq!(decoded(&[0xC1, 0xD4, 0xFE]), b"-300");
        assert_eq!(decoded(&[0xC2, 0xA0, 0x86, 0x01, 0x00]), b"100000");
        assert_eq!(
            decoded(&[0xC3, 0x09, 0x40, 0x64, 0x01, 0x61, 0x61, 0xE0, 0x57, 0x00, 0x01, 0x61, 0x61]),
            vec![b'a'; 100]
        );
    }

    #[test]
    fn the_length_alone_is_that_of_the_string() {
        let tails = [&b""[..], b"\x05\x61\x20\x03", &[0xFF; 6], &[b'a'; 80]];
        for (first, tail) in (0..=255u8).flat_map(|first| tails.map(|tail| (first, tail))) {
            let bytes = [&[first][..], tail].concat();
            let (mut whole, mut short) = (Cursor::new(&bytes, 9), Cursor::new(&bytes, 9));
            let (string, len) = (whole.string(), short.string_len());
            assert_eq!(whole.offset(), short.offset(), "{first:#04x}");
            match (string, len) {
                (Ok(string), Ok(len)) => assert_eq!(string.len(), len, "{first:#04x}"),
                (Err(one), Err(other)) => assert_eq!(one.to_string(), other.to_string()),
                _ => panic!("{first:#04x}"),
            }
        }
    }

    #[test]
    fn a_short_string_fails_at_its_beginning_and_tells_what_it_needs() {
        for (bytes, needed) in [(&b"\x05hel"[..], 6), (&[0xC2, 1, 2][..], 5), (&[0xC3, 0x09, 0x10, 1][..], 12)] {
            let mut cursor = Cursor::new(bytes, 40);
            let error = cursor.string().unwrap_err();
            assert_eq!((error.offset(), cursor.offset()), (Some(40), 40));
            assert!(error.needed().unwrap() <= needed);
        }
    }

    #[test]
    fn a_bomb_is_refused_before_it_is_expanded() {
        assert!(Cursor::new(&[0xC3, 0x01, 0x80, 0x40, 0, 0, 0, 0x00], 0).string().is_err());
    }

    #[test]
    fn lengths_of_numbers() {
        for number in [0, 9, 10, -1, -10, i32::MAX, i32::MIN] {
            assert_eq!(decimal_len(number), number.to_string().len() as u64);
        }
    }

    #[test]
    fn canonical_numbers_only() {
        for text in ["0", "-1", "9223372036854775807", "-9223372036854775808"] {
            assert_eq!(canonical_int(text.as_bytes()), text.parse().ok());
        }
        for text in [
            "",
            "-",
            "-0",
            "01",
            "+1",
            " 1",
            "1a",
            "9223372036854775808",
            "-9223372036854775809",
            "99999999999999999999",
        ] {
            assert_eq!(canonical_int(text.as_bytes()), None, "{text}");
        }
    }
}
