//! All aggregates as one. Adding one is a field, and a line in each of the places where all are named.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::findings::{self, Found};
use super::names::Names;
use super::questions::Questions;
use crate::aggregate::Aggregate;
use crate::aggregate::breakdown::Breakdown;
use crate::aggregate::idle::Usage;
use crate::aggregate::instance::FileInstance;
use crate::aggregate::patterns::{PatternSections, Patterns};
use crate::aggregate::runs::{Runs, Sums};
use crate::aggregate::sizes::Sizes;
use crate::aggregate::slots::Slots;
use crate::aggregate::streams::Streams;
use crate::aggregate::top_keys::TopKeys;
use crate::aggregate::usual::Usual;
use crate::aggregate::violations::Violations;
use crate::aggregate::what_if::{WhatIf, WhatIfSums};
use crate::pattern::slot::{slot_of, slot_of_untagged};
use crate::pattern::tree::{Leaf, TreeLimits};
use crate::policy::{Checks, Judged};
use crate::record::{Kind, Record};
use crate::report;
use crate::units::Bytes;

/// Every aggregate of a report.
#[derive(Debug)]
pub struct Aggregates {
    questions: Arc<Questions>,
    names: Names,
    judged: Judged,
    sums: Runs<Sums>,
    breakdown: Breakdown,
    sizes: Sizes,
    top_keys: TopKeys,
    usage: Usage,
    slots: Slots,
    /// Slots are left out.
    skims: bool,
    streams: Streams,
    violations: Violations,
    patterns: Patterns,
    what_if: WhatIf,
    usual: Usual,
    /// Nobody has to look at every key.
    takes_usual: bool,
}

/// The sections of a report that come from aggregates.
#[derive(Debug)]
#[allow(missing_docs)]
pub struct Sections {
    pub totals: report::Totals,
    pub databases: Vec<report::Database>,
    pub types: Vec<report::TypeRow>,
    pub big_keys: report::BigKeys,
    pub top: report::Top,
    pub no_ttl: report::NoTtl,
    pub expiry: report::Expiry,
    pub naming: report::Naming,
    pub findings: report::Findings,
    pub prefixes: report::Prefixes,
    pub patterns: report::Patterns,
    pub patterns_strict: bool,
    pub idle: Option<report::Idle>,
    pub freq: Option<report::Freq>,
    pub slots: Option<report::Slots>,
    pub instances: Vec<FileInstance>,
    pub streams: Option<report::Streams>,
    pub what_if: Option<WhatIfSums>,
    pub what_if_patterns: Vec<report::WhatIfPattern>,
}

impl Aggregates {
    /// All aggregates, without a key.
    pub fn new(questions: &Arc<Questions>) -> Self {
        let top = questions.top;
        let patterns = patterns(questions);
        Aggregates {
            questions: Arc::clone(questions),
            names: Names::new(questions),
            judged: Judged::default(),
            sums: Runs::new(questions.reference, questions.slotted, Sums::new(questions.reference)),
            breakdown: Breakdown::new(),
            sizes: Sizes::new(questions.big, top),
            top_keys: TopKeys::new(top),
            usage: Usage::new(),
            slots: Slots::new(top),
            skims: false,
            streams: Streams::new(top),
            violations: Violations::new(&questions.checks),
            takes_usual: patterns.takes_usual() && questions.alternatives == 0,
            usual: Usual::default(),
            patterns,
            what_if: WhatIf::new(questions.alternatives),
        }
    }

    /// Whether the report will tell of slots, so that those which were left out have to be added; `by_slot` says that a dump is of a
    /// cluster's node.
    pub fn tells_of_slots(&self, by_slot: bool) -> bool {
        by_slot || self.questions.tagged.load(Ordering::Relaxed)
    }

    /// Takes into account what every aggregate makes of a key; `judged` is about it.
    #[inline(never)]
    fn observe_closely(&mut self, record: &Record<'_>, leaf: Leaf, tagged: bool) {
        if !self.sums.go_on(record) {
            self.hand_over_usual();
        }
        self.sums.observe(record);
        self.breakdown.observe(record);
        self.sizes.observe(record);
        self.top_keys.observe(record);
        self.usage.observe(record);
        if !self.skims {
            self.count_slot(record, tagged);
        }
        self.streams.observe(record);
        self.violations.observe(record, &self.judged, &self.questions.checks);
        self.patterns.observe_at(record, leaf, &self.judged);
        self.what_if.observe(record);
    }

    fn count_slot(&mut self, record: &Record<'_>, tagged: bool) {
        let slot = if tagged { slot_of(record.key) } else { slot_of_untagged(record.key) };
        self.slots.observe_at(record, slot, tagged);
        self.sums.count_slot(record, slot);
    }

    /// Gives usual keys to the aggregates that have not been told of them: before anybody asks these, and before the run ends
    /// that the keys belong to.
    fn hand_over_usual(&mut self) {
        let Aggregates { usual, sums, breakdown, violations, .. } = self;
        usual.hand_over(
            |keys| {
                sums.add_usual(&keys);
                breakdown.add_usual(&keys);
            },
            |rules, keys| violations.add_usual(rules, keys),
        );
    }

    /// Adds the slots that were left out: those of other keys.
    pub fn add_slots(&mut self, slots: Slots) {
        self.slots.merge(slots);
    }

