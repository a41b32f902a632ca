//! The bytes of a snapshot, in a map or through a window, with one way of reading both.

use super::block::Block;
use super::mmap::Map;
use super::stream::Window;
use crate::error::Result;

/// The bytes of an input. Offsets in both count from the start of the (decompressed) file.
#[derive(Debug)]
pub enum Body {
    /// All at once.
    Mapped(Mapped),
    /// One after the other; the window stands at the start of the snapshot.
    Stream(Window),
}

/// A whole file in memory; cheap to clone.
#[derive(Debug, Clone)]
pub struct Mapped {
    /// All bytes of the file.
    pub bytes: Map,
    /// Where the bytes begin that have not been consumed: at first, the snapshot.
    /// INVARIANT: at most `bytes.len()`.
    start: usize,
}

impl Mapped {
    /// A map whose snapshot begins at byte `start`.
    pub fn new(bytes: Map, start: usize) -> Mapped {
        let start = start.min(bytes.len());
        Mapped { bytes, start }
    }

    /// Where the bytes begin that have not been consumed.
    pub fn start(&self) -> usize {
        self.start
    }
}

impl Body {
    /// The bytes at hand, from [`Body::offset`] on.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        match self {
            Body::Mapped(mapped) => &mapped.bytes[mapped.start..],
            Body::Stream(window) => window.bytes(),
        }
    }

    /// How many bytes have been consumed.
    #[inline]
    pub fn offset(&self) -> u64 {
        match self {
            Body::Mapped(mapped) => mapped.start as u64,
            Body::Stream(window) => window.offset(),
        }
    }

    /// Makes at least `needed` bytes available, or all that remain: false when there are fewer.
    pub fn fill(&mut self, needed: u64) -> Result<bool> {
        match self {
            Body::Mapped(mapped) => Ok((mapped.bytes.len() - mapped.start) as u64 >= needed),
            Body::Stream(window) => window.fill(needed),
        }
    }

    /// Cuts off the first `len` bytes, or all if there are fewer, as a block of its own.
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

    /// Consumes the first `len` bytes, or all if there are fewer, without a block.
    pub fn skip(&mut self, len: usize) {
        match self {
            Body::Mapped(mapped) => mapped.start = mapped.start.saturating_add(len).min(mapped.bytes.len()),
            Body::Stream(window) => window.skip(len),
        }
    }
}
