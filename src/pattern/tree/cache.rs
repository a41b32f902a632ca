//! Cache from patterns to leaves: most keys have a pattern that was just seen.

use std::hash::BuildHasher;

use hashbrown::DefaultHashBuilder;

use crate::pattern::{PatternBuf, PatternPart};

/// Slots of the direct-mapped cache: each pattern has exactly one, so a lookup is one comparison. Tests use few slots, to
/// make entries evict each other.
const SLOTS: usize = if cfg!(test) { 8 } else { 4096 };

/// Longest pattern in the cache, which bounds its memory; longer ones are found in the tree each time.
const MAX_TEXT_LEN: usize = 192;

/// Most parts of a pattern in the cache, likewise.
const MAX_PARTS: usize = 24;

#[derive(Debug, Clone, Default)]
struct CacheSlot {
    text: String,
    parts: Vec<PatternPart>,
    /// Age of the cache that the entry is valid for.
    age: u64,
    /// Part of the text's hash, which distinguishes most texts without comparing them.
    mark: u32,
    leaf: u32,
    /// Mark of the last pattern that was offered and not stored. A pattern is stored the second time: most patterns of
    /// a wide set occur once, and would only evict recurring ones.
    offered: u32,
}

/// Slot of a pattern, with the mark to look for there.
#[derive(Debug, Clone, Copy)]
pub(super) struct CacheAddress {
    slot: usize,
    mark: u32,
}

/// Direct-mapped cache from patterns to leaves.
#[derive(Debug, Clone)]
pub(super) struct LeafCache {
    slots: Vec<CacheSlot>,
    hasher: DefaultHashBuilder,
    age: u64,
}

impl LeafCache {
    /// Creates an empty cache, which allocates nothing before the first entry.
    pub fn new() -> Self {
        LeafCache { slots: Vec::new(), hasher: DefaultHashBuilder::default(), age: 1 }
    }

    /// Returns how often the cache was cleared; a leaf is valid for one age.
    #[inline]
    pub fn age(&self) -> u64 {
        self.age
    }

    /// Invalidates all entries, in constant time.
    pub fn clear(&mut self) {
        self.age += 1;
    }

    /// Invalidates all entries, and all leaves that either of two trees has handed out.
    pub fn clear_after(&mut self, other: &LeafCache) {
        self.age = self.age.max(other.age);
        self.clear();
    }

    /// Returns the address of a pattern; `None` if it is too long for the cache.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
    pub fn address(&self, pattern: &PatternBuf) -> Option<CacheAddress> {
        if pattern.text.len() > MAX_TEXT_LEN || pattern.parts.len() > MAX_PARTS {
            return None;
        }
        let hash = self.hasher.hash_one(pattern.text.as_bytes());
        Some(CacheAddress { slot: hash as usize % SLOTS, mark: (hash >> 32) as u32 })
    }

    /// Returns the cached leaf of a pattern. Text alone would not do as the key: a name may spell `{int}` itself.
    #[inline]
    pub fn get(&self, address: CacheAddress, pattern: &PatternBuf) -> Option<u32> {
        let found = self.slots.get(address.slot)?;
        let same = found.mark == address.mark && found.text == pattern.text && found.parts == pattern.parts;
        (found.age == self.age && same).then_some(found.leaf)
    }

    /// Stores the leaf of a pattern that is offered for the second time.
    pub fn put(&mut self, address: CacheAddress, pattern: &PatternBuf, leaf: u32) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, CacheSlot::default);
        }
        let age = self.age;
        if let Some(kept) = self.slots.get_mut(address.slot) {
            let is_first = std::mem::replace(&mut kept.offered, address.mark) != address.mark;
            if is_first && kept.age != 0 {
                return;
            }
            kept.text.clear();
            kept.text.push_str(&pattern.text);
            kept.parts.clear();
            kept.parts.extend_from_slice(&pattern.parts);
            (kept.age, kept.mark, kept.leaf) = (age, address.mark, leaf);
        }
    }
}
