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
            assert_eq!(rows(&path, &plan), expected.keys, "{}, mmap {mmap}", path.display());
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