    /// The sections of the report, and the patterns that they were made from; `cluster` says that the dump is of a cluster's
    /// node.
    pub fn finish(mut self, cluster: bool) -> (Sections, Patterns) {
        self.hand_over_usual();
        let questions = self.questions;
        let Sums { totals, databases, expiry, instance } = self.sums.finish();
        let totals = totals.finish();
        let PatternSections { prefixes, patterns, no_ttl_patterns, broken, worst, what_if, strict } =
            self.patterns.finish(&questions.patterns);
        let forest = self.patterns.forest();
        let Found { findings, naming } = findings::found(
            &questions.checks,
            &questions.classifier,
            &self.violations,
            broken,
            worst,
            &forest,
            questions.top,
        );
        let (idle, freq) = self.usage.finish();
        let sections = Sections {
            no_ttl: no_ttl(&totals, no_ttl_patterns),
            totals,
            databases: databases.finish(),
            types: self.breakdown.finish(),
            big_keys: self.sizes.finish(),
            top: self.top_keys.finish(),
            expiry: expiry.finish(),
            naming,
            findings,
            prefixes,
            patterns,
            patterns_strict: strict,
            idle,
            freq,
            slots: self.slots.finish(cluster),
            instances: instance.finish(),
            streams: self.streams.finish(),
            what_if: self.what_if.finish(),
            what_if_patterns: what_if,
        };
        (sections, self.patterns)
    }
}

/// Whether a key enters no list of keys by size and breaks no rule about sizes. If it is, learns what like keys may have.
#[inline(never)]
fn is_usual_size(record: &Record<'_>, checks: &Checks, sizes: &Sizes, top_keys: &TopKeys, usual: &mut Usual) -> bool {
    let is_listed = matches!(record.kind, Kind::Stream | Kind::Module) || top_keys.takes(record);
    if is_listed || sizes.counts(record) || checks.concern_size(record) {
        return false;
    }
    let above = |(length, Bytes(memory)): (u64, Bytes)| (length.saturating_add(1), Bytes(memory.saturating_add(1)));
    let limits =
        [above(sizes.allowed(record.kind)), above(checks.least_sizes(record.kind)), top_keys.least(record.kind)];
    let least = |(length, memory): (u64, Bytes), limit: (u64, Bytes)| (length.min(limit.0), memory.min(limit.1));
    let (length, memory) = limits.into_iter().fold((u64::MAX, Bytes(u64::MAX)), least);
    usual.learn(record, length, memory);
    true
}

fn patterns(questions: &Questions) -> Patterns {
    let patterns = Patterns::new(TreeLimits::default(), questions.alternatives);
    let patterns = patterns.sharing(&questions.varied).inspecting(questions.inspection.clone());
    match questions.reference.filter(|_| questions.checks.wants_expiries()) {
        Some(reference) => patterns.keeping_expiries(reference),
        None => patterns,
    }
}

fn no_ttl(totals: &report::Totals, patterns: Vec<report::PatternWeight>) -> report::NoTtl {
    let report::Weight { keys, memory } = totals.without_ttl;
    let share = if totals.keys == 0 { 0.0 } else { keys as f64 / totals.keys as f64 };
    report::NoTtl { keys, memory, share, patterns }
}

impl Aggregate for Aggregates {
    fn observe(&mut self, record: &Record<'_>) {
        let questions = &*self.questions;
        let name = self.names.know(record.key, questions, &mut self.patterns);
        let (leaf, tagged) = (name.leaf, name.tagged);
        if tagged && !questions.tagged.load(Ordering::Relaxed) {
            questions.tagged.store(true, Ordering::Relaxed);
        }
        if self.takes_usual
            && let Some(rules) = questions.checks.follow(record.kind, record.expires_at.is_some(), name.judged)
            && self.sums.go_on(record)
            && (self.usual.is_small(record)
                || is_usual_size(record, &questions.checks, &self.sizes, &self.top_keys, &mut self.usual))
            && self.patterns.observe_usual(record, leaf, rules)
        {
            self.usual.add(record, rules, |rules, keys| self.violations.add_usual(rules, keys));
            self.breakdown.count(record);
            self.usage.observe(record);
            self.sums.time(record);
            if !self.skims {
                self.count_slot(record, tagged);
            }
            return;
        }
        questions.checks.judge_named(record, name.judged, &mut self.judged);
        self.observe_closely(record, leaf, tagged);
    }

    fn merge(&mut self, mut other: Self) {
        self.hand_over_usual();
        other.hand_over_usual();
        self.sums.merge(other.sums);
        self.breakdown.merge(other.breakdown);
        self.sizes.merge(other.sizes);
        self.top_keys.merge(other.top_keys);
        self.usage.merge(other.usage);
        self.slots.merge(other.slots);
        self.streams.merge(other.streams);
        self.violations.merge(other.violations);
        self.patterns.merge(other.patterns);
        self.what_if.merge(other.what_if);
    }

    fn share(&mut self, counts: bool) {
        self.patterns.share(counts);
    }

    fn wants_names(&self) -> bool {
        self.patterns.counts_ahead()
    }

    fn foresee(&mut self, record: &Record<'_>) -> bool {
        self.names.foresee(record.key, &self.questions, &mut self.patterns)
    }

    fn has_names(&mut self) {
        self.patterns.has_foreseen();
    }

    fn can_skim(&self) -> bool {
        !self.questions.slotted && !self.questions.tagged.load(Ordering::Relaxed)
    }

    fn skim(&mut self, on: bool) {
        self.skims = on;
    }

    fn heap_bytes(&self) -> usize {
        let (run, sums) = self.sums.heap_bytes();
        self.patterns.heap_bytes() + run + sums.instance.heap_bytes()
    }

    fn settle_database(&mut self, db: u64) {
        self.hand_over_usual();
        self.sums.settle_database(db);
        self.breakdown.settle_database(db);
        self.sizes.settle_database(db);
        self.top_keys.settle_database(db);
        self.usage.settle_database(db);
        self.slots.settle_database(db);
        self.streams.settle_database(db);
        self.patterns.settle_database(db);
        self.what_if.settle_database(db);
    }
}

#[cfg(test)]
mod tests;
