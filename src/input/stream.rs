//! Sliding window over a stream that can be read only once: stdin, pipes, decompressed data.
//!
//! ```text
//!            offset()                       known so far
//!   consumed │◄──────── bytes() ──────────►│   not read yet
//!  ──────────┴──────────────┴──────────────┴───────────────►
//!             take(len) ───►│ the rest moves to the front of a used buffer
//! ```
//!
//! Memory: the buffer holds at most a quarter more than the limit; a larger record moves to a mapped temporary file until
//! it is consumed. Time: each copy is amortised over as many bytes (times a small constant) read or consumed since the
//! last one, so any sequence of calls is linear in the length of the stream plus the bytes taken.

use std::path::PathBuf;

use super::OpenOptions;
use super::block::{Block, Pool};
use super::source::Source;
use super::spill::Spill;
use crate::error::{Error, ErrorKind, Result};
use crate::wording::wording;

/// Window of the bytes of a stream that have been read but not consumed.
pub struct Window {
    source: Box<dyn Source>,
    state: SourceState,
    offset: u64,
    limit: usize,
    spool_dir: PathBuf,
    /// Maximum size of a temporary file.
    largest: u64,
    /// INVARIANT: `start <= end <= buffer.len()`; both are 0 while there is a spill.
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    usual: usize,
    pool: Pool,
    spill: Option<Spill>,
}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window({} bytes at {})", self.bytes().len(), self.offset)
    }
}

/// State of the source.
enum SourceState {
    Open,
    Ended,
    /// Failed after the bytes read.
    Failed(Error),
}

impl Window {
    /// Default limit: the size of a record above which it moves to a temporary file.
    pub const DEFAULT_LIMIT: usize = 64 << 20;
    /// Minimum read size; smaller reads are slow and save nothing.
    const STEP: usize = Pool::MIN_CAPACITY;
    /// Size of one write to a temporary file.
    const CARRIED: usize = 1 << 20;

    /// Creates a window over `source` that keeps about `options.window` bytes in memory and spills larger records to the spool
    /// directory.
    pub fn new(source: Box<dyn Source>, options: &OpenOptions) -> Window {
        Window {
            source,
            state: SourceState::Open,
            offset: 0,
            limit: options.window.max(16),
            spool_dir: options.spool_dir.clone(),
            largest: options.budget.temporary_file(),
            buffer: Vec::new(),
            start: 0,
            end: 0,
            usual: Self::STEP,
            pool: Pool::default(),
            spill: None,
        }
    }

