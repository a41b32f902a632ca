//! Keys by pattern: tree of prefixes, heaviest patterns, patterns without expiry, patterns that break a rule. All are
//! computed from one tree, so they never disagree.
//!
//! The tree limits the number of patterns. Each holds its sums, one example, and the three heaviest keys without expiry
//! and for each broken rule; names are cut at one KiB.

mod counts;
mod examples;
mod facts;
mod finish;
mod stored;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::mask::ShownNames;
use crate::pattern::PatternBuf;
use crate::pattern::name::KeyName;
use crate::pattern::tree::{Leaf, PatternTree, PlaceId, TreeLimits};
use crate::policy::evidence::ids::{IdFinder, KnownId, MAX_IDS};
use crate::policy::evidence::{MAX_EXPIRIES, MAX_TOKENS, SecondCounts};
use crate::policy::forest::Forest;
use crate::policy::rule::TokenNeeds;
use crate::policy::sensitive::Inspection;
use crate::policy::{Judged, Severity, UsualJudged};
use crate::rdb::peek::PeekBuffers;
use crate::record::{Kind, Record};
use crate::report;
use crate::units::{Bytes, Millis};
use facts::PatternFacts;
pub use stored::StoredPatterns;

/// Estimated heap bytes per place of the tree: the place, its name, its table entry, its facts and their examples.
const PLACE_BYTES: usize = 960;

/// Rule about keys, reduced to the properties that matter here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuleBit {
    /// Its id.
    pub id: &'static str,
    /// Severity of a violation.
    pub severity: Severity,
    /// True if it measures a number.
    pub measures: bool,
    /// True if it computes the memory that the remedy would save.
    pub saves: bool,
}

/// Settings of the pattern sections of a report.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternsPlan {
    /// Rows of each list.
    pub top: usize,
    /// Rows of the lists of patterns and of cold patterns.
    pub listed: usize,
    /// Rows of the lists of patterns and of those that break a rule, if they are compared with an earlier report before they are cut
    /// to the numbers above; else 0.
    pub compared: usize,
    /// Levels of the tree of prefixes.
    pub depth: usize,
    /// Prefixes with a smaller share of the memory are hidden.
    pub min_share: f64,
    /// Rules about keys in force, by bit.
    pub rules: Vec<RuleBit>,
}

impl PatternsPlan {
    /// Returns the number of rows of the lists of patterns that break a rule, before these are cut.
    pub fn breaking(&self) -> usize {
        self.top.max(self.compared)
    }
}

/// Sections of a report that are computed from patterns.
#[derive(Debug, Clone)]
pub struct PatternSections {
    /// The tree of name segments.
    pub prefixes: report::Prefixes,
    /// The heaviest patterns.
    pub patterns: report::Patterns,
    /// Patterns with most memory in keys without expiry.
    pub no_ttl: Listed<report::PatternWeight>,
    /// Patterns that break each rule, by bit: their number and the heaviest.
    pub broken: Vec<BrokenPatterns>,
    /// Patterns with the most severe violations.
    pub worst: Vec<report::PatternFindings>,
    /// The patterns whose memory differs most under an alternative.
    pub what_if: Listed<report::WhatIfPattern>,
    /// The patterns with most memory out of use.
    pub cold: Listed<report::ColdPart>,
    /// True if strict mode made levels narrower than [`Patterns::level_limit`](report::Patterns) says.
    pub strict: bool,
}

/// First rows of a list of patterns.
#[derive(Debug, Clone)]
pub struct Listed<T> {
    /// Number of patterns, listed or not.
    pub distinct: u64,
    /// The first of them.
    pub rows: Vec<T>,
}

/// Patterns that break one rule.
#[derive(Debug, Clone, Default)]
pub struct BrokenPatterns {
    /// Number of patterns.
    pub distinct: u64,
    /// Worst violation in any of them.
    pub worst: Option<report::Worst>,
    /// Heaviest patterns.
    pub list: Vec<report::FindingPattern>,
}

/// Cap on the expiries kept over all patterns, if there are few: 8 MiB.
const EXPIRIES_OF_FEW: usize = 1 << 20;

/// Cap on the expiries kept over all patterns, if there are many: 32 MiB.
const EXPIRIES: usize = 4 << 20;

/// Cap on the expiries of one pattern between the two: for 2,048 to 8,192 places.
const USUAL_EXPIRIES: usize = 512;

/// Cap on the expiries of one pattern in the largest tree: the number of places stays near 131,072.
const MIN_EXPIRIES: usize = 32;

/// Cap on the ids kept over all patterns: 24 MiB.
const IDS: usize = 2 << 20;

/// Cap on the ids of one pattern in the largest tree.
const MIN_IDS: usize = 16;

