//! Cache of names by shape: most keys differ from a recent one only in their ids.
//!
//! A name's shape (`pattern/shape.rs`) leads to its place among the patterns and to the verdict of the rules about names.
//! After a miss, and for names without a shape, the name is classified and judged, with the same result at a higher cost.

use super::questions::Questions;
use crate::aggregate::patterns::PatternStats;
use crate::pattern::PatternBuf;
use crate::pattern::bypass::Bypass;
use crate::pattern::name::KeyName;
use crate::pattern::shape::{Outline, Shape, Shaper};
use crate::pattern::tree::Leaf;
use crate::policy::NameJudged;
use crate::policy::evidence::ids::{IdFinder, KnownId};

/// Maximum number of slots of the direct-mapped cache: each shape has exactly one, so a lookup is one comparison. Tests use
/// few slots, to make entries evict each other.
const SLOTS: usize = if cfg!(test) { 8 } else { 4096 };

/// Slots at first. The cache grows when shapes evict each other: a small file should not pay for a megabyte of slots.
const MIN_SLOTS: usize = if cfg!(test) { 2 } else { 64 };

/// Entries of the tables that lead to slots, at first: more shapes than slots may share one.
const MIN_LEADS: usize = if cfg!(test) { 4 } else { 1024 };

/// Factor by which the cache grows.
const GROWTH: usize = 8;

/// Evictions after which it grows.
const EVICTIONS: usize = 4;

/// Most exemptions of a cached name, which bounds its memory; names with more are judged each time.
const MAX_EXEMPTIONS: usize = 16;

/// Answer about one name.
#[derive(Debug, Clone, Copy)]
pub struct KnownName<'a> {
    /// Leaf of its pattern.
    pub leaf: Leaf,
    /// Place of its id, if a rule needs ids.
    pub id: &'a KnownId,
    /// True if it has a hash tag.
    pub tagged: bool,
    /// Verdict of the policy on it.
    pub judged: &'a NameJudged,
    /// True if it violates nothing and matches no pattern of the policy.
    pub plain: bool,
}

/// Cache of names of one worker.
#[derive(Debug)]
pub struct NameCache {
    shaper: Option<Shaper>,
    /// Finder of ids, if a rule needs them.
    ids: Option<IdFinder>,
    /// Shape of the current name.
    shape: Shape,
    /// Skips the cache while it hits nothing.
    bypass: Bypass,
    /// Outline of the current name.
    outline: Outline,
    /// Empty until the first name; a power of two.
    slots: Vec<ShapeSlot>,
    /// Evictions since the cache last grew.
    evicted: usize,
    /// By hash of an outline: a slot whose shape names of that outline may have.
    outlines: Vec<u16>,
    /// By hash of beginning and end: a slot whose shape, with other ids, names of that beginning may have.
    beginnings: Vec<u16>,
    /// By slot; read only if the slot is not plain.
    judged: Vec<NameJudged>,
    /// Verdict on the last name that missed.
    other: NameJudged,
    /// Place of its id.
    other_id: KnownId,
    nothing: NameJudged,
    pattern: PatternBuf,
}

#[derive(Debug, Clone, Default)]
struct ShapeSlot {
    shape: Shape,
    /// `None` in an empty slot.
    leaf: Option<Leaf>,
    id: KnownId,
    /// Part of the hash of the last shape that missed here. A shape is cached the second time: most names with random letters never
    /// come back, and would only evict those that do.
    missed: u32,
    tagged: bool,
    /// Names of the shape break nothing and match nothing.
    plain: bool,
    /// Names of the shape differ in what tests count: it is counted for each name.
    counted: bool,
}

