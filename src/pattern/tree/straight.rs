//! The way of a plain name down a tree in strict mode: most levels are shut there, and their names are not looked at.

use super::Payload;
use super::places::{ENDINGS, INNER, NONE, Places, ROOT};
use super::step::{Shape, Step};
use crate::pattern::plain::PlainName;

impl<T: Payload> Places<T> {
    /// The number of the payload that a name leads to. The same as going its steps one by one, without making them.
    #[inline]
    pub fn reach_plain(&mut self, name: &PlainName<'_>, last_level: usize) -> u32 {
        let (bytes, mut separators) = (name.bytes(), name.separators());
        let (mut at, mut start) = (ROOT, 0);
        for _ in 0..last_level {
            if separators == 0 {
                break;
            }
            let end = separators.trailing_zeros() as usize;
            separators &= separators - 1;
            let above = self.at(at);
            at = match bytes.get(end) {
                Some(&separator) if separator == above.star_separator => above.star[INNER],
                _ => self.inner(at, bytes.get(start..=end).unwrap_or_default()),
            };
            start = end + 1;
        }
        let leaf = match self.at(at).star[ENDINGS] {
            NONE => self.ending(at, bytes.get(start..).unwrap_or_default()),
            star => star,
        };
        self.payload_of(leaf)
    }

    /// The place behind a name and its separator.
    #[inline]
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