/// Returns the cap per pattern for a tree with this number of places, a power of two: at most `all` in total, from `most`
/// down to `fewest`.
///
/// It depends on the set of patterns alone and only shrinks, so every worker keeps at least what the merged tree does.
fn share(most: usize, fewest: usize, all: usize, places: usize) -> usize {
    let mut share = most;
    while share > fewest && share.saturating_mul(places) > all {
        share /= 2;
    }
    share
}

/// Settings for sampling ids.
#[derive(Debug, Clone, PartialEq, Eq)]
struct IdSampling {
    finder: IdFinder,
    /// Cap on the ids of one pattern.
    most: usize,
}

/// Settings for keeping expiries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ExpiryTiming {
    /// Reference time; earlier expiries are past.
    reference: Millis,
    /// Cap on the expiries of one pattern.
    most: usize,
}

impl ExpiryTiming {
    /// Returns the cap per pattern for a tree with this number of places.
    fn share(places: usize) -> usize {
        match share(MAX_EXPIRIES, USUAL_EXPIRIES, EXPIRIES_OF_FEW, places) {
            USUAL_EXPIRIES => share(USUAL_EXPIRIES, MIN_EXPIRIES, EXPIRIES, places),
            more => more,
        }
    }

    /// Returns true if the current cap is too high for a tree with this number of places.
    #[inline]
    fn is_too_much(self, places: usize) -> bool {
        let all = if self.most > USUAL_EXPIRIES { EXPIRIES_OF_FEW } else { EXPIRIES };
        self.most > MIN_EXPIRIES && self.most.saturating_mul(places) > all
    }
}

/// Cap on the values of locks kept over all patterns: 40 MiB.
const TOKENS: usize = 1 << 20;

/// Cap on the values of the locks of one pattern in the largest tree.
const MIN_TOKENS: usize = 8;

/// Settings for keeping the values of locks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TokenPlan {
    needs: TokenNeeds,
    /// Cap on the distinct values of one pattern.
    most: usize,
}

/// The aggregate of all keys by pattern.
#[derive(Debug, Clone)]
pub struct PatternStats {
    tree: PatternTree<PatternFacts>,
    /// Set once a part of the run that is sure to be merged has entered strict mode; the others then follow.
    varied: Arc<AtomicBool>,
    place_bytes: usize,
    /// Settings for expiries, if a rule needs them.
    timing: Option<ExpiryTiming>,
    /// Heap bytes of kept expiries.
    timing_bytes: usize,
    /// Expiries of all keys, if a rule needs them.
    seconds: Option<SecondCounts>,
    /// Settings for ids, if a rule needs them.
    ids: Option<IdSampling>,
    /// Heap bytes of sampled ids.
    id_bytes: usize,
    /// Settings for values of locks, if a rule needs them.
    tokens: Option<TokenPlan>,
    /// Inspection of values, if a rule needs it.
    inspection: Option<Arc<Inspection>>,
    buffers: PeekBuffers,
    /// Upper bound of the heap bytes of inspection findings.
    inspection_bytes: usize,
}

impl PatternStats {
    /// Creates an empty aggregate. Aggregates to be merged must have equal limits and equally many alternatives.
    pub fn new(limits: TreeLimits, alternatives: usize) -> Self {
        let place_bytes = PLACE_BYTES + alternatives.saturating_mul(size_of::<Bytes>());
        PatternStats {
            tree: PatternTree::new(limits),
            varied: Arc::default(),
            place_bytes,
            timing: None,
            timing_bytes: 0,
            seconds: None,
            ids: None,
            id_bytes: 0,
            tokens: None,
            inspection: None,
            buffers: PeekBuffers::default(),
            inspection_bytes: 0,
        }
    }

    /// Also keeps expiries after `reference`. Aggregates to be merged must agree on it.
    pub fn keeping_expiries(self, reference: Millis) -> Self {
        let timing = Some(ExpiryTiming { reference, most: MAX_EXPIRIES });
        PatternStats { timing, seconds: Some(SecondCounts::new(reference)), ..self }
    }

    /// Also samples the ids of strings, if there is a finder of them. Aggregates to be merged must agree on it.
    pub fn sampling_ids(self, finder: Option<IdFinder>) -> Self {
        PatternStats { ids: finder.map(|finder| IdSampling { finder, most: MAX_IDS }), ..self }
    }

    /// Also keeps the values of locks, if a rule needs them. Aggregates to be merged must agree on it.
    pub fn keeping_tokens(self, needs: Option<TokenNeeds>) -> Self {
        PatternStats { tokens: needs.map(|needs| TokenPlan { needs, most: MAX_TOKENS }), ..self }
    }

