//! Visitor that decodes a walked value into a [`Value`], for every layout but streams.

use super::decode_budget::DecodeBudget;
use super::value::{HashField, Item, Value};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::rdb::packed::{PackedElement, Packing, incomplete, intset, listpack, ziplist, zipmap};
use crate::rdb::score;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::template::{TemplateNames, Templates};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, Visit, walk_seldom};
use crate::record::{Kind, ModuleName};
use crate::units::Millis;
use crate::wording::wording;

/// Decodes the value in `bytes`, which start at `offset` of the file, as far as the budget allows.
pub fn collect(
    value_type: ValueType,
    templates: &Templates,
    bytes: &[u8],
    offset: u64,
    budget: &mut DecodeBudget,
) -> Result<Value> {
    let scratch = Scratch::new(budget.most());
    let mut collect = Collect { value_type, value: empty(value_type.kind()), scratch, budget, fault: None };
    walk_seldom(value_type, templates, &mut Cursor::new(bytes, offset), &mut collect)?;
    collect.fault.map_or(Ok(collect.value), Err)
}

fn empty(kind: Kind) -> Value {
    match kind {
        Kind::String => Value::Text(Vec::new()),
        Kind::List => Value::List(Vec::new()),
        Kind::Set => Value::Set(Vec::new()),
        Kind::Zset => Value::Zset(Vec::new()),
        Kind::Hash => Value::Hash(Vec::new()),
        Kind::Stream => Value::Stream(Default::default()),
        Kind::Module => Value::Module(None, Vec::new()),
        Kind::Array => Value::Array(Vec::new()),
    }
}

#[derive(Debug)]
struct Collect<'r> {
    value_type: ValueType,
    value: Value,
    scratch: Scratch,
    budget: &'r mut DecodeBudget,
    /// The first fault; nothing is decoded after it.
    fault: Option<Error>,
}

impl Collect<'_> {
    /// The decoded string; empty from the first fault on, which is kept.
    fn text(&mut self, string: RawString<'_>) -> Vec<u8> {
        if self.fault.is_some() {
            return Vec::new();
        }
        match self.budget.text(&string) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.note(Err(error));
                Vec::new()
            }
        }
    }

    /// Counts an element of this size, and returns whether it is kept.
    fn keeps<T>(&mut self) -> bool {
        if self.fault.is_some() || !self.budget.element() {
            return false;
        }
        let taken = self.budget.take_element::<T>();
        self.note(taken);
        self.fault.is_none()
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.fault.get_or_insert(error);
        }
    }

    /// Adds the elements of a blob to the value.
    fn unpack(&mut self, packing: Packing, blob: RawString<'_>, reading: Reading) {
        if self.fault.is_some() {
            return;
        }
        let at = blob.offset;
        let expiries = matches!(self.value_type, ValueType::HashListpackEx | ValueType::HashListpackExPreGa);
        let mut to = Unpacked { value: &mut self.value, budget: self.budget, expiries, offset: at };
        let added = blob.decode(&mut self.scratch).and_then(|bytes| match packing {
            Packing::Ziplist => to.add(&mut ziplist::Entries::new(bytes, at)?),
            Packing::Listpack => to.add(&mut listpack::Elements::new(bytes, at)?),
            Packing::Intset => to.add(&mut intset::numbers(bytes, at)?.map(|number| Ok(PackedElement::Int(number)))),
            Packing::Zipmap => zipmap::Pairs::new(bytes, at)?.try_for_each(|pair| {
                let (field, text) = pair?;
                to.pair(field, &PackedElement::Text(text), None)
            }),
        });
        self.note(added.within(reading));
    }

    fn item(&mut self, item: ModuleItem<'_>) -> Item {
        match item {
            ModuleItem::Integer(bits) => Item::Integer(bits.cast_signed()),
            ModuleItem::Float(bytes) => Item::Float(f64::from(f32::from_le_bytes(bytes))),
            ModuleItem::Double(bytes) => Item::Float(f64::from_le_bytes(bytes)),
            ModuleItem::String(string) => Item::Text(self.text(string)),
        }
    }
}

/// The elements of a blob.
type Elements<'a, 'b> = dyn Iterator<Item = Result<PackedElement<'b>>> + 'a;

/// Value that the elements of a blob are added to.
struct Unpacked<'c> {
    value: &'c mut Value,
    budget: &'c mut DecodeBudget,
    /// True if an expiry follows each field and its value.
    expiries: bool,
    /// Offset of the blob.
    offset: u64,
}

