//! Reads one chunk of a mapped file in one pass: boundaries, records and checksum.
//!
//! Bytes come from memory once. A reader advances by a quantum that fits the processor's cache, and computes the checksum of
//! each quantum first, which loads it sequentially.

use super::file::MappedFile;
use super::look_ahead::LookAhead;
use super::part::FilePart;
use super::progress::Progress;
use super::reader::{Continue, ReadOptions, ReadStop, RecordReader};
use super::schedule::Schedule;
use super::second_pass::{self, Boundary, DeferredRange};
use super::tally::{FileTally, KnownDatabase, PartChecksum, PartTally};
use crate::error::{Error, Reading, Result, Within};
use crate::limits;
use crate::rdb::batch::{FIRST_DATABASE, FileEnding};
use crate::rdb::crc64::Crc64Digest;
use crate::rdb::cursor::Cursor;
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::RdbHeader;
use crate::rdb::scan::{ScanState, Scanner};
use crate::rdb::template::Templates;
use crate::record::Record;

/// Result of one chunk, or of several that were joined.
#[derive(Debug)]
pub struct ChunkResult<A> {
    /// Aggregates over its records.
    pub part: FilePart<A>,
    /// Everything else found in it.
    pub facts: ChunkFacts,
}

impl<A: Schedule> ChunkResult<A> {
    /// Joins the chunk that follows in the file. `wanted` returns whether keys of a database count at all.
    #[must_use]
    pub fn join(mut self, next: Self, wanted: impl Fn(u64) -> bool) -> Self {
        self.facts.join(next.facts, self.part.ends_in_database(), &wanted);
        ChunkResult { part: self.part.join(next.part, wanted), facts: self.facts }
    }
}

/// Facts about a chunk besides its records.
#[derive(Debug)]
pub struct ChunkFacts {
    /// Keys and damage.
    pub tally: PartTally,
    about: FileInfo,
    /// Ranges whose slots were deferred to a second pass.
    deferred: Vec<DeferredRange>,
    strays: u64,
    /// Position at which reading stopped.
    end: usize,
    stopped: Option<Error>,
    /// True if the last opcode was read.
    complete: bool,
}

impl ChunkFacts {
    /// Returns true when nothing follows: the snapshot ended, or is broken.
    pub fn are_last(&self) -> bool {
        self.complete || self.stopped.is_some()
    }

    /// Returns whether hash templates follow the first key, so that only a reader from the start of the file has them.
    pub fn have_late_templates(&self, mapped: &MappedFile) -> bool {
        let first = mapped.templates.as_ref().map_or(0, |templates| templates.len() as u64);
        self.about.hash_templates > first
    }

    /// Returns the boundary at which reading stopped.
    pub fn end(&self) -> usize {
        self.end
    }

    /// Joins the facts of the following chunk, whose leading keys belong to database `db` if that is known.
    fn join(&mut self, next: ChunkFacts, db: Option<u64>, wanted: impl Fn(u64) -> bool) {
        self.deferred.extend(next.deferred.into_iter().map(|deferred| deferred.in_database(db)));
        match db.map(wanted) {
            Some(true) => self.tally.settled.merge(next.tally.leading),
            Some(false) => {}
            None => self.tally.leading.merge(next.tally.leading),
        }
        self.tally.settled.merge(next.tally.settled);
        self.about.merge(next.about);
        self.strays += next.strays;
        (self.end, self.stopped, self.complete) = (next.end, next.stopped, next.complete);
    }

    /// Splits the facts of a complete file into its ending, its tally and its deferred ranges.
    pub fn into_ending(self, mapped: &MappedFile) -> (FileEnding, FileTally, Vec<DeferredRange>) {
        let mut ending = FileEnding {
            about: self.about,
            bytes: (self.end - mapped.map.start()) as u64,
            stored_checksum: None,
            trailing: 0,
            follows: None,
            commands: None,
            strays: self.strays,
            stopped: self.stopped,
        };
        if self.complete {
            let rest = mapped.map.bytes.get(self.end..).unwrap_or_default();
            let mut behind = Cursor::new(rest, self.end as u64);
            match mapped.header.has_checksum().then(|| behind.u64_le().within(Reading::Checksum)) {
                Some(Err(error)) => ending.stopped = Some(error.in_file(&mapped.file.name)),
                sum => {
                    ending.stored_checksum = sum.and_then(Result::ok);
                    ending.bytes += behind.consumed() as u64;
                    ending.trailing = behind.left() as u64;
                    ending.follows = rest.get(behind.consumed()).copied();
                }
            }
        }
        (ending, self.tally.settled, self.deferred)
    }
}

