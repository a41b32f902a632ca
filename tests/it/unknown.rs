//! Keys whose memory is unknown: null in rows, in no sum, counted in every form of a report.

use std::fs;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::common::dump::Dump;
use crate::common::program::{run_args, stdout_of};

/// Module `unknown-1`, which has no formula, and JSON documents of RedisJSON.
const MODULES: [(&str, u64); 2] = [("unknown-1", 3), ("ReJSON-RL", 3)];

fn dump(folder: &TempDir) -> String {
    let path = folder.path().join("dump.rdb").to_str().unwrap().to_owned();
    let mut dump = Dump::new();
    dump.string("plain:1", "x".repeat(100));
    for number in 0..3 {
        dump.module(format!("odd:{number}"), MODULES[0], &["twelve bytes"]);
    }
    dump.module("doc:1", MODULES[1], &["{\"a\":[1,2,3]}"]);
    fs::write(&path, dump.bytes()).unwrap();
    path
}

fn report(args: &[&str]) -> Value {
    serde_json::from_str(&stdout_of(&[&["analyze", "--format", "json"], args].concat())).unwrap()
}

#[test]
fn sums_leave_them_out_and_say_so() {
    let folder = TempDir::new().unwrap();
    let path = dump(&folder);
    let rows: Vec<Value> =
        stdout_of(&["keys", &path]).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let memory: Vec<&Value> = rows.iter().map(|row| &row["memory"]).collect();
    assert!(memory[0].is_u64() && memory[4].is_u64() && memory[1..4].iter().all(|memory| memory.is_null()));
    let sum = memory.iter().filter_map(|memory| memory.as_u64()).sum::<u64>();
    let stored = rows[1..4].iter().filter_map(|row| row["disk"].as_u64()).sum::<u64>();

    let report = report(&[&path]);
    let unknown = json!({ "keys": 3, "stored_bytes": stored });
    assert_eq!(report["totals"]["memory"], sum);
    assert_eq!(report["totals"]["keys"], 5);
    assert_eq!(report["totals"]["unknown"], unknown);
    assert_eq!(report["databases"][0]["unknown"], unknown);
    assert_eq!(report["source"]["files"][0]["unknown"], unknown);
    let of = |list: &Value, name: &str, field: &str| {
        list.as_array().unwrap().iter().find(|row| row[field] == name).cloned().unwrap()
    };
    let module = of(&report["types"], "unknown-1", "encoding");
    assert_eq!((&module["keys"], &module["memory"], &module["unknown"]), (&json!(3), &json!(0), &unknown));
    assert_eq!(of(&report["patterns"]["list"], "odd:{int}", "pattern")["unknown"], unknown);
    assert!(of(&report["patterns"]["list"], "doc:{int}", "pattern").get("unknown").is_none());
    let named = |list: &Value| list.to_string().contains("odd:");
    assert!(!named(&report["top"]) && !named(&report["big_keys"]));
    let warning = of(&report["warnings"], "unknown-memory", "kind");
    assert_eq!((&warning["keys"], &warning["modules"]), (&json!(3), &json!(["unknown-1"])));
}

#[test]
fn every_form_tells_them() {
    let folder = TempDir::new().unwrap();
    let path = dump(&folder);
    let form = |args: &[&str]| stdout_of(&[&["analyze", &path], args].concat());
    for (args, words) in [
        (
            &["--format", "table", "--full"][..],
            ["at least", "3 keys of unknown memory", "memory unknown: 3 keys of unknown-1"],
        ),
        (
            &["--format", "markdown", "--full"],
            ["at least", "3 keys of unknown memory", "memory unknown: 3 keys of unknown-1"],
        ),
        (&["--format", "html"], ["at least", "3 keys of unknown memory", "memory unknown: 3 keys of unknown-1"]),
        (&["--lang", "zh", "--full"], ["内存至少", "3 个 key 内存未知", "3 个 key（unknown-1）的内存未知"]),
        (&["--format", "csv", "--section", "totals"], ["unknown_keys,unknown_bytes", ",3,", ""]),
        (&["--format", "csv", "--section", "types"], ["unknown_keys,unknown_bytes", "module,unknown-1,3,", ""]),
        (
            &["--format", "prometheus"],
            ["rdblens_keys_unknown_memory 3", "rdblens_type_keys_unknown_memory", "rdblens_disk_unknown_memory_bytes"],
        ),
    ] {
        let text = form(args).split_whitespace().collect::<Vec<_>>().join(" ");
        words.iter().for_each(|words| assert!(text.contains(words), "{words:?} in {args:?}: {text}"));
    }
    let rows = stdout_of(&["keys", &path, "--format", "csv"]);
    let column = |line: &str| line.split(',').nth(7).unwrap().to_owned();
    assert_eq!(rows.lines().filter(|line| column(line).is_empty()).count(), 3);
}

