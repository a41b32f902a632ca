//! Payload of a value: the bytes of its content as clients see them, without any overhead of the server.
//!
//! Strings, elements, fields and values count their length; integers that are stored packed count as their decimal text. A
//! score counts [`SCORE_BYTES`], the id of a stream entry [`ENTRY_ID_BYTES`]; a stream entry counts its field names even
//! where the stream stores them once. Consumer groups, field expiries and indexes of arrays are not content. Nothing is known
//! of modules.
//!
//! [`RawValue::payload`] decodes one blob at a time and keeps none.

use super::cursor::Cursor;
use super::packed::{PackedElement, intset, listpack, ziplist, zipmap};
use super::peek::RawValue;
use super::string::RawString;
use super::template::TemplateNames;
use super::value_type::ValueType;
use super::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, Visit, walk};
use crate::error::{Error, Result};
use crate::rdb::kind::Kind;
use crate::rdb::scratch::Scratch;
use crate::wording::wording;

/// Bytes that a score counts: a double.
pub const SCORE_BYTES: u64 = 8;
/// Bytes that the id of a stream entry counts: two 64-bit numbers.
pub const ENTRY_ID_BYTES: u64 = 16;
/// Maximum number of bytes by which the payload of a packed element exceeds its stored size: eight bytes of an intset hold 20
/// digits.
pub const PACKED_GAIN: u64 = 12;
/// Maximum ratio of an element's payload to its size in a listpack: two bytes may hold three digits, ten hold 20.
const LISTPACK_RATIO: u64 = 2;

/// The entry is deleted and only its place is left.
const DELETED: i64 = 1;
/// The entry has the fields of the master entry.
const SAME_FIELDS: i64 = 2;

impl RawValue<'_> {
    /// Returns the payload in bytes; `None` for modules and damaged values.
    pub fn payload(&self) -> Option<u64> {
        if self.value_type.kind() == Kind::Module {
            return None;
        }
        let mut sum = PayloadSum { value_type: self.value_type, bytes: 0, damaged: false, scratch: Scratch::default() };
        walk(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut sum).ok()?;
        (!sum.damaged).then_some(sum.bytes)
    }

    /// Returns an upper bound of the payload of a value stored in blobs, given its number of elements. Decodes nothing.
    pub fn payload_at_most(&self, elements: u64) -> u64 {
        let mut blobs = BlobSizes::default();
        if !self.is_packed()
            || walk(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut blobs).is_err()
        {
            return u64::MAX;
        }
        match self.value_type.kind() {
            Kind::Hash | Kind::Zset => blobs.sum.saturating_add(elements.saturating_mul(2 * PACKED_GAIN)),
            // Each entry counts the field names of its node.
            Kind::Stream => elements
                .saturating_mul(blobs.longest.saturating_mul(LISTPACK_RATIO) + ENTRY_ID_BYTES)
                .saturating_add(blobs.sum.saturating_mul(LISTPACK_RATIO)),
            Kind::String | Kind::List | Kind::Set | Kind::Module | Kind::Array => {
                blobs.sum.saturating_add(elements.saturating_mul(PACKED_GAIN))
            }
        }
    }

    /// Returns whether all content is in blobs.
    fn is_packed(&self) -> bool {
        match self.value_type {
            ValueType::HashZipmap
            | ValueType::ListZiplist
            | ValueType::SetIntset
            | ValueType::ZsetZiplist
            | ValueType::HashZiplist
            | ValueType::ListQuicklist
            | ValueType::ListQuicklist2
            | ValueType::HashListpack
            | ValueType::ZsetListpack
            | ValueType::SetListpack
            | ValueType::HashListpackExPreGa
            | ValueType::HashListpackEx
            | ValueType::HashTemplateListpack
            | ValueType::HashTemplateListpackRef
            | ValueType::Stream(_) => true,
            ValueType::String
            | ValueType::List
            | ValueType::Set
            | ValueType::Zset
            | ValueType::Zset2
            | ValueType::Hash
            | ValueType::Hash2
            | ValueType::HashMetadata
            | ValueType::HashMetadataPreGa
            | ValueType::Array
            // The meter has counted the payload of those that are not packed.
            | ValueType::HashTemplateArray
            | ValueType::HashTemplateArrayRef
            | ValueType::ModulePreGa
            | ValueType::Module2
            | ValueType::KeydbCron
            | ValueType::DragonflyHash
            | ValueType::DragonflySet
            | ValueType::DragonflyModule(_) => false,
        }
    }
}

/// Visitor that adds up the sizes of blobs.
#[derive(Debug, Default)]
struct BlobSizes {
    sum: u64,
    longest: u64,
}

