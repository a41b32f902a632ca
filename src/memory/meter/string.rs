//! Prices strings: integers, embedded and separate strings. Only possible integers are decoded.

use std::ops::Range;

use super::{PricedValue, ValueFacts};
use crate::error::Result;
use crate::memory::Encoding;
use crate::memory::item::{MAX_INT_LEN, PackedItem};
use crate::memory::layout::{Count, Frame, ShortStrings};
use crate::memory::price::{FrameSize, Key};
use crate::memory::slack::gap;
use crate::memory::{ElementPrice, Model, ShortPrices, TextPrice};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::{RawString, StringForm};
use crate::units::Bytes;

/// Integers that may be shared objects (`OBJ_SHARED_INTEGERS`).
pub(in crate::memory) const SHARED_NUMBERS: Range<i64> = 0..10_000;

/// Prices a string.
#[inline]
pub fn measure(model: &Model, key: Key, string: RawString<'_>, scratch: &mut Scratch) -> Result<PricedValue> {
    let len = string.len();
    let Some(number) = number(string, len, scratch)? else { return Ok(text(model, key, len)) };
    let FrameSize { outside, object, slack } = model.frame(key);
    let shared = if model.shares_numbers() && SHARED_NUMBERS.contains(&number) { gap(0, object) } else { 0 };
    Ok(PricedValue::new(Encoding::Int, len, outside + object, slack + shared))
}

/// Examines the first byte of a string, and the compressed size of a compressed one.
#[inline]
pub fn look(string: RawString<'_>) -> ValueFacts {
    match string.form {
        StringForm::Int(_) => ValueFacts::NONE,
        StringForm::Plain(text) => look_at(text),
        StringForm::Lzf { block, .. } => ValueFacts {
            // An LZF block starts with a literal run, because there is nothing before it to refer to.
            may_be_json: block.get(1).is_some_and(|&first| may_start_json(first)),
            compressed: (!block.is_empty()).then_some(Bytes(block.len() as u64)),
            ..ValueFacts::NONE
        },
    }
}

/// Like [`look`], for a plain string.
#[inline]
pub fn look_at(text: &[u8]) -> ValueFacts {
    ValueFacts { may_be_json: text.first().is_some_and(|&first| may_start_json(first)), ..ValueFacts::NONE }
}

/// Returns whether JSON that holds an object may start with this byte: a brace, bracket, quote or white space.
#[inline]
fn may_start_json(first: u8) -> bool {
    matches!(first, b'{' | b'[' | b'"' | b' ' | b'\t' | b'\n' | b'\r')
}

#[inline]
fn number(string: RawString<'_>, len: u64, scratch: &mut Scratch) -> Result<Option<i64>> {
    match string.form {
        StringForm::Int(number) => Ok(Some(i64::from(number))),
        _ if len > MAX_INT_LEN => Ok(None),
        StringForm::Plain(_) | StringForm::Lzf { .. } => match PackedItem::of(string, scratch)? {
            PackedItem::Int(number) => Ok(Some(number)),
            PackedItem::Text(_) => Ok(None),
        },
    }
}

/// Prices a string with an allocation of its own.
#[inline]
fn raw(model: &Model, key: Key, len: u64) -> PricedValue {
    let FrameSize { outside, object, slack } = model.frame(key);
    let (text, more) = model.sds_with_slack(len);
    PricedValue::new(Encoding::Raw, len, outside + object + text, slack + more)
}

/// Prices a string that is not an integer.
#[inline(never)] // prices of short ones are precomputed
pub fn text(model: &Model, key: Key, len: u64) -> PricedValue {
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

impl Model {
    /// Returns the price of a string that is no integer, if it was precomputed.
    #[inline(always)]
    pub(in crate::memory) fn short_text(&self, key: Key, len: u64) -> Option<PricedValue> {
        let TextPrice { price, encoding } = usize::try_from(len).ok().and_then(|len| *self.texts.get(len)?)?;
        let FrameSize { outside, object, slack } = self.short_frame(key)?;
        let memory = outside + object + u64::from(price.memory);
        Some(PricedValue::new(encoding, len, memory, slack + i64::from(price.slack)))
    }

    /// Precomputes the prices of short strings, but for those that may be embedded beside their key: these depend on its length.
    pub(in crate::memory) fn short_texts(&self) -> [Option<TextPrice>; ShortPrices::TEXTS] {
        let with_key =
            matches!(self.layout.frame, Frame::Joint(_)) || matches!(self.layout.short, ShortStrings::Joint(_));
        let embedded = if with_key { self.layout.short.longest() + 1 } else { 0 };
        std::array::from_fn(|len| {
            let (key, len) = (Key::default(), len as u64);
            let FrameSize { outside, object, slack } = self.computed_frame(key);
            let priced = (len >= embedded).then(|| text(self, key, len))?;
            let price = ElementPrice::of((priced.memory - outside - object, priced.slack - slack))?;
            Some(TextPrice { price, encoding: priced.encoding })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_byte_tells_whether_a_string_may_be_json() {
        let look = |text| look(RawString::plain(text)).may_be_json;
        assert!([&b"{}"[..], b"[1]", b"\"{", b" \n{", b"\t"].into_iter().all(look));
        assert!([&b""[..], b"a{", b"<html>", b"1", b"\x00{", b"\xef\xbb\xbf{"].into_iter().all(|text| !look(text)));
    }

    #[test]
    fn compressed_strings_keep_their_stored_size() {
        let compressed = |block: &'static [u8]| look(RawString { offset: 0, form: StringForm::Lzf { block, len: 81 } });
        let indented = compressed(b"\x02{\n \x20\x00\x01\"a\xe0\x40\x00");
        assert_eq!(indented, ValueFacts { may_be_json: true, compressed: Some(Bytes(12)), ..ValueFacts::NONE });
        assert!(!compressed(b"\x01<\"\xe0\x40\x00").may_be_json);
        // Damaged blocks are none.
        assert_eq!(compressed(b""), ValueFacts::NONE);
    }

    #[test]
    fn integers_have_no_text_facts() {
        let number = RawString { offset: 0, form: StringForm::Int(7) };
        assert_eq!(look(number), ValueFacts::NONE);
    }
}
