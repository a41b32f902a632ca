//! Strings: numbers, short texts, long texts. Nothing is decoded but what may be a number.

use super::Value;
use crate::error::Result;
use crate::memory::Model;
use crate::memory::item::{Item, LONGEST_INT};
use crate::memory::layout::ShortStrings;
use crate::memory::price::{Framed, Key};
use crate::rdb::string::{Form, RawString};
use crate::record::Encoding;

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
