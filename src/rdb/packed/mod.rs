//! Blobs that hold many elements in a row: an iterator each, which checks as it goes.
//!
//! Errors carry the offset within the *decoded* blob added to the blob's own place in the file, as near as one gets.

pub mod intset;
pub mod listpack;
pub mod ziplist;
pub mod zipmap;

use crate::error::{Error, Result};

/// An element of a packed blob: text, or a number that stands for its decimal text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedElement<'a> {
    /// Text.
    Text(&'a [u8]),
    /// A number.
    Int(i64),
}

impl PackedElement<'_> {
    /// Bytes of the element once it is text.
    pub fn len(&self) -> u64 {
        match *self {
            PackedElement::Text(text) => text.len() as u64,
            PackedElement::Int(number) => {
                let digits = number.unsigned_abs().checked_ilog10().map_or(1, |log| u64::from(log) + 1);
                digits + u64::from(number < 0)
            }
        }
    }

    /// True for the empty text.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The element as text.
    pub fn to_bytes(&self) -> Vec<u8> {
        match *self {
            PackedElement::Text(text) => text.to_vec(),
            PackedElement::Int(number) => number.to_string().into_bytes(),
        }
    }
}

/// `len` bytes of `blob` from `at` on.
#[inline]
fn slice(blob: &[u8], at: usize, len: usize, offset: u64) -> Result<&[u8]> {
    at.checked_add(len).and_then(|end| blob.get(at..end)).ok_or_else(|| cut_short(blob, at, len, offset))
}

#[cold]
fn cut_short(blob: &[u8], at: usize, len: usize, offset: u64) -> Error {
    Error::truncated(offset + at as u64, len as u64, blob.len().saturating_sub(at) as u64)
}

/// `N` bytes of `blob` from `at` on.
#[inline]
fn chunk<const N: usize>(blob: &[u8], at: usize, offset: u64) -> Result<[u8; N]> {
    match blob.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => Ok(*bytes),
        None => Err(cut_short(blob, at, N, offset)),
    }
}
