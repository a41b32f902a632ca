//! Dumps of servers that were not at hand, written from their sources by `testdata/make_servers.py`: every command reads
//! them whole, from files and from standard input, on one thread and on several.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use rdblens::{ReadPlan, records};
use serde::Deserialize;
use serde_json::Value;

use crate::common::program::{rdblens, run_args, run_with_input, stdout_of, testdata, text};

/// Content that `testdata/make_servers.py` lists for a dump.
#[derive(Debug, Deserialize)]
struct Expected {
    /// Server that reports must name.
    server: String,
    /// Each key's database, name, type, length and expiry.
    keys: BTreeSet<KeyRow>,
}

type KeyRow = (u64, String, String, Option<u64>, Option<i64>);

/// Returns the dumps, files or folders, with what they hold.
fn dumps() -> Vec<(PathBuf, Expected)> {
    let folder = testdata().join("servers");
    let mut dumps = Vec::new();
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let expected = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
            dumps.push((path.with_extension(""), expected));
        }
    }
    assert!(dumps.len() > 1);
    dumps.sort_by(|one, other| one.0.cmp(&other.0));
    dumps
}

fn rows(path: &Path, plan: &ReadPlan) -> BTreeSet<KeyRow> {
    let rows = records(&[path], plan).unwrap().map(|record| {
        let record = record.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let kind = record.module.map_or_else(|| record.kind.to_string(), |module| module.to_string());
        let key = String::from_utf8(record.key).unwrap();
        (record.db, key, kind, record.length, record.expires_at.map(|at| at.0))
    });
    rows.collect()
}

#[test]
fn every_key_is_read_with_its_facts() {
    for (path, expected) in dumps() {
        for mmap in [true, false] {
            let mut plan = ReadPlan::new(std::env::temp_dir());
            plan.open.mmap = mmap;
            let found = rows(&path, &plan);
            let differing: Vec<_> = found.symmetric_difference(&expected.keys).take(9).collect();
            assert!(differing.is_empty(), "{}, mmap {mmap}: {differing:?}", path.display());
        }
    }
}

#[test]
fn dumps_are_sound_and_name_their_server() {
    for (path, expected) in dumps() {
        let run = run_args(&["check", path.to_str().unwrap()]);
        assert!(run.status.success(), "{}: {}", path.display(), text(&run));
        let report = report(&path, "1");
        assert_eq!(report["totals"]["keys"], expected.keys.len(), "{}", path.display());
        let server = &report["server"];
        let named = format!("{} {}", server["family"].as_str().unwrap(), server["version"].as_str().unwrap());
        assert_eq!(named, expected.server, "{}", path.display());
        assert_eq!(report, self::report(&path, "4"), "{}: differs on four threads", path.display());
    }
}

fn report(path: &Path, threads: &str) -> Value {
    let json = stdout_of(&["analyze", path.to_str().unwrap(), "--format", "json", "--threads", threads]);
    serde_json::from_str(&json).unwrap()
}

#[test]
fn standard_input_gives_the_same_keys() {
    for (path, expected) in dumps().into_iter().filter(|(path, _)| path.is_file()) {
        let input = fs::read(&path).unwrap();
        let run = run_with_input(rdblens().args(["keys", "-", "--format", "ndjson"]), input);
        assert!(run.status.success(), "{}: {}", path.display(), text(&run));
        let rows = String::from_utf8(run.stdout).unwrap();
        assert_eq!(rows.lines().count(), expected.keys.len(), "{}", path.display());
    }
}

