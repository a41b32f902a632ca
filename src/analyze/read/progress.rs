//! Progress of a run.

use super::chunk_list::DivisionCounts;
use crate::error::{Error, ErrorKind, Result};

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
    /// Hands over a function that returns the bytes read from an input since its last call, `None` once the input is closed.
    ///
    /// For inputs that may be slow: a batch of a pipe may take minutes, and until it is whole nothing else is announced. Bytes
    /// that it has returned are not passed to [`Progress::bytes`].
    fn watch(&self, read: Box<dyn Fn() -> Option<u64> + Send>) {
        drop(read);
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
    #[doc(hidden)]
    fn divided(&self, counts: DivisionCounts) {
        let _ = counts;
    }
    /// Returns whether the run shall end before all is read, with [`ErrorKind::Cancelled`]. Asked at each batch; once true it has to
    /// stay so.
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Fails if the run was cancelled, in which case files are read in part and a report would be wrong.
pub fn check_cancelled(progress: &dyn Progress) -> Result<()> {
    if progress.is_cancelled() {
        return Err(Error::new(ErrorKind::Cancelled));
    }
    Ok(())
}

/// Ignores all progress.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {}
