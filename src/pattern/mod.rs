//! Names with their ids collapsed: `user:12345:name` is `user:{int}:name`.
//!
//! A [`PatternBuf`] holds the pattern of one key, segment by segment, and is used again for the next. It is what the
//! classifier fills and what the tree of patterns reads.

pub mod classify;
pub mod luck;
pub mod name;
pub mod plain;
pub mod segment;
pub mod shape;
pub mod slot;
pub mod tree;
pub(crate) mod word;

/// The pattern of one key: its text, and where each segment's name stands in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternBuf {
    /// The whole pattern with its separators, such as `user:{int}:name`.
    pub text: String,
    /// Its segments, in order; never empty (the empty key has one empty segment).
    pub parts: Vec<Part>,
}

/// One segment of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Part {
    /// Where its name begins in the text.
    pub start: u32,
    /// Where its name ends in the text. The next separator, if any, stands there.
    pub end: u32,
    /// What the name is.
    pub kind: PartKind,
}

/// What the name of a segment is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A name as it stands in the key, or one with holes (`user_{int}`): there may be any number of them.
    Literal,
    /// A class such as `{int}` that the whole segment fell into: there are few of them.
    Class,
}

impl PatternBuf {
    /// The name of a segment of this pattern.
    pub fn name(&self, part: Part) -> &str {
        self.text.get(part.start as usize..part.end as usize).unwrap_or_default()
    }

    /// Returns the segments' names in order, each with its kind.
    pub fn segments(&self) -> impl Iterator<Item = (&[u8], PartKind)> + Clone {
        self.parts.iter().map(|part| (self.name(*part).as_bytes(), part.kind))
    }

    /// Empties the buffer, keeping its memory.
    pub fn clear(&mut self) {
        self.text.clear();
        self.parts.clear();
    }
}
