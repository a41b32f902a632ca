//! What is known of the names met lately: most keys differ from one that was just seen in their numbers only.
//!
//! A name's shape (`pattern/shape.rs`) leads to its place among the patterns and to what the rules about names said. Names
//! of a shape that is not known, or that have none, are taken apart, which says the same at more cost.

use super::questions::Questions;
use crate::aggregate::patterns::Patterns;
use crate::pattern::PatternBuf;
use crate::pattern::luck::Luck;
use crate::pattern::shape::{Outline, Shape, Shaper};
use crate::pattern::tree::Leaf;
use crate::policy::NameJudged;

/// One slot per shape and a shape has one slot: no search, no list to keep. In tests few, so that they push each other out.
const SLOTS: usize = if cfg!(test) { 8 } else { 4096 };

/// Slots at first. They become more when shapes push each other out: a small file should not pay for a megabyte of them.
const FEWEST: usize = if cfg!(test) { 2 } else { 64 };

/// So many times as many, after so many shapes were pushed out.
const GROWTH: usize = 8;
const PUSHED_OUT: usize = 4;

/// Names that match more exemptions are judged each time, so that memory stays bounded.
const MOST_EXEMPTIONS: usize = 16;

/// What is known of one name.
#[derive(Debug, Clone, Copy)]
pub struct KnownName<'a> {
    /// Where its pattern collects keys.
    pub leaf: Leaf,
    /// Whether it has a hash tag.
    pub tagged: bool,
    /// What the policy says of it.
    pub judged: &'a NameJudged,
}

/// The names of one worker.
#[derive(Debug)]
pub struct Names {
    shaper: Option<Shaper>,
    /// The shape of the name that is being looked at.
    shape: Shape,
    /// How often shapes are known.
    luck: Luck,
    /// Its outline.
    outline: Outline,
    /// Empty until the first name; a power of two.
    slots: Vec<Slot>,
    /// Shapes that were pushed out since there are so many slots.
    pushed_out: usize,
    /// By the hash of an outline: the slot of a shape that names of it may have.
    outlines: Vec<u16>,
    /// By slot; read only where there is something to say.
    judged: Vec<NameJudged>,
    /// What is said of a name without known shape.
    other: NameJudged,
    nothing: NameJudged,
    pattern: PatternBuf,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    shape: Shape,
    /// `None` as long as nothing is known.
    leaf: Option<Leaf>,
    /// A part of the hash of the last shape that was looked for in vain. A shape that comes once more is kept: most of
    /// those with random letters never do.
    missed: u32,
    tagged: bool,
    /// There is nothing to say about names of the shape.
    plain: bool,
}

impl Names {
    /// Nothing is known yet.
    pub fn new(questions: &Questions) -> Self {
        let alike = questions.checks.takes_digits_alike();
        Names {
            shaper: alike.then(|| Shaper::new(questions.separators.clone())),
            shape: Shape::default(),
            outline: Outline::default(),
            outlines: Vec::new(),
            luck: Luck::default(),
            slots: Vec::new(),
            pushed_out: 0,
            judged: Vec::new(),
            other: NameJudged::default(),
            nothing: NameJudged::default(),
            pattern: PatternBuf::default(),
        }
    }

