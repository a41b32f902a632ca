//! Details of a finding: what a rule knows beside the figures that all rules have, labelled in both languages and typed.

use std::collections::BTreeMap;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Text, Word, Wording};
use crate::units::{Bytes, Millis};

/// Details by name.
pub type Details = BTreeMap<Word, Detail>;

/// Declaration of a detail by its rule.
#[derive(Debug, Clone, Copy)]
pub struct DetailField {
    /// Its name in JSON.
    pub name: &'static str,
    /// Its label in reports for people.
    pub label: Text,
}

impl DetailField {
    /// Declares a detail with its name and its label in English and Chinese.
    pub const fn new(name: &'static str, en: &'static str, zh: &'static str) -> DetailField {
        DetailField { name, label: Text { en, zh } }
    }

    /// Returns the detail with this value, as an entry of [`Details`].
    pub fn with(&self, value: DetailValue) -> (Word, Detail) {
        (self.name.into(), Detail { label: self.label.into(), value })
    }
}

/// A labelled value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(into = "DetailForm", from = "Json")]
pub struct Detail {
    /// Label; empty if the report that was read has none.
    pub label: Wording,
    /// Value.
    pub value: DetailValue,
}

/// Value of a detail.
#[derive(Debug, Clone, PartialEq)]
pub enum DetailValue {
    /// A size.
    Bytes(Bytes),
    /// A number of things.
    Count(u64),
    /// A number that names something, such as a slot.
    Number(u64),
    /// A point in time.
    Time(Millis),
    /// A length of time in milliseconds.
    Duration(u64),
    /// A fact that holds or does not.
    Flag(bool),
    /// A name or another text that is not ours to translate.
    Text(String),
    /// A pattern of keys.
    Pattern(String),
    /// One of a rule's own words.
    Word(Wording),
    /// Several texts.
    Texts(Vec<String>),
    /// Several things with their weights.
    Parts(Vec<DetailPart>),
    /// A value of a type that only newer versions know.
    Other {
        /// Its type.
        kind: String,
        /// The value as it was read.
        value: Json,
    },
}

impl From<Text> for DetailValue {
    fn from(word: Text) -> DetailValue {
        DetailValue::Word(word.into())
    }
}

/// One of several things that a detail lists.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct DetailPart {
    /// Its name.
    pub name: String,
    /// Its name in Chinese, where that is another.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name_zh: Option<String>,
    /// Its keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keys: Option<u64>,
    /// Its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<Bytes>,
    /// Its part of all memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Its part of all keys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share_of_keys: Option<f64>,
}

/// JSON form of a [`Detail`].
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct DetailForm {
    /// Label for people.
    label: String,
    /// Label in Chinese.
    label_zh: String,
    /// `bytes`, `count`, `number`, `time` (milliseconds since the epoch), `duration` (milliseconds), `flag`, `text`,
    /// `pattern`, `word`, `texts` or `parts`.
    #[serde(rename = "type")]
    kind: String,
    /// Value: a number, a truth value, a text, a list of texts, or a list of objects with a `name`.
    value: Json,
    /// Of a `word`: the word in Chinese.
    #[serde(skip_serializing_if = "Option::is_none")]
    value_zh: Option<String>,
}

impl From<Detail> for DetailForm {
    fn from(detail: Detail) -> DetailForm {
        let (kind, value, value_zh) = match detail.value {
            DetailValue::Bytes(size) => ("bytes", size.0.into(), None),
            DetailValue::Count(number) => ("count", number.into(), None),
            DetailValue::Number(number) => ("number", number.into(), None),
            DetailValue::Time(time) => ("time", time.0.into(), None),
            DetailValue::Duration(millis) => ("duration", millis.into(), None),
            DetailValue::Flag(flag) => ("flag", flag.into(), None),
            DetailValue::Text(text) => ("text", text.into(), None),
            DetailValue::Pattern(text) => ("pattern", text.into(), None),
            DetailValue::Word(word) => ("word", word.en.into(), Some(word.zh)),
            DetailValue::Texts(texts) => ("texts", texts.into(), None),
            DetailValue::Parts(parts) => ("parts", parts.into_iter().map(part_json).collect(), None),
            DetailValue::Other { ref kind, value } => (kind.as_str(), value, None),
        };
        let kind = kind.to_owned();
        DetailForm { label: detail.label.en, label_zh: detail.label.zh, kind, value, value_zh }
    }
}

