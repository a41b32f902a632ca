//! All aggregates as one. Adding one is a field, and a line in each of the places where all are named.

use std::sync::Arc;

use crate::aggregate::Aggregate;
use crate::aggregate::breakdown::Breakdown;
use crate::aggregate::databases::Databases;
use crate::aggregate::expiry::Expiry;
use crate::aggregate::idle::Usage;
use crate::aggregate::instance::{FileInstance, Instance};
use crate::aggregate::naming::Naming;
use crate::aggregate::patterns::{PatternSections, Patterns, PatternsPlan};
use crate::aggregate::sizes::Sizes;
use crate::aggregate::slots::Slots;
use crate::aggregate::streams::Streams;
use crate::aggregate::top_keys::TopKeys;
use crate::aggregate::totals::Totals;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::slot::{has_tag, slot_of};
use crate::pattern::tree::TreeLimits;
use crate::policy::KeyRules;
use crate::record::Record;
use crate::report::{self, BigRules};
use crate::units::Millis;

/// What all aggregates of a run are made from.
#[derive(Debug)]
pub struct Questions {
    /// Names to patterns.
    pub classifier: Classifier,
    /// What names are held against.
    pub rules: KeyRules,
    /// What counts as big.
    pub big: BigRules,
    /// What expiries are held against.
    pub reference: Option<Millis>,
    /// Rows in each list.
    pub top: usize,
    /// Whether a server that is computed for is a cluster's node: keys are counted by slot, then.
    pub slotted: bool,
    /// How the tree of names is cut.
    pub patterns: PatternsPlan,
}

/// Every aggregate of a report.
#[derive(Debug)]
pub struct Aggregates {
    questions: Arc<Questions>,
    pattern: PatternBuf,
    totals: Totals,
    databases: Databases,
    breakdown: Breakdown,
    sizes: Sizes,
    top_keys: TopKeys,
    expiry: Expiry,
    usage: Usage,
    slots: Slots,
    instance: Instance,
    streams: Streams,
    naming: Naming,
    patterns: Patterns,
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
    pub prefixes: report::Prefixes,
    pub patterns: report::Patterns,
    pub patterns_strict: bool,
    pub idle: Option<report::Idle>,
    pub freq: Option<report::Freq>,
    pub slots: Option<report::Slots>,
    pub instances: Vec<FileInstance>,
    pub streams: Option<report::Streams>,
}

impl Aggregates {
    /// All aggregates, without a key.
    pub fn new(questions: &Arc<Questions>) -> Self {
        let top = questions.top;
        Aggregates {
            questions: Arc::clone(questions),
            pattern: PatternBuf::default(),
            totals: Totals::new(questions.reference),
            databases: Databases::new(questions.reference),
            breakdown: Breakdown::new(),
            sizes: Sizes::new(questions.big, top),
            top_keys: TopKeys::new(top),
            expiry: Expiry::new(questions.reference),
            usage: Usage::new(),
            slots: Slots::new(top),
            instance: Instance::new(questions.slotted),
            streams: Streams::new(top),
            naming: Naming::new(&questions.rules),
            patterns: Patterns::new(TreeLimits::default()),
        }
    }

    /// The sections of the report; `cluster` says that the dump is of a cluster's node.
    pub fn finish(self, cluster: bool) -> Sections {
        let questions = self.questions;
        let totals = self.totals.finish();
        let PatternSections { prefixes, patterns, no_ttl_patterns, broken, strict } =
            self.patterns.finish(&questions.patterns);
        let (idle, freq) = self.usage.finish();
        Sections {
            no_ttl: no_ttl(&totals, no_ttl_patterns),
            totals,
            databases: self.databases.finish(),
            types: self.breakdown.finish(),
            big_keys: self.sizes.finish(),
            top: self.top_keys.finish(),
            expiry: self.expiry.finish(),
            naming: self.naming.finish(&questions.rules, broken),
            prefixes,
            patterns,
            patterns_strict: strict,
            idle,
            freq,
            slots: self.slots.finish(cluster),
            instances: self.instance.finish(),
            streams: self.streams.finish(),
        }
    }
}

fn no_ttl(totals: &report::Totals, patterns: Vec<report::PatternWeight>) -> report::NoTtl {
    let report::Weight { keys, memory } = totals.without_ttl;
    let share = if totals.keys == 0 { 0.0 } else { keys as f64 / totals.keys as f64 };
    report::NoTtl { keys, memory, share, patterns }
}

impl Aggregate for Aggregates {
    fn observe(&mut self, record: &Record<'_>) {
        let broken = self.questions.rules.broken(record.key);
        self.questions.classifier.classify(record.key, &mut self.pattern);
        self.totals.observe(record);
        self.databases.observe(record);
        self.breakdown.observe(record);
        self.sizes.observe(record);
        self.top_keys.observe(record);
        self.expiry.observe(record);
        self.usage.observe(record);
        let slot = slot_of(record.key);
        self.slots.observe_at(record, slot, has_tag(record.key));
        self.instance.observe_at(record, slot);
        self.streams.observe(record);
        self.naming.observe_broken(record, broken);
        self.patterns.observe(record, &self.pattern, broken);
    }

    fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.databases.merge(other.databases);
        self.breakdown.merge(other.breakdown);
        self.sizes.merge(other.sizes);
        self.top_keys.merge(other.top_keys);
        self.expiry.merge(other.expiry);
        self.usage.merge(other.usage);
        self.slots.merge(other.slots);
        self.instance.merge(other.instance);
        self.streams.merge(other.streams);
        self.naming.merge(other.naming);
        self.patterns.merge(other.patterns);
    }

    fn follow(&mut self, other: &Self) {
        self.patterns.follow(&other.patterns);
    }

    fn heap_bytes(&self) -> usize {
        self.patterns.heap_bytes() + self.instance.heap_bytes()
    }

    fn settle_database(&mut self, db: u64) {
        self.totals.settle_database(db);
        self.databases.settle_database(db);
        self.breakdown.settle_database(db);
        self.sizes.settle_database(db);
        self.top_keys.settle_database(db);
        self.expiry.settle_database(db);
        self.usage.settle_database(db);
        self.slots.settle_database(db);
        self.instance.settle_database(db);
        self.streams.settle_database(db);
        self.patterns.settle_database(db);
    }
}
