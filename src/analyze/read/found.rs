//! Results that a worker has collected.

use super::feed::FileBatch;
use super::part::FilePart;
use super::progress::Progress;
use super::reader::{Continue, ReadOptions, read_batch};
use super::schedule::Schedule;
use super::second_pass::DeferredRange;
use super::tally::{Tallies, merge_tallies};

/// Aggregates over all records that a worker has read, and a tally for each file.
#[derive(Debug)]
pub struct Collected<A> {
    /// Aggregates over all records.
    pub part: FilePart<A>,
    /// Tallies by position among the inputs.
    pub files: Tallies,
    /// Ranges whose slots were deferred to a second pass.
    pub deferred: Vec<DeferredRange>,
}

impl<A: Schedule> Collected<A> {
    /// Creates an empty collection.
    pub fn new(empty: A) -> Self {
        Collected { part: FilePart::new(empty), files: Tallies::new(), deferred: Vec::new() }
    }

    pub(super) fn merge(mut self, other: Self, wanted: impl Fn(u64) -> bool) -> Self {
        self.part = self.part.join(other.part, wanted);
        merge_tallies(&mut self.files, other.files);
        self.deferred.extend(other.deferred);
        self
    }

    pub(super) fn read(
        &mut self,
        work: &FileBatch,
        reading: ReadOptions<'_>,
        progress: &dyn Progress,
        empty: impl Fn() -> A,
    ) {
        let tally = self.files.entry(work.file.index).or_default();
        let before = tally.keys;
        let part = &mut self.part;
        part.defer(work.defers);
        read_batch(&work.batch, &work.file, reading, tally, |record, known| {
            part.take(record, known, &empty);
            Continue::Yes
        });
        part.defer(false);
        progress.keys(tally.keys - before);
    }
}
