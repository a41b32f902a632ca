//! Visitor that computes the memory of a value during the walk.
//!
//! Call [`Meter::begin_key`], walk the value, then call [`Meter::finish`]. Errors inside blobs are kept until then: the
//! framing of the file is intact, so the next key can still be read.

mod array;
mod compact;
mod elements;
mod hash;
mod known;
mod lengths;
mod list;
mod measured;
mod plain;
mod set;
mod stream;
mod string;
#[cfg(test)]
mod tests;
mod visit;
mod zset;

use compact::Named;
pub(super) use known::ValueSize;
use lengths::Lengths;
use measured::PricedValue;
pub use measured::{Measured, ValueFacts};
pub(super) use plain::KeptPacked;
pub(crate) use plain::PricedPlain;
pub(super) use string::SHARED_NUMBERS;
#[cfg(test)]
pub(super) use string::text;

use super::Model;
use super::layout::{Frame, Joint};
use super::modules::ModuleMeter;
use super::price::{FrameSize, Key};
use super::slack::gap;
use super::templates::{
    HeldTemplate, HeldTemplates, LazyTemplates, ModelTemplates, PlacedTemplate, RdbLoad, TemplateUse,
};
use crate::error::{Error, ErrorKind, Result};
use crate::limits;
use crate::memory::item::PackedItem;
use crate::memory::{Encoding, ModuleFacts};
use crate::rdb::kind::Kind;
use crate::rdb::packed::{PackedElement, listpack, ziplist};
use crate::rdb::payload::Payload;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::template::TemplateNames;
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::Visit;
use crate::units::Bytes;
use crate::wording::wording;

/// Owner of a hash's field names on the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FieldNames {
    /// The hash itself.
    Own,
    /// A template that several compact hashes share.
    Shared,
    /// A template if the server makes one while it loads the file, otherwise the hash itself.
    SharedIfConverted,
}

/// Maximum capacity of the decompression buffer kept for the next key.
const KEPT_SCRATCH: usize = 1 << 20;
/// Size of the pair of type and value that the object of a module value refers to, which no server counts.
const MODULE_VALUE: u64 = 16;

/// Visitor that prices values for one [`Model`]; reused for all keys of a worker.
#[derive(Debug)]
pub struct Meter<'m> {
    model: &'m Model,
    key: Key,
    value_type: ValueType,
    /// Payload of the elements so far; those in blobs are not counted.
    payload: Payload,
    /// Lengths of elements in a table that are not priced yet.
    lengths: Lengths,
    /// Decompression buffer; [`super::Meters`] shares one among its meters.
    pub(super) scratch: Scratch,
    error: Option<Error>,
    /// The first part of the value that is too large to be decompressed; boxed, because it is moved for each key.
    over_budget: Option<Box<Error>>,
    /// True if the memory of the value depends on such a part.
    is_unpriced: bool,
    /// Result for the last value, once priced; kept here because it is large and expensive to move.
    measured: Measured,
    priced: bool,
    list: list::ListMeter,
    set: set::SetMeter,
    zset: zset::ZsetMeter,
    hash: hash::HashMeter,
    compact: compact::CompactMeter,
    /// Facts about the last compact hash that was priced without a walk.
    compact_facts: ValueFacts,
    /// Owner of the field names of the hash that is walked.
    field_names: FieldNames,
    /// Templates of the file, and the position of this model among those that they are counted for.
    templates: Option<(&'m LazyTemplates, usize)>,
    /// Templates of the table of the file, once a hash has needed them.
    placed: &'m [Option<PlacedTemplate>],
    /// True if the settings of the server convert ordinary hashes on load.
    may_convert: bool,
    stream: stream::StreamMeter,
    module: ModuleMeter,
    array: array::ArrayMeter,
}

impl<'m> Meter<'m> {
    /// Creates a meter for one model.
    pub fn new(model: &'m Model) -> Self {
        Meter {
            model,
            key: Key::default(),
            value_type: ValueType::String,
            payload: Payload::default(),
            lengths: Lengths::default(),
            scratch: Scratch::default(),
            error: None,
            over_budget: None,
            is_unpriced: false,
            measured: PricedValue::new(Encoding::Unknown, 0, 0, 0).measured(ValueFacts::NONE),
            priced: false,
            list: list::ListMeter::default(),
            set: set::SetMeter::default(),
            zset: zset::ZsetMeter::default(),
            hash: hash::HashMeter::default(),
            compact: compact::CompactMeter::default(),
            compact_facts: ValueFacts::NONE,
            field_names: FieldNames::Own,
            templates: None,
            placed: &[],
            may_convert: false,
            stream: stream::StreamMeter::new(model.allocator),
            module: ModuleMeter::default(),
            array: array::ArrayMeter::default(),
        }
    }

