//! Strings in their stored form, decoded on demand.
//!
//! ```text
//! length, bytes           plain
//! C0 i8 | C1 i16 | C2 i32 the decimal text of a number, little endian
//! C3 clen ulen bytes      an LZF block of clen bytes that expands to ulen
//! ```

use std::borrow::Cow;

use super::cursor::{Cursor, Length};
use super::lzf;
use super::scratch::Scratch;
use crate::error::{Error, Result};
use crate::limits;
use crate::wording::wording;

/// Undecoded string, borrowed from the file.
#[derive(Debug, Clone, Copy)]
pub struct RawString<'a> {
    /// Absolute offset of the content (for integers: of the encoding byte).
    pub offset: u64,
    /// Stored form.
    pub form: StringForm<'a>,
}

/// Encoding byte of an LZF-compressed string.
const COMPRESSED: u8 = 0xC3;

/// Stored form of a string.
#[derive(Debug, Clone, Copy)]
pub enum StringForm<'a> {
    /// Plain bytes.
    Plain(&'a [u8]),
    /// An integer that stands for its decimal text.
    Int(i32),
    /// An LZF block with its declared size.
    Lzf {
        /// The compressed bytes.
        block: &'a [u8],
        /// Declared decompressed size.
        len: u64,
    },
}

impl<'a> Cursor<'a> {
    /// Reads a string without decoding or allocating.
    ///
    /// Always inlined: the result is large, and returning it from a call costs as much as reading it.
    #[inline(always)]
    pub fn string(&mut self) -> Result<RawString<'a>> {
        match short_text(self.rest()) {
            Some((head, text)) => {
                let offset = self.offset() + head as u64;
                self.advance(head + text.len());
                Ok(RawString { offset, form: StringForm::Plain(text) })
            }
            None => self.other_string(),
        }
    }

    /// Reads any string: the slow path of [`Cursor::string`].
    #[inline(never)]
    fn other_string(&mut self) -> Result<RawString<'a>> {
        if let Some((head, block, len)) = short_block(self.rest()) {
            let offset = self.offset() + head as u64;
            self.advance(head + block.len());
            return Ok(RawString { offset, form: StringForm::Lzf { block, len: len as u64 } });
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

    /// Skips a string and returns its decoded length.
    #[inline(always)]
    pub fn string_len(&mut self) -> Result<u64> {
        match self.short_string_len() {
            Some(len) => Ok(len),
            None => self.other_string().map(|string| string.len()),
        }
    }

    /// Fast path of [`Cursor::string_len`] for short plain strings and integers; returns `None` if the bytes run out.
    #[inline(always)]
    fn short_string_len(&mut self) -> Option<u64> {
        if let Some((head, text)) = short_text(self.rest()) {
            self.advance(head + text.len());
            return Some(text.len() as u64);
        }
        let rest = self.rest();
        let &first = rest.first().filter(|first| (0xC0..=0xC2).contains(*first))?;
        // C0, C1, C2 are followed by 1, 2 or 4 bytes. Always load four and shift the excess out and back, which also extends
        // the sign: no branch on the width.
        let width = 1u32 << (first & 3);
        let beyond = 32 - 8 * width;
        let raw = i32::from_le_bytes(*rest.get(1..)?.first_chunk::<4>()?);
        self.advance(1 + width as usize);
        Some(decimal_len((raw << beyond) >> beyond))
    }

    /// Moves back to `start` of a string whose next `len` bytes are not all there, and returns the error for it.
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
                    if len > 0 && !is_possible(compressed, len) {
                        return Err(Error::corrupt(
                            start.offset(),
                            wording!(
                                "LZF block of {compressed} bytes cannot expand to {len}",
                                "LZF 块长 {compressed} 字节，不可能解压为 {len} 字节"
                            ),
                        ));
                    }
                    // Servers load any block that is to expand to nothing.
                    cursor.take(compressed).map(|block| match len {
                        0 => StringForm::Plain(&[]),
                        len => StringForm::Lzf { block, len },
                    })
                }
                other => Err(Error::corrupt(
                    start.offset(),
                    wording!("unknown string encoding {other}", "未知的字符串编码 {other}"),
                )),
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

/// Returns whether an LZF block of `compressed` bytes can expand to `len`, which is not 0.
#[inline]
fn is_possible(compressed: u64, len: u64) -> bool {
    compressed > 0 && len / limits::LZF_MAX_RATIO <= compressed
}

/// Fast path for plain strings shorter than 16 KiB: returns the size of the length field and the text that `bytes` begin with.
#[inline(always)]
pub(super) fn short_text(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let (len, behind) = short_length(bytes)?;
    Some((bytes.len() - behind.len(), behind.get(..len)?))
}

/// Fast path for LZF strings whose sizes are below 16 KiB: returns the size of the fields before the block, the block, and the size
/// that it expands to; `None` for all others and for damaged ones.
#[inline(always)]
pub(super) fn short_block(bytes: &[u8]) -> Option<(usize, &[u8], usize)> {
    let (_, behind) = bytes.split_first().filter(|(first, _)| **first == COMPRESSED)?;
    let (compressed, behind) = short_length(behind)?;
    let (len, behind) = short_length(behind)?;
    let block = behind.get(..compressed).filter(|_| len > 0 && is_possible(compressed as u64, len as u64))?;
    Some((bytes.len() - behind.len(), block, len))
}

