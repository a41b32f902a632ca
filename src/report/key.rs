//! A key's name in a report.

use std::cmp::Ordering;

#[cfg(feature = "internals")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap, Serializer};

/// A key's name: any bytes. As JSON it is `"key": "text"` when valid UTF-8, else `"key": null, "key_base64": "…"`;
/// meant to be flattened into the row that it names.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Key(pub Box<[u8]>);

impl Key {
    /// The name as text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Self {
        Key(bytes.into())
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.as_text() {
            Some(text) => {
                let mut map = serializer.serialize_map(Some(1))?;
                map.serialize_entry("key", text)?;
                map.end()
            }
            None => {
                let mut map = serializer.serialize_map(Some(2))?;
                map.serialize_entry("key", &None::<&str>)?;
                map.serialize_entry("key_base64", &base64(&self.0))?;
                map.end()
            }
        }
    }
}

/// The fields of a key's name, where a report is read or described.
#[derive(serde::Serialize, serde::Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
struct Form {
    /// The name, when it is valid UTF-8.
    key: Option<String>,
    /// The name in base64, when it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_base64: Option<String>,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let bytes = match Form::deserialize(deserializer)? {
            Form { key: Some(text), .. } => text.into_bytes(),
            Form { key: None, key_base64: Some(text) } => {
                let wrong = |error| D::Error::custom(format_args!("key_base64: {error}"));
                data_encoding::BASE64.decode(text.as_bytes()).map_err(wrong)?
            }
            Form { key: None, key_base64: None } => return Err(D::Error::missing_field("key_base64")),
        };
        Ok(Key(bytes.into()))
    }
}

#[cfg(feature = "internals")]
impl JsonSchema for Key {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Key".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Form::json_schema(generator)
    }
}

/// Standard base64 with padding.
pub fn base64(bytes: &[u8]) -> String {
    data_encoding::BASE64.encode(bytes)
}
