//! The type byte of a record: which layout its value has on disk.

use super::header::Family;
use crate::rdb::kind::Kind;

/// A layout on disk, named after the servers' `RDB_TYPE_…`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum ValueType {
    String,
    List,
    Set,
    Zset,
    Hash,
    Zset2,
    ModulePreGa,
    Module2,
    HashZipmap,
    ListZiplist,
    SetIntset,
    ZsetZiplist,
    HashZiplist,
    ListQuicklist,
    /// Streams; the number is the layout's version, 1 to 5.
    Stream(u8),
    HashListpack,
    ZsetListpack,
    ListQuicklist2,
    SetListpack,
    HashMetadataPreGa,
    HashListpackExPreGa,
    HashMetadata,
    HashListpackEx,
    Array,
    /// Valkey's hash with field expiries.
    Hash2,
    /// KeyDB's cron job.
    KeydbCron,
}

const fn layouts(family: Family) -> [Option<ValueType>; 256] {
    let mut layouts = [None; 256];
    let mut byte = 0;
    while byte < layouts.len() {
        layouts[byte] = ValueType::of(family, byte as u8);
        byte += 1;
    }
    layouts
}

impl ValueType {
    /// The layout that `byte` stands for in a file of this family, if it is known.
    #[inline]
    pub fn from_byte(family: Family, byte: u8) -> Option<ValueType> {
        // A table, not a branch: which type comes next nobody can foresee.
        static LAYOUTS: [[Option<ValueType>; 256]; 2] = [layouts(Family::Redis), layouts(Family::Valkey)];
        LAYOUTS[family as usize][usize::from(byte)]
    }

    const fn of(family: Family, byte: u8) -> Option<ValueType> {
        Some(match byte {
            0 => ValueType::String,
            1 => ValueType::List,
            2 => ValueType::Set,
            3 => ValueType::Zset,
            4 => ValueType::Hash,
            5 => ValueType::Zset2,
            6 => ValueType::ModulePreGa,
            7 => ValueType::Module2,
            9 => ValueType::HashZipmap,
            10 => ValueType::ListZiplist,
            11 => ValueType::SetIntset,
            12 => ValueType::ZsetZiplist,
            13 => ValueType::HashZiplist,
            14 => ValueType::ListQuicklist,
            15 => ValueType::Stream(1),
            16 => ValueType::HashListpack,
            17 => ValueType::ZsetListpack,
            18 => ValueType::ListQuicklist2,
            19 => ValueType::Stream(2),
            20 => ValueType::SetListpack,
            21 => ValueType::Stream(3),
            _ => return ValueType::of_family(family, byte),
        })
    }

    const fn of_family(family: Family, byte: u8) -> Option<ValueType> {
        Some(match (family, byte) {
            (Family::Redis, 22) => ValueType::HashMetadataPreGa,
            (Family::Redis, 23) => ValueType::HashListpackExPreGa,
            (Family::Redis, 24) => ValueType::HashMetadata,
            (Family::Redis, 25) => ValueType::HashListpackEx,
            (Family::Redis, 26) => ValueType::Stream(4),
            (Family::Redis, 27) => ValueType::Stream(5),
            (Family::Redis, 28) => ValueType::Array,
            (Family::Redis, 64) => ValueType::KeydbCron,
            (Family::Valkey, 22) => ValueType::Hash2,
            _ => return None,
        })
    }

    /// The type that `TYPE` answers.
    pub fn kind(self) -> Kind {
        match self {
            ValueType::String => Kind::String,
            ValueType::List | ValueType::ListZiplist | ValueType::ListQuicklist | ValueType::ListQuicklist2 => {
                Kind::List
            }
            ValueType::Set | ValueType::SetIntset | ValueType::SetListpack => Kind::Set,
            ValueType::Zset | ValueType::Zset2 | ValueType::ZsetZiplist | ValueType::ZsetListpack => Kind::Zset,
            ValueType::Hash
            | ValueType::HashZipmap
            | ValueType::HashZiplist
            | ValueType::HashListpack
            | ValueType::HashMetadataPreGa
            | ValueType::HashListpackExPreGa
            | ValueType::HashMetadata
            | ValueType::HashListpackEx
            | ValueType::Hash2 => Kind::Hash,
            ValueType::Stream(_) => Kind::Stream,
            ValueType::ModulePreGa | ValueType::Module2 | ValueType::KeydbCron => Kind::Module,
            ValueType::Array => Kind::Array,
        }
    }
}

/// What an unknown type byte is known to be elsewhere, for the error message.
pub fn foreign_type(family: Family, byte: u8) -> Option<&'static str> {
    Some(match (family, byte) {
        (Family::Redis, 29) => "the rate limiter of a later Redis",
        (Family::Redis, 30..=37) => "a private type of Dragonfly or of a later Redis",
        (Family::Valkey, 23) => "the path hash of a later Valkey",
        (Family::Valkey, 24..=41) => "a type that only Redis or a later Valkey writes",
        _ => return None,
    })
}
