//! Keys by pattern: the tree of prefixes, the heaviest patterns, the patterns without expiry, the patterns whose names
//! break a rule. All four are read from one tree of patterns, so they never disagree.
//!
//! The number of patterns is bounded by the tree. Each holds its sums, one key as its example, and for keys without
//! expiry and for each rule broken the three heaviest keys, no name longer than a kibibyte.

mod facts;
mod finish;

use crate::pattern::PatternBuf;
use crate::pattern::tree::{PatternTree, TreeLimits};
use crate::record::Record;
use crate::report;
use crate::units::Bytes;
use facts::PatternFacts;

/// What a place of the tree takes, roughly: itself, its name, its entry in the table, its facts and their examples.
const PLACE_BYTES: usize = 400;

/// What the report is to show of the patterns.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PatternsPlan {
    /// Rows of each list.
    pub top: usize,
    /// Levels of the tree of prefixes.
    pub depth: usize,
    /// Prefixes with less than this part of the memory are hidden.
    pub min_share: f64,
    /// How many naming rules there are.
    pub rules: usize,
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
    /// By rule: the patterns with most keys that break it.
    pub broken: Vec<Vec<report::PatternWeight>>,
    /// The patterns whose memory differs most under an alternative.
    pub what_if: Vec<report::WhatIfPattern>,
    /// There were so many patterns that levels were kept narrower than [`Patterns::level_limit`](report::Patterns) says.
    pub strict: bool,
}

/// The aggregate of all keys by pattern.
#[derive(Debug, Clone)]
pub struct Patterns {
    tree: PatternTree<PatternFacts>,
    place_bytes: usize,
}

impl Patterns {
    /// No keys yet. Aggregates that are merged must have the same limits and as many alternatives.
    pub fn new(limits: TreeLimits, alternatives: usize) -> Self {
        let place_bytes = PLACE_BYTES + alternatives.saturating_mul(size_of::<Bytes>());
        Patterns { tree: PatternTree::new(limits), place_bytes }
    }

    /// Takes one key into account. `pattern` is the key's, always made by the same classifier; bit `i` of `broken` says
    /// that the key breaks naming rule `i`.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, pattern: &PatternBuf, broken: u64) {
        self.tree.leaf(pattern).observe(record, broken);
    }

    /// Takes everything into account that `other` has seen.
    pub fn merge(&mut self, other: Self) {
        self.tree.merge(other.tree);
    }

    /// Says that all keys so far were of database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.tree.payloads_mut().for_each(|facts| facts.settle_database(db));
    }

    /// Learns from patterns that these will be merged into.
    pub fn follow(&mut self, other: &Self) {
        self.tree.follow(&other.tree);
    }

    /// About how many bytes of memory the tree has grown to.
    pub fn heap_bytes(&self) -> usize {
        self.tree.len().saturating_mul(self.place_bytes)
    }

    /// What the report says.
    pub fn finish(self, plan: &PatternsPlan) -> PatternSections {
        finish::sections(&self.tree, plan)
    }
}

#[cfg(test)]
mod tests;
