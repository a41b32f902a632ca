//! Prices hashes: packed, packed with expiries, or a table (`t_hash.c`).

use super::PricedValue;
use super::compact::CompactMeter;
use crate::error::{Error, Result};
use crate::memory::Encoding;
use crate::memory::Model;
use crate::memory::growth::Growth;
use crate::memory::item::{Blob, LISTPACK_FRAME, PackedItem, ZIPLIST_FRAME};
use crate::memory::layout::PackedForm;
use crate::memory::layout::TableUse;
use crate::memory::price::{FrameSize, Key};
use crate::memory::rax::RaxTree;
use crate::memory::vset;
use crate::rdb::packed::{PackedElement, listpack, ziplist, zipmap};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::FieldExpiry;
use crate::wording::wording;

/// Number of pairs above which the table is created before the pairs are inserted.
const MIN_TABLE: u64 = 4;

/// Encoding of the hash during loading.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum HashEncoding {
    #[default]
    Packed,
    /// Listpack with a third element for the expiry.
    PackedExpiring,
    Table,
}

/// Meter for hashes.
#[derive(Debug, Default)]
pub struct HashMeter {
    encoding: HashEncoding,
    announced: u64,
    pairs: u64,
    blob: Blob,
    /// Size of the packed form, if stored packed.
    stored: u64,
    /// Sum of the counted sizes of pairs in a table.
    strings: u64,
    /// Sum of the allocated bytes beyond that.
    slack: i64,
    growth: Growth,
    /// Pairs already inserted into the table; the rest is inserted at once at the end.
    inserted: u64,
    /// Number of pairs with an expiry, if the layout stores expiries.
    with_ttl: Option<u64>,
    /// Field expiries, if the server counts their index.
    expiries: Vec<i64>,
}

impl HashMeter {
    /// Returns the memory of a hash, given its field and value lengths; none of them are integers.
    pub fn of_texts(model: &Model, key: Key, pairs: &[(u64, u64)]) -> u64 {
        let mut meter = HashMeter::default();
        meter.begin(model, ValueType::Hash);
        meter.announce(model, pairs.len() as u64);
        for &(field, value) in pairs {
            meter.add(model, field, value);
            if meter.encoding == HashEncoding::Table {
                continue;
            }
            if field.max(value) > model.config.hash_value {
                meter.become_table(model);
            } else {
                meter.pack(model, PackedItem::Text(field));
                meter.pack(model, PackedItem::Text(value));
            }
        }
        meter.finish(model, key, &mut RaxTree::new(model.allocator)).memory
    }

    /// Resets the meter for the next hash.
    #[inline]
    pub fn begin(&mut self, model: &Model, layout: ValueType) {
        let mut expiries = std::mem::take(&mut self.expiries);
        expiries.clear();
        *self = HashMeter { growth: model.new_table(), expiries, ..HashMeter::default() };
        match layout {
            ValueType::HashMetadata | ValueType::HashMetadataPreGa | ValueType::DragonflyHash => {
                self.encoding = HashEncoding::PackedExpiring;
                self.with_ttl = Some(0);
            }
            ValueType::Hash2 => {
                self.encoding = HashEncoding::Table;
                self.with_ttl = Some(0);
            }
            ValueType::HashListpackEx | ValueType::HashListpackExPreGa => self.encoding = HashEncoding::PackedExpiring,
            _ => {}
        }
    }

    /// Announces the number of pairs that follow.
    pub fn announce(&mut self, model: &Model, pairs: u64) {
        self.announced = pairs;
        let over = pairs > model.config.hash_entries;
        match self.encoding {
            HashEncoding::Packed if over => {
                self.encoding = HashEncoding::Table;
                if model.layout.presize.elements {
                    self.growth.reserve(pairs);
                }
            }
            HashEncoding::PackedExpiring if over => self.encoding = HashEncoding::Table,
            HashEncoding::Packed | HashEncoding::PackedExpiring => {}
            HashEncoding::Table => self.growth.reserve(pairs),
        }
    }

    /// Adds a pair without expiry.
    #[inline]
    pub fn pair(
        &mut self,
        model: &Model,
        field: RawString<'_>,
        value: RawString<'_>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        self.add(model, field.len(), value.len());
        if self.encoding == HashEncoding::Table {
            return Ok(());
        }
        if field.len().max(value.len()) > model.config.hash_value {
            self.become_table(model);
            return Ok(());
        }
        self.pack(model, PackedItem::of(field, scratch)?);
        self.pack(model, PackedItem::of(value, scratch)?);
        Ok(())
    }

