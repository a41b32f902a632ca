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
    /// Part of the text's hash: most other texts are told without looking at them.
    mark: u32,
    leaf: u32,
    /// The mark of the last pattern that was offered and not kept: one that comes once more is, most of a wide set never do.
    offered: u32,
}

/// Where a pattern is to be found.
#[derive(Debug, Clone, Copy)]
pub(super) struct Address {
    slot: usize,
    mark: u32,
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

    /// How often everything was forgotten. Where a leaf is to be found holds for one age.
    #[inline]
    pub fn age(&self) -> u64 {
        self.age
    }

    /// Forgets everything, at no cost.
    pub fn clear(&mut self) {
        self.age += 1;
    }

    /// Forgets everything, and what either of two trees has said of its leaves no longer holds for this one.
    pub fn clear_after(&mut self, other: &Cache) {
        self.age = self.age.max(other.age);
        self.clear();
    }

    /// The address of a pattern; none if the pattern is too long to be kept.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "any bits of the hash will do")]
    pub fn address(&self, pattern: &PatternBuf) -> Option<Address> {
        if pattern.text.len() > LONGEST_TEXT || pattern.parts.len() > MOST_PARTS {
            return None;
        }
        let hash = self.hasher.hash_one(pattern.text.as_bytes());
        Some(Address { slot: hash as usize % SLOTS, mark: (hash >> 32) as u32 })
    }

    /// The leaf of a pattern, if it is still known. The text alone would not do: a key may spell `{int}` itself.
    #[inline]
    pub fn get(&self, address: Address, pattern: &PatternBuf) -> Option<u32> {
        let found = self.slots.get(address.slot)?;
        let same = found.mark == address.mark && found.text == pattern.text && found.parts == pattern.parts;
        (found.age == self.age && same).then_some(found.leaf)
    }

    /// Remembers the leaf of a pattern that is offered for the second time.
    pub fn put(&mut self, address: Address, pattern: &PatternBuf, leaf: u32) {
        if self.slots.is_empty() {
            self.slots.resize_with(SLOTS, Slot::default);
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
