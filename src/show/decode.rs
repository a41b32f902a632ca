//! Decodes a value that was found: through the `rdb` crate where it can, by a visitor of our own where it cannot.

use rdb::{RdbDecoder, RdbError, RdbValue};

use super::find::Found;
use super::stream::StreamDecoder;
use super::value::{HashField, Item, Value};
use crate::error::{Error, Result};
use crate::rdb::cursor::Cursor;
use crate::rdb::packed::Packed;
use crate::rdb::packed::listpack;
use crate::rdb::string::RawString;
use crate::rdb::value_type::ValueType;
use crate::rdb::verify::Verify;
use crate::rdb::walk::{FieldExpiry, ModuleItem, Visit, walk};
use crate::record::ModuleName;
use crate::units::Millis;

/// The value of a key that was found. Damage inside it is an error that says where.
pub fn decode(found: &Found) -> Result<Value> {
    decode_intact(found).map_err(|error| found.damaged(error))
}

fn decode_intact(found: &Found) -> Result<Value> {
    let mut verify = Verify::default();
    walk(found.value_type, &mut cursor(found), &mut verify)?;
    verify.finish()?;
    match found.value_type {
        ValueType::Stream(_) => {
            let mut decoder = StreamDecoder::default();
            walk(found.value_type, &mut cursor(found), &mut decoder)?;
            decoder.finish().map(Value::Stream)
        }
        ValueType::HashMetadataPreGa
        | ValueType::HashMetadata
        | ValueType::Hash2
        | ValueType::HashListpackExPreGa
        | ValueType::HashListpackEx
        | ValueType::Module2
        | ValueType::ModulePreGa
        | ValueType::KeydbCron
        | ValueType::Array => {
            let mut decoder = PartsDecoder::default();
            walk(found.value_type, &mut cursor(found), &mut decoder)?;
            decoder.finish(found.value_type)
        }
        ValueType::String
        | ValueType::List
        | ValueType::Set
        | ValueType::Zset
        | ValueType::Hash
        | ValueType::Zset2
        | ValueType::HashZipmap
        | ValueType::ListZiplist
        | ValueType::SetIntset
        | ValueType::ZsetZiplist
        | ValueType::HashZiplist
        | ValueType::ListQuicklist
        | ValueType::HashListpack
        | ValueType::ZsetListpack
        | ValueType::ListQuicklist2
        | ValueType::SetListpack => by_crate(found),
    }
}

fn cursor(found: &Found) -> Cursor<'_> {
    Cursor::new(&found.value, found.value_offset)
}

/// Lets the `rdb` crate decode a file that holds nothing but this key. The value was verified before: the crate trusts
/// lengths.
fn by_crate(found: &Found) -> Result<Value> {
    let head = [&b"REDIS0011"[..], &[found.type_byte], b"\x01k"].concat();
    let file = [&head[..], &found.value, b"\xff\0\0\0\0\0\0\0\0"].concat();
    let fail = |error: RdbError| Error::corrupt(found.value_offset, format!("the rdb crate cannot decode it: {error}"));
    let mut decoder = RdbDecoder::new(&file[..], rdb::filter::Simple::new()).map_err(fail)?;
    match decoder.next() {
        Some(Ok(value)) => {
            from_crate(value).ok_or_else(|| Error::corrupt(found.value_offset, "the rdb crate found no value"))
        }
        Some(Err(error)) => Err(fail(error)),
        None => Err(Error::corrupt(found.value_offset, "the rdb crate found no value")),
    }
}

fn from_crate(value: RdbValue) -> Option<Value> {
    Some(match value {
        RdbValue::String { value, .. } => Value::Text(value),
        RdbValue::List { values, .. } => Value::List(values),
        RdbValue::Set { members, .. } => Value::Set(members),
        RdbValue::SortedSet { values, .. } => {
            Value::Zset(values.into_iter().map(|(score, member)| (member, score)).collect())
        }
        RdbValue::Hash { values, .. } => {
            let field = |(field, value)| HashField { field, value, expires_at: None };
            Value::Hash(values.into_iter().map(field).collect())
        }
        RdbValue::SelectDb(_) | RdbValue::ResizeDb { .. } | RdbValue::AuxField { .. } | RdbValue::Checksum(_) => {
            return None;
        }
    })
}

/// Collects hashes with field expiries, and what modules and arrays are made of.
#[derive(Debug, Default)]
struct PartsDecoder {
    fields: Vec<HashField>,
    module: Option<ModuleName>,
    items: Vec<Item>,
    slots: Vec<(u64, Item)>,
    fault: Option<Error>,
}

impl PartsDecoder {
    fn finish(self, value_type: ValueType) -> Result<Value> {
        match (self.fault, value_type) {
            (Some(fault), _) => Err(fault),
            (None, ValueType::Module2 | ValueType::ModulePreGa | ValueType::KeydbCron) => {
                Ok(Value::Module(self.module, self.items))
            }
            (None, ValueType::Array) => Ok(Value::Array(self.slots)),
            (None, _) => Ok(Value::Hash(self.fields)),
        }
    }

    fn note<T>(&mut self, result: Result<T>) -> Option<T> {
        result.map_err(|error| self.fault.get_or_insert(error)).ok()
    }

    fn triples(&mut self, blob: RawString<'_>) -> Result<()> {
        let bytes = blob.to_bytes()?;
        let mut elements = listpack::Elements::new(&bytes, blob.offset)?;
        while let Some(field) = elements.next().transpose()? {
            let (value, time) = (elements.next().transpose()?, elements.next().transpose()?);
            let (Some(value), Some(Packed::Int(time))) = (value, time) else {
                return Err(Error::corrupt(blob.offset, "a field without its value and expiry"));
            };
            let expires_at = (time != 0).then_some(Millis(time));
            self.fields.push(HashField { field: field.to_bytes(), value: value.to_bytes(), expires_at });
        }
        Ok(())
    }

    fn item(&mut self, item: ModuleItem<'_>) -> Option<Item> {
        Some(match item {
            ModuleItem::Integer(bits) => Item::Integer(bits.cast_signed()),
            ModuleItem::Float(bytes) => Item::Float(f64::from(f32::from_le_bytes(bytes))),
            ModuleItem::Double(bytes) => Item::Float(f64::from_le_bytes(bytes)),
            ModuleItem::String(string) => Item::Text(self.note(string.to_bytes())?.into_owned()),
        })
    }
}

impl Visit for PartsDecoder {
    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, expiry: FieldExpiry) {
        let (field, value) = (self.note(field.to_bytes()), self.note(value.to_bytes()));
        if let (Some(field), Some(value)) = (field, value) {
            let expires_at = expiry.0.map(Millis);
            self.fields.push(HashField { field: field.into_owned(), value: value.into_owned(), expires_at });
        }
    }

    fn blob(&mut self, blob: RawString<'_>) {
        let result = self.triples(blob);
        self.note(result);
    }

    fn module(&mut self, id: u64) {
        self.module = Some(ModuleName::from_id(id));
    }

    fn module_item(&mut self, item: ModuleItem<'_>) {
        let item = self.item(item);
        self.items.extend(item);
    }

    fn array_item(&mut self, index: u64, item: ModuleItem<'_>) {
        let item = self.item(item);
        self.slots.extend(item.map(|item| (index, item)));
    }
}
