//! Bounded second look at a value that has already been walked: the first bytes of its strings.
//!
//! The walk that measures a value reads only lengths. Code that needs the contents of some keys reads them here. Work is
//! bounded: at most [`MAX_PARTS`] elements or pairs, [`MAX_TEXT_BYTES`] of each string and [`MAX_VALUE_BYTES`] in all are
//! shown, and packed values are expanded only up to [`MAX_EXPANDED_BYTES`]. Damage ends the look without an error, because
//! the walk has already reported it.

mod shown;
mod stream;

use std::borrow::Cow;

use super::cursor::Cursor;
use super::packed::{intset, listpack, ziplist, zipmap};
use super::string::RawString;
use super::template::{TemplateNames, Templates};
use super::value_type::ValueType;
use super::walk::{Visit, walk_seldom};
use crate::error::Result;
use crate::rdb::scratch::Scratch;
use shown::{Shown, Stride};

/// Maximum number of bytes shown of one string.
pub const MAX_TEXT_BYTES: usize = 4 << 10;
/// Maximum number of elements or pairs shown of a collection, and of nodes of a list or stream that are opened.
pub const MAX_PARTS: usize = 64;
/// Maximum number of bytes shown of one value.
pub const MAX_VALUE_BYTES: usize = 64 << 10;
/// Maximum number of bytes that the packed parts of a value are expanded to.
pub const MAX_EXPANDED_BYTES: u64 = 1 << 20;

/// Undecoded value, borrowed from the file.
#[derive(Debug, Clone, Copy)]
pub struct RawValue<'a> {
    /// On-disk layout.
    pub value_type: ValueType,
    /// Bytes of the value, from the end of the key to the end of the record.
    pub bytes: &'a [u8],
    /// Hash templates of the file.
    pub templates: &'a Templates,
}

/// How a string is stored, as far as its first two bytes tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StringStart {
    /// As plain bytes, the first of which is this one.
    Plain(u8),
    /// As a binary number.
    Number,
    /// In another form, empty, or no string.
    Other,
}

