//! The driver: workers read what there is to read, and their sums are merged.
//!
//! What the workers do is in `crew.rs`.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread::available_parallelism;

use rayon::prelude::*;

use super::crew::Crew;
use super::feed::{Feed, Work};
use super::line::Steps;
use super::part::Part;
use super::progress::Progress;
use super::read::{Continue, Reading, Tallies, merge_tallies, read_batch};
use super::skimmed::Skimmed;
use super::stretch::Whole;
use crate::aggregate::Aggregate;
use crate::limits;
use crate::rdb::boundary;
use crate::record::Record;

/// What the workers have found: the aggregates over all records, and a tally for each file.
#[derive(Debug)]
pub struct Found<A> {
    /// Over all records.
    pub part: Part<A>,
    /// By position among the inputs.
    pub files: Tallies,
    /// What was only skimmed.
    pub skimmed: Vec<Skimmed>,
}

impl<A: Aggregate> Found<A> {
    /// Nothing yet.
    pub fn new(empty: A) -> Self {
        Found { part: Part::new(empty), files: Tallies::new(), skimmed: Vec::new() }
    }

    pub(super) fn merge(mut self, other: Self, wanted: impl Fn(u64) -> bool) -> Self {
        self.part = self.part.join(other.part, wanted);
        merge_tallies(&mut self.files, other.files);
        self.skimmed.extend(other.skimmed);
        self
    }

    pub(super) fn read(&mut self, work: &Work, reading: Reading<'_>, progress: &dyn Progress, empty: impl Fn() -> A) {
        let tally = self.files.entry(work.file.index).or_default();
        let before = tally.keys;
        let part = &mut self.part;
        read_batch(&work.batch, &work.file, reading, tally, |record, known| {
            part.take(record, known, &empty);
            Continue::Yes
        });
        progress.keys(tally.keys - before);
    }
}

/// How mapped files are divided among threads.
#[derive(Debug, Clone, Copy)]
pub struct Division {
    /// How far readers go.
    pub steps: Steps,
    /// Looks in a range of a file's bytes for a place at which a record may begin; it may lie behind the range. What it says is
    /// verified.
    pub find: fn(&Whole, Range<usize>) -> Option<usize>,
    /// With as many readers no file is divided further. What they read may turn out not to count, and more of them than there are
    /// processors would take those from the one that surely does.
    pub readers: usize,
}

impl Default for Division {
    fn default() -> Self {
        Division {
            steps: Steps { quantum: limits::QUANTUM_BYTES, least: limits::LEAST_STRETCH },
            find: |whole, range| boundary::find(&whole.mapped.bytes, whole.header.family, range.start, range.end),
            readers: available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }
}

/// Reads everything on all threads of the current pool.
pub fn read_all<A, F>(
    feed: &mut Feed<'_>,
    division: Division,
    reading: Reading<'_>,
    progress: &dyn Progress,
    empty: F,
) -> Found<A>
where
    A: Aggregate + Send,
    F: Fn() -> A + Sync,
{
    let wanted = |db| reading.selection.wants_database(db);
    let crew = Crew::new(feed, division, reading, progress, &empty);
    let rest = rayon::broadcast(|_| crew.work())
        .into_par_iter()
        .reduce(|| Found::new(empty()), |left, right| left.merge(right, wanted));
    let (handed_over, endings) = crew.into_rest();
    feed.ended(endings);
    handed_over.merge(rest, wanted)
}

/// Reads records one after the other, in file order, and shows them to `see`; `limit` ends it after so many.
pub fn read_in_order(
    feed: &mut Feed<'_>,
    reading: Reading<'_>,
    limit: Option<u64>,
    progress: &dyn Progress,
    mut see: impl FnMut(&Record<'_>, usize),
) -> Tallies {
    let mut files = Tallies::new();
    let mut left = limit.unwrap_or(u64::MAX);
    while left > 0 {
        let Some(work) = feed.next() else { break };
        let tally = files.entry(work.file.index).or_default();
        let before = tally.keys;
        read_batch(&work.batch, &work.file, reading, tally, |record, _| {
            see(record, work.file.index);
            left -= 1;
            if left > 0 { Continue::Yes } else { Continue::No }
        });
        progress.keys(tally.keys - before);
    }
    files
}
