//! Prices compact hashes, which store values only and share their field names (Redis 8.10).

use super::PricedValue;
use super::hash::HashMeter;
use crate::error::Result;
use crate::memory::item::{Blob, LISTPACK_FRAME, PackedItem};
use crate::memory::layout::Count;
use crate::memory::price::{FrameSize, Key};
use crate::memory::templates::{FieldSet, HeldTemplate, NameSizes, PlacedTemplate, id_size};
use crate::memory::{Encoding, Model};
use crate::rdb::packed::{PackedElement, listpack};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::template::HashTemplate;
use crate::rdb::value_type::ValueType;

/// Header of a compact hash that is not packed; the pointers to its values follow in the same allocation.
const ARRAY: u64 = 16;
/// Pointer to a value.
const POINTER: u64 = 8;

/// Form in which a hash that is compact, or becomes so, is stored in the file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StoredForm {
    /// One listpack: stays one whatever the lengths of its values.
    #[default]
    Listpack,
    /// Values one by one: becomes a listpack if they are few and short.
    Array,
    /// Ordinary hash that the server loads as a table before it converts it: stays unpacked.
    Table,
}

impl StoredForm {
    /// Returns the form of a layout.
    pub fn of(value_type: ValueType) -> StoredForm {
        match value_type {
            ValueType::HashTemplateListpack | ValueType::HashTemplateListpackRef => StoredForm::Listpack,
            _ => StoredForm::Array,
        }
    }
}

/// Identity of the field names of a hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Named {
    /// The template at this position in the table of the file.
    Place(usize),
    /// Names that stand with the hash.
    Set(FieldSet),
}

/// Returns the price of a compact hash that stays a listpack of `size` bytes, and the memory of an ordinary packed hash with the
/// same pairs.
#[inline(always)]
pub fn price_packed(model: &Model, key: Key, size: u64, template: &PlacedTemplate) -> (PricedValue, u64) {
    let FrameSize { outside, object, slack } = model.frame(key);
    let values = size.saturating_sub(u64::from(template.stored_id));
    let packed = values + u64::from(template.held_id);
    let memory = outside + object + model.packed(packed) + template.share;
    let slack = slack.saturating_add(model.packed_slack(packed));
    let ordinary = outside + object + model.packed(values.saturating_add(template.names));
    (PricedValue::new(Encoding::TemplateListpack, u64::from(template.fields.get()), memory, slack), ordinary)
}

/// Meter for compact hashes.
#[derive(Debug, Default)]
pub struct CompactMeter {
    sums: Sums,
    /// Lengths of the values.
    lengths: Vec<u64>,
    /// Lengths of the field names of an ordinary packed hash.
    name_lengths: Vec<u64>,
}

/// Facts about the current hash, besides the lengths of its pairs.
#[derive(Debug, Clone, Copy)]
struct Sums {
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
    names: Named,
    /// Number of the template in the file.
    id: Option<u64>,
}

impl Default for Sums {
    #[inline]
    fn default() -> Self {
        Sums {
            stored: StoredForm::Listpack,
            values: 0,
            longest: 0,
            blob: Blob::default(),
            packed: 0,
            strings: 0,
            slack: 0,
            names: Named::Set(FieldSet::default()),
            id: None,
        }
    }
}

impl CompactMeter {
    /// Resets the meter for the next hash.
    #[inline]
    pub fn begin(&mut self, stored: StoredForm) {
        self.sums = Sums { stored, ..Sums::default() };
        self.lengths.clear();
        self.name_lengths.clear();
    }

    /// Adds a field name that stands with the hash.
    pub fn name(&mut self, name: &[u8]) {
        if let Named::Set(set) = &mut self.sums.names {
            set.add(name);
        }
    }

    /// Returns the identity of the field names.
    pub fn named(&self) -> Named {
        self.sums.names
    }

    /// Adds a value.
    pub fn value(&mut self, model: &Model, value: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        self.add(model, PackedItem::of(value, scratch)?);
        Ok(())
    }

    /// Adds a value of known size.
    pub fn add(&mut self, model: &Model, item: PackedItem) {
        let len = item.len();
        self.sums.values += 1;
        self.sums.longest = self.sums.longest.max(len);
        self.sums.blob.push_listpack(item);
        self.sums.strings = self.sums.strings.saturating_add(model.sds(len));
        self.sums.slack = self.sums.slack.wrapping_add(model.sds_slack(len));
        self.lengths.push(len);
    }

    /// Sets the encoding that an ordinary hash is loaded with, before it is converted: only a packed one becomes packed values.
    pub fn loaded_as(&mut self, encoding: Encoding) {
        self.sums.stored = if encoding == Encoding::Hashtable { StoredForm::Table } else { StoredForm::Listpack };
    }

