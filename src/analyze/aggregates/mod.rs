//! Combination of all aggregates of a report.
//!
//! Most keys take the fast path: their sums are collected by type and name, and handed over to the aggregates that add
//! them up later. Aggregates that need nothing but records are listed in `list.rs`; those here share work per key.

mod list;
mod stored;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use list::{EveryKey, UnusualKeys};
pub use stored::StoredAggregates;

use super::findings::{self, KeyFindings};
use super::names::NameCache;
use super::questions::Questions;
use super::read::schedule::Schedule;
use crate::aggregate::Aggregate;
use crate::aggregate::breakdown::TypeStats;
use crate::aggregate::instance::FileInstance;
use crate::aggregate::patterns::{Listed, PatternSections, PatternStats};
use crate::aggregate::runs::Runs;
use crate::aggregate::slots::SlotStats;
use crate::aggregate::strings::{StoredStrings, StringsByFile};
use crate::aggregate::sums::RunStats;
use crate::aggregate::templates::TemplateStats;
use crate::aggregate::usual::{self, UsualBuffer, UsualPlace};
use crate::aggregate::violations::Violations;
use crate::aggregate::what_if::{WhatIfStats, WhatIfSums};
use crate::pattern::slot::{slot_of, slot_of_untagged};
use crate::pattern::tree::{Leaf, TreeLimits};
use crate::policy::content::text;
use crate::policy::evidence::ids::KnownId;
use crate::policy::{Checks, Judged};
use crate::record::{Kind, Record, ValueFacts};
use crate::report::{self, Report, Weight};
use crate::units::Bytes;

/// All aggregates of a report.
#[derive(Debug)]
pub struct Aggregates {
    questions: Arc<Questions>,
    names: NameCache,
    judged: Judged,
    sums: Runs<RunStats>,
    breakdown: TypeStats,
    every_key: EveryKey,
    unusual_keys: UnusualKeys,
    slots: SlotStats,
    /// True if slots are deferred to a second pass.
    defers_slots: bool,
    violations: Violations,
    patterns: PatternStats,
    what_if: WhatIfStats,
    templates: TemplateStats,
    usual: UsualBuffer,
    strings: StringsByFile,
    /// Least length of texts whose compressed size a rule needs.
    text_size: Option<u64>,
    /// True if the fast path may be taken: no aggregate needs details of every key.
    takes_usual: bool,
}

/// Results that fill no field of the report by themselves.
#[derive(Debug)]
pub struct AggregateResults {
    /// Counts that determine the sizes of the servers' tables.
    pub instances: Vec<FileInstance>,
    /// Memory under each alternative.
    pub what_if: Option<WhatIfSums>,
    /// Patterns whose memory changes most under an alternative.
    pub what_if_patterns: Listed<report::WhatIfPattern>,
    /// True if strict mode collapsed crowded levels below the usual limit.
    pub patterns_strict: bool,
    /// True if a file has long texts whose compressed size it does not tell.
    pub sizes_hidden: bool,
    /// Keys that break `ttl.missing`, by position of the file.
    pub without_ttl: BTreeMap<usize, Weight>,
    /// Tree that the sections on patterns were computed from.
    pub patterns: PatternStats,
}

impl Aggregates {
    /// Creates empty aggregates.
    pub fn new(questions: &Arc<Questions>) -> Self {
        let (patterns, references) = (patterns(questions), &questions.references);
        Aggregates {
            questions: Arc::clone(questions),
            names: NameCache::new(questions),
            judged: Judged::default(),
            sums: Runs::new(references.clone(), questions.slotted, RunStats::new(references.report)),
            breakdown: TypeStats::new(),
            every_key: EveryKey::new(questions),
            unusual_keys: UnusualKeys::new(questions),
            slots: SlotStats::new(questions.top),
            defers_slots: false,
            violations: Violations::new(&questions.checks),
            takes_usual: patterns.takes_usual(),
            usual: UsualBuffer::default(),
            strings: StringsByFile::default(),
            text_size: questions.checks.least_text(),
            patterns,
            what_if: WhatIfStats::new(questions.alternatives),
            templates: TemplateStats::default(),
        }
    }

    /// Returns whether the report needs slots, so that deferred ones must be added. `wanted` is set if it needs them
    /// whatever the keys are, as for the dump of a cluster node.
    pub fn needs_slots(&self, wanted: bool) -> bool {
        wanted || self.questions.tagged.load(Ordering::Relaxed)
    }

    /// Adds a key to every aggregate, after the rules about it have been checked.
    #[inline(never)]
    fn observe_fully(&mut self, record: &Record<'_>, leaf: Leaf, id: KnownId, tagged: bool) {
        if !self.sums.continues_run(record) {
            self.hand_over_usual();
        }
        self.sums.observe(record);
        self.breakdown.observe(record);
        self.every_key.observe(record);
        self.unusual_keys.observe(record);
        if !self.defers_slots {
            self.count_slot(record, tagged);
        }
        self.violations.observe(record, &self.judged, &self.questions.checks);
        self.patterns.observe_at(record, leaf, id, &self.judged);
        self.what_if.observe(record);
        self.note_plain_text(record);
    }

