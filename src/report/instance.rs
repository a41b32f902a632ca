//! The section on the whole server: keys, tables, and what the server itself says.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::units::Bytes;

/// What the server takes that is started on the snapshot; of several files all servers together.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Instance {
    /// The memory model that the figures come from.
    pub model: String,
    /// Sum of `MEMORY USAGE` of all keys.
    pub keys: Bytes,
    /// What the allocator gives for keys and values beyond that; less where the servers count more than there is, or
    /// entries of tables with the keys.
    pub correction: i64,
    /// What it gives for the databases' tables, entries included.
    pub tables: Tables,
    /// Keys, correction and tables: `used_memory` without what the server took when it was started.
    pub total: Bytes,
    /// The total right after loading, while tables that grew are still moved; `null` if it is the same.
    pub after_load: Option<Bytes>,
    /// What `MEMORY STATS` calls overhead of the databases.
    pub overhead: Tables,
    /// Total without overhead: the databases' part of `used_memory_dataset`.
    pub dataset: i64,
    /// The tables by database.
    pub databases: Vec<InstanceDatabase>,
    /// `used-mem` of the producers when they saved; `null` if one of them does not say.
    pub used_mem: Option<Bytes>,
    /// What they used beyond the total.
    pub difference: Option<i64>,
    /// What they may use together, `maxmemory` for each file; absent where no limit was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub maxmemory: Option<Bytes>,
}

/// Bytes of tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Tables {
    /// Tables of keys.
    pub main: Bytes,
    /// Tables of expiries.
    pub expires: Bytes,
    /// What finds the keys of a cluster slot.
    pub slots: Bytes,
}

impl Tables {
    /// All together.
    pub fn sum(&self) -> Bytes {
        self.main + self.expires + self.slots
    }
}

/// The tables of one database.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct InstanceDatabase {
    /// Its number.
    pub db: u64,
    /// Keys in it.
    pub keys: u64,
    /// Those with an expiry.
    pub expiring: u64,
    /// What the table of keys takes, with all that finds the keys of a slot.
    pub main: Bytes,
    /// What the table of expiries takes.
    pub expires: Bytes,
}
