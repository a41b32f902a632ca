//! What the workers of a run share, and what each of them does.
//!
//! A mapped file is read in stretches ([`line`](super::chunk_list)): a worker that finds nothing else to do divides the longest at a
//! place where a record probably begins, and reads the second half at once, as long as there is a processor for it. A small file
//! is read whole. What is not mapped comes as batches of a feed, which one worker at a time cuts off. One worker alone runs the
//! same code, and guesses nothing.
//!
//! Locks are taken between quanta and batches only. A worker whose own aggregates have outgrown its share of
//! [`limits::AGGREGATE_BYTES`] hands them over ([`handover`](super::hand_over)), which by the aggregates' laws changes nothing but
//! the memory. Those of a stretch cannot be handed over before it is known to count; when all of them together outgrow
//! [`limits::CHUNKS_BYTES`], files are divided no more, and the last stretches are given back.

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
use super::reader::Reading;
use super::schedule::Schedule;
use crate::limits;
use crate::rdb::batch::FileEnding;

/// All workers of a run, and what they share.
pub(super) struct Workers<'c, 'f, A, F> {
    board: Mutex<FileQueue<A>>,
    /// There may be something to do for a worker that waits, or nothing any more.
    changed: Condvar,
    /// Batches of what is not mapped.
    feed: Mutex<&'c mut Feed<'f>>,
    /// Aggregates that had outgrown their worker's share.
    handed_over: HandOver<A>,
    division: Division,
    reading: Reading<'c>,
    progress: &'c dyn Progress,
    empty: &'c F,
}

/// The mapped files.
struct FileQueue<A> {
    waiting: VecDeque<MappedFile>,
    lines: Vec<FileInProgress<A>>,
    /// By position among the inputs.
    endings: Vec<(usize, FileEnding)>,
    /// Workers that wait for something to do.
    idle: usize,
    /// Workers that read a stretch, or look for a place where one may begin.
    busy: usize,
}

/// A file that is being read.
struct FileInProgress<A> {
    whole: MappedFile,
    line: ChunkList<ChunkResult<A>>,
}

/// Something for a worker to do.
enum Task {
    Small(MappedFile),
    Chunk(MappedFile, ChunkClaim),
    Batch(FileBatch),
}

impl<A> FileQueue<A> {
    fn line(&mut self, whole: &MappedFile) -> Option<&mut ChunkList<ChunkResult<A>>> {
        let index = whole.file.index;
        self.lines.iter_mut().find(|line| line.whole.file.index == index).map(|line| &mut line.line)
    }

    /// The longest stretch of all, as far as there is memory for one more reader.
    fn divide(&mut self) -> Option<(MappedFile, BoundarySearch)> {
        if self.held() > limits::CHUNKS_BYTES / 2 {
            return None;
        }
        let longest = self.lines.iter_mut().max_by_key(|line| line.line.share_left())?;
        longest.line.divide().map(|search| (longest.whole.clone(), search))
    }

    fn held(&self) -> usize {
        self.lines.iter().map(|line| line.line.held()).sum()
    }

    fn end(&mut self, whole: &MappedFile, ending: FileEnding) {
        self.lines.retain(|line| line.whole.file.index != whole.file.index);
        self.endings.push((whole.file.index, ending));
    }
}

