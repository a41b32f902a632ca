//! Counts of keys, damage and checksums of a file, besides its records.

use std::collections::BTreeMap;

use crate::error::Error;
use crate::limits;
use crate::rdb::batch::Batch;
use crate::rdb::crc64;
use crate::report::Unknown;
use crate::units::Bytes;

/// Keys, damage and checksums of a file. Merging commutes.
#[derive(Debug, Default)]
pub struct FileTally {
    /// Keys read, selected or not.
    pub keys: u64,
    /// Keys that count.
    pub selected: u64,
    /// Memory of the selected keys.
    pub memory: Bytes,
    /// Those whose memory is unknown.
    pub unknown: Unknown,
    /// Keys whose value is damaged inside intact framing.
    pub damaged: u64,
    /// The first errors by offset.
    pub errors: Vec<Error>,
    /// Checksums of its parts: start, checksum, length.
    pub checksums: Vec<(u64, u64, u64)>,
}

impl FileTally {
    /// Adds a damaged key.
    pub fn damage(&mut self, error: Error) {
        self.damaged += 1;
        self.errors.push(error);
        self.trim();
    }

    fn trim(&mut self) {
        if self.errors.len() > limits::MAX_NAMED_ERRORS {
            self.errors.sort_by_key(Error::offset);
            self.errors.truncate(limits::MAX_NAMED_ERRORS);
        }
    }

    /// Adds another tally of the same file.
    pub fn merge(&mut self, other: FileTally) {
        self.keys += other.keys;
        self.selected += other.selected;
        self.memory += other.memory;
        self.unknown.merge(other.unknown);
        self.damaged += other.damaged;
        self.errors.extend(other.errors);
        self.errors.sort_by_key(Error::offset);
        self.trim();
        self.checksums.extend(other.checksums);
    }

    /// Adds the checksum of a batch.
    pub fn add_checksum(&mut self, batch: &Batch) {
        self.checksums.push((batch.base, crc64::checksum(&batch.bytes), batch.bytes.len() as u64));
    }

    /// Returns the checksum over all parts, joined in file order.
    pub fn checksum(&mut self) -> u64 {
        self.checksums.sort_unstable();
        self.checksums.iter().fold(0, |sum, &(_, next, len)| crc64::combine(sum, next, len))
    }
}

/// Tally of a part of a file whose first database may be unknown.
#[derive(Debug, Default)]
pub struct PartTally {
    /// Keys of known databases.
    pub settled: FileTally,
    /// Keys before the first database switch.
    pub leading: FileTally,
}

/// A tally for each file, by position among the inputs.
pub type Tallies = BTreeMap<usize, FileTally>;

/// Merges tallies file by file.
pub fn merge_tallies(into: &mut Tallies, other: Tallies) {
    other.into_iter().for_each(|(file, tally)| into.entry(file).or_default().merge(tally));
}
