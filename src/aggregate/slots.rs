//! Keys and memory by hash slot of a cluster.
//!
//! Memory: 16,384 slots of 80 bytes, allocated with the first key, 8 more with the first key that has a hash tag and 16 with
//! the first of unknown memory, and the name of each slot's heaviest key, cut at [`NAME_KEPT`] bytes so that a hostile file
//! cannot fill memory with huge names. Keys reach slots in random order, so the fields that every key changes are kept
//! together in 16 bytes per slot: 256 KiB, which fits in the L2 cache. Many keys weigh the same; then the beginnings of their
//! names are compared first, as numbers of 16 bytes that are kept together, too.

mod name_place;
mod stored;

use std::cmp::Reverse;

use name_place::NamePlace;

use super::parts::share;
use crate::pattern::{kept_name, slot};
use crate::record::Record;
use crate::report::{self, Example, Key, SlotRange, SlotRow, Unknown, Weight};
use crate::units::Bytes;

/// Number of slots of a cluster.
pub const SLOTS: usize = slot::SLOTS as usize;

/// Bytes kept of the name of a slot's heaviest key. Longer names are shown cut; they break a naming rule anyway.
pub const NAME_KEPT: usize = kept_name::MAX_EXAMPLE_LEN;

/// Heaviest slots that rules examine, however few the report lists.
const JUDGED: usize = 100;

/// Longest common beginning of names that is left out of their places, in bytes.
const COMMON: usize = 64;

/// Slots per range of the report.
const RANGE: u16 = 128;

/// Keys, memory and heaviest key of every slot.
///
/// Keeps the laws of an [`Aggregate`](super::Aggregate) but not its signature, since it needs each key's slot.
#[derive(Debug, Clone)]
pub struct SlotStats {
    top: usize,
    tagged_keys: u64,
    /// Fields that every key changes. Empty until the first key, then [`SLOTS`] long.
    sums: Vec<SlotSums>,
    /// Fields that few keys change. Same length.
    slots: Vec<SlotDetails>,
    /// Places of the heaviest keys. Same length.
    places: Vec<NamePlace>,
    /// Common beginning of the names of all heaviest keys, which is left out of `places`.
    common: Vec<u8>,
    /// Keys with a hash tag, by slot. Empty until the first, then [`SLOTS`] long. Not in [`SlotDetails`], where each of
    /// these keys would miss the cache.
    tagged: Vec<u64>,
    /// Keys whose memory is unknown, by slot. Empty until the first, then [`SLOTS`] long: few files have any.
    unknown: Vec<Unknown>,
}

#[derive(Debug, Clone, Copy, Default)]
struct SlotSums {
    memory: Bytes,
    /// Weight of the heaviest key.
    least: u32,
    /// Keys since the last carry into [`SlotDetails::keys`].
    keys: u32,
}

/// Memory of a key in 32 bits: exact, but for the few keys that take more.
fn weight(memory: Bytes) -> u32 {
    u32::try_from(memory.0).unwrap_or(u32::MAX)
}

#[derive(Debug, Clone, Default)]
struct SlotDetails {
    /// Keys carried over from [`SlotSums::keys`].
    keys: u64,
    heaviest: Bytes,
    db: u64,
    /// Name of the heaviest key; `None` before the first. The buffer is reused, so rising weights do not allocate per
    /// key.
    name: Option<Vec<u8>>,
}

impl SlotDetails {
    /// Makes a key the heaviest one if it is.
    fn offer(&mut self, memory: Bytes, db: u64, name: &[u8]) {
        if memory < self.heaviest {
            return;
        }
        self.offer_stored(memory, db, &kept_name::stored(name, NAME_KEPT));
    }

    /// Makes a key the heaviest one if it is, given what is kept of its name.
    fn offer_stored(&mut self, memory: Bytes, db: u64, name: &[u8]) {
        if memory < self.heaviest {
            return;
        }
        let is_first = self
            .name
            .as_deref()
            .is_none_or(|kept| (memory, Reverse(db), Reverse(name)) > (self.heaviest, Reverse(self.db), Reverse(kept)));
        if is_first {
            self.heaviest = memory;
            self.db = db;
            let kept = self.name.get_or_insert_default();
            kept.clear();
            kept.extend_from_slice(name);
        }
    }

    fn weight(&self) -> u32 {
        self.name.as_ref().map_or(0, |_| weight(self.heaviest))
    }

    /// Returns the place of the heaviest key, whose name begins with `common`.
    fn place(&self, common: &[u8]) -> NamePlace {
        let rest = self.name.as_ref().and_then(|name| name.strip_prefix(common));
        rest.map_or(NamePlace::UNKNOWN, |rest| NamePlace::of(self.db, rest))
    }
}