/// Returns whether the scanner has no other hash templates than those before the first key.
fn has_first_templates(scanner: &Scanner<'_>, mapped: &MappedFile) -> bool {
    scanner.templates().len() == mapped.templates.as_ref().map_or(0, |templates| templates.len())
}

/// Reads a chunk that begins at byte `start`; the first chunk of a file begins at its header.
///
/// Calls `next_until` at each boundary where a quantum ends, with the heap bytes that `part` holds. It returns the
/// position to read to, or `None` to stop.
pub fn read<A: Schedule>(
    mapped: &MappedFile,
    start: usize,
    part: &mut FilePart<A>,
    reading: ReadOptions<'_>,
    progress: &dyn Progress,
    empty: impl Fn() -> A,
    mut next_until: impl FnMut(usize, usize) -> Option<usize>,
) -> ChunkFacts {
    let is_first = start == mapped.map.start();
    let bytes = mapped.map.bytes.get(start..).unwrap_or_default();
    let mut cursor = Cursor::new(bytes, start as u64);
    if is_first {
        // Its magic was checked when the file was opened.
        let _ = cursor.take(RdbHeader::LEN as u64);
    }
    let state = ScanState { family: mapped.header.family, db: is_first.then_some(FIRST_DATABASE) };
    let none = Templates::before(mapped.header);
    let mut scanner = Scanner::new(cursor, state).with_templates(none, mapped.templates.clone());
    let mut reader = RecordReader::new(&mapped.file, reading);
    let mut sum = reading.checksum.then(Crc64Digest::new);
    let mut facts = ChunkFacts {
        tally: PartTally::default(),
        about: FileInfo::new(mapped.header),
        deferred: Vec::new(),
        strays: 0,
        end: start,
        stopped: None,
        complete: false,
    };
    let mut foresight = None;
    let mut summed = 0;
    let mut given_back = start;
    while let Some(until) = next_until(facts.end, part.heap_bytes()) {
        // The checksum runs first: it loads the bytes into the cache in order, where the parser then finds them.
        let before = sum.clone();
        if let Some(sum) = &mut sum {
            sum.update(bytes.get(summed..until - start).unwrap_or_default());
        }
        let place = Boundary { at: start + scanner.cursor().consumed(), db: scanner.state().db };
        // A second pass over a range starts with the templates before the first key.
        let defers = part.can_defer() && has_first_templates(&scanner, mapped);
        part.defer(defers);
        let keys = facts.tally.settled.keys;
        let about = &mut facts.about;
        let see = |record: &Record<'_>, known: KnownDatabase| {
            part.take(record, known, &empty);
            Continue::Yes
        };
        let stop = reader.read_until(&mut scanner, until - start, &mut facts.tally, |item| about.observe(item), see);
        progress.keys(facts.tally.settled.keys - keys);
        let end = match stop {
            Ok(ReadStop::End) => {
                facts.complete = true;
                scanner.cursor().consumed()
            }
            Ok(ReadStop::Until | ReadStop::Enough) => reader.boundary(),
            Err(error) => {
                facts.stopped = Some(error.in_file(&mapped.file.name));
                reader.boundary()
            }
        };
        progress.bytes((start + end - facts.end) as u64);
        facts.end = start + end;
        if defers {
            second_pass::add(&mut facts.deferred, mapped, place, facts.end);
        }
        if facts.are_last() {
            // The checksum covered more than was read: it starts again from the last boundary.
            sum = before;
            break;
        }
        // The chunk at the start of the file is confirmed, whether guesses are or not.
        part.exchange_hints(is_first);
        if part.wants_look_ahead() {
            foresight.get_or_insert_with(|| LookAhead::new(mapped, reading)).look(&scanner, part);
        }
        summed = summed.max(until - start);
        let behind = (start + summed.min(end) - given_back) / limits::GIVEN_BACK * limits::GIVEN_BACK;
        mapped.map.bytes.give_back(given_back..given_back + behind);
        given_back += behind;
    }
    if let Some(mut sum) = sum {
        let len = facts.end - start;
        sum.update(bytes.get(summed..len).unwrap_or_default());
        let read = PartChecksum { start: start as u64, checksum: sum.value(), len: len as u64 };
        facts.tally.settled.checksums.push(read);
    }
    part.defer(false);
    facts.strays = scanner.strays();
    part.ends_in(scanner.state().db);
    facts
}
