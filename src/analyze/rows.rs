//! One row per key, in file order regardless of the number of threads.
//!
//! Workers format the rows of a few batches each. Meanwhile the rows before these are passed on, in order, and the batches behind
//! them are cut:
//!
//! ```text
//! cut       1 │ 2 │ 3 │ 4
//! format      │ 1 │ 2 │ 3
//! pass on     │   │ 1 │ 2
//! ```

use std::collections::BTreeMap;
use std::{io, mem};

use rayon::prelude::*;

use super::read::feed::{Feed, FileBatch};
use super::read::file::InputFile;
use super::read::progress::Progress;
use super::read::reader::{Continue, ReadOptions, read_batch_shared};
use super::read::tally::FileTally;
use crate::record::Record;

/// Batches in flight per thread: enough that one slow batch does not leave the others waiting.
const BATCHES_PER_THREAD: usize = 2;

/// Rows of a batch.
struct FormattedBatch<T> {
    file: usize,
    tally: FileTally,
    rows: T,
    count: usize,
}

/// Formats every selected record with `row` into some `T`, which `make` makes, and passes each `T` to `out` in file
/// order, with the number of its rows that count. `row` returns whether it made a row; each batch has one `S` of
/// buffers.
///
/// Stops after `limit` rows, or at the first error of `out`.
pub fn write_rows<T, S, R>(
    feed: &mut Feed<'_>,
    reading: ReadOptions<'_>,
    limit: Option<u64>,
    progress: &dyn Progress,
    make: impl Fn() -> T + Sync,
    row: R,
    mut out: impl FnMut(T, usize) -> io::Result<()> + Send,
) -> (BTreeMap<usize, FileTally>, io::Result<()>)
where
    T: Send,
    S: Default,
    R: Fn(&Record<'_>, &InputFile, &mut S, &mut T) -> bool + Sync,
{
    let at_once = rayon::current_num_threads() * BATCHES_PER_THREAD;
    let mut tallies: BTreeMap<usize, FileTally> = BTreeMap::new();
    let mut left = limit.unwrap_or(u64::MAX);
    let format = |work: FileBatch, most: u64| {
        let (mut rows, mut count, mut scratch) = (make(), 0_usize, S::default());
        let mut tally = FileTally::default();
        read_batch_shared(&work.batch, &work.file, reading, &mut tally, &mut |record, _| {
            count += usize::from(row(record, &work.file, &mut scratch, &mut rows));
            // Rows of earlier batches count first, but no batch needs more rows than the limit.
            if (count as u64) < most { Continue::Yes } else { Continue::No }
        });
        progress.keys(tally.keys);
        FormattedBatch { file: work.file.index, tally, rows, count }
    };
    let mut works: Vec<FileBatch> = Vec::new();
    let mut formatted: Vec<FormattedBatch<T>> = Vec::new();
    loop {
        let (current, before, most) = (mem::take(&mut works), mem::take(&mut formatted), left);
        // Batches behind the last row of a limit are not cut.
        let cuts = limit.is_none() || current.is_empty();
        let pass_on = || {
            for FormattedBatch { file, tally, rows, count } in before {
                tallies.entry(file).or_default().merge(tally);
                let count = usize::try_from(left).map_or(count, |left| left.min(count));
                out(rows, count)?;
                left -= count as u64;
            }
            if cuts && left > 0 {
                works = feed.by_ref().take(at_once).collect();
            }
            Ok(())
        };
        let format_all = || current.into_par_iter().map(|work| format(work, most)).collect();
        let (passed, now) = rayon::join(pass_on, format_all);
        if let Err(error) = passed {
            return (tallies, Err(error));
        }
        formatted = now;
        if left == 0 || works.is_empty() && formatted.is_empty() {
            return (tallies, Ok(()));
        }
    }
}