    /// Notes a long text that is not stored compressed. Only the first of a file needs a look at its bytes.
    fn note_plain_text(&mut self, record: &Record<'_>) {
        let strings = self.strings.of(record.file);
        let StoredStrings { compressed, plain_text } = *strings;
        strings.plain_text |= !compressed
            && !plain_text
            && record.kind == Kind::String
            && self.text_size.is_some_and(|least| record.length.is_some_and(|length| length >= least.max(1)))
            && text::is_text(record);
    }

    fn count_slot(&mut self, record: &Record<'_>, tagged: bool) {
        let slot = if tagged { slot_of(record.key) } else { slot_of_untagged(record.key) };
        self.slots.observe_at(record, slot, tagged);
        self.sums.count_slot(record, slot);
    }

    /// Hands the sums of usual keys over to the aggregates. Must precede reading these, and the end of the keys' run.
    fn hand_over_usual(&mut self) {
        let Aggregates { usual, sums, breakdown, violations, what_if, .. } = self;
        let file = sums.file();
        usual.hand_over(
            |keys| {
                sums.add_usual(&keys);
                breakdown.add_usual(&keys);
                what_if.add_usual(&keys);
            },
            |rules, keys| violations.add_usual(file, rules, keys),
        );
    }

    /// Takes the counts of compact hashes by template, which need facts of the files.
    pub fn take_templates(&mut self) -> TemplateStats {
        std::mem::take(&mut self.templates)
    }

    /// Adds the slots of keys for which they were deferred.
    pub fn add_slots(&mut self, slots: SlotStats) {
        self.slots.merge(slots);
    }

    /// Fills in the sections of the report, and returns the inputs of other sections. `slots_wanted` is set if slots are
    /// reported whatever the keys are, as for the dump of a cluster node.
    /// `first_files` holds for each file the position of the first one of its server.
    pub fn finish(mut self, slots_wanted: bool, first_files: &[usize], report: &mut Report) -> AggregateResults {
        self.hand_over_usual();
        let RunStats { totals, databases, expiry, instance } = self.sums.finish();
        report.totals = totals.finish();
        report.databases = databases.finish();
        report.expiry = expiry.finish();
        report.types = self.breakdown.finish();
        report.slots = self.slots.finish(slots_wanted);
        self.every_key.finish(report);
        self.unusual_keys.finish(report);
        let questions = &self.questions;
        let PatternSections { prefixes, patterns, no_ttl, broken, worst, what_if, cold, strict } =
            self.patterns.finish(&questions.patterns);
        let forest = self.patterns.forest();
        let KeyFindings { findings, naming } = findings::found(questions, &self.violations, broken, worst, &forest);
        report.no_ttl = without_ttl(&report.totals, no_ttl);
        (report.prefixes, report.patterns) = (prefixes, patterns);
        (report.findings, report.naming) = (findings, naming);
        if let Some(idle) = &mut report.idle {
            (idle.parts, idle.distinct_patterns) = (cold.rows, cold.distinct);
            idle.parts.extend(findings::cold_by_owner(&questions.checks, &self.violations));
        }
        AggregateResults {
            instances: instance.finish(first_files),
            what_if: self.what_if.finish(),
            what_if_patterns: what_if,
            patterns_strict: strict,
            sizes_hidden: self.strings.hide_sizes(),
            without_ttl: self.violations.without_ttl,
            patterns: self.patterns,
        }
    }
}

/// Returns whether a key enters no list and violates no rule about sizes. If so, caches the limits for similar keys.
#[inline(never)]
fn is_usual_size(record: &Record<'_>, checks: &Checks, lists: &UnusualKeys, usual: &mut UsualBuffer) -> bool {
    let UnusualKeys { big_keys: sizes, top: top_keys, streams: _ } = lists;
    let is_unusual = matches!(record.kind, Kind::Stream | Kind::Module)
        || record.known_memory().is_none()
        || record.memory.0.max(record.length.unwrap_or(0)).max(record.disk.0) > usual::MAX_SIZE;
    let is_listed = is_unusual || top_keys.takes(record);
    // The limit of payload is that of a rule, so the rule's test precedes the costly look at it.
    if is_listed || checks.exceeds_size_limit(record) || sizes.counts(record) {
        return false;
    }
    let above = |(length, Bytes(memory)): (u64, Bytes)| (length.saturating_add(1), Bytes(memory.saturating_add(1)));
    let least = |one: (u64, Bytes), other: (u64, Bytes)| (one.0.min(other.0), one.1.min(other.1));
    let rules = least(above(sizes.allowed(record.kind)), above(checks.least_size_limits(record.kind)));
    // The heaviest keys are listed by their memory, whatever their content is.
    let (length, memory) = least(rules, top_keys.least(record.kind));
    usual.learn(record, length, memory, rules.1);
    true
}

