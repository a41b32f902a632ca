//! Compares facts about every key of every server's dump with what a server reported that had loaded it.
//!
//! Type, encoding, length, expiry, idle time and frequency must be equal for each key; memory is the subject of `memory`.
//! With `-- --nocapture` it prints one line per folder. `common::truth` says which folders are covered.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

use crate::common::keys::{KeysRow, keys_of, keys_of_folder, rows, shown};
use crate::common::program::{rdblens, run, run_with_input, testdata, text};
use crate::common::truth::{Folder, Place, Truth, folders};

/// Result of comparing a folder.
struct Outcome {
    compared: usize,
    faults: Vec<String>,
}

/// Maximum number of faults printed per folder.
const SHOWN: usize = 10;

/// Records a difference between the row and the server's answer.
fn differ<T: PartialEq + std::fmt::Debug>(faults: &mut Vec<String>, place: &Place, what: &str, ours: &T, theirs: &T) {
    if ours != theirs {
        faults.push(format!("{}: {what} {ours:?}, the server says {theirs:?}", shown(place)));
    }
}

fn compare_key(faults: &mut Vec<String>, place: &Place, row: &KeysRow, truth: &Truth) {
    differ(faults, place, "expires_at", &row.expires_at, &truth.expires_at);
    if truth.is_module() {
        differ(faults, place, "type", &row.kind.as_str(), &"module");
        differ(faults, place, "module", &row.module.as_deref(), &Some(&truth.kind));
    } else {
        differ(faults, place, "type", &row.kind, &truth.kind);
        if !truth.encoding.is_empty() {
            differ(faults, place, "encoding", &row.encoding, &truth.encoding);
        }
        differ(faults, place, "length", &row.length, &truth.length);
    }
    if let Some(idle) = truth.idle {
        // The SAVE may fall into the next second after the query.
        let near = row.idle.is_some_and(|ours| ours == idle || ours == idle + 1);
        differ(faults, place, "idle", &row.idle.filter(|_| !near), &truth.idle.filter(|_| !near));
    }
    let given = [
        ("freq", row.freq.map(u64::from), truth.freq.map(u64::from)),
        ("fields_with_ttl", row.fields_with_ttl, truth.fields_with_ttl),
        ("groups", row.groups, truth.groups),
        ("pending", row.pending, truth.pending),
    ];
    for (what, ours, theirs) in given.iter().filter(|(_, _, theirs)| theirs.is_some()) {
        differ(faults, place, what, ours, theirs);
    }
}

fn compare(rows: &[KeysRow], truth: &BTreeMap<Place, Truth>) -> Outcome {
    let mut outcome = Outcome { compared: 0, faults: Vec::new() };
    let mut missing: BTreeMap<&Place, &Truth> = truth.iter().collect();
    for row in rows {
        let place = row.place();
        let Some(truth) = missing.remove(&place) else {
            let how = if truth.contains_key(&place) { "twice" } else { "extra" };
            outcome.faults.push(format!("{}: {how}", shown(&place)));
            continue;
        };
        compare_key(&mut outcome.faults, &place, row, truth);
        outcome.compared += 1;
    }
    outcome.faults.extend(missing.keys().map(|place| format!("{}: missing", shown(place))));
    outcome
}

fn examine(folder: &Folder) -> Outcome {
    let keys = keys_of_folder(folder);
    let mut outcome = compare(&rows(&keys.stdout), &folder.truth());
    if !keys.status.success() {
        outcome.faults.push(format!("keys: {}: {}", keys.status, String::from_utf8_lossy(&keys.stderr).trim_end()));
    }
    let check = run(rdblens().arg("check").arg(folder.input()));
    let says_ok = text(&check).lines().next().is_some_and(|line| line.contains(": ok: "));
    if !check.status.success() || !says_ok {
        outcome.faults.push(format!("check: {}: {}", check.status, text(&check).trim_end()));
    }
    // Servers before 3.2 do not name themselves.
    let writer = folder.writer().replace('-', " ");
    if !writer.starts_with("redis 2.") && !text(&check).contains(&writer) {
        outcome.faults.push(format!("not taken for {writer}: {}", text(&check).trim_end()));
    }
    if outcome.compared == 0 {
        outcome.faults.push("no key was compared".to_owned());
    }
    outcome
}

