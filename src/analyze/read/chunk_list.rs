//! Chunks of one mapped file, in file order: which thread reads which, and which of them count.
//!
//! The first chunk begins with the file. Every other one begins at a guess, while the reader of the chunk before is
//! still on its way. If that reader arrives exactly there, the guess is confirmed and both results are joined. If it
//! passes the place, the guess is discarded: the reader of that chunk gives up, and the bytes are read again from the
//! true boundary. So a chunk counts only if an unbroken chain of confirmed guesses leads to it from the start of the
//! file.
//!
//! This is bookkeeping only, called under a lock a few hundred times a second: it knows neither threads nor records.

use std::mem;
use std::ops::Range;

/// The chunks of a file.
#[derive(Debug)]
pub struct ChunkList<R> {
    /// Sorted by start; each ends where the next starts.
    chunks: Vec<Chunk<R>>,
    end: usize,
    ids: u64,
    steps: ReadSteps,
    counts: DivisionCounts,
}

/// Step sizes of readers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSteps {
    /// Bytes that a reader reads before it asks again.
    pub quantum: usize,
    /// Minimum size of both halves when a chunk is divided.
    pub least: usize,
}

/// Statistics of dividing a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DivisionCounts {
    /// Chunks begun at a guess.
    pub guesses: u64,
    /// Searches that found no record boundary.
    pub failures: u64,
    /// Bytes read in discarded chunks.
    pub wasted: u64,
}

#[derive(Debug)]
struct Chunk<R> {
    id: u64,
    start: usize,
    /// The last boundary its reader reached.
    at: usize,
    /// Position to which its reader goes before it asks again.
    until: usize,
    /// Heap bytes of its result.
    held: usize,
    /// Searches in progress in it.
    searches: usize,
    /// Searches in it that found nothing.
    failures: usize,
    /// Position of its reader from which searching is worth retrying.
    hopeless_until: usize,
    state: ChunkState<R>,
}

#[derive(Debug)]
enum ChunkState<R> {
    Reading,
    /// Its reader has arrived at the next chunk and will hand in its result.
    Arrived,
    /// Read, and waiting for a neighbour.
    Done(R, ChunkEnd),
    /// Read; its result is being joined with a neighbour's.
    Joining(ChunkEnd),
}

/// Reason why the reader of a chunk stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkEnd {
    /// It arrived exactly at the next chunk.
    Arrived,
    /// Nothing follows: the snapshot ends there, or is broken.
    Ended,
}

/// The right to read a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkClaim {
    /// Identifies the chunk.
    pub id: u64,
    /// Start of the chunk.
    pub start: usize,
}

/// Next step of a reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Read to the first boundary at or after this.
    Until(usize),
    /// Hand in the result: the next chunk begins here.
    Arrived,
    /// Give up: the chunk was discarded.
    GiveUp,
}

/// Next step for a result that was handed in.
#[derive(Debug)]
pub enum JoinStep<R> {
    /// Join these two, in this order, and hand in the result.
    Join(R, R),
    /// It waits for a neighbour.
    Waits,
    /// It is the result of the whole file.
    Complete(R),
    /// It does not count.
    Void,
}

/// Failed searches after which a chunk is not searched again for a while.
const MAX_FAILURES: usize = 3;

/// Concurrent searches in one chunk, at most.
const MAX_SEARCHES: usize = 64;

impl<R> ChunkList<R> {
    /// Creates a list over the bytes from `start` to `end`, with the claim to read them all.
    pub fn new(start: usize, end: usize, steps: ReadSteps) -> (Self, ChunkClaim) {
        let mut list = ChunkList { chunks: Vec::new(), end, ids: 0, steps, counts: DivisionCounts::default() };
        let claim = list.insert(0, start);
        (list, claim)
    }

    /// Returns the statistics so far.
    pub fn counts(&self) -> DivisionCounts {
        self.counts
    }

    fn insert(&mut self, index: usize, start: usize) -> ChunkClaim {
        let id = self.ids;
        self.ids += 1;
        let chunk = Chunk {
            id,
            start,
            at: start,
            until: start,
            held: 0,
            searches: 0,
            failures: 0,
            hopeless_until: 0,
            state: ChunkState::Reading,
        };
        self.chunks.insert(index, chunk);
        ChunkClaim { id, start }
    }

