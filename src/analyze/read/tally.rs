//! Counts of keys, damage and checksums of a file, besides its records.

use std::collections::BTreeMap;

use crate::error::{Error, ErrorKind};
use crate::limits;
use crate::rdb::batch::Batch;
use crate::rdb::crc64;
use crate::rdb::verify::Notes;
use crate::record::Record;
use crate::report::Unknown;
use crate::sorting::CompactSort;
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
    /// Keys of unknown memory.
    pub unknown: Unknown,
    /// Keys whose value is damaged inside intact framing.
    pub damaged: u64,
    /// Oddities that servers load.
    pub oddities: Oddities,
    /// The first errors by offset.
    pub errors: Vec<Error>,
    /// Keys, or searches over all keys, that need more memory or temporary space than allowed.
    pub over_budget: u64,
    /// The first of them by offset.
    pub first_over_budget: Option<Error>,
    /// Checksums of its parts.
    pub checksums: Vec<PartChecksum>,
}

/// Checksum of a part of a file. Parts are ordered by their start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PartChecksum {
    /// Offset of the part in the file.
    pub start: u64,
    /// Checksum of its bytes.
    pub checksum: u64,
    /// Number of its bytes.
    pub len: u64,
}

/// Numbers of keys with oddities that servers load.
#[derive(Debug, Clone, Copy, Default)]
pub struct Oddities {
    /// Keys without elements, which servers skip; not among the keys read.
    pub empty: u64,
    /// Streams whose counts differ from their entries.
    pub streams: u64,
    /// Sorted sets with scores that are not numbers.
    pub scores: u64,
    /// Vector sets with an element that occurs twice.
    pub vector_sets: u64,
    /// Keys with a packed element whose size servers of different versions store differently.
    pub edge_elements: u64,
}

impl FileTally {
    /// Counts a selected key.
    #[inline(always)] // for every key
    pub fn count(&mut self, record: &Record<'_>) {
        self.selected += 1;
        self.memory += record.memory;
        self.unknown.note(record.memory, record.disk);
    }

    /// Counts what is odd about a sound key; one without elements is not a key.
    pub fn note(&mut self, notes: Notes) {
        if notes.empty {
            self.skip_empty();
        }
        self.oddities.streams += u64::from(notes.odd_stream);
        self.oddities.scores += u64::from(notes.odd_score);
        self.oddities.vector_sets += u64::from(notes.odd_vector_set);
        self.oddities.edge_elements += u64::from(notes.edge_element);
    }

    /// Takes a key without elements out of the count of keys.
    #[cold]
    pub fn skip_empty(&mut self) {
        self.keys -= 1;
        self.oddities.empty += 1;
    }

    /// Adds a damaged key, or one that needs more memory than allowed.
    pub fn damage(&mut self, error: Error) {
        if let ErrorKind::OverBudget(_) = error.kind() {
            return self.pass_over(error);
        }
        self.damaged += 1;
        self.errors.push(error);
        self.trim();
    }

    /// Adds something that was not read because it needs more memory or temporary space than allowed.
    #[cold]
    pub fn pass_over(&mut self, error: Error) {
        self.over_budget += 1;
        self.keep_first(error);
    }

    fn keep_first(&mut self, error: Error) {
        let earlier = self.first_over_budget.as_ref().is_some_and(|first| first.offset() <= error.offset());
        if !earlier {
            self.first_over_budget = Some(error);
        }
    }

    fn trim(&mut self) {
        if self.errors.len() > limits::MAX_NAMED_ERRORS {
            self.errors.compact_sort_by_key(Error::offset);
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
        self.oddities.empty += other.oddities.empty;
        self.oddities.streams += other.oddities.streams;
        self.oddities.scores += other.oddities.scores;
        self.oddities.vector_sets += other.oddities.vector_sets;
        self.oddities.edge_elements += other.oddities.edge_elements;
        self.over_budget += other.over_budget;
        other.first_over_budget.into_iter().for_each(|error| self.keep_first(error));
        self.errors.extend(other.errors);
        self.errors.compact_sort_by_key(Error::offset);
        self.trim();
        self.checksums.extend(other.checksums);
    }

    /// Adds the checksum of a batch.
    pub fn add_checksum(&mut self, batch: &Batch) {
        let (checksum, len) = (crc64::checksum(&batch.bytes), batch.bytes.len() as u64);
        self.checksums.push(PartChecksum { start: batch.base, checksum, len });
    }

    /// Returns the checksum over all parts, joined in file order.
    pub fn checksum(&mut self) -> u64 {
        self.checksums.sort_unstable();
        self.checksums.iter().fold(0, |sum, part| crc64::combine(sum, part.checksum, part.len))
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

impl PartTally {
    /// Returns the tally for keys of a database, and whether it is known.
    #[inline(always)]
    pub fn of(&mut self, db: Option<u64>) -> (KnownDatabase, &mut FileTally) {
        match db {
            Some(_) => (KnownDatabase::Yes, &mut self.settled),
            None => (KnownDatabase::No, &mut self.leading),
        }
    }
}

/// State of a record's database number: real or the provisional 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownDatabase {
    /// Real.
    Yes,
    /// Provisional, until the part before is joined.
    No,
}

/// A tally for each file, by position among the inputs.
pub type Tallies = BTreeMap<usize, FileTally>;

/// Merges tallies file by file.
pub fn merge_tallies(into: &mut Tallies, other: Tallies) {
    other.into_iter().for_each(|(file, tally)| into.entry(file).or_default().merge(tally));
}
