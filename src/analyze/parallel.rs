//! The driver: workers pull batches, read them, and their sums are merged.
//!
//! One batch is alive per worker, and one thread is the same code. The feed keeps its own errors, so that stopping early
//! still leaves everything that was learnt. The one lock is taken between batches, by a worker whose aggregates have
//! outgrown its share of [`limits::AGGREGATE_BYTES`]: it hands them over and starts afresh, which by the aggregates' laws
//! changes nothing but the memory.

use std::mem;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::feed::{Feed, Work};
use super::part::Part;
use super::progress::Progress;
use super::read::{Continue, KnownDatabase, Reading, Tallies, merge_tallies, read_batch};
use crate::aggregate::Aggregate;
use crate::limits;
use crate::record::Record;

/// What the workers have found: the aggregates over all records, and a tally for each file.
#[derive(Debug)]
pub struct Found<A> {
    /// Over all records.
    pub part: Part<A>,
    /// By position among the inputs.
    pub files: Tallies,
}

impl<A: Aggregate> Found<A> {
    /// Nothing yet.
    pub fn new(empty: A) -> Self {
        Found { part: Part::new(empty), files: Tallies::new() }
    }

    fn merge(mut self, other: Self, wanted: impl Fn(u64) -> bool) -> Self {
        self.part = self.part.join(other.part, wanted);
        merge_tallies(&mut self.files, other.files);
        self
    }

    fn read(&mut self, work: &Work, reading: Reading<'_>, progress: &dyn Progress, empty: impl Fn() -> A) {
        let tally = self.files.entry(work.file.index).or_default();
        let before = tally.keys;
        let part = &mut self.part;
        read_batch(&work.batch, &work.file, reading, tally, |record, known| {
            match known {
                KnownDatabase::Yes => part.observe(record),
                KnownDatabase::No => part.observe_leading(record, &empty),
            }
            Continue::Yes
        });
        progress.keys(tally.keys - before);
    }
}

/// Reads everything on all threads of the current pool.
pub fn read_all<A, F>(feed: &mut Feed<'_>, reading: Reading<'_>, progress: &dyn Progress, empty: F) -> Found<A>
where
    A: Aggregate + Send,
    F: Fn() -> A + Sync,
{
    let wanted = |db| reading.selection.wants_database(db);
    let share = limits::AGGREGATE_BYTES / rayon::current_num_threads().max(1);
    let handed_over = Mutex::new(Found::new(empty()));
    let rest = feed
        .par_bridge()
        .fold(
            || Found::new(empty()),
            |mut found, work| {
                found.read(&work, reading, progress, &empty);
                if found.part.heap_bytes() > share {
                    let full = mem::replace(&mut found, Found::new(empty()));
                    let mut all = handed_over.lock().unwrap_or_else(PoisonError::into_inner);
                    let before = mem::replace(&mut *all, Found::new(empty()));
                    *all = before.merge(full, wanted);
                    found.part.follow(&all.part);
                }
                found
            },
        )
        .reduce(|| Found::new(empty()), |left, right| left.merge(right, wanted));
    handed_over.into_inner().unwrap_or_else(PoisonError::into_inner).merge(rest, wanted)
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
