//! Buffer for decompressed strings.

use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::wording::wording;

/// Reusable buffer that a string is decompressed into, with the maximum size of one.
///
/// Whatever decompresses takes one of these, so that nothing is expanded beyond what the run may take.
#[derive(Debug, Clone)]
pub struct Scratch {
    bytes: Vec<u8>,
    most: u64,
}

impl Default for Scratch {
    /// Creates a buffer for strings of any length that the format allows.
    fn default() -> Scratch {
        Scratch::new(limits::MAX_BLOB_BYTES)
    }
}

impl Scratch {
    /// Creates an empty buffer for strings of at most `most` bytes.
    pub fn new(most: u64) -> Scratch {
        Scratch { bytes: Vec::new(), most }
    }

    /// Creates a buffer that has room for `len` bytes, for the beginning of a string of any length.
    pub fn with_capacity(len: usize) -> Scratch {
        Scratch { bytes: Vec::with_capacity(len), ..Scratch::default() }
    }

    /// Returns the maximum size of a string.
    #[inline]
    pub fn most(&self) -> u64 {
        self.most
    }

    /// Frees the memory if it is more than `kept` bytes.
    #[inline]
    pub fn keep(&mut self, kept: usize) {
        if self.bytes.capacity() > kept {
            self.bytes = Vec::new();
        }
    }

    /// Returns the bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the bytes, and leaves nothing.
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the buffer, for a string that [`Scratch::admit`] has admitted or that is not compressed.
    pub(super) fn buffer(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// Returns the length of a string at `offset`, or an error if it is longer than allowed.
    pub(super) fn admit(&self, len: u64, offset: u64) -> Result<usize> {
        let most = self.most;
        match usize::try_from(len) {
            Ok(small) if len <= most.min(limits::MAX_BLOB_BYTES) => Ok(small),
            _ if len > limits::MAX_BLOB_BYTES => Err(too_long(len, offset)),
            _ => Err(Error::needs_memory(
                offset,
                wording!(
                    "decompressed, this is {len} bytes long; the share of one value is {most}",
                    "解压后长 {len} 字节，单个 value 最多可用 {most} 字节"
                ),
            )),
        }
    }
}

#[cold]
fn too_long(len: u64, offset: u64) -> Error {
    Error::at(
        offset,
        ErrorKind::Limit(wording!(
            "compressed value of {len} bytes exceeds the limit of 4 GiB",
            "压缩的 value 长 {len} 字节，超出 4 GiB 的上限"
        )),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_admitted_up_to_the_share() {
        let scratch = Scratch::new(100);
        assert_eq!(scratch.admit(100, 7).unwrap(), 100);
        let error = scratch.admit(101, 7).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::OverBudget(_)) && error.offset() == Some(7));
        assert!(error.hint().unwrap().contains("--max-memory"));
        assert!(matches!(scratch.admit(u64::MAX, 7).unwrap_err().kind(), ErrorKind::Limit(_)));
    }

    #[test]
    fn large_buffers_are_freed() {
        let mut scratch = Scratch::default();
        scratch.buffer().resize(1000, 0);
        scratch.keep(1 << 20);
        assert_eq!(scratch.bytes().len(), 1000);
        scratch.keep(10);
        assert!(scratch.bytes().is_empty());
    }
}
