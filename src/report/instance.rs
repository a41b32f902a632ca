//! The section on the whole server: keys, tables, and what the server itself says.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Unknown;
use crate::units::Bytes;

/// Memory of a server that has loaded the snapshot; for several files, the sum over all servers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Instance {
    /// The memory model that the figures come from.
    pub model: String,
    /// Sum of `MEMORY USAGE` of all keys.
    pub keys: Bytes,
    /// Memory that the allocator provides for keys and values beyond that; negative if the servers count more than they use, or
    /// count entries of tables with the keys.
    pub correction: i64,
    /// Memory that the allocator provides for the tables of the databases, including their entries.
    pub tables: Tables,
    /// Keys, correction and tables: `used_memory` without what the server took when it was started.
    pub total: Bytes,
    /// Keys whose memory is unknown, which no figure has but the tables; absent if there are none.
    #[serde(skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
    /// The total right after loading, while tables that grew are still moved; `null` if it is the same.
    pub after_load: Option<Bytes>,
    /// Overhead of the databases and of hash templates as in `MEMORY STATS`.
    pub overhead: Overhead,
    /// Total without overhead: the databases' part of `used_memory_dataset`.
    pub dataset: i64,
    /// The tables by database.
    pub databases: Vec<InstanceDatabase>,
    /// Part of the tables that is of no database: what a cluster node keeps for its slots, whatever keys it has. Absent if there
    /// is none.
    #[serde(skip_serializing_if = "is_nothing")]
    pub outside_databases: Bytes,
    /// `used-mem` of the producers when they saved; `null` if one of them does not say.
    pub used_mem: Option<Bytes>,
    /// Memory used beyond the total.
    pub difference: Option<i64>,
    /// Memory limit of all servers whose snapshots were read, `maxmemory` times their number; absent if no limit was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxmemory: Option<Bytes>,
}

/// Returns whether a part of the memory is left out of JSON.
fn is_nothing(bytes: &Bytes) -> bool {
    *bytes == Bytes(0)
}

/// Bytes of tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Tables {
    /// Tables of keys.
    pub main: Bytes,
    /// Tables of expiries.
    pub expires: Bytes,
    /// Index of keys by cluster slot.
    pub slots: Bytes,
}

impl Tables {
    /// All together.
    pub fn sum(&self) -> Bytes {
        self.main + self.expires + self.slots
    }
}

/// Bytes that `MEMORY STATS` reports as overhead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Overhead {
    /// Tables of keys, with the objects of the keys.
    pub main: Bytes,
    /// Tables of expiries.
    pub expires: Bytes,
    /// Index of keys by cluster slot.
    pub slots: Bytes,
    /// Hash templates (`hash.templates`), which are also part of the memory of keys; absent if there are none.
    #[serde(skip_serializing_if = "is_nothing")]
    pub templates: Bytes,
}

impl Overhead {
    /// All together.
    pub fn sum(&self) -> Bytes {
        self.main + self.expires + self.slots + self.templates
    }
}

/// The tables of one database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct InstanceDatabase {
    /// Its number.
    pub db: u64,
    /// Keys in it.
    pub keys: u64,
    /// Number of keys with an expiry.
    pub expiring: u64,
    /// Memory of the table of keys, including the index of cluster slots.
    pub main: Bytes,
    /// Memory of the table of expiries.
    pub expires: Bytes,
}
