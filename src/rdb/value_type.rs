//! Type byte of a record: the on-disk layout of its value.

use super::header::Family;
use crate::rdb::kind::{Kind, module, module_id};
use crate::wording::Text;

/// On-disk layout, named after the servers' `RDB_TYPE_…` constants.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names are those of the servers")]
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
    /// Stream, with the version of its layout, 1 to 5.
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
    /// Compact hash with names of its own, values packed.
    HashTemplateListpack,
    /// Compact hash packed with the id of its template.
    HashTemplateListpackRef,
    /// Compact hash with names of its own.
    HashTemplateArray,
    /// Id of a template and values.
    HashTemplateArrayRef,
    /// Hash with field expiries, as Valkey stores it.
    Hash2,
    /// Cron job of KeyDB.
    KeydbCron,
    /// Hash of Dragonfly whose fields have expiries.
    DragonflyHash,
    /// Set of Dragonfly whose members have expiries.
    DragonflySet,
    /// Value of Dragonfly of a type that is a module's elsewhere.
    DragonflyModule(DragonflyModule),
}

/// Types of Dragonfly that are modules' types elsewhere, by their layout.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DragonflyModule {
    /// JSON, as text.
    Json,
    /// Bloom filter, each filter in one string.
    Bloom,
    /// Bloom filter, each filter in chunks.
    ChunkedBloom,
    /// Count-min sketch.
    CountMin,
    /// Top-k.
    TopK,
    /// Cuckoo filter.
    Cuckoo,
}

