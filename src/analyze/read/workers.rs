//! Shared state of the workers of a run, and the loop that each of them runs.
//!
//! A mapped file is read in chunks ([`chunk_list`](super::chunk_list)): an idle worker guesses a record boundary in the longest
//! chunk and reads its second half at once, as long as a processor is free. A small file is read by one worker. Other inputs
//! come as batches of a feed, which one worker at a time cuts off. A single worker runs the same code and never guesses.
//!
//! Locks are taken between quanta and batches only. A worker whose aggregates exceed its share of
//! [`limits::AGGREGATE_BYTES`] hands them over ([`hand_over`](super::hand_over)). Those of a chunk cannot be handed over before
//! the chunk is confirmed; when all of them together exceed [`limits::CHUNKS_BYTES`], files are no longer divided, and the
//! last chunks are discarded.

use std::collections::VecDeque;
use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::chunk::{self, ChunkFacts, ChunkResult};
use super::chunk_list::{BoundarySearch, ChunkClaim, ChunkEnd, ChunkList, DivisionCounts, JoinStep, NextStep};
use super::division::Division;
use super::feed::{Feed, FileBatch};
use super::file::MappedFile;
use super::found::Collected;
use super::hand_over::HandOver;
use super::part::FilePart;
use super::progress::Progress;
use super::reader::ReadOptions;
use super::schedule::Schedule;
use crate::limits;
use crate::rdb::batch::FileEnding;

/// The workers of a run, and the state they share.
pub(super) struct Workers<'c, 'f, A, F> {
    queue: Mutex<FileQueue<A>>,
    /// Wakes waiting workers when work was added or the queue is finished.
    changed: Condvar,
    /// Batches of inputs that are not mapped.
    feed: Mutex<&'c mut Feed<'f>>,
    /// Aggregates that exceeded their worker's share.
    handed_over: HandOver<A>,
    division: Division,
    reading: ReadOptions<'c>,
    progress: &'c dyn Progress,
    empty: &'c F,
}

/// The mapped files of a run.
struct FileQueue<A> {
    waiting: VecDeque<MappedFile>,
    files: Vec<FileInProgress<A>>,
    /// By position among the inputs.
    endings: Vec<(usize, FileEnding)>,
    /// Workers waiting for work.
    idle: usize,
    /// Workers reading a chunk or searching for a boundary.
    busy: usize,
}

/// A file that is being read.
struct FileInProgress<A> {
    mapped: MappedFile,
    chunks: ChunkList<ChunkResult<A>>,
}

/// A unit of work.
enum Task {
    Small(MappedFile),
    Chunk(MappedFile, ChunkClaim),
    Batch(FileBatch),
}

impl<A> FileQueue<A> {
    fn chunks(&mut self, mapped: &MappedFile) -> Option<&mut ChunkList<ChunkResult<A>>> {
        let index = mapped.file.index;
        self.files.iter_mut().find(|file| file.mapped.file.index == index).map(|file| &mut file.chunks)
    }

    /// Divides the longest chunk of all files, if there is memory for one more reader.
    fn divide(&mut self) -> Option<(MappedFile, BoundarySearch)> {
        if self.held() > limits::CHUNKS_BYTES / 2 {
            return None;
        }
        let longest = self.files.iter_mut().max_by_key(|file| file.chunks.share_left())?;
        longest.chunks.divide().map(|search| (longest.mapped.clone(), search))
    }

    fn held(&self) -> usize {
        self.files.iter().map(|file| file.chunks.held()).sum()
    }

    fn end(&mut self, mapped: &MappedFile, ending: FileEnding) {
        self.files.retain(|file| file.mapped.file.index != mapped.file.index);
        self.endings.push((mapped.file.index, ending));
    }
}

