//! Prices strings: integers, embedded and separate strings. Only possible integers are decoded.

use std::num::NonZeroU64;

use super::{PricedValue, TextFacts};
use crate::error::Result;
use crate::memory::Encoding;
use crate::memory::Model;
use crate::memory::item::{LONGEST_INT, PackedItem};
use crate::memory::layout::{Count, ShortStrings};
use crate::memory::price::{FrameSize, Key};
use crate::memory::slack::gap;
use crate::rdb::string::{RawString, StringForm};

/// Integers below this may be shared objects (`OBJ_SHARED_INTEGERS`).
const SHARED_NUMBERS: i64 = 10_000;

/// Prices a string.
#[inline]
pub fn measure(model: &Model, key: Key, string: RawString<'_>, scratch: &mut Vec<u8>) -> Result<PricedValue> {
    let len = string.len();
    let Some(number) = number(string, len, scratch)? else { return Ok(text(model, key, len)) };
    let FrameSize { outside, object, slack } = model.frame(key);
    let shared = if model.shares_numbers() && (0..SHARED_NUMBERS).contains(&number) { gap(0, object) } else { 0 };
    Ok(PricedValue::new(Encoding::Int, len, outside + object, slack + shared))
}

/// Examines the start of a string; usually the first byte decides.
#[inline]
pub fn look(string: RawString<'_>, scratch: &mut Vec<u8>) -> TextFacts {
    match string.form {
        StringForm::Int(_) => TextFacts::default(),
        StringForm::Plain(text) => look_at(text),
        StringForm::Lzf { block, .. } => TextFacts {
            // An LZF block starts with a literal run, because there is nothing before it to refer to.
            json_object: block.get(1) == Some(&b'{') && string.prefix(LONGEST_START, scratch).is_ok_and(is_json_object),
            compressed: NonZeroU64::new(block.len() as u64).filter(|_| !is_hyperloglog(block)),
        },
    }
}

/// Like [`look`], for a plain string.
#[inline]
pub fn look_at(text: &[u8]) -> TextFacts {
    let json_object = text.first() == Some(&b'{') && is_json_object(text);
    TextFacts { json_object, compressed: None }
}

/// Returns whether a compressed string starts with the magic of a HyperLogLog (`hyperloglog.c`).
///
/// The magic contains no repetition, so it is part of the first literal run.
fn is_hyperloglog(block: &[u8]) -> bool {
    block.get(1..5) == Some(b"HYLL") && block.first().is_some_and(|control| (3..32).contains(control))
}

/// Number of bytes after a brace in which the first quoted name must start.
const LONGEST_START: usize = 32;

/// Returns whether the text starts with a brace followed, after white space, by a quote.
fn is_json_object(text: &[u8]) -> bool {
    let Some((b'{', rest)) = text.split_first() else { return false };
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    rest.iter().take(LONGEST_START).find(|byte| !blank(byte)) == Some(&b'"')
}

#[inline]
fn number(string: RawString<'_>, len: u64, scratch: &mut Vec<u8>) -> Result<Option<i64>> {
    match string.form {
        StringForm::Int(number) => Ok(Some(i64::from(number))),
        _ if len > LONGEST_INT => Ok(None),
        StringForm::Plain(_) | StringForm::Lzf { .. } => match PackedItem::of(string, scratch)? {
            PackedItem::Int(number) => Ok(Some(number)),
            PackedItem::Text(_) => Ok(None),
        },
    }
}

/// Prices a string with an allocation of its own: all that are longer than [`Model::longest_special`].
#[inline(always)]
pub fn raw(model: &Model, key: Key, len: u64) -> PricedValue {
    let FrameSize { outside, object, slack } = model.frame(key);
    let (text, more) = model.sds_with_slack(len);
    PricedValue::new(Encoding::Raw, len, outside + object + text, slack + more)
}

/// Prices a string that is not an integer.
#[inline]
fn text(model: &Model, key: Key, len: u64) -> PricedValue {
    match &model.layout.short {
        ShortStrings::Raw => raw(model, key, len),
        ShortStrings::Behind { longest, .. } if len > *longest => raw(model, key, len),
        ShortStrings::Behind { count, .. } => {
            let FrameSize { outside, object, slack } = model.frame(key);
            let given = model.usable(object + 3 + len + 1);
            let behind = match count {
                // The servers assume a header of two bytes here and omit the terminator.
                Count::Requested => object + 2 + len,
                Count::Usable => given,
            };
            PricedValue::new(Encoding::Embstr, len, outside + behind, slack + gap(given, behind))
        }
        ShortStrings::Joint(embedding) => match model.embedded(embedding, key, len) {
            Some(memory) => PricedValue::new(Encoding::Embstr, len, memory, 0),
            None => raw(model, key, len),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(text: &[u8]) -> bool {
        look(RawString::plain(text), &mut Vec::new()).json_object
    }

    #[test]
    fn json_objects_start_with_brace_and_quoted_name() {
        for text in [&b"{\"a\":1}"[..], b"{ \"a\"", b"{\r\n\t\"name\": 1}", b"{\""] {
            assert!(looks(text), "{}", text.escape_ascii());
        }
        for text in [&b""[..], b"{", b"{}", b"{user:1}", b"{'a':1}", b"[{\"a\":1}]", b" {\"a\":1}", b"\"{\"", b"{ }"] {
            assert!(!looks(text), "{}", text.escape_ascii());
        }
        assert!(!looks(&[b"{".as_slice(), &[b' '; 99], b"\""].concat()), "nobody looks far");
    }

    #[test]
    fn compressed_json_objects_are_recognised_by_their_first_bytes() {
        let compressed = |block: &[u8], len| {
            let string = RawString { offset: 0, form: StringForm::Lzf { block, len } };
            look(string, &mut Vec::new())
        };
        // `{`, line end, blanks that repeat, and the quote in the next run.
        let indented = compressed(b"\x02{\n \x20\x00\x01\"a\xe0\x40\x00", 81);
        assert!(indented.json_object);
        assert_eq!(indented.compressed, NonZeroU64::new(12));
        assert!(!compressed(b"\x01<\"\xe0\x40\x00", 75).json_object);
        // Damaged blocks are none.
        assert!(!compressed(b"\x1f{\"", 75).json_object);
        assert!(!compressed(b"", 75).json_object);
    }

    #[test]
    fn hyperloglogs_have_no_compressed_size() {
        let compressed =
            |block| look(RawString { offset: 0, form: StringForm::Lzf { block, len: 99 } }, &mut Vec::new());
        assert_eq!(compressed(b"\x04HYLL\x01\xe0\x50\x00"), TextFacts::default());
        assert!(compressed(b"\x02HYLL\x01\xe0\x50\x00").compressed.is_some());
    }

    #[test]
    fn integers_have_no_text_facts() {
        let number = RawString { offset: 0, form: StringForm::Int(7) };
        assert_eq!(look(number, &mut Vec::new()), TextFacts::default());
    }
}
