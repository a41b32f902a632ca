//! Lengths of the elements of listed keys: the report tells of each what `keys` tells of it, and `show` decodes.

use std::collections::HashMap;

use serde_json::Value;

use crate::common::program::{rdblens, run};

const DUMP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

type Lengths = [Option<u64>; 2];

fn lengths(row: &Value) -> Lengths {
    ["longest_element", "mean_element"].map(|name| row.get(name).and_then(Value::as_u64))
}

/// Returns the lengths of every key, by name.
fn of_all_keys() -> HashMap<String, Lengths> {
    let rows = run(rdblens().args(["keys", DUMP])).stdout;
    let row = |line: &str| {
        let row: Value = serde_json::from_str(line).unwrap();
        Some((row["key"].as_str()?.to_owned(), lengths(&row)))
    };
    String::from_utf8(rows).unwrap().lines().filter_map(row).collect()
}

#[test]
fn listed_keys_have_the_lengths_of_their_rows() {
    let known = of_all_keys();
    for threads in ["1", "2"] {
        let report =
            run(rdblens().args(["analyze", DUMP, "--format", "json", "--top", "40", "--threads", threads])).stdout;
        let report: Value = serde_json::from_slice(&report).unwrap();
        let (top, big) = (&report["top"], &report["big_keys"]["list"]);
        let by_type = top["by_type"].as_array().unwrap().iter().map(|of_type| &of_type["list"]);
        let lists = [big, &top["by_memory"], &top["by_length"]].into_iter().chain(by_type);
        let mut encodings = HashMap::new();
        for row in lists.flat_map(|list| list.as_array().unwrap()) {
            assert_eq!(lengths(row), known[row["key"].as_str().unwrap()], "{row}");
            let has_none = ["string", "module"].contains(&row["type"].as_str().unwrap());
            assert_eq!(lengths(row)[0].is_none(), has_none, "{row}");
            *encodings.entry(row["encoding"].as_str().unwrap().to_owned()).or_insert(0) += 1;
        }
        for encoding in ["listpack", "quicklist", "hashtable", "skiplist", "intset", "stream"] {
            assert!(encodings.contains_key(encoding), "{encodings:?}");
        }
    }
}

#[test]
fn every_form_shows_them() {
    let written = |arguments: &[&str]| String::from_utf8(run(rdblens().args(arguments)).stdout).unwrap();
    let [longest, mean] = of_all_keys()["queue:mail"].map(Option::unwrap);
    let shown = written(&["show", DUMP, "queue:mail"]);
    assert!(shown.contains(&format!("elements  longest {longest} bytes, mean {mean} bytes")), "{shown}");
    let json: Value = serde_json::from_str(&written(&["show", DUMP, "queue:mail", "--json"])).unwrap();
    assert_eq!(lengths(&json), [Some(longest), Some(mean)]);
    let csv = written(&["analyze", DUMP, "--format", "csv", "--section", "big-keys"]);
    assert!(csv.lines().next().unwrap().ends_with(",source,longest_element,mean_element"), "{csv}");
    let row = csv.lines().find(|line| line.contains("queue:mail")).unwrap();
    assert!(row.ends_with(&format!(",,{longest},{mean}")), "{row}");
    let table = written(&["analyze", DUMP, "--full"]);
    assert!(table.contains("longest element"), "{table}");
}
