//! `rdblens show` as scripts see it.

use std::fs;

use serde_json::{Value, json};

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, stdout_of, testdata, text};

fn show(input: &str, key: &str, more: &[&str]) -> (Option<i32>, String) {
    let output = run(rdblens().arg("show").arg(testdata().join(input)).arg(key).args(more));
    (output.status.code(), text(&output))
}

#[test]
fn a_key_of_any_bytes_is_found_by_its_escaped_name() {
    let file = testdata().join("hostile/valid-key-of-escapes.rdb");
    let mut name = None;
    let plan = rdblens::internals::analyze::ReadPlan::new(std::env::temp_dir());
    rdblens::for_each_record(&[&file], &plan, |record, _| {
        name = Some(rdblens::internals::render::key_text::key(record.key));
    })
    .unwrap();
    let name = name.unwrap();
    assert!(name.contains("\\x1b") && name.is_ascii());
    let (status, page) = show("hostile/valid-key-of-escapes.rdb", &name, &[]);
    assert_eq!(status, Some(0), "{page}");
    assert!(page.starts_with(&format!("key       {name}\n")), "{page}");
    assert!(page.ends_with("\nvalue\n"), "{page}");
}

#[test]
fn one_line_of_json_holds_the_value() {
    let (status, line) = show("hostile/valid-stream-producers.rdb", "s", &["--format", "json"]);
    assert_eq!((status, line.lines().count()), (Some(0), 1), "{line}");
    let document: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!((&document["schema"], &document["type"]), (&"rdblens.value/1".into(), &"stream".into()));
    assert_eq!(document["value"]["producers"][0]["ids"][0]["entry"], "1-0", "{line}");
}

#[test]
fn the_status_tells_absent_from_unreadable() {
    for (input, key, more, expected, told) in [
        ("hostile/valid-prefixes.rdb", "no such", &[][..], 3, "key no such not found (2 keys searched)"),
        ("hostile/valid-many-selectdb.rdb", "k", &["--db", "3"], 3, "key k not found in database 3 (1 key searched)"),
        ("hostile/truncated-in-list.rdb", "no such", &[], 4, "list element"),
        ("hostile/listpack-odd-pairs.rdb", "k", &[], 4, "is not a multiple of 2"),
        ("hostile/not-rdb-text.rdb", "k", &[], 3, "not-rdb-text.rdb"),
        ("no-such-file.rdb", "k", &[], 3, "no-such-file.rdb"),
        ("hostile/valid-prefixes.rdb", "\\q", &[], 2, "escape"),
    ] {
        let (status, page) = show(input, key, more);
        assert_eq!(status, Some(expected), "{input} {key}: {page}");
        assert!(page.contains(told), "{input} {key}: {page}");
    }
}

#[test]
fn a_key_has_the_labels_of_its_row_and_the_figures_of_its_findings() {
    let policy = testdata().join("policy/shop.toml");
    let policy = policy.to_str().unwrap();
    let shop = testdata().join("dumps/shop.rdb");
    let rows = run(rdblens().arg("keys").arg(&shop).args(["--policy", policy, "--limit", "40"]));
    for row in String::from_utf8(rows.stdout).unwrap().lines() {
        let row: serde_json::Value = serde_json::from_str(row).unwrap();
        let Some(key) = row["key"].as_str() else { continue };
        let (name, db) = (rdblens::internals::render::key_text::key(key.as_bytes()), row["db"].to_string());
        let flags = ["--db", &db, "--json", "--policy", policy, "--limit", "1"];
        let (status, line) = show("dumps/shop.rdb", &name, &flags);
        assert_eq!(status, Some(0), "{line}");
        let shown: serde_json::Value = serde_json::from_str(&line).unwrap();
        for field in ["memory", "encoding", "pattern", "owner", "class", "disk", "expires_at"] {
            assert_eq!(row[field], shown[field], "{field} of {key}");
        }
        let breaks = shown["breaks"].as_array().unwrap().iter().filter(|rule| rule.get("exempted").is_none());
        let mut breaks: Vec<_> = breaks.map(|rule| rule["rule"].clone()).collect();
        breaks.sort_by_key(|rule| rule.as_str().map(str::to_owned));
        assert_eq!(row["breaks"], serde_json::Value::Array(breaks), "{key}");
        let kept = shown["value"].as_array().map_or(1, Vec::len) as u64;
        if shown["type"] != "stream" && shown["type"] != "string" {
            assert_eq!(Some(kept + shown["omitted"].as_u64().unwrap()), row["length"].as_u64(), "{key}");
        }
    }
    let (_, line) = show("dumps/shop.rdb", "queue:mail", &["--json", "--limit", "0"]);
    let shown: serde_json::Value = serde_json::from_str(&line).unwrap();
    let broken = shown["breaks"].as_array().unwrap().iter().find(|rule| rule["rule"] == "big.elements").unwrap();
    assert_eq!((&broken["measured"], &broken["allowed"]), (&20_000.into(), &5_000.into()));
}

