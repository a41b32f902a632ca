//! Looking ahead at names that hardly repeat.
//!
//! Whether a set of names is so varied that patterns are kept under strict limits is known once so many of them were counted.
//! Until then each has places of its own, to be made and soon thrown away: tens of megabytes and half a second in every worker. To
//! count names takes a tenth of that. So a reader whose patterns become many reads on, shows no more than names, and comes
//! back. What it has seen is what follows in the file: it counts if the stretch does.

use super::file::MappedFile;
use super::part::FilePart;
use super::reader::{Continue, KnownDatabase, ReadStop, Reader, Reading};
use super::schedule::Schedule;
use super::tally::PartTally;
use crate::limits;
use crate::rdb::scan::Scanner;
use crate::record::Record;

/// Fewer new names than one of so many keys, or in so many bytes, and looking ahead takes as long as it saves.
const KEYS_FOR_ONE: usize = 8;
const BYTES_FOR_ONE: usize = 4 << 10;

/// How far a reader of mapped bytes has looked ahead.
#[derive(Debug)]
pub struct LookAhead<'a> {
    reader: Reader<'a>,
    /// Where it stopped.
    ahead: Option<Scanner<'a>>,
    /// It came to the end, or to damage: nothing that could be read behind that counts.
    saw_all: bool,
}

impl<'a> LookAhead<'a> {
    /// Nothing was looked at.
    pub fn new(whole: &'a MappedFile, reading: Reading<'a>) -> Self {
        LookAhead { reader: Reader::new(&whole.file, reading), ahead: None, saw_all: false }
    }

    /// Shows names that are still to come to `part`, whose reader stands at `here`, as long as that helps it.
    #[cold]
    pub fn look<A: Schedule>(&mut self, here: &Scanner<'a>, part: &mut FilePart<A>) {
        let behind = |ahead: &Scanner<'_>| ahead.cursor().consumed() > here.cursor().consumed();
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
            let halt = self.reader.read_until(&mut scanner, until, &mut PartTally::default(), |_| (), see);
            let bytes = scanner.cursor().consumed() - from;
            self.saw_all = !matches!(halt, Ok(ReadStop::Until));
            if new <= keys / KEYS_FOR_ONE || new <= bytes / BYTES_FOR_ONE {
                break;
            }
        }
        part.end_look_ahead();
        self.ahead = Some(scanner);
    }
}
