//! Bytes cut off a window for a worker, and the buffers they give back when the worker is done.

use std::fmt;
use std::ops::{Deref, Range};
use std::sync::{Arc, Mutex};

use super::mmap::Map;

/// Some bytes of a stream: owned, cheap to send to another thread, readable as a slice.
pub struct Block(BlockBytes);

enum BlockBytes {
    /// INVARIANT: `range` lies within `buffer`.
    Heap { buffer: Vec<u8>, range: Range<usize>, pool: Pool },
    /// INVARIANT: `range` lies within `map`.
    Mapped { map: Map, range: Range<usize> },
}

impl Block {
    /// The bytes `range` of `buffer`, which goes back to `pool` afterwards.
    pub(super) fn heap(buffer: Vec<u8>, range: Range<usize>, pool: Pool) -> Block {
        debug_assert!(range.start <= range.end && range.end <= buffer.len());
        Block(BlockBytes::Heap { buffer, range, pool })
    }

    /// The bytes `range` of `map`.
    pub(super) fn mapped(map: Map, range: Range<usize>) -> Block {
        debug_assert!(range.start <= range.end && range.end <= map.len());
        Block(BlockBytes::Mapped { map, range })
    }

    /// Whether the bytes lie in a spill file rather than in anonymous memory.
    pub fn is_mapped(&self) -> bool {
        matches!(self.0, BlockBytes::Mapped { .. })
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

/// Buffers that wait to be used again, so that a stream of any length touches the same few pages.
///
/// Locked once for a block of some MiB, by whichever thread drops it.
#[derive(Clone, Default)]
pub(super) struct Pool(Arc<Mutex<Vec<Vec<u8>>>>);

impl Pool {
    /// A larger buffer was made for one large record: it is freed, not kept.
    pub const LARGEST: usize = 8 << 20;
    /// A smaller one costs nothing to make, and would be too small for the next block.
    pub const SMALLEST: usize = 64 << 10;
    /// More are given back only where workers outrun the reader, and then few are needed.
    const KEPT: usize = 4;

    /// A buffer of at least `len` bytes (of any content), and of `usual` if it must be made.
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
    fn pool_keeps_few_buffers_of_the_usual_sizes() {
        let pool = Pool::default();
        pool.give(vec![0; Pool::LARGEST + 1]);
        pool.give(vec![0; Pool::SMALLEST - 1]);
        assert!(pool.0.lock().unwrap().is_empty());
        (0..20).for_each(|_| pool.give(vec![0; Pool::SMALLEST]));
        assert_eq!(pool.0.lock().unwrap().len(), Pool::KEPT);
    }

    #[test]
    fn blocks_travel_between_threads() {
        fn travels<T: Send + Sync>() {}
        travels::<Block>();
    }
}
