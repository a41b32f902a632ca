//! Damaged parts of a Dragonfly file: which bytes are passed, and what is told of them.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::items::{is_boundary, next_block};
use super::unfold::{State, Unfolded, position};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;

/// Bytes that may be read in vain per byte of a damaged file.
const WORK_PER_BYTE: u64 = 16;
/// Bytes that may be read in vain of any file: some damaged blocks, each of which may have been expanded to its limit.
const FIRST_WORK: u64 = 16 * limits::MAX_BLOCK_BYTES as u64;

/// Part of a damaged file that cannot be unfolded.
#[derive(Debug)]
pub struct LostPart {
    /// Its place among the unfolded records, where the bytes of the file are. A record, a block or the end follows it.
    pub range: Range<usize>,
    /// Error at its start; `None` if the reader of the records will report it.
    pub error: Option<Error>,
    /// True for one block or chunk: no record begins inside it.
    pub is_one_item: bool,
}

/// Damaged parts, shared with the one who reads past them.
pub(super) type LostParts = Arc<Mutex<Vec<LostPart>>>;

/// Reading past damage.
pub(super) struct PassDamage {
    lost: LostParts,
    /// Records of which a chunk was lost.
    pub incomplete: BTreeSet<u32>,
    /// Bytes that may still be read in vain: time must not grow with the square of the size.
    work: u64,
}

impl PassDamage {
    /// Creates it for a file of `len` bytes; `lost` is the list of what is passed.
    pub fn new(len: usize, lost: &LostParts) -> PassDamage {
        let work = (len as u64).saturating_mul(WORK_PER_BYTE).saturating_add(FIRST_WORK);
        PassDamage { lost: Arc::clone(lost), incomplete: BTreeSet::new(), work }
    }

    fn charge(&mut self, bytes: usize) {
        self.work = self.work.saturating_sub(bytes as u64);
    }

    /// Notes a lost part, or returns its error if it is not to be passed.
    fn lose(&self, part: LostPart) -> Result<()> {
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let is_full = lost.len() >= limits::MAX_GAPS;
        match part.error {
            // Running out of memory is no damage: a larger limit reads these bytes.
            Some(error) if is_full || matches!(error.kind(), ErrorKind::OverBudget(_)) => Err(error),
            None if is_full => Ok(()),
            _ => {
                lost.push(part);
                Ok(())
            }
        }
    }
}

impl Unfolded {
    /// Notes a lost block or chunk of `len` bytes behind what is ready, or returns its error.
    pub(super) fn lose_item(&self, offset: u64, len: usize, error: Error) -> Result<()> {
        let Some(salvage) = &self.salvage else { return Err(error) };
        let start = position(offset).saturating_add(self.ready.len());
        salvage.lose(LostPart { range: start..start.saturating_add(len), error: Some(error), is_one_item: true })
    }

    /// Passes over a block or chunk of `len` bytes that is damaged inside. Fails with `error` if damage is not passed.
    ///
    /// `reached` is how many bytes were read of it, at most.
    pub(super) fn pass_item(&mut self, offset: u64, len: usize, reached: usize, error: Error) -> Result<()> {
        let behind = self.body.bytes().get(len..).unwrap_or_default();
        if let Some(salvage) = &mut self.salvage {
            salvage.charge(reached);
            // Where no item follows, the length is damaged.
            if salvage.work == 0 || !is_boundary(behind) {
                return self.pass_on(offset, 0, Some(error));
            }
        }
        self.lose_item(offset, len, error)?;
        self.plain = len;
        Ok(())
    }

    /// Passes on the bytes of the file up to the next block, or all of them: what is in front cannot be unfolded.
    ///
    /// `reached` is how far it was read. Fails with `error` if damage is not passed.
    pub(super) fn pass_on(&mut self, offset: u64, reached: usize, error: Option<Error>) -> Result<()> {
        let bytes = self.body.bytes();
        let Some(salvage) = &mut self.salvage else {
            if let Some(error) = error {
                return Err(error);
            }
            (self.plain, self.state) = (bytes.len(), State::Ended);
            return Ok(());
        };
        salvage.charge(reached);
        let next = if salvage.work > 0 { next_block(bytes) } else { None };
        let len = next.unwrap_or(bytes.len());
        let start = position(offset).saturating_add(self.ready.len());
        salvage.lose(LostPart { range: start..start.saturating_add(len), error, is_one_item: false })?;
        self.plain = len;
        if next.is_none() {
            self.state = State::Ended;
        }
        Ok(())
    }
}