    /// What is to be known of a name; `patterns` are always the same ones.
    #[inline]
    pub fn know(&mut self, name: &[u8], questions: &Questions, patterns: &mut Patterns) -> KnownName<'_> {
        if self.shaper.is_none() || !self.luck.tries() {
            return self.learn(name, false, questions, patterns);
        }
        let drawn = self.outline.draw(name);
        let number = if drawn { self.outlines.get(self.place(self.outline.hash())) } else { None };
        let fits = |shape: &Shape| shape.fits(name, &self.outline);
        match number.and_then(|&number| self.find(usize::from(number), patterns, fits)) {
            Some((number, leaf)) => self.known(number, leaf),
            None => self.look_closer(name, drawn, questions, patterns),
        }
    }

    /// Takes note of a name that will come. Returns whether its pattern was not met before.
    #[inline(never)]
    pub fn foresee(&mut self, name: &[u8], questions: &Questions, patterns: &mut Patterns) -> bool {
        patterns.foresee(questions.classifier.read(name, &mut self.pattern))
    }

    /// The place of what has this hash, in a table of as many places as there are slots.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
    fn place(&self, hash: u64) -> usize {
        hash as usize & self.slots.len().wrapping_sub(1)
    }

    /// A slot and its leaf, if the shape in it is the one looked for.
    #[inline]
    fn find(&self, number: usize, patterns: &Patterns, is: impl Fn(&Shape) -> bool) -> Option<(usize, Leaf)> {
        let slot = self.slots.get(number)?;
        let leaf = slot.leaf.filter(|&leaf| is(&slot.shape) && patterns.holds(leaf))?;
        Some((number, leaf))
    }

    /// What is known of the shape in a slot.
    #[inline]
    fn known(&mut self, number: usize, leaf: Leaf) -> KnownName<'_> {
        self.luck.found();
        let slot = &self.slots[number];
        let judged = if slot.plain { None } else { self.judged.get(number) };
        KnownName { leaf, tagged: slot.tagged, judged: judged.unwrap_or(&self.nothing) }
    }

    /// Makes the shape of a name of which the outline tells too little.
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "slots are numbered with 16 bits")]
    fn look_closer(
        &mut self,
        name: &[u8],
        has_shape: bool,
        questions: &Questions,
        patterns: &mut Patterns,
    ) -> KnownName<'_> {
        let shaped = has_shape && self.shaper.as_ref().is_some_and(|shaper| shaper.shape(name, &mut self.shape));
        let number = shaped.then(|| self.place(self.shape.hash()));
        match number.and_then(|number| self.find(number, patterns, |shape| shape.is(&self.shape))) {
            Some((number, leaf)) => {
                // A slot's number is below that of all slots.
                let outline = self.place(self.outline.hash());
                self.outlines[outline] = number as u16;
                self.known(number, leaf)
            }
            None => {
                self.luck.missed();
                self.learn(name, shaped, questions, patterns)
            }
        }
    }

    /// Finds out what is to be known of a name; if it is `shaped`, its shape has been made.
    #[inline(never)]
    fn learn(&mut self, name: &[u8], shaped: bool, questions: &Questions, patterns: &mut Patterns) -> KnownName<'_> {
        let name = questions.classifier.read(name, &mut self.pattern);
        questions.checks.judge_name(&name, &mut self.other);
        let (leaf, tagged) = (patterns.leaf(name), name.has_tag());
        if shaped {
            self.keep(leaf, tagged);
        }
        KnownName { leaf, tagged, judged: &self.other }
    }

    /// Keeps what was learnt, in the slot of the shape, if that comes once more.
    #[inline(never)]
    fn keep(&mut self, leaf: Leaf, tagged: bool) {
        if self.other.exemptions() > MOST_EXEMPTIONS {
            return;
        }
        if self.slots.is_empty() || self.pushed_out >= PUSHED_OUT && self.slots.len() < SLOTS {
            self.grow();
        }
        let number = self.place(self.shape.hash());
        let mark = (self.shape.hash() >> 32) as u32;
        if let (Some(slot), Some(judged)) = (self.slots.get_mut(number), self.judged.get_mut(number)) {
            if slot.missed == mark {
                let plain = self.other.is_plain();
                self.pushed_out += usize::from(slot.leaf.is_some());
                *slot = Slot { shape: self.shape.clone(), leaf: Some(leaf), missed: 0, tagged, plain };
                if !plain {
                    *judged = self.other.kept();
                }
            }
            slot.missed = mark;
        }
    }

    /// Makes room for more shapes, and forgets those that are known: they come again.
    #[cold]
    fn grow(&mut self) {
        let slots = (self.slots.len() * GROWTH).clamp(FEWEST, SLOTS);
        (self.slots, self.judged, self.outlines) = Default::default();
        self.slots.resize_with(slots, Slot::default);
        self.judged.resize_with(slots, NameJudged::default);
        self.outlines.resize(slots, 0);
        self.pushed_out = 0;
    }
}

#[cfg(test)]
mod tests;
