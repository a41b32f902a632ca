//! Bounded second look at a value that has already been walked: the first bytes of its strings.
//!
//! The walk that measures a value reads only lengths. Code that needs the contents of a string or hash, for selected keys,
//! reads them here. Work is bounded: at most [`MAX_PAIRS`] pairs, [`MAX_TEXT_BYTES`] of each string and
//! [`MAX_VALUE_BYTES`] in all are shown, and packed hashes are expanded only up to [`MAX_EXPANDED_BYTES`]. Damage ends the
//! look without an error, because the walk has already reported it.

use std::borrow::Cow;

use super::cursor::Cursor;
use super::packed::{PackedElement, listpack, ziplist, zipmap};
use super::string::{RawString, StringForm};
use super::value_type::ValueType;
use crate::error::Result;

/// Maximum number of bytes shown of one string.
pub const MAX_TEXT_BYTES: usize = 4 << 10;
/// Maximum number of pairs shown of a hash.
pub const MAX_PAIRS: usize = 64;
/// Maximum number of bytes shown of one value.
pub const MAX_VALUE_BYTES: usize = 64 << 10;
/// Maximum expanded size of a packed hash.
pub const MAX_EXPANDED_BYTES: u64 = 1 << 20;

/// Undecoded value, borrowed from the file.
#[derive(Debug, Clone, Copy)]
pub struct RawValue<'a> {
    /// On-disk layout.
    pub value_type: ValueType,
    /// Bytes of the value, from the end of the key to the end of the record.
    pub bytes: &'a [u8],
}

/// String, or pair of a hash, shown by [`RawValue::peek`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValuePart<'t> {
    /// The value of a string key.
    String(&'t [u8]),
    /// A hash field and its value.
    Pair(&'t [u8], &'t [u8]),
}

/// Reusable buffers for decompressed strings.
#[derive(Debug, Clone, Default)]
pub struct PeekBuffers {
    blob: Vec<u8>,
    field: Vec<u8>,
    value: Vec<u8>,
}