    /// Adds a pair that may have an expiry.
    pub fn expiring_pair(
        &mut self,
        model: &Model,
        (field, value): (RawString<'_>, RawString<'_>),
        FieldExpiry(expiry): FieldExpiry,
        scratch: &mut Scratch,
    ) -> Result<()> {
        if let (Some(count), Some(time)) = (&mut self.with_ttl, expiry) {
            *count += 1;
            if model.layout.indexed_expiries {
                self.expiries.push(time);
            }
        }
        self.add_expiring(model, field.len(), value.len(), expiry.is_some());
        if self.encoding == HashEncoding::Table {
            return Ok(());
        }
        if field.len().max(value.len()) > model.config.hash_value {
            self.become_table(model);
            return Ok(());
        }
        self.blob.push_listpack(PackedItem::of(field, scratch)?);
        self.blob.push_listpack(PackedItem::of(value, scratch)?);
        self.blob.push_listpack(PackedItem::Int(expiry.unwrap_or(0)));
        Ok(())
    }

    /// Returns whether the lengths of the remaining pairs suffice.
    #[inline]
    pub fn is_table(&self) -> bool {
        self.encoding == HashEncoding::Table
    }

    /// Adds a pair without expiry to a table.
    #[inline]
    pub fn add(&mut self, model: &Model, field: u64, value: u64) {
        self.add_many(model, field, value, 1);
    }

    /// Adds `count` pairs of these lengths to a table.
    #[inline]
    pub fn add_many(&mut self, model: &Model, field: u64, value: u64, count: u64) {
        let (memory, slack) = model.plain_pair(field, value);
        self.pairs += count;
        self.strings = self.strings.saturating_add(memory.saturating_mul(count));
        self.slack = self.slack.wrapping_add(slack.wrapping_mul(count.cast_signed()));
    }

    #[inline]
    fn add_expiring(&mut self, model: &Model, field: u64, value: u64, expires: bool) {
        self.pairs += 1;
        self.strings = self.strings.saturating_add(model.pair(field, value, expires));
        self.slack = self.slack.wrapping_add(model.pair_slack(field, value, expires));
    }

    fn pack(&mut self, model: &Model, item: PackedItem) {
        match model.layout.packed {
            PackedForm::Ziplist => self.blob.push_ziplist(item),
            PackedForm::Listpack => self.blob.push_listpack(item),
        }
    }

    /// Converts to a table because the current pair is too long to be packed: moves the earlier pairs, adds the current one
    /// and reserves room for the remaining ones.
    fn become_table(&mut self, model: &Model) {
        // Hashes with expiries reserve room before adding the pair, others afterwards.
        let asks_first = self.encoding == HashEncoding::PackedExpiring;
        self.encoding = HashEncoding::Table;
        let presize = &model.layout.presize;
        let (before, left) = (self.pairs - 1, self.announced.saturating_sub(self.pairs));
        if presize.packed_hash {
            self.growth.reserve(before);
        }
        self.growth.insert_many(before);
        self.inserted = self.pairs;
        if !asks_first {
            self.growth.insert();
        }
        let asked = if presize.converted_hash_whole { self.announced } else { left };
        if asked > MIN_TABLE && presize.elements {
            self.growth.reserve(asked);
        }
        if asks_first {
            self.growth.insert();
        }
    }

    /// Handles a hash stored as a ziplist.
    pub fn ziplist(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let entries = super::ziplist_count(blob, scratch)?;
        let table = self.stored(model, entries, 2, blob)?;
        if !table && model.layout.packed == PackedForm::Ziplist {
            return Ok(());
        }
        let bytes = blob.decode(scratch)?;
        let mut listpack = Blob::default();
        let mut field = 0;
        for (at, entry) in ziplist::Entries::new(bytes, blob.offset)?.enumerate() {
            let item = PackedItem::of_packed(entry?);
            listpack.push_listpack(item);
            match at % 2 {
                0 => field = item.len(),
                _ if table => self.add(model, field, item.len()),
                _ => {}
            }
        }
        self.stored = LISTPACK_FRAME + listpack.body();
        Ok(())
    }

    /// Handles a hash stored as a listpack.
    pub fn listpack(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let elements = super::listpack_count(blob, scratch)?;
        if !self.stored(model, elements, 2, blob)? {
            return Ok(());
        }
        let bytes = blob.decode(scratch)?;
        let mut field = 0;
        for (at, element) in listpack::Elements::new(bytes, blob.offset)?.enumerate() {
            let len = element?.len();
            match at % 2 {
                0 => field = len,
                _ => self.add(model, field, len),
            }
        }
        Ok(())
    }

    /// Handles a hash stored as a listpack of fields, values and expiries.
    pub fn listpack_ex(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let elements = super::listpack_count(blob, scratch)?;
        let table = self.stored(model, elements, 3, blob)?;
        let bytes = blob.decode(scratch)?;
        let (mut field, mut value, mut with_ttl) = (0, 0, 0);
        for (at, element) in listpack::Elements::new(bytes, blob.offset)?.enumerate() {
            let element = element?;
            match at % 3 {
                0 => field = element.len(),
                1 => value = element.len(),
                _ => {
                    let expires = element != PackedElement::Int(0);
                    with_ttl += u64::from(expires);
                    if table {
                        self.add_expiring(model, field, value, expires);
                    }
                }
            }
        }
        self.with_ttl = Some(with_ttl);
        Ok(())
    }