fn part_json(part: DetailPart) -> Json {
    // Text and numbers only, which are always JSON.
    serde_json::to_value(part).unwrap_or_default()
}

impl From<Json> for Detail {
    /// Reads the JSON form. Never fails: what has another form becomes [`DetailValue::Other`].
    fn from(json: Json) -> Detail {
        let Json::Object(mut members) = json else {
            return Detail {
                label: Wording::default(),
                value: DetailValue::Other { kind: String::new(), value: json },
            };
        };
        let mut text = |name: &str| match members.remove(name) {
            Some(Json::String(text)) => text,
            _ => String::new(),
        };
        let (en, zh, kind, value_zh) = (text("label"), text("label_zh"), text("type"), text("value_zh"));
        let value = members.remove("value").unwrap_or(Json::Object(members));
        let value = typed(&kind, &value, value_zh).unwrap_or(DetailValue::Other { kind, value });
        Detail { label: Wording { en, zh }, value }
    }
}

/// Returns the value as one of its type; none if the type is unknown or does not fit.
fn typed(kind: &str, value: &Json, zh: String) -> Option<DetailValue> {
    let text = || value.as_str().map(str::to_owned);
    Some(match kind {
        "bytes" => DetailValue::Bytes(Bytes(value.as_u64()?)),
        "count" => DetailValue::Count(value.as_u64()?),
        "number" => DetailValue::Number(value.as_u64()?),
        "time" => DetailValue::Time(Millis(value.as_i64()?)),
        "duration" => DetailValue::Duration(value.as_u64()?),
        "flag" => DetailValue::Flag(value.as_bool()?),
        "text" => DetailValue::Text(text()?),
        "pattern" => DetailValue::Pattern(text()?),
        "word" => DetailValue::Word(Wording { en: text()?, zh }),
        "texts" => DetailValue::Texts(Vec::deserialize(value).ok()?),
        "parts" => DetailValue::Parts(Vec::deserialize(value).ok()?),
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const SIZE: DetailField = DetailField::new("size", "size", "大小");

    #[test]
    fn every_type_reads_back_as_it_was_written() {
        let parts = vec![DetailPart { name: "a".into(), keys: Some(1), share: Some(0.5), ..DetailPart::default() }];
        let values = [
            DetailValue::Bytes(Bytes(u64::MAX)),
            DetailValue::Count(1),
            DetailValue::Number(2),
            DetailValue::Time(Millis(i64::MIN)),
            DetailValue::Duration(3),
            DetailValue::Flag(false),
            DetailValue::Text("\u{1b}[2J".into()),
            DetailValue::Pattern("user:{int}".into()),
            Text { en: "big key", zh: "大 key" }.into(),
            DetailValue::Texts(vec!["a".into(), String::new()]),
            DetailValue::Parts(parts),
            DetailValue::Other { kind: "new".into(), value: json!({ "a": [1, null] }) },
        ];
        for value in values {
            let (_, detail) = SIZE.with(value);
            let json = serde_json::to_string(&detail).unwrap();
            assert_eq!(serde_json::from_str::<Detail>(&json).unwrap(), detail, "{json}");
        }
    }

    #[test]
    fn raw_numbers_stand_beside_labels_and_types() {
        let (name, detail) = SIZE.with(DetailValue::Bytes(Bytes(2048)));
        let form = json!({ "label": "size", "label_zh": "大小", "type": "bytes", "value": 2048 });
        assert_eq!((&*name, serde_json::to_value(detail).unwrap()), ("size", form));
    }

    #[test]
    fn values_that_do_not_fit_their_type_are_kept_as_they_are() {
        let read = |json: Json| Detail::from(json).value;
        let other = |kind: &str, value: Json| DetailValue::Other { kind: kind.into(), value };
        assert_eq!(read(json!({ "type": "bytes", "value": -1 })), other("bytes", json!(-1)));
        assert_eq!(read(json!({ "type": "parts", "value": [{ "name": 1 }] })), other("parts", json!([{ "name": 1 }])));
        assert_eq!(read(json!(7)), other("", json!(7)));
        assert_eq!(read(json!({ "phone": 1 })), other("", json!({ "phone": 1 })));
    }
}