impl SlotStats {
    /// Creates an empty aggregate that lists the `top` heaviest slots.
    pub fn new(top: usize) -> Self {
        SlotStats {
            top,
            tagged_keys: 0,
            sums: Vec::new(),
            slots: Vec::new(),
            places: Vec::new(),
            common: Vec::new(),
            tagged: Vec::new(),
            unknown: Vec::new(),
        }
    }

    /// Adds a key. The caller knows its slot and whether a hash tag determines it. Slot numbers are taken modulo
    /// [`SLOTS`].
    #[inline]
    pub fn observe_at(&mut self, record: &Record<'_>, slot: u16, tagged: bool) {
        if self.sums.is_empty() {
            self.allocate(record.key);
        }
        let place = usize::from(slot) % SLOTS;
        if tagged {
            self.tagged_keys += 1;
            self.count_tagged(place, 1);
        }
        let sums = &mut self.sums[place];
        sums.memory += record.memory;
        sums.keys += 1;
        let may_be_heaviest = weight(record.memory) >= sums.least;
        let is_unknown = record.memory == Bytes(0);
        // `|` rather than `||`: one branch instead of three.
        if may_be_heaviest | is_unknown | (sums.keys == u32::MAX) {
            if is_unknown {
                self.unknown.resize(SLOTS, Unknown::default());
                self.unknown[place].note(record.memory, record.disk);
            }
            if sums.keys == u32::MAX {
                self.slots[place].keys += u64::from(std::mem::take(&mut sums.keys));
            }
            self.offer(place, record);
        }
    }

    /// Makes a key the heaviest one of its slot if it is.
    fn offer(&mut self, place: usize, record: &Record<'_>) {
        let rest = match record.key.strip_prefix(self.common.as_slice()) {
            Some(rest) => rest,
            None => self.shorten_common(record.key),
        };
        let least = &mut self.sums[place].least;
        // Most keys that weigh the same come later in the order of names, which is known without looking at the name of the heaviest.
        let is_tie = weight(record.memory) == *least && *least < u32::MAX;
        if is_tie && NamePlace::of(record.db, rest) > self.places[place] {
            return;
        }
        let details = &mut self.slots[place];
        details.offer(record.memory, record.db, record.key);
        *least = details.weight();
        self.places[place] = details.place(&self.common);
    }

