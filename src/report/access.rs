//! Sections of a report about accesses: how long keys were idle, and how often they are used.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Unknown, Word};
use crate::units::Bytes;

/// Time since the last access.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Idle {
    /// Keys that carry an idle time.
    pub keys: u64,
    /// Ascending: `< 1 min`, …, `> 1 year`.
    pub classes: Vec<IdleClass>,
    /// Number of patterns with keys not accessed for 7 days, listed or not; 0 in reports of earlier versions.
    #[serde(default)]
    pub distinct_patterns: u64,
    /// Patterns with keys not accessed for 7 days, then owners of such keys; each by the memory of these keys.
    #[serde(default)]
    pub parts: Vec<ColdPart>,
}

/// Limits of [`ColdStep`], in days: a key not accessed for the first is called cold.
pub const COLD_DAYS: [u64; 3] = [7, 30, 90];

/// Part of the keys some of which were not accessed for days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct ColdPart {
    /// Division of the keys.
    pub by: ColdDivision,
    /// Pattern or owner; null for keys without owner.
    pub name: Option<String>,
    /// All its keys, in use or not.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Keys not accessed for 7, 30 and 90 days.
    pub steps: Vec<ColdStep>,
}

impl ColdPart {
    /// Returns the memory of the keys not accessed for the least time.
    pub fn cold(&self) -> Bytes {
        self.steps.first().map_or(Bytes(0), |step| step.memory)
    }

    /// Adds the keys of the same part of another server.
    pub(crate) fn merge(&mut self, other: &ColdPart) {
        self.keys = self.keys.saturating_add(other.keys);
        self.memory += other.memory;
        for (sum, step) in self.steps.iter_mut().zip(&other.steps) {
            sum.keys = sum.keys.saturating_add(step.keys);
            sum.memory += step.memory;
        }
    }
}

/// Division of cold keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ColdDivision {
    /// Pattern.
    Pattern,
    /// Owner in the policy's dictionary.
    Owner,
}

/// Memory not accessed for a time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct ColdStep {
    /// Days without access.
    pub days: u64,
    /// Keys not accessed for that long.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

/// One class of idle time.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct IdleClass {
    /// Its name.
    pub idle: Word,
    /// Seconds below which a key falls into this or an earlier class.
    pub below_s: Option<u64>,
    /// Keys.
    pub keys: u64,
    /// Memory.
    pub memory: Bytes,
    /// Keys of unknown memory.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

/// The logarithmic access counter.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Freq {
    /// Keys that carry a counter.
    pub keys: u64,
    /// Ascending classes of the counter.
    pub classes: Vec<FreqClass>,
}

/// One class of the access counter, both ends included.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FreqClass {
    /// Lowest counter.
    pub from: u8,
    /// Highest counter.
    pub to: u8,
    /// Keys.
    pub keys: u64,
    /// Memory.
    pub memory: Bytes,
    /// Keys of unknown memory.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}