impl<'a> RawValue<'a> {
    /// Returns the whole value of a string key of at most `most` bytes; `None` for longer strings and other types.
    ///
    /// Borrowed if stored as plain bytes, as nearly all strings are.
    pub fn short_string(&self, most: usize) -> Option<Cow<'a, [u8]>> {
        if self.value_type != ValueType::String {
            return None;
        }
        let string = Cursor::new(self.bytes, 0).string().ok()?;
        if string.len() > most as u64 { None } else { string.to_bytes().ok() }
    }

    /// Shows the first bytes of a string or of the pairs of a hash; shows nothing of other types.
    pub fn peek(&self, room: &mut PeekBuffers, mut see: impl FnMut(ValuePart<'_>)) {
        let mut shown = Shown { left: MAX_VALUE_BYTES, pairs: 0, see: &mut see };
        // The walk has already reported any damage.
        let _ = self.show(room, &mut shown);
        if room.blob.capacity() > MAX_TEXT_BYTES * 4 {
            *room = PeekBuffers::default();
        }
    }

    fn show(&self, room: &mut PeekBuffers, shown: &mut Shown<'_>) -> Result<()> {
        let mut input = Cursor::new(self.bytes, 0);
        match self.value_type {
            ValueType::String => {
                let text = input.string()?;
                shown.whole(text.prefix(MAX_TEXT_BYTES, &mut room.value)?);
            }
            ValueType::Hash => {
                for _ in 0..input.count(2)?.min(MAX_PAIRS as u64) {
                    let field = input.string()?;
                    shown.raw_pair(field, input.string()?, room)?;
                }
            }
            ValueType::HashMetadata | ValueType::HashMetadataPreGa => {
                if self.value_type == ValueType::HashMetadata {
                    input.i64_le()?;
                }
                for _ in 0..input.count(3)?.min(MAX_PAIRS as u64) {
                    input.number()?;
                    let field = input.string()?;
                    shown.raw_pair(field, input.string()?, room)?;
                }
            }
            ValueType::Hash2 => {
                for _ in 0..input.count(10)?.min(MAX_PAIRS as u64) {
                    let field = input.string()?;
                    shown.raw_pair(field, input.string()?, room)?;
                    input.i64_le()?;
                }
            }
            ValueType::HashListpackEx | ValueType::HashListpackExPreGa => {
                if self.value_type == ValueType::HashListpackEx {
                    input.i64_le()?;
                }
                let blob = expanded(input.string()?, &mut room.blob)?;
                shown.packed(listpack::Elements::new(blob, 0)?, Stride::FieldValueTime)?;
            }
            ValueType::HashListpack => {
                let blob = expanded(input.string()?, &mut room.blob)?;
                shown.packed(listpack::Elements::new(blob, 0)?, Stride::FieldValue)?;
            }
            ValueType::HashZiplist => {
                let blob = expanded(input.string()?, &mut room.blob)?;
                shown.packed(ziplist::Entries::new(blob, 0)?, Stride::FieldValue)?;
            }
            ValueType::HashZipmap => {
                let blob = expanded(input.string()?, &mut room.blob)?;
                for pair in zipmap::Pairs::new(blob, 0)?.take(MAX_PAIRS) {
                    let (field, value) = pair?;
                    shown.pair(field, value);
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Returns the decoded blob, or an empty slice if it would expand beyond [`MAX_EXPANDED_BYTES`].
fn expanded<'s>(blob: RawString<'s>, room: &'s mut Vec<u8>) -> Result<&'s [u8]> {
    match blob.form {
        StringForm::Lzf { len, .. } if len > MAX_EXPANDED_BYTES => Ok(&[]),
        _ => blob.decode(room),
    }
}

/// Number of consecutive elements that make up one pair of a packed hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stride {
    FieldValue,
    FieldValueTime,
}

/// Passes parts to the callback until a limit is reached.
struct Shown<'s> {
    left: usize,
    pairs: usize,
    see: &'s mut dyn FnMut(ValuePart<'_>),
}

impl Shown<'_> {
    fn whole(&mut self, text: &[u8]) {
        (self.see)(ValuePart::String(beginning(text, MAX_TEXT_BYTES)));
    }

    fn pair(&mut self, field: &[u8], value: &[u8]) {
        if self.pairs >= MAX_PAIRS || self.left == 0 {
            return;
        }
        let field = beginning(field, MAX_TEXT_BYTES.min(self.left));
        self.left -= field.len();
        let value = beginning(value, MAX_TEXT_BYTES.min(self.left));
        self.left -= value.len();
        self.pairs += 1;
        (self.see)(ValuePart::Pair(field, value));
    }

    fn raw_pair(&mut self, field: RawString<'_>, value: RawString<'_>, room: &mut PeekBuffers) -> Result<()> {
        let field = field.prefix(MAX_TEXT_BYTES, &mut room.field)?;
        self.pair(field, value.prefix(MAX_TEXT_BYTES, &mut room.value)?);
        Ok(())
    }

    fn packed<'b>(
        &mut self,
        mut elements: impl Iterator<Item = Result<PackedElement<'b>>>,
        stride: Stride,
    ) -> Result<()> {
        let (mut one, mut other) = (itoa::Buffer::new(), itoa::Buffer::new());
        for _ in 0..MAX_PAIRS {
            let Some(field) = elements.next().transpose()? else { break };
            let Some(value) = elements.next().transpose()? else { break };
            if stride == Stride::FieldValueTime {
                elements.next().transpose()?;
            }
            self.pair(text(&field, &mut one), text(&value, &mut other));
        }
        Ok(())
    }
}

fn text<'t>(element: &PackedElement<'t>, digits: &'t mut itoa::Buffer) -> &'t [u8] {
    match *element {
        PackedElement::Text(text) => text,
        PackedElement::Int(number) => digits.format(number).as_bytes(),
    }
}

