//! Counts of the keys of one pattern, and the sums computed from them.

use serde::{Deserialize, Serialize};

use crate::record::{Kind, Record};
use crate::report::{Unknown, Weight};
use crate::units::Bytes;

/// Saturating sums over keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LeafSums {
    pub keys: u64,
    pub memory: Bytes,
    pub disk: Bytes,
    pub elements: u64,
    pub name_bytes: Bytes,
    /// The latest expiry; [`NEVER`] when no key has one.
    pub last_expiry: i64,
    /// Bytes of the texts of strings.
    pub string_bytes: Bytes,
    pub without_ttl: Weight,
    pub unknown: Unknown,
}

/// Sentinel for the latest expiry if no key has one.
pub(super) const NEVER: i64 = i64::MIN;

impl Default for LeafSums {
    fn default() -> Self {
        LeafSums {
            keys: 0,
            memory: Bytes(0),
            disk: Bytes(0),
            elements: 0,
            name_bytes: Bytes(0),
            string_bytes: Bytes(0),
            last_expiry: NEVER,
            without_ttl: Weight::default(),
            unknown: Unknown::default(),
        }
    }
}

impl LeafSums {
    pub fn add(&mut self, other: &LeafSums) {
        self.keys = self.keys.saturating_add(other.keys);
        self.memory += other.memory;
        self.disk += other.disk;
        self.elements = self.elements.saturating_add(other.elements);
        self.name_bytes += other.name_bytes;
        self.last_expiry = self.last_expiry.max(other.last_expiry);
        self.string_bytes += other.string_bytes;
        self.without_ttl.merge(other.without_ttl);
        self.unknown.merge(other.unknown);
    }
}

/// Compact counters that are updated per key; [`LeafSums`] are computed from them at the end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct LeafCounts {
    /// Keys without expiry, and keys with one.
    pub lifetimes: [Weight; 2],
    /// Elements of collections, and bytes of strings.
    pub lengths: [u64; 2],
    pub disk: Bytes,
    pub name_bytes: Bytes,
    pub last_expiry: i64,
}

impl Default for LeafCounts {
    fn default() -> Self {
        LeafCounts {
            lifetimes: Default::default(),
            lengths: Default::default(),
            disk: Bytes(0),
            name_bytes: Bytes(0),
            last_expiry: NEVER,
        }
    }
}

impl LeafCounts {
    #[inline]
    pub fn add(&mut self, record: &Record<'_>) {
        self.lifetimes[usize::from(record.expires_at.is_some())].add(record.memory);
        let length = &mut self.lengths[usize::from(record.kind == Kind::String)];
        *length = length.saturating_add(record.summed_length());
        self.disk += record.disk;
        self.name_bytes += Bytes(record.key.len() as u64);
        self.last_expiry = self.last_expiry.max(record.expires_at.map_or(NEVER, |at| at.0));
    }

    pub fn merge(&mut self, other: &LeafCounts) {
        Weight::merge_all(&mut self.lifetimes, &other.lifetimes);
        self.lengths.iter_mut().zip(other.lengths).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.disk += other.disk;
        self.name_bytes += other.name_bytes;
        self.last_expiry = self.last_expiry.max(other.last_expiry);
    }
}
