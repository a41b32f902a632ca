//! Turns the bytes of one file into records.

use super::file::InputFile;
use super::tally::{FileTally, KnownDatabase, PartTally};
use crate::analyze::select::Selection;
use crate::error::{Reading, Result, Within};
use crate::memory::{AlternativeSizes, LazyTemplates, Measured, Meters, PricedPlain};
use crate::rdb::batch::Batch;
use crate::rdb::kind::Kind;
use crate::rdb::peek::RawValue;
use crate::rdb::scan::{FileItem, KeyEntry, Scanner};
use crate::rdb::scratch::Scratch;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::PlainValue;
use crate::record::{Encoding, Record};
use crate::units::{Bytes, Millis};

/// Options for reading records.
#[derive(Debug, Clone, Copy)]
pub struct ReadOptions<'p> {
    /// Selection of the keys that count.
    pub selection: &'p Selection,
    /// Time of the report, with which expiries in files of unknown time are compared; `None` compares none.
    pub reference: Option<Millis>,
    /// True if checksums are computed.
    pub checksum: bool,
}

/// Reads the records of a batch and passes the selected ones to `see` until it stops.
///
/// The batch was cut at record boundaries, so broken framing would be a bug here; it is reported like damage.
pub fn read_batch(
    batch: &Batch,
    file: &InputFile,
    reading: ReadOptions<'_>,
    tally: &mut FileTally,
    see: impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
) -> BatchEnd {
    if reading.checksum {
        tally.add_checksum(batch);
    }
    let mut scanner = batch.scanner();
    let until = scanner.cursor().left();
    let mut read = PartTally::default();
    let stop = RecordReader::new(file, reading).read_until(&mut scanner, until, &mut read, |_| (), see);
    tally.merge(read.settled);
    tally.merge(read.leading);
    let more = match stop {
        Ok(ReadStop::Enough) => Continue::No,
        Ok(ReadStop::Until | ReadStop::End) => Continue::Yes,
        Err(error) => {
            tally.damage(error);
            Continue::Yes
        }
    };
    BatchEnd { more, db: scanner.state().db }
}

/// Observer of records, by whatever code.
pub type SeeRecord<'a> = dyn FnMut(&Record<'_>, KnownDatabase) -> Continue + 'a;

/// Reads a batch like [`read_batch`], by the same code for all observers: for those that do far more with a record than a call through
/// a pointer takes. Code of its own takes 25 kB for each observer.
pub fn read_batch_shared(
    batch: &Batch,
    file: &InputFile,
    reading: ReadOptions<'_>,
    tally: &mut FileTally,
    see: &mut SeeRecord<'_>,
) -> BatchEnd {
    read_batch(batch, file, reading, tally, see)
}

/// Reads the records of a file; holds the meters and buffers that are reused for all of them.
#[derive(Debug)]
pub struct RecordReader<'f> {
    file: &'f InputFile,
    reading: ReadOptions<'f>,
    /// True if the selection accepts all keys.
    everything: bool,
    meters: Meters<'f>,
    scratch: Scratch,
    boundary: usize,
}

/// Reason why a reader stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadStop {
    /// At the first boundary that was wanted.
    Until,
    /// After the last opcode.
    End,
    /// At the last record that was wanted.
    Enough,
}

impl<'f> RecordReader<'f> {
    /// Creates a reader for a file.
    pub fn new(file: &'f InputFile, reading: ReadOptions<'f>) -> Self {
        let reading = ReadOptions { reference: file.reference_in(reading.reference), ..reading };
        let everything = reading.selection.is_everything();
        let meters =
            Meters::with_templates(&file.model, &file.alternatives, file.held_templates.get(), file.budget.part());
        RecordReader { file, reading, everything, meters, scratch: Scratch::new(file.budget.key()), boundary: 0 }
    }

    /// Returns the offset of the last record boundary in the scanned bytes.
    pub fn boundary(&self) -> usize {
        self.boundary
    }

