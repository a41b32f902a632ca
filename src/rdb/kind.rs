//! Types of values: the kinds that the `TYPE` command tells apart, and the names of module types.

use std::fmt;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The type of a value, as `TYPE` names it; all module types are one kind here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the servers")]
pub enum Kind {
    String,
    List,
    Set,
    Zset,
    Hash,
    Stream,
    Module,
    // The array of the Redis 8.8 line. A doc comment would be the help of `--type`.
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

/// Characters of module names, by their six-bit number.
const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Returns the id of a module with this name, whose characters are in the alphabet, and encoding version.
pub const fn module_id(name: &[u8; 9], version: u64) -> u64 {
    let (mut id, mut at) = (0, 0);
    while at < name.len() {
        let mut number = 0;
        while number < 63 && ALPHABET[number] != name[at] {
            number += 1;
        }
        id = id << 6 | number as u64;
        at += 1;
    }
    id << 10 | version
}

/// The nine-character name of a module's type, from its 64-bit id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModuleName([u8; 9]);

impl ModuleName {
    /// KeyDB's cron job, which is a type of its own there.
    pub const KEYDB_CRON: ModuleName = ModuleName(*b"keydbcron");

    /// Decodes the name from the upper 54 bits of a module id: nine 6-bit characters, most significant first.
    pub fn from_id(id: u64) -> Self {
        let character = |i: usize| ALPHABET[(id >> (58 - 6 * i) & 63) as usize];
        ModuleName(std::array::from_fn(character))
    }

    /// Returns the characters.
    pub(crate) fn bytes(self) -> [u8; 9] {
        self.0
    }

    /// Returns the name with the characters that [`ModuleName::bytes`] returned.
    pub(crate) fn from_bytes(characters: [u8; 9]) -> Self {
        ModuleName(characters)
    }

    /// The name as text; it is ASCII by construction.
    pub fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).expect("the alphabet of module ids is ASCII")
    }
}

impl Serialize for ModuleName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ModuleName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let name =
            <[u8; 9]>::try_from(text.as_bytes()).ok().filter(|name| name.iter().all(|byte| ALPHABET.contains(byte)));
        name.map(ModuleName).ok_or_else(|| D::Error::custom("not the name of a module"))
    }
}

impl fmt::Display for ModuleName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Module type whose stored form is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KnownModule {
    /// Bloom filter of RedisBloom.
    Bloom,
    /// Count-min sketch of RedisBloom.
    CountMin,
    /// Cuckoo filter of RedisBloom.
    Cuckoo,
    /// Graph of FalkorDB.
    FalkorDb,
    /// JSON document, as text.
    Json,
    /// JSON document, as CBOR.
    JsonCbor,
    /// T-digest sketch of RedisBloom.
    TDigest,
    /// Time series of RedisTimeSeries.
    TimeSeries,
    /// Top-k list of RedisBloom.
    TopK,
    /// Vector set of Redis.
    VectorSet,
}

impl KnownModule {
    /// Returns the module with this id, if its stored form is known in this encoding version.
    pub fn find(id: u64) -> Option<KnownModule> {
        match (ModuleName::from_id(id).as_str(), module::encoding_version(id)) {
            ("MBbloom--", 4) => Some(KnownModule::Bloom),
            ("CMSk-TYPE", 0) => Some(KnownModule::CountMin),
            ("MBbloomCF", 4) => Some(KnownModule::Cuckoo),
            ("graphdata", 18) => Some(KnownModule::FalkorDb),
            (module::JSON, module::JSON_TEXT) => Some(KnownModule::Json),
            (module::JSON, module::JSON_CBOR) => Some(KnownModule::JsonCbor),
            ("TDIS-TYPE", 0) => Some(KnownModule::TDigest),
            // Rules have one more number from version 9 on.
            (module::TIME_SERIES, 8 | 9) => Some(KnownModule::TimeSeries),
            ("TopK-TYPE", 0) => Some(KnownModule::TopK),
            (module::VECTOR_SET, 0) => Some(KnownModule::VectorSet),
            _ => None,
        }
    }
}

/// Types and encoding versions of modules that several stages know.
pub mod module {
    /// Type of a document of RedisJSON.
    pub const JSON: &str = "ReJSON-RL";
    /// Encoding version of JSON as text.
    pub const JSON_TEXT: u64 = 3;
    /// Encoding version of JSON as CBOR, from Redis 8.8 on.
    pub const JSON_CBOR: u64 = 4;
    /// Type of a time series.
    pub const TIME_SERIES: &str = "TSDB-TYPE";
    /// Type of a vector set.
    pub const VECTOR_SET: &str = "vectorset";

    /// Returns the encoding version, which is in the lower ten bits of a module id.
    pub fn encoding_version(id: u64) -> u64 {
        id & ((1 << 10) - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_ids_spell_their_names() {
        assert_eq!(ModuleName::from_id(0xBDE7_2DA2_BB1E_B400).as_str(), "vectorset");
        assert_eq!(ModuleName::from_id(0x45E2_5238_DF91_2C03).as_str(), "ReJSON-RL");
        assert_eq!(module_id(b"ReJSON-RL", 3), 0x45E2_5238_DF91_2C03);
        assert_eq!(module_id(b"vectorset", 0), 0xBDE7_2DA2_BB1E_B400);
    }
}