impl BlobSizes {
    fn add(&mut self, blob: RawString<'_>) {
        self.sum = self.sum.saturating_add(blob.len());
        self.longest = self.longest.max(blob.len());
    }
}

impl Visit for BlobSizes {
    fn blob(&mut self, blob: RawString<'_>) {
        self.add(blob);
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        self.add(blob);
        self.sum = self.sum.saturating_add(names.bytes(blob).unwrap_or(u64::MAX));
    }

    fn node(&mut self, _node: ListNode, blob: RawString<'_>) {
        self.add(blob);
    }

    fn stream_node(&mut self, _master: &[u8; 16], blob: RawString<'_>) {
        self.add(blob);
    }
}

/// Visitor that adds up the payload.
#[derive(Debug)]
struct PayloadSum {
    value_type: ValueType,
    bytes: u64,
    damaged: bool,
    /// Decompressed blob.
    scratch: Scratch,
}

impl PayloadSum {
    fn add(&mut self, bytes: u64) {
        self.bytes = self.bytes.saturating_add(bytes);
    }

    /// Adds the payload of a blob, which `measure` computes.
    fn add_blob(&mut self, blob: RawString<'_>, measure: impl FnOnce(&[u8]) -> Result<u64>) {
        match blob.decode(&mut self.scratch).and_then(measure) {
            Ok(bytes) => self.add(bytes),
            Err(_) => self.damaged = true,
        }
    }
}

impl Visit for PayloadSum {
    fn lengths_suffice(&self) -> bool {
        true
    }

    fn string(&mut self, value: RawString<'_>) {
        self.add(value.len());
    }

    fn element_len(&mut self, len: u64) {
        self.add(len);
    }

    fn pair_len(&mut self, field: u64, value: u64) {
        self.add(field.saturating_add(value));
    }

    fn scored_len(&mut self, member: u64) {
        self.add(member.saturating_add(SCORE_BYTES));
    }

    fn element(&mut self, element: RawString<'_>) {
        self.add(element.len());
    }

    fn pair(&mut self, field: RawString<'_>, value: RawString<'_>) {
        self.pair_len(field.len(), value.len());
    }

    fn scored(&mut self, member: RawString<'_>, _score: ScoreValue<'_>) {
        self.scored_len(member.len());
    }

    fn expiring_pair(&mut self, field: RawString<'_>, value: RawString<'_>, _expiry: FieldExpiry) {
        self.pair_len(field.len(), value.len());
    }

    fn template_blob(&mut self, names: TemplateNames<'_>, blob: RawString<'_>) {
        self.add_blob(blob, |bytes| {
            let (template, mut values) = names.unpack(bytes, 0)?;
            let mut sum = 0u64;
            template.pairs(&mut values, 0, |field, value| {
                sum = sum.saturating_add(field.len() as u64).saturating_add(value.len());
            })?;
            Ok(sum)
        });
    }

    fn blob(&mut self, blob: RawString<'_>) {
        match self.value_type {
            ValueType::SetIntset => self.add_blob(blob, |bytes| {
                Ok(intset::numbers(bytes, 0)?.map(|number| PackedElement::Int(number).len()).sum())
            }),
            ValueType::HashZipmap => self.add_blob(blob, |bytes| {
                zipmap::Pairs::new(bytes, 0)?
                    .map(|pair| pair.map(|(field, value)| (field.len() + value.len()) as u64))
                    .sum()
            }),
            ValueType::ListZiplist | ValueType::HashZiplist => {
                self.add_blob(blob, |bytes| lengths(ziplist::Entries::new(bytes, 0)?));
            }
            ValueType::ZsetZiplist => self.add_blob(blob, |bytes| scored(ziplist::Entries::new(bytes, 0)?)),
            ValueType::ZsetListpack => self.add_blob(blob, |bytes| scored(listpack::Elements::new(bytes, 0)?)),
            ValueType::HashListpackEx | ValueType::HashListpackExPreGa => {
                self.add_blob(blob, |bytes| without_expiries(listpack::Elements::new(bytes, 0)?));
            }
            // Hashes and sets; no other layout is a single blob.
            _ => self.add_blob(blob, listpack_lengths),
        }
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        match node {
            ListNode::Plain => self.add(blob.len()),
            ListNode::Ziplist => self.add_blob(blob, |bytes| lengths(ziplist::Entries::new(bytes, 0)?)),
            ListNode::Listpack => self.add_blob(blob, listpack_lengths),
        }
    }

    fn stream_node(&mut self, _master: &[u8; 16], blob: RawString<'_>) {
        self.add_blob(blob, |bytes| StreamNode(listpack::Elements::uncounted(bytes, 0)?).payload());
    }

