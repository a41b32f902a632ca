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
        read_some(&mut self.0, into).map_err(|error| failure(error, offset))
    }
}

/// Returns the error of a failed read; readers of objects have errors of their own.
pub(super) fn failure(error: io::Error, offset: u64) -> Error {
    match error.downcast::<Error>() {
        Ok(error) => error.or_at(offset),
        Err(error) => Error::at(offset, ErrorKind::Io(error)),
    }
}

/// Source whose first bytes can be looked at before they are read.
pub(super) struct Peeked {
    source: Box<dyn Source>,
    head: Vec<u8>,
    taken: usize,
}

impl Peeked {
    /// Creates a source with the bytes of `source`.
    pub fn new(source: Box<dyn Source>) -> Self {
        Peeked { source, head: Vec::new(), taken: 0 }
    }

    /// Returns the first `len` bytes, or all if there are fewer. To be called before anything is read.
    pub fn peek(&mut self, len: usize) -> Result<&[u8]> {
        while self.head.len() < len {
            let start = self.head.len();
            self.head.resize(len, 0);
            let read = self.source.read(&mut self.head[start..], start as u64);
            self.head.truncate(start + *read.as_ref().unwrap_or(&0));
            if read? == 0 {
                break;
            }
        }
        Ok(&self.head)
    }
}

impl Source for Peeked {
    fn read(&mut self, into: &mut [u8], offset: u64) -> Result<usize> {
        let left = self.head.get(self.taken..).unwrap_or_default();
        if left.is_empty() {
            return self.source.read(into, offset);
        }
        let len = left.len().min(into.len());
        into[..len].copy_from_slice(&left[..len]);
        self.taken += len;
        Ok(len)
    }
}

/// Reader of the bytes of a source, so that they can be decompressed; its errors are those of the source.
pub(super) struct SourceReader<S> {
    source: S,
    offset: u64,
}

impl<S: Source> SourceReader<S> {
    /// Creates a reader that starts where `source` is.
    pub fn new(source: S) -> Self {
        SourceReader { source, offset: 0 }
    }
}

impl<S: Source> Read for SourceReader<S> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into, self.offset).map_err(io::Error::other)?;
        self.offset = self.offset.saturating_add(u64::try_from(read).unwrap_or(u64::MAX));
        Ok(read)
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

/// Reads until `chunk` is full or the data ends or fails; returns the number of bytes read in any case.
pub(super) fn fill_from(reader: &mut impl Read, chunk: &mut [u8]) -> (usize, Option<io::Result<()>>) {
    let mut filled = 0;
    while filled < chunk.len() {
        match read_some(reader, &mut chunk[filled..]) {
            Ok(0) => return (filled, Some(Ok(()))),
            Ok(read) => filled += read,
            Err(error) => return (filled, Some(Err(error))),
        }
    }
    (filled, None)
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
