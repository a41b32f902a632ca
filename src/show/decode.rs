//! Decodes a value that was found, after verifying it.

use super::cbor::json_text;
use super::collect::collect;
use super::decode_budget::{DecodeBudget, Extent};
use super::document::JsonDocument;
use super::find::Found;
use super::series::Series;
use super::stream::StreamDecoder;
use super::value::{Item, Value};
use super::vectors::VectorSet;
use crate::error::{Error, Result};
use crate::rdb::cursor::Cursor;
use crate::rdb::kind::module;
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::rdb::verify::Verify;
use crate::rdb::walk::{walk, walk_seldom};
use crate::record::ModuleName;
use crate::wording::wording;

/// Decoded value, and the number of its elements that were left out.
#[derive(Debug)]
pub struct Decoded {
    /// The value.
    pub value: Value,
    /// Elements beyond those kept.
    pub omitted: usize,
}

/// Decodes the value of a key that was found, up to `extent`. Damage inside it is an error with its offset, and so is a value
/// that takes more memory.
pub fn decode(found: &Found, extent: Extent) -> Result<Decoded> {
    decode_within(found.value_type, &found.templates, &found.value, found.value_offset, extent)
        .map_err(|error| found.damaged(error))
}

/// Decodes the whole value in `bytes`, which stand at `offset` of the file.
#[cfg(feature = "internals")]
pub fn decode_value(value_type: ValueType, templates: &Templates, bytes: &[u8], offset: u64) -> Result<Value> {
    decode_within(value_type, templates, bytes, offset, Extent::default()).map(|decoded| decoded.value)
}

fn decode_within(
    value_type: ValueType,
    templates: &Templates,
    bytes: &[u8],
    offset: u64,
    extent: Extent,
) -> Result<Decoded> {
    verify(value_type, templates, bytes, offset, extent.memory)?;
    let mut budget = DecodeBudget::new(extent, offset);
    if let ValueType::Stream(_) = value_type {
        let mut decoder = StreamDecoder::new(&mut budget);
        walk_seldom(value_type, templates, &mut Cursor::new(bytes, offset), &mut decoder)?;
        let stream = decoder.finish()?;
        let omitted = budget.elements() - stream.entries.len();
        return Ok(Decoded { value: Value::Stream(stream), omitted });
    }
    let value = collect(value_type, templates, bytes, offset, &mut budget)?;
    match value {
        Value::Module(name, items) => {
            let id = Cursor::new(bytes, offset).number()?;
            let mut value = match name {
                Some(name) => interpret(name, module::encoding_version(id), items, &mut budget)?,
                None => Value::Module(None, items),
            };
            let elements = value.elements();
            value.truncate(extent.elements);
            Ok(Decoded { omitted: elements - value.elements(), value })
        }
        value => Ok(Decoded { omitted: budget.elements() - value.elements(), value }),
    }
}

/// Returns the value that a module would make of its parts, or the parts if it is not known.
fn interpret(name: ModuleName, version: u64, mut items: Vec<Item>, budget: &mut DecodeBudget) -> Result<Value> {
    Ok(match (name.as_str(), version, items.as_mut_slice()) {
        (module::JSON, module::JSON_CBOR, [Item::Text(bytes)]) => {
            let text = json_text(bytes, budget)?;
            match text.and_then(|text| JsonDocument::new(text.into_bytes()).ok()) {
                Some(document) => Value::Json(document),
                None => Value::Module(Some(name), items),
            }
        }
        (module::JSON, module::JSON_TEXT, [Item::Text(text)]) => match JsonDocument::new(std::mem::take(text)) {
            Ok(document) => Value::Json(document),
            Err(text) => Value::Module(Some(name), vec![Item::Text(text)]),
        },
        (module::TIME_SERIES, 8 | 9, parts) => match Series::new(parts) {
            Some(series) => Value::Series(Box::new(series)),
            None => Value::Module(Some(name), items),
        },
        (module::VECTOR_SET, 0, parts) => match VectorSet::new(parts) {
            Some(set) => Value::Vectors(set),
            None => Value::Module(Some(name), items),
        },
        _ => Value::Module(Some(name), items),
    })
}

