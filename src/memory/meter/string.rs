//! Strings: numbers, short texts, long texts. Nothing is decoded but what may be a number.

use super::Value;
use crate::error::Result;
use crate::memory::Model;
use crate::memory::item::{Item, LONGEST_INT};
use crate::memory::layout::ShortStrings;
use crate::memory::price::{Framed, Key};
use crate::rdb::string::{Form, RawString};
use crate::record::{Encoding, ValueFacts};
use crate::units::Bytes;

/// Prices a string.
#[inline]
pub fn measure(model: &Model, key: Key, string: RawString<'_>, scratch: &mut Vec<u8>) -> Result<Value> {
    let len = string.len();
    let (encoding, memory) = if is_number(string, len, scratch)? {
        let Framed { outside, object } = model.frame(key);
        (Encoding::Int, outside + object)
    } else {
        text(model, key, len)
    };
    Ok(Value::new(encoding, len, memory))
}

/// Looks at the beginning of a string. Of ordinary strings that is one byte.
#[inline]
pub fn look(string: RawString<'_>, scratch: &mut Vec<u8>) -> ValueFacts {
    match string.form {
        Form::Int(_) => ValueFacts::default(),
        Form::Plain(text) => {
            let json_object = text.first() == Some(&b'{') && is_json_object(text);
            ValueFacts { json_object, ..ValueFacts::default() }
        }
        Form::Lzf { block, .. } => ValueFacts {
            // The first instruction copies what follows it: there is nothing before to refer to.
            json_object: block.get(1) == Some(&b'{') && string.prefix(LONGEST_START, scratch).is_ok_and(is_json_object),
            compressed: (!is_hyperloglog(block)).then_some(Bytes(block.len() as u64)),
            ..ValueFacts::default()
        },
    }
}

/// Whether a compressed string begins with the magic of a HyperLogLog (`hyperloglog.c` of the servers). It has nothing that
/// repeats, so all of it is in the first instruction.
fn is_hyperloglog(block: &[u8]) -> bool {
    block.get(1..5) == Some(b"HYLL") && block.first().is_some_and(|control| (3..32).contains(control))
}

/// A quoted name stands this near to the brace of its object.
const LONGEST_START: usize = 32;

/// Whether the text begins with a brace and, behind white space, the quote of the first name.
fn is_json_object(text: &[u8]) -> bool {
    let Some((b'{', rest)) = text.split_first() else { return false };
    let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
    rest.iter().take(LONGEST_START).find(|byte| !blank(byte)) == Some(&b'"')
}

#[inline]
fn is_number(string: RawString<'_>, len: u64, scratch: &mut Vec<u8>) -> Result<bool> {
    match string.form {
        Form::Int(_) => Ok(true),
        _ if len > LONGEST_INT => Ok(false),
        Form::Plain(_) | Form::Lzf { .. } => Ok(matches!(Item::of(string, scratch)?, Item::Int(_))),
    }
}

#[inline]
fn text(model: &Model, key: Key, len: u64) -> (Encoding, u64) {
    let raw = || {
        let Framed { outside, object } = model.frame(key);
        (Encoding::Raw, outside + object + model.sds(len))
    };
    match &model.layout.short {
        ShortStrings::Raw => raw(),
        ShortStrings::Behind { longest, .. } if len > *longest => raw(),
        ShortStrings::Behind { count, .. } => {
            let Framed { outside, object } = model.frame(key);
            let behind = match count {
                // The servers take the header for two bytes here and forget the end.
                crate::memory::layout::Count::Requested => object + 2 + len,
                crate::memory::layout::Count::Usable => model.usable(object + 3 + len + 1),
            };
            (Encoding::Embstr, outside + behind)
        }
        ShortStrings::Joint(embedding) => match model.embedded(embedding, key, len) {
            Some(memory) => (Encoding::Embstr, memory),
            None => raw(),
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
    fn objects_begin_with_a_brace_and_a_quoted_name() {
        for text in [&b"{\"a\":1}"[..], b"{ \"a\"", b"{\r\n\t\"name\": 1}", b"{\""] {
            assert!(looks(text), "{}", text.escape_ascii());
        }
        for text in [&b""[..], b"{", b"{}", b"{user:1}", b"{'a':1}", b"[{\"a\":1}]", b" {\"a\":1}", b"\"{\"", b"{ }"] {
            assert!(!looks(text), "{}", text.escape_ascii());
        }
        assert!(!looks(&[b"{".as_slice(), &[b' '; 99], b"\""].concat()), "nobody looks far");
    }

    #[test]
    fn compressed_objects_are_known_by_their_first_bytes() {
        let compressed = |block: &[u8], len| {
            let string = RawString { offset: 0, form: Form::Lzf { block, len } };
            look(string, &mut Vec::new())
        };
        // `{`, line end, blanks that repeat, and the quote in the next run.
        let indented = compressed(b"\x02{\n \x20\x00\x01\"a\xe0\x40\x00", 81);
        assert!(indented.json_object);
        assert_eq!(indented.compressed, Some(Bytes(12)));
        assert!(!compressed(b"\x01<\"\xe0\x40\x00", 75).json_object);
        // Damaged blocks are none.
        assert!(!compressed(b"\x1f{\"", 75).json_object);
        assert!(!compressed(b"", 75).json_object);
    }

    #[test]
    fn hyperloglogs_are_not_for_clients_to_compress() {
        let compressed = |block| look(RawString { offset: 0, form: Form::Lzf { block, len: 99 } }, &mut Vec::new());
        assert_eq!(compressed(b"\x04HYLL\x01\xe0\x50\x00"), ValueFacts::default());
        assert!(compressed(b"\x02HYLL\x01\xe0\x50\x00").compressed.is_some());
    }

    #[test]
    fn numbers_look_like_nothing() {
        let number = RawString { offset: 0, form: Form::Int(7) };
        assert_eq!(look(number, &mut Vec::new()), ValueFacts::default());
    }
}
