//! Bounds-checked reads that know their absolute offset. A read takes all it needs or nothing, so that the offset of an
//! error is where the failing thing begins.
//!
//! Lengths, in the terms of `rdbLoadLenByRef` in the servers' `rdb.c`:
//!
//! ```text
//! 00xxxxxx                    6 bits
//! 01xxxxxx xxxxxxxx           14 bits, big endian
//! 10000000 + 4 bytes          32 bits, big endian
//! 10000001 + 8 bytes          64 bits, big endian
//! 11eeeeee                    not a length: a special form of a string
//! ```

use crate::error::{Error, Result};

/// A position in bytes that begin at a known place of a file.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Absolute offset of `bytes[0]`.
    base: u64,
}

/// What stands where a length may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A length.
    Plain(u64),
    /// The special form of a string with this number.
    Special(u8),
}

impl<'a> Cursor<'a> {
    /// A cursor at the first of `bytes`, which is at `base` in the file.
    #[inline]
    pub fn new(bytes: &'a [u8], base: u64) -> Self {
        Cursor { bytes, at: 0, base }
    }

    /// Absolute offset of the next byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Number of bytes that were consumed since the cursor was made.
    #[inline]
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// Number of bytes left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The bytes left, without consuming them.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// The bytes consumed since position `from` (an earlier [`Cursor::consumed`]).
    #[inline]
    pub fn since(&self, from: usize) -> &'a [u8] {
        self.bytes.get(from..self.at).unwrap_or_default()
    }

    /// Next byte without consuming it.
    #[inline]
    pub fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    #[cold]
    fn short(&self, needed: u64) -> Error {
        Error::truncated(self.offset(), needed, self.left() as u64)
    }

    /// Consumes one byte.
    #[inline]
    pub fn byte(&mut self) -> Result<u8> {
        match self.bytes.get(self.at) {
            Some(&byte) => {
                self.at += 1;
                Ok(byte)
            }
            None => Err(self.short(1)),
        }
    }

    /// Consumes bytes that [`Cursor::rest`] has shown: no more than there are.
    #[inline]
    pub(super) fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.left(), "only what was seen is consumed");
        self.at += len;
    }

    /// Consumes `len` bytes; `len` is a claim from the file and is held against the bytes at hand first.
    #[inline]
    pub fn take(&mut self, len: u64) -> Result<&'a [u8]> {
        match usize::try_from(len).ok().and_then(|len| self.rest().get(..len)) {
            Some(taken) => {
                self.at += taken.len();
                Ok(taken)
            }
            None => Err(self.short(len)),
        }
    }

    /// Consumes `N` bytes.
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<&'a [u8; N]> {
        match self.rest().first_chunk::<N>() {
            Some(chunk) => {
                self.at += N;
                Ok(chunk)
            }
            None => Err(self.short(N as u64)),
        }
    }

    /// A 32-bit little-endian number.
    #[inline]
    pub fn u32_le(&mut self) -> Result<u32> {
        self.array().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// A signed 32-bit little-endian number.
    #[inline]
    pub fn i32_le(&mut self) -> Result<i32> {
        self.array().map(|bytes| i32::from_le_bytes(*bytes))
    }

    /// A 64-bit little-endian number.
    #[inline]
    pub fn u64_le(&mut self) -> Result<u64> {
        self.array().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// A signed 64-bit little-endian number: times are such.
    #[inline]
    pub fn i64_le(&mut self) -> Result<i64> {
        self.array().map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// A binary double.
    #[inline]
    pub fn f64_le(&mut self) -> Result<f64> {
        self.array().map(|bytes| f64::from_le_bytes(*bytes))
    }

    /// A length, or the number of a special form.
    #[inline]
    pub fn length_or_special(&mut self) -> Result<Length> {
        let rest = self.rest();
        let Some(&first) = rest.first() else { return Err(self.short(1)) };
        match first >> 6 {
            0 => {
                self.at += 1;
                Ok(Length::Plain(u64::from(first)))
            }
            1 => match rest.get(1) {
                Some(&low) => {
                    self.at += 2;
                    Ok(Length::Plain(u64::from(first & 0x3F) << 8 | u64::from(low)))
                }
                None => Err(self.short(2)),
            },
            2 => self.wide_length(first),
            _ => {
                self.at += 1;
                Ok(Length::Special(first & 0x3F))
            }
        }
    }

    fn wide_length(&mut self, first: u8) -> Result<Length> {
        let rest = self.rest();
        match first {
            0x80 => match rest.get(1..).and_then(|rest| rest.first_chunk::<4>()) {
                Some(chunk) => {
                    self.at += 5;
                    Ok(Length::Plain(u64::from(u32::from_be_bytes(*chunk))))
                }
                None => Err(self.short(5)),
            },
            0x81 => match rest.get(1..).and_then(|rest| rest.first_chunk::<8>()) {
                Some(chunk) => {
                    self.at += 9;
                    Ok(Length::Plain(u64::from_be_bytes(*chunk)))
                }
                None => Err(self.short(9)),
            },
            other => Err(Error::corrupt(self.offset(), format!("{other:#04x} is no length encoding"))),
        }
    }

    /// A 64-bit number in the form of a length. All ones are a number like any other here: the servers store -1 so.
    #[inline]
    pub fn number(&mut self) -> Result<u64> {
        let start = self.offset();
        match self.length_or_special()? {
            Length::Plain(number) => Ok(number),
            Length::Special(form) => Err(Error::corrupt(start, format!("expected a length, found string form {form}"))),
        }
    }

    /// A length. The value that servers keep for "error" is one here, too.
    #[inline]
    pub fn length(&mut self) -> Result<u64> {
        let start = self.offset();
        match self.number()? {
            u64::MAX => Err(Error::corrupt(start, "a length of 2^64-1 is the servers' mark for an error")),
            length => Ok(length),
        }
    }

    /// A number of elements, each of which takes at least `min_bytes`: what cannot fit is not even begun.
    ///
    /// The check is against the bytes at hand; a caller whose bytes are a window onto a longer stream sees
    /// `Truncated` and fetches more.
    #[inline]
    pub fn count(&mut self, min_bytes: u64) -> Result<u64> {
        let start = self.at;
        let count = self.length()?;
        if count <= self.left() as u64 / min_bytes {
            return Ok(count);
        }
        let head = (self.at - start) as u64;
        self.at = start;
        Err(self.short(count.saturating_mul(min_bytes).saturating_add(head)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(bytes: &[u8]) -> Result<u64> {
        Cursor::new(bytes, 0).length()
    }

    #[test]
    fn lengths_of_every_form() {
        assert_eq!(length(&[0x10]).unwrap(), 16);
        assert_eq!(length(&[0x40, 0x64]).unwrap(), 100);
        assert_eq!(length(&[0x80, 0, 0, 0xC3, 0x51]).unwrap(), 50_001);
        assert_eq!(length(&[0x81, 0, 0, 0, 1, 0, 0, 0, 0]).unwrap(), 1 << 32);
    }

    #[test]
    fn every_first_byte_reads_or_fails_without_consuming() {
        for first in 0..=255u8 {
            let bytes = [first, 1, 2, 3, 4, 5, 6, 7, 8];
            let mut cursor = Cursor::new(&bytes, 7);
            match cursor.length_or_special() {
                Ok(_) => assert!(cursor.offset() > 7),
                Err(error) => assert_eq!((error.offset(), cursor.offset()), (Some(7), 7)),
            }
        }
    }

    #[test]
    fn all_ones_are_a_number_but_no_length() {
        let bytes = [0x81, 255, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(Cursor::new(&bytes, 0).number().unwrap(), u64::MAX);
        assert!(length(&bytes).is_err());
    }

    #[test]
    fn a_claim_beyond_the_bytes_is_refused_where_it_stands() {
        let mut cursor = Cursor::new(&[0x0A, 1, 2], 100);
        let error = cursor.count(1).unwrap_err();
        assert_eq!((error.offset(), error.needed()), (Some(100), Some(11)));
        assert_eq!(cursor.offset(), 100);
    }
}
