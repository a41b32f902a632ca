//! Memory of arrays (`sparsearray.c`, Redis from 8.8 on).
//!
//! An array is a directory of slices of 4096 indices each. A slice with up to ten elements is a list of pairs, one with more
//! is a window over its indices that doubles as needed. Loading inserts elements by ascending index.

use super::PricedValue;
use crate::memory::price::{FrameSize, Key};
use crate::memory::{Encoding, Model};
use crate::rdb::walk::ModuleItem;

/// Size of the array's structure.
const ARRAY: u64 = 80;
/// Size of a slice's structure.
const SLICE: u64 = 32;
/// Size of an element, and of a pointer.
const WORD: u64 = 8;
/// Indices of a slice.
const SLICE_INDICES: u64 = 4096;
/// Elements up to which a slice is a list of pairs (`array-sparse-kmax`).
const MAX_PAIRS: u64 = 10;
/// Smallest window.
const FIRST_WINDOW: u64 = 8;
/// Slices per block of a directory of blocks, and the number from which a directory has them.
const BLOCK_SLICES: u64 = 2048;
/// Size of a block's entry in a directory of blocks.
const BLOCK_ENTRY: u64 = 24;
/// Blocks that a directory of blocks has room for at first.
const FIRST_BLOCKS: u64 = 4;
/// Longest string inside an element.
const INLINE: u64 = 7;
/// Longest string with a header of two bytes; others have one of eight.
const SHORT_HEADER: u64 = 32_767;

/// Slice that elements are added to.
#[derive(Debug, Clone, Copy)]
struct Slice {
    id: u64,
    count: u64,
    /// Lowest and highest index within the slice.
    lowest: u64,
    highest: u64,
    /// Start and size of the window; size 0 for a list of pairs.
    start: u64,
    window: u64,
}

impl Slice {
    fn new(id: u64) -> Slice {
        Slice { id, count: 0, lowest: SLICE_INDICES, highest: 0, start: 0, window: 0 }
    }

    fn add(&mut self, index: u64) {
        self.count = self.count.saturating_add(1);
        if self.count > MAX_PAIRS {
            if self.window == 0 {
                self.open((self.highest - self.lowest + 1).next_power_of_two().max(FIRST_WINDOW), self.lowest);
            }
            self.reach(index);
        }
        self.lowest = self.lowest.min(index);
        self.highest = self.highest.max(index);
    }

    /// Sets the window to `size` indices from `start` on, moved to lie within the slice.
    fn open(&mut self, size: u64, start: u64) {
        self.window = size.min(SLICE_INDICES);
        self.start = start.min(SLICE_INDICES - self.window);
    }

    /// Widens the window to include an index.
    fn reach(&mut self, index: u64) {
        let end = self.start + self.window;
        if index < self.start {
            let size = (end - index).next_power_of_two().max(FIRST_WINDOW);
            self.open(size, end.saturating_sub(size));
        } else if index >= end {
            let needed = (index - self.start + 1).next_power_of_two();
            self.open(needed.max(self.window), self.start);
        }
    }

    fn size(&self, model: &Model) -> u64 {
        if self.window > 0 {
            return model.usable(SLICE + WORD * self.window);
        }
        let capacity = match self.count {
            0..=4 => 4,
            5..=8 => 8,
            _ => MAX_PAIRS,
        };
        model.usable(SLICE + (2 * capacity).next_multiple_of(WORD) + WORD * capacity)
    }
}

/// Meter of arrays.
#[derive(Debug, Clone, Copy, Default)]
pub struct ArrayMeter {
    elements: u64,
    /// Strings and complete slices.
    bytes: u64,
    slice: Option<Slice>,
    highest_slice: u64,
    last_block: Option<u64>,
    blocks: u64,
}

impl ArrayMeter {
    /// Prepares for a new array.
    pub fn begin(&mut self) {
        *self = ArrayMeter::default();
    }

    /// Adds an element.
    pub fn add(&mut self, model: &Model, index: u64, item: ModuleItem<'_>) {
        self.elements = self.elements.saturating_add(1);
        if let ModuleItem::String(text) = item
            && text.len() > INLINE
        {
            let header = if text.len() <= SHORT_HEADER { 2 } else { 8 };
            self.grow(model.usable(text.len().saturating_add(header)));
        }
        let id = index / SLICE_INDICES;
        let mut slice = match self.slice {
            Some(slice) if slice.id == id => slice,
            other => {
                self.grow(other.map_or(0, |slice| slice.size(model)));
                self.enter(id);
                Slice::new(id)
            }
        };
        slice.add(index % SLICE_INDICES);
        self.slice = Some(slice);
    }

    fn grow(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Counts the block of a new slice.
    fn enter(&mut self, slice: u64) {
        self.highest_slice = self.highest_slice.max(slice);
        let block = slice / BLOCK_SLICES;
        if self.last_block != Some(block) {
            self.last_block = Some(block);
            self.blocks += 1;
        }
    }

    fn directory(&self, model: &Model) -> u64 {
        if self.highest_slice < BLOCK_SLICES {
            return model.usable(WORD * (self.highest_slice + 1).next_power_of_two());
        }
        let room = self.blocks.checked_next_power_of_two().unwrap_or(self.blocks).max(FIRST_BLOCKS);
        let blocks = self.blocks.saturating_mul(model.usable(WORD * BLOCK_SLICES));
        model.usable(BLOCK_ENTRY.saturating_mul(room)).saturating_add(blocks)
    }

    /// Returns the memory of the array.
    pub fn finish(&self, model: &Model, key: Key) -> PricedValue {
        let FrameSize { outside, object, slack } = model.frame(key);
        let last = self.slice.map_or(0, |slice| slice.size(model));
        let parts = [outside, object, model.usable(ARRAY), self.directory(model), self.bytes, last];
        let memory = parts.into_iter().fold(0, u64::saturating_add);
        PricedValue::new(Encoding::Sliced, self.elements, memory, slack)
    }
}
