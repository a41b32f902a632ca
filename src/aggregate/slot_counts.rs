//! Counts of keys and expiries by slot, which determine the table sizes of a cluster node.

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
        if self.pages.is_empty() {
            self.pages.resize_with(SLOTS / PAGE, || None);
        }
        let slot = usize::from(slot) % SLOTS;
        let page = self.pages[slot / PAGE].get_or_insert_with(|| Box::new([SlotShape::default(); PAGE]));
        let count = &mut page[slot % PAGE];
        count.keys = count.keys.saturating_add(1);
        count.expiring = count.expiring.saturating_add(u32::from(expires));
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

    /// Returns the counts of the slots in use, by slot.
    pub fn in_use(&self) -> Vec<SlotShape> {
        let all = self.pages.iter().flatten().flat_map(|page| page.iter());
        all.filter(|count| count.keys > 0).copied().collect()
    }
}