    fn array_item(&mut self, _index: u64, item: ModuleItem<'_>) {
        self.add(array_item(item));
    }
}

/// Returns the payload of an array item: the length of a string or of an integer's text, or 8 for a double.
pub fn array_item(item: ModuleItem<'_>) -> u64 {
    match item {
        ModuleItem::Integer(bits) => PackedElement::Int(bits.cast_signed()).len(),
        ModuleItem::Float(_) | ModuleItem::Double(_) => SCORE_BYTES,
        ModuleItem::String(string) => string.len(),
    }
}

/// Adds up the lengths of all elements of a listpack.
fn listpack_lengths(bytes: &[u8]) -> Result<u64> {
    let mut elements = listpack::Elements::new(bytes, 0)?;
    let mut sum = 0;
    while let Some(len) = elements.next_len()? {
        sum += len;
    }
    Ok(sum)
}

/// Adds up the lengths of all elements.
fn lengths<'a>(elements: impl Iterator<Item = Result<PackedElement<'a>>>) -> Result<u64> {
    elements.map(|element| element.map(|element| element.len())).sum()
}

/// Adds up members, which alternate with scores.
fn scored<'a>(mut elements: impl Iterator<Item = Result<PackedElement<'a>>>) -> Result<u64> {
    let mut sum = 0;
    while let Some(member) = elements.next() {
        sum += member?.len() + SCORE_BYTES;
        elements.next().transpose()?;
    }
    Ok(sum)
}

/// Adds up fields and values, which an expiry follows.
fn without_expiries<'a>(mut elements: impl Iterator<Item = Result<PackedElement<'a>>>) -> Result<u64> {
    let mut sum = 0;
    while let Some(field) = elements.next() {
        sum += field?.len() + elements.next().transpose()?.map_or(0, |value| value.len());
        elements.next().transpose()?;
    }
    Ok(sum)
}

/// Listpack of stream entries (`t_stream.c`).
///
/// ```text
/// live, deleted, n, field[n], 0
/// { flags, ms, seq, [n, (field, value)[n] | value[n] if the fields are the master's], elements of this entry }*
/// ```
struct StreamNode<'a>(listpack::Elements<'a>);

