//! Visitor that decodes a walked value into a [`Value`], for every layout but streams.

use super::value::{HashField, Item, Value};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::content::text_score;
use crate::rdb::cursor::Cursor;
use crate::rdb::packed::{PackedElement, Packing, incomplete, intset, listpack, ziplist, zipmap};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::RawString;
use crate::rdb::template::{TemplateNames, Templates};
use crate::rdb::value_type::ValueType;
use crate::rdb::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, Visit, walk};
use crate::record::{Kind, ModuleName};
use crate::units::Millis;
use crate::wording::wording;

/// Decodes the value in `bytes`, which start at `offset` of the file.
pub fn collect(value_type: ValueType, templates: &Templates, bytes: &[u8], offset: u64) -> Result<Value> {
    let mut collect = Collect { value_type, value: empty(value_type.kind()), scratch: Scratch::default(), fault: None };
    walk(value_type, templates, &mut Cursor::new(bytes, offset), &mut collect)?;
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
struct Collect {
    value_type: ValueType,
    value: Value,
    scratch: Scratch,
    /// The first fault; what comes after it does not matter.
    fault: Option<Error>,
}

impl Collect {
    /// The decoded string; empty after a fault, which is kept.
    fn text(&mut self, string: RawString<'_>) -> Vec<u8> {
        match string.to_bytes() {
            Ok(bytes) => bytes.into_owned(),
            Err(error) => {
                self.note(Err(error));
                Vec::new()
            }
        }
    }

    fn note(&mut self, result: Result<()>) {
        if let Err(error) = result {
            self.fault.get_or_insert(error);
        }
    }

    /// Adds the elements of a blob to the value.
    fn unpack(&mut self, packing: Packing, blob: RawString<'_>, reading: Reading) {
        let (value, at) = (&mut self.value, blob.offset);
        let expiries = matches!(self.value_type, ValueType::HashListpackEx | ValueType::HashListpackExPreGa);
        let added = blob.decode(&mut self.scratch).and_then(|bytes| match packing {
            Packing::Ziplist => add(value, &mut ziplist::Entries::new(bytes, at)?, expiries, at),
            Packing::Listpack => add(value, &mut listpack::Elements::new(bytes, at)?, expiries, at),
            Packing::Intset => {
                add(value, &mut intset::numbers(bytes, at)?.map(|number| Ok(PackedElement::Int(number))), expiries, at)
            }
            Packing::Zipmap => zipmap::Pairs::new(bytes, at)?.try_for_each(|pair| {
                let (field, text) = pair?;
                add_field(value, field.to_vec(), text.to_vec(), None);
                Ok(())
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

/// Adds packed elements: one by one, a member and its score, or a field, its value and maybe its expiry.
fn add(value: &mut Value, elements: &mut Elements<'_, '_>, expiries: bool, offset: u64) -> Result<()> {
    while let Some(first) = elements.next() {
        let first = first?.to_bytes();
        match value {
            Value::List(list) | Value::Set(list) => list.push(first),
            Value::Zset(members) => {
                // Servers read a packed score without digits as 0.
                let score = text_score(&following(elements, offset)?.to_bytes()).unwrap_or(0.0);
                members.push((first, score));
            }
            Value::Hash(_) => {
                let text = following(elements, offset)?.to_bytes();
                let expires_at = if expiries { following(elements, offset)?.field_expiry(offset)? } else { None };
                add_field(value, first, text, expires_at.map(Millis));
            }
            // Their layouts have no blobs.
            Value::Text(_)
            | Value::Stream(_)
            | Value::Json(_)
            | Value::Series(_)
            | Value::Module(..)
            | Value::Array(_) => {}
        }
    }
    Ok(())
}

fn following<'b>(elements: &mut Elements<'_, 'b>, offset: u64) -> Result<PackedElement<'b>> {
    elements.next().unwrap_or_else(|| Err(incomplete(offset)))
}

fn add_field(value: &mut Value, field: Vec<u8>, text: Vec<u8>, expires_at: Option<Millis>) {
    if let Value::Hash(fields) = value {
        fields.push(HashField { field, value: text, expires_at });
    }
}

impl Visit for Collect {
    fn string(&mut self, value: RawString<'_>) {
        self.value = Value::Text(self.text(value));
    }

    fn element(&mut self, element: RawString<'_>) {
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
                text_score(text).ok_or_else(fault).within(Reading::Score)
            }
        };
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
        let (field, text) = (self.text(field), self.text(value));
        add_field(&mut self.value, field, text, expiry.0.map(Millis));
    }

    fn blob(&mut self, blob: RawString<'_>) {
        let packing = Packing::of(self.value_type);
        self.unpack(packing, blob, packing.reading());
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        let (value, at) = (&mut self.value, blob.offset);
        let added = blob.decode(&mut self.scratch).and_then(|bytes| {
            let (template, mut values) = names.unpack(bytes, at)?;
            template.pairs(&mut values, at, |field, text| add_field(value, field.to_vec(), text.to_bytes(), None))
        });
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
        let item = self.item(item);
        if let Value::Module(_, items) = &mut self.value {
            items.push(item);
        }
    }

    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {
        let item = self.item(item);
        if let Value::Array(slots) = &mut self.value {
            slots.push((index, item));
        }
    }
}
