//! A key's name in a report.

use std::cmp::Ordering;

#[cfg(feature = "internals")]
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer, Error};
use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::pattern::kept_name::{self, WholeName};

/// A key's name: any bytes. As JSON it is `"key": "text"` when valid UTF-8, else `"key": null, "key_base64": "…"`;
/// meant to be flattened into the row that it names. Of a very long name, only the beginning is there, and `key_bytes` is the
/// length of the whole.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Key(pub Box<[u8]>, Option<Box<WholeName>>);

impl Key {
    /// Returns the beginning of a name of this length.
    pub fn beginning_of(name: &[u8], bytes: u64) -> Key {
        Key(name.into(), Some(Box::new(WholeName { bytes, checksum: 0 })))
    }

    /// Returns the beginning of a name.
    pub(crate) fn part(name: &[u8], whole: WholeName) -> Key {
        Key(name.into(), Some(Box::new(whole)))
    }

    /// Returns a name that was [stored](kept_name::stored) with this limit.
    pub(crate) fn kept(stored: &[u8], limit: usize) -> Key {
        let (name, whole) = kept_name::read(stored, limit);
        Key(name.into(), whole.map(Box::new))
    }

    /// Returns the length of the whole name, if this is only its beginning.
    pub fn whole_bytes(&self) -> Option<u64> {
        self.whole().map(|whole| whole.bytes)
    }

    /// Returns what is known of the whole name, if this is only its beginning.
    pub(crate) fn whole(&self) -> Option<WholeName> {
        self.1.as_deref().copied()
    }

    /// The name as text, if it is text.
    pub fn as_text(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl From<&[u8]> for Key {
    fn from(bytes: &[u8]) -> Self {
        Key(bytes.into(), None)
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.0, &self.1).cmp(&(&other.0, &other.1))
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("key", &self.as_text())?;
        if self.as_text().is_none() {
            map.serialize_entry("key_base64", &base64(&self.0))?;
        }
        if let Some(bytes) = self.whole_bytes() {
            map.serialize_entry("key_bytes", &bytes)?;
        }
        map.end()
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
    /// Length of the whole name in bytes, when this is only its beginning.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_bytes: Option<u64>,
}

impl<'de> Deserialize<'de> for Key {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        let whole = form.key_bytes.map(|bytes| Box::new(WholeName { bytes, checksum: 0 }));
        let bytes = match form {
            Form { key: Some(text), .. } => text.into_bytes(),
            Form { key: None, key_base64: Some(text), .. } => {
                let wrong = |error| D::Error::custom(format_args!("key_base64: {error}"));
                data_encoding::BASE64.decode(text.as_bytes()).map_err(wrong)?
            }
            Form { key: None, key_base64: None, .. } => return Err(D::Error::missing_field("key_base64")),
        };
        Ok(Key(bytes.into(), whole))
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
