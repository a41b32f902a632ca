//! Opcodes: bytes at the start of a record that are not value types.

use super::header::Family;
use crate::wording::Text;

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
            255 => Opcode::Eof,
            254 => Opcode::SelectDb,
            253 => Opcode::ExpireTime,
            252 => Opcode::ExpireTimeMs,
            251 => Opcode::ResizeDb,
            250 => Opcode::Aux,
            249 => Opcode::Freq,
            248 => Opcode::Idle,
            247 => Opcode::ModuleAux,
            246 => Opcode::FunctionPreGa,
            245 => Opcode::Function2,
            244 => Opcode::SlotInfo,
            243 if family == Family::Redis => Opcode::KeyMeta,
            243 if family == Family::Valkey => Opcode::SlotImport,
            242 if family == Family::Valkey => Opcode::Update,
            242 if family == Family::Redis => Opcode::HashTemplate,
            220 if family == Family::Dragonfly => Opcode::DfMask,
            // Redis Enterprise; the names are those of librdb.
            121 if family == Family::Redis => Opcode::SlotNum,
            107 if family == Family::Redis => Opcode::RamLru,
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
