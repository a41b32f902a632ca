//! The stretches of one mapped file, in file order: who reads which, and which of them count.
//!
//! The first stretch begins with the file. Any other begins at a guess: the reader of the stretch in front of it will arrive
//! exactly there, or not. If it does, what was read from there on is right as well, and the results of both are joined. If it
//! passes by, the guess was wrong: that stretch is struck out, whoever reads it gives up, and its bytes are read again from
//! the true boundary. So a stretch counts only if an unbroken chain leads to it from the beginning of the file.
//!
//! This is bookkeeping only, held under a lock and asked a few hundred times a second: it knows neither threads nor records.

use std::mem;
use std::ops::Range;

/// The stretches of a file.
#[derive(Debug)]
pub struct ChunkList<R> {
    /// By start. The end of each is the start of the next.
    stretches: Vec<Chunk<R>>,
    end: usize,
    ids: u64,
    steps: ReadSteps,
    counts: DivisionCounts,
}

/// How far readers go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReadSteps {
    /// Bytes that a reader reads before it asks again.
    pub quantum: usize,
    /// A stretch is divided only where either half has as many bytes.
    pub least: usize,
}

/// What dividing a file came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DivisionCounts {
    /// Stretches that were begun at a guess.
    pub guesses: u64,
    /// Searches that found no place.
    pub failures: u64,
    /// Bytes that were read in vain.
    pub wasted: u64,
}

#[derive(Debug)]
struct Chunk<R> {
    id: u64,
    start: usize,
    /// How far it was read: a boundary of its chain.
    at: usize,
    /// How far its reader goes before it asks again.
    until: usize,
    /// Bytes of memory that its result holds.
    held: usize,
    /// Searches in it that are under way.
    searches: usize,
    /// Searches in it that found no place.
    failures: usize,
    /// When its reader comes here, looking may be worth it again.
    hopeless_until: usize,
    state: ChunkState<R>,
}

#[derive(Debug)]
enum ChunkState<R> {
    Reading,
    /// Its reader stands at the next one, and will hand in its result.
    Arrived,
    /// Read, and waiting for a neighbour.
    Done(R, ChunkEnd),
    /// Read; its result is being joined with that of a neighbour.
    Joining(ChunkEnd),
}

/// Why the reader of a stretch is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ChunkEnd {
    /// It arrived exactly at the next stretch.
    Arrived,
    /// Nothing follows: the snapshot ends there, or is broken.
    Ended,
}

/// The right to read a stretch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChunkClaim {
    /// Which.
    pub id: u64,
    /// Where it begins.
    pub start: usize,
}

/// What a reader is to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NextStep {
    /// Read to the first boundary at or behind this.
    Until(usize),
    /// Hand in the result: here the next stretch begins.
    Arrived,
    /// Give up: the stretch does not count.
    GiveUp,
}

/// What becomes of a result that was handed in.
#[derive(Debug)]
pub enum JoinStep<R> {
    /// Join it with its neighbour's, this one in front of that one, and hand in what that makes.
    Join(R, R),
    /// It waits for a neighbour.
    Waits,
    /// It is the result of the whole file.
    Complete(R),
    /// It does not count.
    Void,
}

/// Searches without success after which a stretch is left to its reader for a while.
const MOST_FAILURES: usize = 3;

/// Searches in one stretch at a time.
const MOST_SEARCHES: usize = 64;

impl<R> ChunkList<R> {
    /// A line over the bytes from `start` to `end`, and the right to read them all.
    pub fn new(start: usize, end: usize, steps: ReadSteps) -> (Self, ChunkClaim) {
        let mut line = ChunkList { stretches: Vec::new(), end, ids: 0, steps, counts: DivisionCounts::default() };
        let claim = line.insert(0, start);
        (line, claim)
    }

    /// What dividing the file came to.
    pub fn counts(&self) -> DivisionCounts {
        self.counts
    }

