//! From inputs to a report: the pipeline, drawn once.
//!
//! ```text
//!                        ┌ mapped files ─ stretches ─┬─ records ─ Aggregates ─┬─ join ─ finish ─ Report
//! Snapshot::open ─ Feed ─┤                           ├─ … a line a worker …   │
//!                        └ others ─────── batches ───┴─ records ─ Aggregates ─┘
//! ```

mod assemble;
pub mod baseline;
pub mod check;
mod crew;
#[cfg(test)]
pub(crate) mod examples;
pub mod feed;
mod findings;
mod foresight;
pub mod growth;
mod handover;
mod instance;
pub mod line;
pub mod masks;
mod names;
pub mod parallel;
pub mod part;
pub mod plan;
pub mod progress;
pub mod raised;
pub mod read;
pub mod records;
pub mod rows;
pub mod select;
pub mod set;
pub mod skimmed;
pub mod snapshot;
pub mod stretch;
pub mod verdict;
mod what_if;

use std::borrow::Cow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rayon::prelude::*;

pub use plan::{BigLimits, MaskKey, Plan, PolicySource, ReadPlan};
pub use progress::{Progress, Unwatched};
pub use select::Selection;
pub use snapshot::Snapshot;

use crate::aggregate::patterns::{PatternsPlan, RuleBit};
use crate::aggregate::slots::Slots;
use crate::error::{Error, ErrorKind, Result};
use crate::memory::WhatIf;
use crate::pattern::classify::Classifier;
use crate::pattern::segment::Separators;
use crate::pattern::slot::{has_tag, slot_of};
use crate::policy::file::Names;
use crate::policy::rules::memory::upgrade;
use crate::policy::rules::type_::near_compact_limit;
use crate::policy::{self, Checks, Context, Policy};
use crate::rdb::batch::{Ending, FIRST_DATABASE};
use crate::record::Record;
use crate::report::Report;
use crate::units::Millis;
use parallel::{Found, read_all, read_in_order};
use read::{FileTally, Reading};
use set::{Aggregates, Questions};
use skimmed::{Skimmed, read_again};

/// Reads all inputs as one snapshot and reports on it.
///
/// A damaged input still gives the report of what was read before the damage, marked incomplete. Fails only when nothing
/// could be opened, or the plan is wrong.
///
/// ```no_run
/// use rdblens::analyze::{Plan, ReadPlan, Unwatched, analyze};
///
/// let plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
/// let report = analyze(&["dump.rdb"], &plan, &Unwatched)?;
/// println!("{} keys, {} bytes", report.totals.keys, report.totals.memory.0);
/// # Ok::<(), rdblens::error::Error>(())
/// ```
pub fn analyze<P: AsRef<Path>>(inputs: &[P], plan: &Plan, progress: &dyn Progress) -> Result<Report> {
    let standard = Standard::load(plan)?;
    let plan = &standard.with_upgrade(plan);
    let mut snapshot = Snapshot::open(inputs, &plan.read, progress)?;
    let questions = Arc::new(questions(plan, standard, &snapshot)?);
    let files = snapshot.files();
    if let Some(factor) = near_compact_limit::factor(&questions.checks.policy) {
        snapshot.raise_limits(factor);
    }
    let mut reading = snapshot.reading(&plan.read);
    let verify = reading.checksum;
    // A key for masking is made of checksums.
    reading.checksum |= plan.mask.is_some();
    let threads = pool(plan.read.threads)?;
    let empty = || Aggregates::new(&questions);
    let (mut found, endings) = match plan.read.limit {
        None => {
            let mut feed = snapshot.feed(threads.current_num_threads(), progress);
            (threads.install(|| read_all(&mut feed, plan.read.division, reading, progress, empty)), feed.into_endings())
        }
        Some(limit) => {
            let mut feed = snapshot.feed(1, progress);
            let mut found = Found::new(empty());
            let part = &mut found.part;
            found.files = read_in_order(&mut feed, reading, Some(limit), progress, |record, _| part.observe(record));
            (found, feed.into_endings())
        }
    };
    let wanted = |db| plan.read.selection.wants_database(db);
    let mut aggregates = found.part.finish(FIRST_DATABASE, empty, wanted);
    if !found.skimmed.is_empty() && aggregates.tells_of_slots(by_slot(&endings)) {
        progress.read_again(found.skimmed.iter().map(Skimmed::bytes).sum());
        aggregates.add_slots(threads.install(|| slots_of(&found.skimmed, reading, plan.top)));
    }
    let whole = snapshot.facts.iter().find_map(|facts| facts.opened.as_ref().ok()).map(|opened| assemble::Whole {
        about: opened.preamble.clone(),
        writer: opened.writer,
        model: opened.model.clone(),
        caveats: opened.caveats.clone(),
        what_if: what_if::alternatives(&plan.read, &snapshot.facts),
    });
    let mask = plan.mask.as_ref().map(|key| key.secret(found.files.values_mut().map(FileTally::checksum)));
    let verdicts = verdict::verdicts(snapshot.facts, endings, found.files, verify);
    Ok(assemble::report(plan, mask, whole, aggregates, &files, verdicts, &questions))
}

/// Whether a file is that of a cluster's node.
fn by_slot(endings: &[(usize, Result<Ending>)]) -> bool {
    endings.iter().filter_map(|(_, ending)| ending.as_ref().ok()).any(|ending| ending.about.by_slot)
}

