//! How memory is spread over the hash slots of a cluster.
//!
//! Memory: 16 384 slots of 72 bytes, made when the first key comes, and the name of each slot's heaviest key, cut
//! at [`NAME_KEPT`] bytes so that a hostile file cannot make us keep 16 384 names of any size.

use std::cmp::Reverse;

use super::parts::share;
use crate::record::Record;
use crate::report::{self, Example, Key, SlotRange, SlotRow};
use crate::units::Bytes;

/// Slots of a cluster; the same in every version of every server.
pub const SLOTS: usize = 16_384;

/// Bytes kept of the name of a slot's heaviest key. Longer names are shown cut; they break a naming rule anyway.
pub const NAME_KEPT: usize = 1_024;

/// Slots that rules look at, whatever the report lists.
const JUDGED: usize = 100;

/// Slots that the report sums up together.
const RANGE: u16 = 128;

/// Keys, memory and heaviest key of every slot.
///
/// Not an [`Aggregate`](super::Aggregate) by its signature, since it must be told each key's slot, but by its laws.
#[derive(Debug, Clone)]
pub struct Slots {
    top: usize,
    tagged_keys: u64,
    /// Empty until the first key, then [`SLOTS`] long.
    slots: Vec<Slot>,
}

#[derive(Debug, Clone, Default)]
struct Slot {
    keys: u64,
    tagged: u64,
    memory: Bytes,
    heaviest: Bytes,
    db: u64,
    /// Reused when a heavier key comes, so that rising weights do not allocate for every key.
    name: Vec<u8>,
}

impl Slot {
    #[inline]
    fn offer(&mut self, memory: Bytes, db: u64, name: &[u8]) {
        let name = &name[..name.len().min(NAME_KEPT)];
        let first = self.keys == 0;
        if first || (memory, Reverse(db), Reverse(name)) > (self.heaviest, Reverse(self.db), Reverse(&self.name[..])) {
            self.heaviest = memory;
            self.db = db;
            self.name.clear();
            self.name.extend_from_slice(name);
        }
    }
}

impl Slots {
    /// Nothing yet; the `top` heaviest slots will be listed.
    pub fn new(top: usize) -> Self {
        Slots { top, tagged_keys: 0, slots: Vec::new() }
    }

    /// Takes one key into account, of which the caller knows the slot and whether a hash tag decides it. A number
    /// beyond the last slot is taken modulo their number.
    #[inline]
    pub fn observe_at(&mut self, record: &Record<'_>, slot: u16, tagged: bool) {
        if self.slots.is_empty() {
            self.make();
        }
        let slot = &mut self.slots[usize::from(slot) % SLOTS];
        slot.offer(record.memory, record.db, record.key);
        slot.keys += 1;
        slot.memory += record.memory;
        slot.tagged += u64::from(tagged);
        self.tagged_keys += u64::from(tagged);
    }

    #[cold]
    fn make(&mut self) {
        self.slots.resize_with(SLOTS, Slot::default);
    }

    /// Takes everything into account that `other` has seen.
    pub fn merge(&mut self, other: Self) {
        self.tagged_keys += other.tagged_keys;
        if self.slots.is_empty() {
            self.slots = other.slots;
            return;
        }
        for (slot, more) in self.slots.iter_mut().zip(other.slots).filter(|(_, more)| more.keys > 0) {
            slot.offer(more.heaviest, more.db, &more.name);
            slot.keys += more.keys;
            slot.tagged += more.tagged;
            slot.memory += more.memory;
        }
    }

    /// Says that all keys so far were of database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.slots.iter_mut().for_each(|slot| slot.db = db);
    }

    /// The report's section, when the dump is of a cluster or a key carries a hash tag: otherwise slots mean
    /// nothing to the reader. The quantiles are exact.
    pub fn finish(self, cluster: bool) -> Option<report::Slots> {
        if !cluster && self.tagged_keys == 0 {
            return None;
        }
        let mut used: Vec<_> = (0u16..).zip(self.slots).filter(|(_, slot)| slot.keys > 0).collect();
        let ranges = ranges(used.iter().map(|(number, slot)| (*number, slot.keys, slot.memory)));
        used.sort_by_key(|(number, slot)| (Reverse(slot.memory), *number));
        let total: Bytes = used.iter().map(|(_, slot)| slot.memory).sum();
        let at_percent = |percent: usize| {
            let rank = (used.len() * percent).div_ceil(100).max(1);
            used.len().checked_sub(rank).map_or(Bytes(0), |from_the_top| used[from_the_top].1.memory)
        };
        let (mean, p50) = (Bytes(total.0 / (used.len() as u64).max(1)), at_percent(50));
        let (p99, max, number_used) = (at_percent(99), at_percent(100), used.len() as u64);
        let kept = used.into_iter().take(self.top.max(JUDGED));
        let mut list: Vec<SlotRow> = kept.map(|(number, slot)| row(number, slot, total)).collect();
        let heaviest = list.iter().take(JUDGED).cloned().collect();
        list.truncate(self.top);
        let tagged_keys = self.tagged_keys;
        Some(report::Slots { used: number_used, tagged_keys, mean, p50, p99, max, list, ranges, heaviest })
    }
}

