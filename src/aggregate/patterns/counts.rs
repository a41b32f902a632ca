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
    /// Bytes of the values themselves.
    pub content: Bytes,
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
            content: Bytes(0),
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
        self.content += other.content;
        self.without_ttl.merge(other.without_ttl);
        self.unknown.merge(other.unknown);
    }
}

/// Compact counters that are updated per key; [`LeafSums`] are computed from them at the end.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct LeafCounts {
    /// Keys without expiry, and keys with one.
    pub lifetimes: [Weight; 2],
    /// Elements of collections.
    pub elements: u64,
    /// Bytes of the values themselves.
    pub content: Bytes,
    pub disk: Bytes,
    pub name_bytes: Bytes,
    pub last_expiry: i64,
}

impl Default for LeafCounts {
    fn default() -> Self {
        LeafCounts {
            lifetimes: Default::default(),
            elements: 0,
            content: Bytes(0),
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
        // Without a branch: types are unpredictable.
        let elements = if record.kind == Kind::String { 0 } else { record.summed_length() };
        self.elements = self.elements.saturating_add(elements);
        self.content += record.content;
        self.disk += record.disk;
        self.name_bytes += Bytes(record.key.len() as u64);
        self.last_expiry = self.last_expiry.max(record.expires_at.map_or(NEVER, |at| at.0));
    }

    pub fn merge(&mut self, other: &LeafCounts) {
        Weight::merge_all(&mut self.lifetimes, &other.lifetimes);
        self.elements = self.elements.saturating_add(other.elements);
        self.content += other.content;
        self.disk += other.disk;
        self.name_bytes += other.name_bytes;
        self.last_expiry = self.last_expiry.max(other.last_expiry);
    }
}