impl StreamNode<'_> {
    fn payload(mut self) -> Result<u64> {
        self.numbers(2)?;
        let shared = self.number()?;
        let names = self.texts(shared)?;
        self.numbers(1)?;
        let mut sum: u64 = 0;
        while let Some(flags) = self.0.next().transpose()? {
            let PackedElement::Int(flags) = flags else { return Err(Self::malformed()) };
            self.numbers(2)?;
            let fields = if flags & SAME_FIELDS != 0 {
                names.saturating_add(self.texts(shared)?)
            } else {
                let pairs = self.number()?;
                self.texts(pairs.saturating_mul(2))?
            };
            self.numbers(1)?;
            if flags & DELETED == 0 {
                sum = sum.saturating_add(fields.saturating_add(ENTRY_ID_BYTES));
            }
        }
        Ok(sum)
    }

    /// Adds up the lengths of the next elements.
    fn texts(&mut self, count: i64) -> Result<u64> {
        (0..count).map(|_| self.0.next_len()?.ok_or_else(Self::malformed)).sum()
    }

    fn numbers(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.number().map(|_| ()))
    }

    fn number(&mut self) -> Result<i64> {
        match self.0.next().transpose()? {
            Some(PackedElement::Int(number)) => Ok(number),
            // Servers load numbers that are stored as text, too.
            Some(PackedElement::Text(text)) => {
                std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).ok_or_else(Self::malformed)
            }
            None => Err(Self::malformed()),
        }
    }

    fn malformed() -> Error {
        Error::corrupt(0, wording!("malformed stream entry", "流条目格式错误"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::template::Templates;

    fn payload(value_type: ValueType, bytes: &[u8]) -> Option<u64> {
        RawValue { value_type, bytes, templates: Templates::NONE }.payload()
    }

    /// Returns a listpack of these encoded elements, as a string of the file.
    fn listpack(elements: &[&[u8]]) -> Vec<u8> {
        let body = elements.concat();
        let len = body.len() + 7;
        [&[len as u8, len as u8, 0, 0, 0, elements.len() as u8, 0], &body[..], b"\xff"].concat()
    }

    #[test]
    fn integers_count_as_their_text() {
        assert_eq!(payload(ValueType::String, b"\xc1\x00\x80"), Some(6)); // -32768
        assert_eq!(payload(ValueType::Set, b"\x03\x01a\xc0\x07\xc0\xff"), Some(1 + 1 + 2));
        // Two integers of two bytes: -1 and 300.
        assert_eq!(payload(ValueType::SetIntset, b"\x0c\x02\0\0\0\x02\0\0\0\xff\xff\x2c\x01"), Some(5));
        let elements: [&[u8]; 3] = [b"\x81a\x02", b"\x7f\x01", b"\xdf\xff\x02"]; // a, 127, -1
        assert_eq!(payload(ValueType::SetListpack, &listpack(&elements)), Some(1 + 3 + 2));
    }

    #[test]
    fn scores_count_eight_bytes_and_expiries_none() {
        let elements: [&[u8]; 2] = [b"\x81a\x02", b"\x07\x01"];
        assert_eq!(payload(ValueType::ZsetListpack, &listpack(&elements)), Some(1 + 8));
        assert_eq!(payload(ValueType::Zset2, &[&b"\x01\x02ab"[..], &[0; 8]].concat()), Some(2 + 8));
        assert_eq!(payload(ValueType::Zset, b"\x01\x02ab\x031.5"), Some(2 + 8));
        let elements: [&[u8]; 3] = [b"\x81a\x02", b"\x82bc\x03", b"\x00\x01"];
        assert_eq!(payload(ValueType::HashListpackExPreGa, &listpack(&elements)), Some(3));
        assert_eq!(payload(ValueType::HashZipmap, b"\x08\x01\x01a\x02\0bc\xff"), Some(3));
    }

    #[test]
    fn lists_count_plain_and_packed_nodes() {
        let elements: [&[u8]; 2] = [b"\x81a\x02", b"\x07\x01"];
        let nodes = [&b"\x02\x01\x05plain\x02"[..], &listpack(&elements)].concat();
        assert_eq!(payload(ValueType::ListQuicklist2, &nodes), Some(5 + 2));
    }

    #[test]
    fn stream_entries_count_ids_fields_and_values() {
        let field: &[u8] = b"\x84name\x05";
        let master: [&[u8]; 5] = [b"\x02\x01", b"\x01\x01", b"\x01\x01", field, b"\x00\x01"];
        let same =
            |flags: &'static [u8]| -> [&[u8]; 5] { [flags, b"\x00\x01", b"\x01\x01", b"\x82ab\x03", b"\x04\x01"] };
        let own: [&[u8]; 7] =
            [b"\x00\x01", b"\x00\x01", b"\x03\x01", b"\x01\x01", b"\x81x\x02", b"\x07\x01", b"\x06\x01"];
        let elements = [&master[..], &same(b"\x02\x01"), &same(b"\x03\x01"), &own].concat();
        let node = [&b"\x01\x10"[..], &[0; 16], &listpack(&elements)].concat();
        // Length, last id, no groups.
        let stream = [&node[..], b"\x02\x05\x03\x00"].concat();
        assert_eq!(payload(ValueType::Stream(1), &stream), Some((16 + 4 + 2) + (16 + 1 + 1)));
        // Cut inside an entry.
        let cut = [&b"\x01\x10"[..], &[0; 16], &listpack(&elements[..8]), b"\x02\x05\x03\x00"].concat();
        assert_eq!(payload(ValueType::Stream(1), &cut), None);
    }

    #[test]
    fn arrays_count_their_items_and_modules_are_unknown() {
        let array = [&b"\x02\x00\x00\x00\x03abc\x05\x01"[..], &(-12i64).to_le_bytes()].concat();
        assert_eq!(payload(ValueType::Array, &array), Some(3 + 3));
        assert_eq!(payload(ValueType::Module2, b"\x81\0\0\0\0\0\0\0\x09\0"), None);
    }

    #[test]
    fn bounds_need_no_decoding() {
        let set = RawValue {
            value_type: ValueType::SetListpack,
            bytes: &listpack(&[b"\x81a\x02"]),
            templates: Templates::NONE,
        };
        assert_eq!(set.payload_at_most(1), 10 + PACKED_GAIN);
        assert_eq!(
            RawValue { value_type: ValueType::Set, bytes: b"\x01\x01a", templates: Templates::NONE }.payload_at_most(1),
            u64::MAX
        );
        assert_eq!(
            RawValue { value_type: ValueType::SetListpack, bytes: b"\x09", templates: Templates::NONE }
                .payload_at_most(1),
            u64::MAX
        );
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80), byte in 0u8..40) {
            if let Some(value_type) = ValueType::from_byte(crate::rdb::header::Family::Redis, byte) {
                payload(value_type, &bytes);
                RawValue { value_type, bytes: &bytes, templates: Templates::NONE }.payload_at_most(9);
            }
        }
    }
}
