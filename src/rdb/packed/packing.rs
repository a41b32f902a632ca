//! How the elements of a value are packed, and what several readers of packed values have in common.

use super::PackedElement;
use crate::error::{Error, Reading, Result};
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

/// How the elements of a blob are packed.
#[derive(Debug, Clone, Copy)]
pub enum Packing {
    /// A ziplist.
    Ziplist,
    /// A listpack.
    Listpack,
    /// An intset.
    Intset,
    /// A zipmap.
    Zipmap,
}

impl Packing {
    /// Returns that of a value stored as a single blob.
    pub fn of(value_type: ValueType) -> Packing {
        match value_type {
            ValueType::HashZipmap => Packing::Zipmap,
            ValueType::SetIntset => Packing::Intset,
            ValueType::ListZiplist | ValueType::ZsetZiplist | ValueType::HashZiplist => Packing::Ziplist,
            _ => Packing::Listpack,
        }
    }

    /// Returns what messages call it.
    pub fn reading(self) -> Reading {
        match self {
            Packing::Ziplist => Reading::Ziplist,
            Packing::Listpack => Reading::Listpack,
            Packing::Intset => Reading::Intset,
            Packing::Zipmap => Reading::Zipmap,
        }
    }
}

impl PackedElement<'_> {
    /// Returns the expiry of a field that the element stands for; 0 is none.
    pub fn field_expiry(self, offset: u64) -> Result<Option<i64>> {
        match self {
            PackedElement::Int(time) => Ok(Some(time).filter(|&time| time != 0)),
            PackedElement::Text(_) => {
                Err(Error::corrupt(offset, wording!("text where a field's expiry belongs", "应为字段过期时间处是文本")))
            }
        }
    }
}

/// Returns the error for a last element without the score, value or expiry that belongs to it.
#[cold]
pub fn incomplete(offset: u64) -> Error {
    Error::corrupt(offset, wording!("its last element lacks what belongs to it", "最后一个元素不完整"))
}
