//! A worker's share: one batch to records.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result, Within};
use crate::limits;
use crate::memory::{Meters, Model};
use crate::rdb::batch::Batch;
use crate::rdb::crc64;
use crate::rdb::peek::RawValue;
use crate::rdb::scan::{Entry, Item};
use crate::record::{Record, ValueFacts};
use crate::units::{Bytes, Millis};

use super::raised::Raised;
use super::select::Selection;

/// What every worker needs to know of the file that its batch is from.
#[derive(Debug)]
pub struct File {
    /// Position among the inputs.
    pub index: usize,
    /// As reports name it.
    pub name: String,
    /// Prices its values.
    pub model: Arc<Model>,
    /// Price them as well: what was asked about, made of the file's own model.
    pub alternatives: Vec<Model>,
    /// Prices collections just above a limit as if they were below it, where somebody asks.
    pub raised: OnceLock<Raised>,
}

/// How records are read.
#[derive(Debug, Clone, Copy)]
pub struct Reading<'p> {
    /// Which keys count.
    pub selection: &'p Selection,
    /// What expiries are held against.
    pub reference: Option<Millis>,
    /// Whether bytes are summed up.
    pub checksum: bool,
}

/// What was learnt of a file besides its records; merging in any order gives the same.
#[derive(Debug, Default)]
pub struct FileTally {
    /// Keys read, selected or not.
    pub keys: u64,
    /// Keys that count.
    pub selected: u64,
    /// Memory of the selected keys.
    pub memory: Bytes,
    /// Keys whose value is damaged inside intact framing.
    pub damaged: u64,
    /// The first of them by offset.
    pub errors: Vec<Error>,
    /// Checksums of its batches: position, checksum, bytes.
    pub checksums: Vec<(u32, u64, u64)>,
}

impl FileTally {
    /// Takes a damaged key into account.
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

    /// Takes another tally of the same file into account.
    pub fn merge(&mut self, other: FileTally) {
        self.keys += other.keys;
        self.selected += other.selected;
        self.memory += other.memory;
        self.damaged += other.damaged;
        self.errors.extend(other.errors);
        self.errors.sort_by_key(Error::offset);
        self.trim();
        self.checksums.extend(other.checksums);
    }

    /// Sums up the bytes of one batch.
    pub fn add_checksum(&mut self, batch: &Batch) {
        self.checksums.push((batch.index, crc64::checksum(&batch.bytes), batch.bytes.len() as u64));
    }

    /// The checksum over all batches, joined in file order.
    pub fn checksum(&mut self) -> u64 {
        self.checksums.sort_unstable();
        self.checksums.iter().fold(0, |sum, &(_, next, len)| crc64::combine(sum, next, len))
    }
}

/// A tally for each file, by position among the inputs.
pub type Tallies = BTreeMap<usize, FileTally>;

/// Takes other tallies into account.
pub fn merge_tallies(into: &mut Tallies, other: Tallies) {
    other.into_iter().for_each(|(file, tally)| into.entry(file).or_default().merge(tally));
}

/// Reads the records of a batch and shows the selected ones to `see`, until it says stop.
///
/// The scan that cut the batch came through all of it, so broken framing would be a fault of this program; it is reported
/// like damage.
pub fn read_batch(
    batch: &Batch,
    file: &File,
    reading: Reading<'_>,
    tally: &mut FileTally,
    mut see: impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
) -> BatchEnd {
    if reading.checksum {
        tally.add_checksum(batch);
    }
    let mut meters = Meters::new(&file.model, &file.alternatives);
    let mut scanner = batch.scanner();
    let mut scratch = Vec::new();
    while scanner.cursor().left() > 0 {
        let entry = match scanner.next_item() {
            Ok(Item::Entry(entry)) => entry,
            Ok(_) => continue,
            Err(error) => {
                tally.damage(error);
                break;
            }
        };
        tally.keys += 1;
        let key = match entry.key.decode(&mut scratch).within("key") {
            Ok(key) => key,
            Err(error) => {
                tally.damage(error);
                if let Err(error) = scanner.skip_value(&entry) {
                    tally.damage(error);
                    break;
                }
                continue;
            }
        };
        let kind = entry.value_type.kind();
        // A database that is not known yet is asked about when it is.
        let selection = reading.selection;
        let db = entry.db.unwrap_or_default();
        let wanted = (entry.db.is_none() || selection.wants_database(db))
            && selection.wants_in_any_database(kind, key, entry.expires_at, reading.reference);
        if !wanted {
            if let Err(error) = scanner.skip_value(&entry) {
                tally.damage(error);
                break;
            }
            continue;
        }
        let start = scanner.cursor().consumed();
        meters.begin_key(key.len() as u64, entry.expires_at.is_some());
        let walked = match meters.alone() {
            Some(meter) => scanner.value(&entry, meter),
            None => scanner.value(&entry, &mut meters),
        };
        if let Err(error) = walked {
            tally.damage(error);
            break;
        }
        let value = RawValue { value_type: entry.value_type, bytes: scanner.cursor().since(start) };
        let end = scanner.cursor().consumed();
        match record(&mut meters, &entry, key, value, db, file.index, end) {
            Ok(mut record) => {
                if let Some(raised) = file.raised.get().filter(|raised| raised.concerns(&record)) {
                    record.value.compact = raised.compact(&record, entry.value_type, value.bytes);
                }
                tally.selected += 1;
                tally.memory += record.memory;
                let known = if entry.db.is_some() { KnownDatabase::Yes } else { KnownDatabase::No };
                if see(&record, known) == Continue::No {
                    return BatchEnd { more: Continue::No, db: scanner.state().db };
                }
            }
            Err(error) => tally.damage(error),
        }
    }
    BatchEnd { more: Continue::Yes, db: scanner.state().db }
}

/// Where a worker left a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchEnd {
    /// Whether more records are wanted.
    pub more: Continue,
    /// The database in force there, if it is known.
    pub db: Option<u64>,
}

/// Whether more records are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// Yes.
    Yes,
    /// No, this was the last.
    No,
}

/// Whether a record's database number is the real one or the provisional 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownDatabase {
    /// The real one.
    Yes,
    /// Provisional, until the part before is joined.
    No,
}

// A record is large: as a function of its own it would be copied twice.
#[inline(always)]
fn record<'k>(
    meters: &'k mut Meters<'_>,
    entry: &Entry<'_>,
    key: &'k [u8],
    value: RawValue<'k>,
    db: u64,
    file: usize,
    end: usize,
) -> Result<Record<'k>> {
    let (measured, elsewhere) = meters.finish()?;
    Ok(Record {
        file,
        db,
        key,
        kind: entry.value_type.kind(),
        module: measured.module,
        encoding: measured.encoding,
        length: measured.length,
        memory: measured.memory,
        alternatives: elsewhere.memory,
        allocated_elsewhere: elsewhere.allocated,
        allocated: measured.allocated,
        disk: Bytes((end - entry.start) as u64),
        expires_at: entry.expires_at,
        idle: entry.idle,
        freq: entry.freq,
        fields_with_ttl: measured.fields_with_ttl,
        stream: measured.stream.as_ref(),
        // One by one: as a whole they would be read before they have been written.
        value: ValueFacts {
            json_object: measured.text.json_object,
            compressed: measured.text.compressed.map(|bytes| Bytes(bytes.get())),
            compact: None,
        },
        raw: Some(value),
    })
}
