//! The command `analyze`: one report on one snapshot.

use std::collections::{BTreeMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::aggregates::Aggregates;
use super::assemble::{self, FirstFile, templates};
use super::outcome::FileOutcome;
use super::plan::{Plan, ReadPlan, SlotCounts};
use super::questions::{LoadedPolicy, Questions, questions};
use super::read::found::Collected;
use super::read::parallel::{pool, read_all, read_in_order};
use super::read::progress::{Progress, check_cancelled};
use super::read::reader::ReadOptions;
use super::read::second_pass::{DeferredRange, DeferredStart, read_again};
use super::read::snapshot::{FileFacts, Snapshot};
use super::verdict::{self, FileVerdict};
use crate::aggregate::slots::SlotStats;
use crate::error::Result;
use crate::input::shown_path;
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
    let passed_over = std::mem::take(&mut snapshot.passed_over);
    let files = snapshot.files();
    let heads: Vec<_> = snapshot.heads().map(|(about, file)| (about.header, Arc::clone(file))).collect();
    let whole = snapshot.heads().next().map(|(about, file)| FirstFile::new(about.clone(), &file.model, plan, &heads));
    // The masking key is derived from checksums.
    let Gathered { aggregates, outcomes } = gather(snapshot, plan, &questions, plan.mask.is_some(), progress)?;
    let mut report = assemble::report(plan, whole, aggregates, &files, outcomes, &questions);
    report.warnings.extend(passed_over);
    report.options.inputs = given(inputs, report.source.files.iter().map(|file| file.name.as_str()), &plan.read);
    Ok(report)
}

/// Returns the arguments as given, if they name others than the files: directories, patterns, prefixes of objects.
pub(super) fn given<'a, P: AsRef<Path>>(
    arguments: &[P],
    files: impl Iterator<Item = &'a str>,
    plan: &ReadPlan,
) -> Vec<String> {
    let names: HashSet<&str> = files.collect();
    let given: Vec<String> = arguments.iter().map(|argument| plan.shown(shown_path(argument.as_ref()))).collect();
    let are_files = given.iter().all(|argument| argument == "-" || names.contains(argument.as_str()));
    if are_files { Vec::new() } else { given }
}

/// All that was read of the files of a run.
pub(super) struct Gathered {
    /// Aggregates over all keys, without templates.
    pub aggregates: Aggregates,
    /// Results by file, in the order of the inputs.
    pub outcomes: Vec<FileOutcome>,
}

/// Reads all keys of a snapshot. With `sums` checksums are computed even if they are not verified.
pub(super) fn gather(
    mut snapshot: Snapshot,
    plan: &Plan,
    questions: &Arc<Questions>,
    sums: bool,
    progress: &dyn Progress,
) -> Result<Gathered> {
    let files = snapshot.files();
    if let Some(factor) = near_compact_limit::factor(&questions.checks.policy) {
        snapshot.raise_limits(factor);
    }
    let mut reading = snapshot.reading(&plan.read);
    let verify = reading.checksum;
    reading.checksum |= sums;
    let threads = pool(plan.read.threads)?;
    let empty = || Aggregates::new(questions);
    let mut starts = Vec::new();
    let (mut found, endings) = match plan.read.limit {
        None => {
            let mut feed = snapshot.feed(threads.current_num_threads(), progress);
            let found = threads.install(|| read_all(&mut feed, plan.read.division, reading, progress, empty));
            starts = feed.take_deferred();
            (found, feed.into_endings()?)
        }
        Some(limit) => {
            let mut feed = snapshot.feed(1, progress);
            let mut found = Collected::new(empty());
            let part = &mut found.part;
            found.files = read_in_order(&mut feed, reading, Some(limit), progress, |record, _| part.observe(record));
            (found, feed.into_endings()?)
        }
    };
    check_cancelled(progress)?;
    let wanted = |db| plan.read.selection.wants_database(db);
    let mut aggregates = found.part.finish(FIRST_DATABASE, empty, wanted);
    let slots_wanted = plan.slots == SlotCounts::Always || by_slot(&endings);
    let deferred = DeferredSlots { ranges: &found.deferred, starts: &starts };
    if deferred.bytes() > 0 && aggregates.needs_slots(slots_wanted) {
        progress.read_again(deferred.bytes());
        aggregates.add_slots(threads.install(|| deferred.count(reading, plan.top)));
    }
    let mut templates = templates::of_files(&files, aggregates.take_templates());
    let mut checksums: BTreeMap<usize, u64> = BTreeMap::new();
    if reading.checksum {
        checksums.extend(found.files.iter_mut().map(|(file, tally)| (*file, tally.checksum())));
    }
    let mut heads = snapshot.facts.iter().map(FileFacts::head).collect::<Vec<_>>().into_iter();
    let verdicts = verdict::verdicts(snapshot.facts, endings, found.files, verify);
    let verdicts = verdicts.into_iter().map(FileVerdict::with_keys_compared);
    let outcome = |(number, verdict): (usize, FileVerdict)| {
        let (position, head) = heads.next().flatten().map_or((number, None), |(at, head)| (at, Some(head)));
        FileOutcome {
            head,
            checksum: checksums.get(&position).copied(),
            templates: templates.remove(&position).unwrap_or_default(),
            ..FileOutcome::new(position, verdict)
        }
    };
    Ok(Gathered { aggregates, outcomes: verdicts.enumerate().map(outcome).collect() })
}

/// Returns whether any of the files was written by a cluster node.
fn by_slot(endings: &[(usize, Result<FileEnding>)]) -> bool {
    endings.iter().filter_map(|(_, ending)| ending.as_ref().ok()).any(|ending| ending.about.by_slot)
}

/// Parts that the first pass has read without their slots.
struct DeferredSlots<'r> {
    ranges: &'r [DeferredRange],
    starts: &'r [DeferredStart],
}

impl DeferredSlots<'_> {
    /// Returns the bytes to be read again.
    fn bytes(&self) -> u64 {
        let of_ranges = self.ranges.iter().map(DeferredRange::bytes).sum::<u64>();
        of_ranges + self.starts.iter().map(DeferredStart::bytes).sum::<u64>()
    }

    /// Counts keys and memory by slot.
    fn count(&self, reading: ReadOptions<'_>, top: usize) -> SlotStats {
        let empty = || SlotStats::new(top);
        let see = |slots: &mut SlotStats, record: &Record<'_>| {
            slots.observe_at(record, slot_of(record.key), has_tag(record.key));
        };
        let of_starts = self.starts.par_iter().flat_map(|start| start.read_again(reading, empty, see));
        read_again(self.ranges, reading, empty, see).chain(of_starts).reduce(empty, |mut one, other| {
            one.merge(other);
            one
        })
    }
}