    /// Sets the maximum size of what is decompressed. The memory of a value that depends on larger parts is unknown.
    pub(super) fn with_parts_up_to(mut self, most: u64) -> Self {
        self.scratch = Scratch::new(most);
        self
    }

    /// Returns the first part of the value that was too large to be decompressed.
    #[inline]
    pub(super) fn take_over_budget(&mut self) -> Option<Box<Error>> {
        self.over_budget.take()
    }

    /// Sets the templates of the file, which count users for this model at position `place`.
    pub(super) fn with_templates(mut self, templates: &'m LazyTemplates, place: usize) -> Self {
        self.templates = Some((templates, place));
        self.may_convert = RdbLoad::of(self.model).is_some();
        self
    }

    /// Starts a key of `key_len` bytes, whose value is walked next.
    #[inline]
    pub fn begin_key(&mut self, key_len: u64, has_ttl: bool) {
        self.key = Key { len: key_len.min(limits::MAX_KEY_BYTES), expires: has_ttl };
        self.error = None;
        (self.over_budget, self.is_unpriced) = (None, false);
        self.priced = false;
    }

    /// Starts the key and the value that another meter has started.
    pub(super) fn begin_like(&mut self, other: &Meter<'_>) {
        (self.key, self.error, self.priced) = (other.key, None, false);
        (self.over_budget, self.is_unpriced) = (None, false);
        self.begin(other.value_type);
    }

    /// Returns the measured value, or the first error met during the walk. Afterwards the meter is ready for the next key.
    #[inline(always)]
    pub fn finish(&mut self) -> Result<&Measured> {
        if !self.priced {
            self.finish_other()?;
        }
        if self.model.is_unknown {
            self.forget();
        }
        Ok(&self.measured)
    }

    /// Returns the value measured last, and facts about it if it is a module's.
    #[inline(always)]
    pub(super) fn last(&self) -> (&Measured, Option<&ModuleFacts>) {
        (&self.measured, self.measured.module.map(|_| self.module.facts()))
    }

    /// Drops what depends on a server whose memory is not known.
    #[cold]
    fn forget(&mut self) {
        let measured = &mut self.measured;
        (measured.encoding, measured.memory, measured.allocated) = (Encoding::Unknown, Bytes(0), Bytes(0));
    }

    #[inline(never)]
    fn finish_other(&mut self) -> Result<()> {
        self.settle_lengths(&mut []);
        self.price()
    }

    /// Prices the walked value, or returns the first error met during the walk.
    #[inline(always)]
    fn price(&mut self) -> Result<()> {
        self.scratch.keep(KEPT_SCRATCH);
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.is_unpriced {
            let unknown = PricedValue::new(Encoding::Unknown, 0, 0, 0).measured(ValueFacts::NONE);
            self.measured = Measured { length: None, ..unknown };
            return Ok(());
        }
        let (model, key) = (self.model, self.key);
        let value = match self.value_type.kind() {
            Kind::String => {
                return Err(Error::new(ErrorKind::Corrupt(wording!(
                    "finish was called before a value was walked",
                    "尚未读取任何 value 就结束了"
                ))));
            }
            Kind::List => self.list.finish(model, key),
            Kind::Set => self.set.finish(model, key),
            Kind::Zset => self.zset.finish(model, key),
            Kind::Hash if self.field_names != FieldNames::Own => {
                let (value, template) = self.compact_value();
                self.measured = value.measured(ValueFacts { template, ..ValueFacts::of_elements(self.payload) });
                return Ok(());
            }
            Kind::Hash => self.hash.finish(model, key, self.stream.tree()),
            Kind::Stream => {
                let (value, facts) = self.stream.finish(model, key);
                self.measured = Measured { stream: Some(facts), ..value.measured(ValueFacts::NONE) };
                return Ok(());
            }
            Kind::Module => {
                self.measured = self.module_value();
                return Ok(());
            }
            Kind::Array => self.array.finish(model, key),
        };
        self.measured = value.measured(ValueFacts::of_elements(self.payload));
        if let Kind::Hash = self.value_type.kind() {
            self.measured.fields_with_ttl = self.hash.with_ttl();
        }
        Ok(())
    }

