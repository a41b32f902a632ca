//! Key names in the form that the tree of patterns and the rules about names take.

use super::PatternBuf;
use super::plain::PlainName;
use super::slot;

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
