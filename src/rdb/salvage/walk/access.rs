//! Idle times and access counters as evidence: servers write them for all keys of a file or for none.
//!
//! So where nearly all keys have them, a key without is part of another value, such as the pair of a hash with field expiries, or
//! the rest of a record whose first bytes were swallowed by the value before it.

use std::ops::Range;

use super::Walk;
use super::checksum::FileChecksum;
use super::marks::{Mark, MarkKind};
use crate::error::{Error, Result};
use crate::rdb::resync::KeyFacts;
use crate::rdb::salvage::prefix;
use crate::wording::wording;

impl Walk<'_> {
    /// Fails for a key at `at`, behind no known damage, that has no access metadata although nearly all others have.
    pub(super) fn has_access_as_others(&self, at: usize, facts: &KeyFacts) -> Result<()> {
        if !self.profile.lacks_access(facts) || self.damage_before(at).is_some() || self.checksum != FileChecksum::Wrong
        {
            return Ok(());
        }
        Err(Error::corrupt(
            at as u64,
            wording!(
                "a record without idle time or access counter, unlike all others",
                "记录没有空闲时间或访问计数，与其他记录都不同"
            ),
        ))
    }

    /// Returns whether the key at `at`, behind damage, has no access metadata although nearly all others have, and none in the damage.
    pub(super) fn has_no_access(&self, at: usize, facts: &KeyFacts) -> bool {
        self.profile.lacks_access(facts) && !prefix::follows_usage(self.bytes, at)
    }

    /// Returns the damage that ends at `at`, which may have taken in the expiry of the record there: a gap, or a damaged value, whose
    /// length may be that of another record.
    pub(super) fn damage_before(&self, at: usize) -> Option<Range<usize>> {
        match (&self.leading, self.marks.back()) {
            (Some(gap), _) => Some(gap.gap_start..at),
            (None, Some(Mark { range, kind: MarkKind::Damaged { .. }, .. })) if range.end == at => Some(range.clone()),
            _ => None,
        }
    }
}
