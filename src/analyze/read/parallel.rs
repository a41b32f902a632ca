//! Drivers: all records on many threads, or one after the other.

use rayon::prelude::*;

use super::division::Division;
use super::feed::Feed;
use super::found::Collected;
use super::progress::Progress;
use super::reader::{Continue, ReadOptions, read_batch_shared};
use super::schedule::Schedule;
use super::tally::Tallies;
use super::workers::Workers;
use crate::error::{Error, ErrorKind, Result};
use crate::record::Record;

/// Reads everything on all threads of the current pool.
pub fn read_all<A, F>(
    feed: &mut Feed<'_>,
    division: Division,
    reading: ReadOptions<'_>,
    progress: &dyn Progress,
    empty: F,
) -> Collected<A>
where
    A: Schedule + Send,
    F: Fn() -> A + Sync,
{
    let wanted = |db| reading.selection.wants_database(db);
    let crew = Workers::new(feed, division, reading, progress, &empty);
    let rest = rayon::broadcast(|_| crew.work())
        .into_par_iter()
        .reduce(|| Collected::new(empty()), |left, right| left.merge(right, wanted));
    let (handed_over, endings) = crew.into_rest();
    feed.ended(endings);
    handed_over.merge(rest, wanted)
}

/// Reads records in file order and passes them to `see`, at most `limit` of them.
pub fn read_in_order(
    feed: &mut Feed<'_>,
    reading: ReadOptions<'_>,
    limit: Option<u64>,
    progress: &dyn Progress,
    mut see: impl FnMut(&Record<'_>, usize),
) -> Tallies {
    let mut files = Tallies::new();
    let mut left = limit.unwrap_or(u64::MAX);
    while left > 0 {
        let Some(work) = feed.next() else { break };
        let tally = files.entry(work.file.index).or_default();
        let before = tally.keys;
        read_batch_shared(&work.batch, &work.file, reading, tally, &mut |record, _| {
            see(record, work.file.index);
            left -= 1;
            if left > 0 { Continue::Yes } else { Continue::No }
        });
        progress.keys(tally.keys - before);
    }
    files
}

/// Creates the thread pool of a run; 0 takes one thread per processor.
pub(crate) fn pool(threads: usize) -> Result<rayon::ThreadPool> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .thread_name(|index| format!("worker {index}"))
        .build()
        .map_err(|error| Error::new(ErrorKind::Io(std::io::Error::other(error))))
}
