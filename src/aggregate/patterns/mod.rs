//! Keys by pattern: the tree of prefixes, the heaviest patterns, the patterns without expiry, the patterns whose names
//! break a rule. All four are read from one tree of patterns, so they never disagree.
//!
//! The number of patterns is bounded by the tree. Each holds its sums, one key as its example, and for keys without
//! expiry and for each rule broken the three heaviest keys, no name longer than a kibibyte.

mod examples;
mod facts;
mod finish;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::mask::ShownNames;
use crate::pattern::PatternBuf;
use crate::pattern::name::KeyName;
use crate::pattern::tree::{Leaf, PatternTree, TreeLimits};
use crate::policy::evidence::MOST_EXPIRIES;
use crate::policy::forest::Forest;
use crate::policy::sensitive::Inspection;
use crate::policy::{Judged, Severity};
use crate::rdb::peek::PeekBuffers;
use crate::record::Record;
use crate::report;
use crate::units::{Bytes, Millis};
use facts::PatternFacts;

/// What a place of the tree takes, roughly: itself, its name, its entry in the table, its facts and their examples.
const PLACE_BYTES: usize = 900;

/// A rule about keys, as far as patterns are sorted by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleBit {
    /// Its id.
    pub id: &'static str,
    /// How much a violation matters.
    pub severity: Severity,
    /// Whether it measures a number.
    pub measures: bool,
    /// Whether it tells what the remedy would save.
    pub saves: bool,
}

/// What the report is to show of the patterns.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternsPlan {
    /// Rows of each list.
    pub top: usize,
    /// Levels of the tree of prefixes.
    pub depth: usize,
    /// Prefixes with less than this part of the memory are hidden.
    pub min_share: f64,
    /// The rules about keys in force, by bit.
    pub rules: Vec<RuleBit>,
}

/// The sections of a report that are made from patterns.
#[derive(Debug, Clone)]
pub struct PatternSections {
    /// The tree of name segments.
    pub prefixes: report::Prefixes,
    /// The heaviest patterns.
    pub patterns: report::Patterns,
    /// The patterns with most memory that never expires.
    pub no_ttl_patterns: Vec<report::PatternWeight>,
    /// By bit: how many patterns break the rule, and the heaviest of them.
    pub broken: Vec<BrokenPatterns>,
    /// The patterns whose keys break most.
    pub worst: Vec<report::PatternFindings>,
    /// The patterns whose memory differs most under an alternative.
    pub what_if: Vec<report::WhatIfPattern>,
    /// There were so many patterns that levels were kept narrower than [`Patterns::level_limit`](report::Patterns) says.
    pub strict: bool,
}

/// The patterns that break one rule.
#[derive(Debug, Clone, Default)]
pub struct BrokenPatterns {
    /// How many.
    pub distinct: u64,
    /// What is farthest from what is allowed, in any of them.
    pub worst: Option<report::Worst>,
    /// The heaviest.
    pub list: Vec<report::FindingPattern>,
}

/// Keys whose expiries are kept over all patterns, at most: 32 MiB of them.
const EXPIRIES: usize = 4 << 20;

/// Every pattern may keep some expiries: a tree counts no more places than 131 072, and ends soon after.
const FEWEST_EXPIRIES: usize = 32;

/// How expiries are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Timing {
    /// Expiries before this are past.
    reference: Millis,
    /// Keys whose expiry one pattern keeps.
    most: usize,
}

impl Timing {
    /// The share of a pattern when there are so many places, in powers of two. It follows from the set of patterns
    /// alone and only shrinks, so every worker keeps at least what the merged whole does.
    fn share(places: usize) -> usize {
        let mut most = MOST_EXPIRIES;
        while most > FEWEST_EXPIRIES && most.saturating_mul(places) > EXPIRIES {
            most /= 2;
        }
        most
    }
}

/// The aggregate of all keys by pattern.
#[derive(Debug, Clone)]
pub struct Patterns {
    tree: PatternTree<PatternFacts>,
    /// Some patterns of the run that count for sure are so varied that all are kept under strict limits.
    varied: Arc<AtomicBool>,
    place_bytes: usize,
    /// Expiries are kept if some rule asks for them.
    timing: Option<Timing>,
    /// Bytes that kept expiries take.
    timing_bytes: usize,
    /// What values are looked into for; `None` looks into none.
    inspection: Option<Arc<Inspection>>,
    room: PeekBuffers,
    /// Bytes that what was found takes, at most.
    inspection_bytes: usize,
}

impl Patterns {
    /// No keys yet. Aggregates that are merged must have the same limits and as many alternatives.
    pub fn new(limits: TreeLimits, alternatives: usize) -> Self {
        let place_bytes = PLACE_BYTES + alternatives.saturating_mul(size_of::<Bytes>());
        Patterns {
            tree: PatternTree::new(limits),
            varied: Arc::default(),
            place_bytes,
            timing: None,
            timing_bytes: 0,
            inspection: None,
            room: PeekBuffers::default(),
            inspection_bytes: 0,
        }
    }

    /// The same, which also keeps when keys expire after `reference`. Aggregates that are merged must agree on it.
    pub fn keeping_expiries(self, reference: Millis) -> Self {
        Patterns { timing: Some(Timing { reference, most: MOST_EXPIRIES }), ..self }
    }

