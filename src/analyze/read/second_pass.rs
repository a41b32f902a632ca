//! What was only skimmed when a mapped file was read, and is read again if what was left out is asked for after all.
//!
//! Which slot a key belongs to takes a sixth of a whole run, and of most dumps nobody asks: those of no cluster whose
//! names have no hash tags. So readers leave slots out until a tag is seen. One tag makes them part of the report, and of what
//! was read before it, a second reading adds them.

use rayon::prelude::*;

use super::file::MappedFile;
use super::reader::{Continue, Reader, Reading};
use super::tally::PartTally;
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::scan::{ScanState, Scanner};
use crate::record::Record;

/// Where keys begin.
#[derive(Debug, Clone, Copy)]
pub struct Boundary {
    /// A boundary of the file.
    pub at: usize,
    /// The database in force there, if it is known.
    pub db: Option<u64>,
}

/// Records that were only skimmed: of a file, from a place to the boundary `end`.
#[derive(Debug, Clone)]
pub struct DeferredRange {
    whole: MappedFile,
    start: Boundary,
    end: usize,
}

impl DeferredRange {
    /// The same, when the database in front of these and other records has become known.
    #[must_use]
    pub fn in_database(mut self, db: Option<u64>) -> DeferredRange {
        self.start.db = self.start.db.or(db);
        self
    }

    /// Its bytes in the file.
    pub fn bytes(&self) -> u64 {
        (self.end - self.start.at) as u64
    }

    /// Shows the selected records to `see`. They were read before: what is broken was told.
    fn read(&self, reading: Reading<'_>, mut see: impl FnMut(&Record<'_>)) {
        let bytes = self.whole.mapped.bytes.get(self.start.at..self.end).unwrap_or_default();
        let state = ScanState { family: self.whole.header.family, db: self.start.db };
        let mut scanner = Scanner::new(Cursor::new(bytes, self.start.at as u64), state);
        let mut reader = Reader::new(&self.whole.file, reading);
        let see = |record: &Record<'_>, _| {
            see(record);
            Continue::Yes
        };
        let _ = reader.read_until(&mut scanner, bytes.len(), &mut PartTally::default(), |_| (), see);
    }
}

/// Adds records to those skimmed so far. What follows each other is one piece, up to a size that is worth a thread's while.
pub fn add(all: &mut Vec<DeferredRange>, whole: &MappedFile, start: Boundary, end: usize) {
    match all.last_mut() {
        Some(last) if last.end == start.at && last.bytes() < limits::DEFERRED_BYTES => last.end = end,
        _ if start.at < end => all.push(DeferredRange { whole: whole.clone(), start, end }),
        _ => {}
    }
}

/// Reads records again, on all threads of the current pool. Each shows what it reads to `see` and collects into a sum of its own.
pub fn read_again<S: Send>(
    skimmed: &[DeferredRange],
    reading: Reading<'_>,
    empty: impl Fn() -> S + Sync + Send,
    see: impl Fn(&mut S, &Record<'_>) + Sync + Send,
) -> impl ParallelIterator<Item = S> {
    skimmed.par_iter().fold(empty, move |mut sum, skimmed| {
        skimmed.read(reading, |record| see(&mut sum, record));
        sum
    })
}
