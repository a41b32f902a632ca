//! Benchmark dumps: a small one of every profile must be valid before it is worth measuring.

#[path = "../bench/dump/mod.rs"]
mod dump;

use std::collections::BTreeSet;
use std::fs::File;

use clap::ValueEnum;
use rdblens::internals::analyze::check::check;
use rdblens::internals::analyze::{Plan, ReadPlan, Unwatched, analyze};
use rdblens::report::CheckVerdict;
use rdblens::report::{Checksum, Report};

use self::dump::{Options, Profile, Scale, Tally};

const MADE_AT: u64 = 1_767_225_600;

fn options(scale: Scale) -> Options {
    Options { scale, seed: 1, version: 11, made_at: MADE_AT }
}

fn made(profile: Profile, options: &Options) -> (Tally, Vec<u8>) {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let tally = dump::write(profile, options, &mut bytes).unwrap();
    (tally, bytes.into_inner())
}

/// Writes a dump and reads it, with and without inspection of every value.
fn report(profile: Profile, options: &Options) -> (Tally, Report) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    let tally = dump::write(profile, options, File::create(&path).unwrap()).unwrap();
    let plan = ReadPlan::new(folder.path().to_owned());
    let verdict = check(&[&path], &plan, &Unwatched).unwrap();
    assert_eq!(verdict[0].verdict, CheckVerdict::Ok, "{profile:?}: {:?}", verdict[0].errors);
    assert_eq!(verdict[0].keys, tally.keys, "{profile:?}");
    let report = analyze(&[&path], &Plan::new(plan), &Unwatched).unwrap();
    (tally, report)
}

#[test]
fn every_profile_is_a_valid_dump_with_the_keys_that_were_written() {
    for profile in Profile::value_variants() {
        for version in profile.first_version()..=profile.first_version().max(11) {
            let (tally, report) = report(*profile, &Options { version, ..options(Scale::Bytes(300_000)) });
            assert!(report.complete, "{profile:?}");
            assert_eq!(report.totals.keys, tally.keys, "{profile:?}");
            assert_eq!(report.totals.keys - report.totals.without_ttl.keys, tally.expiring, "{profile:?}");
            assert_eq!(report.source.files[0].rdb_version, u32::from(version), "{profile:?}");
            assert_eq!(report.source.files[0].checksum, Checksum::Ok, "{profile:?}");
        }
    }
}

#[test]
fn scale_is_kept() {
    for profile in [Profile::Small, Profile::Packed, Profile::Wide, Profile::Mix] {
        let (tally, bytes) = made(profile, &options(Scale::Keys(321)));
        assert_eq!(tally.keys, 321, "{profile:?}");
        assert_eq!(bytes.len() as u64, tally.bytes + 9, "{profile:?}");
    }
    let (tally, _) = made(Profile::Small, &options(Scale::Bytes(50_000)));
    assert!((50_000..50_300).contains(&tally.bytes), "{tally:?}");
}

#[test]
fn the_same_seed_gives_the_same_dump_and_another_another() {
    let (_, bytes) = made(Profile::Mix, &options(Scale::Bytes(50_000)));
    let (_, again) = made(Profile::Mix, &options(Scale::Bytes(50_000)));
    let (_, other) = made(Profile::Mix, &Options { seed: 2, ..options(Scale::Bytes(50_000)) });
    assert!(bytes == again);
    assert!(bytes != other);
}

fn of_version(version: u8) -> Options {
    Options { version, ..options(Scale::Bytes(300_000)) }
}

/// Returns the types and encodings in a dump.
fn encodings(profile: Profile) -> BTreeSet<String> {
    let (_, report) = report(profile, &options(Scale::Bytes(2_000_000)));
    report.types.iter().map(|row| format!("{} as {}", row.kind.name(), row.encoding)).collect()
}

#[test]
fn profiles_hold_the_encodings_that_they_are_named_for() {
    let packed = ["hash as listpack", "list as listpack", "set as intset", "set as listpack", "zset as listpack"];
    let tables = ["hash as hashtable", "list as quicklist", "set as hashtable", "zset as skiplist"];
    let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<_>>();
    assert_eq!(encodings(Profile::Packed), of(&packed));
    assert_eq!(encodings(Profile::Tables), of(&tables));
    assert_eq!(report(Profile::Templates, &of_version(15)).1.types[0].encoding, "template-listpack");
    assert_eq!(encodings(Profile::Mix), of(&[&packed[..], &tables].concat()));
}

#[test]
fn no_two_names_of_the_wide_profile_share_a_pattern() {
    let (_, bytes) = made(Profile::Wide, &options(Scale::Keys(2_000)));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("dump.rdb");
    std::fs::write(&path, bytes).unwrap();
    let classifier = rdblens::internals::pattern::classify::Classifier::new(
        rdblens::internals::pattern::segment::Separators::default(),
    );
    let plan = ReadPlan::new(folder.path().to_owned());
    let mut patterns = BTreeSet::new();
    for record in rdblens::records(&[&path], &plan).unwrap() {
        patterns.insert(classifier.pattern_text(&record.unwrap().key));
    }
    assert_eq!(patterns.len(), 2_000);
    assert!(patterns.iter().all(|pattern| !pattern.contains('{')));
}
