//! Facts about a stream that its price does not tell.

use std::num::NonZeroU64;

/// What a stream holds besides its entries.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StreamFacts {
    /// Consumer groups.
    pub groups: u64,
    /// Entries delivered but not acknowledged, over all groups.
    pub pending: u64,
    /// Those of the group that has most.
    pub most_pending: u64,
    /// The time in the id of the first entry, in milliseconds. Layouts of Redis 7 and later tell it; from older ones it is
    /// that of the first listpack, whose own first entries may be deleted, so it may be too early. Clients can give ids of
    /// their own, and then it is no time.
    pub first_entry: Option<NonZeroU64>,
    /// The time in the id of the last entry ever added, in milliseconds; the same holds for it.
    pub last_entry: Option<NonZeroU64>,
    /// When the pending entry was delivered that waits longest, in milliseconds.
    pub oldest_delivery: Option<NonZeroU64>,
    /// When the consumer was seen last that is idle longest among those with pending entries, in milliseconds.
    pub idle_since: Option<NonZeroU64>,
}
