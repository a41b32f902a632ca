//! Owned blocks of a stream for workers, and the pool that their buffers return to.

use std::fmt;
use std::ops::{Deref, Range, RangeInclusive};
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

    /// Keeps the first `len` bytes.
    pub fn truncate(&mut self, len: usize) {
        let (BlockBytes::Heap { range, .. } | BlockBytes::Mapped { range, .. }) = &mut self.0;
        range.end = range.end.min(range.start.saturating_add(len));
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
    /// Maximum capacity of a pooled buffer; larger ones were allocated for one very large record and are freed.
    pub const MAX_CAPACITY: usize = 32 << 20;
    /// Maximum capacity of a buffer for small records.
    pub const USUAL: usize = 8 << 20;
    /// Minimum capacity of a pooled buffer; smaller ones are cheap to allocate and too small for the next block.
    pub const MIN_CAPACITY: usize = 64 << 10;
    /// Maximum number of pooled buffers; more return only if workers outpace the reader, and then few are needed.
    const KEPT: usize = 4;

    /// Returns a buffer of at least `len` bytes with arbitrary content, or a new one of at least `usual`. Large buffers stay
    /// for large records.
    pub fn get(&self, len: usize, usual: usize) -> Vec<u8> {
        self.find(len..=len.max(Self::USUAL)).unwrap_or_else(|| vec![0; len.max(usual)])
    }

    /// Returns the smallest pooled buffer of such a size. Its pages are there already, unlike those of a new one.
    pub fn find(&self, sizes: RangeInclusive<usize>) -> Option<Vec<u8>> {
        let mut kept = self.0.lock().ok()?;
        let fitting = kept.iter().enumerate().filter(|(_, buffer)| sizes.contains(&buffer.len()));
        let (place, _) = fitting.min_by_key(|(_, buffer)| buffer.len())?;
        Some(kept.swap_remove(place))
    }

    /// Takes a buffer back.
    pub fn give(&self, buffer: Vec<u8>) {
        if let Ok(mut kept) = self.0.lock()
            && kept.len() < Self::KEPT
            && (Self::MIN_CAPACITY..=Self::MAX_CAPACITY).contains(&buffer.len())
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
        let block = Block::heap(vec![7; Pool::MIN_CAPACITY], 1..3, pool.clone());
        let place = block.as_ptr();
        assert_eq!(&*block, [7, 7]);
        drop(block);
        assert_eq!(pool.get(2, 0)[1..].as_ptr(), place);
    }

    #[test]
    fn pool_keeps_few_buffers_of_usual_size() {
        let pool = Pool::default();
        pool.give(vec![0; Pool::MAX_CAPACITY + 1]);
        pool.give(vec![0; Pool::MIN_CAPACITY - 1]);
        assert!(pool.0.lock().unwrap().is_empty());
        (0..20).for_each(|_| pool.give(vec![0; Pool::MIN_CAPACITY]));
        assert_eq!(pool.0.lock().unwrap().len(), Pool::KEPT);
    }

    #[test]
    fn the_smallest_buffer_that_fits_is_used() {
        let pool = Pool::default();
        [4, 2, 3].into_iter().for_each(|times| pool.give(vec![0; times * Pool::MIN_CAPACITY]));
        assert_eq!(pool.get(2 * Pool::MIN_CAPACITY + 1, 0).len(), 3 * Pool::MIN_CAPACITY);
        assert_eq!(pool.find(5 * Pool::MIN_CAPACITY..=usize::MAX), None);
        assert_eq!((pool.get(1, 0).len(), pool.get(1, 0).len()), (2 * Pool::MIN_CAPACITY, 4 * Pool::MIN_CAPACITY));
    }

    #[test]
    fn large_buffers_stay_for_large_records() {
        let pool = Pool::default();
        pool.give(vec![0; Pool::MAX_CAPACITY]);
        assert_eq!(pool.get(1, 7).len(), 7);
        assert_eq!(pool.find(Pool::USUAL..=Pool::MAX_CAPACITY).map(|buffer| buffer.len()), Some(Pool::MAX_CAPACITY));
    }

    #[test]
    fn blocks_are_send_and_sync() {
        fn travels<T: Send + Sync>() {}
        travels::<Block>();
    }
}
