//! Second pass over mapped ranges, for work that the first pass deferred.
//!
//! Computing slots takes a sixth of a run, and most dumps do not need them: no cluster, and no hash tags in names.
//! Readers therefore defer slots until a tag is seen. The first tag makes slots part of the report, and the ranges
//! before
//! it are read again.

use rayon::prelude::*;

use super::file::MappedFile;
use super::reader::{Continue, ReadOptions, RecordReader};
use super::tally::PartTally;
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::scan::{ScanState, Scanner};
use crate::rdb::template::Templates;
use crate::record::Record;

/// A record boundary.
#[derive(Debug, Clone, Copy)]
pub struct Boundary {
    /// Its offset in the file.
    pub at: usize,
    /// The database in force there, if known.
    pub db: Option<u64>,
}

/// Records of a file, from `start` to the boundary `end`, whose slots were deferred.
#[derive(Debug, Clone)]
pub struct DeferredRange {
    mapped: MappedFile,
    start: Boundary,
    end: usize,
}

impl DeferredRange {
    /// Sets the database in force at the start, if it was unknown.
    #[must_use]
    pub fn in_database(mut self, db: Option<u64>) -> DeferredRange {
        self.start.db = self.start.db.or(db);
        self
    }

    /// Returns its length in the file.
    pub fn bytes(&self) -> u64 {
        (self.end - self.start.at) as u64
    }

    /// Passes the selected records to `see`. Damage was reported by the first pass.
    fn read(&self, reading: ReadOptions<'_>, mut see: impl FnMut(&Record<'_>)) {
        let bytes = self.mapped.map.bytes.get(self.start.at..self.end).unwrap_or_default();
        let state = ScanState { family: self.mapped.header.family, db: self.start.db };
        let cursor = Cursor::new(bytes, self.start.at as u64);
        let mut scanner = Scanner::new(cursor, state)
            .with_templates(Templates::before(self.mapped.header), self.mapped.templates.clone());
        let mut reader = RecordReader::new(&self.mapped.file, reading);
        let see = |record: &Record<'_>, _| {
            see(record);
            Continue::Yes
        };
        let _ = reader.read_until(&mut scanner, bytes.len(), &mut PartTally::default(), |_| (), see);
    }
}

/// Adds a range. Adjacent ranges are merged, up to a size that is useful to divide among threads.
pub fn add(all: &mut Vec<DeferredRange>, mapped: &MappedFile, start: Boundary, end: usize) {
    match all.last_mut() {
        Some(last) if last.end == start.at && last.bytes() < limits::DEFERRED_BYTES => last.end = end,
        _ if start.at < end => all.push(DeferredRange { mapped: mapped.clone(), start, end }),
        _ => {}
    }
}

/// Reads ranges again on all threads of the current pool; `see` adds each record to a sum of its thread.
pub fn read_again<S: Send>(
    deferred: &[DeferredRange],
    reading: ReadOptions<'_>,
    empty: impl Fn() -> S + Sync + Send,
    see: impl Fn(&mut S, &Record<'_>) + Sync + Send,
) -> impl ParallelIterator<Item = S> {
    deferred.par_iter().fold(empty, move |mut sum, deferred| {
        deferred.read(reading, |record| see(&mut sum, record));
        sum
    })
}
