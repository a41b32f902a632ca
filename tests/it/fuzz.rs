//! The checks of the fuzz targets, on the test data, on the inputs that fuzzing kept, and on mutants of them.

#[path = "../../fuzz/src/lib.rs"]
mod targets;

use std::fs;

use proptest::prelude::*;
use targets::{Sample, TARGETS, seeds};

/// Returns the seeds of a target and the inputs kept for it.
fn inputs(target: &str) -> Vec<Vec<u8>> {
    let mut inputs = seeds::of_target(target);
    inputs.extend(seeds::files(&format!("fuzz/stored/{target}")).into_iter().map(|file| fs::read(file).unwrap()));
    inputs
}

#[test]
fn every_target_passes_on_its_seeds_and_stored_inputs() {
    for (target, check) in TARGETS {
        let inputs = inputs(target);
        assert!(inputs.len() > 3, "{target}: {}", inputs.len());
        let (first, second) = inputs.split_at(inputs.len() / 2);
        // Not in a pool of rayon: a check has pools of its own.
        std::thread::scope(|scope| {
            for half in [first, second] {
                scope.spawn(move || half.iter().for_each(|input| check(input)));
            }
        });
    }
}

#[test]
fn every_target_is_a_binary_that_cargo_fuzz_finds() {
    let manifest = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/Cargo.toml")).unwrap();
    for (target, _) in TARGETS {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{target}.rs\"")), "{target}");
    }
    let targets = seeds::files("fuzz/fuzz_targets");
    assert_eq!(targets.len(), TARGETS.len(), "{targets:?}");
}

#[test]
fn seeds_are_written_one_to_a_file() {
    let folder = tempfile::tempdir().unwrap();
    seeds::write("show", Some(folder.path().into()));
    let mut written: Vec<Vec<u8>> =
        fs::read_dir(folder.path()).unwrap().map(|entry| fs::read(entry.unwrap().path()).unwrap()).collect();
    written.sort();
    assert_eq!(written, seeds::of_target("show"));
}

#[test]
fn sample_takes_one_of_each_choice() {
    let mut taken = std::collections::BTreeSet::new();
    for number in 0..100_u8 {
        let mut sample = Sample::one(&[number]);
        taken.extend(sample.of(vec!["a", "b"]).into_iter().zip(sample.of((0..5).collect())));
    }
    assert_eq!(taken.len(), 10, "{taken:?}");
    assert_eq!(Sample::All.of(vec![1, 2]), [1, 2]);
}

/// Change of an input: at a share of its length, so many bytes are replaced by these.
type Change = (f64, usize, Vec<u8>);

fn changed(mut input: Vec<u8>, changes: &[Change]) -> Vec<u8> {
    for (share, removed, bytes) in changes {
        let at = (input.len() as f64 * share) as usize;
        let end = (at + removed).min(input.len());
        input.splice(at..end, bytes.iter().copied());
    }
    input
}

/// Returns the number of mutants of each target: few, unless the environment asks for more (`PROPTEST_CASES=10000`).
fn cases() -> ProptestConfig {
    let asked = std::env::var("PROPTEST_CASES").is_ok();
    if asked { ProptestConfig::default() } else { ProptestConfig::with_cases(32) }
}

/// Returns whether a target is one of those that the environment names, or all are wanted (`FUZZ_TARGETS=partial,show`).
fn is_wanted(target: &str) -> bool {
    std::env::var("FUZZ_TARGETS").map_or(true, |wanted| wanted.split(',').any(|name| name == target))
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn every_target_passes_on_mutants(
        place in any::<prop::sample::Index>(),
        changes in prop::collection::vec((0.0..1.0, 0usize..4, prop::collection::vec(any::<u8>(), 0..4)), 1..4),
    ) {
        for (target, check) in TARGETS.into_iter().filter(|(target, _)| is_wanted(target)) {
            let inputs = SEEDS.with(|seeds| seeds.iter().find(|(name, _)| *name == target).unwrap().1.clone());
            check(&changed(inputs[place.index(inputs.len())].clone(), &changes));
        }
    }
}

thread_local! {
    /// Seeds of each target, read once.
    static SEEDS: Vec<(&'static str, Vec<Vec<u8>>)> = TARGETS.map(|(target, _)| (target, seeds::of_target(target))).to_vec();
}
