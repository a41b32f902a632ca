//! `--mask`: no id of a key remains, patterns stay, and tokens can be joined.

use crate::common::program::{run_args, stdout_of};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use serde_json::Value;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

fn rows(args: &[&str]) -> Vec<Value> {
    stdout_of(args).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Collects every text in a JSON value that is the name of a key.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (name, value) in map {
                match value {
                    Value::String(text) if name == "key" || name == "key_base64" => found.push(text.clone()),
                    other => keys(other, found),
                }
            }
        }
        Value::Array(list) => list.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn a_masked_report_names_no_key_whose_pattern_varies() {
    let plain: Value =
        serde_json::from_str(&stdout_of(&["analyze", SHOP, "--format", "json", "--top", "500"])).unwrap();
    let masked = stdout_of(&["analyze", SHOP, "--format", "json", "--top", "500", "--mask"]);
    let masked: Value = serde_json::from_str(&masked).unwrap();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    keys(&plain, &mut before);
    keys(&masked, &mut after);
    assert!(before.len() > 500 && before.len() == after.len());
    let fixed: BTreeSet<String> = plain["patterns"]["list"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["pattern"].as_str().unwrap().to_owned())
        .filter(|pattern| !pattern.contains('{'))
        .collect();
    for (before, after) in before.iter().zip(&after) {
        if before == after {
            assert!(fixed.contains(before), "{before} is not masked");
        } else {
            assert!(after.contains('~'), "{before} became {after}");
        }
    }
    // Everything but the names is equal.
    assert_eq!(plain["patterns"]["list"][3]["pattern"], masked["patterns"]["list"][3]["pattern"]);
    assert_eq!(plain["totals"], masked["totals"]);
}

#[test]
fn masked_rows_join_and_are_the_same_every_time() {
    let (plain, masked) = (rows(&["keys", SHOP]), rows(&["keys", SHOP, "--mask"]));
    assert_eq!(masked, rows(&["keys", SHOP, "--mask", "--threads", "1"]));
    let mut names: BTreeMap<&str, &str> = BTreeMap::new();
    for (plain, masked) in plain.iter().zip(&masked) {
        assert_eq!(plain["memory"], masked["memory"]);
        if let (Some(plain), Some(masked)) = (plain["key"].as_str(), masked["key"].as_str()) {
            assert_eq!(*names.entry(masked).or_insert(plain), plain, "two names became {masked}");
        }
    }
    assert!(names.len() > 5000);
    // The same customer has equal tokens in all keys.
    let token = |prefix: &str| {
        let at = plain.iter().position(|row| row["key"].as_str().is_some_and(|key| key.starts_with(prefix))).unwrap();
        let id = plain[at]["key"].as_str().unwrap().split(':').nth(2).unwrap().to_owned();
        (id, masked[at]["key"].as_str().unwrap().split('~').nth(1).unwrap()[..12].to_owned())
    };
    let (id, first) = token("audit:user:");
    let other = plain.iter().zip(&masked).find(|(plain, _)| {
        let key = plain["key"].as_str().unwrap_or_default();
        !key.starts_with("audit:") && key.split(':').any(|segment| segment == id)
    });
    let (_, masked) = other.expect("the customer has another key");
    assert!(masked["key"].as_str().unwrap().contains(&first), "{id} {first} {masked}");
}

#[test]
fn a_key_file_gives_other_tokens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("key");
    fs::write(&path, "a secret of the team").unwrap();
    let args = ["keys", SHOP, "--mask", "--mask-key", path.to_str().unwrap(), "--limit", "5"];
    assert_ne!(stdout_of(&args), stdout_of(&["keys", SHOP, "--mask", "--limit", "5"]));
    fs::write(&path, "").unwrap();
    assert_eq!(run_args(&args).status.code(), Some(2));
    assert_eq!(run_args(&["keys", "-", "--mask"]).status.code(), Some(2));
    assert_eq!(run_args(&["keys", SHOP, "--mask-key", path.to_str().unwrap()]).status.code(), Some(2));
}
