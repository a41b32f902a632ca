//! Alternatives give the figures of separate runs, and requesting them changes nothing else.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rdblens::Kind;
use rdblens::internals::analyze::records::{OwnedRecord, records};
use rdblens::internals::analyze::{InputCheck, Plan, ReadPlan, Unwatched, analyze};
use rdblens::internals::memory::{Allocator, Server, WhatIf};
use rdblens::internals::units::Bytes;
use rdblens::report::{Alternative, Report, WarningKind, WhatIfBase};

/// Alternatives: every family, both directions, allocators, limits of every type by old and new names, and
/// combinations.
const ASKED: [&str; 8] = [
    "redis-4.0",
    "redis-6.2,jemalloc-q16",
    "redis-8.2",
    "valkey-8.0,cluster-enabled=yes",
    "valkey-9.1,hash-max-listpack-entries=2,zset-max-listpack-value=8",
    "glibc",
    "hash-max-ziplist-value=5,zset-max-ziplist-entries=3,set-max-intset-entries=4,list-max-ziplist-size=2",
    "hash-max-listpack-entries=100kb,set-max-listpack-entries=2000,list-max-listpack-size=-5,list-compress-depth=1",
];

fn testdata(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata").join(name)
}

fn read_plan(asked: &[&str]) -> ReadPlan {
    let mut plan = ReadPlan { inputs: InputCheck::None, ..ReadPlan::new(std::env::temp_dir()) };
    plan.what_if = asked.iter().map(|text| WhatIf::parse(text).unwrap()).collect();
    plan
}

/// Returns the plan of a separate run with the corresponding `--server`, `--allocator` and `--server-config`.
fn plan_of_its_own(asked: &str) -> ReadPlan {
    let mut plan = read_plan(&[]);
    for part in asked.split(',') {
        match (part.split_once('='), Allocator::parse(part)) {
            (Some((name, value)), _) => plan.config.set(name, value).unwrap(),
            (None, Ok(allocator)) => plan.allocator = allocator,
            (None, Err(_)) => plan.server = Some(Server::parse(part).unwrap()),
        }
    }
    plan
}

fn report(inputs: &[PathBuf], read: ReadPlan, top: usize) -> Report {
    analyze(inputs, &Plan { top, ..Plan::new(read) }, &Unwatched).unwrap()
}

fn by_type(report: &Report) -> BTreeMap<&'static str, Bytes> {
    let mut sums = BTreeMap::new();
    for row in &report.types {
        *sums.entry(row.kind.name()).or_insert(Bytes(0)) += row.memory;
    }
    sums
}

/// Returns every snapshot of the corpus, one file each.
fn corpus() -> Vec<PathBuf> {
    let mut folders: Vec<_> =
        std::fs::read_dir(testdata("corpus")).unwrap().map(|entry| entry.unwrap().path()).collect();
    folders.sort();
    let inputs = folders.iter().filter_map(|folder| {
        ["dump.rdb", "appendonly.aof", "appendonlydir"]
            .map(|name| folder.join(name))
            .into_iter()
            .find(|path| path.exists())
    });
    inputs.chain([testdata("dumps/shop.rdb")]).collect()
}

#[test]
fn each_key_takes_the_memory_of_a_separate_run() {
    let all = |inputs: &[PathBuf], plan: &ReadPlan| -> Vec<OwnedRecord> {
        records(inputs, plan).unwrap().map(|record| record.unwrap()).collect()
    };
    for input in corpus() {
        let inputs = [input];
        let asked = all(&inputs, &read_plan(&ASKED));
        assert!(asked.len() > 100);
        for (at, ask) in ASKED.iter().enumerate() {
            let own = all(&inputs, &plan_of_its_own(ask));
            assert_eq!(asked.len(), own.len());
            for (record, own) in asked.iter().zip(own) {
                let key = record.key.escape_ascii();
                assert_eq!(record.key, own.key);
                match record.alternatives.get(at) {
                    Some(&memory) => assert_eq!(memory, own.memory, "{}: {key} under {ask}", inputs[0].display()),
                    // Unknown under one of them, such as a module's value on Valkey.
                    None => assert_eq!(record.kind, Kind::Module, "{key}"),
                }
            }
        }
    }
}

