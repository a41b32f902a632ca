//! Fast path for plain names in strict mode: most levels are collapsed there, so their names need not be read.

use super::Payload;
use super::places::{ENDINGS, INNER, NONE, Places, ROOT};
use super::step::{PathStep, StepKind};
use crate::pattern::plain::PlainName;

/// Position of a name on its path down the tree.
struct PlainCursor {
    at: u32,
    /// Start of the remaining name.
    start: usize,
    /// Bitmap of the remaining separators.
    separators: u64,
    /// Levels left above the last one.
    levels: usize,
}

impl PlainCursor {
    /// Returns the offset of the next separator.
    #[inline]
    fn next_end(&self) -> usize {
        self.separators.trailing_zeros() as usize
    }

    /// Moves past the separator at `end`.
    #[inline]
    fn pass(&mut self, end: usize) {
        self.start = end + 1;
        self.separators &= self.separators.wrapping_sub(1);
        self.levels -= 1;
    }
}

impl<T: Payload> Places<T> {
    /// Returns the index of the payload that a name leads to, like [`PatternTree::reach`](super::PatternTree::reach).
    #[inline]
    pub fn reach_plain(&mut self, name: &PlainName<'_>, last_level: usize) -> u32 {
        let bytes = name.bytes();
        let mut cursor = PlainCursor { at: ROOT, start: 0, separators: name.separators(), levels: last_level };
        loop {
            self.follow_stars(bytes, &mut cursor);
            if cursor.separators == 0 || cursor.levels == 0 {
                break;
            }
            let end = cursor.next_end();
            cursor.at = self.inner(cursor.at, bytes.get(cursor.start..=end).unwrap_or_default());
            cursor.pass(end);
        }
        let leaf = match self.at(cursor.at).star[ENDINGS] {
            NONE => self.ending(cursor.at, bytes.get(cursor.start..).unwrap_or_default()),
            star => star,
        };
        self.payload_of(leaf)
    }

    /// Descends while levels are collapsed and the separator is that of their `{*}`.
    #[inline]
    fn follow_stars(&self, bytes: &[u8], cursor: &mut PlainCursor) {
        while cursor.separators != 0 && cursor.levels != 0 {
            let (above, end) = (self.at(cursor.at), cursor.next_end());
            if bytes.get(end) != Some(&above.star_separator) {
                break;
            }
            cursor.at = above.star[INNER];
            cursor.pass(end);
        }
    }

    /// Returns the inner place of a name with its separator.
    #[inline(never)]
    fn inner(&mut self, at: u32, text: &[u8]) -> u32 {
        let step = PathStep { text, name: text.len().saturating_sub(1), kind: StepKind::Literal, ends: false };
        self.probe(at, &step).unwrap_or_else(|| self.child(at, step))
    }

    /// Returns the leaf of a name that ends a pattern.
    #[inline]
    fn ending(&mut self, at: u32, text: &[u8]) -> u32 {
        let step = PathStep { text, name: text.len(), kind: StepKind::Literal, ends: true };
        self.probe(at, &step).unwrap_or_else(|| self.child(at, step))
    }
}
