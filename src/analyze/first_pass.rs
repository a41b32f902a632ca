//! First of two passes, for rows that depend on the whole snapshot: the tree of patterns, and the key derived from the
//! snapshot.
//!
//! Both are known only after everything has been read once.

use std::path::Path;

use super::plan::{MaskKey, ReadPlan, cannot_read_twice};
use super::read::parallel::{pool, read_all};
use super::read::progress::{Progress, check_cancelled};
use super::read::schedule::Schedule;
use super::read::snapshot::Snapshot;
use super::read::tally::FileTally;
use crate::aggregate::Aggregate;
use crate::aggregate::patterns::PatternStats;
use crate::error::Result;
use crate::input;
use crate::mask::Secret;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::policy::evidence::ids::KnownId;
use crate::policy::{Checks, Judged, NameJudged};
use crate::rdb::batch::FIRST_DATABASE;
use crate::record::Record;

/// Facts about a snapshot that was read once.
#[derive(Debug)]
pub(super) struct FirstPass {
    /// The tree of all patterns, equal to that of a report on the same keys.
    pub patterns: PatternStats,
    checksums: Vec<u64>,
}

/// Refuses inputs that can be read only once; `flag` is the reason for reading twice.
pub fn require_files<P: AsRef<Path>>(inputs: &[P], flag: &str) -> Result<()> {
    input::read_once(inputs).map_or(Ok(()), |name| Err(cannot_read_twice(&name, flag)))
}

impl FirstPass {
    /// Reads everything once. Ignores damage, which is reported with the rows; fails if a store fails.
    ///
    /// `flag` is the reason for the error if an input can be read only once.
    pub fn read<P: AsRef<Path>>(
        inputs: &[P],
        plan: &ReadPlan,
        classifier: &Classifier,
        checks: &Checks,
        patterns: impl Fn() -> PatternStats + Sync,
        progress: &dyn Progress,
        flag: &str,
    ) -> Result<FirstPass> {
        require_files(inputs, flag)?;
        let mut snapshot = Snapshot::open(inputs, plan, progress)?;
        let mut reading = snapshot.reading(plan);
        reading.checksum = true;
        let threads = pool(plan.threads)?;
        let empty = || PatternsOnly {
            classifier,
            pattern: PatternBuf::default(),
            locks_of: checks.token_needs().map(|_| checks),
            named: NameJudged::default(),
            judged: Judged::default(),
            patterns: patterns(),
        };
        let mut feed = snapshot.feed(threads.current_num_threads(), progress);
        let mut found = threads.install(|| read_all(&mut feed, plan.division, reading, progress, empty));
        check_cancelled(progress)?;
        feed.into_endings()?;
        let checksums = found.files.values_mut().map(FileTally::checksum).collect();
        let names = found.part.finish(FIRST_DATABASE, empty, |db| plan.selection.wants_database(db));
        Ok(FirstPass { patterns: names.patterns, checksums })
    }

    /// Returns the key for masking names.
    pub fn secret(&self, key: &MaskKey) -> Secret {
        key.secret(self.checksums.iter().copied())
    }
}

/// Aggregate that collects patterns only.
struct PatternsOnly<'c> {
    classifier: &'c Classifier,
    pattern: PatternBuf,
    /// Checks that say which keys are locks, if a rule compares their values.
    locks_of: Option<&'c Checks>,
    named: NameJudged,
    /// Names no rule: violations of rules about keys are found while rows are written.
    judged: Judged,
    patterns: PatternStats,
}

impl Aggregate for PatternsOnly<'_> {
    fn observe(&mut self, record: &Record<'_>) {
        let name = self.classifier.read(record.key, &mut self.pattern);
        if let Some(checks) = self.locks_of {
            checks.judge_name(&name, &mut self.named);
            self.judged.matched = self.named.matched();
        }
        let leaf = self.patterns.leaf(name);
        self.patterns.observe_at(record, leaf, KnownId::Unknown, &self.judged);
    }

    fn merge(&mut self, other: Self) {
        self.patterns.merge(other.patterns);
    }

    fn settle_database(&mut self, db: u64) {
        self.patterns.settle_database(db);
    }
}

impl Schedule for PatternsOnly<'_> {
    fn heap_bytes(&self) -> usize {
        self.patterns.heap_bytes()
    }

    fn exchange_hints(&mut self, confirmed: bool) {
        self.patterns.share(confirmed);
    }
}