/// The slots of records that were only skimmed.
fn slots_of(skimmed: &[Skimmed], reading: Reading<'_>, top: usize) -> Slots {
    let see = |slots: &mut Slots, record: &Record<'_>| {
        slots.observe_at(record, slot_of(record.key), has_tag(record.key));
    };
    read_again(skimmed, reading, || Slots::new(top), see).reduce(
        || Slots::new(top),
        |mut one, other| {
            one.merge(other);
            one
        },
    )
}

/// Shows every selected record to `see`, one after the other in file order, with the name of its file.
///
/// ```no_run
/// use rdblens::analyze::{ReadPlan, for_each_record};
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// let mut lists = 0;
/// for_each_record(&["dump.rdb"], &plan, |record, _file| {
///     lists += u64::from(record.kind == rdblens::record::Kind::List);
/// })?;
/// # Ok::<(), rdblens::error::Error>(())
/// ```
///
/// Fails when a file cannot be read to its end, after the records before have been shown. A value that is damaged inside
/// intact framing is passed over: [`records()`](records::records) tells of those, too.
pub fn for_each_record<P: AsRef<Path>>(
    inputs: &[P],
    plan: &ReadPlan,
    mut see: impl FnMut(&Record<'_>, &str),
) -> Result<()> {
    let mut snapshot = Snapshot::open(inputs, plan, &Unwatched)?;
    let reading = snapshot.reading(plan);
    let names: Vec<String> = snapshot.facts.iter().map(|facts| facts.name.clone()).collect();
    let mut feed = snapshot.feed(1, &Unwatched);
    let tallies = read_in_order(&mut feed, reading, plan.limit, &Unwatched, |record, file| {
        see(record, names.get(file).map_or("", String::as_str));
    });
    let endings = feed.into_endings();
    verdict::verdicts(snapshot.facts, endings, tallies, reading.checksum)
        .into_iter()
        .find_map(|verdict| verdict.fault)
        .map_or(Ok(()), Err)
}

/// The threads that a run works on.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("worker {index}"))
        .build()
        .map_err(|error| Error::new(ErrorKind::Io(std::io::Error::other(error))))
}

fn questions(plan: &Plan, standard: Standard, snapshot: &Snapshot) -> Result<Questions> {
    let mut questions = questions_with(plan, standard, snapshot.reference)?;
    questions.checks.context.model = snapshot.model();
    let models = |file: &Arc<read::File>| {
        file.model.in_cluster() || file.alternatives.iter().any(crate::memory::Model::in_cluster)
    };
    questions.slotted = snapshot.files().iter().any(models);
    Ok(questions)
}

/// All questions of a plan, without a snapshot: what benchmarks and tests of single stages start from. Expiries are held
/// against `reference`.
pub fn questions_of(plan: &Plan, reference: Option<Millis>) -> Result<Questions> {
    questions_with(plan, Standard::load(plan)?, reference)
}

/// The policy of a plan, and what divides the names that it speaks of.
struct Standard {
    policy: Policy,
    separators: Separators,
    classifier: Classifier,
}

impl Standard {
    /// Reads the policy, with the limits that go before its own.
    fn load(plan: &Plan) -> Result<Standard> {
        let separators = Separators::new(&plan.read.separators)?;
        let classifier = Classifier::new(separators.clone());
        let mut policy = plan.policy.load(Names { separators: separators.as_bytes(), classifier: &classifier })?;
        plan.big.lay_over(&mut policy);
        Ok(Standard { policy, separators, classifier })
    }

    /// The plan, and where the policy wants to know what a newer server would take and nobody asks about any other, that
    /// too.
    fn with_upgrade<'p>(&self, plan: &'p Plan) -> Cow<'p, Plan> {
        if !plan.read.what_if.is_empty() || !upgrade::is_in_force(&self.policy) {
            return Cow::Borrowed(plan);
        }
        let mut plan = plan.clone();
        plan.read.what_if.push(WhatIf::newest());
        Cow::Owned(plan)
    }
}

/// All questions of a plan; expiries are held against `reference`.
fn questions_with(plan: &Plan, standard: Standard, reference: Option<Millis>) -> Result<Questions> {
    let Standard { mut policy, separators, classifier } = standard;
    let unread = policy.look_into_values(plan.inspect_values);
    let big = plan.big.over(&policy);
    let config = plan.read.config.clone();
    let context = Context {
        separators: policy::Separators::new(separators.as_bytes()),
        reference,
        now: plan.now,
        maxmemory: plan.read.config.maxmemory(),
        maxmemory_policy: plan.read.config.maxmemory_policy(),
        config,
        earlier: plan.baseline.as_deref().and_then(baseline::earlier),
        ..Context::default()
    };
    let checks = Checks::new(policy, context).map_err(Error::usage)?;
    let rule = |check: &policy::checks::Check<dyn policy::KeyRule>| RuleBit {
        id: check.meta.id,
        severity: check.severity,
        measures: check.meta.unit.is_some(),
        saves: check.rule.tells_saving(),
    };
    let rules = checks.keys.iter().map(rule).collect();
    let patterns = PatternsPlan { top: plan.top, depth: plan.depth, min_share: plan.min_share, rules };
    Ok(Questions {
        inspection: checks.inspection().map(Arc::new),
        separators,
        classifier,
        checks,
        big,
        reference,
        slotted: false,
        tagged: AtomicBool::new(false),
        varied: Arc::default(),
        top: plan.top,
        patterns,
        unread,
        alternatives: plan.read.what_if.len(),
    })
}
