//! Key names with ids replaced by classes: the pattern of `user:12345:name` is `user:{int}:name`.
//!
//! The classifier writes the pattern of a key into a [`PatternBuf`], which is reused from key to key; the tree of
//! patterns reads it. A [`KeyName`](name::KeyName) is a name with its pattern, or a plain name, which is its own
//! pattern.

pub(crate) mod block;
pub mod bypass;
pub mod classify;
pub mod joined;
pub mod kept_name;
pub mod name;
pub mod plain;
pub mod segment;
pub mod shape;
pub mod slot;
pub mod tree;
pub(crate) mod word;

/// Pattern of one key: its text, and the range of each segment in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PatternBuf {
    /// Text of the whole pattern with its separators, such as `user:{int}:name`.
    pub text: String,
    /// Segments in order; never empty (the empty key has one empty segment).
    pub parts: Vec<PatternPart>,
}

/// One segment of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PatternPart {
    /// Start of its name in the text.
    pub start: u32,
    /// End of its name in the text, which is the offset of the next separator, if any.
    pub end: u32,
    /// Kind of the name.
    pub kind: PartKind,
}

/// Kind of a segment's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartKind {
    /// A name as in the key, or one with ids in it (`user_{int}`): unbounded in number.
    Literal,
    /// A class such as `{int}` for the whole segment: one of a few.
    Class,
}

impl PatternBuf {
    /// Returns the name of a segment of this pattern.
    pub fn name(&self, part: PatternPart) -> &str {
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
