//! Payload of a value: the bytes of its content as clients see them, without any overhead of the server.
//!
//! Strings, elements, fields and values count their length; integers that are stored packed count as their decimal text. A
//! score counts [`SCORE_BYTES`], the id of a stream entry [`ENTRY_ID_BYTES`]; a stream entry counts its field names even
//! where the stream stores them once. Consumer groups, field expiries and indexes of arrays are not content. Nothing is known
//! of modules.
//!
//! The length of an element is its part of that, without the score or id: a hash has one for each field and its value
//! together, a stream for each entry.
//!
//! [`RawValue::payload`] decodes one blob at a time and keeps none.

mod blobs;

use blobs::{packed, stream_node};

use super::cursor::Cursor;
use super::packed::{Layout, PackedElement, Packing};
use super::peek::RawValue;
use super::string::RawString;
use super::template::TemplateNames;
use super::value_type::ValueType;
use super::walk::{FieldExpiry, ListNode, ModuleItem, ScoreValue, Visit, walk_seldom};
use crate::error::Result;
use crate::rdb::kind::Kind;
use crate::rdb::scratch::Scratch;

/// Bytes that a score counts: a double.
pub const SCORE_BYTES: u64 = 8;
/// Bytes that the id of a stream entry counts: two 64-bit numbers.
pub const ENTRY_ID_BYTES: u64 = 16;
/// Maximum number of bytes by which the payload of a packed element exceeds its stored size: eight bytes of an intset hold 20
/// digits.
pub const PACKED_GAIN: u64 = 12;
/// Maximum number of bytes of a list's packed element that are no payload: eight bytes of an integer hold one digit, behind one
/// byte for its type and before one for its size, or behind five for the size of the element before it.
const PACKED_LOSS: [u64; 2] = [10, 13];
/// Size of an empty packed node of a list.
const EMPTY_NODE: u64 = 11;
/// Maximum number of bytes in the file of a value whose blobs are added up. No name is that long.
const MAX_SUMMED: u64 = 4 << 10;
/// Maximum ratio of an element's payload to its size in a listpack: two bytes may hold three digits, ten hold 20.
const LISTPACK_RATIO: u64 = 2;

/// Payload of a value, and the length of its longest element.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Payload {
    /// Bytes of all content.
    pub bytes: u64,
    /// Bytes of the longest element; of a string, all of it. 0 if it is not known, as `bytes` is a lower bound.
    pub longest: u64,
}

impl Payload {
    /// Creates a lower bound.
    pub(crate) fn at_least(bytes: u64) -> Self {
        Payload { bytes, longest: 0 }
    }

    /// Returns whether it is a lower bound, of a list: elements of a list with a payload have bytes.
    pub(crate) fn is_bound(self) -> bool {
        self.longest == 0 && self.bytes > 0
    }

    /// Adds an element and the score or id that it has.
    #[inline(always)]
    pub fn add(&mut self, element: u64, beside: u64) {
        self.add_many(element, beside, 1);
    }

    /// Adds `count` elements of this length.
    #[inline(always)]
    pub fn add_many(&mut self, element: u64, beside: u64, count: u64) {
        self.bytes = self.bytes.saturating_add(element.saturating_add(beside).saturating_mul(count));
        // Rarely true: a branch takes fewer instructions than storing the greater of both.
        if element > self.longest {
            self.longest = element;
        }
    }

    fn merge(&mut self, other: Payload) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.longest = self.longest.max(other.longest);
    }

    /// Returns the mean length of `count` elements of a value of this type, rounded; `None` without elements.
    pub fn mean(&self, kind: Kind, count: u64) -> Option<u64> {
        let beside = match kind {
            Kind::Zset => SCORE_BYTES,
            Kind::Stream => ENTRY_ID_BYTES,
            Kind::String | Kind::List | Kind::Set | Kind::Hash | Kind::Module | Kind::Array => 0,
        };
        let elements = self.bytes.saturating_sub(beside.saturating_mul(count));
        elements.saturating_add(count / 2).checked_div(count)
    }
}

