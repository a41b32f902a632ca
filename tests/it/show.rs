//! `rdblens show` as scripts see it.

use crate::common::program::{rdblens, run, testdata, text};

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
