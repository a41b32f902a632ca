//! Values stored in one string: plain texts, and collections that the server keeps packed as they are stored. They are priced by
//! lookups, without a walk.

use super::list::most_of_listpack;
use super::string::look_at;
use super::{Meter, PricedValue, ValueFacts, ValueSize, compact};
use crate::memory::item::MAX_INT_LEN;
use crate::memory::layout::{ListForm, PackedForm};
use crate::memory::price::{FrameSize, Key};
use crate::memory::templates::{ModelTemplates, TemplateUse};
use crate::memory::{Encoding, Model};
use crate::rdb::packed::{intset, listpack, ziplist};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::template::{PackedHashStart, TemplateNames, Templates};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::PlainValue;
use crate::units::Bytes;

/// Value that was priced without a walk, as a server would hold it.
#[derive(Debug, Clone, Copy)]
pub struct PricedPlain<'a> {
    /// Encoding as reported by `OBJECT ENCODING`.
    pub encoding: Encoding,
    /// Bytes of a text, elements of a collection.
    pub length: u64,
    /// Memory as reported by `MEMORY USAGE`.
    pub memory: Bytes,
    /// Allocated bytes.
    pub allocated: Bytes,
    /// Facts about the content.
    pub facts: &'a ValueFacts,
}

/// Facts about values that may not be JSON, and about those that may.
static FACTS: [ValueFacts; 2] = [ValueFacts::NONE, ValueFacts { may_be_json: true, ..ValueFacts::NONE }];

impl<'a> PricedPlain<'a> {
    #[inline(always)]
    fn new(priced: PricedValue, facts: &'a ValueFacts) -> Self {
        let PricedValue { encoding, length, memory, slack } = priced;
        let allocated = Bytes(memory.saturating_add_signed(slack));
        PricedPlain { encoding, length, memory: Bytes(memory), allocated, facts }
    }

    /// Returns its size.
    #[inline(always)]
    pub fn size(&self) -> ValueSize {
        ValueSize { memory: self.memory, allocated: self.allocated }
    }
}

impl Meter<'_> {
    /// Returns the price of a text, the value of a string key; `None` if it takes more than a lookup.
    #[inline(always)] // for nearly every key
    pub(in crate::memory) fn text(&self, key: Key, value: PlainValue<'_>) -> Option<PricedPlain<'static>> {
        let len = value.len as u64;
        if len <= MAX_INT_LEN || self.model.is_unknown {
            return None;
        }
        let facts = &FACTS[usize::from(look_at(value.content).may_be_json)];
        self.model.short_text(key, len).map(|priced| PricedPlain::new(priced, facts))
    }

    /// Returns the price of a collection of this layout that is stored in one string; `None` if it has to be walked. `templates` are
    /// those of the file.
    #[inline(always)]
    pub(in crate::memory) fn packed(
        &mut self,
        key: Key,
        value_type: ValueType,
        value: PlainValue<'_>,
        templates: &Templates,
    ) -> Option<PricedPlain<'_>> {
        if self.model.is_unknown {
            return None;
        }
        if value_type == ValueType::HashTemplateListpackRef {
            return self.compact(key, value, templates);
        }
        let len = value.len as u64;
        // The walk reports values that are too large to decompress.
        if self.may_convert || len > self.scratch.most() {
            return None;
        }
        self.model.kept_packed(key, value_type, value.content, len).map(|priced| PricedPlain::new(priced, &FACTS[0]))
    }

    /// Like [`Meter::packed`], for a compact hash packed with the id of its template.
    #[inline(always)]
    fn compact(&mut self, key: Key, value: PlainValue<'_>, templates: &Templates) -> Option<PricedPlain<'_>> {
        let are_counted = self.templates.is_some_and(|(held, _)| !held.are_missing());
        if !are_counted || !self.model.layout.templates || templates.are_foreign() || value.is_compressed() {
            return None;
        }
        // The value is not compressed, so the buffer stays empty.
        let start = TemplateNames::Shared(templates).start(RawString::plain(value.content), &mut Scratch::default())?;
        let (priced, template) = self.packed_template(key, start, value.len as u64)?;
        self.compact_facts = ValueFacts { template: Some(template), ..ValueFacts::NONE };
        Some(PricedPlain::new(priced, &self.compact_facts))
    }

    /// Returns the price of a compact hash that stays a listpack of `size` bytes, and its template; `None` if its values matter.
    #[inline(always)]
    pub(super) fn packed_template(
        &mut self,
        key: Key,
        start: PackedHashStart,
        size: u64,
    ) -> Option<(PricedValue, TemplateUse)> {
        if self.placed.is_empty() {
            self.placed = self.held().map(ModelTemplates::placed).unwrap_or_default();
        }
        let template = self.placed.get(start.place)?.as_ref()?;
        let config = &self.model.config;
        if start.values != u64::from(template.fields.get())
            || start.values > config.hash_entries
            || u64::from(template.longest) > config.hash_value
        {
            return None;
        }
        let (value, ordinary) = compact::price_packed(self.model, key, size, template);
        Some((value, TemplateUse { set: template.set as usize, ordinary: Bytes(ordinary) }))
    }
}

