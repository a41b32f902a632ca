//! What is known of the names met lately: most keys differ from one that was just seen in their numbers only.
//!
//! A name's shape (`pattern/shape.rs`) leads to its place among the patterns and to what the rules about names said. Names
//! of a shape that is not known, or that have none, are taken apart, which says the same at more cost.

use super::set::Questions;
use crate::aggregate::patterns::Patterns;
use crate::pattern::PatternBuf;
use crate::pattern::shape::{Shape, Shaper};
use crate::pattern::slot::has_tag;
use crate::pattern::tree::Leaf;
use crate::policy::NameJudged;

/// One slot per shape and a shape has one slot: no search, no list to keep. In tests few, so that they push each other out.
const SLOTS: usize = if cfg!(test) { 8 } else { 4096 };

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
    /// Empty until the first name.
    slots: Vec<Slot>,
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
            slots: Vec::new(),
            judged: Vec::new(),
            other: NameJudged::default(),
            nothing: NameJudged::default(),
            pattern: PatternBuf::default(),
        }
    }

    /// What is to be known of a name; `patterns` are always the same ones.
    #[inline]
    pub fn know(&mut self, name: &[u8], questions: &Questions, patterns: &mut Patterns) -> KnownName<'_> {
        let shaped = self.shaper.as_ref().is_some_and(|shaper| shaper.shape(name, &mut self.shape));
        let number = shaped.then(|| self.shape.hash() as usize % SLOTS); // cut on purpose: any bits of the hash will do
        let slot = number.and_then(|number| self.slots.get(number));
        if let Some((slot, leaf)) = slot.and_then(|slot| Some((slot, slot.leaf?)))
            && slot.shape.is(&self.shape)
            && patterns.holds(leaf)
        {
            let judged = number.filter(|_| !slot.plain).and_then(|number| self.judged.get(number));
            return KnownName { leaf, tagged: slot.tagged, judged: judged.unwrap_or(&self.nothing) };
        }
        self.learn(name, number, questions, patterns)
    }

    /// Finds out what is to be known of a name.
    #[inline(never)]
    fn learn(
        &mut self,
        name: &[u8],
        number: Option<usize>,
        questions: &Questions,
        patterns: &mut Patterns,
    ) -> KnownName<'_> {
        questions.classifier.classify(name, &mut self.pattern);
        questions.checks.judge_name(name, &self.pattern, &mut self.other);
        let leaf = patterns.leaf(&self.pattern);
        let tagged = has_tag(name);
        if let Some(number) = number.filter(|_| self.other.exemptions() <= MOST_EXEMPTIONS) {
            if self.slots.is_empty() {
                self.slots.resize_with(SLOTS, Slot::default);
                self.judged.resize_with(SLOTS, NameJudged::default);
            }
            let mark = (self.shape.hash() >> 32) as u32;
            if let (Some(slot), Some(judged)) = (self.slots.get_mut(number), self.judged.get_mut(number)) {
                if slot.missed == mark {
                    let plain = self.other.is_plain();
                    *slot = Slot { shape: self.shape.clone(), leaf: Some(leaf), missed: 0, tagged, plain };
                    if !plain {
                        *judged = self.other.kept();
                    }
                }
                slot.missed = mark;
            }
        }
        KnownName { leaf, tagged, judged: &self.other }
    }
}

#[cfg(test)]
mod tests;
