//! The command `analyze`: one report on one snapshot.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::aggregates::Aggregates;
use super::assemble::{self, what_if};
use super::plan::{Plan, SlotCounts};
use super::questions::{LoadedPolicy, questions};
use super::read::found::Collected;
use super::read::parallel::{pool, read_all, read_in_order};
use super::read::progress::Progress;
use super::read::reader::ReadOptions;
use super::read::second_pass::{DeferredRange, read_again};
use super::read::snapshot::Snapshot;
use super::read::tally::FileTally;
use super::verdict;
use crate::aggregate::slots::SlotStats;
use crate::error::Result;
use crate::pattern::slot::{has_tag, slot_of};
use crate::policy::rules::type_::near_compact_limit;
use crate::rdb::batch::{FIRST_DATABASE, FileEnding};
use crate::record::Record;
use crate::report::Report;

/// Reads all inputs as one snapshot and reports on it.
///
/// A damaged input still gives a report on everything before the damage, marked incomplete. Fails only when nothing could be
/// opened, or the plan is wrong.
///
/// ```
/// use rdblens::{Plan, ReadPlan, Unwatched, analyze};
///
/// let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
/// plan.top = 5;
/// let report = analyze(&["testdata/dumps/shop.rdb"], &plan, &Unwatched)?;
/// assert_eq!(report.totals.keys, 5257);
/// assert_eq!(report.top.by_memory.len(), 5);
/// # Ok::<(), rdblens::Error>(())
/// ```
pub fn analyze<P: AsRef<Path>>(inputs: &[P], plan: &Plan, progress: &dyn Progress) -> Result<Report> {
    let standard = LoadedPolicy::load(plan)?;
    let plan = &standard.with_upgrade(plan);
    let mut snapshot = Snapshot::open(inputs, &plan.read, progress)?;
    let questions = Arc::new(questions(plan, standard, &snapshot)?);
    let files = snapshot.files();
    if let Some(factor) = near_compact_limit::factor(&questions.checks.policy) {
        snapshot.raise_limits(factor);
    }
    let mut reading = snapshot.reading(&plan.read);
    let verify = reading.checksum;
    // The masking key is derived from checksums.
    reading.checksum |= plan.mask.is_some();
    let threads = pool(plan.read.threads)?;
    let passed_over = std::mem::take(&mut snapshot.passed_over);
    let empty = || Aggregates::new(&questions);
    let (mut found, endings) = match plan.read.limit {
        None => {
            let mut feed = snapshot.feed(threads.current_num_threads(), progress);
            (threads.install(|| read_all(&mut feed, plan.read.division, reading, progress, empty)), feed.into_endings())
        }
        Some(limit) => {
            let mut feed = snapshot.feed(1, progress);
            let mut found = Collected::new(empty());
            let part = &mut found.part;
            found.files = read_in_order(&mut feed, reading, Some(limit), progress, |record, _| part.observe(record));
            (found, feed.into_endings())
        }
    };
    let wanted = |db| plan.read.selection.wants_database(db);
    let mut aggregates = found.part.finish(FIRST_DATABASE, empty, wanted);
    let slots_wanted = plan.slots == SlotCounts::Always || by_slot(&endings);
    if !found.deferred.is_empty() && aggregates.needs_slots(slots_wanted) {
        progress.read_again(found.deferred.iter().map(DeferredRange::bytes).sum());
        aggregates.add_slots(threads.install(|| slots_of(&found.deferred, reading, plan.top)));
    }
    let whole = snapshot.facts.iter().find_map(|facts| facts.opened.as_ref().ok()).map(|opened| assemble::FirstFile {
        about: opened.preamble.clone(),
        writer: opened.writer,
        model: opened.model.clone(),
        caveats: opened.caveats.clone(),
        what_if: what_if::alternatives(&plan.read, &snapshot.facts),
    });
    let mask = plan.mask.as_ref().map(|key| key.secret(found.files.values_mut().map(FileTally::checksum)));
    let verdicts = verdict::verdicts(snapshot.facts, endings, found.files, verify);
    let mut report = assemble::report(plan, mask, whole, aggregates, &files, verdicts, &questions);
    report.warnings.extend(passed_over);
    Ok(report)
}

/// Returns whether any of the files was written by a cluster node.
fn by_slot(endings: &[(usize, Result<FileEnding>)]) -> bool {
    endings.iter().filter_map(|(_, ending)| ending.as_ref().ok()).any(|ending| ending.about.by_slot)
}

/// Computes the slots that the first pass deferred.
fn slots_of(deferred: &[DeferredRange], reading: ReadOptions<'_>, top: usize) -> SlotStats {
    let see = |slots: &mut SlotStats, record: &Record<'_>| {
        slots.observe_at(record, slot_of(record.key), has_tag(record.key));
    };
    read_again(deferred, reading, || SlotStats::new(top), see).reduce(
        || SlotStats::new(top),
        |mut one, other| {
            one.merge(other);
            one
        },
    )
}