    /// Adds the pairs of an ordinary packed hash.
    pub fn convertible(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let bytes = blob.decode(scratch)?;
        let mut digits = itoa::Buffer::new();
        for (at, element) in listpack::Elements::new(bytes, blob.offset)?.enumerate() {
            let name = match element? {
                PackedElement::Text(name) if at % 2 == 0 => name,
                PackedElement::Int(name) if at % 2 == 0 => digits.format(name).as_bytes(),
                value => {
                    self.add(model, PackedItem::of_packed(value));
                    continue;
                }
            };
            self.name(name);
            self.name_lengths.push(name.len() as u64);
        }
        Ok(())
    }

    /// Returns the length of the longest field name of an ordinary packed hash.
    pub fn longest_name(&self) -> u64 {
        self.name_lengths.iter().copied().max().unwrap_or_default()
    }

    /// Returns the lengths of the pairs of an ordinary packed hash.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> {
        self.name_lengths.iter().copied().zip(self.lengths.iter().copied())
    }

    /// Sets the template, which has a number and a position in the table of the file.
    pub fn template(&mut self, id: u64, place: usize) {
        self.sums.id = Some(id);
        self.sums.names = Named::Place(place);
    }

    /// Sets the size of the listpack in the file.
    pub fn packed(&mut self, size: u64) {
        self.sums.packed = size;
    }

    /// Returns the priced hash; it bears its share of the template that the server holds.
    pub fn finish(&mut self, model: &Model, key: Key, held: Option<HeldTemplate>) -> PricedValue {
        let FrameSize { outside, object, slack } = model.frame(key);
        let (encoding, memory, more) = if self.is_packed(model) {
            let id = held.map(|held| held.id).or(self.sums.id).unwrap_or_default();
            let size = self.values_packed() + id_size(id);
            (Encoding::TemplateListpack, model.packed(size), model.packed_slack(size))
        } else {
            let array = ARRAY.saturating_add(POINTER.saturating_mul(self.sums.values));
            let slack = self.sums.slack.saturating_add(model.slack(array, Count::Requested));
            (Encoding::TemplateArray, array.saturating_add(self.sums.strings), slack)
        };
        let share = held.map_or(0, |held| held.share());
        PricedValue::new(encoding, self.sums.values, outside + object + memory + share, slack.saturating_add(more))
    }

    fn is_packed(&self, model: &Model) -> bool {
        let fits = match self.sums.stored {
            StoredForm::Listpack => true,
            StoredForm::Array => self.sums.longest <= model.config.hash_value,
            StoredForm::Table => false,
        };
        fits && self.sums.values <= model.config.hash_entries
    }

    /// Returns the size of the listpack of values without the number of the template.
    fn values_packed(&self) -> u64 {
        match self.sums.packed {
            0 => LISTPACK_FRAME + self.sums.blob.body(),
            // Names of its own: the file has a zero for the number that the server will assign.
            stored => stored.saturating_sub(id_size(self.sums.id.unwrap_or_default())),
        }
    }

    /// Returns the memory of an ordinary hash with the same pairs. `sizes` are those of the field names, which `names`
    /// returns.
    pub fn ordinary<'n>(
        &self,
        model: &Model,
        key: Key,
        sizes: NameSizes,
        names: impl FnOnce() -> Option<&'n HashTemplate>,
    ) -> u64 {
        if self.is_packed(model) && sizes.longest <= model.config.hash_value {
            let FrameSize { outside, object, .. } = model.frame(key);
            return outside + object + model.packed(self.values_packed().saturating_add(sizes.packed));
        }
        let names = names().map(HashTemplate::fields).into_iter().flatten();
        let pairs: Vec<(u64, u64)> = names.map(|name| name.len() as u64).zip(self.lengths.iter().copied()).collect();
        HashMeter::of_texts(model, key, &pairs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::meter::ValueFacts;
    use crate::memory::slack::gap;
    use crate::memory::{Allocator, Server, ServerConfig};

    /// Returns the allocated bytes beyond the counted ones of an array of this number of values, without those of key and values.
    fn array_slack(model: &Model, values: i64) -> i64 {
        let key = Key { len: 7, expires: false };
        let mut meter = CompactMeter::default();
        meter.begin(StoredForm::Table);
        (0..values).for_each(|_| meter.add(model, PackedItem::Text(3)));
        let priced = meter.finish(model, key, None).measured(ValueFacts::NONE);
        assert_eq!(priced.encoding, Encoding::TemplateArray);
        gap(priced.allocated.0, priced.memory.0) - model.frame(key).slack - values * model.sds_slack(3)
    }

    #[test]
    fn arrays_take_the_size_class_of_header_and_pointers() {
        let server = Server::parse("redis-8.10").unwrap();
        let model = Model::for_server(server, Allocator::JemallocQ16, &ServerConfig::default());
        // 56, 1056, 4120 and 4816 bytes take 64, 1280, 5120 and 5120: read off 8.10.2.
        assert_eq!([5, 130, 513, 600].map(|values| array_slack(&model, values)), [8, 224, 1000, 304]);
    }
}
