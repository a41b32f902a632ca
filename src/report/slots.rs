//! Section of a report about cluster slots.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Example, Unknown, Weight, share};
use crate::units::Bytes;

/// Memory over cluster slots.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Slots {
    /// Slots that hold a key.
    pub used: u64,
    /// Keys with a hash tag.
    pub tagged_keys: u64,
    /// Mean memory over the slots that hold a key, rounded down.
    pub mean: Bytes,
    /// Median of the same.
    pub p50: Bytes,
    /// 99th percentile of the same.
    pub p99: Bytes,
    /// The heaviest slot.
    pub max: Bytes,
    /// The heaviest slots.
    pub list: Vec<SlotRow>,
    /// All slots, as ranges of 128 beside each other, the first from 0 on.
    #[serde(default)]
    pub ranges: Vec<SlotRange>,
    /// The heaviest slots, as many as rules look at, whatever `list` shows.
    #[serde(skip)]
    pub heaviest: Vec<SlotRow>,
    /// Keys and memory of every slot, by number; empty in stored reports, which have only `ranges`.
    #[serde(skip)]
    pub weights: Vec<Weight>,
}

/// One slot.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SlotRow {
    /// Its number.
    pub slot: u16,
    /// Keys.
    pub keys: u64,
    /// Number of keys with a hash tag.
    #[serde(default)]
    pub tagged_keys: u64,
    /// Memory.
    pub memory: Bytes,
    /// Part of the memory of all keys.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// Keys of unknown memory.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
    /// Its heaviest key.
    pub example: Example,
}

/// Slots beside each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SlotRange {
    /// The first of them.
    pub first: u16,
    /// The last of them.
    pub last: u16,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Keys of unknown memory.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}
