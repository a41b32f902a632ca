//! How far a run has come, for whoever shows it.

use super::chunk_list::DivisionCounts;

/// Is told how far a run has come. Called from several threads, a few times a second at most per file.
pub trait Progress: Sync {
    /// The inputs have so many bytes in all, as far as is known before they are read.
    fn expect(&self, bytes: u64) {
        let _ = bytes;
    }
    /// So many more bytes of the inputs were read.
    fn bytes(&self, bytes: u64) {
        let _ = bytes;
    }
    /// So many more keys were read.
    fn keys(&self, keys: u64) {
        let _ = keys;
    }
    /// So many bytes are read again, for what is seldom asked for.
    fn read_again(&self, bytes: u64) {
        let _ = bytes;
    }
    /// A large file has been read, by as many readers as this tells.
    fn divided(&self, counts: DivisionCounts) {
        let _ = counts;
    }
}

/// Nobody is watching.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unwatched;

impl Progress for Unwatched {}
