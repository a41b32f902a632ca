//! The way of a plain name down a tree in strict mode: most levels are shut there, and their names are not looked at.

use super::Payload;
use super::places::{ENDINGS, INNER, NONE, Places, ROOT};
use super::step::{Shape, Step};
use crate::pattern::plain::PlainName;

/// How far down a name has come.
struct Way {
    at: u32,
    /// Where what is left of the name starts.
    start: usize,
    /// A bit for each separator that is left.
    separators: u64,
    /// Levels that are left.
    levels: usize,
}

impl Way {
    /// Where the next separator is.
    #[inline]
    fn next_end(&self) -> usize {
        self.separators.trailing_zeros() as usize
    }

    /// Goes on behind that.
    #[inline]
    fn pass(&mut self, end: usize) {
        self.start = end + 1;
        self.separators &= self.separators.wrapping_sub(1);
        self.levels -= 1;
    }
}

impl<T: Payload> Places<T> {
    /// The number of the payload that a name leads to. The same as going its steps one by one, without making them.
    #[inline]
    pub fn reach_plain(&mut self, name: &PlainName<'_>, last_level: usize) -> u32 {
        let bytes = name.bytes();
        let mut way = Way { at: ROOT, start: 0, separators: name.separators(), levels: last_level };
        loop {
            self.follow_stars(bytes, &mut way);
            if way.separators == 0 || way.levels == 0 {
                break;
            }
            let end = way.next_end();
            way.at = self.inner(way.at, bytes.get(way.start..=end).unwrap_or_default());
            way.pass(end);
        }
        let leaf = match self.at(way.at).star[ENDINGS] {
            NONE => self.ending(way.at, bytes.get(way.start..).unwrap_or_default()),
            star => star,
        };
        self.payload_of(leaf)
    }

    /// Goes on as far as levels are shut.
    #[inline]
    fn follow_stars(&self, bytes: &[u8], way: &mut Way) {
        while way.separators != 0 && way.levels != 0 {
            let (above, end) = (self.at(way.at), way.next_end());
            if bytes.get(end) != Some(&above.star_separator) {
                break;
            }
            way.at = above.star[INNER];
            way.pass(end);
        }
    }

    /// The place behind a name and its separator.
    #[inline(never)]
    fn inner(&mut self, at: u32, text: &[u8]) -> u32 {
        let step = Step { text, name: text.len().saturating_sub(1), shape: Shape::Literal, ends: false };
        self.met_lately(at, &step).unwrap_or_else(|| self.child(at, step))
    }

    /// The leaf of a name that ends a pattern.
    #[inline]
    fn ending(&mut self, at: u32, text: &[u8]) -> u32 {
        let step = Step { text, name: text.len(), shape: Shape::Literal, ends: true };
        self.met_lately(at, &step).unwrap_or_else(|| self.child(at, step))
    }
}