    /// The same, which tells others that have the same flag when patterns are too varied: see [`Patterns::share`].
    pub fn sharing(self, varied: &Arc<AtomicBool>) -> Self {
        Patterns { varied: Arc::clone(varied), ..self }
    }

    /// The same, which also looks into the values of some keys of each pattern. Aggregates that are merged must look for
    /// the same.
    pub fn inspecting(self, inspection: Option<Arc<Inspection>>) -> Self {
        Patterns { inspection, ..self }
    }

    /// Takes one key into account. `pattern` is the key's, always made by the same classifier; `judged` says
    /// which rules the key breaks.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, pattern: &PatternBuf, judged: &Judged) {
        let leaf = self.leaf(pattern);
        self.observe_at(record, leaf, judged);
    }

    /// Returns where keys of this name's pattern are collected, as long as [`Patterns::holds`] says so.
    #[inline]
    pub fn leaf<'n>(&mut self, name: impl Into<KeyName<'n>>) -> Leaf {
        self.tree.leaf(name)
    }

    /// Tells those that share the same, if these patterns `count` for sure, that they are so varied that all are kept under strict
    /// limits; or hears of it.
    pub fn share(&mut self, counts: bool) {
        if !self.is_strict() && self.varied.load(Ordering::Relaxed) {
            self.become_strict();
        } else if counts && self.is_strict() {
            self.varied.store(true, Ordering::Relaxed);
        }
    }

    /// Whether patterns are kept under strict limits.
    pub fn is_strict(&self) -> bool {
        self.tree.is_strict()
    }

    /// Keeps them so: other patterns, which these will be merged with, are.
    pub fn become_strict(&mut self) {
        self.tree.become_strict();
        self.trim_expiries();
    }

    /// Whether names should be told in front of their keys: see [`PatternTree::wants_look_ahead`].
    pub fn wants_look_ahead(&self) -> bool {
        self.tree.wants_look_ahead()
    }

    /// Counts the pattern of a key that will come. Returns whether it is new.
    pub fn look_ahead<'n>(&mut self, name: impl Into<KeyName<'n>>) -> bool {
        self.tree.look_ahead(name)
    }

    /// Knows that no more names will be told for now.
    pub fn end_look_ahead(&mut self) {
        self.tree.end_look_ahead();
    }

    /// Whether keys of the pattern that was asked about are still collected there.
    #[inline]
    pub fn holds(&self, leaf: Leaf) -> bool {
        self.tree.holds(leaf)
    }

    /// Takes one key into account whose pattern's place is known, and holds.
    #[inline]
    pub fn observe_at(&mut self, record: &Record<'_>, leaf: Leaf, judged: &Judged) {
        debug_assert!(self.tree.holds(leaf));
        let Some(facts) = self.tree.payload(leaf) else { return };
        facts.observe(record, judged);
        if let Some(inspection) = &self.inspection {
            self.inspection_bytes += facts.inspect(record, inspection, &mut self.room);
        }
        if let Some(timing) = self.timing {
            self.timing_bytes += facts.time(record, timing);
            if timing.most > FEWEST_EXPIRIES && timing.most.saturating_mul(self.tree.breadth()) > EXPIRIES {
                self.trim_expiries();
            }
        }
    }

    /// The same for a usual key, which breaks these rules, if it is no new example; says whether. Not for those who look into
    /// values or at expiries.
    #[inline]
    pub fn observe_usual(&mut self, record: &Record<'_>, leaf: Leaf, rules: u64) -> bool {
        debug_assert!(self.tree.holds(leaf) && self.takes_usual());
        self.tree.payload(leaf).is_some_and(|facts| facts.observe_usual(record, rules))
    }

    /// Whether [`Patterns::observe_usual`] may be asked.
    pub fn takes_usual(&self) -> bool {
        self.inspection.is_none() && self.timing.is_none()
    }

    /// Keeps as many expiries as the number of patterns allows.
    #[cold]
    fn trim_expiries(&mut self) {
        if let Some(timing) = &mut self.timing {
            timing.most = Timing::share(self.tree.breadth());
            let most = timing.most;
            self.timing_bytes = self.tree.payloads_mut().map(|facts| facts.keep_expiries(most)).sum();
        }
    }

    /// Takes everything into account that `other` has seen.
    pub fn merge(&mut self, other: Self) {
        self.tree.merge(other.tree);
        self.trim_expiries();
        self.inspection_bytes = self.inspection_bytes.saturating_add(other.inspection_bytes);
    }

    /// Says that all keys so far were of database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.tree.payloads_mut().for_each(|facts| facts.settle_database(db));
    }

    /// About how many bytes of memory the tree has grown to.
    pub fn heap_bytes(&self) -> usize {
        let samples = self.timing_bytes.saturating_add(self.inspection_bytes);
        self.tree.len().saturating_mul(self.place_bytes).saturating_add(samples)
    }

    /// All patterns beside each other, for rules about patterns.
    pub fn forest(&self) -> Forest<'_> {
        finish::forest(&self.tree)
    }

    /// What the report says.
    pub fn finish(&self, plan: &PatternsPlan) -> PatternSections {
        finish::sections(&self.tree, plan)
    }
}

impl ShownNames for Patterns {
    fn shown(&self, pattern: &PatternBuf, shown: &mut Vec<bool>) {
        self.tree.names_kept(pattern, shown);
    }
}

#[cfg(test)]
mod tests;
