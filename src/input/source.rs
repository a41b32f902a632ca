//! Byte sources of a window, whose errors carry an offset.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, ErrorKind, Result};

/// Sequential source of bytes.
pub trait Source: Send {
    /// Reads up to `into.len()` bytes and returns their number; 0 means the end, unless `into` is empty.
    ///
    /// `offset` is the number of bytes read before, for errors.
    fn read(&mut self, into: &mut [u8], offset: u64) -> Result<usize>;
}

/// Uncompressed bytes from a file, a pipe or memory.
pub struct Plain<R>(pub R);

impl<R: Read + Send> Source for Plain<R> {
    fn read(&mut self, into: &mut [u8], offset: u64) -> Result<usize> {
        read_some(&mut self.0, into).map_err(|error| Error::at(offset, ErrorKind::Io(error)))
    }
}

/// Reads some bytes, retrying when interrupted by a signal.
pub(super) fn read_some(reader: &mut impl Read, into: &mut [u8]) -> io::Result<usize> {
    loop {
        match reader.read(into) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // Never trust a broken reader that reports more bytes than fit: the count is used to slice.
            other => return other.map(|read| read.min(into.len())),
        }
    }
}

/// Reader that counts bytes, for the progress display on another thread.
pub(super) struct Counted<R> {
    pub reader: R,
    pub count: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.reader.read(into)?;
        self.count.fetch_add(u64::try_from(read).unwrap_or(u64::MAX), Ordering::Relaxed);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Interrupted(bool);

    impl Read for Interrupted {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            if std::mem::replace(&mut self.0, false) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            into[0] = 7;
            Ok(1)
        }
    }

    #[test]
    fn interrupted_read_is_retried() {
        let mut into = [0; 4];
        assert_eq!(Plain(Interrupted(true)).read(&mut into, 0).unwrap(), 1);
        assert_eq!(into[0], 7);
    }

    #[test]
    fn counted_reader_counts_what_was_read() {
        let count = Arc::new(AtomicU64::new(0));
        let mut reader = Counted { reader: &b"abcdef"[..], count: Arc::clone(&count) };
        reader.read_exact(&mut [0; 4]).unwrap();
        assert_eq!(count.load(Ordering::Relaxed), 4);
    }
}
