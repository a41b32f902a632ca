//! The patterns met lately and their leaves: most keys have a pattern that was just seen.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::pattern::{Part, PatternBuf};

/// One slot per pattern and a pattern has one slot: no search, no list to keep.
/// In tests few, so that they push each other out.
const SLOTS: usize = if cfg!(test) { 8 } else { 4096 };

/// Longer patterns are looked up in the tree each time, so that the memory of the cache is bounded.
const LONGEST_TEXT: usize = 192;

/// Patterns with more parts likewise.
const MOST_PARTS: usize = 24;

#[derive(Debug, Clone, Default)]
struct Slot {
    text: String,
    parts: Vec<Part>,
    /// The entry holds as long as the cache is of this age.
    age: u64,
    leaf: u32,
}

/// A direct-mapped cache from patterns to leaves.
#[derive(Debug, Clone)]
pub(super) struct Cache {
    slots: Vec<Slot>,
    hasher: DefaultHashBuilder,
    age: u64,
}

impl Cache {
    /// An empty cache; it takes no memory before the first entry.
    pub fn new() -> Self {
        Cache { slots: Vec::new(), hasher: DefaultHashBuilder::default(), age: 1 }
    }

    /// Forgets everything, at no cost.
    pub fn clear(&mut self) {
        self.age += 1;
    }

    /// The slot of a pattern; none if the pattern is too long to be kept.
    #[inline]
    pub fn slot(&self, pattern: &PatternBuf) -> Option<usize> {
        if pattern.text.len() > LONGEST_TEXT || pattern.parts.len() > MOST_PARTS {
            return None;
        }
        // The hash is cut to a slot number on purpose.
        Some(self.hasher.hash_one(pattern.text.as_bytes()) as usize % SLOTS)
    }

    /// The leaf of a pattern, if it is still known. The text alone would not do: a key may spell `{int}` itself.
    #[inline]
    pub fn get(&self, slot: usize, pattern: &PatternBuf) -> Option<u32> {
        let found = self.slots.get(slot)?;
        (found.age == self.age && found.text == pattern.text && found.parts == pattern.parts).then_some(found.leaf)
    }

    /// Remembers the leaf of a pattern in its slot.
    pub fn put(&mut self, slot: usize, pattern: &PatternBuf, leaf: u32) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, Slot::default);
        }
        let age = self.age;
        if let Some(kept) = self.slots.get_mut(slot) {
            kept.text.clear();
            kept.text.push_str(&pattern.text);
            kept.parts.clear();
            kept.parts.extend_from_slice(&pattern.parts);
            kept.age = age;
            kept.leaf = leaf;
        }
    }
}
