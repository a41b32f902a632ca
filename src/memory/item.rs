//! Size of an element inside a listpack or ziplist.

use crate::error::Result;
use crate::rdb::packed::{PackedElement, listpack};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm, canonical_int};

/// Element of a packed blob: an integer or text of a given length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PackedItem {
    /// An integer in canonical decimal form.
    Int(i64),
    /// Any other text, by its length.
    Text(u64),
}

/// Length of the longest 64-bit integer as text.
pub const MAX_INT_LEN: u64 = 20;

/// Size of an empty listpack.
pub const LISTPACK_FRAME: u64 = 7;
/// Size of an empty ziplist.
pub const ZIPLIST_FRAME: u64 = 11;

impl PackedItem {
    /// Classifies a string, decoding it only if it is short enough to be an integer.
    #[inline]
    pub fn of(string: RawString<'_>, scratch: &mut Scratch) -> Result<PackedItem> {
        match string.form {
            StringForm::Int(number) => Ok(PackedItem::Int(i64::from(number))),
            StringForm::Plain(text) => Ok(PackedItem::of_text(text)),
            StringForm::Lzf { len, .. } if len > MAX_INT_LEN => Ok(PackedItem::Text(len)),
            StringForm::Lzf { .. } => Ok(PackedItem::of_text(string.decode(scratch)?)),
        }
    }

    /// Classifies text.
    #[inline]
    pub fn of_text(text: &[u8]) -> PackedItem {
        if text.len() as u64 > MAX_INT_LEN {
            return PackedItem::Text(text.len() as u64);
        }
        canonical_int(text).map_or(PackedItem::Text(text.len() as u64), PackedItem::Int)
    }

    /// Classifies an element of a packed blob.
    pub fn of_packed(packed: PackedElement<'_>) -> PackedItem {
        match packed {
            PackedElement::Int(number) => PackedItem::Int(number),
            PackedElement::Text(text) => PackedItem::of_text(text),
        }
    }

    /// Returns the length of the element as text.
    #[inline]
    pub fn len(self) -> u64 {
        match self {
            PackedItem::Int(number) => PackedElement::Int(number).len(),
            PackedItem::Text(len) => len,
        }
    }

    /// Returns its size in a listpack, backlen included.
    #[inline]
    pub fn in_listpack(self) -> u64 {
        let size = match self {
            PackedItem::Int(0..=127) => 1,
            PackedItem::Int(-4096..=4095) => 2,
            PackedItem::Int(-32_768..=32_767) => 3,
            PackedItem::Int(-8_388_608..=8_388_607) => 4,
            PackedItem::Int(-2_147_483_648..=2_147_483_647) => 5,
            PackedItem::Int(_) => 9,
            PackedItem::Text(len @ 0..64) => len + 1,
            PackedItem::Text(len @ 64..4096) => len + 2,
            PackedItem::Text(len) => len.saturating_add(5),
        };
        size.saturating_add(listpack::backlen(size) as u64)
    }

    /// Returns its size in a ziplist after an entry of `previous` bytes.
    #[inline]
    pub fn in_ziplist(self, previous: u64) -> u64 {
        let size = match self {
            PackedItem::Int(0..=12) => 1,
            PackedItem::Int(-128..=127) => 2,
            PackedItem::Int(-32_768..=32_767) => 3,
            PackedItem::Int(-8_388_608..=8_388_607) => 4,
            PackedItem::Int(-2_147_483_648..=2_147_483_647) => 5,
            PackedItem::Int(_) => 9,
            PackedItem::Text(len @ 0..64) => len + 1,
            PackedItem::Text(len @ 64..16_384) => len + 2,
            PackedItem::Text(len) => len.saturating_add(5),
        };
        size.saturating_add(if previous < 254 { 1 } else { 5 })
    }
}

/// Size of a listpack or ziplist under construction.
#[derive(Debug, Clone, Copy, Default)]
pub struct Blob {
    body: u64,
    previous: u64,
}

impl Blob {
    /// Adds an element to a listpack.
    #[inline]
    pub fn push_listpack(&mut self, item: PackedItem) {
        self.body = self.body.saturating_add(item.in_listpack());
    }

    /// Adds an element to a ziplist.
    #[inline]
    pub fn push_ziplist(&mut self, item: PackedItem) {
        self.previous = item.in_ziplist(self.previous);
        self.body = self.body.saturating_add(self.previous);
    }

    /// Returns the size of the elements without header and end byte.
    pub fn body(&self) -> u64 {
        self.body
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::cursor::Cursor;

    #[test]
    fn listpack_sizes_follow_encoding() {
        let sizes = [0, 127, 128, -1, 4095, -4096, 4096, 32_768, 8_388_608, 2_147_483_648].map(PackedItem::Int);
        assert_eq!(sizes.map(PackedItem::in_listpack), [2, 2, 3, 3, 3, 3, 4, 5, 6, 10]);
        assert_eq!([0, 63, 64, 4095, 4096].map(|len| PackedItem::Text(len).in_listpack()), [2, 65, 67, 4099, 4103]);
    }

    #[test]
    fn ziplist_sizes_follow_encoding() {
        let sizes = [0, 12, 13, -1, 128, 32_768, 8_388_608, 2_147_483_648].map(PackedItem::Int);
        assert_eq!(sizes.map(|item| item.in_ziplist(0)), [2, 2, 3, 3, 4, 5, 6, 10]);
        assert_eq!(PackedItem::Text(3).in_ziplist(254), 9);
    }

    #[test]
    fn compressed_text_is_decompressed_only_if_it_may_be_an_integer() {
        // A back reference before the start.
        let of = |len: u8| {
            let bytes = [0xC3, 2, len, 0x20, 0];
            PackedItem::of(Cursor::new(&bytes, 0).string().unwrap(), &mut Scratch::default())
        };
        assert_eq!(of(21).unwrap(), PackedItem::Text(21));
        assert!(of(20).is_err());
    }

    #[test]
    fn only_canonical_integers_are_integers() {
        assert_eq!(PackedItem::of_text(b"-7"), PackedItem::Int(-7));
        assert_eq!(PackedItem::of_text(b"07"), PackedItem::Text(2));
        assert_eq!(PackedItem::of_text(b""), PackedItem::Text(0));
    }
}