    /// Shares a flag for strict mode with other workers: see [`PatternStats::share`].
    pub fn sharing(self, varied: &Arc<AtomicBool>) -> Self {
        PatternStats { varied: Arc::clone(varied), ..self }
    }

    /// Also inspects the values of some keys of each pattern. Aggregates to be merged must use the same inspection.
    pub fn inspecting(self, inspection: Option<Arc<Inspection>>) -> Self {
        PatternStats { inspection, ..self }
    }

    /// Adds a key with its pattern, always made by the same classifier; `judged` says which rules it breaks.
    #[cfg(any(test, feature = "internals"))]
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, pattern: &PatternBuf, judged: &Judged) {
        let leaf = self.leaf(pattern);
        self.observe_at(record, leaf, KnownId::Unknown, judged);
    }

    /// Returns the leaf of a name's pattern, valid while [`PatternStats::holds`] says so.
    #[inline]
    pub fn leaf<'n>(&mut self, name: impl Into<KeyName<'n>>) -> Leaf {
        self.tree.leaf(name)
    }

    /// Enters strict mode if another worker has; or, if these patterns are sure to be merged (`counts`) and strict,
    /// tells the other workers.
    pub fn share(&mut self, counts: bool) {
        if !self.is_strict() && self.varied.load(Ordering::Relaxed) {
            self.become_strict();
        } else if counts && self.is_strict() {
            self.varied.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether the tree is in strict mode.
    pub fn is_strict(&self) -> bool {
        self.tree.is_strict()
    }

    /// Enters strict mode, as a tree that will be merged with a strict one should.
    pub fn become_strict(&mut self) {
        self.tree.become_strict();
        self.trim_samples();
    }

    /// Returns whether look-ahead at key names would pay off now: see [`PatternTree::wants_look_ahead`].
    pub fn wants_look_ahead(&self) -> bool {
        self.tree.wants_look_ahead()
    }

    /// Counts the pattern of a key that will be observed later. Returns whether it is new.
    pub fn look_ahead<'n>(&mut self, name: impl Into<KeyName<'n>>) -> bool {
        self.tree.look_ahead(name)
    }

    /// Ends look-ahead for now.
    pub fn end_look_ahead(&mut self) {
        self.tree.end_look_ahead();
    }

    /// Returns whether a leaf is still valid.
    #[inline]
    pub fn holds(&self, leaf: Leaf) -> bool {
        self.tree.holds(leaf)
    }

    /// Returns the largest measure so far among the keys of a pattern that break a rule.
    pub fn worst(&mut self, leaf: Leaf, rule: usize) -> u64 {
        self.tree.payload(leaf).map_or(0, |facts| facts.worst(rule).measured)
    }

    /// Adds a key to the leaf of its pattern, which must be valid.
    #[inline]
    pub fn observe_at(&mut self, record: &Record<'_>, leaf: Leaf, id: KnownId, judged: &Judged) {
        debug_assert!(self.tree.holds(leaf));
        let Some(facts) = self.tree.payload(leaf) else { return };
        facts.observe(record, judged);
        if let Some(ids) = &self.ids {
            self.id_bytes += sample_id(facts, record, &id, ids);
        }
        if let Some(inspection) = &self.inspection {
            self.inspection_bytes += facts.inspect(record, inspection, &mut self.buffers);
        }
        let lock = judged.matched.lock && judged.matched.lock_name.may_be_lock(record);
        if let Some(plan) = self.tokens.filter(|_| lock) {
            self.inspection_bytes += facts.hold(record, plan, &mut self.buffers);
        }
        if let Some(timing) = self.timing {
            self.timing_bytes += time(facts, &mut self.seconds, record, timing);
            if timing.is_too_much(self.tree.breadth()) {
                self.trim_samples();
            }
        }
        if let Some(ids) = &self.ids
            && ids.most > MIN_IDS
            && ids.most.saturating_mul(self.tree.breadth()) > IDS
        {
            self.trim_samples();
        }
        if let Some(plan) = self.tokens.filter(|_| lock)
            && plan.most > MIN_TOKENS
            && plan.most.saturating_mul(self.tree.breadth()) > TOKENS
        {
            self.trim_samples();
        }
    }

    /// Fast path of [`PatternStats::observe_at`] for usual keys; returns false without counting the key if it may become an
    /// example. Requires [`PatternStats::takes_usual`].
    ///
    /// The first key of each pattern may become an example, so the number of patterns does not grow here.
    #[inline]
    pub fn observe_usual(&mut self, record: &Record<'_>, leaf: Leaf, id: &KnownId, judged: &UsualJudged<'_>) -> bool {
        debug_assert!(self.tree.holds(leaf) && self.takes_usual());
        let Some(facts) = self.tree.payload(leaf) else { return false };
        if !facts.observe_usual(record, judged) {
            return false;
        }
        if let Some(ids) = &self.ids {
            self.id_bytes += sample_id(facts, record, id, ids);
        }
        if let Some(timing) = self.timing {
            self.timing_bytes += time(facts, &mut self.seconds, record, timing);
        }
        if judged.lock.is_some_and(|name| name.may_be_lock(record))
            && let Some(plan) = self.tokens
        {
            self.inspection_bytes += facts.hold(record, plan, &mut self.buffers);
        }
        true
    }

    /// Returns whether [`PatternStats::observe_usual`] may be called: values are not looked at.
    pub fn takes_usual(&self) -> bool {
        self.inspection.is_none()
    }

    /// Drops expiries and ids beyond the cap for the current number of patterns.
    #[cold]
    fn trim_samples(&mut self) {
        if let Some(plan) = &mut self.tokens {
            plan.most = share(MAX_TOKENS, MIN_TOKENS, TOKENS, self.tree.breadth());
            let most = plan.most;
            self.tree.payloads_mut().for_each(|facts| facts.keep_tokens(most));
        }
        if let Some(ids) = &mut self.ids {
            ids.most = share(MAX_IDS, MIN_IDS, IDS, self.tree.breadth());
            let most = ids.most;
            self.id_bytes = self.tree.payloads_mut().map(|facts| facts.keep_ids(most)).sum();
        }
        if let Some(timing) = &mut self.timing {
            timing.most = ExpiryTiming::share(self.tree.breadth());
            let most = timing.most;
            self.timing_bytes = self.tree.payloads_mut().map(|facts| facts.keep_expiries(most)).sum();
        }
    }

    /// Adds everything that `other` has observed.
    pub fn merge(&mut self, other: Self) {
        self.tree.merge(other.tree);
        if let (Some(seconds), Some(others)) = (&mut self.seconds, &other.seconds) {
            seconds.merge(others);
        }
        self.trim_samples();
        self.inspection_bytes = self.inspection_bytes.saturating_add(other.inspection_bytes);
    }

    /// Assigns all keys observed so far to database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.tree.payloads_mut().for_each(|facts| facts.settle_database(db));
    }

    /// Returns roughly how many heap bytes it takes.
    pub fn heap_bytes(&self) -> usize {
        let samples = self.timing_bytes.saturating_add(self.id_bytes).saturating_add(self.inspection_bytes);
        self.tree.len().saturating_mul(self.place_bytes).saturating_add(samples)
    }

    /// Returns all patterns as a flat list, for rules about patterns.
    pub fn forest(&self) -> Forest<'_> {
        self.forest_with_places().0
    }

    /// Returns [`PatternStats::forest`], and the place of each of its nodes.
    pub fn forest_with_places(&self) -> (Forest<'_>, Vec<PlaceId>) {
        let (forest, places) = finish::forest(&self.tree);
        (Forest { seconds: self.seconds.as_ref().map(SecondCounts::settled), ..forest }, places)
    }

    /// Returns the place of the pattern that a name was counted under.
    pub fn place_of<'n>(&self, name: impl Into<KeyName<'n>>) -> Option<PlaceId> {
        self.tree.place_of(name)
    }

    /// Returns the pattern sections of the report.
    pub fn finish(&self, plan: &PatternsPlan) -> PatternSections {
        finish::sections(&self.tree, plan)
    }
}

