//! Fast path for usual keys: keys that enter no list, exceed no limit, and violate only rules that follow from their
//! type, expiry and name. Nearly all keys are usual.
//!
//! Their sums are collected by type, encoding and expiry, and handed over to the aggregates from time to time.
//! Aggregates that add up therefore need not see each of these keys, and aggregates that keep lists need not see any.

use super::parts::{CELLS, cell_of};
use crate::pattern::word::FACTOR;
use crate::record::{Encoding, Kind, Record};
use crate::report::Weight;
use crate::units::Bytes;

/// Number of groups: type and encoding, each with and without expiry, and with and without prices under alternatives.
const GROUPS: usize = 4 * CELLS;

/// Most bytes or elements of a usual key. Sums over usual keys cannot overflow: there would have to be four billion of the largest.
pub const MAX_SIZE: u64 = u32::MAX as u64;

/// Size of the cache of violated rule sets; few different sets occur.
const RULES: usize = 8;

/// Sums of usual keys that have not been handed over yet.
#[derive(Debug)]
pub struct UsualBuffer {
    groups: Box<[UsualGroup; GROUPS]>,
    /// Indices of the groups that have keys.
    filled: Vec<usize>,
    /// Direct-mapped cache: keys by the set of rules that they violate.
    broken: [(u64, Weight); RULES],
}

/// Keys of one type and encoding, all or none of which expire, and all or none of which have prices under alternatives.
#[derive(Debug, Clone, Copy, Default)]
struct UsualGroup {
    /// Keys below both this length and a memory are of usual size.
    length_below: u64,
    /// One less than that memory.
    memory_span: u64,
    /// Most memory of an ordinary hash with the same pairs, for hashes that share their names.
    most_ordinary: u64,
    sums: UsualSums,
}

/// Sums over usual keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct UsualSums {
    /// The keys, and their memory.
    pub keys: Weight,
    /// Bytes of strings, elements of collections.
    pub length: u64,
    /// Bytes in the file.
    pub disk: Bytes,
    /// Bytes of the names.
    pub name_bytes: Bytes,
    /// Bytes that the allocator hands out.
    pub allocated: Bytes,
    /// Memory under the first alternative.
    pub alternative: Bytes,
    /// Bytes that the allocator hands out under it.
    pub allocated_elsewhere: Bytes,
}

/// Usual keys of one type and encoding, all or none of which expire, and all or none of which have prices under alternatives.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the names say it")]
pub struct UsualKeys {
    pub kind: Kind,
    pub encoding: Encoding,
    pub expires: bool,
    pub has_alternatives: bool,
    pub sums: UsualSums,
}

impl UsualKeys {
    /// Returns the number of elements; a string counts as one.
    pub fn elements(&self) -> u64 {
        if self.kind == Kind::String { self.sums.keys.keys } else { self.sums.length }
    }
}

/// Number of the group that a key belongs to.
#[derive(Debug, Clone, Copy)]
pub struct UsualPlace(usize);

impl UsualPlace {
    /// Returns the group of a key.
    #[inline]
    pub fn of(record: &Record<'_>) -> Self {
        let (expires, priced) = (record.expires_at.is_some(), !record.alternatives.is_empty());
        UsualPlace(4 * cell_of(record.kind, record.encoding) + 2 * usize::from(priced) + usize::from(expires))
    }
}

impl Default for UsualBuffer {
    fn default() -> Self {
        UsualBuffer {
            groups: Box::new([UsualGroup::default(); GROUPS]),
            filled: Vec::new(),
            broken: Default::default(),
        }
    }
}

impl UsualBuffer {
    /// Returns whether a key is below the limits [cached](UsualBuffer::learn) for similar keys.
    #[inline]
    pub fn is_small(&self, record: &Record<'_>, place: UsualPlace) -> bool {
        let group = &self.groups[place.0];
        // Unknown memory, which is 0, wraps to the largest number: such keys are not usual.
        record.memory.0.wrapping_sub(1) < group.memory_span
            && record.length.unwrap_or(0) < group.length_below
            && (!record.encoding.shares_names()
                || record.value.template.is_some_and(|template| template.ordinary.0 <= group.most_ordinary))
    }

    /// Caches limits: similar keys that are below both are of usual size. Hashes that share their names also have to be below
    /// `ordinary_below` with names of their own, as their content may exceed their memory.
    pub fn learn(&mut self, record: &Record<'_>, length_below: u64, memory_below: Bytes, ordinary_below: Bytes) {
        let group = &mut self.groups[UsualPlace::of(record).0];
        group.length_below = length_below.min(MAX_SIZE);
        group.memory_span = memory_below.0.min(MAX_SIZE).saturating_sub(1);
        group.most_ordinary = ordinary_below.0.saturating_sub(1);
    }

    /// Adds a key of this place that violates these rules. Calls `displaced` with the keys of a set evicted from the cache.
    #[inline]
    pub fn add(
        &mut self,
        record: &Record<'_>,
        UsualPlace(place): UsualPlace,
        rules: u64,
        displaced: impl FnOnce(u64, Weight),
    ) {
        let sums = &mut self.groups[place].sums;
        if sums.keys.keys == 0 {
            self.filled.push(place);
        }
        sums.keys.keys += 1;
        sums.keys.memory.0 += record.memory.0;
        sums.length += record.length.unwrap_or(0);
        sums.disk.0 += record.disk.0;
        sums.name_bytes.0 += record.key.len() as u64;
        sums.allocated.0 += record.allocated.0;
        if let ([memory, ..], [allocated, ..]) = (record.alternatives, record.allocated_elsewhere) {
            sums.alternative += *memory;
            sums.allocated_elsewhere += *allocated;
        }
        if rules != 0 {
            // The upper three bits of the product select one of the eight entries.
            let broken = &mut self.broken[(rules.wrapping_mul(FACTOR) >> 61) as usize % RULES];
            if broken.0 != rules {
                let (others, tally) = std::mem::replace(broken, (rules, Weight::default()));
                displaced(others, tally);
            }
            broken.1.add(record.memory);
        }
    }

    /// Returns the number of keys not handed over.
    #[cfg(test)]
    pub fn keys(&self) -> u64 {
        self.groups.iter().map(|group| group.sums.keys.keys).sum()
    }

    /// Hands over all keys so far: `keys` gets the sums, `broken` the keys of each set of violated rules.
    pub fn hand_over(&mut self, mut keys: impl FnMut(UsualKeys), mut broken: impl FnMut(u64, Weight)) {
        for place in self.filled.drain(..) {
            let sums = std::mem::take(&mut self.groups[place].sums);
            let (kind, encoding) = (place / 4 / Encoding::ALL.len(), place / 4 % Encoding::ALL.len());
            keys(UsualKeys {
                kind: Kind::ALL[kind],
                encoding: Encoding::ALL[encoding],
                expires: place % 2 == 1,
                has_alternatives: place / 2 % 2 == 1,
                sums,
            });
        }
        for (rules, tally) in &mut self.broken {
            broken(*rules, std::mem::take(tally));
        }
    }
}