    fn place(&self, id: u64) -> Option<usize> {
        self.chunks.iter().position(|chunk| chunk.id == id)
    }

    fn end_of(&self, index: usize) -> usize {
        self.chunks.get(index + 1).map_or(self.end, |next| next.start)
    }

    /// Returns the heap bytes of all results, as reported by their readers.
    pub fn held(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.held).sum()
    }

    /// Reports that the reader of a chunk has reached the boundary `at` and holds `held` heap bytes; returns its next step.
    pub fn next_step(&mut self, id: u64, at: usize, held: usize) -> NextStep {
        let Some(index) = self.place(id) else { return NextStep::GiveUp };
        let mut arrived = false;
        while let Some(next) = self.chunks.get(index + 1) {
            if at <= next.start {
                arrived = at == next.start;
                break;
            }
            // Passed without stopping at its start, so the guess was no record boundary.
            self.discard(index + 1);
        }
        // Reading past the last byte is needed, too: it finds that the end is missing.
        let until = at.saturating_add(self.steps.quantum).min(self.end_of(index)).max(at + 1);
        if let Some(chunk) = self.chunks.get_mut(index) {
            (chunk.at, chunk.until, chunk.held) = (at, until, held);
            if arrived {
                chunk.state = ChunkState::Arrived;
            }
            if at >= chunk.hopeless_until {
                chunk.failures = 0;
            }
        }
        if arrived { NextStep::Arrived } else { NextStep::Until(until) }
    }

    fn discard(&mut self, index: usize) {
        let discarded = self.chunks.remove(index);
        self.counts.wasted += discarded.at.saturating_sub(discarded.start) as u64;
    }

    /// Discards a chunk that began at a guess, if the reader before it will get there anyway. Returns false if its reader has to
    /// go on.
    pub fn give_back(&mut self, id: u64) -> bool {
        let Some(index) = self.place(id) else { return true };
        let reader_in_front = index.checked_sub(1).and_then(|left| self.chunks.get(left));
        let given = reader_in_front.is_some_and(|left| matches!(left.state, ChunkState::Reading));
        if given {
            self.discard(index);
        }
        given
    }

    /// Takes the result of a chunk that was read to the boundary `at`.
    pub fn finish(&mut self, id: u64, at: usize, chunk_end: ChunkEnd, result: R) -> JoinStep<R> {
        let Some(index) = self.place(id) else { return JoinStep::Void };
        if let Some(chunk) = self.chunks.get_mut(index) {
            chunk.at = at;
        }
        self.settle(index, chunk_end, result)
    }

    /// Takes the result of a join.
    pub fn joined(&mut self, id: u64, result: R) -> JoinStep<R> {
        let Some(index) = self.place(id) else { return JoinStep::Void };
        match self.chunks.get(index).map(|chunk| &chunk.state) {
            Some(&ChunkState::Joining(chunk_end)) => self.settle(index, chunk_end, result),
            _ => JoinStep::Void,
        }
    }

    fn settle(&mut self, index: usize, chunk_end: ChunkEnd, result: R) -> JoinStep<R> {
        if index == 0 && chunk_end == ChunkEnd::Ended {
            while self.chunks.len() > 1 {
                self.discard(1);
            }
            self.chunks.clear();
            return JoinStep::Complete(result);
        }
        if let Some(left) = index.checked_sub(1)
            && let Some((front, _)) = self.take(left, |chunk_end| chunk_end == ChunkEnd::Arrived)
        {
            let front_one = self.chunks.remove(left);
            if let Some(chunk) = self.chunks.get_mut(left) {
                (chunk.start, chunk.state) = (front_one.start, ChunkState::Joining(chunk_end));
                chunk.held += front_one.held;
            }
            return JoinStep::Join(front, result);
        }
        if chunk_end == ChunkEnd::Arrived
            && let Some((behind, chunk_end)) = self.take(index + 1, |_| true)
        {
            let behind_one = self.chunks.remove(index + 1);
            if let Some(chunk) = self.chunks.get_mut(index) {
                (chunk.at, chunk.state) = (behind_one.at, ChunkState::Joining(chunk_end));
                chunk.held += behind_one.held;
            }
            return JoinStep::Join(result, behind);
        }
        if let Some(chunk) = self.chunks.get_mut(index) {
            chunk.state = ChunkState::Done(result, chunk_end);
        }
        JoinStep::Waits
    }

    /// Takes the result of a waiting chunk, if it ended as `wanted`.
    fn take(&mut self, index: usize, wanted: impl Fn(ChunkEnd) -> bool) -> Option<(R, ChunkEnd)> {
        let state = &mut self.chunks.get_mut(index)?.state;
        match mem::replace(state, ChunkState::Reading) {
            ChunkState::Done(result, chunk_end) if wanted(chunk_end) => Some((result, chunk_end)),
            other => {
                *state = other;
                None
            }
        }
    }

    /// Returns the bytes that one more reader would get, if the longest chunk may be divided.
    pub fn share_left(&self) -> Option<usize> {
        self.longest().map(|(_, share)| share)
    }

    fn longest(&self) -> Option<(usize, usize)> {
        let share = |(index, chunk): (usize, &Chunk<R>)| {
            let left = self.end_of(index).checked_sub(chunk.until)?;
            // Each search in progress will take a share, and so will the new reader; the current one keeps one.
            let share = left / (chunk.searches + 2);
            let open = matches!(chunk.state, ChunkState::Reading)
                && chunk.failures < MAX_FAILURES
                && chunk.searches < MAX_SEARCHES
                && share >= self.steps.least.max(1);
            open.then_some((index, share))
        };
        self.chunks.iter().enumerate().filter_map(share).max_by_key(|&(_, share)| share)
    }

    /// Chooses where to search for a boundary that divides the longest chunk, if that is worth it.
    ///
    /// To be answered by [`ChunkList::begin`] or [`ChunkList::found_none`].
    pub fn divide(&mut self) -> Option<BoundarySearch> {
        let (index, _) = self.longest()?;
        let end = self.end_of(index);
        let chunk = self.chunks.get_mut(index)?;
        // A different place for each concurrent or failed search.
        let from = chunk.until + part_of(end - chunk.until, chunk.searches + chunk.failures);
        chunk.searches += 1;
        Some(BoundarySearch { id: chunk.id, range: from..end })
    }

    /// Begins a chunk at the boundary found; `None` if the reader before has come too close meanwhile.
    pub fn begin(&mut self, search: &BoundarySearch, start: usize) -> Option<ChunkClaim> {
        self.searched(search);
        // The chunk may have been divided since the search began, so it is looked up by position.
        let index = self.chunks.iter().rposition(|chunk| chunk.start < start)?;
        let chunk = self.chunks.get(index)?;
        let open = matches!(chunk.state, ChunkState::Reading) && chunk.until <= start && start < self.end_of(index);
        if !open {
            return None;
        }
        self.counts.guesses += 1;
        Some(self.insert(index + 1, start))
    }

    /// Records that a search found no boundary.
    pub fn found_none(&mut self, search: &BoundarySearch) {
        self.searched(search);
        self.counts.failures += 1;
        let Some(index) = self.place(search.id) else { return };
        let end = self.end_of(index);
        if let Some(chunk) = self.chunks.get_mut(index) {
            chunk.failures += 1;
            // An eighth of the rest later, the obstacle (a giant value, say) may be passed.
            chunk.hopeless_until = chunk.until + end.saturating_sub(chunk.until) / 8;
        }
    }

    /// Returns whether the reader of the searched chunk has not yet reached `at`.
    pub fn is_ahead(&self, search: &BoundarySearch, at: usize) -> bool {
        let chunk = self.chunks.iter().find(|chunk| chunk.id == search.id);
        chunk.is_some_and(|chunk| matches!(chunk.state, ChunkState::Reading) && chunk.until < at)
    }

    fn searched(&mut self, search: &BoundarySearch) {
        if let Some(chunk) = self.place(search.id).and_then(|index| self.chunks.get_mut(index)) {
            chunk.searches = chunk.searches.saturating_sub(1);
        }
    }
}

/// A range to search for a boundary that divides a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundarySearch {
    id: u64,
    range: Range<usize>,
}

impl BoundarySearch {
    /// Returns the bytes to search.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Divides a length at 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8 and so on, by turn (a van der Corput sequence).
fn part_of(length: usize, turn: usize) -> usize {
    let fraction = (turn as u64 + 1).reverse_bits() >> 32; // of 2^32
    usize::try_from((length as u128 * u128::from(fraction)) >> 32).unwrap_or(length)
}

#[cfg(test)]
mod tests;