#[test]
fn a_name_that_is_missing_gets_near_ones() {
    for (key, more, expected) in [
        ("user:1179:profle", &[][..], "did you mean user:1179:profile"),
        ("QUEUE:mail", &[], "did you mean queue:mail"),
        ("queue:mail", &["--db", "2"], "it is in database 0"),
        ("nothing like it", &[], "(5,257 keys searched)\n"),
    ] {
        let (status, page) = show("dumps/shop.rdb", key, more);
        assert_eq!(status, Some(3), "{page}");
        assert!(page.contains(expected), "{page}");
    }
    let (status, page) = show("dumps/shop.rdb", "queue:mail", &["--policy", "strct"]);
    assert_eq!(status, Some(2), "{page}");
    assert!(page.contains("did you mean strict"), "{page}");
}

#[test]
fn documents_are_json_and_series_have_their_samples() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("dump.rdb").to_str().unwrap().to_owned();
    let mut dump = crate::common::dump::Dump::new();
    dump.module("doc", ("ReJSON-RL", 3), &["{\"a\": [1, 2], \"b\": \"\u{202e}x\", \"c\": null}"]);
    dump.module("no document", ("ReJSON-RL", 3), &["{\"a\":"]);
    dump.module("filter", ("MBbloom--", 4), &[]);
    std::fs::write(&path, dump.bytes()).unwrap();
    let show = |key: &str, more: &[&str]| text(&run(rdblens().args(["show", &path, key]).args(more)));
    let page = show("doc", &[]);
    assert!(
        page.ends_with("\n{\n  \"a\": [\n    1,\n    2\n  ],\n  \"b\": \"\\u202ex\",\n  \"c\": null\n}\n"),
        "{page}"
    );
    assert!(page.contains("length    3 members") && page.contains("module    elements 5, levels 2"), "{page}");
    assert!(show("doc", &["--limit", "1"]).ends_with("\n{\n  \"a\": [\n    1,\n    2\n  ]\n}\n… 2 more\n"));
    let json = show("doc", &["--json", "--limit", "1"]);
    let document: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(document["value"], serde_json::json!({"module": "ReJSON-RL", "document": {"a": [1, 2]}}));
    assert_eq!((&document["omitted"], &document["elements"]), (&2.into(), &5.into()));
    // What is no document is shown as it stands, and its memory is unknown.
    let page = show("no document", &[]);
    assert!(page.contains("memory    unknown on redis 7.2.4") && page.ends_with("\n1) {\"a\":\n"), "{page}");
    assert!(show("filter", &[]).contains("memory    unknown"));
}