    /// Handles a hash stored as a zipmap, which is repacked and whose value lengths are checked.
    pub fn zipmap(&mut self, model: &Model, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let bytes = blob.decode(scratch)?;
        let mut longest = 0;
        for pair in zipmap::Pairs::new(bytes, blob.offset)? {
            let (field, value) = pair?;
            self.add(model, field.len() as u64, value.len() as u64);
            longest = longest.max(field.len()).max(value.len());
            self.pack(model, PackedItem::of_text(field));
            self.pack(model, PackedItem::of_text(value));
        }
        if self.pairs > model.config.hash_entries || longest as u64 > model.config.hash_value {
            self.encoding = HashEncoding::Table;
            if model.layout.presize.packed_hash {
                self.growth.reserve(self.pairs);
            }
        }
        Ok(())
    }

    /// Records a packed form; returns whether it has too many pairs and becomes a table.
    fn stored(&mut self, model: &Model, elements: u64, per_pair: u64, blob: RawString<'_>) -> Result<bool> {
        if !elements.is_multiple_of(per_pair) {
            let what = match per_pair {
                2 => wording!(
                    "hash has {elements} elements; expected field–value pairs",
                    "hash 有 {elements} 个元素，应为成对的字段和值"
                ),
                _ => wording!(
                    "hash has {elements} elements; expected fields, each with a value and an expiry",
                    "hash 有 {elements} 个元素，应为字段、值和过期时间各一"
                ),
            };
            return Err(Error::corrupt(blob.offset, what));
        }
        let pairs = elements / per_pair;
        let table = pairs > model.config.hash_entries;
        if table {
            self.encoding = HashEncoding::Table;
            if model.layout.presize.packed_hash {
                self.growth.reserve(pairs);
            }
        } else {
            self.pairs = pairs;
            self.stored = blob.len();
        }
        Ok(table)
    }

    /// Makes an ordinary hash of a compact one whose template is not kept. It stays packed if its field names are short
    /// enough, whatever the lengths of its values; a table is made anew, with room for all pairs.
    pub fn take_apart(&mut self, model: &Model, compact: &CompactMeter) {
        if self.encoding == HashEncoding::Packed && compact.longest_name() > model.config.hash_value {
            self.encoding = HashEncoding::Table;
            self.pairs = 0;
            compact.pairs().for_each(|(field, value)| self.add(model, field, value));
        }
        self.growth = model.new_table();
        self.growth.reserve(self.pairs);
        self.inserted = 0;
    }

    /// Returns the number of pairs with an expiry, if the layout stores expiries.
    pub fn with_ttl(&self) -> Option<u64> {
        self.with_ttl
    }

    /// Returns the priced hash.
    pub fn finish(&mut self, model: &Model, key: Key, tree: &mut RaxTree) -> PricedValue {
        let FrameSize { outside, object, slack } = model.frame(key);
        let (encoding, memory, more) = match self.encoding {
            HashEncoding::Packed => {
                let size = self.packed_size(model);
                (model.layout.packed.encoding(), outside + object + model.packed(size), model.packed_slack(size))
            }
            HashEncoding::PackedExpiring => {
                let (structure, blob) = (model.layout.listpack_ex, self.packed_size(model));
                let memory = outside + object + model.packed(structure) + model.packed(blob);
                (Encoding::Listpackex, memory, model.packed_slack(structure) + model.packed_slack(blob))
            }
            HashEncoding::Table => {
                self.growth.insert_many(self.pairs.saturating_sub(self.inserted));
                let index = vset::index(model, &mut self.expiries, tree);
                let base = object + index + model.table(TableUse::Hash, self.pairs, &self.growth);
                let table = model.table_slack(TableUse::Hash, self.pairs, &self.growth);
                let memory = outside + model.average(base, self.strings, self.pairs);
                (Encoding::Hashtable, memory, table.saturating_add(self.slack))
            }
        };
        PricedValue::new(encoding, self.pairs, memory, slack.saturating_add(more))
    }

    fn packed_size(&self, model: &Model) -> u64 {
        if self.stored > 0 {
            return self.stored;
        }
        let frame = match (self.encoding, model.layout.packed) {
            (HashEncoding::Packed, PackedForm::Ziplist) => ZIPLIST_FRAME,
            (HashEncoding::Packed | HashEncoding::PackedExpiring | HashEncoding::Table, _) => LISTPACK_FRAME,
        };
        frame + self.blob.body()
    }
}