/// The first `most` bytes. Where that cuts a text, digits at the cut are left out: part of a number is another number.
fn beginning(text: &[u8], most: usize) -> &[u8] {
    match text.get(..most) {
        Some(cut) if cut.len() < text.len() => {
            let end = cut.iter().rposition(|byte| !byte.is_ascii_digit()).map_or(0, |last| last + 1);
            &cut[..end]
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(value_type: ValueType, bytes: &[u8]) -> Vec<String> {
        let mut parts = Vec::new();
        RawValue { value_type, bytes }.peek(&mut PeekBuffers::default(), |part| {
            parts.push(match part {
                ValuePart::String(text) => text.escape_ascii().to_string(),
                ValuePart::Pair(field, value) => format!("{}={}", field.escape_ascii(), value.escape_ascii()),
            });
        });
        parts
    }

    /// Encodes a plain string with a 32-bit length.
    fn string(text: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0x80];
        bytes.extend((text.len() as u32).to_be_bytes());
        bytes.extend(text);
        bytes
    }

    #[test]
    fn every_string_encoding_is_shown() {
        assert_eq!(parts(ValueType::String, b"\x03abc"), ["abc"]);
        assert_eq!(parts(ValueType::String, b"\xc0\x07"), ["7"]);
        // Two literal bytes, then eight more from one byte back.
        assert_eq!(parts(ValueType::String, b"\xc3\x06\x0b\x01ab\xe0\x00\x00"), ["abbbbbbbbbb"]);
        assert!(parts(ValueType::String, b"\x09abc").is_empty());
    }

    #[test]
    fn every_hash_layout_is_shown() {
        assert_eq!(parts(ValueType::Hash, b"\x02\x01a\x01b\x01c\xc0\x07"), ["a=b", "c=7"]);
        assert_eq!(parts(ValueType::HashMetadata, b"\x09\0\0\0\0\0\0\0\x01\x01\x01a\x01b"), ["a=b"]);
        assert_eq!(parts(ValueType::HashMetadataPreGa, b"\x01\x01\x01a\x01b"), ["a=b"]);
        assert_eq!(parts(ValueType::Hash2, b"\x01\x01a\x01b\xff\xff\xff\xff\xff\xff\xff\xff"), ["a=b"]);
        let listpack = b"\x0c\0\0\0\x02\0\x81a\x02\x07\x01\xff";
        assert_eq!(parts(ValueType::HashListpack, &string(listpack)), ["a=7"]);
        let expiring = b"\x0e\0\0\0\x03\0\x81a\x02\x07\x01\x00\x01\xff";
        assert_eq!(parts(ValueType::HashListpackExPreGa, &string(expiring)), ["a=7"]);
        assert_eq!(parts(ValueType::HashListpackEx, &[&[0; 8], &string(expiring)[..]].concat()), ["a=7"]);
        assert_eq!(parts(ValueType::HashZipmap, &string(b"\x01\x01a\x01\0b\xff")), ["a=b"]);
        assert!(parts(ValueType::Set, b"\x01\x01a").is_empty());
    }

    #[test]
    fn large_values_are_shown_up_to_the_limits() {
        let long = parts(ValueType::String, &string(&b"x".repeat(1 << 20)));
        assert_eq!(long[0].len(), MAX_TEXT_BYTES);
        let mut hash = vec![0x80, 0, 0, 1, 0];
        (0..256).for_each(|_| hash.extend([string(b"field"), string(&b"v".repeat(3000))].concat()));
        let shown = parts(ValueType::Hash, &hash);
        assert!(
            shown.len() <= MAX_PAIRS && shown.iter().map(String::len).sum::<usize>() <= MAX_VALUE_BYTES + MAX_PAIRS,
            "{}",
            shown.len()
        );
        assert_eq!(
            parts(ValueType::Hash, &[b"\x40\xff".to_vec(), b"\x01a\x01b".repeat(255)].concat()).len(),
            MAX_PAIRS
        );
    }

    #[test]
    fn truncated_number_is_not_shown() {
        let text = [b"x ".to_vec(), b"1".repeat(MAX_TEXT_BYTES)].concat();
        assert_eq!(parts(ValueType::String, &string(&text)), ["x "]);
    }

    proptest::proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..80), byte in 0u8..40) {
            if let Some(value_type) = ValueType::from_byte(crate::rdb::header::Family::Redis, byte) {
                parts(value_type, &bytes);
            }
        }
    }
}
