//! Splits a file at record boundaries into batches of a few MiB that workers parse independently.
//!
//! A single scan finds the boundaries without decoding values; each batch carries the parser state at its start.

mod salvaged;

use std::mem;
use std::sync::Arc;

use salvaged::SalvagedBatches;

use super::commands::CommandReader;
use super::cursor::Cursor;
use super::file_info::FileInfo;
use super::header::{Family, RdbHeader};
use super::salvage::Survey;
use super::scan::{FileItem, KeyEntry, ScanState, Scanner};
use super::template::Templates;
use crate::error::{Error, Reading, Result, Within};
use crate::input::{Block, Body, Mapped, OpenOptions};
use crate::limits;

/// A contiguous range of a file that begins and ends at a record boundary.
#[derive(Debug)]
pub struct Batch {
    /// The bytes, mapped or owned.
    pub bytes: Block,
    /// Bytes before the first item: the header length in a file's first batch, otherwise 0.
    pub skip: usize,
    /// Absolute offset of the first byte.
    pub base: u64,
    /// Scanner state at the first item.
    pub state: ScanState,
    /// Hash templates that precede the first item.
    pub templates: Option<Arc<Templates>>,
    /// Header of the file.
    pub header: RdbHeader,
}

impl Batch {
    /// Returns the offset behind the last byte.
    pub fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    /// Drops what is behind the record boundary at offset `end`; `None` if that is all.
    #[must_use]
    pub fn truncated_at(mut self, end: u64) -> Option<Batch> {
        let len = usize::try_from(end.saturating_sub(self.base)).unwrap_or(usize::MAX);
        self.bytes.truncate(len);
        (self.bytes.len() > self.skip).then_some(self)
    }

    /// Returns a scanner positioned at the first item.
    pub fn scanner(&self) -> Scanner<'_> {
        let items = self.bytes.get(self.skip..).unwrap_or_default();
        let cursor = Cursor::new(items, self.base + self.skip as u64);
        Scanner::new(cursor, self.state).with_templates(Templates::before(self.header), self.templates.clone())
    }
}

/// Database of keys that precede the first `SELECTDB` opcode.
pub const FIRST_DATABASE: u64 = 0;

/// Iterator-like splitter of a file into [`Batch`]es; also collects the [`FileInfo`] found between keys.
#[derive(Debug)]
pub struct Batches {
    body: Body,
    state: ScanState,
    /// Hash templates before the next batch.
    templates: Option<Arc<Templates>>,
    about: FileInfo,
    started: bool,
    stored_checksum: Option<u64>,
    trailing: u64,
    follows: Option<u8>,
    /// Follows the commands behind the snapshot, if these are verified.
    commands: Option<Result<CommandReader>>,
    strays: u64,
    ended: bool,
    /// Read error of the source, held back until the bytes read before it are used up.
    failure: Option<Error>,
    stopped: Option<Error>,
    start: u64,
    batch_bytes: usize,
    /// Bytes that the next batch will probably have: fewer than `batch_bytes` if keys are small. What a stream reads beyond its
    /// batch has to be copied.
    expected: usize,
    salvaged: Option<SalvagedBatches>,
}

/// Summary of a file, available after its last batch.
#[derive(Debug)]
pub struct FileEnding {
    /// Information found outside the keys.
    pub about: FileInfo,
    /// Bytes from the magic through the checksum, or up to where reading stopped.
    pub bytes: u64,
    /// Checksum stored after the EOF opcode, if the version has one and it was reached.
    pub stored_checksum: Option<u64>,
    /// Bytes after the end of the snapshot.
    pub trailing: u64,
    /// The first of them.
    pub follows: Option<u8>,
    /// Where the last command behind the snapshot is cut off, or what is wrong with the commands; `None` unless they were verified.
    pub commands: Option<Result<Option<u64>>>,
    /// Number of key prefixes (expiry, idle time) without a key.
    pub strays: u64,
    /// Error that ended reading early.
    pub stopped: Option<Error>,
}

/// Reads the values of keys while batches are cut.
pub trait ReadValue {
    /// Moves the scanner past the value of a key.
    fn read<'a>(&mut self, scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>) -> Result<()>;
}

/// Skips values.
struct SkipValues;

impl ReadValue for SkipValues {
    #[inline]
    fn read<'a>(&mut self, scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>) -> Result<()> {
        scanner.skip_value(entry)
    }
}

