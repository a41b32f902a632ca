//! Compares `memory` of each key with `MEMORY USAGE` of real servers.
//!
//! Each folder has the server's own answers for every key after two starts from exactly this file; `common::truth` says
//! which folders are covered. Figures that are deterministic must be exact; those that depend on randomness in the server
//! (levels of skiplists, collisions in hash tables) must be close. Two random figures may agree by chance: the line `that
//! said the same twice` counts all keys whose two figures agree, `exact` those that are deterministic.
//!
//! `UPDATE_GOLDEN=1 RDBLENS_CORPUS=../shared/corpus:../shared/corpus-new cargo test --profile ci --test it memory::` renews
//! the tables of docs/memory-model.md; without the first variable it compares the tables with the measurements on the
//! same folders. `RDBLENS_SHOW=50` prints more of the differences.

use std::collections::BTreeMap;

use crate::common::keys::{KeysRow, keys_of_folder, rows, shown};
use crate::common::measured::{MeasuredDump, Tables, share};
use crate::common::program::text;
use crate::common::truth::{Folder, Truth, folders};

/// Result of comparing one folder.
#[derive(Debug, Default)]
struct Outcome {
    keys: usize,
    /// Keys with a deterministic figure and how many of those are exact, by type and encoding.
    exact: BTreeMap<String, (usize, usize)>,
    /// Keys whose two figures agree, and how many of those are exact.
    twice: (usize, usize),
    misses: Vec<String>,
    /// Memory of keys with a random figure: ours, and the server's (mean of two).
    random: (u64, u64),
    /// Memory of all keys, likewise.
    all: (u64, u64),
    far: Vec<String>,
}

/// Keys with at least this many elements must be within [`TOLERANCE`] where the server is random.
const MANY: u64 = 100;
const TOLERANCE: f64 = 0.02;
/// Tolerance in chained buckets of a hash table, above or below the expected number, whatever its size.
const BUCKETS: u64 = 3 * 64;
/// Three standard deviations of the size of a skiplist node.
const NODE_DEVIATION: u64 = 3 * 13;
const TOTAL_TOLERANCE: f64 = 0.01;
/// Minimum share of exact keys.
const GOAL: f64 = 0.999;

fn compare(folder: &Folder) -> Outcome {
    let truths = folder.truth();
    let server = folder.loaded_by();
    let output = keys_of_folder(folder);
    assert!(output.status.success(), "{}: {}", folder.name, text(&output));
    let mut outcome = Outcome::default();
    for row in rows(&output.stdout) {
        let place = row.place();
        let truth = truths.get(&place).unwrap_or_else(|| panic!("{}: no truth about {place:?}", folder.name));
        outcome.keys += 1;
        outcome.compare(&shown(&place), &row, truth, truth.is_random(server));
    }
    assert_eq!(outcome.keys, truths.len(), "{}: keys are missing", folder.name);
    outcome
}

impl Outcome {
    fn compare(&mut self, name: &str, row: &KeysRow, truth: &Truth, random: bool) {
        let Some((first, second)) = truth.memory else { return };
        // A key without a figure is one that is not exact: the tool knows all modules of the corpora.
        let ours = row.memory.unwrap_or(0);
        let mean = first.midpoint(second);
        self.all = (self.all.0 + ours, self.all.1 + mean);
        let kind = format!("{}/{}", truth.kind, truth.encoding);
        if first == second {
            self.twice = (self.twice.0 + 1, self.twice.1 + usize::from(ours == first));
        }
        if first == second && !random {
            let (keys, hits) = self.exact.entry(kind.clone()).or_default();
            *keys += 1;
            *hits += usize::from(ours == first);
            if ours != first {
                self.misses.push(format!("{kind} {name}: {:?} instead of {first} ({:?})", row.memory, row.length));
            }
            return;
        }
        self.random = (self.random.0 + ours, self.random.1 + mean);
        let luck =
            if truth.encoding == "skiplist" { NODE_DEVIATION * row.length.unwrap_or(0).isqrt() } else { BUCKETS };
        let near = |theirs: u64| apart(ours, theirs) <= TOLERANCE || ours.abs_diff(theirs) <= luck;
        if row.length.unwrap_or(0) >= MANY && !near(first) && !near(second) {
            self.far.push(format!("far: {kind} {name}: {ours} instead of {first} or {second} ({:?})", row.length));
        }
    }

    fn exact(&self) -> (usize, usize) {
        self.exact.values().fold((0, 0), |(keys, hits), (k, h)| (keys + k, hits + h))
    }
}

fn apart(ours: u64, theirs: u64) -> f64 {
    if ours == theirs { 0.0 } else { (ours as f64 - theirs as f64).abs() / theirs as f64 }
}

#[test]
fn every_key_matches_its_server() {
    let limit = std::env::var("RDBLENS_SHOW").ok().and_then(|n| n.parse().ok()).unwrap_or(5);
    let mut tables = Tables::default();
    let mut below = Vec::new();
    for folder in folders() {
        let outcome = compare(&folder);
        let exact = outcome.exact();
        let drift = apart(outcome.random.0, outcome.random.1);
        for miss in outcome.misses.iter().chain(&outcome.far).take(limit) {
            println!("{}: {miss}", folder.name);
        }
        println!("{}: {:.2} % of all that said the same twice", folder.name, share(outcome.twice) * 100.0);
        let sums_are_near = drift <= TOTAL_TOLERANCE && apart(outcome.all.0, outcome.all.1) <= TOTAL_TOLERANCE;
        let approximate = folder.allocator() == "glibc";
        if !approximate && (share(exact) < GOAL || !sums_are_near || !outcome.far.is_empty()) {
            below.push(folder.name.clone());
        }
        let server = folder.loaded_by();
        let line = server.line();
        tables.add(MeasuredDump {
            name: folder.name,
            server: format!("{} {}.{}", server.family.name(), line.0, line.1),
            keys: outcome.keys,
            exact: outcome.exact,
            drift,
            approximate,
        });
    }
    println!("{}", tables.by_dump());
    println!("{}", tables.by_server());
    println!("{}", tables.by_dump_and_encoding());
    assert!(below.is_empty(), "below the goal: {below:?}");
    tables.compare_with_document();
}
