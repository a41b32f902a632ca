//! Steps of a pattern on its path down the tree.

use serde::{Deserialize, Serialize};

use super::limits::{MAX_NAME_LEN, TreeLimits};
use crate::pattern::plain::PlainName;
use crate::pattern::word::{FACTOR, WORD, last_word};
use crate::pattern::{PartKind, PatternBuf};

/// Longest separator; no classifier makes longer ones, and they are dropped.
pub(super) const MAX_SEPARATOR_LEN: usize = 8;

/// Kind of name that a place in the tree represents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(super) enum StepKind {
    /// A name: unbounded in number.
    Literal,
    /// A class such as `{int}`.
    Class,
    /// `{*}`: all names of a collapsed level, and names too long to be kept.
    Star,
}

/// A segment with the separator that follows it, or the last segment of a pattern.
#[derive(Debug, Clone, Copy)]
pub(super) struct PathStep<'a> {
    /// Name and separator as in the pattern; for a star the separator alone.
    pub text: &'a [u8],
    /// Length of the name in `text`.
    pub name: usize,
    /// Kind of the name.
    pub kind: StepKind,
    /// True if a pattern ends here.
    pub ends: bool,
}

impl<'a> PathStep<'a> {
    fn new(text: &'a [u8], name: usize, kind: StepKind, ends: bool) -> Self {
        let step = PathStep { text, name, kind, ends };
        if text.len() > MAX_NAME_LEN { step.starred() } else { step }
    }

    /// Returns the step without its name, for a level that has collapsed.
    pub fn starred(self) -> Self {
        let separator = self.separator();
        let text = if separator.len() > MAX_SEPARATOR_LEN { &[] } else { separator };
        PathStep { text, name: 0, kind: StepKind::Star, ..self }
    }

    /// Returns the separator between this segment and the next.
    pub fn separator(&self) -> &'a [u8] {
        self.text.get(self.name..).unwrap_or_default()
    }

    /// Returns the bucket of the name, below the limit of its level; a hash of it if it is not a literal.
    #[inline(always)] // in two places, one of which many names pass
    pub fn bucket(&self, level: usize, limits: &TreeLimits) -> u64 {
        let name = fixed_hash(self.text.get(..self.name).unwrap_or(self.text));
        match self.kind {
            StepKind::Literal => scaled(name, limits.generous(level)),
            StepKind::Class | StepKind::Star => name,
        }
    }

    /// Hashes the place that this step leads to from another, given the bucket of its name.
    #[inline(always)] // as above
    pub fn place(&self, above: u64, bucket: u64) -> u64 {
        let place = mix(bucket ^ separator_hash(self.separator()).rotate_left(32));
        let kind = ((self.kind as u64) << 1) | u64::from(self.ends);
        mix(above.rotate_left(7) ^ place.wrapping_add(kind))
    }

    /// Creates a last step with all of `text` as its name.
    pub fn ending(text: &'a [u8], kind: StepKind) -> Self {
        PathStep::new(text, text.len(), kind, true)
    }
}

/// Path from the root of a tree to a leaf.
pub(super) trait Path {
    /// Returns the steps. Their texts together are the pattern's; everything after `last_level` is one step.
    #[inline]
    fn steps(&self, last_level: usize) -> impl Iterator<Item = PathStep<'_>> {
        self.steps_from(0, last_level)
    }

    /// Returns the steps after the first ones.
    fn steps_from(&self, first: usize, last_level: usize) -> impl Iterator<Item = PathStep<'_>>;
}

impl Path for PatternBuf {
    #[inline]
    fn steps_from(&self, first: usize, last_level: usize) -> impl Iterator<Item = PathStep<'_>> {
        let count = self.parts.len().clamp(1, last_level + 1);
        (first..count).map(move |level| step(self, level, count))
    }
}

impl Path for PlainName<'_> {
    #[inline]
    fn steps_from(&self, first: usize, last_level: usize) -> impl Iterator<Item = PathStep<'_>> {
        let mut steps = PlainSteps::new(self, last_level);
        (0..first).for_each(|_| steps.pass());
        steps.each()
    }
}