    /// Returns the available bytes, which start at [`Window::offset`].
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match &self.spill {
            Some(spill) => spill.bytes(),
            None => &self.buffer[self.start..self.end],
        }
    }

    /// Returns the number of bytes consumed.
    #[inline]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns whether the available bytes are the last. False while unknown, or if the source has failed.
    pub fn ended(&self) -> bool {
        matches!(self.state, SourceState::Ended)
    }

    /// Makes at least `needed` bytes available; returns false if the source ends before. May read ahead.
    ///
    /// An error of the source is returned only once the bytes before it do not suffice; they stay available. `needed` may come
    /// unchecked from the file: memory grows only as bytes arrive. Repeated calls for slightly more bytes cost no more than a
    /// single one, and rescanning the whole window after each call stays linear, too.
    pub fn fill(&mut self, needed: u64) -> Result<bool> {
        let needed = usize::try_from(needed).unwrap_or(usize::MAX);
        let present = self.bytes().len();
        if present >= needed {
            return Ok(true);
        }
        let goal = needed.max(present.saturating_add(present / 2));
        self.settle(present, goal);
        if self.spill.is_none() {
            self.fill_buffer(goal.min(self.limit));
        }
        if self.bytes().len() < needed && matches!(self.state, SourceState::Open) {
            let most = usize::try_from(self.largest).unwrap_or(usize::MAX);
            self.fill_spill(goal.min(most))?;
            // A length in the file is only a claim: fail only if that many bytes really exist.
            if needed > most && matches!(self.state, SourceState::Open) {
                return Err(self.over_budget());
            }
        }
        if self.bytes().len() >= needed {
            return Ok(true);
        }
        self.source_result()
    }

    /// Consumes the first `len` bytes, or all if there are fewer, and returns them as a block.
    ///
    /// Copies the block or the rest, whichever is smaller.
    pub fn take(&mut self, len: usize) -> Block {
        let len = len.min(self.bytes().len());
        self.advance(len);
        if let Some(spill) = &mut self.spill {
            return spill.take(len);
        }
        let range = self.start..self.start + len;
        let rest = self.end - range.end;
        if rest <= len && self.buffer.len() / 4 <= len {
            let mut fresh = self.pool.get(rest, self.usual);
            fresh[..rest].copy_from_slice(&self.buffer[range.end..self.end]);
            (self.start, self.end) = (0, rest);
            Block::heap(std::mem::replace(&mut self.buffer, fresh), range, self.pool.clone())
        } else {
            self.start = range.end;
            Block::heap(self.buffer[range].to_vec(), 0..len, self.pool.clone())
        }
    }

    /// Consumes the first `len` bytes, or all if there are fewer.
    pub fn skip(&mut self, len: usize) {
        let len = len.min(self.bytes().len());
        self.advance(len);
        match &mut self.spill {
            Some(spill) => drop(spill.take(len)),
            None => self.start += len,
        }
    }

    fn advance(&mut self, len: usize) {
        self.offset = self.offset.saturating_add(u64::try_from(len).unwrap_or(u64::MAX));
    }

    /// Returns from the spill file to memory, or to a small buffer, if both the rest and the request are small again.
    fn settle(&mut self, present: usize, goal: usize) {
        let fits = match &self.spill {
            // Half the limit must arrive before the next spill, which amortises this copy.
            Some(_) => present <= self.limit / 2,
            None => self.buffer.len() > Pool::USUAL && goal <= Pool::USUAL / 2,
        };
        if !fits {
            return;
        }
        let mut fresh = self.pool.get(present, self.usual);
        fresh[..present].copy_from_slice(self.bytes());
        self.pool.give(std::mem::replace(&mut self.buffer, fresh));
        (self.start, self.end, self.spill) = (0, present, None);
    }

    /// Reads into memory until `goal` bytes are available or the source ends.
    fn fill_buffer(&mut self, goal: usize) {
        while self.end - self.start < goal && matches!(self.state, SourceState::Open) {
            self.make_room();
            let wanted = (goal - (self.end - self.start)).max(Self::STEP);
            let until = self.end.saturating_add(wanted).min(self.buffer.len());
            let place = self.place_of(self.end - self.start);
            match self.source.read(&mut self.buffer[self.end..until], place) {
                Ok(0) => self.state = SourceState::Ended,
                Ok(read) => self.end += read,
                Err(error) => self.state = SourceState::Failed(error),
            }
        }
    }

    /// Makes room at the end of the buffer, by moving the bytes to the front if amortised, otherwise by growing the buffer.
    fn make_room(&mut self) {
        if self.end < self.buffer.len() {
            return;
        }
        // The quarter above the limit amortises moving up to `limit` bytes to the front.
        let largest = self.limit.saturating_add(self.limit / 4).saturating_add(1);
        let enough = self.start > 0 && (self.start >= self.buffer.len() / 2 || self.buffer.len() >= largest);
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if !enough {
            let larger = self.buffer.len().saturating_mul(2).max(self.usual).min(largest);
            self.grow(larger.max(self.end + 1));
            self.usual = larger.clamp(Self::STEP, Pool::USUAL);
        }
    }

    /// Grows the buffer, whose bytes are at its front, to at least `len` bytes.
    fn grow(&mut self, len: usize) {
        let Some(mut larger) = self.pool.find(len..=Pool::MAX_CAPACITY) else { return self.buffer.resize(len, 0) };
        larger[..self.end].copy_from_slice(&self.buffer[..self.end]);
        self.pool.give(std::mem::replace(&mut self.buffer, larger));
    }

    /// Moves the bytes to a temporary file and reads into it until `goal` bytes are available or the source ends.
    fn fill_spill(&mut self, goal: usize) -> Result<()> {
        let spilled = self.try_fill_spill(goal);
        spilled.map_err(|error| {
            let (limit, dir) = (self.limit, super::shown_path(&self.spool_dir));
            let error = Error::at(self.offset, ErrorKind::Io(error)).with_remedy(wording!(
                "this record is larger than the window of {limit} bytes and needs room in {dir}",
                "该记录大于 {limit} 字节的窗口，需要使用 {dir} 中的空间"
            ));
            // Bytes may have been read but not stored, so later bytes would not be contiguous.
            self.state = SourceState::Failed(error.again());
            error
        })
    }

    /// Returns the error for a record that needs a larger temporary file than allowed. No more is read then.
    #[cold]
    fn over_budget(&mut self) -> Error {
        let most = self.largest;
        let what = wording!(
            "the record needs a temporary file of more than {most} bytes, the limit for this input",
            "该记录需要超过 {most} 字节的临时文件，超出本输入的上限"
        );
        let error = Error::at(self.offset, ErrorKind::OverBudget(what))
            .with_remedy(wording!("give a larger --max-temp", "请调大 --max-temp"));
        self.state = SourceState::Failed(error.again());
        error
    }

    fn try_fill_spill(&mut self, goal: usize) -> std::io::Result<()> {
        if self.spill.as_ref().is_none_or(Spill::is_mostly_consumed) {
            self.spill = Some(Spill::new(&self.spool_dir, self.bytes())?);
            // From here on the buffer only transfers bytes from the source to the file.
            self.buffer = self.pool.get(Self::CARRIED, Self::CARRIED);
            (self.start, self.end) = (0, 0);
        }
        let Some(mut spill) = self.spill.take() else { return Ok(()) };
        let appended = self.append_to(&mut spill, goal);
        self.spill = Some(spill);
        appended
    }

    fn append_to(&mut self, spill: &mut Spill, goal: usize) -> std::io::Result<()> {
        let mut present = spill.bytes().len();
        while present < goal && matches!(self.state, SourceState::Open) {
            let until = self.buffer.len().min(goal - present);
            let place = self.place_of(present);
            match self.source.read(&mut self.buffer[..until], place) {
                Ok(0) => self.state = SourceState::Ended,
                Ok(read) => {
                    spill.append(&self.buffer[..read])?;
                    present += read;
                }
                Err(error) => self.state = SourceState::Failed(error),
            }
        }
        spill.show()
    }

    fn place_of(&self, present: usize) -> u64 {
        self.offset.saturating_add(u64::try_from(present).unwrap_or(u64::MAX))
    }

    /// Returns the error of the source, as often as it is asked for, or false at its end.
    fn source_result(&self) -> Result<bool> {
        match &self.state {
            SourceState::Open | SourceState::Ended => Ok(false),
            SourceState::Failed(error) => Err(error.again()),
        }
    }
}

#[cfg(test)]
mod tests;