    /// Shortens the common beginning to what it shares with `name`, and returns the rest of the name. Happens at most [`COMMON`] times
    /// while keys are observed.
    #[cold]
    fn shorten_common<'a>(&mut self, name: &'a [u8]) -> &'a [u8] {
        self.truncate_common(name);
        self.find_places();
        name.get(self.common.len()..).unwrap_or_default()
    }

    fn truncate_common(&mut self, name: &[u8]) {
        let shared = self.common.iter().zip(name).take_while(|(one, other)| one == other).count();
        self.common.truncate(shared);
    }

    /// Finds the places of all heaviest keys anew.
    fn find_places(&mut self) {
        let common = self.common.as_slice();
        self.places.iter_mut().zip(&self.slots).for_each(|(place, details)| *place = details.place(common));
    }

    /// Counts keys with a hash tag.
    #[inline]
    fn count_tagged(&mut self, place: usize, keys: u64) {
        if self.tagged.is_empty() {
            self.tagged.resize(SLOTS, 0);
        }
        self.tagged[place] = self.tagged[place].saturating_add(keys);
    }

    #[cold]
    fn allocate(&mut self, name: &[u8]) {
        self.sums.resize_with(SLOTS, SlotSums::default);
        self.slots.resize_with(SLOTS, SlotDetails::default);
        self.places.resize(SLOTS, NamePlace::UNKNOWN);
        self.common = name[..name.len().min(COMMON)].to_vec();
    }

    /// Adds everything that `other` has observed.
    pub fn merge(&mut self, other: Self) {
        if self.sums.is_empty() {
            *self = SlotStats { top: self.top, ..other };
            return;
        }
        let has_names = !other.slots.is_empty();
        self.tagged_keys = self.tagged_keys.saturating_add(other.tagged_keys);
        for (place, &keys) in other.tagged.iter().enumerate() {
            self.count_tagged(place, keys);
        }
        if !other.unknown.is_empty() {
            self.unknown.resize(SLOTS, Unknown::default());
            Unknown::merge_all(&mut self.unknown, &other.unknown);
        }
        for (slot, more) in self.slots.iter_mut().zip(other.slots) {
            if let Some(name) = &more.name {
                slot.offer_stored(more.heaviest, more.db, name);
            }
            slot.keys = slot.keys.saturating_add(more.keys);
        }
        for ((sums, slot), more) in self.sums.iter_mut().zip(&mut self.slots).zip(other.sums) {
            sums.memory += more.memory;
            sums.least = slot.weight();
            slot.keys = slot.keys.saturating_add(u64::from(more.keys));
        }
        if has_names {
            self.shorten_common(&other.common);
        }
    }

    /// Assigns all keys observed so far to database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.slots.iter_mut().for_each(|slot| slot.db = db);
        self.find_places();
    }

    /// Returns the report's section, with exact quantiles; `None` unless it is wanted anyway, as for the dump of a cluster, or a
    /// key has a hash tag, since slots mean nothing otherwise.
    pub fn finish(mut self, wanted: bool) -> Option<report::Slots> {
        if !wanted && self.tagged_keys == 0 {
            return None;
        }
        let all = (0u16..).zip(self.sums.iter().zip(&self.slots)).filter(|(_, (_, slot))| slot.name.is_some());
        let keys = |sums: &SlotSums, slot: &SlotDetails| slot.keys.saturating_add(u64::from(sums.keys));
        let weights: Vec<Weight> = (self.sums.iter().zip(&self.slots))
            .map(|(sums, slot)| Weight { keys: keys(sums, slot), memory: sums.memory })
            .collect();
        let ranges = ranges(&weights, &self.unknown);
        // Sorts numbers rather than slots: slots are large, and few are shown.
        let mut used: Vec<_> = all.map(|(number, (sums, _))| (Reverse(sums.memory), number)).collect();
        used.sort_unstable();
        let total: Bytes = used.iter().map(|(Reverse(memory), _)| *memory).sum();
        let at_percent = |percent: usize| {
            let rank = (used.len() * percent).div_ceil(100).max(1);
            used.len().checked_sub(rank).map_or(Bytes(0), |from_the_top| used[from_the_top].0.0)
        };
        let (mean, p50) = (Bytes(total.0 / (used.len() as u64).max(1)), at_percent(50));
        let (p99, max, number_used) = (at_percent(99), at_percent(100), used.len() as u64);
        let mut slot_of = |number: u16| {
            let place = usize::from(number);
            Some((*self.sums.get(place)?, std::mem::take(self.slots.get_mut(place)?)))
        };
        let kept = used.iter().take(self.top.max(JUDGED));
        let mut list: Vec<SlotRow> = kept
            .filter_map(|(_, number)| {
                slot_of(*number).map(|(sums, slot)| {
                    let (tagged_keys, unknown) = (of_slot(&self.tagged, *number), of_slot(&self.unknown, *number));
                    SlotRow { tagged_keys, unknown, ..row(*number, sums, slot, total) }
                })
            })
            .collect();
        let heaviest = list.iter().take(JUDGED).cloned().collect();
        list.truncate(self.top);
        let tagged_keys = self.tagged_keys;
        Some(report::Slots { used: number_used, tagged_keys, mean, p50, p99, max, list, ranges, heaviest, weights })
    }
}

/// Sums up all slots in ranges, including slots that are not in use. `weights` is empty if no slot is, `unknown` if the
/// memory of all keys is known.
fn ranges(weights: &[Weight], unknown: &[Unknown]) -> Vec<SlotRange> {
    let firsts = (0u16..).step_by(usize::from(RANGE)).take(SLOTS / usize::from(RANGE));
    let range = |first: u16| {
        let slots = weights.iter().skip(usize::from(first)).take(usize::from(RANGE));
        let mut sum = Weight::default();
        slots.for_each(|weight| sum.merge(*weight));
        let last = first + (RANGE - 1);
        let mut of_unknown = Unknown::default();
        let of_slots = unknown.iter().skip(usize::from(first)).take(usize::from(RANGE));
        of_slots.for_each(|more| of_unknown.merge(*more));
        SlotRange { first, last, keys: sum.keys, memory: sum.memory, unknown: of_unknown }
    };
    firsts.map(range).collect()
}

/// Returns what a list that may be empty has for a slot.
fn of_slot<T: Copy + Default>(list: &[T], slot: u16) -> T {
    list.get(usize::from(slot)).copied().unwrap_or_default()
}

/// Returns a row without the counts that stand in lists of their own.
fn row(number: u16, sums: SlotSums, slot: SlotDetails, total: Bytes) -> SlotRow {
    SlotRow {
        slot: number,
        keys: slot.keys.saturating_add(u64::from(sums.keys)),
        tagged_keys: 0,
        memory: sums.memory,
        share: share(sums.memory, total),
        unknown: Unknown::default(),
        example: Example {
            db: slot.db,
            key: Key::kept(slot.name.as_deref().unwrap_or_default(), NAME_KEPT),
            memory: slot.heaviest.known(),
        },
    }
}

#[cfg(test)]
mod tests;
