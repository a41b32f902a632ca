//! Prices compact hashes, which store values only and share their field names (Redis 8.10).

use super::PricedValue;
use crate::error::Result;
use crate::memory::item::{Blob, LISTPACK_FRAME, PackedItem};
use crate::memory::price::{FrameSize, Key};
use crate::memory::{Encoding, Model};
use crate::rdb::string::RawString;
use crate::rdb::value_type::ValueType;

/// Structure of a compact hash that is not packed.
const ARRAY: u64 = 16;
/// Pointer to a value.
const POINTER: u64 = 8;

/// Form in which a compact hash is stored in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoredForm {
    /// One listpack: stays one whatever the lengths of its values.
    #[default]
    Listpack,
    /// Values one by one: becomes a listpack if they are few and short.
    Array,
}

impl StoredForm {
    /// Returns the form of a layout.
    pub fn of(value_type: ValueType) -> StoredForm {
        match value_type {
            ValueType::HashTemplateArray | ValueType::HashTemplateArrayRef => StoredForm::Array,
            _ => StoredForm::Listpack,
        }
    }
}

/// Meter for compact hashes.
#[derive(Debug, Default)]
pub struct CompactMeter {
    stored: StoredForm,
    values: u64,
    /// Length of the longest value.
    longest: u64,
    blob: Blob,
    /// Size of the listpack, if stored as one.
    packed: u64,
    /// Counted sizes of all values as separate strings.
    strings: u64,
    slack: i64,
    /// Size of the id of the template in a listpack.
    id: u64,
    /// Share in the memory of the template.
    share: u64,
}

impl CompactMeter {
    /// Resets the meter for the next hash.
    pub fn begin(&mut self, stored: StoredForm) {
        *self = CompactMeter { stored, ..CompactMeter::default() };
    }

    /// Adds a value.
    pub fn value(&mut self, model: &Model, value: RawString<'_>, scratch: &mut Vec<u8>) -> Result<()> {
        self.add(model, PackedItem::of(value, scratch)?);
        Ok(())
    }

    /// Adds a value of known size.
    pub fn add(&mut self, model: &Model, item: PackedItem) {
        self.values += 1;
        self.longest = self.longest.max(item.len());
        self.blob.push_listpack(item);
        self.strings = self.strings.saturating_add(model.sds(item.len()));
        self.slack = self.slack.wrapping_add(model.sds_slack(item.len()));
    }

    /// Sets the template, and the share of a key in it.
    pub fn template(&mut self, id: u64, share: u64) {
        self.id = PackedItem::Int(i64::try_from(id).unwrap_or(i64::MAX)).in_listpack();
        self.share = share;
    }

    /// Sets the size of the listpack in the file.
    pub fn packed(&mut self, size: u64) {
        self.packed = size;
    }

    /// Returns the priced hash.
    pub fn finish(&mut self, model: &Model, key: Key) -> PricedValue {
        let FrameSize { outside, object, slack } = model.frame(key);
        let few = self.values <= model.config.hash_entries;
        let short = self.stored == StoredForm::Listpack || self.longest <= model.config.hash_value;
        let (encoding, memory, more) = if few && short {
            let size = if self.packed > 0 { self.packed } else { LISTPACK_FRAME + self.blob.body() + self.id };
            (Encoding::TemplateListpack, model.packed(size), model.packed_slack(size))
        } else {
            (Encoding::TemplateArray, ARRAY + POINTER * self.values + self.strings, self.slack)
        };
        PricedValue::new(encoding, self.values, outside + object + memory + self.share, slack.saturating_add(more))
    }
}
