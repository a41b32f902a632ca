//! Iterators over packed encodings (listpack, ziplist, intset, zipmap) that validate while reading.
//!
//! Error offsets are the blob's offset in the file plus the position in the *decoded* blob: exact for plain blobs,
//! approximate for compressed ones.

pub mod intset;
pub mod listpack;
mod packing;
pub mod stream_node;
pub mod ziplist;
pub mod zipmap;

pub use packing::{Layout, Packing, incomplete};

use crate::error::{Error, Result};
use crate::rdb::string::canonical_int;

/// Element of a packed blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedElement<'a> {
    /// Text.
    Text(&'a [u8]),
    /// An integer that stands for its decimal text.
    Int(i64),
}

impl<'a> PackedElement<'a> {
    /// Returns the element as text. The digits of an integer are written to `digits`.
    #[inline]
    pub fn text<'t>(&self, digits: &'t mut itoa::Buffer) -> &'t [u8]
    where
        'a: 't,
    {
        match *self {
            PackedElement::Text(text) => text,
            PackedElement::Int(number) => digits.format(number).as_bytes(),
        }
    }

    /// Returns the element as a number, which servers accept as text in canonical form where they write none; `None` if it is another
    /// text.
    #[inline]
    pub fn number(&self) -> Option<i64> {
        match *self {
            PackedElement::Int(number) => Some(number),
            PackedElement::Text(text) => canonical_int(text),
        }
    }

    /// Returns the length of the element as text.
    #[inline]
    pub fn len(&self) -> u64 {
        match *self {
            PackedElement::Text(text) => text.len() as u64,
            PackedElement::Int(number) => {
                let digits = number.unsigned_abs().checked_ilog10().map_or(1, |log| u64::from(log) + 1);
                digits + u64::from(number < 0)
            }
        }
    }

    /// Returns whether the element is the empty string.
    #[cfg(any(test, feature = "internals"))]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the element as text.
    pub fn to_bytes(self) -> Vec<u8> {
        match self {
            PackedElement::Text(text) => text.to_vec(),
            PackedElement::Int(number) => number.to_string().into_bytes(),
        }
    }
}

/// Returns `blob[at..at + len]`, or an error if it is out of bounds.
#[inline]
fn slice(blob: &[u8], at: usize, len: usize, offset: u64) -> Result<&[u8]> {
    at.checked_add(len).and_then(|end| blob.get(at..end)).ok_or_else(|| cut_short(blob, at, len, offset))
}

#[cold]
fn cut_short(blob: &[u8], at: usize, len: usize, offset: u64) -> Error {
    Error::truncated(offset + at as u64, len as u64, blob.len().saturating_sub(at) as u64)
}

/// Returns `N` bytes of `blob` from `at`, or an error if they are out of bounds.
#[inline]
fn chunk<const N: usize>(blob: &[u8], at: usize, offset: u64) -> Result<[u8; N]> {
    match blob.get(at..).and_then(|bytes| bytes.first_chunk()) {
        Some(bytes) => Ok(*bytes),
        None => Err(cut_short(blob, at, N, offset)),
    }
}
