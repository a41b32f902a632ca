//! What a worker has found so far.

use super::feed::FileBatch;
use super::part::FilePart;
use super::progress::Progress;
use super::reader::{Continue, Reading, read_batch};
use super::schedule::Schedule;
use super::second_pass::DeferredRange;
use super::tally::{Tallies, merge_tallies};

/// What the workers have found: the aggregates over all records, and a tally for each file.
#[derive(Debug)]
pub struct Collected<A> {
    /// Over all records.
    pub part: FilePart<A>,
    /// By position among the inputs.
    pub files: Tallies,
    /// What was only skimmed.
    pub skimmed: Vec<DeferredRange>,
}

impl<A: Schedule> Collected<A> {
    /// Nothing yet.
    pub fn new(empty: A) -> Self {
        Collected { part: FilePart::new(empty), files: Tallies::new(), skimmed: Vec::new() }
    }

    pub(super) fn merge(mut self, other: Self, wanted: impl Fn(u64) -> bool) -> Self {
        self.part = self.part.join(other.part, wanted);
        merge_tallies(&mut self.files, other.files);
        self.skimmed.extend(other.skimmed);
        self
    }

    pub(super) fn read(
        &mut self,
        work: &FileBatch,
        reading: Reading<'_>,
        progress: &dyn Progress,
        empty: impl Fn() -> A,
    ) {
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