#[test]
fn values_of_dragonfly_are_shown() {
    let shard = testdata().join("servers/dragonfly-shard.dfs");
    let show = |key: &str| -> Value {
        let args = ["show", shard.to_str().unwrap(), key, "--format", "json"];
        serde_json::from_str(&stdout_of(&args)).unwrap()
    };
    let text = |key: &str| show(key).to_string();
    assert!(text("set:0").contains(r#"["m","n"]"#), "{}", text("set:0"));
    // The expiry counts from Dragonfly's own epoch: 114790400 s after 1675209600.
    assert!(text("hash:0").contains("1790000000000"), "{}", text("hash:0"));
    assert!(text("json:0").contains("null"), "{}", text("json:0"));
    let long = show("long-hash:0");
    assert!(long.to_string().contains("value:00599"), "{long}");
    assert_eq!(show("user:0:7")["memory"], Value::Null);
}

#[test]
fn a_missing_shard_makes_the_report_incomplete() {
    let folder = tempfile::tempdir().unwrap();
    let from = testdata().join("servers/dragonfly");
    let copy = |name: &str| fs::copy(from.join(name), folder.path().join(name)).unwrap();
    for name in ["dump-summary.dfs", "dump-0000.dfs", "dump-0001.dfs"] {
        copy(name);
    }
    let summary = folder.path().join("dump-summary.dfs");
    let run = |command: &str, input: &Path| run_args(&[command, input.to_str().unwrap(), "--format", "json"]);
    assert_eq!(run("analyze", &summary).status.code(), Some(0));
    for (gone, named) in [("dump-0001.dfs", "0001"), ("dump-0000.dfs", "0000")] {
        fs::remove_file(folder.path().join(gone)).unwrap();
        for input in [&summary, folder.path()] {
            let run = run("analyze", input);
            assert_eq!(run.status.code(), Some(4), "{}", text(&run));
            let report: Value = serde_json::from_slice(&run.stdout).unwrap();
            assert_eq!(report["complete"], false);
            let files = report["source"]["files"].as_array().unwrap();
            let missing = files.last().unwrap();
            assert!(missing["name"].as_str().unwrap().ends_with(gone), "{missing}");
            let said = missing["errors"][0]["text"].as_str().unwrap();
            assert!(said.contains("2 shards, 1 of them missing") && said.contains(named), "{said}");
        }
        assert_eq!(run("check", &summary).status.code(), Some(4));
        copy(gone);
    }
    // A shard that is named by itself is what was asked for, and one of another snapshot is none of these.
    assert_eq!(run("analyze", &folder.path().join("dump-0000.dfs")).status.code(), Some(0));
    let shard = fs::read(from.join("dump-0001.dfs")).unwrap();
    let id = shard.windows(18).position(|bytes| bytes == b"1fa2b3c4d5e6f70819").unwrap();
    let other = [&shard[..id], b"2", &shard[id + 1..]].concat();
    fs::write(folder.path().join("dump-0001.dfs"), other).unwrap();
    assert_eq!(run("analyze", &summary).status.code(), Some(4));
}

#[test]
fn unknown_memory_is_no_figure_in_reports() {
    let dump = testdata().join("servers/dragonfly.rdb");
    let report =
        |lang, form| stdout_of(&["analyze", "--full", dump.to_str().unwrap(), "--lang", lang, "--format", form]);
    for form in ["table", "markdown"] {
        let (en, zh) = (report("en", form), report("zh", form));
        assert!(en.contains("memory unknown") && zh.contains("内存未知"), "{en}{zh}");
        for figure in [
            " 0 B",
            "at least",
            "; memory model:",
            "the heaviest",
            "heaviest type",
            "至少",
            "；内存模型：",
            "最大的类型",
        ] {
            assert!(!en.contains(figure) && !zh.contains(figure), "{figure}: {en}{zh}");
        }
    }
}

#[test]
fn keys_of_dragonfly_have_figures_of_the_server_asked_for() {
    let shard = testdata().join("servers/dragonfly-shard.dfs");
    let report = |more: &[&str]| -> Value {
        let args = [&["analyze", shard.to_str().unwrap(), "--format", "json"], more].concat();
        serde_json::from_str(&stdout_of(&args)).unwrap()
    };
    let unknown = report(&[]);
    assert_eq!(unknown["totals"]["memory"], 0);
    assert!(unknown["instance"].is_null(), "{}", unknown["instance"]);
    assert!(unknown["warnings"].to_string().contains("no-model"), "{}", unknown["warnings"]);
    let priced = report(&["--server", "redis-7.2"]);
    assert!(priced["totals"]["memory"].as_u64() > Some(100_000));
    assert!(!priced["warnings"].to_string().contains("no-model"));
}

#[test]
fn unknown_memory_is_no_figure_in_comparisons_and_drafts() {
    let folder = tempfile::tempdir().unwrap();
    let (one, two) = (testdata().join("servers/dragonfly.rdb"), testdata().join("servers/dragonfly-shard.dfs"));
    let (one, two) = (one.to_str().unwrap(), two.to_str().unwrap());
    let stored = ["one.json", "two.json"].map(|name| folder.path().join(name).to_str().unwrap().to_owned());
    for (dump, report) in [one, two].into_iter().zip(&stored) {
        stdout_of(&["analyze", dump, "--format", "json", "-o", report]);
    }
    let [old, new] = &stored;
    let growth = stdout_of(&["compare", old, new, "--format", "csv"]);
    assert_eq!(growth.lines().nth(1), Some("all,,,2,,418,"));
    assert!(growth.contains("\ntype,hash,,0,0,"), "a type that was not there took nothing: {growth}");
    let metrics = stdout_of(&["compare", old, new, "--format", "prometheus"]);
    assert!(metrics.contains("\nrdblens_compare_growth_keys 416"), "{metrics}");
    for name in ["rdblens_compare_memory_bytes{", "rdblens_compare_growth_bytes ", "rdblens_pattern_growth_bytes{"] {
        assert!(!metrics.contains(&format!("\n{name}")), "{name}: {metrics}");
    }
    for condition in ["growth=10%", "pattern=10%"] {
        let gate = run_args(&["compare", old, new, "--fail-on", condition, "--strict-gate"]);
        let said = text(&gate);
        assert!(gate.status.code() == Some(1) && said.contains("the memory of the keys is unknown"), "{said}");
    }
    let keys = |more: &[&str]| stdout_of(&[&["compare", "--keys", one, two], more].concat());
    let sides = keys(&["--format", "csv", "--section", "sides"]);
    assert!(sides.contains(",2,,0,0,0,true") && sides.contains(",418,,0,0,0,true"), "{sides}");
    assert!(keys(&["--format", "csv"]).contains("\nadded,418,\nremoved,2,\nexpired,0,0\n"));
    assert!(!keys(&["--format", "prometheus"]).contains("_memory_bytes{side"));
    let table = keys(&[]);
    let added = table.lines().find(|line| line.starts_with("added ")).unwrap();
    assert!(added.ends_with("99.5 %") && !table.contains("memory"), "{table}");
    let what_if = stdout_of(&["analyze", one, "--what-if", "redis-7.2", "--section", "what-if"]);
    assert!(what_if.contains("there is nothing to compare") && !what_if.contains(" 0 "), "{what_if}");
    let what_if = stdout_of(&["analyze", one, "--what-if", "redis-7.2", "--format", "csv", "--section", "what-if"]);
    assert!(what_if.lines().nth(2).unwrap().contains(",,,"), "{what_if}");
    let draft = stdout_of(&["dictionary", one]);
    assert!(draft.contains("# 1 key, memory unknown; never expire") && !draft.contains("0 B"), "{draft}");
}