/// String, element, or pair, shown by [`RawValue::peek`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuePart<'t> {
    /// The value of a string key.
    String(&'t [u8]),
    /// An element of a list, set, sorted set or array.
    Element(&'t [u8]),
    /// A field and its value, of a hash or of a stream entry.
    Pair(&'t [u8], &'t [u8]),
}

/// Reusable buffers for decompressed strings.
#[derive(Debug, Clone, Default)]
pub struct PeekBuffers {
    blob: Scratch,
    field: Scratch,
    value: Scratch,
}

impl<'a> RawValue<'a> {
    /// Returns how a string of less than 64 bytes is stored.
    #[inline]
    pub fn short_start(&self) -> StringStart {
        match *self.bytes {
            [0..0x40, first, ..] if self.value_type == ValueType::String => StringStart::Plain(first),
            [0xC0..=0xC2, ..] if self.value_type == ValueType::String => StringStart::Number,
            _ => StringStart::Other,
        }
    }

    /// Returns the whole value of a string key of at most `most` bytes; `None` for longer strings and other types.
    ///
    /// Borrowed if stored as plain bytes, as nearly all strings are.
    pub fn short_string(&self, most: usize) -> Option<Cow<'a, [u8]>> {
        if self.value_type != ValueType::String {
            return None;
        }
        let string = Cursor::new(self.bytes, 0).string().ok()?;
        if string.len() > most as u64 { None } else { string.to_bytes().ok() }
    }

    /// Shows the first bytes of a string, or of the first elements or pairs in the order of the file; nothing of modules.
    pub fn peek(&self, buffers: &mut PeekBuffers, mut see: impl FnMut(ValuePart<'_>)) {
        let mut shown = Shown::new(&mut see);
        // The walk has already reported any damage.
        let _ = self.show(buffers, &mut shown);
        buffers.blob.keep(MAX_TEXT_BYTES * 4);
    }

    fn show(&self, buffers: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
        let input = &mut Cursor::new(self.bytes, 0);
        match self.value_type {
            ValueType::String => shown.whole(input.string()?.prefix(MAX_TEXT_BYTES, &mut buffers.value)?),
            ValueType::Hash => {
                for _ in 0..few(input.count(2)?) {
                    shown.raw_pair(input.string()?, input.string()?, buffers)?;
                }
            }
            ValueType::HashMetadata => {
                input.i64_le()?;
                show_timed_hash(input, buffers, shown)?;
            }
            ValueType::HashMetadataPreGa => show_timed_hash(input, buffers, shown)?,
            ValueType::Hash2 => {
                for _ in 0..few(input.count(10)?) {
                    shown.raw_pair(input.string()?, input.string()?, buffers)?;
                    input.i64_le()?;
                }
            }
            ValueType::HashTemplateListpack | ValueType::HashTemplateArray => {
                let mut pairs = OwnPairs { shown, buffers };
                walk_seldom(self.value_type, self.templates, input, &mut pairs)?;
            }
            ValueType::HashTemplateListpackRef => {
                let blob = shown.expanded(input.string()?, &mut buffers.blob)?;
                let (template, mut values) = TemplateNames::Shared(self.templates).unpack(blob, 0)?;
                let mut digits = itoa::Buffer::new();
                for field in template.fields().take(MAX_PARTS) {
                    let Some(value) = values.next() else { break };
                    shown.pair(field, shown::text(&value?, &mut digits));
                }
            }
            ValueType::HashTemplateArrayRef => {
                let id = input.length()?;
                for field in self.templates.get(id, 0)?.fields().take(MAX_PARTS) {
                    shown.raw_pair(RawString::plain(field), input.string()?, buffers)?;
                }
            }
            ValueType::HashListpackEx => {
                input.i64_le()?;
                show_listpack(input.string()?, Stride::FieldValueTime, buffers, shown)?;
            }
            ValueType::HashListpackExPreGa => show_listpack(input.string()?, Stride::FieldValueTime, buffers, shown)?,
            ValueType::HashListpack => show_listpack(input.string()?, Stride::FieldValue, buffers, shown)?,
            ValueType::HashZiplist => show_ziplist(input.string()?, Stride::FieldValue, buffers, shown)?,
            ValueType::HashZipmap => {
                let blob = shown.expanded(input.string()?, &mut buffers.blob)?;
                for pair in zipmap::Pairs::new(blob, 0)?.take(MAX_PARTS) {
                    let (field, value) = pair?;
                    shown.pair(field, value);
                }
            }
            ValueType::List | ValueType::Set => {
                for _ in 0..few(input.count(1)?) {
                    shown.raw_element(input.string()?, buffers)?;
                }
            }
            ValueType::Zset => {
                for _ in 0..few(input.count(2)?) {
                    shown.raw_element(input.string()?, buffers)?;
                    let len = input.byte()?;
                    // NaN and the infinities have no text.
                    input.take(if len >= 253 { 0 } else { u64::from(len) })?;
                }
            }
            ValueType::Zset2 => {
                for _ in 0..few(input.count(9)?) {
                    shown.raw_element(input.string()?, buffers)?;
                    input.f64_le()?;
                }
            }
            ValueType::ListZiplist => show_ziplist(input.string()?, Stride::Element, buffers, shown)?,
            ValueType::ZsetZiplist => show_ziplist(input.string()?, Stride::MemberScore, buffers, shown)?,
            ValueType::SetListpack => show_listpack(input.string()?, Stride::Element, buffers, shown)?,
            ValueType::ZsetListpack => show_listpack(input.string()?, Stride::MemberScore, buffers, shown)?,
            ValueType::SetIntset => {
                let blob = shown.expanded(input.string()?, &mut buffers.blob)?;
                intset::numbers(blob, 0)?.take(MAX_PARTS).for_each(|number| shown.number(number));
            }
            ValueType::ListQuicklist => {
                for _ in 0..few(input.count(1)?) {
                    show_ziplist(input.string()?, Stride::Element, buffers, shown)?;
                }
            }
            ValueType::ListQuicklist2 => {
                for _ in 0..few(input.count(2)?) {
                    match input.length()? {
                        1 => shown.raw_element(input.string()?, buffers)?,
                        _ => show_listpack(input.string()?, Stride::Element, buffers, shown)?,
                    }
                }
            }
            ValueType::Array => show_array(input, buffers, shown)?,
            ValueType::Stream(_) => stream::show(input, buffers, shown)?,
            ValueType::DragonflyHash => {
                for _ in 0..few(input.count(3)?) {
                    shown.raw_pair(input.string()?, input.string()?, buffers)?;
                    input.string()?;
                }
            }
            ValueType::DragonflySet => {
                for _ in 0..few(input.count(2)?) {
                    shown.raw_element(input.string()?, buffers)?;
                    input.string()?;
                }
            }
            ValueType::ModulePreGa | ValueType::Module2 | ValueType::KeydbCron | ValueType::DragonflyModule(_) => {}
        }
        Ok(())
    }
}

/// Limits a number of elements or nodes to those that are looked at.
fn few(count: u64) -> u64 {
    count.min(MAX_PARTS as u64)
}

fn show_timed_hash(input: &mut Cursor<'_>, buffers: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
    for _ in 0..few(input.count(3)?) {
        input.number()?;
        shown.raw_pair(input.string()?, input.string()?, buffers)?;
    }
    Ok(())
}

fn show_array(input: &mut Cursor<'_>, buffers: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
    let items = input.count(3)?;
    if input.length()? != 0 {
        input.number()?;
    }
    for _ in 0..few(items) {
        input.length()?;
        match input.length()? {
            1 => shown.number(input.u64_le()?.cast_signed()),
            2 => _ = input.f64_le()?,
            _ => shown.raw_element(input.string()?, buffers)?,
        }
    }
    Ok(())
}

fn show_ziplist(blob: RawString<'_>, stride: Stride, buffers: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
    let blob = shown.expanded(blob, &mut buffers.blob)?;
    shown.packed(ziplist::Entries::new(blob, 0)?, stride)
}

fn show_listpack(blob: RawString<'_>, stride: Stride, buffers: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
    let blob = shown.expanded(blob, &mut buffers.blob)?;
    shown.packed(listpack::Elements::new(blob, 0)?, stride)
}

/// Visitor that shows the pairs of a compact hash with names of its own.
struct OwnPairs<'r, 's> {
    shown: &'r mut Shown<'s>,
    buffers: &'r mut PeekBuffers,
}

impl Visit for OwnPairs<'_, '_> {
    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        // Stops at damage without an error.
        let _ = self.shown.raw_pair(field, value, self.buffers);
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        let mut show = || -> Result<()> {
            let bytes = self.shown.expanded(blob, &mut self.buffers.blob)?;
            let (template, mut values) = names.unpack(bytes, 0)?;
            let mut digits = itoa::Buffer::new();
            template.pairs(&mut values, 0, |field, value| self.shown.pair(field, shown::text(&value, &mut digits)))
        };
        let _ = show();
    }
}

#[cfg(test)]
mod tests;
