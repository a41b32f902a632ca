//! How the elements of a value are packed, and what several readers of packed values have in common.

use super::PackedElement;
use crate::error::{Error, Reading, Result};
use crate::rdb::kind::Kind;
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

/// How the elements of a blob are packed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
            // Types since 7.0 are listpacks; types that are not one blob do not get here.
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

/// Which packed elements belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Elements that may repeat.
    List,
    /// Members.
    Set,
    /// Members and scores in turn.
    Zset,
    /// Fields and values in turn.
    Hash,
    /// Fields, values and expiries in turn.
    ExpiringHash,
}

impl Layout {
    /// Returns that of the blobs and nodes of a value.
    pub fn of(value_type: ValueType) -> Layout {
        match (value_type.kind(), value_type) {
            (_, ValueType::HashListpackEx | ValueType::HashListpackExPreGa) => Layout::ExpiringHash,
            (Kind::Hash, _) => Layout::Hash,
            (Kind::Set, _) => Layout::Set,
            (Kind::Zset, _) => Layout::Zset,
            (Kind::List | Kind::String | Kind::Stream | Kind::Module | Kind::Array, _) => Layout::List,
        }
    }

    /// Returns the number of elements that belong together.
    pub fn group(self) -> u64 {
        match self {
            Layout::List | Layout::Set => 1,
            Layout::Zset | Layout::Hash => 2,
            Layout::ExpiringHash => 3,
        }
    }
}

impl PackedElement<'_> {
    /// Returns the expiry of a field that the element stands for; 0 is none.
    pub fn field_expiry(self, offset: u64) -> Result<Option<i64>> {
        match self {
            PackedElement::Int(time) => Ok(Some(time).filter(|&time| time != 0)),
            PackedElement::Text(_) => Err(Error::corrupt(
                offset,
                wording!("text where a field's expiry belongs", "应为字段过期时间的位置是文本"),
            )),
        }
    }
}

/// Returns the error for a last element without the score, value or expiry that belongs to it.
#[cold]
pub fn incomplete(offset: u64) -> Error {
    Error::corrupt(offset, wording!("its last element lacks what belongs to it", "最后一个元素不完整"))
}