    /// Reads from a boundary to the first one at or after position `until` of the scanned bytes.
    ///
    /// Passes selected records to `see` and the items between records to `between`. Fails where the framing is broken: the
    /// next record cannot be found then, and the broken one is neither counted nor shown.
    pub fn read_until(
        &mut self,
        scanner: &mut Scanner<'_>,
        until: usize,
        tally: &mut PartTally,
        mut between: impl FnMut(&FileItem<'_>),
        mut see: impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
    ) -> Result<ReadStop> {
        self.boundary = scanner.cursor().consumed();
        while self.boundary < until {
            let more = match scanner.plain_entry() {
                Some(entry) => self.record(scanner, &entry, tally, &mut see)?,
                None => match scanner.other_item()? {
                    FileItem::Key(entry) => self.other_record(scanner, &entry, tally, &mut see)?,
                    FileItem::End => return Ok(ReadStop::End),
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
                return Ok(ReadStop::Enough);
            }
        }
        Ok(ReadStop::Until)
    }

    /// Out-of-line copy of [`RecordReader::record`] for keys with metadata, to keep the hot loop small.
    #[inline(never)]
    fn other_record<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        entry: &KeyEntry<'a>,
        tally: &mut PartTally,
        see: &mut impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
    ) -> Result<Continue> {
        self.record(scanner, entry, tally, see)
    }

    #[inline(always)]
    fn record<'a>(
        &mut self,
        scanner: &mut Scanner<'a>,
        entry: &KeyEntry<'a>,
        tally: &mut PartTally,
        see: &mut impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
    ) -> Result<Continue> {
        let RecordReader { file, reading, everything, meters, scratch, .. } = self;
        let key = match entry.key.decode(scratch).within(Reading::Key) {
            Ok(key) => key,
            Err(error) => {
                scanner.skip_value(entry)?;
                tally.settled.keys += 1;
                tally.settled.damage(error);
                return Ok(Continue::Yes);
            }
        };
        // Read before the entry is lent, so that they stay in registers.
        let KeyEntry { db: known_db, expires_at, idle, freq, value_type, start: record_start, .. } = *entry;
        let kind = value_type.kind();
        let db = known_db.unwrap_or_default();
        if !*everything && !is_wanted(reading, known_db, kind, key, expires_at) {
            scanner.skip_value(entry)?;
            tally.settled.keys += 1;
            return Ok(Continue::Yes);
        }
        let start = scanner.cursor().consumed();
        // Fast path: most values are stored in one string, and have their size from lookups.
        if value_type == ValueType::String {
            if let Some(text) = scanner.cursor().plain_text()
                && let Some(price) = meters.text(key.len() as u64, expires_at.is_some(), text)
            {
                scanner.cursor_mut().pass_value(text);
                let disk = Bytes((scanner.cursor().consumed() - record_start) as u64);
                let record = plain_record(file.index, entry, key, text, price, disk, scanner.templates());
                return Ok(see_plain(&record, known_db, tally, see));
            }
        } else if let Some(more) =
            see_packed(file, meters, scanner, entry, key, &mut |record| see_plain(record, known_db, tally, see))
        {
            return Ok(more);
        }
        meters.begin_key(key.len() as u64, expires_at.is_some());
        match meters.alone() {
            Some(meter) => scanner.value(entry, meter)?,
            None => scanner.value(entry, &mut *meters)?,
        }
        tally.settled.keys += 1;
        let (bytes, end) = (scanner.cursor().since(start), scanner.cursor().consumed());
        let over_budget = meters.take_over_budget();
        let is_whole = over_budget.is_none();
        match meters.finish() {
            Ok((measured, _)) if measured.length == Some(0) && value_type.is_skipped_without_elements() => {
                tally.settled.skip_empty();
            }
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
                    disk: Bytes((end - record_start) as u64),
                    content: content(measured, RawValue { value_type, bytes, templates: scanner.templates() }),
                    expires_at,
                    idle,
                    freq,
                    fields_with_ttl: measured.fields_with_ttl,
                    stream: measured.stream.as_ref(),
                    module_facts: elsewhere.module_facts,
                    value: &measured.value,
                    compact: None,
                    // Rules do not look into a value that is too large to be decompressed.
                    raw: is_whole.then(|| RawValue { value_type, bytes, templates: scanner.templates() }),
                };
                if value_type.is_compact_hash() {
                    leave_unpriced(&mut record, file);
                }
                if let (Some(raised), Some(value)) = (file.raised.get(), record.raw)
                    && raised.concerns(&record)
                {
                    record.compact = raised.compact(&record, value, file.held_templates.get(), file.budget.part());
                }
                let (known, tally) = tally.of(known_db);
                if let Some(error) = over_budget {
                    tally.pass_over(*error);
                }
                tally.count(&record);
                return Ok(see(&record, known));
            }
            Err(error) => tally.of(known_db).1.damage(error),
        }
        Ok(Continue::Yes)
    }
}