/// All slots in ranges, whether they are in use or not.
fn ranges(used: impl Iterator<Item = (u16, u64, Bytes)>) -> Vec<SlotRange> {
    let firsts = (0u16..).step_by(usize::from(RANGE)).take(SLOTS / usize::from(RANGE));
    let empty = |first| SlotRange { first, last: first + (RANGE - 1), ..SlotRange::default() };
    let mut ranges: Vec<SlotRange> = firsts.map(empty).collect();
    for (number, keys, memory) in used {
        if let Some(range) = ranges.get_mut(usize::from(number / RANGE)) {
            range.keys = range.keys.saturating_add(keys);
            range.memory += memory;
        }
    }
    ranges
}

fn row(number: u16, slot: Slot, total: Bytes) -> SlotRow {
    SlotRow {
        slot: number,
        keys: slot.keys,
        tagged_keys: slot.tagged,
        memory: slot.memory,
        share: share(slot.memory, total),
        example: Example { db: slot.db, key: Key(slot.name.into()), memory: slot.heaviest },
    }
}

#[cfg(test)]
mod tests {
    use super::super::Aggregate;
    use super::super::testing::{OwnedRecord, check_laws, samples};
    use super::*;

    fn observed(keys: &[(&str, u64, u16)]) -> Slots {
        let mut slots = Slots::new(10);
        for &(key, memory, slot) in keys {
            slots.observe_at(&OwnedRecord::string(key, 1, memory).record(), slot, key.contains('{'));
        }
        slots
    }

    #[test]
    fn a_dump_without_cluster_and_tags_has_no_section() {
        assert!(observed(&[("a", 1, 3)]).finish(false).is_none());
        assert!(Slots::new(3).finish(false).is_none());
        assert_eq!(observed(&[("a", 1, 3)]).finish(true).unwrap().used, 1);
        assert_eq!(observed(&[("{a}", 1, 3)]).finish(false).unwrap().tagged_keys, 1);
    }

    #[test]
    fn an_empty_cluster_has_an_empty_section() {
        let slots = Slots::new(3).finish(true).unwrap();
        assert_eq!(
            (slots.used, slots.mean, slots.p50, slots.max, slots.list.len()),
            (0, Bytes(0), Bytes(0), Bytes(0), 0)
        );
    }

    #[test]
    fn slots_come_heaviest_first_with_their_heaviest_key() {
        let slots = observed(&[("a", 10, 16_383), ("c", 30, 5), ("b", 30, 5), ("d", 5, 5)]).finish(true).unwrap();
        let rows: Vec<_> = slots.list.iter().map(|r| (r.slot, r.keys, r.memory.0, r.example.key.as_text())).collect();
        assert_eq!(slots.list[1].tagged_keys, 0);
        assert_eq!(rows, [(5, 3, 65, Some("b")), (16_383, 1, 10, Some("a"))]);
        assert_eq!((slots.mean.0, slots.p50.0, slots.p99.0, slots.max.0), (37, 10, 65, 65));
    }

    #[test]
    fn ranges_cover_every_slot_and_sum_up_what_is_in_them() {
        let keys = [("a", u64::MAX, 16_383), ("b", 1, 16_256), ("c", 30, 0), ("d", 5, 127), ("e", 2, 128)];
        let ranges = observed(&keys).finish(true).unwrap().ranges;
        assert_eq!(ranges.len(), 128);
        assert!(ranges.windows(2).all(|two| two[0].last + 1 == two[1].first), "no gaps");
        let used: Vec<_> = ranges.iter().filter(|range| range.keys > 0).copied().collect();
        let range = |first, last, keys, memory| SlotRange { first, last, keys, memory: Bytes(memory) };
        assert_eq!(used, [range(0, 127, 2, 35), range(128, 255, 1, 2), range(16_256, 16_383, 2, u64::MAX)]);
        assert_eq!(Slots::new(3).finish(true).unwrap().ranges.len(), 128, "empty, but all there");
    }

    #[test]
    fn a_huge_name_is_kept_in_part() {
        let slots = observed(&[(&"x".repeat(5_000), 10, 0)]).finish(true).unwrap();
        assert_eq!(slots.list[0].example.key.0.len(), NAME_KEPT);
    }

    /// Few slots, so that keys meet in them.
    struct BySum(Slots);

    impl Aggregate for BySum {
        fn observe(&mut self, record: &Record<'_>) {
            let slot = record.key.iter().map(|&byte| u16::from(byte) % 5).sum();
            self.0.observe_at(record, slot, record.key.contains(&b'{'));
        }
        fn merge(&mut self, other: Self) {
            self.0.merge(other.0);
        }
        fn settle_database(&mut self, db: u64) {
            self.0.settle_database(db);
        }
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(64))]
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, || BySum(Slots::new(5)), |slots| slots.0.finish(true));
        }
    }
}
