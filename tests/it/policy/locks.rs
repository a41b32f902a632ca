//! Tokens of locks: across patterns, files and threads.

use serde_json::{Value, json};

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, text};

/// Returns the report on these dumps as text.
fn report(dumps: &[&Dump], args: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    for (number, dump) in dumps.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.rdb")), dump.bytes()).unwrap();
    }
    let output =
        run(rdblens().args(["analyze", ".", "--allow-same", "--format", "json"]).args(args).current_dir(&folder));
    assert!(output.status.success(), "{}", text(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// Returns pattern, keys and counts of each row of the finding.
fn rows(report: &str) -> Vec<(String, u64, Value, Value)> {
    let report: Value = serde_json::from_str(report).unwrap();
    let list = report["findings"]["list"].as_array().unwrap();
    let Some(finding) = list.iter().find(|finding| finding["rule"] == "value.lock-token") else { return Vec::new() };
    let count = |row: &Value, name: &str| row["details"][name]["value"].clone();
    let row = |row: &Value| {
        let pattern = row["pattern"].as_str().unwrap().to_owned();
        (pattern, row["keys"].as_u64().unwrap(), count(row, "without_token"), count(row, "shared"))
    };
    let mut rows: Vec<_> = finding["patterns"].as_array().unwrap().iter().map(row).collect();
    rows.sort_by(|one, other| one.0.cmp(&other.0));
    rows
}

#[test]
fn locks_of_different_patterns_may_not_share_a_value() {
    let mut dump = Dump::new();
    dump.string("lock:order:1", "order-service")
        .string("shop:lock:user:2", "order-service")
        .string("lock:task:3", "another-value")
        .string("lock:task:4", "1")
        .string("lock:task:5", "12345678901234567890")
        .string("cache:page:1", "order-service");
    let found = rows(&report(&[&dump], &["--policy", "platform"]));
    let row = |pattern: &str, keys, missing, shared| (pattern.to_owned(), keys, missing, shared);
    let expected = [
        row("lock:order:{int}", 1, Value::Null, json!(1)),
        row("lock:task:{int}", 1, json!(1), Value::Null),
        row("shop:lock:user:{int}", 1, Value::Null, json!(1)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn one_lock_on_several_instances_is_one_lock() {
    let mut dump = Dump::new();
    dump.string("lock:order:1", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f");
    assert_eq!(rows(&report(&[&dump, &dump, &dump], &["--policy", "platform"])), []);
}

#[test]
fn counts_are_exact_and_equal_on_any_number_of_threads() {
    let mut dump = Dump::new();
    for i in 0..60_000u64 {
        match i % 6 {
            0 => dump.string(format!("lock:flag:{i}"), "locked"),
            1 => dump.string(format!("lock:same:{i}"), "the-same-value"),
            2 => dump.string(format!("lock:good:{i}"), format!("token-number-{}", 1_000_000 + i)),
            3 => dump.hash_listpack(format!("lock:hash:{i}"), &[("8d9f2c71-51a3:1", "1")]),
            4 => dump.hash_listpack(format!("lock:owner:{i}"), &[("owner", "1")]),
            _ => dump.string(format!("job:{}:{i}", i % 700), "1"),
        };
    }
    let args = ["--policy", "service", "--threads"];
    let alone = report(&[&dump], &[&args[..], &["1"]].concat());
    let row = |pattern: &str, missing, shared| (pattern.to_owned(), 10_000, missing, shared);
    let expected = [
        row("lock:flag:{int}", json!(10_000), Value::Null),
        row("lock:owner:{int}", json!(10_000), Value::Null),
        row("lock:same:{int}", Value::Null, json!(10_000)),
    ];
    assert_eq!(rows(&alone), expected);
    for threads in ["2", "5"] {
        assert!(report(&[&dump], &[&args[..], &[threads]].concat()) == alone, "{threads} threads");
    }
}

/// Returns the rules that were not evaluated.
fn open(report: &str) -> Vec<String> {
    let report: Value = serde_json::from_str(report).unwrap();
    let list = report["findings"]["not_evaluated"].as_array().unwrap();
    list.iter().map(|row| row["rule"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn one_client_may_hold_several_locks_with_its_random_id() {
    let mut dump = Dump::new();
    for (lock, value) in [
        ("lock:order:1", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"),
        ("lock:user:2", "8d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f"),
        ("lock:cart:3", "order-service-7d9f8b6c5d-x2x4z"),
        ("lock:task:4", "order-service-7d9f8b6c5d-x2x4z"),
    ] {
        dump.string(lock, value);
    }
    let patterns = |policy| -> Vec<_> {
        rows(&report(&[&dump], &["--policy", policy])).into_iter().map(|(pattern, ..)| pattern).collect()
    };
    assert_eq!(patterns("platform"), ["lock:cart:{int}", "lock:task:{int}"]);
    assert_eq!(patterns("service"), ["lock:cart:{int}", "lock:order:{int}", "lock:task:{int}", "lock:user:{int}"]);
}

#[test]
fn some_of_the_keys_do_not_show_that_no_lock_shares_a_value() {
    let mut dump = Dump::new();
    dump.string("lock:order:1", "order-service").string("shop:lock:order:2", "order-service");
    for (flags, evaluated) in [
        (&["--match", "lock:*"][..], false),
        (&["--type", "string"], true),
        (&["--db", "1"], false),
        (&["--match", "*"], true),
        (&[], true),
    ] {
        let report = report(&[&dump], &[&["--policy", "platform"], flags].concat());
        let is_open = open(&report).iter().any(|rule| rule == "value.lock-token");
        assert_eq!(is_open, !evaluated, "{flags:?}");
    }
}

#[test]
fn unrelated_patterns_hide_no_constant() {
    let mut dump = Dump::new();
    for i in 0..250 {
        let value = if i % 5 == 0 {
            "wagon-service".to_owned()
        } else {
            format!("{:08x}-51a3-4b0c-9d3f-6b7a1c2d3e4f", i * 7_919)
        };
        dump.string(format!("railway:lock:wagon:{i}"), value);
    }
    let word = |i: u32| ["ab", "cd", "ef", "gh", "kl", "mn", "pq", "rs", "tu", "vw"][(i % 10) as usize];
    for i in 0..10_000 {
        let (one, two, three, four) = (word(i), word(i / 10), word(i / 100), word(i / 1_000));
        dump.string(format!("biz{one}:mod{two}:kind{three}:info{four}:x"), "x");
    }
    let found = rows(&report(&[&dump], &["--policy", "platform"]));
    assert_eq!(found, [("railway:lock:wagon:{int}".to_owned(), 50, Value::Null, json!(50))]);
}

#[test]
fn values_of_which_only_some_were_compared_are_not_evaluated_if_these_show_nothing() {
    let dump = |shared: u64| {
        let mut dump = Dump::new();
        for i in 0..3_000u64 {
            let value = if i < shared { "core-service".to_owned() } else { format!("host-{i}:{}", i * 31) };
            dump.string(format!("lock:order:{i}"), value);
        }
        dump
    };
    let of = |shared| {
        let text = report(&[&dump(shared)], &["--policy", "platform"]);
        (rows(&text).len(), open(&text).iter().any(|rule| rule == "value.lock-token"))
    };
    assert_eq!((of(0), of(1_500)), ((0, true), (1, false)));
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("dump.rdb"), dump(0).bytes()).unwrap();
    let policy = "[rules]\n\"value.lock-token\" = \"must\"\n";
    std::fs::write(folder.path().join("locks.toml"), policy).unwrap();
    let status = |strict: &[&str]| {
        let args = ["analyze", "dump.rdb", "--policy", "locks.toml", "--fail-on", "must"];
        run(rdblens().args(args).args(strict).current_dir(&folder)).status.code()
    };
    assert_eq!((status(&[]), status(&["--strict-gate"])), (Some(0), Some(1)));
}