/// Conditions under which a server keeps a packed collection as it is stored.
#[derive(Debug, Clone, Copy)]
pub(in crate::memory) struct KeptPacked {
    header: Header,
    /// True if two elements of the blob make one of the collection.
    in_pairs: bool,
    most_elements: u64,
    most_bytes: u64,
    encoding: Encoding,
}

/// Where a blob has its number of elements.
#[derive(Debug, Clone, Copy)]
enum Header {
    Intset,
    Listpack,
    Ziplist,
}

impl KeptPacked {
    /// Number of layouts: see [`KeptPacked::place`].
    pub const LAYOUTS: usize = 7;

    #[inline(always)]
    fn place(value_type: ValueType) -> Option<usize> {
        Some(match value_type {
            ValueType::SetIntset => 0,
            ValueType::SetListpack => 1,
            ValueType::ZsetListpack => 2,
            ValueType::HashListpack => 3,
            ValueType::ListQuicklist2 => 4,
            ValueType::ZsetZiplist => 5,
            ValueType::HashZiplist => 6,
            _ => return None,
        })
    }

    /// Returns the number of elements of the collection in a blob of `size` bytes that begins with `start`; `None` if the header does
    /// not tell, or is damaged.
    #[inline(always)]
    fn length(&self, start: &[u8], size: u64) -> Option<u64> {
        let offset = 0; // errors are made anew by the walk
        let elements = match self.header {
            Header::Intset => intset::header(start, size, offset).ok()?.count,
            Header::Listpack => listpack::count(start, size, offset).ok()??,
            Header::Ziplist => ziplist::count(start, size, offset).ok()??,
        };
        let pairs = u64::from(self.in_pairs);
        (elements & pairs == 0).then_some(elements >> pairs)
    }
}

impl Model {
    /// Returns the price of a collection packed in one blob of `size` bytes, which begins with `start`, if it is kept as it is stored.
    #[inline(always)]
    fn kept_packed(&self, key: Key, value_type: ValueType, start: &[u8], size: u64) -> Option<PricedValue> {
        let kept = self.packed_kept[KeptPacked::place(value_type)?].as_ref()?;
        let length = kept.length(start, size)?;
        if length == 0 || length > kept.most_elements || size > kept.most_bytes {
            return None;
        }
        let FrameSize { outside, object, slack } = self.frame(key);
        let memory = outside + object + self.packed(size);
        Some(PricedValue::new(kept.encoding, length, memory, slack + self.packed_slack(size)))
    }

    /// Precomputes which collections are kept as they are stored.
    pub(in crate::memory) fn packed_layouts(&self) -> [Option<KeptPacked>; KeptPacked::LAYOUTS] {
        let (config, packed) = (&self.config, self.layout.packed);
        let blob = |header, in_pairs, most_elements, encoding| {
            Some(KeptPacked { header, in_pairs, most_elements, most_bytes: u64::MAX, encoding })
        };
        // Newer servers convert ziplists.
        let ziplist = |most| match packed {
            PackedForm::Ziplist => blob(Header::Ziplist, true, most, packed.encoding()),
            PackedForm::Listpack => None,
        };
        let list = (self.layout.list.form == ListForm::ListpackOrQuicklist).then(|| {
            let (most_bytes, most_elements) = most_of_listpack(config.list_size);
            KeptPacked {
                header: Header::Listpack,
                in_pairs: false,
                most_elements,
                most_bytes,
                encoding: Encoding::Listpack,
            }
        });
        [
            blob(Header::Intset, false, config.set_intset_entries, Encoding::Intset),
            blob(Header::Listpack, false, config.set_entries, Encoding::Listpack),
            blob(Header::Listpack, true, config.zset_entries, packed.encoding()),
            blob(Header::Listpack, true, config.hash_entries, packed.encoding()),
            list,
            ziplist(config.zset_entries),
            ziplist(config.hash_entries),
        ]
    }
}