impl<'c, 'f, A, F> Workers<'c, 'f, A, F>
where
    A: Schedule + Send,
    F: Fn() -> A + Sync,
{
    /// A crew for the files of a feed, none of which has been begun.
    pub fn new(
        feed: &'c mut Feed<'f>,
        division: Division,
        reading: Reading<'c>,
        progress: &'c dyn Progress,
        empty: &'c F,
    ) -> Self {
        let waiting = feed.take_mapped().into();
        Workers {
            board: Mutex::new(FileQueue { waiting, lines: Vec::new(), endings: Vec::new(), idle: 0, busy: 0 }),
            changed: Condvar::new(),
            feed: Mutex::new(feed),
            handed_over: HandOver::new(empty()),
            division,
            reading,
            progress,
            empty,
        }
    }

    /// What was handed over, and how the mapped files ended; after all workers are done.
    pub fn into_rest(self) -> (Collected<A>, Vec<(usize, FileEnding)>) {
        let board = self.board.into_inner().unwrap_or_else(PoisonError::into_inner);
        (self.handed_over.into_all(), board.endings)
    }

    /// One worker: does what there is to do, and returns what it found.
    pub fn work(&self) -> Collected<A> {
        let share = limits::AGGREGATE_BYTES / rayon::current_num_threads().max(1);
        let mut found = Collected::new((self.empty)());
        let mut keeping = None;
        while let Some(task) = self.next() {
            match task {
                Task::Small(whole) => self.read_small(&whole, &mut found),
                Task::Chunk(whole, claim) => {
                    self.read_stretch(&whole, claim, &mut found);
                    self.make_way(&mut self.board());
                }
                Task::Batch(work) => found.read(&work, self.reading, self.progress, self.empty),
            }
            // MappedFile files, and batches: all of it counts.
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

    fn board(&self) -> MutexGuard<'_, FileQueue<A>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next(&self) -> Option<Task> {
        if let Some(task) = self.next_file() {
            return Some(task);
        }
        let batch = self.feed.lock().unwrap_or_else(PoisonError::into_inner).next();
        batch.map(Task::Batch).or_else(|| self.next_stretch())
    }

    fn next_file(&self) -> Option<Task> {
        let mut board = self.board();
        let whole = board.waiting.pop_front()?;
        let (start, end) = (whole.mapped.start(), whole.mapped.bytes.len());
        if end.saturating_sub(start) < self.division.steps.least.saturating_mul(2) {
            return Some(Task::Small(whole));
        }
        let (line, claim) = ChunkList::new(start, end, self.division.steps);
        board.lines.push(FileInProgress { whole: whole.clone(), line });
        board.busy += 1;
        self.wake(&board);
        Some(Task::Chunk(whole, claim))
    }

    /// A part of a stretch that somebody else has begun, or `None` once nothing is left.
    fn next_stretch(&self) -> Option<Task> {
        loop {
            let (whole, search) = self.wait_for_work()?;
            let start = self.search(&whole, &search);
            let mut board = self.board();
            let claim = board.line(&whole).and_then(|line| match start {
                Some(start) => line.begin(&search, start),
                None => {
                    line.found_none(&search);
                    None
                }
            });
            match claim {
                Some(claim) => {
                    self.wake(&board);
                    return Some(Task::Chunk(whole, claim));
                }
                None => self.make_way(&mut board),
            }
        }
    }

    /// A worker has read its stretch, or found no place to begin one.
    fn make_way(&self, board: &mut FileQueue<A>) {
        board.busy = board.busy.saturating_sub(1);
        self.wake(board);
    }

    /// Wakes those that wait, if there may be something to do for them.
    fn wake(&self, board: &FileQueue<A>) {
        if board.idle > 0 && board.busy < self.division.readers {
            self.changed.notify_all();
        }
    }

    /// Looks for a place window by window, and gives up once the reader in front has come so far.
    fn search(&self, whole: &MappedFile, search: &BoundarySearch) -> Option<usize> {
        let range = search.range();
        let windows = range.len().div_ceil(limits::SEARCH_WINDOW).min(limits::MOST_WINDOWS);
        for number in leaping(windows) {
            let from = range.start.saturating_add(number.saturating_mul(limits::SEARCH_WINDOW));
            let to = from.saturating_add(limits::SEARCH_WINDOW).min(range.end);
            let is_ahead = self.board().line(whole).is_some_and(|line| line.is_ahead(search, to));
            let found = if is_ahead { (self.division.find)(whole, from..to) } else { None };
            if found.is_some() {
                return found;
            }
        }
        None
    }

    fn wait_for_work(&self) -> Option<(MappedFile, BoundarySearch)> {
        let mut board = self.board();
        loop {
            if board.busy < self.division.readers
                && let Some(found) = board.divide()
            {
                board.busy += 1;
                return Some(found);
            }
            if board.lines.is_empty() {
                return None;
            }
            board.idle += 1;
            board = self.changed.wait(board).unwrap_or_else(PoisonError::into_inner);
            board.idle -= 1;
        }
    }

    /// A small file is not divided, and goes straight to what the worker has.
    fn read_small(&self, whole: &MappedFile, found: &mut Collected<A>) {
        let (start, end) = (whole.mapped.start(), whole.mapped.bytes.len());
        let quantum = self.division.steps.quantum;
        let go_on = |at: usize, _| Some(at.saturating_add(quantum).min(end).max(at + 1));
        let facts = chunk::read(whole, start, &mut found.part, self.reading, self.progress, self.empty, go_on);
        self.end(whole, facts, found);
    }

    fn read_stretch(&self, whole: &MappedFile, claim: ChunkClaim, found: &mut Collected<A>) {
        let mut part = FilePart::new((self.empty)());
        let mut arrived = false;
        let go_on = |at, held| match self.go_on(whole, claim, at, held) {
            NextStep::Until(until) => Some(until),
            NextStep::Arrived => {
                arrived = true;
                None
            }
            NextStep::GiveUp => None,
        };
        let facts = chunk::read(whole, claim.start, &mut part, self.reading, self.progress, self.empty, go_on);
        let halt = match facts.are_last() {
            true => ChunkEnd::Ended,
            false if arrived => ChunkEnd::Arrived,
            false => return,
        };
        if let Some((piece, counts)) = self.hand_in(whole, claim, halt, ChunkResult { part, facts }) {
            let part = mem::replace(&mut found.part, FilePart::new((self.empty)()));
            found.part = part.join(piece.part, |db| self.wanted(db));
            self.progress.divided(counts);
            self.end(whole, piece.facts, found);
            self.changed.notify_all();
        }
    }

    /// A file has been read.
    fn end(&self, whole: &MappedFile, facts: ChunkFacts, found: &mut Collected<A>) {
        let (ending, tally, skimmed) = facts.into_ending(whole);
        found.files.entry(whole.file.index).or_default().merge(tally);
        found.skimmed.extend(skimmed);
        self.board().end(whole, ending);
    }

    fn go_on(&self, whole: &MappedFile, claim: ChunkClaim, at: usize, held: usize) -> NextStep {
        let mut board = self.board();
        let full = board.held() > limits::CHUNKS_BYTES;
        let Some(line) = board.line(whole) else { return NextStep::GiveUp };
        if full && line.give_back(claim.id) {
            return NextStep::GiveUp;
        }
        let next = line.go_on(claim.id, at, held);
        if line.share_left().is_some() {
            self.wake(&board);
        }
        next
    }

    /// Joins a piece with its neighbours as far as they are read. Returns it once it is that of the whole file.
    fn hand_in(
        &self,
        whole: &MappedFile,
        claim: ChunkClaim,
        halt: ChunkEnd,
        piece: ChunkResult<A>,
    ) -> Option<(ChunkResult<A>, DivisionCounts)> {
        let mut joint = self.board().line(whole)?.finish(claim.id, piece.facts.end(), halt, piece);
        loop {
            joint = match joint {
                JoinStep::Join(left, right) => {
                    let joined = left.join(right, |db| self.wanted(db));
                    self.board().line(whole)?.joined(claim.id, joined)
                }
                JoinStep::Complete(piece) => return Some((piece, self.board().line(whole)?.counts())),
                JoinStep::Waits | JoinStep::Void => return None,
            };
        }
    }
}

/// Numbers below `count`: first those at distances that double, then the others. In a table of millions of elements no record
/// begins near by, and behind it the nearest is as good as any.
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
