//! Second pass over what the first pass has read, for work that it deferred.
//!
//! Computing slots takes a sixth of a run, and most dumps do not need them: no cluster, and no hash tags in names.
//! Readers therefore defer slots until a tag is seen. The first tag makes slots part of the report, and what is before it is read
//! again: ranges of mapped files, and the beginnings of compressed ones.

use std::sync::Arc;

use rayon::prelude::*;

use super::feed::ReadAgain;
use super::file::{InputFile, MappedFile};
use super::reader::{Continue, ReadOptions, RecordReader, read_batch_shared};
use super::tally::{FileTally, PartTally};
use crate::limits;
use crate::rdb::batch::Batch;
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

/// Records at the beginning of a file that is not mapped, whose slots were deferred.
#[derive(Debug)]
pub struct DeferredStart {
    file: Arc<InputFile>,
    again: ReadAgain,
    /// The boundary at which it ends, once anything was deferred.
    end: u64,
    is_over: bool,
}

impl DeferredStart {
    /// Creates an empty one of a file.
    pub fn new(file: &Arc<InputFile>, again: ReadAgain) -> DeferredStart {
        DeferredStart { file: Arc::clone(file), again, end: 0, is_over: false }
    }

    /// Adds the next batch of the file if slots can be deferred now and those of all batches before were. Returns whether they are.
    pub fn extend(&mut self, batch: &Batch, can_defer: bool) -> bool {
        self.is_over |= !can_defer;
        if !self.is_over {
            self.end = batch.end();
        }
        !self.is_over
    }

    /// Returns the offset at which it ends.
    pub fn bytes(&self) -> u64 {
        self.end
    }

    /// Returns its batches; none if the file is gone, which is noticed at the end of the run.
    fn batches(&self) -> impl Iterator<Item = Batch> + Send {
        let (mut batches, end) = (self.again.batches(), self.end);
        std::iter::from_fn(move || batches.as_mut()?.next_batch()?.truncated_at(end))
    }

    /// Reads it again on all threads of the current pool: see [`read_again`].
    pub fn read_again<S: Send>(
        &self,
        reading: ReadOptions<'_>,
        empty: impl Fn() -> S + Sync + Send,
        see: impl Fn(&mut S, &Record<'_>) + Sync + Send,
    ) -> impl ParallelIterator<Item = S> {
        // The first pass has computed the checksum.
        let reading = ReadOptions { checksum: false, ..reading };
        self.batches().par_bridge().fold(empty, move |mut sum, batch| {
            read_batch_shared(&batch, &self.file, reading, &mut FileTally::default(), &mut |record, _| {
                see(&mut sum, record);
                Continue::Yes
            });
            sum
        })
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
