//! Opcodes: bytes at the start of a record that are not value types.

use super::header::Family;
use crate::wording::Text;

/// Bytes of the opcodes. They mean the same in every family, unless a comment names one.
pub(crate) mod byte {
    pub const EOF: u8 = 255;
    pub const SELECT_DB: u8 = 254;
    pub const EXPIRE_TIME: u8 = 253;
    pub const EXPIRE_TIME_MS: u8 = 252;
    pub const RESIZE_DB: u8 = 251;
    pub const AUX: u8 = 250;
    pub const FREQ: u8 = 249;
    pub const IDLE: u8 = 248;
    pub const MODULE_AUX: u8 = 247;
    pub const FUNCTION_PRE_GA: u8 = 246;
    pub const FUNCTION_2: u8 = 245;
    pub const SLOT_INFO: u8 = 244;
    /// Redis.
    pub const KEY_META: u8 = 243;
    /// Valkey.
    pub const SLOT_IMPORT: u8 = 243;
    /// Redis.
    pub const HASH_TEMPLATE: u8 = 242;
    /// Valkey.
    pub const UPDATE: u8 = 242;
    /// Dragonfly.
    pub const DF_MASK: u8 = 220;
    /// Redis Enterprise; the names of its opcodes are those of librdb.
    pub const SLOT_NUM: u8 = 121;
    /// Redis Enterprise.
    pub const RAM_LRU: u8 = 107;
}

/// Opcode, named after the `RDB_OPCODE_…` constants in `rdb.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the servers")]
pub enum Opcode {
    Eof,
    SelectDb,
    ExpireTime,
    ExpireTimeMs,
    ResizeDb,
    Aux,
    Freq,
    Idle,
    ModuleAux,
    FunctionPreGa,
    Function2,
    SlotInfo,
    KeyMeta,
    SlotImport,
    Update,
    HashTemplate,
    RamLru,
    SlotNum,
    DfMask,
}

impl Opcode {
    /// Returns the opcode for `byte` in a file of this family.
    #[inline]
    pub fn from_byte(family: Family, byte: u8) -> Option<Opcode> {
        Some(match byte {
            byte::EOF => Opcode::Eof,
            byte::SELECT_DB => Opcode::SelectDb,
            byte::EXPIRE_TIME => Opcode::ExpireTime,
            byte::EXPIRE_TIME_MS => Opcode::ExpireTimeMs,
            byte::RESIZE_DB => Opcode::ResizeDb,
            byte::AUX => Opcode::Aux,
            byte::FREQ => Opcode::Freq,
            byte::IDLE => Opcode::Idle,
            byte::MODULE_AUX => Opcode::ModuleAux,
            byte::FUNCTION_PRE_GA => Opcode::FunctionPreGa,
            byte::FUNCTION_2 => Opcode::Function2,
            byte::SLOT_INFO => Opcode::SlotInfo,
            byte::KEY_META if family == Family::Redis => Opcode::KeyMeta,
            byte::SLOT_IMPORT if family == Family::Valkey => Opcode::SlotImport,
            byte::UPDATE if family == Family::Valkey => Opcode::Update,
            byte::HASH_TEMPLATE if family == Family::Redis => Opcode::HashTemplate,
            byte::DF_MASK if family == Family::Dragonfly => Opcode::DfMask,
            byte::SLOT_NUM if family == Family::Redis => Opcode::SlotNum,
            byte::RAM_LRU if family == Family::Redis => Opcode::RamLru,
            _ => return None,
        })
    }
}

impl Opcode {
    /// Returns the first RDB version whose servers read this opcode, 0 for the oldest ones and for those of forks.
    pub fn first_version(self) -> u32 {
        match self {
            Opcode::Eof
            | Opcode::SelectDb
            | Opcode::ExpireTime
            // Introduced in version 3, but the scanner's fast path does not come here.
            | Opcode::ExpireTimeMs
            // Introduced in version 7. Libraries write them behind older versions, and no value depends on them.
            | Opcode::ResizeDb
            | Opcode::Aux
            | Opcode::RamLru
            | Opcode::SlotNum
            | Opcode::DfMask => 0,
            Opcode::Freq | Opcode::Idle | Opcode::ModuleAux => 9,
            Opcode::FunctionPreGa | Opcode::Function2 => 10,
            Opcode::SlotInfo => 12,
            Opcode::KeyMeta => 13,
            Opcode::HashTemplate => 15,
            Opcode::SlotImport => 80,
            Opcode::Update => 81,
        }
    }
}

/// Describes an opcode of another server, for the error message.
pub fn foreign_opcode(byte: u8) -> Option<Text> {
    let text = |en, zh| Text { en, zh };
    Some(match byte {
        200 => text("Dragonfly's end of full sync", " Dragonfly 的全量同步结束标记"),
        201..=203 => text("Dragonfly's compressed block", " Dragonfly 的压缩块"),
        210 | 211 => text("Dragonfly's journal", " Dragonfly 的日志"),
        220 => text("Dragonfly's key flags", " Dragonfly 的 key 标志"),
        222..=224 => text("Dragonfly's search index or chunk", " Dragonfly 的搜索索引或分块"),
        100..=106 | 108..=120 => text("an opcode of Redis Enterprise", " Redis Enterprise 的操作码"),
        _ => return None,
    })
}
