//! Memory and temporary space that a run may take, and how both are divided.
//!
//! | share | of | for |
//! |---|---|---|
//! | 1/2 by inputs, at least 128 MiB | memory | window of a decoder of one input |
//! | 1/4 by inputs, at least 1 MiB by inputs and 64 KiB each | memory | hashes of keys that `check` compares in memory |
//! | 1/4 | memory | keys of both sides of `compare --keys`, at least 256 KiB; as much again for those that differ |
//! | 1/2 | temporary space | each temporary file of `compare --keys` |
//! | 1/4 | memory | unfinished values of a Dragonfly snapshot |
//! | 1/4 | memory | the decoded value that `show` prints, and each of its compressed parts |
//! | 1/64 | memory | each compressed part of a value, and a compressed key: a worker expands one at a time |
//! | 1/64, at least 64 MiB | memory | hashes of the elements of one value, of which `check` lets none occur twice, per worker |
//! | by inputs | temporary space | each temporary file of one input |
//!
//! No share depends on the number of threads or on what other threads hold at the moment, so that a report is the same at any
//! number of threads. Fixed costs (windows, batches, aggregates) come on top: `docs/architecture.md` lists them.

use super::{MAX_BLOB_BYTES, MAX_CHUNKED_BYTES, MAX_KEY_BYTES, MAX_PLACED_KEYS};

/// Maximum memory and temporary space of a run.
///
/// ```
/// use rdblens::{Budget, ReadPlan};
///
/// let mut plan = ReadPlan::new(std::env::temp_dir());
/// plan.open.budget = Budget { memory: 512 << 20, ..Budget::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Bytes of memory for decompressed values, windows of decoders, hashes of keys and unfinished values of Dragonfly.
    pub memory: u64,
    /// Bytes of temporary files.
    pub temp: u64,
    /// Number of inputs that share it.
    pub inputs: usize,
}

impl Default for Budget {
    /// Returns a budget of 1 GiB of memory, and of any temporary space.
    fn default() -> Budget {
        Budget { memory: 1 << 30, temp: u64::MAX, inputs: 1 }
    }
}

/// Window that a zstd decoder gets in any case: what `zstd --long` writes without further arguments.
const MIN_ZSTD_WINDOW: u64 = 128 << 20;
/// Binary logarithm of the largest window of the zstd format that decoders support.
const MAX_ZSTD_WINDOW_LOG: u32 = 31;
/// Least number of bytes of keys that `compare --keys` holds: fewer would make too many runs on disk.
const MIN_COMPARED: usize = 256 << 10;
/// Least number of keys whose hashes are kept, of all inputs and of one: fewer would have the file of hashes read too often.
const MIN_PLACED: usize = 64 << 10;
const MIN_PLACED_OF_INPUT: usize = 4 << 10;
/// Size of the hash of a key with its place.
const PLACED_BYTES: u64 = 16;

impl Budget {
    /// Returns the budget of a run that reads this many inputs.
    #[must_use]
    pub(crate) fn shared_by(self, inputs: usize) -> Budget {
        Budget { inputs: inputs.max(1), ..self }
    }

    fn by_inputs(self, bytes: u64) -> u64 {
        bytes / u64::try_from(self.inputs.max(1)).unwrap_or(u64::MAX)
    }

    /// Returns the maximum size of each temporary file of one input.
    pub(crate) fn temporary_file(self) -> u64 {
        self.by_inputs(self.temp)
    }

    /// Returns the binary logarithm of the maximum window of a zstd decoder.
    pub(crate) fn zstd_window_log(self) -> u32 {
        self.by_inputs(self.memory / 2).max(MIN_ZSTD_WINDOW).ilog2().min(MAX_ZSTD_WINDOW_LOG)
    }

    /// Returns the maximum decompressed size of a part of a value.
    pub(crate) fn part(self) -> u64 {
        (self.memory / 64).min(MAX_BLOB_BYTES)
    }

    /// Returns the maximum decompressed size of a key.
    pub(crate) fn key(self) -> u64 {
        (self.memory / 64).min(MAX_KEY_BYTES)
    }

    /// Returns the maximum size of a decoded value that is shown. Escapes make a text up to four times as long.
    pub(crate) fn shown_value(self) -> u64 {
        (self.memory / 4).min(MAX_BLOB_BYTES)
    }

    /// Returns the number of keys of one input whose hashes are kept in memory.
    pub(crate) fn placed_keys(self) -> usize {
        let keys = usize::try_from(self.memory / 4 / PLACED_BYTES).unwrap_or(usize::MAX);
        (keys.clamp(MIN_PLACED, MAX_PLACED_KEYS) / self.inputs.max(1)).max(MIN_PLACED_OF_INPUT)
    }

    /// Returns the bytes of keys that `compare --keys` holds in memory, and of those among them that differ.
    pub(crate) fn compared_keys(self) -> usize {
        usize::try_from(self.memory / 4).unwrap_or(usize::MAX).max(MIN_COMPARED)
    }

    /// Returns the maximum size of each of the temporary files of `compare --keys`: one for keys, one for those that differ.
    pub(crate) fn compared_keys_on_disk(self) -> u64 {
        self.temp / 2
    }

    /// Returns the maximum size of the unfinished values of a Dragonfly snapshot.
    pub(crate) fn unfinished(self) -> usize {
        usize::try_from(self.by_inputs(self.memory / 4)).unwrap_or(usize::MAX).min(MAX_CHUNKED_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_follow_from_the_limits_and_the_inputs() {
        let small = Budget { memory: 256 << 20, temp: 1 << 30, inputs: 1 };
        assert_eq!((small.part(), small.key(), small.shown_value()), (4 << 20, 4 << 20, 64 << 20));
        assert_eq!((small.placed_keys(), small.unfinished()), (4 << 20, 64 << 20));
        assert_eq!((small.zstd_window_log(), small.temporary_file()), (27, 1 << 30));
        let shards = Budget { memory: 16 << 30, ..small }.shared_by(4);
        assert_eq!((shards.zstd_window_log(), shards.temporary_file()), (31, 256 << 20));
        assert_eq!((shards.part(), shards.placed_keys()), (256 << 20, MAX_PLACED_KEYS / 4));
    }

    #[test]
    fn extremes_have_shares() {
        let none = Budget { memory: 0, temp: 0, inputs: 0 };
        assert_eq!((none.placed_keys(), none.zstd_window_log(), none.temporary_file()), (MIN_PLACED, 27, 0));
        let all = Budget { memory: u64::MAX, temp: u64::MAX, inputs: usize::MAX };
        assert_eq!((all.part(), all.key()), (MAX_BLOB_BYTES, MAX_KEY_BYTES));
        assert_eq!(all.placed_keys(), MIN_PLACED_OF_INPUT);
    }
}