impl DragonflyModule {
    /// Id under which no module stores its values: the name that `TYPE` answers, and an encoding version of our own.
    ///
    /// JSON is the same text as in version 3 of the module.
    pub const fn id(self) -> u64 {
        const OWN_VERSION: u64 = 1023;
        let (name, version) = match self {
            DragonflyModule::Json => (b"ReJSON-RL", module::JSON_TEXT),
            DragonflyModule::Bloom | DragonflyModule::ChunkedBloom => (b"MBbloom--", OWN_VERSION),
            DragonflyModule::CountMin => (b"CMSk-TYPE", OWN_VERSION),
            DragonflyModule::TopK => (b"TopK-TYPE", OWN_VERSION),
            DragonflyModule::Cuckoo => (b"MBbloomCF", OWN_VERSION),
        };
        module_id(name, version)
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the array has 256 places")]
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
    /// Returns the layout for `byte` in a file of this family, or `None` if unknown.
    #[inline]
    pub fn from_byte(family: Family, byte: u8) -> Option<ValueType> {
        // Value types are unpredictable, so a branch here would mispredict: use a lookup table.
        static LAYOUTS: [[Option<ValueType>; 256]; 3] =
            [layouts(Family::Redis), layouts(Family::Valkey), layouts(Family::Dragonfly)];
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
            20 if !matches!(family, Family::Dragonfly) => ValueType::SetListpack,
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
            (Family::Redis, 29) => ValueType::HashTemplateListpack,
            (Family::Redis, 30) => ValueType::HashTemplateListpackRef,
            (Family::Redis, 31) => ValueType::HashTemplateArray,
            (Family::Redis, 32) => ValueType::HashTemplateArrayRef,
            (Family::Redis, 64) => ValueType::KeydbCron,
            (Family::Valkey, 22) => ValueType::Hash2,
            // Dragonfly's first JSON; its files are of version 9, which has no type 20.
            (Family::Dragonfly, 20 | 30) => ValueType::DragonflyModule(DragonflyModule::Json),
            (Family::Dragonfly, 31) => ValueType::DragonflyHash,
            (Family::Dragonfly, 32) => ValueType::DragonflySet,
            (Family::Dragonfly, 33) => ValueType::DragonflyModule(DragonflyModule::Bloom),
            (Family::Dragonfly, 34) => ValueType::DragonflyModule(DragonflyModule::ChunkedBloom),
            (Family::Dragonfly, 35) => ValueType::DragonflyModule(DragonflyModule::CountMin),
            (Family::Dragonfly, 36) => ValueType::DragonflyModule(DragonflyModule::TopK),
            (Family::Dragonfly, 37) => ValueType::DragonflyModule(DragonflyModule::Cuckoo),
            _ => return None,
        })
    }

    /// Returns the first RDB version whose servers read this layout, 0 for the oldest ones and for those of forks.
    pub fn first_version(self) -> u32 {
        match self {
            ValueType::String
            | ValueType::List
            | ValueType::Set
            | ValueType::Zset
            | ValueType::Hash
            | ValueType::KeydbCron
            | ValueType::DragonflyHash
            | ValueType::DragonflySet
            | ValueType::DragonflyModule(_) => 0,
            ValueType::HashZipmap | ValueType::ListZiplist | ValueType::SetIntset | ValueType::ZsetZiplist => 2,
            ValueType::HashZiplist => 4,
            ValueType::ListQuicklist => 7,
            ValueType::Zset2 | ValueType::ModulePreGa | ValueType::Module2 => 8,
            ValueType::Stream(1) => 9,
            ValueType::HashListpack | ValueType::ZsetListpack | ValueType::ListQuicklist2 | ValueType::Stream(2) => 10,
            ValueType::SetListpack | ValueType::Stream(3) => 11,
            ValueType::HashMetadataPreGa
            | ValueType::HashListpackExPreGa
            | ValueType::HashMetadata
            | ValueType::HashListpackEx => 12,
            ValueType::Stream(4) => 13,
            ValueType::Stream(_) | ValueType::Array => 14,
            ValueType::HashTemplateListpack
            | ValueType::HashTemplateListpackRef
            | ValueType::HashTemplateArray
            | ValueType::HashTemplateArrayRef => 15,
            ValueType::Hash2 => 80,
        }
    }

    /// Returns whether servers skip keys of this layout that have no elements. Of the other collections, they load streams and
    /// refuse to load the rest.
    pub fn is_skipped_without_elements(self) -> bool {
        match self {
            ValueType::String
            | ValueType::Stream(_)
            | ValueType::ModulePreGa
            | ValueType::Module2
            | ValueType::Array
            | ValueType::KeydbCron
            | ValueType::DragonflyModule(_)
            | ValueType::HashZipmap
            | ValueType::SetIntset => false,
            ValueType::List
            | ValueType::Set
            | ValueType::Zset
            | ValueType::Hash
            | ValueType::Zset2
            | ValueType::ListZiplist
            | ValueType::ZsetZiplist
            | ValueType::HashZiplist
            | ValueType::ListQuicklist
            | ValueType::HashListpack
            | ValueType::ZsetListpack
            | ValueType::ListQuicklist2
            | ValueType::SetListpack
            | ValueType::HashMetadataPreGa
            | ValueType::HashListpackExPreGa
            | ValueType::HashMetadata
            | ValueType::HashListpackEx
            | ValueType::HashTemplateListpack
            | ValueType::HashTemplateListpackRef
            | ValueType::HashTemplateArray
            | ValueType::HashTemplateArrayRef
            | ValueType::DragonflyHash
            | ValueType::DragonflySet
            | ValueType::Hash2 => true,
        }
    }

    /// Returns whether the field names of the hash are those of a template.
    #[inline]
    pub fn is_compact_hash(self) -> bool {
        matches!(
            self,
            ValueType::HashTemplateListpack
                | ValueType::HashTemplateListpackRef
                | ValueType::HashTemplateArray
                | ValueType::HashTemplateArrayRef
        )
    }

    /// Returns the type as the `TYPE` command reports it.
    pub fn kind(self) -> Kind {
        match self {
            ValueType::String => Kind::String,
            ValueType::List | ValueType::ListZiplist | ValueType::ListQuicklist | ValueType::ListQuicklist2 => {
                Kind::List
            }
            ValueType::Set | ValueType::SetIntset | ValueType::SetListpack | ValueType::DragonflySet => Kind::Set,
            ValueType::Zset | ValueType::Zset2 | ValueType::ZsetZiplist | ValueType::ZsetListpack => Kind::Zset,
            ValueType::Hash
            | ValueType::HashZipmap
            | ValueType::HashZiplist
            | ValueType::HashListpack
            | ValueType::HashMetadataPreGa
            | ValueType::HashListpackExPreGa
            | ValueType::HashMetadata
            | ValueType::HashListpackEx
            | ValueType::HashTemplateListpack
            | ValueType::HashTemplateListpackRef
            | ValueType::HashTemplateArray
            | ValueType::HashTemplateArrayRef
            | ValueType::Hash2
            | ValueType::DragonflyHash => Kind::Hash,
            ValueType::Stream(_) => Kind::Stream,
            ValueType::ModulePreGa | ValueType::Module2 | ValueType::KeydbCron | ValueType::DragonflyModule(_) => {
                Kind::Module
            }
            ValueType::Array => Kind::Array,
        }
    }
}

/// Describes a type byte of another server, for the error message.
pub fn foreign_type(family: Family, byte: u8) -> Option<Text> {
    let text = |en, zh| Text { en, zh };
    Some(match (family, byte) {
        (Family::Redis, 33..=37) => {
            text("a private type of Dragonfly or of a newer Redis", " Dragonfly 或更高版本 Redis 的私有类型")
        }
        (Family::Valkey, 23) => text("the path hash of a newer Valkey", "更高版本 Valkey 的路径 hash"),
        (Family::Valkey, 24..=41) => {
            text("a type written only by Redis or a newer Valkey", "只有 Redis 或更高版本 Valkey 才写入的类型")
        }
        _ => return None,
    })
}
