//! Several files of different times: a key is compared with the time of its own file, unless `--at` is given.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::dump::{CTIME, Dump};
use crate::common::program::{rdblens, run, run_args, stdout_of, text};

/// Milliseconds between the two files.
const APART: i64 = 600_000;

const POLICY: &str = "[rules]\n\"ttl.expired-present\" = \"should\"\n\
    [rules.\"ttl.too-long\"]\nseverity = \"should\"\nmax = \"1h\"\njitter = \"0s\"\n";

/// A folder with two shards and a policy.
struct Shards(tempfile::TempDir);

impl Shards {
    fn new() -> Shards {
        let (mut early, mut late) = (Dump::taken(CTIME), Dump::taken(CTIME + APART));
        // Alive when its server saved it, and longer than an hour only then.
        early.expires_at(CTIME + 3000).string("otp:1", "x".repeat(100));
        early.expires_at(CTIME + 3_660_000).string("long:1", "v");
        early.expires_at(CTIME - 2000).string("dead:1", "v");
        late.expires_at(CTIME + 3000).string("dead:2", "v");
        late.expires_at(CTIME + APART + 5000).string("otp:2", "v").string("user:1", "v");
        let folder = tempfile::tempdir().unwrap();
        let files = [("a.rdb", early.bytes()), ("b.rdb", late.bytes()), ("policy.toml", POLICY.into())];
        files.iter().for_each(|(name, bytes)| fs::write(folder.path().join(name), bytes).unwrap());
        Shards(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Returns the report on both files in this order.
    fn report(&self, order: [&str; 2], flags: &[&str]) -> Value {
        let (first, second, policy) = (self.path(order[0]), self.path(order[1]), self.path("policy.toml"));
        let args = ["analyze", &first, &second, "--policy", &policy, "--format", "json", "-q"];
        let output = run_args(&[&args[..], flags].concat());
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)))
    }
}

/// Returns the keys of the examples of a finding.
fn broken<'r>(report: &'r Value, rule: &str) -> Vec<&'r str> {
    let found = report["findings"]["list"].as_array().unwrap().iter().filter(|finding| finding["rule"] == rule);
    let patterns = found.flat_map(|finding| finding["patterns"].as_array().unwrap());
    let mut names: Vec<_> = patterns.map(|row| row["pattern"].as_str().unwrap()).collect();
    names.sort_unstable();
    names
}

fn classes(report: &Value) -> Vec<(&str, u64)> {
    let classes = report["expiry"]["classes"].as_array().unwrap().iter();
    let counts = classes.map(|class| (class["left"].as_str().unwrap(), class["keys"].as_u64().unwrap()));
    counts.filter(|(_, keys)| *keys > 0).collect()
}

#[test]
fn the_time_left_counts_from_the_time_of_the_own_file() {
    let shards = Shards::new();
    for order in [["a.rdb", "b.rdb"], ["b.rdb", "a.rdb"]] {
        let report = shards.report(order, &[]);
        let expected = [("expired", 2), ("< 1 min", 2), ("< 6 hours", 1), ("none", 1)];
        assert_eq!(classes(&report), expected, "{order:?}");
        assert_eq!(report["totals"]["expired"]["keys"], 2);
        assert_eq!(broken(&report, "ttl.expired-present"), ["dead:{int}"]);
        assert_eq!(broken(&report, "ttl.too-long"), ["long:{int}"]);
        // Times of the report are those of the latest file.
        assert_eq!(report["options"]["reference_time"], CTIME + APART + 999);
        assert_eq!(report["server"]["ctime"], (CTIME + APART) / 1000);
        assert_eq!(report["expiry"]["next"], CTIME + APART + 5000);
    }
}

#[test]
fn a_time_that_is_given_is_that_of_all_files() {
    let at = ((CTIME + APART) / 1000).to_string();
    let report = Shards::new().report(["a.rdb", "b.rdb"], &["--at", &at]);
    assert_eq!(classes(&report), [("expired", 3), ("< 1 min", 1), ("< 1 hour", 1), ("none", 1)]);
    assert_eq!(broken(&report, "ttl.expired-present"), ["dead:{int}", "otp:{int}"]);
    assert_eq!(broken(&report, "ttl.too-long"), [""; 0]);
}

#[test]
fn rows_and_lists_have_the_keys_alive_in_their_file() {
    let shards = Shards::new();
    let (early, late) = (shards.path("a.rdb"), shards.path("b.rdb"));
    let rows = stdout_of(&["keys", &early, &late, "--no-expired", "--quiet", "--format", "csv"]);
    let names: Vec<_> = rows
        .lines()
        .skip(1)
        .map(|row| {
            ["otp:1", "long:1", "dead:1", "dead:2", "otp:2", "user:1"].into_iter().find(|name| row.contains(name))
        })
        .collect();
    assert_eq!(names, [Some("otp:1"), Some("long:1"), Some("otp:2"), Some("user:1")], "{rows}");
    let table = stdout_of(&["analyze", &early, &late, "--section", "heaviest", "-q"]);
    let row = table.lines().find(|line| line.contains("otp:1")).unwrap();
    assert!(row.contains("2 seconds") && !row.contains("expired"), "{table}");
}

#[test]
fn parts_compare_each_key_with_its_own_file() {
    let shards = Shards::new();
    let (early, late, policy) = (shards.path("a.rdb"), shards.path("b.rdb"), shards.path("policy.toml"));
    let plan = shards.path("plan.json");
    let done = |args: &[&str]| assert!(run(rdblens().args(args)).status.success(), "{args:?}");
    for flags in [&[][..], &["--no-expired"], &["--at", "1700000600"]] {
        done(&[&["plan", &early, &late, "--policy", &policy, "-q", "--force", "-o", &plan], flags].concat());
        let parts: Vec<String> = ["1", "2"]
            .into_iter()
            .map(|file| {
                let part = shards.path(&format!("{file}.part"));
                done(&["analyze", "--partial", "--plan", &plan, "--file", file, "-q", "--force", "-o", &part]);
                assert!(Path::new(&part).exists());
                part
            })
            .collect();
        let merged = stdout_of(&["merge", "--plan", &plan, &parts[1], &parts[0], "--format", "json"]);
        let whole = [&["analyze", &early, &late, "--policy", &policy, "--format", "json", "-q"], flags].concat();
        assert_eq!(merged, stdout_of(&whole), "{flags:?}");
    }
}
