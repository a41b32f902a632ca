//! All that a later stage may know about one key.

use std::fmt;
use std::num::NonZeroU64;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::rdb::peek::RawValue;
use crate::units::{Bytes, Millis};

/// One key of a snapshot: borrowed from the batch it was read from, seen once by every aggregate.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// Position of its file among the inputs.
    pub file: usize,
    /// Number of the database.
    pub db: u64,
    /// The key's bytes, decompressed.
    pub key: &'a [u8],
    /// The type that `TYPE` answers.
    pub kind: Kind,
    /// The module's type name, for [`Kind::Module`].
    pub module: Option<ModuleName>,
    /// What `OBJECT ENCODING` answers on the server that wrote the dump, after loading it.
    pub encoding: Encoding,
    /// Bytes of a string, elements of a collection; `None` for modules that do not tell.
    pub length: Option<u64>,
    /// What `MEMORY USAGE key SAMPLES 0` would answer.
    pub memory: Bytes,
    /// The same under each alternative that was asked about, in the order asked.
    pub alternatives: &'a [Bytes],
    /// What the allocator gives under each of them.
    pub allocated_elsewhere: &'a [Bytes],
    /// What the allocator gives for key and value, without the entries of the database's tables.
    pub allocated: Bytes,
    /// Bytes of the record in the (decompressed) file, from its first prefix opcode to its last byte.
    pub disk: Bytes,
    /// When the key expires.
    pub expires_at: Option<Millis>,
    /// Seconds since the last access, where the dump holds it (LRU policies).
    pub idle: Option<u64>,
    /// The logarithmic access counter, where the dump holds it (LFU policies).
    pub freq: Option<u8>,
    /// For hashes whose form on disk carries field expiries: how many fields have one.
    pub fields_with_ttl: Option<u64>,
    /// For streams: consumer groups and pending entries.
    pub stream: Option<&'a StreamFacts>,
    /// What rules about values look at.
    pub value: ValueFacts,
    /// The value as it stands in the file, for those who look into it; `None` for records that are from no file.
    pub raw: Option<RawValue<'a>>,
}

/// What is seen of a value besides its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ValueFacts {
    /// For strings: it begins as a JSON object does, with a brace and a quoted name.
    pub json_object: bool,
    /// For strings that the dump holds compressed: the bytes that are left. `None` for HyperLogLogs, which the server has
    /// to understand.
    pub compressed: Option<Bytes>,
    /// For collections somewhat above a limit of their compact form: what they would be below it. Only where somebody asks.
    pub compact: Option<Compact>,
}

/// What a collection would be if the limits of its compact form were higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    /// Its encoding.
    pub encoding: Encoding,
    /// Its memory.
    pub memory: Bytes,
}

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

/// The type of a value, as `TYPE` names it; all module types are one kind here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Kind {
    String,
    List,
    Set,
    Zset,
    Hash,
    Stream,
    Module,
    /// The array of the Redis 8.8 line.
    Array,
}

impl Kind {
    /// All kinds, in the order reports list them.
    pub const ALL: [Kind; 8] =
        [Kind::String, Kind::List, Kind::Set, Kind::Zset, Kind::Hash, Kind::Stream, Kind::Module, Kind::Array];

    /// The name in reports and on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::String => "string",
            Kind::List => "list",
            Kind::Set => "set",
            Kind::Zset => "zset",
            Kind::Hash => "hash",
            Kind::Stream => "stream",
            Kind::Module => "module",
            Kind::Array => "array",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// An in-memory encoding, as `OBJECT ENCODING` names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum Encoding {
    Int,
    Embstr,
    Raw,
    Intset,
    Listpack,
    Listpackex,
    Ziplist,
    Zipmap,
    Linkedlist,
    Quicklist,
    Hashtable,
    Skiplist,
    Stream,
    #[serde(rename = "sliced-array")]
    Sliced,
    /// Servers answer `raw` for module values of old and `unknown` elsewhere; reports show `unknown`.
    Unknown,
}

impl Encoding {
    /// Every encoding, in the order of the enum.
    pub const ALL: [Encoding; 15] = [
        Encoding::Int,
        Encoding::Embstr,
        Encoding::Raw,
        Encoding::Intset,
        Encoding::Listpack,
        Encoding::Listpackex,
        Encoding::Ziplist,
        Encoding::Zipmap,
        Encoding::Linkedlist,
        Encoding::Quicklist,
        Encoding::Hashtable,
        Encoding::Skiplist,
        Encoding::Stream,
        Encoding::Sliced,
        Encoding::Unknown,
    ];

    /// The server's name for it.
    pub const fn name(self) -> &'static str {
        match self {
            Encoding::Int => "int",
            Encoding::Embstr => "embstr",
            Encoding::Raw => "raw",
            Encoding::Intset => "intset",
            Encoding::Listpack => "listpack",
            Encoding::Listpackex => "listpackex",
            Encoding::Ziplist => "ziplist",
            Encoding::Zipmap => "zipmap",
            Encoding::Linkedlist => "linkedlist",
            Encoding::Quicklist => "quicklist",
            Encoding::Hashtable => "hashtable",
            Encoding::Skiplist => "skiplist",
            Encoding::Stream => "stream",
            Encoding::Sliced => "sliced-array",
            Encoding::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Encoding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The nine-character name of a module's type, from its 64-bit id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleName([u8; 9]);

impl ModuleName {
    /// KeyDB's cron job, which is a type of its own there.
    pub const KEYDB_CRON: ModuleName = ModuleName(*b"keydbcron");

    /// Decodes the name from the upper 54 bits of a module id: nine 6-bit characters, most significant first.
    pub fn from_id(id: u64) -> Self {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let character = |i: usize| ALPHABET[(id >> (58 - 6 * i) & 63) as usize];
        ModuleName(std::array::from_fn(character))
    }

    /// The name as text; it is ASCII by construction.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet of module ids is ASCII")
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_ids_spell_their_names() {
        assert_eq!(ModuleName::from_id(0xBDE7_2DA2_BB1E_B400).as_str(), "vectorset");
        assert_eq!(ModuleName::from_id(0x45E2_5238_DF91_2C03).as_str(), "ReJSON-RL");
    }
}
