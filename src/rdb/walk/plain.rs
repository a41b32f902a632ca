//! Values stored in one string, as most are: found without a walk.

use crate::rdb::cursor::Cursor;
use crate::rdb::lzf;
use crate::rdb::packed::ziplist;
use crate::rdb::string::{short_block, short_text};
use crate::rdb::value_type::ValueType;

/// Value stored in one string shorter than 16 KiB.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainValue<'a> {
    /// The value as in the file.
    pub(crate) stored: &'a [u8],
    /// The string: a text, or a packed collection, of which this is only the header if it is compressed.
    pub(crate) content: &'a [u8],
    /// Length of the string.
    pub(crate) len: usize,
}

/// Size of the largest header of a packed collection.
const HEADER: usize = ziplist::HEADER;

impl PlainValue<'_> {
    /// Returns whether only the header is at hand.
    #[inline]
    pub(crate) fn is_compressed(&self) -> bool {
        self.content.len() != self.len
    }
}

impl<'a> Cursor<'a> {
    /// Returns the text that follows, the value of a string key, without consuming it; `None` if it is not plain and short.
    #[inline(always)] // for nearly every key
    pub(crate) fn plain_text(&self) -> Option<PlainValue<'a>> {
        let (head, content) = short_text(self.rest())?;
        Some(PlainValue { stored: self.rest().get(..head + content.len())?, content, len: content.len() })
    }

    /// Returns the collection of this layout that follows, without consuming it; `None` if it has to be walked.
    #[inline(always)]
    pub(crate) fn packed_value(&self, value_type: ValueType) -> Option<PlainValue<'a>> {
        let rest = self.rest();
        let before = match value_type {
            ValueType::SetIntset
            | ValueType::SetListpack
            | ValueType::ZsetListpack
            | ValueType::HashListpack
            | ValueType::ZsetZiplist
            | ValueType::HashZiplist
            | ValueType::HashTemplateListpackRef => 0,
            // One node, which is a listpack.
            ValueType::ListQuicklist2 if matches!(rest, [1, 2, ..]) => 2,
            _ => return None,
        };
        let string = rest.get(before..)?;
        let (head, bytes, content, len) = match short_text(string) {
            Some((head, content)) => (head, content, content, content.len()),
            None => {
                let (head, block, len) = short_block(string)?;
                (head, block, lzf::first_literals(block, len, HEADER)?, len)
            }
        };
        Some(PlainValue { stored: rest.get(..before + head + bytes.len())?, content, len })
    }

    /// Consumes the value that follows.
    #[inline(always)]
    pub(crate) fn pass_value(&mut self, value: PlainValue<'a>) {
        self.advance(value.stored.len());
    }
}
