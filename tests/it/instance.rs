//! Compares our figures for whole servers with those of the servers started on the dump.
//!
//! `common::truth` says which folders are covered; prints one line per folder with `-- --nocapture`. The corpora are
//! small: the memory of an empty server beyond its start-up memory is a few per cent of them. It does not depend on the
//! content, so that is what is asserted; `.ci/checks/test_live_instance.py` has large ones.

use std::ops::RangeInclusive;

use rdblens::internals::memory::ServerFamily;
use serde_json::Value;

use crate::common::program::{rdblens, run, stdout_of, text};
use crate::common::truth::{Folder, folders};

/// Memory beyond `used_memory_startup` and the keys: buffers, Lua, functions.
const EMPTY: RangeInclusive<i64> = 40_000..=220_000;
/// Tolerance for chained buckets, which depend on the hash seed.
const BUCKETS: i64 = 10 * 64;

fn number(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value} is a number"))
}

/// Returns the section of a report.
fn instance(folder: &Folder) -> Value {
    let output = run(rdblens().arg("analyze").arg(folder.input()).args(["--format", "json"]).args(folder.options()));
    let report: Value = serde_json::from_str(&text(&output)).expect("the report is JSON");
    report["instance"].clone()
}

/// Returns the overhead that the server reports, summed over all databases with keys. `None` if its keys were not those of
/// the file: it has dropped expired ones.
fn overhead_of(folder: &Folder) -> Option<i64> {
    let server = folder.description();
    let expired = folder.truth().values().filter(|truth| truth.expired).count();
    if server["expired_rows"].as_u64() != u64::try_from(expired).ok() || folder.was_written_by_another() {
        return None;
    }
    let databases = server["memory_stats"].as_object()?.iter().filter_map(|(name, lines)| {
        let has_keys = server["dbsize"][name.strip_prefix("db.")?].as_u64() > Some(0);
        lines.as_object().filter(|_| has_keys)
    });
    Some(databases.flat_map(|lines| lines.values()).map(number).sum())
}

/// Returns what the server takes that is neither of its keys nor there when it is empty.
fn besides(folder: &Folder) -> i64 {
    let restart = &folder.description()["restart_check"]["info_memory"];
    let backlog = &restart["mem_replication_backlog"];
    if backlog.is_null() { 0 } else { number(backlog) }
}

#[test]
fn the_rest_of_used_memory_is_an_empty_server() {
    let mut faults = Vec::new();
    let mut compared = 0;
    for folder in folders() {
        let server = folder.description();
        // Append-only files hold another state than the server was asked about, modules take memory besides their values, and
        // KeyDB has structures of its own.
        let keydb = folder.loaded_by().family == ServerFamily::Keydb;
        let other = keydb || folder.has_modules() || !folder.input().ends_with("dump.rdb");
        let restart = &server["restart_check"]["info_memory"];
        if other || restart["used_memory_startup"].is_null() {
            continue;
        }
        compared += 1;
        let ours = instance(&folder);
        let used = number(&restart["used_memory"]) - number(&restart["used_memory_startup"]);
        let left = used - number(&ours["total"]);
        let overhead: i64 = ["main", "expires", "slots"].map(|line| number(&ours["overhead"][line])).iter().sum();
        let told = overhead_of(&folder).unwrap_or(overhead);
        let off = overhead - told;
        println!("{:<30} used {used:>9}  left {left:>7}  overhead {told:>8}  off {off:>5}", folder.name);
        let loaded_by = folder.loaded_by();
        let of_buckets = loaded_by.family == ServerFamily::Valkey && loaded_by.line() >= (8, 1);
        let most = EMPTY.end() + besides(&folder);
        if !(*EMPTY.start()..=most).contains(&left) || off.abs() > if of_buckets { BUCKETS } else { 0 } {
            faults.push(format!("{}: {left} bytes left of {used}, overhead {off} off", folder.name));
        }
    }
    assert!(compared > 0, "no folder was compared");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn tables_of_databases_and_what_is_outside_of_them_are_all_tables() {
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");
    for (server, outside) in [("valkey-9.1", 262_160), ("valkey-8.1", 262_160), ("valkey-8.0", 0), ("redis-7.0", 0)] {
        let args = ["analyze", shop, "--server", server, "--server-config", "cluster-enabled=yes", "--format", "json"];
        let report: Value = serde_json::from_str(&stdout_of(&args)).unwrap();
        let instance = &report["instance"];
        let sum = |row: &Value, fields: &[&str]| fields.iter().map(|field| row[*field].as_u64().unwrap()).sum::<u64>();
        let databases = instance["databases"].as_array().unwrap().iter().map(|row| sum(row, &["main", "expires"]));
        let all = sum(&instance["tables"], &["main", "expires", "slots"]);
        assert_eq!(databases.sum::<u64>() + outside, all, "{server}");
        assert_eq!(instance["outside_databases"].as_u64().unwrap_or(0), outside, "{server}");
    }
}

#[test]
fn modules_that_the_total_takes_at_their_word_are_named() {
    let modules = |input: &str| {
        let input = format!("{}/testdata/{input}", env!("CARGO_MANIFEST_DIR"));
        let report: Value = serde_json::from_str(&stdout_of(&["analyze", &input, "--format", "json"])).unwrap();
        let warnings = report["warnings"].as_array().unwrap();
        let named = warnings.iter().filter(|warning| warning["kind"] == "modules-as-reported");
        named.map(|warning| warning["modules"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(modules("corpus/redis-7.4.1-json/dump.rdb"), [serde_json::json!(["ReJSON-RL"])]);
    assert!(modules("dumps/shop.rdb").is_empty());
    assert!(modules("corpus/redis-8.0.6-lfu/dump.rdb").is_empty(), "vector sets are computed");
}