#[test]
fn tables_of_classes_slots_and_budgets_show_no_figure_for_them() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("dump.rdb").to_str().unwrap().to_owned();
    let mut dump = Dump::new();
    dump.string("plain:{a}", "x".repeat(100));
    dump.expires_at(1_700_000_000_000 + 30_000).module("odd:{b}", MODULES[0], &["twelve bytes"]);
    fs::write(&path, dump.bytes()).unwrap();
    let policy = folder.path().join("team.toml");
    fs::write(&policy, "extends = \"platform\"\n[[budget]]\npattern = \"odd:**\"\nmemory = \"1MB\"\n").unwrap();
    let policy = policy.to_str().unwrap();
    let args = ["analyze", &path, "--policy", policy, "--at", "1700000000"];
    let text = stdout_of(&[&args[..], &["--format", "markdown", "--full"]].concat());
    let row =
        |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap_or_else(|| panic!("{start}: {text}"));
    for start in ["| \\< 1 min", "| `odd:**`", "| 3300"] {
        assert!(!row(start).contains(" 0 B") && !row(start).contains(" 0.0 %"), "{}", row(start));
    }
    assert!(text.to_lowercase().matches("keys of unknown memory").count() >= 3, "{text}");
    assert!(text.contains("At least ") && text.contains("; the memory of 1 key is unknown."), "{text}");
    let report = report(&args[1..]);
    assert_eq!(report["instance"]["unknown"]["keys"], 1);
    let unknown = &report["totals"]["unknown"];
    let with_unknown = |list: &Value| -> Vec<Value> {
        list.as_array().unwrap().iter().filter(|row| row.get("unknown").is_some()).cloned().collect()
    };
    for list in [&report["expiry"]["classes"], &report["slots"]["list"], &report["slots"]["ranges"]] {
        let rows = with_unknown(list);
        assert_eq!((rows.len(), &rows[0]["unknown"], &rows[0]["memory"]), (1, unknown, &json!(0)), "{list}");
    }
    for section in ["expiry", "slots", "slot-ranges"] {
        let csv = stdout_of(&[&args[..], &["--format", "csv", "--section", section]].concat());
        let counts = |line: &str| line.rsplit(',').nth(1).unwrap().to_owned();
        assert!(csv.lines().next().unwrap().ends_with("unknown_keys,unknown_bytes"), "{csv}");
        assert_eq!(csv.lines().filter(|line| counts(line) == "1").count(), 1, "{csv}");
    }
    let metrics = stdout_of(&[&args[..], &["--format", "prometheus"]].concat());
    for line in [
        "rdblens_expiry_keys_unknown_memory{left=\"< 1 min\"} 1",
        "rdblens_budget_keys_unknown_memory{pattern=\"odd:**\"} 1",
    ] {
        assert!(metrics.contains(line), "{line}");
    }
    let chinese = stdout_of(&[&args[..], &["--lang", "zh", "--full"]].concat());
    assert!(chinese.matches("内存未知的 key 数").count() >= 3, "{chinese}");
    let budgets = stdout_of(&[&args[..], &["--format", "csv", "--section", "budgets"]].concat());
    assert!(budgets.contains("unknown_keys,unknown_bytes") && budgets.contains("odd:**,1048576,1,0,1,"), "{budgets}");
}

#[test]
fn what_if_compares_only_what_is_known_on_both_sides() {
    let folder = TempDir::new().unwrap();
    let path = dump(&folder);
    // The document is priced on Redis 7.2, and unknown on Valkey.
    let report = report(&[&path, "--what-if", "valkey-9.1"]);
    let what_if = &report["what_if"];
    assert_eq!(what_if["unknown"]["keys"], 4);
    assert_eq!(what_if["types"].as_array().unwrap().len(), 1);
    let row = serde_json::from_str::<Value>(stdout_of(&["keys", &path]).lines().next().unwrap()).unwrap();
    assert_eq!(what_if["base"]["memory"], row["memory"]);
    assert!(
        report["warnings"].as_array().unwrap().iter().any(|it| it["kind"] == "unknown-elsewhere" && it["keys"] == 1)
    );
}

#[test]
fn rules_about_memory_are_not_called_kept() {
    let folder = TempDir::new().unwrap();
    let path = dump(&folder);
    let policy = folder.path().join("team.toml");
    let open = |budget: &str, maxmemory: &str| {
        let text = format!("extends = \"platform\"\n[[budget]]\npattern = \"{budget}\"\nmemory = \"1MB\"\n");
        fs::write(&policy, text).unwrap();
        let report = report(&[&path, "--policy", policy.to_str().unwrap(), "--maxmemory", maxmemory]);
        let list = report["findings"]["not_evaluated"].as_array().unwrap().clone();
        list.iter()
            .filter(|row| row["reason"] == "the memory of some keys is unknown")
            .map(|row| row["rule"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    let has = |list: &[String], rule: &str| list.iter().any(|id| id == rule);
    let in_budget = open("odd:**", "1GB");
    assert!(has(&in_budget, "memory.budget") && has(&in_budget, "memory.headroom"), "{in_budget:?}");
    let elsewhere = open("plain:**", "1GB");
    assert!(!has(&elsewhere, "memory.budget") && has(&elsewhere, "memory.headroom"), "{elsewhere:?}");
    // More than the limit is in use without them: that is known.
    assert!(!has(&open("plain:**", "100B"), "memory.headroom"));
}

#[test]
fn growth_out_of_unknown_memory_is_no_finding() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let document = format!("[{}1]", "1.5,".repeat(1 << 20));
    let mut dump = Dump::new();
    dump.module("doc:1", MODULES[1], &[&document]);
    fs::write(path("dump.rdb"), dump.bytes()).unwrap();
    let analyze = |args: &[&str]| {
        let path = path("dump.rdb");
        run_args(&[&["analyze", &path, "--policy", "platform", "--format", "json"], args].concat()).stdout
    };
    fs::write(path("earlier.json"), analyze(&["--server", "valkey-9.1"])).unwrap();
    let report: Value = serde_json::from_slice(&analyze(&["--baseline", &path("earlier.json")])).unwrap();
    assert!(report["growth"]["memory"].as_i64().unwrap() > 8 << 20);
    let rules = |field: &str| report["findings"][field].to_string().contains("\"memory.growth\"");
    assert!(!rules("list") && rules("not_evaluated") && !rules("checked"));
    assert!(report["warnings"].to_string().contains("baseline-unknown-memory"));
}
