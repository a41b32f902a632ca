//! JSON documents (`rdb_load` of RedisJSON and of Valkey's module, and `ijson::decode` of the former's crate).

use serde::de::IgnoredAny;

use super::{END, Grammar, Items, Part, String, TextUse};
use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cbor::{self, Verdict};
use crate::rdb::kind::module;
use crate::rdb::string::{RawString, StringForm};
use crate::wording::wording;

/// Form of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DocumentForm {
    /// JSON, whose strings may have any bytes.
    AnyText,
    /// JSON in UTF-8.
    Utf8,
    /// CBOR.
    Cbor,
}

/// Reader of a document.
#[derive(Debug, Default)]
pub struct Json {
    is_cbor: bool,
    /// True if text has to be UTF-8.
    pub text_is_utf8: bool,
}

impl Grammar for Json {
    fn begin(&mut self, version: u64) -> Part {
        self.is_cbor = version == module::JSON_CBOR;
        &[String]
    }

    fn part(&mut self, _: &Items) -> Result<Part> {
        Ok(END)
    }

    fn text_use(&self, _: usize) -> TextUse {
        TextUse::Document(match (self.is_cbor, self.text_is_utf8) {
            (true, _) => DocumentForm::Cbor,
            (false, true) => DocumentForm::Utf8,
            (false, false) => DocumentForm::AnyText,
        })
    }
}

impl DocumentForm {
    /// Checks a document, decoded from `stored`. What only some releases refuse is accepted: deep nesting, numbers beyond the range
    /// of doubles, halves of surrogate pairs.
    pub fn check(self, document: &[u8], stored: RawString<'_>) -> Result<()> {
        let fault = match self {
            DocumentForm::Cbor => cbor_fault(document),
            DocumentForm::AnyText => json_fault(document),
            DocumentForm::Utf8 => match std::str::from_utf8(document) {
                Ok(_) => json_fault(document),
                Err(error) => Some(error.valid_up_to()),
            },
        };
        let Some(at) = fault else { return Ok(()) };
        let error = match stored.form {
            StringForm::Plain(_) => Error::corrupt(
                stored.offset.saturating_add(at as u64),
                wording!("the module cannot read it from here on", "模块无法读取从此处开始的内容"),
            ),
            StringForm::Int(_) | StringForm::Lzf { .. } => Error::corrupt(
                stored.offset,
                wording!(
                    "the module cannot read it from byte {at} of the decompressed text on",
                    "模块无法读取解压后第 {at} 字节开始的内容"
                ),
            ),
        };
        Err(error).within(Reading::JsonDocument)
    }
}

/// Returns the place of the first byte that is no JSON.
fn json_fault(text: &[u8]) -> Option<usize> {
    let error = serde_json::from_slice::<IgnoredAny>(text).err()?;
    let lines = text.split_inclusive(|&byte| byte == b'\n').take(error.line().saturating_sub(1));
    let start: usize = lines.map(<[u8]>::len).sum();
    Some((start + error.column().saturating_sub(1)).min(text.len()))
}

/// Returns the place of the first item that is none of a document.
fn cbor_fault(bytes: &[u8]) -> Option<usize> {
    match cbor::judge(bytes) {
        Verdict::Document | Verdict::Unknown => None,
        Verdict::Broken(at) => Some(at),
    }
}