/// Compares facts and samples with what the servers said of each key.
#[test]
fn facts_of_modules_are_those_of_the_server() {
    let (mut facts, mut series) = (0, 0);
    for folder in crate::common::truth::folders() {
        if !["sketches", "timeseries", "vectors", "modules"].iter().any(|end| folder.name.ends_with(end)) {
            continue;
        }
        let plan = rdblens::internals::analyze::ReadPlan::new(std::env::temp_dir());
        let mut told = std::collections::BTreeMap::new();
        rdblens::for_each_record(&[folder.input()], &plan, |record, _| {
            if let Some(facts) = record.module_facts {
                told.insert((record.db, record.key.to_vec()), (record.length, *facts));
            }
        })
        .unwrap();
        for (place, truth) in folder.truth() {
            let extra = truth.extra;
            let Some((length, found)) = told.get(&place) else { continue };
            let number = |name: &str| extra[name].as_u64();
            // The server does not count samples that are past their retention, though it stores them.
            let samples = number("totalSamples").filter(|_| extra["retentionTime"] == 0);
            for (theirs, ours) in [
                (number("Number of filters"), found.filters),
                (number("Number of items inserted"), found.items),
                (number("count"), found.items),
                (number("width"), found.width),
                (number("depth"), found.depth),
                (number("k"), found.k),
                (number("Capacity"), found.capacity),
                (samples, found.samples),
                (samples, *length),
                (number("chunkCount"), found.chunks),
                (number("vector-dim"), found.dimension),
                (extra["vector-dim"].as_u64().and(number("size")), *length),
            ] {
                if theirs.is_some() {
                    assert_eq!(ours, theirs, "{} {:?}: {extra}", folder.name, place.1.escape_ascii().to_string());
                    facts += 1;
                }
            }
            if let Some(kind) = extra["quant-type"].as_str() {
                assert_eq!(found.quantization.map(|it| it.name()), Some(kind));
            }
            series += usize::from(found.samples.is_some());
        }
    }
    assert!(facts > 1_000 && series > 100, "{facts} facts, {series} series");
}

#[test]
fn documents_and_series_of_later_versions_are_read() {
    use crate::common::dump::Item::{Double, Number, Text};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    let mut dump = Dump::new();
    let document = b"\xa2\x61a\xd8\x48\x43\xff\x00\x07\x61b\x82\xfb\x3f\xf1\x99\x99\x99\x99\x99\x9a\x63\xe4\xb8\xad";
    dump.module_of("doc", ("ReJSON-RL", 4), Text(document).bytes());
    dump.module_of("cut", ("ReJSON-RL", 4), Text(&document[..20]).bytes());
    let sample = [7u64.to_le_bytes(), 1.5f64.to_bits().to_le_bytes()].concat();
    // A rule of version 9 has one more number: the valid samples of its bucket.
    let rule = [Text(b"to"), Number(10), Number(0), Number(15), Number(0), Number(5), Number(3)];
    let head = [Text(b"ts"), Number(0), Number(32), Number(1), Number(7), Double(1.5), Number(1), Number(0), Number(0)];
    let parts = [Number(0), Double(0.0), Number(0), Number(1)];
    let chunks = [Number(1), Number(0), Number(1), Number(32), Text(&sample)];
    let items = head.iter().chain(&parts).chain(&rule).chain(&chunks).flat_map(|item| item.bytes()).collect();
    dump.module_of("ts", ("TSDB-TYPE", 9), items);
    fs::write(&path, dump.bytes()).unwrap();
    let path = path.to_str().unwrap();
    let show =
        |key: &str| -> Value { serde_json::from_str(&stdout_of(&["show", path, key, "--format", "json"])).unwrap() };
    assert_eq!(show("doc")["value"]["document"], json!({"a": [-1, 0, 7], "b": [1.1, "中"]}));
    assert!(show("cut")["value"]["document"].is_null());
    let series = show("ts")["value"].take();
    assert!(series.to_string().contains("countall") && series.to_string().contains("1.5"), "{series}");
    let rows: Vec<Value> = stdout_of(&["keys", path]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&rows[0]["length"], &rows[0]["elements"], &rows[0]["levels"]), (&json!(2), &json!(7), &json!(2)));
    assert_eq!((&rows[2]["length"], &rows[2]["chunks"]), (&json!(1), &json!(1)));
    // The test dump names Redis 7.2, on which a series of this version is priced as one of its own.
    assert!(rows[..2].iter().all(|row| row["memory"].is_null()));
}
