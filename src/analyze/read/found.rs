//! What a worker has found so far.

use super::feed::Work;
use super::part::Part;
use super::progress::Progress;
use super::reader::{Continue, Reading, read_batch};
use super::schedule::Schedule;
use super::second_pass::Skimmed;
use super::tally::{Tallies, merge_tallies};

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

impl<A: Schedule> Found<A> {
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