/// Remaining steps of a plain name.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlainSteps<'a> {
    bytes: &'a [u8],
    /// Start of the next one.
    start: usize,
    /// Bitmap of the remaining separators.
    separators: u64,
    /// Levels left above the last one.
    levels: usize,
}

impl<'a> PlainSteps<'a> {
    /// Returns all steps of a name; everything after `last_level` is one step.
    #[inline]
    pub fn new(name: &PlainName<'a>, last_level: usize) -> Self {
        PlainSteps { bytes: name.bytes(), start: 0, separators: name.separators(), levels: last_level }
    }

    /// Returns true if one step is left, which ends the pattern.
    #[inline]
    pub fn is_last(&self) -> bool {
        self.separators == 0 || self.levels == 0
    }

    /// Returns the separator behind the next step, which is not the last one.
    #[inline]
    pub fn separator(&self) -> Option<&'a u8> {
        self.bytes.get(self.end())
    }

    /// Returns the offset of the next separator.
    #[inline]
    fn end(&self) -> usize {
        self.separators.trailing_zeros() as usize
    }

    /// Passes the next step, which is not the last one.
    #[inline]
    pub fn pass(&mut self) {
        self.start = self.end() + 1;
        self.separators &= self.separators.wrapping_sub(1);
        self.levels -= 1;
    }

    /// Returns the next step.
    #[inline]
    pub fn next(&self) -> PathStep<'a> {
        if self.is_last() { self.ending() } else { self.inner() }
    }

    /// Returns the next step, which is not the last one.
    #[inline]
    pub fn inner(&self) -> PathStep<'a> {
        let text = self.bytes.get(self.start..=self.end()).unwrap_or_default();
        PathStep { text, name: text.len().saturating_sub(1), kind: StepKind::Literal, ends: false }
    }

    /// Returns the last step.
    #[inline]
    pub fn ending(&self) -> PathStep<'a> {
        let text = self.bytes.get(self.start..).unwrap_or_default();
        PathStep { text, name: text.len(), kind: StepKind::Literal, ends: true }
    }

    /// Returns the level of the next step, given that of the last one.
    #[inline]
    pub fn level(&self, last_level: usize) -> usize {
        last_level - self.levels
    }

    /// Returns each step.
    #[inline]
    pub fn each(self) -> impl Iterator<Item = PathStep<'a>> {
        let mut left = Some(self);
        std::iter::from_fn(move || {
            let steps = left.as_mut()?;
            let step = steps.next();
            if step.ends {
                left = None;
            } else {
                steps.pass();
            }
            Some(step)
        })
    }
}

/// Returns the kind of one of the `count` steps; several segments in one step are a name.
#[inline]
fn kind(pattern: &PatternBuf, level: usize, count: usize) -> StepKind {
    let together = level + 1 == count && count < pattern.parts.len();
    match pattern.parts.get(level).map(|part| part.kind) {
        Some(PartKind::Class) if !together => StepKind::Class,
        _ => StepKind::Literal,
    }
}

/// Returns one of the `count` steps of a pattern.
#[inline]
fn step(pattern: &PatternBuf, level: usize, count: usize) -> PathStep<'_> {
    let (whole, part) = (pattern.text.as_bytes(), pattern.parts.get(level));
    let start = if level == 0 { 0 } else { part.map_or(0, |part| part.start as usize) };
    let kind = kind(pattern, level, count);
    if level + 1 == count {
        return PathStep::ending(whole.get(start..).unwrap_or_default(), kind);
    }
    let end = pattern.parts.get(level + 1).map_or(start, |next| next.start as usize);
    let text = whole.get(start..end).unwrap_or_default();
    let name = part.map_or(0, |part| part.end as usize).saturating_sub(start).min(text.len());
    PathStep::new(text, name, kind, false)
}

