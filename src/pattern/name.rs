//! Key names in the form that the tree of patterns and the rules about names take.

use either::Either;

use super::plain::PlainName;
use super::slot;
use super::{PartKind, PatternBuf};

/// A key name, plain or with its pattern. Made by [`Classifier::read`](super::classify::Classifier::read).
///
/// For a plain name only the positions of its separators are stored, and its segments are found on demand.
#[derive(Debug, Clone, Copy)]
pub enum KeyName<'a> {
    /// A name that is its own pattern.
    Plain(PlainName<'a>),
    /// The bytes of any name, and its pattern.
    Classified(&'a [u8], &'a PatternBuf),
}

impl<'a> KeyName<'a> {
    /// Returns all bytes of the name.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        match self {
            KeyName::Plain(name) => name.bytes(),
            KeyName::Classified(bytes, _) => bytes,
        }
    }

    /// Returns the segments of its pattern in order, each with its kind.
    pub fn segments(&self) -> impl Iterator<Item = (&'a [u8], PartKind)> + Clone {
        match self {
            KeyName::Plain(name) => Either::Left(name.segments().map(|segment| (segment, PartKind::Literal))),
            KeyName::Classified(_, pattern) => Either::Right(pattern.segments()),
        }
    }

    /// Returns true if the name has a hash tag; plain names have none.
    #[inline]
    pub fn has_tag(&self) -> bool {
        match self {
            KeyName::Plain(_) => false,
            KeyName::Classified(bytes, _) => slot::has_tag(bytes),
        }
    }
}

impl<'a> From<&'a PatternBuf> for KeyName<'a> {
    /// Uses a pattern as the name itself, for callers that only need its place or its matches.
    fn from(pattern: &'a PatternBuf) -> Self {
        KeyName::Classified(pattern.text.as_bytes(), pattern)
    }
}