    /// Prices a module value, if the formula of its module is known.
    ///
    /// Servers that do not embed the key in the object do not count the object. Those that do count it as allocated.
    fn module_value(&mut self) -> Measured {
        let FrameSize { outside, object, slack } = self.model.frame(self.key);
        let (object, slack) = match self.model.layout.frame {
            Frame::Joint(Joint::ObjectOnly) => (object, slack),
            Frame::Joint(_) => (object.saturating_add_signed(slack), 0),
            Frame::Argument | Frame::Entry { .. } | Frame::SharedKey | Frame::KeyInEntry => (0, slack + gap(object, 0)),
        };
        let size = self.module.finish(self.model, &mut self.scratch, self.stream.tree());
        let priced = match size.memory {
            Some(memory) => {
                let given = size.allocated.unwrap_or(memory).saturating_add(self.model.usable(MODULE_VALUE));
                let slack = slack.saturating_add(gap(given, memory));
                let memory = [outside, object, memory].into_iter().fold(0, u64::saturating_add);
                PricedValue::new(Encoding::Raw, 0, memory, slack)
            }
            None => PricedValue::new(Encoding::Raw, 0, 0, 0),
        };
        Measured { length: size.length, module: self.module.name(), ..priced.measured(ValueFacts::NONE) }
    }

    /// Prices a hash that is compact, or becomes so if the server makes a template for its field names.
    #[inline(never)]
    fn compact_value(&mut self) -> (PricedValue, Option<TemplateUse>) {
        let (model, key) = (self.model, self.key);
        let template = self.template_of(self.compact.named());
        if self.field_names == FieldNames::SharedIfConverted {
            if let Named::Set(set) = self.compact.named()
                && self.held().is_some_and(|held| held.took_apart(set))
            {
                self.hash.take_apart(model, &self.compact);
            }
            let ordinary = self.hash.finish(model, key, self.stream.tree());
            return match template {
                Some((_, set, held)) => {
                    self.compact.loaded_as(ordinary.encoding);
                    let template = TemplateUse { set, ordinary: Bytes(ordinary.memory) };
                    (self.compact.finish(model, key, Some(held)), Some(template))
                }
                None => (ordinary, None),
            };
        }
        let value = self.compact.finish(model, key, template.map(|(_, _, held)| held));
        let template = template.map(|(all, set, _)| TemplateUse {
            set,
            ordinary: Bytes(self.compact.ordinary(model, key, all.sizes(set), || all.names(set))),
        });
        (value, template)
    }

    /// Returns the template of a hash, its set of field names, and the templates that it is one of.
    #[inline]
    fn template_of(&self, named: Named) -> Option<(ModelTemplates<'m>, usize, HeldTemplate)> {
        let (templates, model) = self.templates?;
        let find = |held: &'m HeldTemplates| {
            let all = held.of(model)?;
            let (set, held) = match named {
                Named::Place(place) => all.shared(place),
                Named::Set(names) => all.of_names(names),
            }?;
            Some((all, set, held))
        };
        find(templates.get()?).or_else(|| find(templates.get_whole()?))
    }

    /// Returns the templates of the file under this model.
    fn held(&self) -> Option<ModelTemplates<'m>> {
        let (templates, place) = self.templates?;
        templates.get()?.of(place)
    }

    /// Returns the owner of the field names of a hash of this layout.
    #[inline]
    fn field_names_of(&self, layout: ValueType) -> FieldNames {
        match layout {
            _ if layout.is_compact_hash() && self.model.layout.templates => FieldNames::Shared,
            ValueType::Hash | ValueType::HashListpack
                if self.may_convert && self.held().is_some_and(ModelTemplates::converts) =>
            {
                FieldNames::SharedIfConverted
            }
            _ => FieldNames::Own,
        }
    }

    /// Keeps an error until the value has been walked.
    #[inline(always)] // for every value, and almost never an error
    fn keep(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.keep_error(error);
        }
    }

    #[cold]
    fn keep_error(&mut self, error: Error) {
        if let ErrorKind::OverBudget(_) = error.kind() {
            self.is_unpriced = true;
            self.over_budget.get_or_insert_with(|| Box::new(error));
        } else {
            self.error.get_or_insert(error);
        }
    }

    /// Notes a part that is too large to be decompressed, whether its length suffices for the price or not.
    #[inline]
    fn look_at_size(&mut self, part: RawString<'_>) {
        if let StringForm::Lzf { len, .. } = part.form
            && len > self.scratch.most()
        {
            self.note_size(part);
        }
    }

    #[cold]
    fn note_size(&mut self, part: RawString<'_>) {
        if let Err(error) = part.check() {
            self.error.get_or_insert(error);
        } else if let Err(error) = part.decode(&mut self.scratch) {
            self.over_budget.get_or_insert_with(|| Box::new(error));
        }
    }
}