#[test]
fn every_key_matches_its_server() {
    let folders = folders();
    println!("{:<30} {:>6} {:>7}", "folder", "keys", "faults");
    let (mut keys, mut bad) = (0, Vec::new());
    for folder in &folders {
        let outcome = examine(folder);
        println!("{:<30} {:>6} {:>7}", folder.name, outcome.compared, outcome.faults.len());
        outcome.faults.iter().take(SHOWN).for_each(|fault| println!("    {fault}"));
        keys += outcome.compared;
        if !outcome.faults.is_empty() {
            bad.push(format!("{} ({})", folder.name, outcome.faults.len()));
        }
    }
    println!("{keys} keys compared in {} folders", folders.len());
    assert!(bad.is_empty(), "{} of {} folders differ: {}", bad.len(), folders.len(), bad.join(", "));
}

fn shop() -> PathBuf {
    testdata().join("dumps").join("shop.rdb")
}

#[test]
fn every_container_holds_the_same_keys() {
    let plain = fs::read(shop()).expect("the demo dump is committed");
    let expected = keys_of(&shop());
    assert!(rows(&expected).len() > 5000, "the demo dump has its keys");
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    let mark: &[u8] = b"0123456789abcdef0123456789abcdef01234567";
    let announced = format!("${}\r\n", plain.len());
    let containers: [(&str, Vec<u8>); 7] = [
        ("shop.gz", gzip(&plain)),
        ("two_members.gz", [gzip(&plain[..100_000]), gzip(&plain[100_000..])].concat()),
        ("shop.zst", zstd::encode_all(&plain[..], 3).expect("memory can be compressed")),
        ("shop.lz4", lz4(&plain)),
        ("full_sync", [b"$EOF:", mark, b"\r\n", &plain, mark].concat()),
        ("full_sync_from_disk", [announced.as_bytes(), &plain].concat()),
        ("preamble.aof", [&plain[..], b"*1\r\n$4\r\nPING\r\n"].concat()),
    ];
    for (name, bytes) in containers {
        let path = folder.path().join(name);
        fs::write(&path, &bytes).expect("the folder takes files");
        assert!(keys_of(&path) == expected, "{name}: other keys than in the plain dump");
        let piped = run_with_input(rdblens().args(["keys", "-"]), bytes);
        assert!(piped.status.success(), "{name} piped: {}", text(&piped));
        assert!(piped.stdout == expected, "{name} piped: other keys than in the plain dump");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

fn lz4(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = lz4_flex::frame::FrameEncoder::new(Vec::new());
    encoder.write_all(bytes).expect("memory takes all");
    encoder.finish().expect("memory takes all")
}

#[test]
fn the_shards_of_a_deployment_are_one_snapshot() {
    let folder = tempfile::tempdir().expect("a folder for temporary files");
    for shard in ["shard-0.rdb", "shard-1.rdb"] {
        fs::copy(shop(), folder.path().join(shard)).expect("the folder takes files");
    }
    let output = run(rdblens().args(["keys", "--allow-same"]).arg(folder.path()));
    assert!(output.status.success(), "{}", text(&output));
    assert_eq!(rows(&output.stdout).len(), 2 * rows(&keys_of(&shop())).len());
    let text = std::str::from_utf8(&output.stdout).expect("NDJSON is UTF-8");
    for (row, shard) in [(text.lines().next(), "shard-0.rdb"), (text.lines().next_back(), "shard-1.rdb")] {
        let row: serde_json::Value = serde_json::from_str(row.expect("there are rows")).expect("a row is JSON");
        let source = row["source"].as_str().expect("rows of several inputs name theirs");
        assert!(source.ends_with(shard), "{source} is not {shard}");
    }
}
