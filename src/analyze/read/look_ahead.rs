//! Look-ahead at key names that hardly repeat.
//!
//! The tree of patterns turns strict once it has counted too many distinct names. Until then each name has nodes of its own,
//! which are built and soon thrown away: tens of megabytes and half a second in every worker. Counting names alone takes a
//! tenth of that. So a reader whose tree grows quickly reads on, passes on names only, and comes back. The names that it has
//! seen follow in the file, so they count if the chunk does.

use super::file::MappedFile;
use super::part::FilePart;
use super::reader::{Continue, ReadOptions, ReadStop, RecordReader};
use super::schedule::Schedule;
use super::tally::{KnownDatabase, PartTally};
use crate::limits;
use crate::rdb::scan::Scanner;
use crate::record::Record;

/// Look-ahead stops with less than one new name per 8 keys, or per 4 KiB: it would take as long as it saves.
const KEYS_FOR_ONE: usize = 8;
const BYTES_FOR_ONE: usize = 4 << 10;

/// Look-ahead of a reader of mapped bytes.
#[derive(Debug)]
pub struct LookAhead<'a> {
    reader: RecordReader<'a>,
    /// Position at which the look-ahead stopped.
    ahead: Option<Scanner<'a>>,
    /// True if it reached the end, or damage: nothing after that counts.
    saw_all: bool,
}

impl<'a> LookAhead<'a> {
    /// Creates a look-ahead that has seen nothing.
    pub fn new(mapped: &'a MappedFile, reading: ReadOptions<'a>) -> Self {
        LookAhead { reader: RecordReader::new(&mapped.file, reading), ahead: None, saw_all: false }
    }

    /// Passes names after `here`, the position of the reader, to `part` as long as that helps it.
    #[cold]
    pub fn look<A: Schedule>(&mut self, here: &Scanner<'a>, part: &mut FilePart<A>) {
        let behind = |ahead: &Scanner<'_>| ahead.cursor().consumed() > here.cursor().consumed();
        // Continue where the last look-ahead stopped, unless the reader has caught up.
        let mut scanner = self.ahead.take().filter(behind).unwrap_or_else(|| here.clone());
        while part.wants_look_ahead() && !self.saw_all {
            let (mut keys, mut new) = (0, 0);
            let from = scanner.cursor().consumed();
            let see = |record: &Record<'_>, known: KnownDatabase| {
                keys += 1;
                new += usize::from(part.look_ahead(record, known));
                Continue::Yes
            };
            let until = from.saturating_add(limits::QUANTUM_BYTES);
            let stop = self.reader.read_until(&mut scanner, until, &mut PartTally::default(), |_| (), see);
            let bytes = scanner.cursor().consumed() - from;
            self.saw_all = !matches!(stop, Ok(ReadStop::Until));
            if new <= keys / KEYS_FOR_ONE || new <= bytes / BYTES_FOR_ONE {
                break;
            }
        }
        part.end_look_ahead();
        self.ahead = Some(scanner);
    }
}
