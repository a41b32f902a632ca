//! Counts of keys and expiries by slot, which determine the table sizes of a cluster node.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::slots::SLOTS;
use crate::memory::SlotShape;

/// First database number for which slots are not counted.
pub const SLOTTED_DATABASES: u64 = 16;

/// Slots per page.
const PAGE: usize = 256;

/// Keys and expiries by slot; pages are allocated when first used.
#[derive(Debug, Clone, Default)]
pub struct SlotCounts {
    /// Empty until the first key.
    pages: Vec<Option<Box<[SlotShape; PAGE]>>>,
}

impl SlotCounts {
    /// Counts a key.
    #[inline]
    pub fn add(&mut self, slot: u16, expires: bool) {
        let count = self.at(slot);
        count.keys = count.keys.saturating_add(1);
        count.expiring = count.expiring.saturating_add(u32::from(expires));
    }

    #[inline]
    fn at(&mut self, slot: u16) -> &mut SlotShape {
        if self.pages.is_empty() {
            self.pages.resize_with(SLOTS / PAGE, || None);
        }
        let slot = usize::from(slot) % SLOTS;
        let page = self.pages[slot / PAGE].get_or_insert_with(|| Box::new([SlotShape::default(); PAGE]));
        &mut page[slot % PAGE]
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: SlotCounts) {
        if self.pages.is_empty() {
            *self = other;
            return;
        }
        for (page, more) in self.pages.iter_mut().zip(other.pages) {
            let Some(more) = more else { continue };
            let Some(page) = page else {
                *page = Some(more);
                continue;
            };
            for (count, more) in page.iter_mut().zip(more.iter()) {
                count.keys = count.keys.saturating_add(more.keys);
                count.expiring = count.expiring.saturating_add(more.expiring);
            }
        }
    }

    /// Returns the heap bytes of all pages.
    pub fn heap_bytes(&self) -> usize {
        self.pages.iter().flatten().count() * PAGE * size_of::<SlotShape>()
    }

    /// Returns the counts of slot 0.
    pub fn first(&self) -> SlotShape {
        self.pages.first().and_then(|page| page.as_ref()).map_or(SlotShape::default(), |page| page[0])
    }

    /// Returns the counts of the slots in use, by slot.
    pub fn in_use(&self) -> Vec<SlotShape> {
        let all = self.pages.iter().flatten().flat_map(|page| page.iter());
        all.filter(|count| count.keys > 0).copied().collect()
    }
}

/// Writes the slots in use, each with its number.
impl Serialize for SlotCounts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let all = self.pages.iter().enumerate().filter_map(|(at, page)| Some((at * PAGE, page.as_ref()?)));
        let slots = all.flat_map(|(first, page)| page.iter().enumerate().map(move |(at, count)| (first + at, *count)));
        let used: Vec<(usize, SlotShape)> = slots.filter(|(_, count)| count.keys > 0).collect();
        used.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for SlotCounts {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let slots = Vec::<(u16, SlotShape)>::deserialize(deserializer)?;
        if !slots.is_sorted_by(|one, next| one.0 < next.0) {
            return Err(D::Error::custom("the slots are not in ascending order"));
        }
        let mut counts = SlotCounts::default();
        for (slot, shape) in slots {
            if usize::from(slot) >= SLOTS || shape.expiring > shape.keys {
                return Err(D::Error::custom("the counts of a slot contradict each other"));
            }
            *counts.at(slot) = shape;
        }
        Ok(counts)
    }
}
