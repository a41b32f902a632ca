//! Key names, as the tree of patterns and the rules about names take them.

use super::PatternBuf;
use super::plain::PlainName;
use super::slot;

/// A key name, plain or taken apart.
///
/// Where separators are is all there is to know of a plain name, so that its segments are found when they are asked for.
/// Any other name comes with its pattern. [`Classifier::read`](super::classify::Classifier::read) makes both.
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
    /// Takes a pattern for the name itself, for those who only ask for its place or what matches it.
    fn from(pattern: &'a PatternBuf) -> Self {
        KeyName::Classified(pattern.text.as_bytes(), pattern)
    }
}