impl Meter<'_> {
    #[inline(always)]
    fn count_element(&mut self, len: u64) {
        self.payload.add(len, 0);
    }

    /// Fast path for a hash that stays packed: only the header of the listpack matters, as for other packed values. Returns
    /// false to fall back to [`Meter::template_values`].
    #[inline(always)]
    fn template_header(&mut self, names: TemplateNames<'_>, blob: RawString<'_>, scratch: &mut Scratch) -> bool {
        if self.field_names != FieldNames::Shared {
            return false;
        }
        let start = names.start(blob, scratch);
        let Some((value, template)) = start.and_then(|start| self.packed_template(self.key, start, blob.len())) else {
            return false;
        };
        self.measured = value.measured(ValueFacts { template: Some(template), ..ValueFacts::NONE });
        self.priced = true;
        true
    }

    /// Handles a compact hash packed in one listpack.
    fn template_values(&mut self, names: TemplateNames<'_>, blob: RawString<'_>, scratch: &mut Scratch) -> Result<()> {
        let bytes = blob.decode(scratch)?;
        let (template, mut values) = names.unpack(bytes, blob.offset)?;
        let model = self.model;
        if self.field_names == FieldNames::Shared {
            self.compact.packed(blob.len());
            match names {
                TemplateNames::Shared(_) => self.template(template),
                TemplateNames::Own(_) => template.fields().for_each(|name| self.compact.name(name)),
            }
            template.pairs(&mut values, blob.offset, |field, value| {
                self.payload.add((field.len() as u64).saturating_add(value.len()), 0);
                self.compact.add(model, PackedItem::of_packed(value));
            })?;
            return Ok(());
        }
        // Priced for a server without templates: an ordinary hash with these fields.
        self.hash.announce(model, template.len() as u64);
        let (mut digits, mut own, mut pairs) = (itoa::Buffer::new(), Scratch::default(), Ok(()));
        template.pairs(&mut values, blob.offset, |field, value| {
            let text = match value {
                PackedElement::Text(text) => text,
                PackedElement::Int(number) => digits.format(number).as_bytes(),
            };
            self.payload.add((field.len() + text.len()) as u64, 0);
            if pairs.is_ok() {
                pairs = self.hash.pair(model, RawString::plain(field), RawString::plain(text), &mut own);
            }
        })?;
        pairs
    }

    /// Adds a pair of a hash that is compact or may become so.
    fn compact_pair(&mut self, field: RawString<'_>, value: RawString<'_>) -> Result<()> {
        match self.field_names {
            FieldNames::Own => return Ok(()),
            FieldNames::SharedIfConverted => {
                self.hash.pair(self.model, field, value, &mut self.scratch)?;
                self.compact.name(field.decode(&mut self.scratch)?);
            }
            FieldNames::Shared if self.value_type == ValueType::HashTemplateArray => {
                self.compact.name(field.decode(&mut self.scratch)?);
            }
            FieldNames::Shared => {}
        }
        self.compact.value(self.model, value, &mut self.scratch)
    }

    /// Prices any string: the slow path of [`Visit::string`].
    #[inline(never)]
    fn other_string(&mut self, value: RawString<'_>) {
        match string::measure(self.model, self.key, value, &mut self.scratch) {
            Ok(measured) => {
                self.measured = measured.measured(string::look(value));
                self.priced = true;
            }
            Err(error) => self.keep_error(error),
        }
    }
}

/// Returns the memory of a hash, given its field and value lengths.
pub(super) fn hash_of_texts(model: &Model, key: Key, pairs: &[(u64, u64)]) -> u64 {
    hash::HashMeter::of_texts(model, key, pairs)
}

/// Returns the element count of a listpack, from its header if stored there, otherwise by walking it.
fn listpack_count(blob: RawString<'_>, scratch: &mut Scratch) -> Result<u64> {
    if let Some(count) = listpack::count(blob.prefix(listpack::HEADER, scratch)?, blob.len(), blob.offset)? {
        return Ok(count);
    }
    counted(listpack::Elements::new(blob.decode(scratch)?, blob.offset)?)
}

/// Returns the entry count of a ziplist, from its header if stored there, otherwise by walking it.
fn ziplist_count(blob: RawString<'_>, scratch: &mut Scratch) -> Result<u64> {
    if let Some(count) = ziplist::count(blob.prefix(ziplist::HEADER, scratch)?, blob.len(), blob.offset)? {
        return Ok(count);
    }
    counted(ziplist::Entries::new(blob.decode(scratch)?, blob.offset)?)
}

/// Counts elements by walking them.
fn counted<T>(mut elements: impl Iterator<Item = Result<T>>) -> Result<u64> {
    elements.try_fold(0, |count, element| element.map(|_| count + 1))
}
