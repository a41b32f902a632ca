//! Progress of a run.

use super::chunk_list::DivisionCounts;

/// Receives the progress of a run. Called from several threads, a few times a second at most per file.
pub trait Progress: Sync {
    /// Announces the total size of the inputs, as far as it is known in advance.
    fn expect(&self, bytes: u64) {
        let _ = bytes;
    }
    /// Adds bytes read from the inputs.
    fn bytes(&self, bytes: u64) {
        let _ = bytes;
    }
    /// Adds keys read.
    fn keys(&self, keys: u64) {
        let _ = keys;
    }
    /// Announces bytes that a second pass will read.
    fn read_again(&self, bytes: u64) {
        let _ = bytes;
    }
    /// Reports how a large file was divided.
    fn divided(&self, counts: DivisionCounts) {
        let _ = counts;
    }
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {}