impl RawValue<'_> {
    /// Returns the payload; `None` for modules and damaged values.
    pub fn payload(&self) -> Option<Payload> {
        if self.value_type.kind() == Kind::Module {
            return None;
        }
        let (payload, scratch) = (Payload::default(), Scratch::default());
        let mut sum = PayloadSum { value_type: self.value_type, payload, damaged: false, scratch };
        walk_seldom(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut sum).ok()?;
        (!sum.damaged).then_some(sum.payload)
    }

    /// Returns an upper bound of the payload of a value stored in blobs, given its number of elements. Decodes nothing.
    pub fn payload_at_most(&self, elements: u64) -> u64 {
        let mut blobs = BlobSizes::default();
        if !self.is_packed()
            || walk_seldom(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut blobs).is_err()
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

    /// Returns the sum of the sizes of a value's blobs, before compression, or the bytes in the file of values that are larger or not
    /// in blobs. Decodes nothing.
    pub fn blob_bytes(&self) -> u64 {
        let (stored, mut blobs) = (self.bytes.len() as u64, BlobSizes::default());
        let are_known = stored <= MAX_SUMMED
            && self.is_packed()
            && walk_seldom(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut blobs).is_ok();
        if are_known { blobs.sum } else { stored }
    }

    /// Returns a lower bound of the payload of a list, given its number of elements; 0 for other types. Decodes nothing.
    pub fn payload_at_least(&self, elements: u64) -> u64 {
        let loss = match self.value_type {
            ValueType::ListQuicklist2 => PACKED_LOSS[0],
            ValueType::ListQuicklist => PACKED_LOSS[1],
            _ => return 0,
        };
        let mut blobs = BlobSizes::default();
        if walk_seldom(self.value_type, self.templates, &mut Cursor::new(self.bytes, 0), &mut blobs).is_err() {
            return 0;
        }
        let lost = blobs.number.saturating_mul(EMPTY_NODE).saturating_add(elements.saturating_mul(loss));
        blobs.sum.saturating_sub(lost)
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
    number: u64,
    sum: u64,
    longest: u64,
}

impl BlobSizes {
    fn add(&mut self, blob: RawString<'_>) {
        self.number += 1;
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
    payload: Payload,
    damaged: bool,
    /// Decompressed blob.
    scratch: Scratch,
}

impl PayloadSum {
    fn add(&mut self, element: u64) {
        self.payload.add(element, 0);
    }

    /// Adds the payload of a blob, which `measure` computes.
    fn add_blob(&mut self, blob: RawString<'_>, measure: impl FnOnce(&[u8]) -> Result<Payload>) {
        match blob.decode(&mut self.scratch).and_then(measure) {
            Ok(payload) => self.payload.merge(payload),
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
        self.payload.add(member, SCORE_BYTES);
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
            let mut sum = Payload::default();
            template.pairs(&mut values, 0, |field, value| {
                sum.add((field.len() as u64).saturating_add(value.len()), 0);
            })?;
            Ok(sum)
        });
    }

    fn blob(&mut self, blob: RawString<'_>) {
        let (packing, layout) = (Packing::of(self.value_type), Layout::of(self.value_type));
        self.add_blob(blob, |bytes| packed(bytes, packing, layout));
    }

    fn node(&mut self, node: ListNode, blob: RawString<'_>) {
        match node {
            ListNode::Plain => self.add(blob.len()),
            ListNode::Ziplist => self.add_blob(blob, |bytes| packed(bytes, Packing::Ziplist, Layout::List)),
            ListNode::Listpack => self.add_blob(blob, |bytes| packed(bytes, Packing::Listpack, Layout::List)),
        }
    }

    fn stream_node(&mut self, _master: &[u8; 16], blob: RawString<'_>) {
        self.add_blob(blob, stream_node);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::template::Templates;

    fn payload(value_type: ValueType, bytes: &[u8]) -> Option<u64> {
        sizes(value_type, bytes).map(|payload| payload.bytes)
    }

    fn sizes(value_type: ValueType, bytes: &[u8]) -> Option<Payload> {
        RawValue { value_type, bytes, templates: Templates::NONE }.payload()
    }

    /// Returns the length of the longest of `count` elements, and their mean length.
    fn lengths(value_type: ValueType, bytes: &[u8], count: u64) -> (u64, u64) {
        let payload = sizes(value_type, bytes).unwrap();
        (payload.longest, payload.mean(value_type.kind(), count).unwrap())
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

    proptest::proptest! {
        #[test]
        fn payload_of_a_list_is_within_its_bounds(texts in proptest::collection::vec("[0-9-]{0,20}|[a-z]{0,63}", 1..20)) {
            let entry = |text: &String| match text.parse::<i8>() {
                // Longer than a server writes it, as a lower bound has to expect.
                Ok(number) => [&[0xf4], &i64::from(number).to_le_bytes()[..], &[9]].concat(),
                Err(_) => [&[0x80 | text.len() as u8], text.as_bytes(), &[text.len() as u8 + 1]].concat(),
            };
            let node: Vec<u8> = texts.iter().take(2).flat_map(entry).collect();
            let (elements, len) = (texts.len().min(2), node.len() as u8 + 7);
            let node = [&[0x40, len, len, 0, 0, 0, elements as u8, 0], &node[..], b"\xff"].concat();
            let plain = [&[1, texts[0].len() as u8], texts[0].as_bytes()].concat();
            let value = [&[2, 2], &node[..], &plain].concat();
            let raw = RawValue { value_type: ValueType::ListQuicklist2, bytes: &value, templates: Templates::NONE };
            let (payload, elements) = (raw.payload().unwrap().bytes, elements as u64 + 1);
            proptest::prop_assert!((raw.payload_at_least(elements)..=raw.payload_at_most(elements)).contains(&payload));
            proptest::prop_assert_eq!(RawValue { value_type: ValueType::Set, ..raw }.payload_at_least(elements), 0);
        }
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
        assert_eq!(lengths(ValueType::Stream(1), &stream, 2), (6, 4));
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
    fn an_element_is_a_member_without_its_score_and_a_field_with_its_value() {
        let texts: [&[u8]; 4] = [b"\x81a\x02", b"\x82bc\x03", b"\x7f\x01", b"\xdf\xff\x02"]; // a, bc, 127, -1
        assert_eq!(lengths(ValueType::SetListpack, &listpack(&texts), 4), (3, 2));
        assert_eq!(lengths(ValueType::HashListpack, &listpack(&texts), 2), (5, 4));
        assert_eq!(lengths(ValueType::ZsetListpack, &listpack(&texts), 2), (3, 2));
        assert_eq!(lengths(ValueType::HashListpackExPreGa, &listpack(&texts[..3]), 1), (3, 3));
        let nodes = [&b"\x02\x01\x05plain\x02"[..], &listpack(&texts)].concat();
        assert_eq!(lengths(ValueType::ListQuicklist2, &nodes, 5), (5, 3));
        assert_eq!(lengths(ValueType::Set, b"\x03\x01a\xc0\x07\xc0\xff", 3), (2, 1));
        assert_eq!(lengths(ValueType::Zset2, &[&b"\x01\x02ab"[..], &[0; 8]].concat(), 1), (2, 2));
        assert_eq!(lengths(ValueType::HashZipmap, b"\x08\x01\x01a\x02\0bc\xff", 1), (3, 3));
        assert_eq!(lengths(ValueType::SetIntset, b"\x0c\x02\0\0\0\x02\0\0\0\xff\xff\x2c\x01", 2), (3, 3));
        // Nothing has no mean, and a count that is not true does no harm.
        assert_eq!(Payload::default().mean(Kind::Set, 0), None);
        assert_eq!(Payload { bytes: 9, longest: 1 }.mean(Kind::Zset, u64::MAX), Some(0));
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