/// Hashes the place that a step leads to from another, whose hash is `above`; that of the root is zero. Each name is replaced by
/// its bucket, so that a level with a million names adds at most as many places as its limit.
///
/// Strict mode depends on the result, so it must be equal in every run and on every machine: the hash has no seed.
pub(super) fn bucket(above: u64, level: usize, step: &PathStep<'_>, limits: &TreeLimits) -> u64 {
    step.place(above, step.bucket(level, limits))
}

/// Maps a hash to a number below `limit`, as a division does, but faster.
#[inline]
fn scaled(hash: u64, limit: usize) -> u64 {
    ((u128::from(hash) * limit as u128) >> u64::BITS) as u64
}

/// Like [`fixed_hash`], for what is mostly nothing or one byte.
#[inline]
fn separator_hash(separator: &[u8]) -> u64 {
    match separator {
        [] => const { mix(add(0, 0)) },
        [one] => mix(add(1, u64::from(*one))),
        more => fixed_hash(more),
    }
}

/// Hashes a name eight bytes at a time, without a seed.
#[inline]
fn fixed_hash(bytes: &[u8]) -> u64 {
    let (mut hash, mut rest) = (bytes.len() as u64, bytes);
    if let Some((word, behind)) = rest.split_first_chunk() {
        (hash, rest) = (add(hash, u64::from_le_bytes(*word)), behind);
        // Few names are longer than two words.
        if rest.len() >= WORD {
            (hash, rest) = add_words(hash, rest);
        }
    }
    mix(add(hash, if rest.is_empty() { 0 } else { last_word(bytes, rest) }))
}

/// Adds whole words to a hash. Returns the rest.
#[inline(never)]
fn add_words(mut hash: u64, bytes: &[u8]) -> (u64, &[u8]) {
    let (words, rest) = bytes.as_chunks::<WORD>();
    for word in words {
        hash = add(hash, u64::from_le_bytes(*word));
    }
    (hash, rest)
}

/// Adds a word to a hash.
#[inline]
const fn add(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(FACTOR)
}

/// Spreads every bit over all bits (finalizer of SplitMix64).
#[inline]
const fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::tree::tests::split;

    fn texts<'a>(pattern: &'a PatternBuf, last_level: usize) -> Vec<(&'a str, bool)> {
        let text = |step: PathStep<'a>| std::str::from_utf8(step.text).unwrap();
        pattern.steps(last_level).map(|step| (text(step), step.ends)).collect()
    }

    #[test]
    fn steps_carry_their_separator_and_make_up_the_text() {
        assert_eq!(texts(&split("user:12/name"), 9), [("user:", false), ("{int}/", false), ("name", true)]);
        assert_eq!(texts(&split(""), 9), [("", true)]);
        assert_eq!(texts(&split("a::"), 9), [("a:", false), (":", false), ("", true)]);
    }

    #[test]
    fn everything_after_the_last_level_is_one_name() {
        let pattern = split("a:b:7:d");
        assert_eq!(texts(&pattern, 2), [("a:", false), ("b:", false), ("{int}:d", true)]);
        assert_eq!(pattern.steps(2).last().map(|step| step.kind), Some(StepKind::Literal));
        assert_eq!(texts(&pattern, 0), [("a:b:{int}:d", true)]);
        assert_eq!(split("a:7").steps(1).last().map(|step| step.kind), Some(StepKind::Class));
    }

    /// The first numbers of SplitMix64 for the seed 0, as published.
    #[test]
    fn mixing_is_the_finalizer_of_split_mix_64() {
        let mixed = [1, 2, 3].map(|step: u64| mix(step.wrapping_mul(0x9e37_79b9_7f4a_7c15)));
        assert_eq!(mixed, [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4, 0x06c4_5d18_8009_454f]);
    }

    #[test]
    fn long_names_are_stars_at_once() {
        let long = format!("{}:b", "x".repeat(MAX_NAME_LEN));
        let pattern = split(&long);
        let first = pattern.steps(9).next().unwrap();
        assert_eq!((first.text, first.kind), (&b":"[..], StepKind::Star));
    }
}