/// Returns whether a key counts. Whether an unknown database is selected is decided once it is known.
#[inline(never)] // most reports count all keys
fn is_wanted(reading: &ReadOptions<'_>, db: Option<u64>, kind: Kind, key: &[u8], expires_at: Option<Millis>) -> bool {
    let selection = reading.selection;
    db.is_none_or(|db| selection.wants_database(db))
        && selection.wants_in_any_database(kind, key, expires_at, reading.reference)
}

/// Passes on the record of a collection that is stored in one string, if it need not be walked.
#[inline(never)] // keeps the loop over texts small
fn see_packed<'a>(
    file: &InputFile,
    meters: &mut Meters<'_>,
    scanner: &mut Scanner<'a>,
    entry: &KeyEntry<'a>,
    key: &[u8],
    see: &mut impl FnMut(&Record<'_>) -> Continue,
) -> Option<Continue> {
    let value = scanner.cursor().packed_value(entry.value_type)?;
    let (len, expires) = (key.len() as u64, entry.expires_at.is_some());
    let price = meters.packed(len, expires, entry.value_type, value, scanner.templates())?;
    scanner.cursor_mut().pass_value(value);
    let disk = Bytes((scanner.cursor().consumed() - entry.start) as u64);
    Some(see(&plain_record(file.index, entry, key, value, price, disk, scanner.templates())))
}

/// Counts a record and passes it on.
#[inline(always)]
fn see_plain(
    record: &Record<'_>,
    known_db: Option<u64>,
    tally: &mut PartTally,
    see: &mut impl FnMut(&Record<'_>, KnownDatabase) -> Continue,
) -> Continue {
    tally.settled.keys += 1;
    let (known, tally) = tally.of(known_db);
    tally.count(record);
    see(record, known)
}

/// Makes the record of a value that is stored in one string.
#[inline(always)]
fn plain_record<'r>(
    file: usize,
    entry: &KeyEntry<'_>,
    key: &'r [u8],
    value: PlainValue<'r>,
    (priced, elsewhere): (PricedPlain<'r>, AlternativeSizes<'r>),
    disk: Bytes,
    templates: &'r Templates,
) -> Record<'r> {
    let KeyEntry { db, expires_at, idle, freq, value_type, .. } = *entry;
    Record {
        file,
        db: db.unwrap_or_default(),
        key,
        kind: value_type.kind(),
        module: None,
        encoding: priced.encoding,
        length: Some(priced.length),
        memory: priced.memory,
        alternatives: elsewhere.memory,
        allocated_elsewhere: elsewhere.allocated,
        allocated: priced.allocated,
        disk,
        content: Bytes(value.len as u64),
        expires_at,
        idle,
        freq,
        fields_with_ttl: None,
        stream: None,
        module_facts: None,
        value: priced.facts,
        compact: None,
        raw: Some(RawValue { value_type, bytes: value.stored, templates }),
    }
}

/// Returns the bytes of a value that has been walked: see [`Record::content`].
#[inline(never)] // keeps the loop over texts small
fn content(measured: &Measured, raw: RawValue<'_>) -> Bytes {
    Bytes(match (raw.value_type.kind(), measured.value.payload) {
        (Kind::String, _) => measured.length.unwrap_or_default(),
        (_, Some(payload)) => payload.bytes,
        (_, None) => raw.blob_bytes(),
    })
}

/// Marks the memory of a compact hash as unknown if the users of its template cannot be counted.
fn leave_unpriced(record: &mut Record<'_>, file: &InputFile) {
    if file.held_templates.get().is_some_and(LazyTemplates::are_missing) {
        (record.alternatives, record.allocated_elsewhere) = (&[], &[]);
        if matches!(record.encoding, Encoding::TemplateListpack | Encoding::TemplateArray) {
            (record.memory, record.allocated) = (Bytes(0), Bytes(0));
        }
    }
}

/// State at the end of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchEnd {
    /// Reply of the consumer at that point.
    pub more: Continue,
    /// The database in force there, if known.
    pub db: Option<u64>,
}

/// Reply of a consumer of records: continue or stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Continue {
    /// More are wanted.
    Yes,
    /// This was the last.
    No,
}
