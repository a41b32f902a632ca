//! Checksum of the whole file as evidence about its records.

use crate::rdb::crc64;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::{CHECKSUM_BYTES, RdbHeader};

/// Result of comparing the checksum at the end of a file with its bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileChecksum {
    /// No record is false, however odd it is.
    Right,
    /// Some byte was changed.
    Wrong,
    /// None was stored.
    Unknown,
}

impl FileChecksum {
    /// Computes the checksum of a snapshot from `start` to the end of the file.
    pub fn of(bytes: &[u8], start: usize, header: RdbHeader) -> Self {
        match is_right(bytes, start) {
            Some(true) if header.has_checksum() => FileChecksum::Right,
            Some(false) => FileChecksum::Wrong,
            Some(true) | None => FileChecksum::Unknown,
        }
    }
}

/// Returns whether the file ends with the checksum of its bytes; `None` if none was computed.
fn is_right(bytes: &[u8], start: usize) -> Option<bool> {
    let end = bytes.len().checked_sub(CHECKSUM_BYTES)?;
    let stored = Cursor::new(bytes.get(end..)?, 0).u64_le().ok().filter(|stored| *stored != 0)?;
    Some(stored == crc64::checksum(bytes.get(start..end)?))
}