/// Records the expiry of a key if it is still to come. Returns the growth of the pattern's sample in heap bytes.
#[inline(always)] // for every key in the fast path
fn time(
    facts: &mut PatternFacts,
    seconds: &mut Option<SecondCounts>,
    record: &Record<'_>,
    timing: ExpiryTiming,
) -> usize {
    let Some(at) = record.expires_at.filter(|&at| at >= timing.reference) else { return 0 };
    if let Some(seconds) = seconds {
        seconds.add(at);
    }
    facts.time(record, at, timing.most)
}

/// Samples the id of a string. Returns the growth in heap bytes.
#[inline(always)] // for every key in the fast path
fn sample_id(facts: &mut PatternFacts, record: &Record<'_>, id: &KnownId, ids: &IdSampling) -> usize {
    if record.kind != Kind::String {
        return 0;
    }
    let place = match id {
        KnownId::At(place) => *place,
        KnownId::Nowhere => return 0,
        KnownId::Unknown => match ids.finder.place(record.key) {
            Some(place) => place,
            None => return 0,
        },
    };
    facts.sample_id(place, record, ids.most)
}

impl ShownNames for PatternStats {
    fn shown(&self, pattern: &PatternBuf, shown: &mut Vec<bool>) {
        self.tree.names_kept(pattern, shown);
    }
}

#[cfg(test)]
mod tests;