impl<'c, 'f, A, F> Workers<'c, 'f, A, F>
where
    A: Schedule + Send,
    F: Fn() -> A + Sync,
{
    /// Creates the workers for the files of a feed, none of which has been begun.
    pub fn new(
        feed: &'c mut Feed<'f>,
        division: Division,
        reading: ReadOptions<'c>,
        progress: &'c dyn Progress,
        empty: &'c F,
    ) -> Self {
        let waiting = feed.take_mapped().into();
        Workers {
            queue: Mutex::new(FileQueue { waiting, files: Vec::new(), endings: Vec::new(), idle: 0, busy: 0 }),
            changed: Condvar::new(),
            feed: Mutex::new(feed),
            handed_over: HandOver::new(empty()),
            division,
            reading,
            progress,
            empty,
        }
    }

    /// Returns what was handed over and how the mapped files ended, after all workers are done.
    pub fn into_rest(self) -> (Collected<A>, Vec<(usize, FileEnding)>) {
        let queue = self.queue.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.handed_over.into_all(), queue.endings)
    }

    /// Runs one worker until no work is left, and returns what it collected.
    pub fn work(&self) -> Collected<A> {
        let share = limits::AGGREGATE_BYTES / rayon::current_num_threads().max(1);
        let mut found = Collected::new((self.empty)());
        let mut keeping = None;
        while let Some(task) = self.next(found.part.can_defer()) {
            match task {
                Task::Small(mapped) => self.read_small(&mapped, &mut found),
                Task::Chunk(mapped, claim) => {
                    self.read_chunk(&mapped, claim, &mut found);
                    self.free_worker(&mut self.queue());
                }
                Task::Batch(work) => found.read(&work, self.reading, self.progress, self.empty),
            }
            // Complete files and batches are confirmed.
            found.part.exchange_hints(true);
            if found.part.heap_bytes() <= share {
                keeping = None;
            } else if keeping.is_none() {
                keeping = self.handed_over.take(&mut found, self.empty, |db| self.wanted(db));
            }
        }
        found
    }

    fn wanted(&self, db: u64) -> bool {
        self.reading.selection.wants_database(db)
    }

    fn queue(&self) -> MutexGuard<'_, FileQueue<A>> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the next unit of work. `can_defer` tells whether slots can be deferred now.
    fn next(&self, can_defer: bool) -> Option<Task> {
        if self.progress.is_cancelled() {
            // No more work will come. The lock keeps a worker from missing this between its check and its wait.
            let _queue = self.queue();
            self.changed.notify_all();
            return None;
        }
        if let Some(task) = self.next_file() {
            return Some(task);
        }
        let batch = self.feed.lock().unwrap_or_else(PoisonError::into_inner).next_batch(can_defer);
        batch.map(Task::Batch).or_else(|| self.next_chunk())
    }

    fn next_file(&self) -> Option<Task> {
        let mut queue = self.queue();
        let mapped = queue.waiting.pop_front()?;
        let (start, end) = (mapped.map.start(), mapped.map.bytes.len());
        // Too small for two halves of the minimum size.
        if end.saturating_sub(start) < self.division.steps.least.saturating_mul(2) {
            return Some(Task::Small(mapped));
        }
        let (chunks, claim) = ChunkList::new(start, end, self.division.steps);
        queue.files.push(FileInProgress { mapped: mapped.clone(), chunks });
        queue.busy += 1;
        self.wake(&queue);
        Some(Task::Chunk(mapped, claim))
    }

    /// Waits for a chunk to divide, and claims its second half; `None` once nothing is left.
    fn next_chunk(&self) -> Option<Task> {
        loop {
            let (mapped, search) = self.wait_for_work()?;
            let start = self.search(&mapped, &search);
            let mut queue = self.queue();
            let claim = queue.chunks(&mapped).and_then(|chunks| match start {
                Some(start) => chunks.begin(&search, start),
                None => {
                    chunks.found_none(&search);
                    None
                }
            });
            match claim {
                Some(claim) => {
                    self.wake(&queue);
                    return Some(Task::Chunk(mapped, claim));
                }
                None => self.free_worker(&mut queue),
            }
        }
    }

    /// Marks this worker as free: it has read its chunk, or found no boundary.
    fn free_worker(&self, queue: &mut FileQueue<A>) {
        queue.busy = queue.busy.saturating_sub(1);
        self.wake(queue);
    }

    /// Wakes waiting workers if there may be work for them.
    fn wake(&self, queue: &FileQueue<A>) {
        if queue.idle > 0 && queue.busy < self.division.readers {
            self.changed.notify_all();
        }
    }

    /// Searches window by window, and gives up once the reader of the chunk has come that far.
    fn search(&self, mapped: &MappedFile, search: &BoundarySearch) -> Option<usize> {
        let range = search.range();
        let windows = range.len().div_ceil(limits::SEARCH_WINDOW).min(limits::MAX_WINDOWS);
        for number in leaping(windows) {
            let from = range.start.saturating_add(number.saturating_mul(limits::SEARCH_WINDOW));
            let to = from.saturating_add(limits::SEARCH_WINDOW).min(range.end);
            // Searching a window that the reader has reached would be wasted; the lock is not held during the search.
            let is_ahead = self.queue().chunks(mapped).is_some_and(|chunks| chunks.is_ahead(search, to));
            let found = if is_ahead { (self.division.find)(mapped, from..to) } else { None };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn wait_for_work(&self) -> Option<(MappedFile, BoundarySearch)> {
        let mut queue = self.queue();
        loop {
            if queue.busy < self.division.readers
                && let Some(found) = queue.divide()
            {
                queue.busy += 1;
                return Some(found);
            }
            // A file in progress may become divisible as its readers advance, so workers wait until all are complete.
            if queue.files.is_empty() || self.progress.is_cancelled() {
                return None;
            }
            queue.idle += 1;
            queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.idle -= 1;
        }
    }

    /// Reads a small file, undivided, straight into the worker's own aggregates.
    fn read_small(&self, mapped: &MappedFile, found: &mut Collected<A>) {
        let (start, end) = (mapped.map.start(), mapped.map.bytes.len());
        let quantum = self.division.steps.quantum;
        let is_wanted = || !self.progress.is_cancelled();
        let next_until = |at: usize, _| is_wanted().then(|| at.saturating_add(quantum).min(end).max(at + 1));
        let facts = chunk::read(mapped, start, &mut found.part, self.reading, self.progress, self.empty, next_until);
        self.end(mapped, facts, found);
    }

    fn read_chunk(&self, mapped: &MappedFile, claim: ChunkClaim, found: &mut Collected<A>) {
        let mut part = FilePart::new((self.empty)());
        let mut arrived = false;
        let next_until = |at, held| match self.next_step(mapped, claim, at, held) {
            NextStep::Until(until) => Some(until),
            NextStep::Arrived => {
                arrived = true;
                None
            }
            NextStep::GiveUp => None,
        };
        let facts = chunk::read(mapped, claim.start, &mut part, self.reading, self.progress, self.empty, next_until);
        let chunk_end = if facts.are_last() {
            ChunkEnd::Ended
        } else if arrived {
            ChunkEnd::Arrived
        } else {
            return;
        };
        if let Some((piece, counts)) = self.hand_in(mapped, claim, chunk_end, ChunkResult { part, facts }) {
            if piece.facts.have_late_templates(mapped) && counts.guesses > 0 {
                self.progress.read_again((mapped.map.bytes.len() - mapped.map.start()) as u64);
                self.read_small(mapped, found);
                self.changed.notify_all();
                return;
            }
            let part = mem::replace(&mut found.part, FilePart::new((self.empty)()));
            found.part = part.join(piece.part, |db| self.wanted(db));
            self.progress.divided(counts);
            self.end(mapped, piece.facts, found);
            self.changed.notify_all();
        }
    }

    /// Records that a file has been read.
    fn end(&self, mapped: &MappedFile, facts: ChunkFacts, found: &mut Collected<A>) {
        let (ending, tally, deferred) = facts.into_ending(mapped);
        found.files.entry(mapped.file.index).or_default().merge(tally);
        found.deferred.extend(deferred);
        self.queue().end(mapped, ending);
    }

    fn next_step(&self, mapped: &MappedFile, claim: ChunkClaim, at: usize, held: usize) -> NextStep {
        if self.progress.is_cancelled() {
            return NextStep::GiveUp;
        }
        let mut queue = self.queue();
        let full = queue.held() > limits::CHUNKS_BYTES;
        let Some(chunks) = queue.chunks(mapped) else { return NextStep::GiveUp };
        if full && chunks.give_back(claim.id) {
            return NextStep::GiveUp;
        }
        let next = chunks.next_step(claim.id, at, held);
        if chunks.share_left().is_some() {
            self.wake(&queue);
        }
        next
    }

    /// Joins a result with its neighbours as far as they are read. Returns it once it covers the whole file.
    fn hand_in(
        &self,
        mapped: &MappedFile,
        claim: ChunkClaim,
        chunk_end: ChunkEnd,
        piece: ChunkResult<A>,
    ) -> Option<(ChunkResult<A>, DivisionCounts)> {
        let mut joint = self.queue().chunks(mapped)?.finish(claim.id, piece.facts.end(), chunk_end, piece);
        loop {
            joint = match joint {
                JoinStep::Join(left, right) => {
                    let joined = left.join(right, |db| self.wanted(db));
                    self.queue().chunks(mapped)?.joined(claim.id, joined)
                }
                JoinStep::Complete(piece) => return Some((piece, self.queue().chunks(mapped)?.counts())),
                JoinStep::Waits | JoinStep::Void => return None,
            };
        }
    }
}

/// Returns the numbers below `count`: first those at distances that double, then the others.
///
/// In a table of millions of elements no record begins nearby, and past it the nearest is as good as any.
fn leaping(count: usize) -> impl Iterator<Item = usize> {
    let leaps = (1..=count).filter(|number| number.is_power_of_two());
    leaps.chain((1..=count).filter(|number| !number.is_power_of_two())).map(|number| number - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn leaps_leave_nothing_out() {
        assert_eq!(leaping(9).collect::<Vec<_>>(), [0, 1, 3, 7, 2, 4, 5, 6, 8]);
        assert_eq!(leaping(0).count(), 0);
    }
}
