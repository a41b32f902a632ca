//! Source of the plain records of a Dragonfly file.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::block::{RunEnd, Unfolding, run};
use super::chunks::Chunks;
use super::damage::{LostParts, PassDamage};
use super::items::{Special, special};
use crate::error::{Error, Result};
use crate::input::source::Source;
use crate::input::{Body, Mapped};
use crate::limits;
use crate::rdb::header::RdbHeader;

/// Size to which Dragonfly pads its files, as it writes them past the page cache.
const PAGE: u64 = 4096;

/// Source of the records of a Dragonfly file, without blocks, chunks and search indexes.
pub struct Unfolded {
    pub(super) body: Body,
    consumed: Arc<AtomicU64>,
    /// Database in force in the file; `None` before the first switch.
    db: Option<u64>,
    chunks: Chunks,
    /// Records ready to be read, and how much of them was.
    pub(super) ready: Vec<u8>,
    taken: usize,
    /// Number of bytes at the front of `body` that are plain records.
    pub(super) plain: usize,
    pub(super) state: State,
    /// Set to go on behind damage; `None` to fail at it.
    pub(super) salvage: Option<PassDamage>,
}

pub(super) enum State {
    /// Reading the header.
    Header,
    /// Reading records.
    Records,
    /// After the checksum.
    After,
    /// At the end, or where the reader of the records will meet the damage itself.
    Ended,
    /// Failed; the error has not been returned yet.
    Failed(Error),
}

impl Unfolded {
    /// Creates the source; `body` is at the magic.
    pub fn new(body: Body, budget: limits::Budget) -> Unfolded {
        Unfolded {
            body,
            consumed: Arc::default(),
            db: None,
            chunks: Chunks::new(budget.unfinished()),
            ready: Vec::new(),
            taken: 0,
            plain: 0,
            state: State::Header,
            salvage: None,
        }
    }

    /// Creates a source that goes on behind damage, and the list of what it passes.
    pub fn past_damage(map: Mapped, budget: limits::Budget) -> (Unfolded, LostParts) {
        let lost = LostParts::default();
        let salvage = PassDamage::new(map.bytes.len(), &lost);
        (Unfolded { salvage: Some(salvage), ..Unfolded::new(Body::Mapped(map), budget) }, lost)
    }

    /// Returns the counter of bytes read from the file.
    pub fn consumed(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.consumed)
    }

    fn skip(&mut self, len: usize) {
        self.body.skip(len);
        self.consumed.store(self.body.offset(), Ordering::Relaxed);
    }

    /// Prepares more bytes to read; `offset` is the number of those read before.
    fn advance(&mut self, offset: u64) {
        self.ready.clear();
        self.taken = 0;
        if let Err(error) = self.try_advance(offset) {
            self.state = State::Failed(error);
        }
    }

    fn try_advance(&mut self, offset: u64) -> Result<()> {
        match self.state {
            State::Header => {
                self.plain = RdbHeader::LEN.min(self.body.bytes().len());
                self.state = State::Records;
                Ok(())
            }
            State::Records => self.next_records(offset),
            State::After => {
                self.padding()?;
                Ok(())
            }
            State::Ended | State::Failed(_) => Ok(()),
        }
    }

    /// Finds the next run of plain records in the file, or unfolds what comes instead.
    fn next_records(&mut self, offset: u64) -> Result<()> {
        let mut wanted = limits::BATCH_BYTES as u64;
        loop {
            let more = self.body.fill(wanted)?;
            let (base, len) = (self.body.offset(), self.body.bytes().len());
            let run = run(self.body.bytes(), base, self.db);
            if run.bytes > 0 {
                (self.plain, self.db) = (run.bytes, run.db);
                return Ok(());
            }
            let (error, reached, is_record) = match run.end {
                RunEnd::Enough => {
                    self.state = State::Ended;
                    return Ok(());
                }
                RunEnd::Failed(error) => (error, run.reached, true),
                RunEnd::Special => match self.unfold_special(offset)? {
                    None => return Ok(()),
                    Some(error) => {
                        let reached = position(error.offset().unwrap_or(base).saturating_sub(base));
                        (error, reached, false)
                    }
                },
            };
            match larger_window(&error, base, len).filter(|_| more) {
                Some(larger) => wanted = larger,
                // The reader of the records meets the same bytes and reports the error.
                None if is_record => return self.pass_on(offset, reached, None),
                None => return self.pass_on(offset, reached, Some(error.moved_to(offset))),
            }
        }
    }

    /// Unfolds the item at the front, which is no plain record. Returns the error of one that cannot be read.
    fn unfold_special(&mut self, offset: u64) -> Result<Option<Error>> {
        let base = self.body.offset();
        let (item, len) = match special(self.body.bytes(), base) {
            Ok(found) => found,
            Err(error) => return Ok(Some(error)),
        };
        let (is_end, most_read) = (matches!(item, Special::End), item.most_read(len));
        let incomplete = self.salvage.as_mut().map(|salvage| &mut salvage.incomplete);
        let mut unfolding = Unfolding { ready: Vec::new(), db: self.db, incomplete };
        let result = unfolding.item(item, base, offset, &mut self.chunks);
        (self.ready, self.db) = (unfolding.ready, unfolding.db);
        match result {
            Ok(()) if is_end => self.end(offset, len)?,
            Ok(()) => self.skip(len),
            Err(error) => self.pass_item(offset, len, most_read, error)?,
        }
        Ok(None)
    }

    /// Ends the records: `len` bytes are the end of the snapshot.
    fn end(&mut self, offset: u64, len: usize) -> Result<()> {
        let finished = self.chunks.finish(offset);
        finished.or_else(|error| self.lose_item(offset, 0, error))?;
        (self.plain, self.state) = (len, State::After);
        Ok(())
    }

    /// Drops the padding of a complete file; other bytes are passed on.
    fn padding(&mut self) -> Result<()> {
        let more = self.body.fill(PAGE)?;
        let left = self.body.bytes().len();
        let end = self.body.offset().saturating_add(left as u64);
        if !more && end.is_multiple_of(PAGE) {
            self.skip(left);
        }
        self.plain = self.body.bytes().len();
        if self.plain == 0 {
            self.state = State::Ended;
        }
        Ok(())
    }
}

/// Returns the window to read an item again that failed with `error` in one of `len` bytes; `None` if more bytes do not help.
fn larger_window(error: &Error, base: u64, len: usize) -> Option<u64> {
    let reached = error.offset().unwrap_or(base).saturating_sub(base);
    Some(reached.saturating_add(error.needed()?).max(2 * len as u64))
}

/// Returns an offset among the unfolded records as a position.
pub(super) fn position(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}

impl Source for Unfolded {
    fn read(&mut self, into: &mut [u8], offset: u64) -> Result<usize> {
        loop {
            let ready = self.ready.get(self.taken..).unwrap_or_default();
            if !ready.is_empty() {
                let len = ready.len().min(into.len());
                into[..len].copy_from_slice(&ready[..len]);
                self.taken += len;
                return Ok(len);
            }
            if self.plain > 0 {
                let plain = self.body.bytes();
                let len = self.plain.min(plain.len()).min(into.len());
                into[..len].copy_from_slice(&plain[..len]);
                self.plain -= len;
                self.skip(len);
                return Ok(len);
            }
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Ended => return Ok(0),
                State::Failed(error) => return Err(error),
                state @ (State::Header | State::Records | State::After) => {
                    self.state = state;
                    self.advance(offset);
                }
            }
        }
    }
}