impl NameCache {
    /// An empty cache.
    pub fn new(questions: &Questions) -> Self {
        let alike = questions.checks.ignores_digit_values();
        NameCache {
            shaper: alike.then(|| Shaper::new(questions.separators.clone(), &questions.checks.id_bytes())),
            ids: questions.id_finder(),
            shape: Shape::default(),
            outline: Outline::default(),
            outlines: Vec::new(),
            beginnings: Vec::new(),
            bypass: Bypass::default(),
            slots: Vec::new(),
            evicted: 0,
            judged: Vec::new(),
            other: NameJudged::default(),
            other_id: KnownId::Unknown,
            nothing: NameJudged::default(),
            pattern: PatternBuf::default(),
        }
    }

    /// Returns the answer about a name; `patterns` must be the same ones in every call.
    #[inline]
    pub fn know(&mut self, name: &[u8], questions: &Questions, patterns: &mut PatternStats) -> KnownName<'_> {
        if self.shaper.is_none() || !self.bypass.should_probe() {
            return self.learn(name, false, questions, patterns);
        }
        let drawn = self.outline.draw(name);
        if drawn && !self.outline.has_digits() && memchr::memchr(b'@', name).is_none() {
            // A name without ids is like no other.
            self.bypass.miss();
            return self.learn(name, false, questions, patterns);
        }
        let number = if drawn { self.outlines.get(place(self.outline.hash(), self.outlines.len())) } else { None };
        let fits = |shape: &Shape| shape.fits(name, &self.outline);
        let found = number.and_then(|&number| self.find(usize::from(number), patterns, fits));
        match found.or_else(|| self.find_with_ids(name, drawn, questions, patterns)) {
            Some((number, leaf)) => self.known(number, leaf, name, questions),
            None => self.look_closer(name, drawn, questions, patterns),
        }
    }

    /// Returns the slot of the shape that a name of this beginning had last, if it has the same but for its ids.
    #[inline(never)] // names without such ids do not come here
    fn find_with_ids(
        &self,
        name: &[u8],
        drawn: bool,
        questions: &Questions,
        patterns: &PatternStats,
    ) -> Option<(usize, Leaf)> {
        let shaper = self.shaper.as_ref().filter(|_| drawn)?;
        let number = *self.beginnings.get(self.beginning(questions))?;
        self.find(usize::from(number), patterns, |shape| shaper.fits(shape, name, &self.outline))
    }

    /// Returns the place of the outline among the beginnings.
    #[inline]
    fn beginning(&self, questions: &Questions) -> usize {
        let separator = questions.separators.as_bytes().first().copied().unwrap_or_default();
        place(self.outline.beginning(separator), self.beginnings.len())
    }

    /// Counts the pattern of a name that will be observed later. Returns true if it is new.
    #[inline(never)]
    pub fn look_ahead(&mut self, name: &[u8], questions: &Questions, patterns: &mut PatternStats) -> bool {
        patterns.look_ahead(questions.classifier.read(name, &mut self.pattern))
    }

    /// Returns a slot and its leaf if its shape is the one looked for and the leaf is still valid.
    #[inline]
    fn find(&self, number: usize, patterns: &PatternStats, is: impl Fn(&Shape) -> bool) -> Option<(usize, Leaf)> {
        let slot = self.slots.get(number)?;
        let leaf = slot.leaf.filter(|&leaf| is(&slot.shape) && patterns.holds(leaf))?;
        Some((number, leaf))
    }

    /// Returns the answer of a slot about a name of its shape.
    #[inline(always)]
    fn known(&mut self, number: usize, leaf: Leaf, name: &[u8], questions: &Questions) -> KnownName<'_> {
        self.bypass.hit();
        let slot = &self.slots[number];
        let judged = if slot.plain { None } else { self.judged.get_mut(number) };
        let judged = match judged {
            Some(judged) => {
                if slot.counted {
                    questions.checks.recount_name(name, judged);
                }
                &*judged
            }
            None => &self.nothing,
        };
        KnownName { leaf, id: &slot.id, tagged: slot.tagged, judged, plain: slot.plain }
    }

    /// Makes the shape of a name whose outline was not enough, and probes the cache with it.
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "slots are numbered with 16 bits")]
    fn look_closer(
        &mut self,
        name: &[u8],
        has_shape: bool,
        questions: &Questions,
        patterns: &mut PatternStats,
    ) -> KnownName<'_> {
        let shaped = has_shape && self.shaper.as_ref().is_some_and(|shaper| shaper.shape(name, &mut self.shape));
        let number = shaped.then(|| place(self.shape.hash(), self.slots.len()));
        match number.and_then(|number| self.find(number, patterns, |shape| shape.is(&self.shape))) {
            Some((number, leaf)) => {
                // There are at most 4,096 slots.
                match self.shape.has_known_ids() {
                    true => {
                        let beginning = self.beginning(questions);
                        self.beginnings[beginning] = number as u16;
                    }
                    false => {
                        let outline = place(self.outline.hash(), self.outlines.len());
                        self.outlines[outline] = number as u16;
                    }
                }
                self.known(number, leaf, name, questions)
            }
            None => {
                self.bypass.miss();
                self.learn(name, shaped, questions, patterns)
            }
        }
    }

    /// Classifies and judges a name; if it is `shaped`, its shape is ready to be cached.
    #[inline(never)]
    fn learn(
        &mut self,
        name: &[u8],
        shaped: bool,
        questions: &Questions,
        patterns: &mut PatternStats,
    ) -> KnownName<'_> {
        let read = questions.classifier.read(name, &mut self.pattern);
        questions.checks.judge_name(&read, &mut self.other);
        let (leaf, tagged) = (patterns.leaf(read), read.has_tag());
        if let Some(ids) = &self.ids {
            self.other_id = match &read {
                KeyName::Plain(plain) => ids.look_plain(plain),
                KeyName::Classified(..) => KnownId::Unknown,
            };
        }
        if shaped {
            self.keep(name, leaf, tagged);
        }
        KnownName { leaf, id: &self.other_id, tagged, judged: &self.other, plain: self.other.is_plain() }
    }

    /// Caches the answer in the slot of the shape, if that missed there before.
    #[inline(never)]
    fn keep(&mut self, name: &[u8], leaf: Leaf, tagged: bool) {
        if self.other.exemptions() > MAX_EXEMPTIONS {
            return;
        }
        if self.slots.is_empty() || self.evicted >= EVICTIONS && self.slots.len() < SLOTS {
            self.grow();
        }
        let number = place(self.shape.hash(), self.slots.len());
        let mark = (self.shape.hash() >> 32) as u32;
        if let (Some(slot), Some(judged)) = (self.slots.get_mut(number), self.judged.get_mut(number)) {
            // Second miss of this shape: worth a slot.
            if slot.missed == mark {
                let counted = self.shape.is_counted() || self.other.varies();
                let plain = !counted && self.other.is_plain();
                self.evicted += usize::from(slot.leaf.is_some());
                let id = self.ids.as_ref().map_or(KnownId::Unknown, |ids| ids.look(name));
                *slot =
                    ShapeSlot { shape: self.shape.clone(), leaf: Some(leaf), id, missed: 0, tagged, plain, counted };
                if !plain {
                    *judged = self.other.kept();
                }
            }
            slot.missed = mark;
        }
    }

    /// Grows the cache, and drops its entries; recurring shapes are cached again.
    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * GROWTH).clamp(MIN_SLOTS, SLOTS);
        (self.slots, self.judged, self.outlines, self.beginnings) = Default::default();
        self.slots.resize_with(slots, ShapeSlot::default);
        self.judged.resize_with(slots, NameJudged::default);
        self.outlines.resize(slots.max(MIN_LEADS), 0);
        self.beginnings.resize(slots.max(MIN_LEADS), 0);
        self.evicted = 0;
    }
}

/// Returns the index for a hash in a table of this length, a power of two.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
fn place(hash: u64, length: usize) -> usize {
    hash as usize & length.wrapping_sub(1)
}

#[cfg(test)]
mod tests;
