//! Strings: numbers, short texts, long texts. Nothing is decoded but what may be a number.

use super::Value;
use crate::error::Result;
use crate::memory::Model;
use crate::memory::item::{Item, LONGEST_INT};
use crate::memory::layout::{Count, ShortStrings};
use crate::memory::price::{Framed, Key};
use crate::memory::slack::gap;
use crate::rdb::string::{Form, RawString};
use crate::record::Encoding;

/// Numbers below this may be objects that all keys share (`OBJ_SHARED_INTEGERS`).
const SHARED_NUMBERS: i64 = 10_000;

/// Prices a string.
#[inline]
pub fn measure(model: &Model, key: Key, string: RawString<'_>, scratch: &mut Vec<u8>) -> Result<Value> {
    let len = string.len();
    let Some(number) = number(string, len, scratch)? else { return Ok(text(model, key, len)) };
    let Framed { outside, object, slack } = model.frame(key);
    let shared = if model.shares_numbers() && (0..SHARED_NUMBERS).contains(&number) { gap(0, object) } else { 0 };
    Ok(Value::new(Encoding::Int, len, outside + object, slack + shared))
}

#[inline]
fn number(string: RawString<'_>, len: u64, scratch: &mut Vec<u8>) -> Result<Option<i64>> {
    match string.form {
        Form::Int(number) => Ok(Some(i64::from(number))),
        _ if len > LONGEST_INT => Ok(None),
        Form::Plain(_) | Form::Lzf { .. } => match Item::of(string, scratch)? {
            Item::Int(number) => Ok(Some(number)),
            Item::Text(_) => Ok(None),
        },
    }
}

#[inline]
fn text(model: &Model, key: Key, len: u64) -> Value {
    let raw = || {
        let Framed { outside, object, slack } = model.frame(key);
        Value::new(Encoding::Raw, len, outside + object + model.sds(len), slack + model.sds_slack(len))
    };
    match &model.layout.short {
        ShortStrings::Raw => raw(),
        ShortStrings::Behind { longest, .. } if len > *longest => raw(),
        ShortStrings::Behind { count, .. } => {
            let Framed { outside, object, slack } = model.frame(key);
            let given = model.usable(object + 3 + len + 1);
            let behind = match count {
                // The servers take the header for two bytes here and forget the end.
                Count::Requested => object + 2 + len,
                Count::Usable => given,
            };
            Value::new(Encoding::Embstr, len, outside + behind, slack + gap(given, behind))
        }
        ShortStrings::Joint(embedding) => match model.embedded(embedding, key, len) {
            Some(memory) => Value::new(Encoding::Embstr, len, memory, 0),
            None => raw(),
        },
    }
}
