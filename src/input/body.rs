//! Bytes of a snapshot behind one interface, whether memory-mapped or streamed.

use super::OpenOptions;
use super::block::Block;
use super::mmap::Map;
use super::stream::Window;
use super::whole::spool;
use crate::error::{Error, Result};

/// Bytes of an input; offsets count from the start of the (decompressed) file.
#[derive(Debug)]
pub enum Body {
    /// A memory-mapped file.
    Mapped(Mapped),
    /// A window over a stream, positioned at the start of the snapshot.
    Stream(Window),
}

/// Memory-mapped file; cheap to clone.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// Bytes of the whole file.
    pub bytes: Map,
    /// Offset of the first unconsumed byte, initially the start of the snapshot.
    /// INVARIANT: at most `bytes.len()`.
    start: usize,
}

impl Mapped {
    /// Creates a mapped file whose snapshot begins at `start`.
    pub fn new(bytes: Map, start: usize) -> Mapped {
        let start = start.min(bytes.len());
        Mapped { bytes, start }
    }

    /// Returns the offset of the first unconsumed byte.
    pub fn start(&self) -> usize {
        self.start
    }
}

impl Body {
    /// Returns the available bytes, which start at [`Body::offset`].
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Body::Mapped(mapped) => &mapped.bytes[mapped.start..],
            Body::Stream(window) => window.bytes(),
        }
    }

    /// Returns the number of bytes consumed.
    #[inline]
    pub fn offset(&self) -> u64 {
        match self {
            Body::Mapped(mapped) => mapped.start as u64,
            Body::Stream(window) => window.offset(),
        }
    }

    /// Makes at least `needed` bytes available; returns false if fewer remain.
    pub fn fill(&mut self, needed: u64) -> Result<bool> {
        match self {
            Body::Mapped(mapped) => Ok((mapped.bytes.len() - mapped.start) as u64 >= needed),
            Body::Stream(window) => window.fill(needed),
        }
    }

    /// Copies what is left of a stream to an unnamed temporary file, so that it can be read twice; offsets stay. Returns
    /// the read error that ended the copy early, if any.
    pub fn spool(&mut self, options: &OpenOptions) -> Result<Option<Error>> {
        let Body::Stream(window) = self else { return Ok(None) };
        let (map, failure) = spool(window, options)?;
        *self = Body::Mapped(map);
        Ok(failure)
    }

    /// Consumes the first `len` bytes, or all if there are fewer, and returns them as a block.
    pub fn take(&mut self, len: usize) -> Block {
        match self {
            Body::Mapped(mapped) => {
                let end = mapped.start.saturating_add(len).min(mapped.bytes.len());
                let block = Block::mapped(mapped.bytes.clone(), mapped.start..end);
                mapped.start = end;
                block
            }
            Body::Stream(window) => window.take(len),
        }
    }

    /// Consumes the first `len` bytes, or all if there are fewer.
    pub fn skip(&mut self, len: usize) {
        match self {
            Body::Mapped(mapped) => mapped.start = mapped.start.saturating_add(len).min(mapped.bytes.len()),
            Body::Stream(window) => window.skip(len),
        }
    }
}