/// Decodes a length of one or two bytes (below 16 KiB) that is not the last byte; returns it with the bytes that follow.
#[inline(always)]
fn short_length(bytes: &[u8]) -> Option<(usize, &[u8])> {
    let &[first, low, ..] = bytes else { return None };
    if first >= 0x80 {
        return None;
    }
    // Lengths around 64 are common, and a wrong guess of the processor costs more than both forms.
    let two = first >> 6;
    let mask = u16::from(two).wrapping_neg();
    let len = u16::from(first & 0x3F) << (8 & mask) | u16::from(low) & mask;
    Some((usize::from(len), bytes.get(1 + usize::from(two)..)?))
}

impl<'a> RawString<'a> {
    /// Creates a string that does not come from a file, for tests and assembled values.
    pub fn plain(bytes: &'a [u8]) -> Self {
        RawString { offset: 0, form: StringForm::Plain(bytes) }
    }

    /// Creates a string that was unpacked from the blob at `offset`.
    pub fn unpacked(bytes: &'a [u8], offset: u64) -> Self {
        RawString { offset, form: StringForm::Plain(bytes) }
    }

    /// Returns the decoded length.
    #[inline]
    pub fn len(&self) -> u64 {
        match self.form {
            StringForm::Plain(bytes) => bytes.len() as u64,
            StringForm::Int(number) => decimal_len(number),
            StringForm::Lzf { len, .. } => len,
        }
    }

    /// Returns whether the string is empty.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns whether the string is LZF-compressed.
    #[inline]
    pub fn is_compressed(&self) -> bool {
        matches!(self.form, StringForm::Lzf { .. })
    }

    /// Returns the decoded bytes, borrowed from the file if plain, otherwise decoded into `scratch`, which is cleared first.
    #[inline]
    pub fn decode<'s>(&self, scratch: &'s mut Scratch) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        match self.form {
            StringForm::Plain(bytes) => Ok(bytes),
            StringForm::Int(_) | StringForm::Lzf { .. } => self.decode_into(scratch),
        }
    }

    /// Checks that the string can be decoded, without decoding it; fails as [`RawString::decode`] does into an empty buffer.
    pub fn check(&self) -> Result<()> {
        let StringForm::Lzf { block, len } = self.form else { return Ok(()) };
        let len = Scratch::default().admit(len, self.offset)?;
        lzf::check(block, len).map_err(|error| Error::corrupt(self.offset, error.message()))
    }

    fn decode_into<'s>(&self, scratch: &'s mut Scratch) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        match self.form {
            StringForm::Plain(bytes) => Ok(bytes),
            StringForm::Int(number) => {
                let buffer = scratch.buffer();
                buffer.clear();
                buffer.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
                Ok(buffer)
            }
            StringForm::Lzf { block, len } => {
                let len = scratch.admit(len, self.offset)?;
                let buffer = scratch.buffer();
                lzf::expand(block, len, buffer).map_err(|error| Error::corrupt(self.offset, error.message()))?;
                Ok(buffer)
            }
        }
    }

    /// Returns at least the first `want` decoded bytes, or all if there are fewer; borrowed from the file where possible,
    /// otherwise decoded into `scratch`.
    pub fn prefix<'s>(&self, want: usize, scratch: &'s mut Scratch) -> Result<&'s [u8]>
    where
        'a: 's,
    {
        match self.form {
            StringForm::Lzf { block, len } => {
                let len = usize::try_from(len).unwrap_or(usize::MAX);
                if let Some(literals) = lzf::first_literals(block, len, want) {
                    return Ok(literals);
                }
                let buffer = scratch.buffer();
                buffer.clear();
                lzf::expand_prefix(block, len, want, buffer)
                    .map_err(|error| Error::corrupt(self.offset, error.message()))?;
                Ok(buffer)
            }
            StringForm::Plain(_) | StringForm::Int(_) => self.decode(scratch),
        }
    }

    /// Returns the decoded bytes, borrowed if the string is plain.
    pub fn to_bytes(&self) -> Result<Cow<'a, [u8]>> {
        match self.form {
            StringForm::Plain(bytes) => Ok(Cow::Borrowed(bytes)),
            StringForm::Int(_) | StringForm::Lzf { .. } => {
                let mut made = Scratch::default();
                self.decode(&mut made)?;
                Ok(Cow::Owned(made.into_bytes()))
            }
        }
    }
}

/// Returns the number of characters in the decimal text of `number`.
#[inline]
fn decimal_len(number: i32) -> u64 {
    let digits = match number.unsigned_abs().checked_ilog10() {
        Some(log) => u64::from(log) + 1,
        None => 1,
    };
    digits + u64::from(number < 0)
}

/// Parses canonical decimal text: no `+`, no leading zero, within 64 bits. Servers store such strings as integers
/// (`string2ll` in `util.c`).
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
    fn every_string_encoding_is_decoded() {
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
    fn string_len_agrees_with_string() {
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
    fn truncated_string_reports_its_start_and_needed_bytes() {
        for (bytes, needed) in [(&b"\x05hel"[..], 6), (&[0xC2, 1, 2][..], 5), (&[0xC3, 0x09, 0x10, 1][..], 12)] {
            let mut cursor = Cursor::new(bytes, 40);
            let error = cursor.string().unwrap_err();
            assert_eq!((error.offset(), cursor.offset()), (Some(40), 40));
            assert!(error.needed().unwrap() <= needed);
        }
    }

    #[test]
    fn decompression_bomb_is_rejected_before_expansion() {
        assert!(Cursor::new(&[0xC3, 0x01, 0x80, 0x40, 0, 0, 0, 0x00], 0).string().is_err());
    }

    #[test]
    fn decimal_len_equals_length_of_text() {
        for number in [0, 9, 10, -1, -10, i32::MAX, i32::MIN] {
            assert_eq!(decimal_len(number), number.to_string().len() as u64);
        }
    }

    #[test]
    fn only_canonical_integers_are_parsed() {
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
