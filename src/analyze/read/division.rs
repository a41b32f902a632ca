//! How mapped files are divided among threads.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::thread::available_parallelism;

use super::chunk_list::ReadSteps;
use super::file::MappedFile;
use crate::limits;
use crate::rdb::boundary;

/// How mapped files are divided among threads.
#[derive(Debug, Clone, Copy)]
pub struct Division {
    /// How far readers go.
    pub steps: ReadSteps,
    /// Looks in a range of a file's bytes for a place at which a record may begin; it may lie behind the range. What it says is
    /// verified.
    pub find: fn(&MappedFile, Range<usize>) -> Option<usize>,
    /// With as many readers no file is divided further. What they read may turn out not to count, and more of them than there are
    /// processors would take those from the one that surely does.
    pub readers: usize,
}

impl Default for Division {
    fn default() -> Self {
        Division {
            steps: ReadSteps { quantum: limits::QUANTUM_BYTES, least: limits::LEAST_CHUNK },
            find: |whole, range| boundary::find(&whole.mapped.bytes, whole.header.family, range.start, range.end),
            readers: available_parallelism().map_or(1, NonZeroUsize::get),
        }
    }
}
