//! Rows of keys in chunks, in file order: what `rdblens keys` writes, and other languages read as columns.
//!
//! ```
//! use rdblens::rows::{ColumnChoice, RowColumns, RowConditions, RowReader};
//! use rdblens::{Plan, PolicySource, ReadPlan, Unwatched};
//!
//! let inputs = ["testdata/dumps/shop.rdb"];
//! let plan = Plan { policy: PolicySource::Preset("none".to_owned()), ..Plan::new(ReadPlan::new(std::env::temp_dir())) };
//! let choice = ColumnChoice::of(&["key", "memory"], RowColumns::Facts)?;
//! let mut memory = 0;
//! let reader = RowReader::open(&inputs, &plan, RowConditions::default(), &Unwatched)?;
//! let read = reader.columns(&choice, |columns| {
//!     memory += columns.chosen(&choice)[1].1.numbers.iter().sum::<i64>();
//!     Ok(())
//! })?;
//! assert_eq!(read.rows, 5257);
//! assert!(memory > 0 && read.faults().next().is_none());
//! # Ok::<(), rdblens::Error>(())
//! ```

use std::io;
use std::path::Path;
use std::sync::Mutex;

use rayon::ThreadPool;

use crate::analyze::first_pass::require_files;
use crate::analyze::read::file::InputFile;
use crate::analyze::read::progress::check_cancelled;
use crate::analyze::read::tally::Tallies;
use crate::analyze::row_filter::{RowFilter, RowScratch, RowSetup};
use crate::analyze::rows::write_rows;
use crate::analyze::verdict::{FileVerdict, verdicts};
use crate::analyze::{Plan, Progress, Snapshot, pool};
use crate::error::{Error, Result};
use crate::pattern::PatternBuf;
use crate::record::Record;
use crate::render::rows::{LENGTHS, RecordLines, RecordRow, RowFormat, RowMaker};

pub use crate::analyze::row_filter::{PolicyConditions, RowConditions};
pub use crate::render::rows::{Column, ColumnChoice, ColumnType, Columns, RowColumns, Values};

/// Inputs whose rows are to be read. Made by [`RowReader::open`].
pub struct RowReader<'p> {
    pub(crate) setup: RowSetup,
    snapshot: Snapshot,
    plan: &'p Plan,
    progress: &'p dyn Progress,
    threads: ThreadPool,
    with: RowColumns,
}

/// Parts of rows that take time to find.
#[derive(Debug, Clone, Copy)]
struct RowParts {
    pattern: bool,
    /// Lengths of elements.
    elements: bool,
}

/// Result of reading rows.
#[derive(Debug)]
pub struct RowsRead {
    /// Number of rows that were passed on.
    pub rows: u64,
    /// Number of keys that the selection takes, whatever the conditions on their rows.
    pub selected: u64,
    pub(crate) verdicts: Vec<FileVerdict>,
}

impl RowsRead {
    /// Returns why files were not read to their end, and the values that are damaged inside intact framing.
    pub fn faults(&self) -> impl Iterator<Item = &Error> {
        self.verdicts.iter().flat_map(|verdict| verdict.fault.iter().chain(&verdict.damage))
    }

    /// Returns the first of the [`faults`](RowsRead::faults), if there is one.
    pub fn into_fault(self) -> Option<Error> {
        self.verdicts.into_iter().find_map(|verdict| verdict.fault.into_iter().chain(verdict.damage).next())
    }
}

impl<'p> RowReader<'p> {
    /// Opens the inputs. Selection, server model, policy and masking are those of the plan.
    ///
    /// Reads the inputs once if a condition or masking needs all keys first.
    pub fn open<P: AsRef<Path>>(
        inputs: &[P],
        plan: &'p Plan,
        conditions: RowConditions,
        progress: &'p dyn Progress,
    ) -> Result<Self> {
        // Before the inputs are opened, which would wait for the writer of a pipe.
        if plan.mask.is_some() {
            require_files(inputs, "--mask")?;
        }
        let with = if conditions.policy.is_some() { RowColumns::Labeled } else { RowColumns::Facts };
        let snapshot = Snapshot::open(inputs, &plan.read, progress)?;
        let setup = RowSetup::new(inputs, plan, conditions, &snapshot, progress)?;
        // Conditions are wrong before a row is read.
        setup.filter()?;
        let threads = pool(plan.read.threads)?;
        Ok(RowReader { setup, snapshot, plan, progress, threads, with })
    }

    /// Returns whether it is known at which time keys would have expired.
    pub(crate) fn has_reference(&self) -> bool {
        self.snapshot.reference.is_some()
    }

    /// Returns which columns the rows have: labels are there if the conditions have a policy.
    pub fn row_columns(&self) -> RowColumns {
        self.with
    }

