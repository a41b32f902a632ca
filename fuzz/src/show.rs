//! Target `show`: decodes any value and prints it.

use std::sync::Arc;

use rdblens::internals::rdb::value_type::ValueType;
use rdblens::internals::render::Lang;
use rdblens::internals::render::value::{ShownKey, write_json, write_text};
use rdblens::internals::show::{Decoded, Extent, Found, Value, decode};
use rdblens::internals::units::{Bytes, Millis};
use serde::Deserialize;

use super::shows_all;
use super::value::ValueInput;

/// What is the same for all values. A stored JSON document is not interpreted: it may be nested deeply, and have numbers beyond the
/// range of doubles and halves of surrogate pairs.
#[derive(Deserialize)]
struct Envelope {
    schema: String,
}

/// Decodes a value and writes it in every form, whole and cut off.
pub fn check(input: &[u8]) {
    let Some(value) = ValueInput::new(input) else { return };
    let found = found(&value, value.value_type);
    let Ok(Decoded { value: mut decoded, omitted: 0 }) = decode(&found, Extent::default()) else { return };
    let elements = decoded.elements();
    let few = usize::from(value.choice) % 4;
    let first = decode(&found, Extent { elements: few, ..Extent::default() }).expect("it was decoded whole");
    // What is left out is counted, and takes no room; nothing is kept beyond it.
    assert_eq!(first.value.elements() + first.omitted, elements);
    if let Err(error) = decode(&found, Extent { memory: 64, ..Extent::default() }) {
        assert!(error.to_string().contains("--max-memory"), "{error}");
    }
    for limit in [usize::MAX, few] {
        decoded.truncate(limit);
        let kept = decoded.elements();
        assert!(limit == usize::MAX || same(&decoded, &first.value), "{limit}");
        assert!(kept <= elements, "{kept} of {elements}");
        let shown = ShownKey { found: &found, value: &decoded, omitted: elements - kept };
        for lang in Lang::ALL {
            let mut text = Vec::new();
            write_text(&shown, lang, None, &mut text).expect("memory can be written");
            // A text that is its own best form keeps its tabs: they act on nothing.
            text.retain(|&byte| byte != b'\t');
            shows_all(&text);
        }
        let mut json = Vec::new();
        write_json(&shown, &mut json).expect("memory can be written");
        let json: Envelope = serde_json::from_slice(&json).expect("it is JSON");
        assert_eq!(json.schema, "rdblens.value/1");
    }
}

/// Compares what is shown: a number may be NaN, which is not equal to itself.
fn same(one: &Value, other: &Value) -> bool {
    format!("{one:?}") == format!("{other:?}")
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
        value: value.bytes.to_vec().into(),
        facts: None,
        templates: Arc::new(value.templates.clone()),
        as_opened: None,
    }
}
