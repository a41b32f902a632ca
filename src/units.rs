//! Units of size and time. Sums saturate: a hostile file may claim sizes beyond 64 bits, and a saturating sum of unsigned
//! numbers does not depend on the order of its terms.

use std::iter::Sum;
use std::ops::{Add, AddAssign};
use std::sync::Arc;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Milliseconds of a second.
pub const SECOND: i64 = 1_000;
/// Milliseconds of a minute.
pub const MINUTE: i64 = 60 * SECOND;
/// Milliseconds of an hour.
pub const HOUR: i64 = 60 * MINUTE;
/// Milliseconds of a day.
pub const DAY: i64 = 24 * HOUR;

/// Seconds of a minute.
pub const MINUTE_SECONDS: u64 = 60;
/// Seconds of an hour.
pub const HOUR_SECONDS: u64 = 60 * MINUTE_SECONDS;
/// Seconds of a day.
pub const DAY_SECONDS: u64 = 24 * HOUR_SECONDS;

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

/// Times that expiries are compared with: each key with that of its file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReferenceTimes {
    /// Time of the report: that given by the user, or the latest of all files.
    pub report: Option<Millis>,
    /// Times of the files by position; empty if all are that of the report.
    files: Arc<[Millis]>,
}

impl ReferenceTimes {
    /// Returns the times of a report and of its files by position; those of unknown time have that of the report.
    pub(crate) fn new(report: Option<Millis>, files: impl Iterator<Item = Option<Millis>>) -> ReferenceTimes {
        let files: Vec<Millis> = files.map_while(|time| time.or(report)).collect();
        let differ = files.iter().any(|&time| Some(time) != report);
        ReferenceTimes { report, files: if differ { files.into() } else { Arc::default() } }
    }

    /// Returns the time of the file at this position.
    #[inline]
    pub(crate) fn of(&self, file: usize) -> Option<Millis> {
        self.files.get(file).copied().or(self.report)
    }

    /// Returns the earliest time of all files.
    pub(crate) fn earliest(&self) -> Option<Millis> {
        self.files.iter().copied().chain(self.report).min()
    }

    /// Returns the latest time of all files.
    pub(crate) fn latest(&self) -> Option<Millis> {
        self.files.iter().copied().chain(self.report).max()
    }
}

/// Returns one time for all files.
impl From<Option<Millis>> for ReferenceTimes {
    fn from(report: Option<Millis>) -> ReferenceTimes {
        ReferenceTimes { report, ..ReferenceTimes::default() }
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