impl Batches {
    /// Reads the header; `body` must be positioned at the magic.
    pub fn open(mut body: Body) -> Result<Self> {
        let start = body.offset();
        body.fill(RdbHeader::LEN as u64)?;
        let header = RdbHeader::read(&mut Cursor::new(body.bytes(), start)).within(Reading::Header)?;
        Ok(Batches {
            body,
            state: ScanState { family: header.family, db: Some(FIRST_DATABASE) },
            templates: None,
            about: FileInfo::new(header),
            started: false,
            stored_checksum: None,
            trailing: 0,
            follows: None,
            commands: None,
            strays: 0,
            ended: false,
            failure: None,
            stopped: None,
            start,
            batch_bytes: limits::BATCH_BYTES,
            expected: limits::BATCH_BYTES,
            salvaged: None,
        })
    }

    /// Returns the sound ranges of a damaged file as batches; `fault` says what is wrong with the file.
    pub fn salvaged(map: Mapped, survey: Arc<Survey>, fault: Option<Error>) -> Self {
        let header = survey.about.header;
        Batches {
            state: ScanState { family: header.family, db: Some(FIRST_DATABASE) },
            templates: survey.about.templates.clone(),
            about: survey.about.clone(),
            started: true,
            stored_checksum: None,
            trailing: 0,
            follows: None,
            commands: None,
            strays: survey.strays,
            ended: true,
            failure: None,
            stopped: fault,
            start: map.start() as u64,
            batch_bytes: limits::BATCH_BYTES,
            expected: limits::BATCH_BYTES,
            body: Body::Mapped(map.clone()),
            salvaged: Some(SalvagedBatches { map, survey, next: 0 }),
        }
    }

    /// Returns the file and its sound ranges, if it is damaged.
    pub fn salvaged_parts(&self) -> Option<(Mapped, Arc<Survey>)> {
        self.salvaged.as_ref().map(|salvaged| (salvaged.map.clone(), Arc::clone(&salvaged.survey)))
    }

    /// Sets the family to Dragonfly, whose header is that of Redis.
    #[must_use]
    pub fn of_dragonfly(mut self) -> Self {
        (self.state.family, self.about.header.family) = (Family::Dragonfly, Family::Dragonfly);
        self
    }

    /// Sets the target batch size in bytes.
    #[cfg(any(test, feature = "internals"))]
    #[must_use]
    pub fn with_batch_bytes(mut self, bytes: usize) -> Self {
        self.batch_bytes = bytes.max(1);
        self.expected = self.batch_bytes;
        self
    }

    /// Copies a stream to a temporary file, so that it can be read twice. To be called before the first batch.
    pub fn spool(&mut self, options: &OpenOptions) -> Result<()> {
        let failure = self.body.spool(options)?;
        self.failure = self.failure.take().or(failure);
        Ok(())
    }

    /// Returns the file if it is memory-mapped and no batch has been emitted yet.
    pub fn mapped(&self) -> Option<Mapped> {
        match &self.body {
            Body::Mapped(mapped) if !self.started => Some(mapped.clone()),
            Body::Mapped(_) | Body::Stream(_) => None,
        }
    }

    /// Like [`Batches::mapped`], but `None` if an error cut the file short, which only these batches report.
    pub fn mapped_whole(&self) -> Option<Mapped> {
        self.mapped().filter(|_| self.failure.is_none())
    }

    /// Returns the bytes read so far from the magic on, until the first batch is emitted.
    pub fn bytes_ahead(&self) -> Option<&[u8]> {
        (!self.started).then(|| self.body.bytes())
    }

    /// Returns the file's header.
    pub fn header(&self) -> RdbHeader {
        self.about.header
    }

    /// Requests `wanted` bytes and returns whether more may follow.
    ///
    /// A read error is stored instead of returned: the bytes that arrived before it are still parsed, and the error is
    /// reported where they end.
    fn fill(&mut self, wanted: u64) -> bool {
        self.body.fill(wanted).unwrap_or_else(|error| {
            self.failure.get_or_insert(error);
            false
        })
    }

    /// Reads the items before the first key without consuming them: enough to choose a memory model.
    ///
    /// Errors are ignored; the scan that follows reports them.
    pub fn preamble(&mut self) -> FileInfo {
        if self.salvaged.is_some() {
            return self.about.clone();
        }
        let mut wanted = limits::MAX_AUX_BYTES;
        loop {
            let more = self.fill(wanted);
            let mut about = FileInfo::new(self.about.header);
            let read = read_preamble(&mut about, self.body.bytes(), self.body.offset(), self.state);
            // The table of hash templates must be complete: readers that start elsewhere in the file cannot do without.
            let most = if about.hash_templates > 0 { 4 * limits::MAX_TEMPLATE_BYTES } else { limits::BATCH_BYTES };
            match read {
                Err(error) if more && error.needed().is_some() && wanted < most as u64 => wanted *= 4,
                _ => return about,
            }
        }
    }

