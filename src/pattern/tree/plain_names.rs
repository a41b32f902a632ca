//! Fast path for plain names. Levels that have collapsed are passed by their separators alone: their names only have to be
//! counted, and not even that in strict mode.

use super::Payload;
use super::places::{ENDINGS, INNER, NONE, Places, ROOT};
use super::step::{PathStep, PlainSteps};
use crate::pattern::plain::PlainName;

/// Way of a plain name down the tree.
pub(super) struct PlainWay<'n> {
    pub leaf: u32,
    /// The place above its first `{*}`, if there is one, with the steps from there on.
    pub above_star: Option<(u32, PlainSteps<'n>)>,
}

impl<T: Payload> Places<T> {
    /// Returns the index of the payload that a name leads to in strict mode, like [`PatternTree::reach`](super::PatternTree::reach).
    #[inline]
    pub fn reach_plain(&mut self, name: &PlainName<'_>, last_level: usize) -> u32 {
        let (mut at, mut steps) = (ROOT, PlainSteps::new(name, last_level));
        loop {
            while let Some(star) = self.star_below(at, &steps) {
                at = star;
                steps.pass();
            }
            if steps.is_last() {
                break;
            }
            at = self.inner(at, steps.inner());
            steps.pass();
        }
        let leaf = match self.at(at).star[ENDINGS] {
            NONE => self.ending(at, steps.ending()),
            star => star,
        };
        self.payload_of(leaf)
    }

    /// Follows a name outside strict mode. Returns `None` if a place is missing.
    #[inline]
    pub fn follow_plain<'n>(&mut self, name: &PlainName<'n>, last_level: usize) -> Option<PlainWay<'n>> {
        let (mut at, mut steps, mut above_star) = (ROOT, PlainSteps::new(name, last_level), None);
        loop {
            let star = match self.at(at).star[ENDINGS] {
                star if steps.is_last() => Some(star).filter(|&star| star != NONE),
                _ => self.star_below(at, &steps),
            };
            if star.is_some() {
                above_star = above_star.or(Some((at, steps)));
            }
            at = match star {
                Some(star) => star,
                None => self.find_cached(at, &steps.next())?,
            };
            if steps.is_last() {
                return Some(PlainWay { leaf: at, above_star });
            }
            steps.pass();
        }
    }

    /// Returns the `{*}` that the next step leads to, if it is not the last step, its level has collapsed, and the separator is that of
    /// the `{*}`.
    #[inline]
    fn star_below(&self, at: u32, steps: &PlainSteps<'_>) -> Option<u32> {
        let above = self.at(at);
        (!steps.is_last() && steps.separator() == Some(&above.star_separator)).then_some(above.star[INNER])
    }

    /// Returns the inner place of a name with its separator.
    #[inline(never)]
    fn inner(&mut self, at: u32, step: PathStep<'_>) -> u32 {
        self.probe(at, &step).unwrap_or_else(|| self.child(at, step))
    }

    /// Returns the leaf of a name that ends a pattern.
    #[inline]
    fn ending(&mut self, at: u32, step: PathStep<'_>) -> u32 {
        self.probe(at, &step).unwrap_or_else(|| self.child(at, step))
    }
}
