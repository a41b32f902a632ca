//! Texts of every kind of warning, in both languages, with sample data made from the schema of reports.

use std::fmt::Write;
use std::fs;

use rdblens::report::Warning;
use serde_json::{Map, Value, json};

use crate::common::golden;

/// Sizes of samples: numbers, and entries of lists.
const SIZES: [(u64, usize); 3] = [(2, 0), (1_234_567, 2), (9, 9)];

/// Returns a value of this schema, in which numbers and lists have a size of [`SIZES`].
fn sample(schema: &Value, name: &str, (number, entries): (u64, usize), all: &Value) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        return sample(&all["$defs"][reference.rsplit('/').next().unwrap()], name, (number, entries), all);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        return sample(&choices[number as usize % choices.len()], name, (number, entries), all);
    }
    if let Some(value) = schema.get("const") {
        return value.clone();
    }
    if let Some(first) = schema["enum"].get(0) {
        return first.clone();
    }
    // The first of several types is not null.
    let kind = schema["type"].get(0).unwrap_or(&schema["type"]);
    match kind.as_str() {
        Some("integer") => json!(number),
        Some("array") => {
            let item = |at| sample(&schema["items"], &format!("{name} {at}"), (number, entries), all);
            (1..=entries).map(item).collect()
        }
        Some("object") => fields(schema, (number, entries), all),
        // A text may be missing, too.
        _ if entries == 0 => json!(""),
        _ => json!(name),
    }
}

fn fields(schema: &Value, size: (u64, usize), all: &Value) -> Value {
    let of_field = |(name, schema): (&String, &Value)| (name.clone(), sample(schema, name, size, all));
    Value::Object(schema["properties"].as_object().unwrap().iter().map(of_field).collect::<Map<_, _>>())
}

#[test]
fn every_kind_has_its_words() {
    let schema = fs::read(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/report.schema.json")).unwrap();
    let schema: Value = serde_json::from_slice(&schema).unwrap();
    let kinds = schema["$defs"]["Warning"]["oneOf"].as_array().unwrap();
    assert!(kinds.len() > 60, "{}", kinds.len());
    let mut texts = String::new();
    for kind in kinds {
        writeln!(texts, "{}", kind["properties"]["kind"]["const"].as_str().unwrap()).unwrap();
        let mut known = Vec::new();
        for size in SIZES {
            let mut data = fields(kind, size, &schema);
            data["text"] = json!("");
            let Warning { kind, .. } = serde_json::from_value(data).unwrap();
            let Warning { wording, .. } = Warning::new(kind);
            let words = format!("{}\n{}\n", wording.en, wording.zh);
            if !known.contains(&words) {
                known.push(words);
            }
        }
        texts += &(known.concat() + "\n");
    }
    golden::check("warnings.txt", &texts);
}
