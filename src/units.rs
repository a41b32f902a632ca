//! Units of size and time. Sums saturate: a hostile file may claim sizes beyond 64 bits, and a saturating sum of unsigned
//! numbers does not depend on the order of its terms.

use std::iter::Sum;
use std::ops::{Add, AddAssign};

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A number of bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(transparent)]
pub struct Bytes(pub u64);

/// A point in time, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(transparent)]
pub struct Millis(pub i64);

impl Millis {
    /// Returns the last millisecond of a second since the Unix epoch.
    ///
    /// The `ctime` of a snapshot counts whole seconds and the snapshot is taken somewhere within: a key due in that second
    /// counts as expired when it was written.
    pub(crate) fn end_of_second(seconds: i64) -> Millis {
        Millis(seconds.saturating_mul(1000).saturating_add(999))
    }
}

impl Bytes {
    /// Returns the memory of a key, or `None` if it is unknown, for which 0 stands: every key takes some memory.
    #[inline]
    pub(crate) fn known(self) -> Option<Bytes> {
        Some(self).filter(|bytes| bytes.0 > 0)
    }
}

impl Add for Bytes {
    type Output = Bytes;
    #[inline]
    fn add(self, other: Bytes) -> Bytes {
        Bytes(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Bytes {
    #[inline]
    fn add_assign(&mut self, other: Bytes) {
        *self = *self + other;
    }
}

impl Sum for Bytes {
    fn sum<I: Iterator<Item = Bytes>>(iter: I) -> Bytes {
        iter.fold(Bytes(0), Add::add)
    }
}
