//! One row per key, in file order regardless of the number of threads.
//!
//! Workers format the rows of a few batches each, which are then written in order.

use std::collections::BTreeMap;
use std::io;

use rayon::prelude::*;

use super::read::feed::Feed;
use super::read::file::InputFile;
use super::read::progress::Progress;
use super::read::reader::{Continue, ReadOptions, read_batch_shared};
use super::read::tally::FileTally;
use crate::record::Record;

/// Batches in flight per thread: enough that one slow batch does not leave the others waiting.
const BATCHES_PER_THREAD: usize = 2;

/// Formats every selected record with `row` into some `T`, which `make` makes, and passes each `T` to `out` in file order, with the number of its
/// rows that count. `row` returns whether it made a row; each batch has one `S` of buffers.
///
/// Stops after `limit` rows, or at the first error of `out`.
pub fn write_rows<T, S, R>(
    feed: &mut Feed<'_>,
    reading: ReadOptions<'_>,
    limit: Option<u64>,
    progress: &dyn Progress,
    make: impl Fn() -> T + Sync,
    row: R,
    mut out: impl FnMut(T, usize) -> io::Result<()>,
) -> (BTreeMap<usize, FileTally>, io::Result<()>)
where
    T: Send,
    S: Default,
    R: Fn(&Record<'_>, &InputFile, &mut S, &mut T) -> bool + Sync,
{
    let at_once = rayon::current_num_threads() * BATCHES_PER_THREAD;
    let mut tallies: BTreeMap<usize, FileTally> = BTreeMap::new();
    let mut left = limit.unwrap_or(u64::MAX);
    while left > 0 {
        let works: Vec<_> = feed.take(at_once).collect();
        if works.is_empty() {
            break;
        }
        let written: Vec<_> = works
            .into_par_iter()
            .map(|work| {
                let (mut rows, mut count, mut room) = (make(), 0_usize, S::default());
                let mut tally = FileTally::default();
                read_batch_shared(&work.batch, &work.file, reading, &mut tally, &mut |record, _| {
                    count += usize::from(row(record, &work.file, &mut room, &mut rows));
                    // Rows of earlier batches count first, but no batch needs more rows than the limit.
                    if (count as u64) < left { Continue::Yes } else { Continue::No }
                });
                progress.keys(tally.keys);
                (work.file.index, tally, rows, count)
            })
            .collect();
        for (file, tally, rows, count) in written {
            tallies.entry(file).or_default().merge(tally);
            let count = usize::try_from(left).map_or(count, |left| left.min(count));
            if let Err(error) = out(rows, count) {
                return (tallies, Err(error));
            }
            left -= count as u64;
        }
    }
    (tallies, Ok(()))
}
