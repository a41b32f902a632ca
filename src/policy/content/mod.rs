//! Recognition of what a string holds: text, JSON with objects, bits, or something random. Only the beginning of the string is read.

mod binary;
pub mod bits;
pub mod framed;
pub mod json;
pub mod json_escapes;
pub mod lock;
pub mod random;
pub mod serialized;
pub mod text;

use crate::rdb::cursor::Cursor;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};
use crate::rdb::value_type::ValueType;
use crate::record::Record;

/// Bytes by which the decompressed beginning of a string may exceed the requested length: the longest copy of LZF.
const MAX_COPY_DISTANCE: usize = 264;

/// Returns whether a text is one of these words, in whatever case.
pub fn is_one_of(text: &[u8], words: &[&[u8]]) -> bool {
    words.iter().any(|word| word.eq_ignore_ascii_case(text))
}

/// Returns a segment without the braces of a hash tag at its ends.
pub fn without_braces(segment: &[u8]) -> &[u8] {
    let segment = segment.strip_prefix(b"{").unwrap_or(segment);
    segment.strip_suffix(b"}").unwrap_or(segment)
}

/// Returns whether a word in camel case ends between two letters.
pub fn is_hump(one: u8, other: u8) -> bool {
    one.is_ascii_lowercase() && other.is_ascii_uppercase()
}

/// Returns the words of a segment, divided by marks and by capitals behind small letters.
pub fn words_of(segment: &[u8]) -> impl DoubleEndedIterator<Item = &[u8]> {
    let is_joined = |one: &u8, other: &u8| !is_hump(*one, *other);
    segment.split(|byte| matches!(byte, b'_' | b'-' | b'.')).flat_map(move |piece| piece.chunk_by(is_joined))
}

/// Calls `see` with at least the first `most` bytes of a string, or all if there are fewer, and with true if these are all.
///
/// Returns `None` for other types and for damaged strings.
fn beginning<T>(record: &Record<'_>, most: usize, see: impl FnOnce(&[u8], bool) -> T) -> Option<T> {
    let string = stored(record)?;
    let mut buffer = match string.form {
        StringForm::Lzf { .. } => Scratch::with_capacity(most + MAX_COPY_DISTANCE),
        StringForm::Plain(_) | StringForm::Int(_) => Scratch::default(),
    };
    let text = string.prefix(most, &mut buffer).ok()?;
    let whole = text.len() as u64 == string.len();
    Some(see(text, whole))
}

/// Returns the string as stored; `None` for other types.
fn stored<'a>(record: &Record<'a>) -> Option<RawString<'a>> {
    let raw = record.raw.filter(|raw| raw.value_type == ValueType::String)?;
    Cursor::new(raw.bytes, 0).string().ok()
}
