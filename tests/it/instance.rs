//! Compares our figures for whole servers with those of the servers started on the dump.
//!
//! Covers `testdata/corpus`, or the folders in `RDBLENS_CORPUS` if that is set; prints one line per folder with
//! `-- --nocapture`. The corpora are small: the memory of an empty server beyond its start-up memory is a few per cent
//! of
//! them. It does not depend on the content, so that is what is asserted; `.ci/checks/test_live_instance.py` has large
//! ones.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::program::{rdblens, run, testdata, text};
use crate::common::truth::Folder;

/// Memory beyond `used_memory_startup` and the keys: buffers, Lua, functions.
const EMPTY: RangeInclusive<i64> = 40_000..=220_000;
/// Tolerance for chained buckets, which depend on the hash seed.
const BUCKETS: i64 = 10 * 64;

fn corpus() -> PathBuf {
    std::env::var_os("RDBLENS_CORPUS").map_or_else(|| testdata().join("corpus"), PathBuf::from)
}

fn number(value: &Value) -> i64 {
    value.as_i64().or_else(|| value.as_str()?.parse().ok()).unwrap_or_else(|| panic!("{value} is a number"))
}

/// Returns the section of a report.
fn instance(folder: &Folder, server: &Value) -> Value {
    let mut command = rdblens();
    command.arg("analyze").arg(folder.input()).args(["--format", "json", "--allocator", folder.allocator()]);
    for setting in folder.settings() {
        command.args(["--server-config", &setting]);
    }
    for name in ["cluster-enabled", "maxmemory", "maxmemory-policy"] {
        if let Some(value) = server["config"][name].as_str() {
            command.args(["--server-config", &format!("{name}={value}")]);
        }
    }
    if folder.name.ends_with("-cluster") {
        command.args(["--server-config", "cluster-enabled=yes"]);
    }
    let output = run(&mut command);
    let report: Value = serde_json::from_str(&text(&output)).expect("the report is JSON");
    report["instance"].clone()
}

/// Returns the overhead that the server reports, summed over all databases.
fn overhead_of(server: &Value) -> Option<i64> {
    let stats = server["memory_stats"].as_object()?;
    let databases = stats.iter().filter(|(name, _)| name.starts_with("db.")).filter_map(|(_, lines)| lines.as_object());
    Some(databases.flat_map(|lines| lines.values()).map(number).sum())
}

#[test]
fn the_rest_of_used_memory_is_an_empty_server() {
    let mut faults = Vec::new();
    let mut compared = 0;
    for folder in Folder::all(&corpus()) {
        let json = fs::read(folder.path.join("server.json")).expect("server.json is there");
        let server: Value = serde_json::from_slice(&json).expect("server.json is JSON");
        // Append-only files hold another state than the server was asked about, modules take memory besides their values, and
        // KeyDB has structures of its own.
        let other = ["-aof", "-modules", "-json", "-sketches", "-timeseries", "-falkordb"]
            .iter()
            .any(|kind| folder.name.ends_with(kind));
        let restart = &server["restart_check"]["info_memory"];
        if other || folder.name.starts_with("keydb") || restart["used_memory_startup"].is_null() {
            continue;
        }
        compared += 1;
        let ours = instance(&folder, &server);
        let used = number(&restart["used_memory"]) - number(&restart["used_memory_startup"]);
        let left = used - number(&ours["total"]);
        let overhead: i64 = ["main", "expires", "slots"].map(|line| number(&ours["overhead"][line])).iter().sum();
        let told = overhead_of(&server).unwrap_or(overhead);
        let off = overhead - told;
        println!("{:<24} used {used:>9}  left {left:>7}  overhead {told:>8}  off {off:>5}", folder.name);
        let of_buckets = ["valkey-8.1", "valkey-9"].iter().any(|line| folder.name.starts_with(line));
        if !EMPTY.contains(&left) || off.abs() > if of_buckets { BUCKETS } else { 0 } {
            faults.push(format!("{}: {left} bytes left of {used}, overhead {off} off", folder.name));
        }
    }
    assert!(compared > 0, "no folder was compared");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