    /// Reads the rows, and passes them to `out` in chunks of columns until it fails.
    ///
    /// Damage is no error: rows before it are passed on, and [`RowsRead::faults`] says what is damaged.
    pub fn columns(
        mut self,
        choice: &ColumnChoice,
        out: impl FnMut(Columns) -> io::Result<()> + Send,
    ) -> Result<RowsRead> {
        let (read, written) = self.chunks(choice, out)?;
        written.map_err(Error::from)?;
        Ok(read)
    }

    /// Like [`RowReader::columns`], with the error of `out` apart.
    pub(crate) fn chunks(
        &mut self,
        choice: &ColumnChoice,
        mut out: impl FnMut(Columns) -> io::Result<()> + Send,
    ) -> Result<(RowsRead, io::Result<()>)> {
        let make = || vec![Columns::new(choice)];
        let push = |chunks: &mut Vec<Columns>, row: &RecordRow<'_>| {
            if chunks.last().is_none_or(Columns::is_full) {
                chunks.push(Columns::new(choice));
            }
            chunks.iter_mut().next_back().into_iter().for_each(|columns| columns.push(row));
        };
        let parts = RowParts { pattern: choice.has("pattern"), elements: LENGTHS.iter().any(|name| choice.has(name)) };
        self.read(parts, make, push, |chunks, mut left| {
            for mut columns in chunks {
                columns.truncate(left);
                left -= columns.len();
                if !columns.is_empty() {
                    out(columns)?;
                }
            }
            Ok(())
        })
    }

    /// Runs `work` on the threads of the run.
    #[cfg(feature = "parquet")]
    pub(crate) fn install<R: Send>(&self, work: impl FnOnce() -> R + Send) -> R {
        self.threads.install(work)
    }

    /// Reads the rows, and passes their lines to `out` until it fails.
    pub(crate) fn lines(
        &mut self,
        format: RowFormat,
        mut out: impl FnMut(&[u8]) -> io::Result<()> + Send,
    ) -> Result<(RowsRead, io::Result<()>)> {
        // Lines that were passed on give their memory to others.
        let free: Mutex<Vec<RecordLines>> = Mutex::default();
        let make = || free.lock().ok().and_then(|mut free| free.pop()).unwrap_or_default();
        let push = |lines: &mut RecordLines, row: &RecordRow<'_>| lines.push(row, format);
        self.read(RowParts { pattern: true, elements: true }, make, push, |mut lines, rows| {
            out(lines.first(rows))?;
            lines.clear();
            free.lock().map(|mut free| free.push(lines)).unwrap_or_default();
            Ok(())
        })
    }

    /// Reads the rows into some `T`, and passes each `T` on with the number of its rows that count. May be called
    /// once.
    fn read<T: Send>(
        &mut self,
        parts: RowParts,
        make: impl Fn() -> T + Sync,
        push: impl Fn(&mut T, &RecordRow<'_>) + Sync,
        mut out: impl FnMut(T, usize) -> io::Result<()> + Send,
    ) -> Result<(RowsRead, io::Result<()>)> {
        let (masker, filter) = (self.setup.masker(), self.setup.filter()?);
        let filter: Option<&RowFilter<'_>> = filter.as_ref();
        let maker = RowMaker::new(self.setup.classifier(), masker.as_ref()).with_elements(parts.elements);
        let reading = self.snapshot.reading(&self.plan.read);
        let name_files = self.snapshot.is_sharded();
        let classify = |record: &Record<'_>, pattern: &mut PatternBuf| {
            if parts.pattern {
                maker.classify(record, pattern);
            }
        };
        let row = |record: &Record<'_>, file: &InputFile, scratch: &mut RowScratch, rows: &mut T| {
            match filter {
                None => classify(record, &mut scratch.pattern),
                Some(filter) if !filter.takes(record, scratch) => return false,
                Some(_) => {}
            }
            let source = name_files.then_some(file.name.as_str());
            let labels = filter.and_then(|filter| filter.labels(scratch));
            maker.row(record, &scratch.pattern, source, labels, |row| push(rows, row));
            true
        };
        let mut rows = 0;
        let counted = |chunk: T, count: usize| {
            rows += count as u64;
            out(chunk, count)
        };
        let (limit, progress) = (self.plan.read.limit, self.progress);
        let mut feed = self.snapshot.feed(1, progress);
        let (tallies, written): (Tallies, _) =
            self.threads.install(|| write_rows(&mut feed, reading, limit, progress, &make, row, counted));
        check_cancelled(progress)?;
        let selected = tallies.values().map(|tally| tally.selected).sum();
        let facts = std::mem::take(&mut self.snapshot.facts);
        let verdicts = verdicts(facts, feed.into_endings()?, tallies, reading.checksum);
        Ok((RowsRead { rows, selected, verdicts }, written))
    }
}
