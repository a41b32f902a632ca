//! Preparation of masked rows: the tree of patterns, and the key derived from the snapshot.
//!
//! Both are known only after everything has been read once.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::plan::{MaskKey, ReadPlan};
use super::read::parallel::{pool, read_all};
use super::read::progress::Progress;
use super::read::schedule::Schedule;
use super::read::snapshot::Snapshot;
use super::read::tally::FileTally;
use crate::aggregate::Aggregate;
use crate::aggregate::patterns::PatternStats;
use crate::error::{Error, Result};
use crate::input;
use crate::mask::Secret;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::tree::TreeLimits;
use crate::policy::Judged;
use crate::rdb::batch::FIRST_DATABASE;
use crate::record::Record;

/// Patterns of a snapshot, and the key for masking names.
#[derive(Debug)]
pub struct MaskingData {
    /// The tree of all patterns, equal to that of a report on the same keys.
    pub patterns: PatternStats,
    /// Key for masking.
    pub secret: Secret,
}

/// Reads everything once. Ignores damage, which is reported with the rows.
pub fn masks<P: AsRef<Path>>(
    inputs: &[P],
    plan: &ReadPlan,
    key: &MaskKey,
    classifier: &Classifier,
    progress: &dyn Progress,
) -> Result<MaskingData> {
    if let Some(name) = input::read_once(inputs) {
        let what = "rows cannot be masked from standard input or a pipe: the snapshot is read twice";
        return Err(
            Error::usage(format!("{name}: {what}")).with_hint("write it to a file first; `analyze --mask` reads once")
        );
    }
    let mut snapshot = Snapshot::open(inputs, plan, progress)?;
    let mut reading = snapshot.reading(plan);
    reading.checksum = true;
    let threads = pool(plan.threads)?;
    let classifier = Arc::new(classifier.clone());
    let varied = Arc::default();
    let empty = || PatternsOnly::new(&classifier, &varied);
    let mut feed = snapshot.feed(threads.current_num_threads(), progress);
    let mut found = threads.install(|| read_all(&mut feed, plan.division, reading, progress, empty));
    let secret = key.secret(found.files.values_mut().map(FileTally::checksum));
    let names = found.part.finish(FIRST_DATABASE, empty, |db| plan.selection.wants_database(db));
    Ok(MaskingData { patterns: names.patterns, secret })
}

/// Aggregate that collects patterns only.
struct PatternsOnly {
    classifier: Arc<Classifier>,
    pattern: PatternBuf,
    nothing: Judged,
    patterns: PatternStats,
}

impl PatternsOnly {
    fn new(classifier: &Arc<Classifier>, varied: &Arc<AtomicBool>) -> PatternsOnly {
        PatternsOnly {
            classifier: Arc::clone(classifier),
            pattern: PatternBuf::default(),
            nothing: Judged::default(),
            patterns: PatternStats::new(TreeLimits::default(), 0).sharing(varied),
        }
    }
}

impl Aggregate for PatternsOnly {
    fn observe(&mut self, record: &Record<'_>) {
        self.classifier.classify(record.key, &mut self.pattern);
        self.patterns.observe(record, &self.pattern, &self.nothing);
    }

    fn merge(&mut self, other: Self) {
        self.patterns.merge(other.patterns);
    }

    fn settle_database(&mut self, db: u64) {
        self.patterns.settle_database(db);
    }
}

impl Schedule for PatternsOnly {
    fn heap_bytes(&self) -> usize {
        self.patterns.heap_bytes()
    }

    fn exchange_hints(&mut self, confirmed: bool) {
        self.patterns.share(confirmed);
    }
}
