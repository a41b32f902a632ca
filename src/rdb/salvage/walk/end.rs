//! EOF opcodes: the end of the file, or part of a value.

use super::{Stop, Walk};
use crate::error::{Error, Result};
use crate::rdb::cursor::Cursor;
use crate::rdb::scan::KeyEntry;
use crate::wording::wording;

impl Walk<'_> {
    /// Returns whether the snapshot ends before `end` according to the checksum there; other bytes may follow.
    pub(super) fn is_end_by_checksum(&self, end: usize) -> bool {
        // Behind a gap the checksum is wrong; so this is computed once.
        if self.is_behind_gap() {
            return false;
        }
        let stored = Cursor::new(self.bytes.get(end..).unwrap_or_default(), 0).u64_le();
        let covered = self.bytes.get(self.start..end).unwrap_or_default();
        match stored {
            Ok(stored) => stored == 0 || stored == crate::rdb::crc64::checksum(covered),
            Err(_) => !self.header.has_checksum(),
        }
    }

    /// Returns whether only the bytes of the end mark and the checksum follow: one that ends here is as long as it should be.
    pub(super) fn is_at_end_mark(&self, boundary: usize) -> bool {
        self.header.has_checksum() && self.bytes.len().checked_sub(boundary) == Some(1 + self.header.checksum_len())
    }

    /// Fails for a key in the bytes of the end mark and the checksum, which may be zeros: one without a name, or one beyond the announced
    /// number.
    pub(super) fn is_before_end_mark(&self, entry: &KeyEntry<'_>, at: usize) -> Result<()> {
        let left = self.bytes.len().saturating_sub(at);
        let is_in_end_mark = self.header.has_checksum() && left <= 1 + self.header.checksum_len();
        let is_beyond = self.database.left == Some(0) && self.is_at_end_mark(at);
        if !is_beyond && (!entry.key.is_empty() || !is_in_end_mark) {
            return Ok(());
        }
        Err(Error::corrupt(at as u64, wording!("a key in place of the end mark", "结束标记处出现 key")))
    }

    /// Returns what an EOF opcode in the middle of the file means.
    ///
    /// Behind a gap it may be the end of a snapshot that is the value of a key: then a record follows its checksum.
    pub(super) fn false_end(&mut self, at: usize) -> Stop {
        let behind = at + 1 + self.header.checksum_len();
        let is_value = self.is_behind_gap() && self.resync.is_boundary(behind, self.templates.as_ref(), &self.profile);
        if is_value {
            return Stop::Embedded(at);
        }
        Stop::Failed { at, error: end_inside(at), is_credible: false }
    }
}

/// Returns the error for an EOF opcode in the middle of the file.
pub(super) fn end_inside(at: usize) -> Error {
    Error::corrupt(at as u64, wording!("end mark inside the file", "文件中间出现结束标记"))
}