    fn insert(&mut self, index: usize, start: usize) -> ChunkClaim {
        let id = self.ids;
        self.ids += 1;
        let stretch = Chunk {
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
        self.stretches.insert(index, stretch);
        ChunkClaim { id, start }
    }

    fn place(&self, id: u64) -> Option<usize> {
        self.stretches.iter().position(|stretch| stretch.id == id)
    }

    fn end_of(&self, index: usize) -> usize {
        self.stretches.get(index + 1).map_or(self.end, |next| next.start)
    }

    /// Bytes of memory that all results hold, as far as their readers told.
    pub fn held(&self) -> usize {
        self.stretches.iter().map(|stretch| stretch.held).sum()
    }

    /// Tells that the reader of a stretch stands at the boundary `at`, and holds so many bytes of memory.
    pub fn go_on(&mut self, id: u64, at: usize, held: usize) -> NextStep {
        let Some(index) = self.place(id) else { return NextStep::GiveUp };
        let mut arrived = false;
        while let Some(next) = self.stretches.get(index + 1) {
            if at <= next.start {
                arrived = at == next.start;
                break;
            }
            self.strike_out(index + 1);
        }
        // Behind the last byte there is something to read as well: that the end is missing.
        let until = at.saturating_add(self.steps.quantum).min(self.end_of(index)).max(at + 1);
        if let Some(stretch) = self.stretches.get_mut(index) {
            (stretch.at, stretch.until, stretch.held) = (at, until, held);
            if arrived {
                stretch.state = ChunkState::Arrived;
            }
            if at >= stretch.hopeless_until {
                stretch.failures = 0;
            }
        }
        if arrived { NextStep::Arrived } else { NextStep::Until(until) }
    }

    fn strike_out(&mut self, index: usize) {
        let struck = self.stretches.remove(index);
        self.counts.wasted += struck.at.saturating_sub(struck.start) as u64;
    }

    /// Takes back a stretch that was begun at a guess, if somebody will come along and read it anyhow. Else its reader has to go
    /// on.
    pub fn give_back(&mut self, id: u64) -> bool {
        let Some(index) = self.place(id) else { return true };
        let reader_in_front = index.checked_sub(1).and_then(|left| self.stretches.get(left));
        let given = reader_in_front.is_some_and(|left| matches!(left.state, ChunkState::Reading));
        if given {
            self.strike_out(index);
        }
        given
    }

    /// Takes the result of a stretch, which was read to the boundary `at`.
    pub fn finish(&mut self, id: u64, at: usize, halt: ChunkEnd, result: R) -> JoinStep<R> {
        let Some(index) = self.place(id) else { return JoinStep::Void };
        if let Some(stretch) = self.stretches.get_mut(index) {
            stretch.at = at;
        }
        self.settle(index, halt, result)
    }

    /// Takes the result that came of joining.
    pub fn joined(&mut self, id: u64, result: R) -> JoinStep<R> {
        let Some(index) = self.place(id) else { return JoinStep::Void };
        match self.stretches.get(index).map(|stretch| &stretch.state) {
            Some(&ChunkState::Joining(halt)) => self.settle(index, halt, result),
            _ => JoinStep::Void,
        }
    }

    fn settle(&mut self, index: usize, halt: ChunkEnd, result: R) -> JoinStep<R> {
        if index == 0 && halt == ChunkEnd::Ended {
            while self.stretches.len() > 1 {
                self.strike_out(1);
            }
            self.stretches.clear();
            return JoinStep::Complete(result);
        }
        if let Some(left) = index.checked_sub(1)
            && let Some((front, _)) = self.take(left, |halt| halt == ChunkEnd::Arrived)
        {
            let front_one = self.stretches.remove(left);
            if let Some(stretch) = self.stretches.get_mut(left) {
                (stretch.start, stretch.state) = (front_one.start, ChunkState::Joining(halt));
                stretch.held += front_one.held;
            }
            return JoinStep::Join(front, result);
        }
        if halt == ChunkEnd::Arrived
            && let Some((behind, halt)) = self.take(index + 1, |_| true)
        {
            let behind_one = self.stretches.remove(index + 1);
            if let Some(stretch) = self.stretches.get_mut(index) {
                (stretch.at, stretch.state) = (behind_one.at, ChunkState::Joining(halt));
                stretch.held += behind_one.held;
            }
            return JoinStep::Join(result, behind);
        }
        if let Some(stretch) = self.stretches.get_mut(index) {
            stretch.state = ChunkState::Done(result, halt);
        }
        JoinStep::Waits
    }

    /// Takes the result of a stretch that waits, if its halt is one that is wanted.
    fn take(&mut self, index: usize, wanted: impl Fn(ChunkEnd) -> bool) -> Option<(R, ChunkEnd)> {
        let state = &mut self.stretches.get_mut(index)?.state;
        match mem::replace(state, ChunkState::Reading) {
            ChunkState::Done(result, halt) if wanted(halt) => Some((result, halt)),
            other => {
                *state = other;
                None
            }
        }
    }

    /// The bytes that would fall to one more reader, if the longest stretch may be divided.
    pub fn share_left(&self) -> Option<usize> {
        self.longest().map(|(_, share)| share)
    }

    fn longest(&self) -> Option<(usize, usize)> {
        let share = |(index, stretch): (usize, &Chunk<R>)| {
            let left = self.end_of(index).checked_sub(stretch.until)?;
            let share = left / (stretch.searches + 2);
            let open = matches!(stretch.state, ChunkState::Reading)
                && stretch.failures < MOST_FAILURES
                && stretch.searches < MOST_SEARCHES
                && share >= self.steps.least.max(1);
            open.then_some((index, share))
        };
        self.stretches.iter().enumerate().filter_map(share).max_by_key(|&(_, share)| share)
    }

    /// Where to look for a place to divide the longest stretch, if that is worth it. To be answered by [`ChunkList::begin`] or
    /// [`ChunkList::found_none`].
    pub fn divide(&mut self) -> Option<BoundarySearch> {
        let (index, _) = self.longest()?;
        let end = self.end_of(index);
        let stretch = self.stretches.get_mut(index)?;
        let from = stretch.until + part_of(end - stretch.until, stretch.searches + stretch.failures);
        stretch.searches += 1;
        Some(BoundarySearch { id: stretch.id, range: from..end })
    }

    /// Begins a stretch at the place that was found; `None` if the reader in front has come too near meanwhile.
    pub fn begin(&mut self, search: &BoundarySearch, start: usize) -> Option<ChunkClaim> {
        self.searched(search);
        let index = self.stretches.iter().rposition(|stretch| stretch.start < start)?;
        let stretch = self.stretches.get(index)?;
        let open = matches!(stretch.state, ChunkState::Reading) && stretch.until <= start && start < self.end_of(index);
        if !open {
            return None;
        }
        self.counts.guesses += 1;
        Some(self.insert(index + 1, start))
    }

    /// Tells that no place was found.
    pub fn found_none(&mut self, search: &BoundarySearch) {
        self.searched(search);
        self.counts.failures += 1;
        let Some(index) = self.place(search.id) else { return };
        let end = self.end_of(index);
        if let Some(stretch) = self.stretches.get_mut(index) {
            stretch.failures += 1;
            stretch.hopeless_until = stretch.until + end.saturating_sub(stretch.until) / 8;
        }
    }

    /// Whether the reader of the stretch that is searched is still to come to `at`.
    pub fn is_ahead(&self, search: &BoundarySearch, at: usize) -> bool {
        let stretch = self.stretches.iter().find(|stretch| stretch.id == search.id);
        stretch.is_some_and(|stretch| matches!(stretch.state, ChunkState::Reading) && stretch.until < at)
    }

    fn searched(&mut self, search: &BoundarySearch) {
        if let Some(stretch) = self.place(search.id).and_then(|index| self.stretches.get_mut(index)) {
            stretch.searches = stretch.searches.saturating_sub(1);
        }
    }
}

/// Where to look for a place to divide a stretch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoundarySearch {
    id: u64,
    range: Range<usize>,
}

impl BoundarySearch {
    /// The bytes to look in.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// Divides a length in turn at 1/2, 1/4, 3/4, 1/8, 5/8, 3/8, 7/8 and so on: the number's bits, turned round behind the point.
fn part_of(length: usize, turn: usize) -> usize {
    let fraction = (turn as u64 + 1).reverse_bits() >> 32; // of 2^32
    usize::try_from((length as u128 * u128::from(fraction)) >> 32).unwrap_or(length)
}

#[cfg(test)]
mod tests;