/// Creates the empty tree of patterns of a run.
pub(super) fn patterns(questions: &Questions) -> PatternStats {
    let patterns = PatternStats::new(TreeLimits::default(), questions.alternatives);
    let patterns = patterns.sharing(&questions.varied).inspecting(questions.inspection.clone());
    let patterns = patterns.sampling_ids(questions.id_finder()).keeping_tokens(questions.checks.token_needs());
    match questions.references.report.filter(|_| questions.checks.wants_expiries()) {
        Some(reference) => patterns.keeping_expiries(reference),
        None => patterns,
    }
}

fn without_ttl(totals: &report::Totals, patterns: Listed<report::PatternWeight>) -> report::NoTtl {
    let report::Weight { keys, memory } = totals.without_ttl;
    let share = if totals.keys == 0 { 0.0 } else { keys as f64 / totals.keys as f64 };
    report::NoTtl { keys, memory, share, distinct_patterns: patterns.distinct, patterns: patterns.rows }
}

impl Aggregate for Aggregates {
    fn observe(&mut self, record: &Record<'_>) {
        self.strings.of(record.file).compressed |= record.value.compressed.is_some();
        self.templates.observe(record);
        let questions = &*self.questions;
        let name = self.names.know(record.key, questions, &mut self.patterns);
        let (leaf, id, tagged) = (name.leaf, name.id, name.tagged);
        // Load first: storing on every tagged key would bounce the cache line between the workers.
        if tagged && !questions.tagged.load(Ordering::Relaxed) {
            questions.tagged.store(true, Ordering::Relaxed);
        }
        let place = UsualPlace::of(record);
        if self.takes_usual
            && !questions.checks.wants_json(record)
            && self.sums.continues_run(record)
            && (self.usual.is_small(record, place)
                || is_usual_size(record, &questions.checks, &self.unusual_keys, &mut self.usual))
            && let Some(judged) =
                questions.checks.judge_usual(record, name.judged, name.plain, &mut self.judged.violations)
            // Last, since it counts the key if it returns true.
            && self.patterns.observe_usual(record, leaf, id, &judged)
        {
            self.usual.add(record, place, judged.broken, |rules, keys| {
                self.violations.add_usual(record.file, rules, keys);
            });
            self.breakdown.count(record);
            self.what_if.observe_others(record);
            self.every_key.observe(record);
            self.sums.add_expiry(record);
            if !self.defers_slots {
                self.count_slot(record, tagged);
            }
            return;
        }
        // Listed keys show the lengths of their elements: their blobs are read once for all lists.
        let is_shown = self.unusual_keys.lists(record);
        let listed = self.unusual_keys.big_keys.allowed_payload();
        let patterns = &mut self.patterns;
        let packed = questions.checks.packed_payload(record, is_shown, listed, |bit| patterns.worst(leaf, bit));
        let is_unread = is_shown && packed.is_none() && record.value.payload.is_none();
        let packed = if is_unread { record.collection_payload() } else { packed };
        let value = packed.map(|payload| ValueFacts { payload: Some(payload), ..*record.value });
        let known = value.as_ref().map(|value| Record { value, ..record.clone() });
        let record = known.as_ref().unwrap_or(record);
        questions.checks.judge_named(record, name.judged, &mut self.judged);
        let id = *id;
        self.observe_fully(record, leaf, id, tagged);
    }

    fn merge(&mut self, mut other: Self) {
        self.hand_over_usual();
        other.hand_over_usual();
        self.sums.merge(other.sums);
        self.breakdown.merge(other.breakdown);
        self.every_key.merge(other.every_key);
        self.unusual_keys.merge(other.unusual_keys);
        self.slots.merge(other.slots);
        self.violations.merge(other.violations);
        self.patterns.merge(other.patterns);
        self.what_if.merge(other.what_if);
        self.templates.merge(other.templates);
        self.strings.merge(other.strings);
    }

    fn settle_database(&mut self, db: u64) {
        self.hand_over_usual();
        self.sums.settle_database(db);
        self.breakdown.settle_database(db);
        self.every_key.settle_database(db);
        self.unusual_keys.settle_database(db);
        self.slots.settle_database(db);
        self.patterns.settle_database(db);
        self.what_if.settle_database(db);
    }
}

impl Schedule for Aggregates {
    fn heap_bytes(&self) -> usize {
        let (run, sums) = self.sums.heap_bytes();
        self.patterns.heap_bytes() + run + sums.instance.heap_bytes() + self.templates.heap_bytes()
    }

    fn exchange_hints(&mut self, confirmed: bool) {
        self.patterns.share(confirmed);
    }

    fn wants_look_ahead(&self) -> bool {
        self.patterns.wants_look_ahead()
    }

    fn look_ahead(&mut self, record: &Record<'_>) -> bool {
        self.names.look_ahead(record.key, &self.questions, &mut self.patterns)
    }

    fn end_look_ahead(&mut self) {
        self.patterns.end_look_ahead();
    }

    fn can_defer(&self) -> bool {
        !self.questions.slotted && !self.questions.tagged.load(Ordering::Relaxed)
    }

    fn defer(&mut self, on: bool) {
        self.defers_slots = on;
    }
}

#[cfg(test)]
mod tests;
