//! A worker's share: one batch to records.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use crate::error::{Error, Result, Within};
use crate::limits;
use crate::memory::{Meters, Model};
use crate::rdb::batch::Batch;
use crate::rdb::crc64;
use crate::rdb::peek::RawValue;
use crate::rdb::scan::{Entry, Item, Scanner};
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
    /// Checksums of its parts: where each begins, its checksum, its bytes.
    pub checksums: Vec<(u64, u64, u64)>,
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
        self.checksums.push((batch.base, crc64::checksum(&batch.bytes), batch.bytes.len() as u64));
    }

    /// The checksum over all parts, joined in file order.
    pub fn checksum(&mut self) -> u64 {
        self.checksums.sort_unstable();
        self.checksums.iter().fold(0, |sum, &(_, next, len)| crc64::combine(sum, next, len))
    }
}

/// What was learnt of a part of a file, whose first keys may be of a database that is not known yet.
#[derive(Debug, Default)]
pub struct Tally {
    /// What counts in any case.
    pub settled: FileTally,
    /// What counts if that database is wanted.
    pub leading: FileTally,
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
    see: impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
) -> BatchEnd {
    if reading.checksum {
        tally.add_checksum(batch);
    }
    let mut scanner = batch.scanner();
    let until = scanner.cursor().left();
    let mut read = Tally::default();
    let halt = Reader::new(file, reading).read_until(&mut scanner, until, &mut read, |_| (), see);
    tally.merge(read.settled);
    tally.merge(read.leading);
    let more = match halt {
        Ok(Halt::Enough) => Continue::No,
        Ok(Halt::Until | Halt::End) => Continue::Yes,
        Err(error) => {
            tally.damage(error);
            Continue::Yes
        }
    };
    BatchEnd { more, db: scanner.state().db }
}

/// Reads the records of a file: its models, and what they write into.
#[derive(Debug)]
pub struct Reader<'f> {
    file: &'f File,
    reading: Reading<'f>,
    /// All keys count.
    everything: bool,
    meters: Meters<'f>,
    scratch: Vec<u8>,
    boundary: usize,
}

/// Where reading came to a halt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Halt {
    /// At the first boundary that was wanted.
    Until,
    /// Behind the last opcode.
    End,
    /// At a record that was the last wanted.
    Enough,
}

impl<'f> Reader<'f> {
    /// Reads nothing yet.
    pub fn new(file: &'f File, reading: Reading<'f>) -> Self {
        let everything = reading.selection.is_everything();
        let meters = Meters::new(&file.model, &file.alternatives);
        Reader { file, reading, everything, meters, scratch: Vec::new(), boundary: 0 }
    }

    /// The last boundary that was come to, as a position in the scanned bytes.
    pub fn boundary(&self) -> usize {
        self.boundary
    }

    /// From a boundary, reads to the first one at or behind position `until` of the scanned bytes. Shows selected records to `see` and what
    /// stands between records to `between`. Fails where the framing is broken: then nobody can tell where the next
    /// record begins, and the broken one was neither counted nor shown.
    pub fn read_until(
        &mut self,
        scanner: &mut Scanner<'_>,
        until: usize,
        tally: &mut Tally,
        mut between: impl FnMut(&Item<'_>),
        mut see: impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
    ) -> Result<Halt> {
        self.boundary = scanner.cursor().consumed();
        while self.boundary < until {
            let more = match scanner.plain_entry() {
                Some(entry) => self.record(scanner, &entry, tally, &mut see)?,
                None => match scanner.other_item()? {
                    Item::Entry(entry) => self.other_record(scanner, &entry, tally, &mut see)?,
                    Item::End => return Ok(Halt::End),
                    other => {
                        between(&other);
                        if scanner.at_boundary() {
                            self.boundary = scanner.cursor().consumed();
                        }
                        continue;
                    }
                },
            };
            self.boundary = scanner.cursor().consumed();
            if more == Continue::No {
                return Ok(Halt::Enough);
            }
        }
        Ok(Halt::Until)
    }

    /// The same as [`Reader::record`] for what is seldom.
    #[inline(never)]
    fn other_record<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        entry: &Entry<'a>,
        tally: &mut Tally,
        see: &mut impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
    ) -> Result<Continue> {
        self.record(scanner, entry, tally, see)
    }

    #[inline(always)]
    fn record<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        entry: &Entry<'a>,
        tally: &mut Tally,
        see: &mut impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
    ) -> Result<Continue> {
        let Reader { file, reading, everything, meters, scratch, .. } = self;
        let key = match entry.key.decode(scratch).within("key") {
            Ok(key) => key,
            Err(error) => {
                scanner.skip_value(entry)?;
                tally.settled.keys += 1;
                tally.settled.damage(error);
                return Ok(Continue::Yes);
            }
        };
        let kind = entry.value_type.kind();
        // A database that is not known yet is asked about when it is.
        let selection = reading.selection;
        let db = entry.db.unwrap_or_default();
        let wanted = || {
            (entry.db.is_none() || selection.wants_database(db))
                && selection.wants_in_any_database(kind, key, entry.expires_at, reading.reference)
        };
        if !*everything && !wanted() {
            scanner.skip_value(entry)?;
            tally.settled.keys += 1;
            return Ok(Continue::Yes);
        }
        let start = scanner.cursor().consumed();
        meters.begin_key(key.len() as u64, entry.expires_at.is_some());
        match meters.alone() {
            Some(meter) => scanner.value(entry, meter)?,
            None => scanner.value(entry, &mut *meters)?,
        }
        tally.settled.keys += 1;
        let (known, tally) = match entry.db {
            Some(_) => (KnownDatabase::Yes, &mut tally.settled),
            None => (KnownDatabase::No, &mut tally.leading),
        };
        let value = RawValue { value_type: entry.value_type, bytes: scanner.cursor().since(start) };
        let end = scanner.cursor().consumed();
        match meters.finish() {
            Ok((measured, elsewhere)) => {
                let mut record = Record {
                    file: file.index,
                    db,
                    key,
                    kind,
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
                };
                if let Some(raised) = file.raised.get().filter(|raised| raised.concerns(&record)) {
                    record.value.compact = raised.compact(&record, entry.value_type, value.bytes);
                }
                tally.selected += 1;
                tally.memory += record.memory;
                return Ok(see(&record, known));
            }
            Err(error) => tally.damage(error),
        }
        Ok(Continue::Yes)
    }
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