    fn skip(&self) -> usize {
        if self.started { 0 } else { RdbHeader::LEN }
    }

    /// Returns the next batch, or `None` after the last intact one; [`Batches::ending`] tells why it was the last.
    pub fn next_batch(&mut self) -> Option<Batch> {
        match &mut self.salvaged {
            Some(salvaged) => salvaged.next_batch(),
            None => self.next_batch_with(&mut SkipValues),
        }
    }

    /// Returns the hash templates read so far.
    pub fn templates(&self) -> Option<&Templates> {
        self.templates.as_deref()
    }

    /// Like [`Batches::next_batch`], but `value` reads the value of each key, once unless that fails.
    pub fn next_batch_with(&mut self, value: &mut impl ReadValue) -> Option<Batch> {
        if let Some(salvaged) = &mut self.salvaged {
            return salvaged.next_batch_with(value);
        }
        if self.ended {
            return None;
        }
        let mut wanted = self.expected as u64;
        loop {
            let more = self.fill(wanted);
            let base = self.body.offset();
            let cut = self.scan_batch(value);
            self.expect_like(&cut);
            match cut.reason {
                CutReason::Full => return self.emit(cut.end, cut.state, cut.templates),
                CutReason::End => return self.finish(cut.end, cut.templates),
                // The record continues past the window: emit the complete records first, or grow the window if there are none.
                CutReason::Failed(error) if more && error.needed().is_some() => {
                    if cut.end > self.skip() {
                        return self.emit(cut.end, cut.state, cut.templates);
                    }
                    let needed = error.needed().unwrap_or_default();
                    let reach = error.offset().unwrap_or(base).saturating_sub(base).saturating_add(needed);
                    wanted = reach.max(self.body.bytes().len() as u64 * 2);
                }
                CutReason::Failed(error) => {
                    let error = self.failure.take().unwrap_or(error);
                    return self.stop(cut.end, cut.templates, error);
                }
            }
        }
    }

    /// Expects the next batch to have as many bytes as one that was full of keys, until one has much fewer.
    fn expect_like(&mut self, cut: &BatchCut) {
        if cut.keys >= limits::BATCH_KEYS {
            self.expected = cut.end.min(self.batch_bytes);
        } else if cut.keys < limits::BATCH_KEYS / 2 {
            self.expected = self.batch_bytes;
        }
    }

    /// Scans from the last boundary until a batch is full, the file ends or an item cannot be read.
    fn scan_batch(&mut self, value: &mut impl ReadValue) -> BatchCut {
        let skip = self.skip();
        let items = self.body.bytes().get(skip..).unwrap_or_default();
        let cursor = Cursor::new(items, self.body.offset() + skip as u64);
        let mut scanner =
            Scanner::new(cursor, self.state).with_templates(Templates::before(self.header()), self.templates.clone());
        let mut cut = BatchCut { end: skip, keys: 0, state: self.state, templates: None, reason: CutReason::Full };
        let first = skip;
        // Total decoded key bytes: an LZF key takes a few bytes here but may expand to megabytes in a worker's output.
        let mut names: u64 = 0;
        while cut.end - first < self.batch_bytes && cut.keys < limits::BATCH_KEYS && names < limits::BATCH_BYTES as u64
        {
            match step(&mut scanner, &mut self.about, value) {
                Ok(ScanStep::Key(name)) => {
                    cut.keys += 1;
                    names = names.saturating_add(name);
                }
                Ok(ScanStep::Other) if scanner.at_boundary() => {}
                Ok(ScanStep::Other) => continue,
                Ok(ScanStep::End) => {
                    cut.reason = CutReason::End;
                    cut.end = skip + scanner.cursor().consumed();
                    break;
                }
                Err(error) => {
                    cut.reason = CutReason::Failed(error);
                    break;
                }
            }
            cut.end = skip + scanner.cursor().consumed();
            cut.state = scanner.state();
        }
        self.strays += scanner.strays();
        cut.templates = scanner.shared_templates();
        cut
    }

    fn emit(&mut self, end: usize, next: ScanState, templates: Option<Arc<Templates>>) -> Option<Batch> {
        let (skip, base, state) = (self.skip(), self.body.offset(), self.state);
        self.state = next;
        let templates = mem::replace(&mut self.templates, templates);
        self.started = true;
        Some(Batch { bytes: self.body.take(end), skip, base, state, templates, header: self.header() })
    }