/// Adds up keys, correction and tables.
fn summed(keys: Bytes, correction: Option<i64>, tables: Option<Bytes>) -> Option<Bytes> {
    let allocated = keys.0.checked_add_signed(correction?)?;
    Some(Bytes(allocated + tables?.0))
}

#[test]
fn the_sums_are_those_of_a_separate_run() {
    // All files as the shards of one deployment: every alternative is derived from each file's own server.
    let is_known =
        |input: &PathBuf| report(std::slice::from_ref(input), read_plan(&ASKED), 1).what_if.unwrap().unknown.is_none();
    let inputs: Vec<PathBuf> = corpus().into_iter().filter(is_known).collect();
    assert!(inputs.len() >= 10, "{} files without modules", inputs.len());
    let asked = report(&inputs, read_plan(&ASKED), 10_000);
    let base = by_type(&asked);
    let what_if = asked.what_if.unwrap();
    assert_eq!((what_if.base.memory, what_if.base.model.clone()), (asked.totals.memory, asked.server.model));
    let WhatIfBase { memory, correction, tables, total, .. } = what_if.base;
    assert!(total.is_some() && summed(memory, correction, tables) == total);
    assert_eq!(what_if.patterns.len() as u64, asked.patterns.distinct);
    for (at, ask) in ASKED.iter().enumerate() {
        let own = report(&inputs, plan_of_its_own(ask), 10_000);
        let alternative = &what_if.alternatives[at];
        assert_eq!((alternative.ask.as_str(), alternative.memory), (*ask, own.totals.memory));
        assert_eq!(alternative.model, own.server.model);
        let Alternative { memory, correction, tables, total, .. } = alternative;
        assert_eq!(summed(*memory, *correction, *tables), *total, "{ask}");
        let difference = i128::from(own.totals.memory.0) - i128::from(asked.totals.memory.0);
        assert_eq!(i128::from(alternative.difference), difference, "{ask}");

        let types: BTreeMap<_, _> = what_if.types.iter().map(|row| (row.kind.name(), row.alternatives[at])).collect();
        assert_eq!(types, by_type(&own), "{ask}");
        let types: BTreeMap<_, _> = what_if.types.iter().map(|row| (row.kind.name(), row.memory)).collect();
        assert_eq!(types, base);

        let mut patterns: Vec<_> = what_if.patterns.iter().map(|row| (&row.pattern, row.alternatives[at])).collect();
        patterns.sort();
        let mut expected: Vec<_> = own.patterns.list.iter().map(|row| (&row.pattern, row.memory)).collect();
        expected.sort();
        assert_eq!(patterns, expected, "{ask}");
    }
}

#[test]
fn asking_changes_no_other_figure() {
    let hostile = std::fs::read_dir(testdata("hostile")).unwrap().map(|entry| entry.unwrap().path());
    for input in corpus().into_iter().chain(hostile.filter(|path| path.extension().is_some_and(|end| end == "rdb"))) {
        let text = |asked: &[&str]| {
            let report = analyze(&[&input], &Plan::new(read_plan(asked)), &Unwatched);
            report.map_err(|error| error.to_string()).map(|mut report| {
                assert_eq!(report.what_if.take().is_some(), !asked.is_empty());
                assert_eq!(std::mem::take(&mut report.options.flags).len(), asked.len());
                report.warnings.retain(|warning| !matches!(warning.kind, WarningKind::UnknownElsewhere { .. }));
                serde_json::to_string(&report).unwrap()
            })
        };
        assert_eq!(text(&ASKED), text(&[]), "{}", input.display());
    }
}

#[test]
fn the_section_is_the_same_for_any_number_of_threads() {
    let with = |threads| {
        let mut plan = read_plan(&ASKED);
        plan.threads = threads;
        serde_json::to_string(&report(&corpus(), plan, 20).what_if).unwrap()
    };
    let one = with(1);
    assert!(one.len() > 1000);
    for threads in [2, 3, 16] {
        assert!(with(threads) == one, "{threads} threads make another section");
    }
}
