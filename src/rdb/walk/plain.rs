//! Values stored in one plain string, as most are: found without a walk.

use crate::rdb::cursor::Cursor;
use crate::rdb::string::short_text;
use crate::rdb::value_type::ValueType;

/// Value stored in one string shorter than 16 KiB, which is not compressed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PlainValue<'a> {
    /// The value as in the file.
    pub(crate) stored: &'a [u8],
    /// The string: a text, or a packed collection.
    pub(crate) content: &'a [u8],
}

/// A list of one node, which is a listpack.
const ONE_LISTPACK: &[u8] = &[1, 2];

impl<'a> Cursor<'a> {
    /// Returns the value of this layout that follows, without consuming it; `None` if it has to be walked.
    #[inline(always)] // for nearly every value
    pub(crate) fn plain_value(&self, value_type: ValueType) -> Option<PlainValue<'a>> {
        let rest = self.rest();
        let before = match value_type {
            ValueType::String
            | ValueType::SetIntset
            | ValueType::SetListpack
            | ValueType::ZsetListpack
            | ValueType::HashListpack
            | ValueType::ZsetZiplist
            | ValueType::HashZiplist => 0,
            ValueType::ListQuicklist2 if rest.starts_with(ONE_LISTPACK) => ONE_LISTPACK.len(),
            _ => return None,
        };
        let (head, content) = short_text(rest.get(before..)?)?;
        Some(PlainValue { stored: rest.get(..before + head + content.len())?, content })
    }

    /// Consumes the value that follows.
    #[inline(always)]
    pub(crate) fn pass_value(&mut self, value: PlainValue<'a>) {
        self.advance(value.stored.len());
    }
}