    /// Emits the complete records before a damaged one, and ends the file with `error`.
    fn stop(&mut self, end: usize, templates: Option<Arc<Templates>>, error: Error) -> Option<Batch> {
        self.stopped = Some(error);
        self.ended = true;
        let end = end.min(self.body.bytes().len());
        if end == 0 { None } else { self.emit(end, self.state, templates) }
    }

    /// Emits the last batch, then reads the checksum and counts trailing bytes.
    fn finish(&mut self, end: usize, templates: Option<Arc<Templates>>) -> Option<Batch> {
        self.ended = true;
        let batch = self.emit(end, self.state, templates);
        if let Err(error) = self.read_checksum().and_then(|()| self.count_trailing()) {
            self.stopped = Some(error);
        }
        batch
    }

    fn read_checksum(&mut self) -> Result<()> {
        if !self.about.header.has_checksum() {
            return Ok(());
        }
        self.fill(8);
        let stored = Cursor::new(self.body.bytes(), self.body.offset()).u64_le().within(Reading::Checksum);
        let stored = stored.map_err(|error| self.failure.take().unwrap_or(error))?;
        self.body.skip(8);
        self.stored_checksum = Some(stored);
        Ok(())
    }

    /// Verifies the framing of the commands behind the snapshot, too.
    pub fn verify_commands(&mut self) {
        self.commands = Some(Ok(CommandReader::new(0)));
    }

    /// Reads to the end of the input, so that the checksum of a compressed container is verified as well.
    fn count_trailing(&mut self) -> Result<()> {
        let snapshot_end = self.body.offset();
        self.commands = self.commands.take().map(|_| Ok(CommandReader::new(snapshot_end)));
        loop {
            let more = self.fill(limits::BATCH_BYTES as u64);
            self.follows = self.follows.or(self.body.bytes().first().copied());
            let bytes = self.body.bytes();
            self.commands = self.commands.take().map(|reader| reader.and_then(|reader| reader.feed(bytes)));
            self.body.skip(self.body.bytes().len());
            if !more {
                self.trailing = self.body.offset() - snapshot_end;
                return self.failure.take().map_or(Ok(()), Err);
            }
        }
    }

    /// Returns the file's summary; call it after the last batch.
    pub fn ending(self) -> FileEnding {
        let end = match &self.salvaged {
            Some(salvaged) => self.start + salvaged.survey.bytes,
            None => self.body.offset() - self.trailing,
        };
        FileEnding {
            about: self.about,
            bytes: end - self.start,
            stored_checksum: self.stored_checksum,
            trailing: self.trailing,
            follows: self.follows,
            commands: self.commands.map(|commands| commands.map(|reader| reader.cut_off())),
            strays: self.strays,
            stopped: self.stopped,
        }
    }
}

/// End position of one scan and the reason it ended.
struct BatchCut {
    /// Last record boundary, as an index into the window.
    end: usize,
    keys: usize,
    /// Scanner state at that boundary.
    state: ScanState,
    /// Hash templates read so far.
    templates: Option<Arc<Templates>>,
    reason: CutReason,
}

enum CutReason {
    /// The batch has reached its size limit.
    Full,
    /// The EOF opcode was read.
    End,
    /// The item after the boundary cannot be read.
    Failed(Error),
}

enum ScanStep {
    /// A key, with the decoded length of its name.
    Key(u64),
    Other,
    End,
}

#[inline]
fn step(scanner: &mut Scanner<'_>, about: &mut FileInfo, value: &mut impl ReadValue) -> Result<ScanStep> {
    match scanner.next_item()? {
        FileItem::Key(entry) => value.read(scanner, &entry).map(|()| ScanStep::Key(entry.key.len())),
        FileItem::End => Ok(ScanStep::End),
        other => {
            about.observe(&other);
            Ok(ScanStep::Other)
        }
    }
}

fn read_preamble(about: &mut FileInfo, bytes: &[u8], base: u64, state: ScanState) -> Result<()> {
    let items = bytes.get(RdbHeader::LEN..).unwrap_or_default();
    let cursor = Cursor::new(items, base + RdbHeader::LEN as u64);
    let mut scanner = Scanner::new(cursor, state).with_templates(Templates::before(about.header), None);
    loop {
        match scanner.next_item()? {
            // Slot opcodes follow SELECTDB, so keep reading: they mark the dump of a cluster node.
            FileItem::Database(_) | FileItem::DatabaseSize(..) => {}
            FileItem::Key(_) | FileItem::End => {
                about.templates = scanner.shared_templates();
                about.enterprise |= scanner.met_enterprise_prefix();
                return Ok(());
            }
            other => about.observe(&other),
        }
    }
}

#[cfg(test)]
mod tests;
