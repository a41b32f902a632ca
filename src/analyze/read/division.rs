//! Parameters for dividing mapped files among threads.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread::available_parallelism;

use super::chunk_list::ReadSteps;
use super::file::MappedFile;
use crate::limits;
use crate::rdb::boundary;

/// Parameters for dividing mapped files among threads.
#[derive(Debug, Clone, Copy)]
pub struct Division {
    /// Step sizes of readers.
    pub steps: ReadSteps,
    /// Searches a range of a file for a probable record boundary, which may lie past the range. The result is verified.
    pub find: fn(&MappedFile, Range<usize>) -> Option<usize>,
    /// Maximum number of concurrent readers. Guesses may be discarded, so more readers than processors would slow down
    /// the confirmed one.
    pub readers: usize,
}

impl Default for Division {
    fn default() -> Self {
        Division {
            steps: ReadSteps { quantum: limits::QUANTUM_BYTES, least: limits::MIN_CHUNK },
            find: |mapped, range| boundary::find(&mapped.map.bytes, mapped.format(), range.start, range.end),
            readers: available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }
}