impl Unpacked<'_> {
    /// Adds packed elements: one by one, a member and its score, or a field, its value and maybe its expiry.
    fn add(&mut self, elements: &mut Elements<'_, '_>) -> Result<()> {
        let offset = self.offset;
        while let Some(first) = elements.next() {
            let first = first?;
            match self.value {
                Value::List(_) | Value::Set(_) => self.element(&first)?,
                Value::Zset(_) => {
                    let score = score::packed_value(&following(elements, offset)?.to_bytes());
                    self.member(&first, score)?;
                }
                Value::Hash(_) => {
                    let text = following(elements, offset)?;
                    let expires_at =
                        if self.expiries { following(elements, offset)?.field_expiry(offset)? } else { None };
                    self.pair_of(&first, &text, expires_at.map(Millis))?;
                }
                // Their layouts have no blobs.
                Value::Text(_)
                | Value::Stream(_)
                | Value::Json(_)
                | Value::Series(_)
                | Value::Vectors(_)
                | Value::Module(..)
                | Value::Array(_) => {}
            }
        }
        Ok(())
    }

    fn element(&mut self, element: &PackedElement<'_>) -> Result<()> {
        if self.budget.element() {
            self.budget.take_element::<Vec<u8>>()?;
            let text = self.budget.packed(element)?;
            if let Value::List(list) | Value::Set(list) = self.value {
                list.push(text);
            }
        }
        Ok(())
    }

    fn member(&mut self, member: &PackedElement<'_>, score: f64) -> Result<()> {
        if self.budget.element() {
            self.budget.take_element::<(Vec<u8>, f64)>()?;
            let text = self.budget.packed(member)?;
            if let Value::Zset(members) = self.value {
                members.push((text, score));
            }
        }
        Ok(())
    }

    fn pair(&mut self, field: &[u8], text: &PackedElement<'_>, expires_at: Option<Millis>) -> Result<()> {
        self.pair_of(&PackedElement::Text(field), text, expires_at)
    }

    fn pair_of(
        &mut self,
        field: &PackedElement<'_>,
        text: &PackedElement<'_>,
        expires_at: Option<Millis>,
    ) -> Result<()> {
        if self.budget.element() {
            self.budget.take_element::<HashField>()?;
            let (field, text) = (self.budget.packed(field)?, self.budget.packed(text)?);
            add_field(self.value, field, text, expires_at);
        }
        Ok(())
    }
}

fn following<'b>(elements: &mut Elements<'_, 'b>, offset: u64) -> Result<PackedElement<'b>> {
    elements.next().unwrap_or_else(|| Err(incomplete(offset)))
}

fn add_field(value: &mut Value, field: Vec<u8>, text: Vec<u8>, expires_at: Option<Millis>) {
    if let Value::Hash(fields) = value {
        fields.push(HashField { field, value: text, expires_at });
    }
}

impl Visit for Collect<'_> {
    fn string(&mut self, value: RawString<'_>) {
        self.value = Value::Text(self.text(value));
    }

    fn element(&mut self, element: RawString<'_>) {
        if !self.keeps::<Vec<u8>>() {
            return;
        }
        let text = self.text(element);
        if let Value::List(elements) | Value::Set(elements) = &mut self.value {
            elements.push(text);
        }
    }

    fn scored(&mut self, member: RawString<'_>, stored: ScoreValue<'_>) {
        let score = match stored {
            ScoreValue::Binary(score) => Ok(score),
            ScoreValue::Text(text) => {
                let fault = || Error::corrupt(member.offset, wording!("a score that is no number", "score 不是数字"));
                score::value(text).ok_or_else(fault).within(Reading::Score)
            }
        };
        if score.is_ok() && !self.keeps::<(Vec<u8>, f64)>() {
            return;
        }
        let member = self.text(member);
        match (score, &mut self.value) {
            (Ok(score), Value::Zset(members)) => members.push((member, score)),
            (Ok(_), _) => {}
            (Err(error), _) => self.note(Err(error)),
        }
    }

    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        self.expiring_pair(field, value, FieldExpiry(None));
    }

    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {
        if !self.keeps::<HashField>() {
            return;
        }
        let (field, text) = (self.text(field), self.text(value));
        add_field(&mut self.value, field, text, expiry.0.map(Millis));
    }

    fn blob(&mut self, blob: RawString<'_>) {
        let packing = Packing::of(self.value_type);
        self.unpack(packing, blob, packing.reading());
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        if self.fault.is_some() {
            return;
        }
        let at = blob.offset;
        let mut to = Unpacked { value: &mut self.value, budget: self.budget, expiries: false, offset: at };
        let mut taken = Ok(());
        let added = blob.decode(&mut self.scratch).and_then(|bytes| {
            let (template, mut values) = names.unpack(bytes, at)?;
            template.pairs(&mut values, at, |field, text| {
                if taken.is_ok() {
                    taken = to.pair(field, &text, None);
                }
            })
        });
        let added = added.and(taken);
        self.note(added.within(Reading::Listpack));
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        match node {
            ListNode::Ziplist => self.unpack(Packing::Ziplist, blob, Reading::ListNode),
            ListNode::Listpack => self.unpack(Packing::Listpack, blob, Reading::ListNode),
            ListNode::Plain => self.element(blob),
        }
    }

    fn module(&mut self, id: u64) {
        if let Value::Module(name, _) = &mut self.value {
            *name = Some(ModuleName::from_id(id));
        }
    }

    fn module_item(&mut self, item: ModuleItem<'_>) {
        // Their number says nothing of the elements of the value that the module makes of them.
        let taken = self.budget.take_element::<Item>();
        self.note(taken);
        let item = self.item(item);
        if let (Value::Module(_, items), None) = (&mut self.value, &self.fault) {
            items.push(item);
        }
    }

    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {
        if !self.keeps::<(u64, Item)>() {
            return;
        }
        let item = self.item(item);
        if let Value::Array(slots) = &mut self.value {
            slots.push((index, item));
        }
    }
}