/// Checks a value whose parts expand to at most `most` bytes each.
fn verify(value_type: ValueType, templates: &Templates, bytes: &[u8], offset: u64, most: u64) -> Result<()> {
    let mut verify = Verify::lenient().with_parts_up_to(most);
    let mut input = Cursor::new(bytes, offset);
    walk(value_type, templates, &mut input, &mut verify)?;
    let found = verify.finish();
    // Check this first: parts that were not decompressed make counts look wrong.
    verify.take_over_budget().map_or(Ok(()), Err)?;
    found?;
    match input.left() {
        0 => Ok(()),
        left => {
            Err(Error::corrupt(input.offset(), wording!("{left} bytes after the value", "value 之后还有 {left} 字节")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::header::Family;
    use crate::show::value::HashField;
    use crate::units::Millis;

    /// Bytes of a string of less than 64.
    fn string(text: &[u8]) -> Vec<u8> {
        [&[u8::try_from(text.len()).unwrap()], text].concat()
    }

    /// Bytes of a string of any length.
    fn blob(text: &[u8]) -> Vec<u8> {
        [&[0x80][..], &u32::try_from(text.len()).unwrap().to_be_bytes(), text].concat()
    }

    fn field(field: &[u8], value: &[u8]) -> HashField {
        HashField { field: field.to_vec(), value: value.to_vec(), expires_at: None }
    }

    /// A ziplist of short texts.
    fn ziplist(entries: &[&[u8]]) -> Vec<u8> {
        let (mut body, mut previous) = (Vec::new(), 0);
        for entry in entries {
            let size = u8::try_from(entry.len()).unwrap();
            body.extend([previous, size]);
            body.extend_from_slice(entry);
            previous = size + 2;
        }
        let total = u32::try_from(body.len() + 11).unwrap();
        let tail = total - 1 - u32::from(previous);
        let count = u16::try_from(entries.len()).unwrap_or(u16::MAX);
        [&total.to_le_bytes()[..], &tail.to_le_bytes(), &count.to_le_bytes(), &body, &[0xFF]].concat()
    }

    fn decoded(value_type: ValueType, bytes: &[u8]) -> Value {
        decode_value(value_type, Templates::NONE, bytes, 0).unwrap()
    }

    #[test]
    fn plain_values_are_decoded() {
        let pair = [string(b"f"), string(b"v")].concat();
        let two = [&[2][..], &string(b"a"), &[0xC0, 7]].concat();
        let zset = [&[1][..], &string(b"m"), &1.5f64.to_le_bytes()].concat();
        for (value_type, bytes, value) in [
            (ValueType::String, string(b"x"), Value::Text(b"x".to_vec())),
            (ValueType::List, two.clone(), Value::List(vec![b"a".to_vec(), b"7".to_vec()])),
            (ValueType::Set, two, Value::Set(vec![b"a".to_vec(), b"7".to_vec()])),
            (ValueType::Hash, [&[1][..], &pair].concat(), Value::Hash(vec![field(b"f", b"v")])),
            (ValueType::HashZiplist, string(&ziplist(&[b"f", b"v"])), Value::Hash(vec![field(b"f", b"v")])),
            (ValueType::Zset2, zset, Value::Zset(vec![(b"m".to_vec(), 1.5)])),
            (
                ValueType::Zset,
                [&[1][..], &string(b"m"), &[254]].concat(),
                Value::Zset(vec![(b"m".to_vec(), f64::INFINITY)]),
            ),
        ] {
            assert_eq!(decoded(value_type, &bytes), value, "{value_type:?}");
        }
    }

    #[test]
    fn a_zipmap_with_long_values_and_free_bytes_is_read_whole() {
        let long = [b'x'; 253];
        let map = [&[2, 1][..], b"a", &[1, 2], b"b??", &[1], b"c", &[253, 0], &long, &[0xFF]].concat();
        let fields = vec![field(b"a", b"b"), field(b"c", &long)];
        assert_eq!(decoded(ValueType::HashZipmap, &blob(&map)), Value::Hash(fields));
    }

    #[test]
    fn a_ziplist_that_cannot_tell_its_count_is_read_whole() {
        let entries = vec![&b"x"[..]; 70_000];
        let bytes = blob(&ziplist(&entries));
        assert!(decoded(ValueType::ListZiplist, &bytes) == Value::List(vec![b"x".to_vec(); 70_000]));
        assert!(
            decoded(ValueType::ListQuicklist, &[&[1][..], &bytes].concat()) == Value::List(vec![b"x".to_vec(); 70_000])
        );
    }

    #[test]
    fn a_field_that_is_there_twice_is_shown_twice() {
        let fields = vec![field(b"f", b"1"), field(b"f", b"2")];
        let table = [&[2][..], &string(b"f"), &[0xC0, 1], &string(b"f"), &[0xC0, 2]].concat();
        assert_eq!(decoded(ValueType::Hash, &table), Value::Hash(fields.clone()));
        let packed = string(&ziplist(&[b"f", b"1", b"f", b"2"]));
        assert_eq!(decoded(ValueType::HashZiplist, &packed), Value::Hash(fields));
    }

    #[test]
    fn field_expiries_are_kept() {
        let expiring = |value_type: ValueType, bytes: &[u8]| match decoded(value_type, bytes) {
            Value::Hash(fields) => fields.iter().map(|field| field.expires_at.map(|at| at.0)).collect::<Vec<_>>(),
            other => panic!("{other:?}"),
        };
        let pair = |time: &[u8]| [time, &string(b"f"), &string(b"v")].concat();
        let table = [&1000i64.to_le_bytes()[..], &[2], &pair(&[0]), &pair(&[6])].concat();
        assert_eq!(expiring(ValueType::HashMetadata, &table), [None, Some(1005)]);
        let valkey = [&[1][..], &string(b"f"), &string(b"v"), &77i64.to_le_bytes()].concat();
        assert_eq!(expiring(ValueType::Hash2, &valkey), [Some(77)]);
        let listpack = b"\x14\0\0\0\x06\0\x01\x01\x02\x01\x00\x01\x03\x01\x04\x01\x05\x01\xff";
        let listpack = [&[u8::try_from(listpack.len()).unwrap()], &listpack[1..]].concat();
        assert_eq!(expiring(ValueType::HashListpackExPreGa, &string(&listpack)), [None, Some(5)]);
        assert_eq!(
            decoded(ValueType::HashMetadata, &table),
            Value::Hash(vec![field(b"f", b"v"), HashField { expires_at: Some(Millis(1005)), ..field(b"f", b"v") },])
        );
    }

    #[test]
    fn damage_is_an_error() {
        for (value_type, bytes) in [
            (ValueType::String, &b"\x05abc"[..]),
            (ValueType::String, b"\x01ab"),
            (ValueType::List, b"\x80\xff\xff\xff\xff\x01a"),
            (ValueType::String, b"\xc3\x04\x41\x00\x20\x05\x00\x00"),
            (ValueType::HashListpack, b"\x0d\x0d\0\0\0\x02\0\x81\x66\x03\x81\x76\x02\xff"),
            (ValueType::Stream(3), b"\x00\x02\x01\x01\0\0\0\0\0\0"),
        ] {
            assert!(decode_value(value_type, Templates::NONE, bytes, 0).is_err(), "{value_type:?} {bytes:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_of_any_type_end_in_a_result(byte in 0u8..65, bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80)) {
            for family in [Family::Redis, Family::Valkey] {
                if let Some(value_type) = ValueType::from_byte(family, byte) {
                    let _ = decode_value(value_type, Templates::NONE, &bytes, 0);
                }
            }
        }
    }
}
