//! Target `show`: decodes any value and prints it.

use std::sync::Arc;

use rdblens::internals::rdb::value_type::ValueType;
use rdblens::internals::render::Lang;
use rdblens::internals::render::value::{ShownKey, write_json, write_text};
use rdblens::internals::show::{Found, decode};
use rdblens::internals::units::{Bytes, Millis};

use super::shows_all;
use super::value::ValueInput;

/// Decodes a value and writes it in every form, whole and cut off.
pub fn check(input: &[u8]) {
    let Some(value) = ValueInput::new(input) else { return };
    let found = found(&value, value.value_type);
    let Ok(mut decoded) = decode(&found) else { return };
    let elements = decoded.elements();
    for limit in [usize::MAX, usize::from(value.choice) % 4] {
        decoded.truncate(limit);
        let kept = decoded.elements();
        assert!(kept <= elements, "{kept} of {elements}");
        let shown = ShownKey { found: &found, value: &decoded, omitted: elements - kept };
        for lang in Lang::ALL {
            let mut text = Vec::new();
            write_text(&shown, lang, &mut text).expect("memory can be written");
            shows_all(&text);
        }
        let mut json = Vec::new();
        write_json(&shown, &mut json).expect("memory can be written");
        let json: serde_json::Value = serde_json::from_slice(&json).expect("it is JSON");
        assert_eq!(json["schema"], "rdblens.value/1");
    }
}

fn found(value: &ValueInput<'_>, value_type: ValueType) -> Found {
    Found {
        file: "fuzz.rdb".to_owned(),
        db: 0,
        key: vec![b'k', value.choice],
        value_type,
        expires_at: (value.choice % 2 == 1).then_some(Millis(i64::MAX)),
        idle: None,
        freq: Some(value.choice),
        offset: 9,
        disk: Bytes(value.bytes.len() as u64),
        value_offset: 20,
        value: value.bytes.to_vec(),
        facts: None,
        templates: Arc::new(value.templates.clone()),
    }
}
