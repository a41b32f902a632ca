//! Facts about a stream besides its memory.

use std::num::NonZeroU64;

/// Consumer groups, pending entries and times of a stream.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// Number of consumer groups.
    pub groups: u64,
    /// Entries delivered but not acknowledged, over all groups.
    pub pending: u64,
    /// Pending entries of the group with the most.
    pub most_pending: u64,
    /// Milliseconds in the id of the first entry. Layouts of Redis 7 and later store it; for older ones it is taken from the
    /// first listpack, whose first entries may be deleted, so it may be too early. Not a time if clients set their own ids.
    pub first_entry: Option<NonZeroU64>,
    /// Milliseconds in the id of the last entry ever added. Not a time if clients set their own ids.
    pub last_entry: Option<NonZeroU64>,
    /// Delivery time of the longest-waiting pending entry, in milliseconds.
    pub oldest_delivery: Option<NonZeroU64>,
    /// Time at which the longest-idle consumer with pending entries was last seen, in milliseconds.
    pub idle_since: Option<NonZeroU64>,
}
