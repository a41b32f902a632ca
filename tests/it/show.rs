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
    assert!(page.starts_with(&format!("key      {name}\n")), "{page}");
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
