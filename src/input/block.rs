//! Owned blocks of a stream for workers, and the pool that their buffers return to.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex};

use super::mmap::Map;

/// Owned range of bytes of a stream, cheap to send to another thread.
pub struct Block(BlockBytes);

enum BlockBytes {
    /// INVARIANT: `range` lies within `buffer`.
    Heap { buffer: Vec<u8>, range: Range<usize>, pool: Pool },
    /// INVARIANT: `range` lies within `map`.
    Mapped { map: Map, range: Range<usize> },
}

impl Block {
    /// Creates a block from `range` of `buffer`, which returns to `pool` on drop.
    pub(super) fn heap(buffer: Vec<u8>, range: Range<usize>, pool: Pool) -> Block {
        debug_assert!(range.start <= range.end && range.end <= buffer.len());
        Block(BlockBytes::Heap { buffer, range, pool })
    }

    /// Creates a block from `range` of `map`.
    pub fn mapped(map: Map, range: Range<usize>) -> Block {
        debug_assert!(range.start <= range.end && range.end <= map.len());
        Block(BlockBytes::Mapped { map, range })
    }

    /// Returns whether the bytes are in a mapped file instead of anonymous memory.
    #[cfg(test)]
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, BlockBytes::Mapped { .. })
    }
}

impl From<Vec<u8>> for Block {
    /// Creates a block of these bytes.
    fn from(buffer: Vec<u8>) -> Block {
        let range = 0..buffer.len();
        Block::heap(buffer, range, Pool::default())
    }
}

impl Deref for Block {
    type Target = [u8];
    #[inline]
    fn deref(&self) -> &[u8] {
        match &self.0 {
            BlockBytes::Heap { buffer, range, .. } => &buffer[range.clone()],
            BlockBytes::Mapped { map, range } => &map[range.clone()],
        }
    }
}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Block({} bytes)", self.len())
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        if let BlockBytes::Heap { buffer, pool, .. } = &mut self.0 {
            pool.give(std::mem::take(buffer));
        }
    }
}

/// Pool of reusable buffers, so that a stream of any length uses the same few pages.
///
/// Locked once per block of some MiB, by the thread that drops it.
#[derive(Clone, Default)]
pub(super) struct Pool(Arc<Mutex<Vec<Vec<u8>>>>);

impl Pool {
    /// Maximum capacity of a pooled buffer; larger ones were allocated for one large record and are freed.
    pub const LARGEST: usize = 8 << 20;
    /// Minimum capacity of a pooled buffer; smaller ones are cheap to allocate and too small for the next block.
    pub const SMALLEST: usize = 64 << 10;
    /// Maximum number of pooled buffers; more return only if workers outpace the reader, and then few are needed.
    const KEPT: usize = 4;

    /// Returns a buffer of at least `len` bytes with arbitrary content, or a new one of at least `usual`.
    pub fn get(&self, len: usize, usual: usize) -> Vec<u8> {
        let kept = self.0.lock().ok().and_then(|mut kept| kept.pop());
        match kept {
            Some(buffer) if buffer.len() >= len => buffer,
            _ => vec![0; len.max(usual)],
        }
    }

    fn give(&self, buffer: Vec<u8>) {
        if let Ok(mut kept) = self.0.lock()
            && kept.len() < Self::KEPT
            && (Self::SMALLEST..=Self::LARGEST).contains(&buffer.len())
        {
            kept.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dropped_block_gives_its_buffer_back() {
        let pool = Pool::default();
        let block = Block::heap(vec![7; Pool::SMALLEST], 1..3, pool.clone());
        let place = block.as_ptr();
        assert_eq!(&*block, [7, 7]);
        drop(block);
        assert_eq!(pool.get(2, 0)[1..].as_ptr(), place);
    }

    #[test]
    fn pool_keeps_few_buffers_of_usual_size() {
        let pool = Pool::default();
        pool.give(vec![0; Pool::LARGEST + 1]);
        pool.give(vec![0; Pool::SMALLEST - 1]);
        assert!(pool.0.lock().unwrap().is_empty());
        (0..20).for_each(|_| pool.give(vec![0; Pool::SMALLEST]));
        assert_eq!(pool.0.lock().unwrap().len(), Pool::KEPT);
    }

    #[test]
    fn blocks_are_send_and_sync() {
        fn travels<T: Send + Sync>() {}
        travels::<Block>();
    }
}
