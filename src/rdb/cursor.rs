//! Bounds-checked reads with absolute file offsets.
//!
//! A read consumes all its bytes or none, so the offset of an error is where the failing field starts.
//!
//! Length encodings, as in `rdbLoadLenByRef` (`rdb.c`):
//!
//! ```text
//! 00xxxxxx                    6 bits
//! 01xxxxxx xxxxxxxx           14 bits, big endian
//! 10000000 + 4 bytes          32 bits, big endian
//! 10000001 + 8 bytes          64 bits, big endian
//! 11eeeeee                    not a length: a special string encoding
//! ```

use crate::error::{Error, Result};
use crate::wording::wording;

/// Read position in a slice whose absolute file offset is known.
#[derive(Debug, Clone)]
pub struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    /// Absolute offset of `bytes[0]`.
    base: u64,
}

/// Decoded length field: a length or a special string encoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Length {
    /// A length.
    Plain(u64),
    /// Number of a special string encoding.
    Special(u8),
}

impl<'a> Cursor<'a> {
    /// Creates a cursor at the start of `bytes`, which lie at absolute offset `base`.
    #[inline]
    pub fn new(bytes: &'a [u8], base: u64) -> Self {
        Cursor { bytes, at: 0, base }
    }

    /// Returns the absolute offset of the next byte.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.base + self.at as u64
    }

    /// Returns the number of bytes consumed so far.
    #[inline]
    pub fn consumed(&self) -> usize {
        self.at
    }

    /// Returns the number of bytes left.
    #[inline]
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Returns the remaining bytes without consuming them.
    #[inline]
    pub fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Returns the bytes consumed since `from`, an earlier value of [`Cursor::consumed`].
    #[inline]
    pub fn since(&self, from: usize) -> &'a [u8] {
        match self.bytes.get(from..self.at) {
            Some(consumed) => consumed,
            None => nothing(),
        }
    }

    /// Returns the next byte without consuming it.
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

    /// Consumes `len` bytes that the caller has already inspected through [`Cursor::rest`].
    #[inline]
    pub(super) fn advance(&mut self, len: usize) {
        debug_assert!(len <= self.left(), "cannot advance past the end");
        self.at += len;
    }

    /// Consumes `len` bytes, after checking that length, which comes from the file, against the bytes left.
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

    /// Reads a 32-bit little-endian integer.
    #[inline]
    pub fn u32_le(&mut self) -> Result<u32> {
        self.array().map(|bytes| u32::from_le_bytes(*bytes))
    }

    /// Reads a signed 32-bit little-endian integer.
    #[inline]
    pub fn i32_le(&mut self) -> Result<i32> {
        self.array().map(|bytes| i32::from_le_bytes(*bytes))
    }

    /// Reads a 64-bit little-endian integer.
    #[inline]
    pub fn u64_le(&mut self) -> Result<u64> {
        self.array().map(|bytes| u64::from_le_bytes(*bytes))
    }

    /// Reads a signed 64-bit little-endian integer, the type of timestamps.
    #[inline]
    pub fn i64_le(&mut self) -> Result<i64> {
        self.array().map(|bytes| i64::from_le_bytes(*bytes))
    }

    /// Reads a little-endian double.
    #[inline]
    pub fn f64_le(&mut self) -> Result<f64> {
        self.array().map(|bytes| f64::from_le_bytes(*bytes))
    }

    /// Reads a length or the number of a special string encoding.
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
            other => Err(Error::corrupt(
                self.offset(),
                wording!("unknown length encoding {other:#04x}", "未知的长度编码 {other:#04x}"),
            )),
        }
    }

    /// Reads a 64-bit number stored as a length. 2^64-1 is allowed: servers store -1 that way.
    #[inline]
    pub fn number(&mut self) -> Result<u64> {
        let start = self.offset();
        match self.length_or_special()? {
            Length::Plain(number) => Ok(number),
            Length::Special(form) => Err(Error::corrupt(
                start,
                wording!("expected a length, found string encoding {form}", "应为长度，实际为字符串编码 {form}"),
            )),
        }
    }

    /// Reads a length; 2^64-1, the servers' error value (`RDB_LENERR`), is an error here, too.
    #[inline]
    pub fn length(&mut self) -> Result<u64> {
        let start = self.offset();
        match self.number()? {
            u64::MAX => Err(Error::corrupt(
                start,
                wording!("length 2^64-1 is reserved for errors", "长度 2^64-1 保留用于表示错误"),
            )),
            length => Ok(length),
        }
    }

    /// Reads an element count and checks that the bytes left can hold that many elements of at least `min_bytes`.
    ///
    /// The check is against the bytes in this slice; a caller that reads a stream through a window gets `Truncated`
    /// and fetches more.
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

/// Returns no bytes, where there should be some: a branch that is never taken costs less than selecting one of two slices.
#[cold]
fn nothing() -> &'static [u8] {
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn length(bytes: &[u8]) -> Result<u64> {
        Cursor::new(bytes, 0).length()
    }

    #[test]
    fn every_length_encoding_is_decoded() {
        assert_eq!(length(&[0x10]).unwrap(), 16);
        assert_eq!(length(&[0x40, 0x64]).unwrap(), 100);
        assert_eq!(length(&[0x80, 0, 0, 0xC3, 0x51]).unwrap(), 50_001);
        assert_eq!(length(&[0x81, 0, 0, 0, 1, 0, 0, 0, 0]).unwrap(), 1 << 32);
    }

    #[test]
    fn failed_length_consumes_nothing() {
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
    fn all_ones_is_a_number_but_not_a_length() {
        let bytes = [0x81, 255, 255, 255, 255, 255, 255, 255, 255];
        assert_eq!(Cursor::new(&bytes, 0).number().unwrap(), u64::MAX);
        assert!(length(&bytes).is_err());
    }

    #[test]
    fn oversized_count_reports_its_start() {
        let mut cursor = Cursor::new(&[0x0A, 1, 2], 100);
        let error = cursor.count(1).unwrap_err();
        assert_eq!((error.offset(), error.needed()), (Some(100), Some(11)));
        assert_eq!(cursor.offset(), 100);
    }
}
