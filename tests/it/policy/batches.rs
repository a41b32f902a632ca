//! Rules about many keys, run through the whole pipeline: batches that expire together, objects spread over strings, and
//! businesses on one instance.

use rdblens::Bytes;
use rdblens::internals::analyze::{Plan, PolicySource, ReadPlan, Unwatched, analyze};
use rdblens::report::{DetailValue, Finding, Report, WarningKind};

use crate::common::dump::{CTIME, Dump};

/// Presets with a rule about expiries that bunch.
const PRESETS: [&str; 4] = ["service", "hzero", "platform", "aliyun"];

fn report(dump: &Dump, preset: &str) -> Report {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("built.rdb");
    std::fs::write(&path, dump.bytes()).unwrap();
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    plan.policy = PolicySource::Preset(preset.to_owned());
    plan.top = 100;
    analyze(&[path], &plan, &Unwatched).unwrap()
}

fn finding<'r>(report: &'r Report, rule: &str) -> Option<&'r Finding> {
    report.findings.list.iter().find(|finding| finding.rule == rule)
}

/// Adds strings of a pattern that expire the given seconds after the snapshot.
fn expiring(dump: &mut Dump, pattern: &str, left: impl Iterator<Item = i64>) {
    for (number, left) in left.enumerate() {
        dump.expires_at(CTIME + left * 1000);
        dump.string(format!("{pattern}:{number}"), "x");
    }
}

#[test]
fn a_batch_with_the_advised_offset_passes_and_one_without_is_found() {
    for base in [60, 3_600, 7 * 86_400] {
        let (mut spread, mut at_once) = (Dump::new(), Dump::new());
        expiring(&mut spread, "cache:page:html", (0..3_000).map(|n| base + n * 7_919 % 301));
        expiring(&mut at_once, "cache:page:html", (0..3_000).map(|n| base + n % 10));
        for preset in PRESETS {
            assert!(finding(&report(&spread, preset), "ttl.storm").is_none(), "{preset}, {base} s");
            let report = report(&at_once, preset);
            assert_eq!(finding(&report, "ttl.storm").map(|found| found.keys), Some(3_000), "{preset}, {base} s");
        }
    }
}

#[test]
fn many_small_patterns_that_expire_together_are_one_finding() {
    let mut dump = Dump::new();
    for name in ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"] {
        expiring(&mut dump, &format!("shop:{name}:page"), (0..500).map(|_| 7_200));
    }
    expiring(&mut dump, "shop:other:page", (0..20_000).map(|n| 60 + n * 4));
    for preset in PRESETS {
        let report = report(&dump, preset);
        let found = finding(&report, "ttl.storm").unwrap();
        assert_eq!((found.keys, found.patterns.len(), found.patterns[0].pattern.as_deref()), (5_000, 1, None));
        let DetailValue::Parts(parts) = &found.patterns[0].details["patterns"].value else { panic!("{found:?}") };
        assert_eq!((parts.len(), parts[0].name.as_str(), parts[0].keys), (10, "shop:a:page:{int}", Some(500)));
    }
}

#[test]
fn attributes_before_the_id_are_an_object_and_tables_are_none() {
    let mut dump = Dump::new();
    for id in 0..25 {
        ["name", "age", "favor"].iter().for_each(|name| _ = dump.string(format!("member:{name}:{id}"), "x"));
        ["user", "order", "page"].iter().for_each(|name| _ = dump.string(format!("cache:{name}:{id}"), "x"));
        ["user", "order", "goods"].iter().for_each(|name| _ = dump.string(format!("shop:{name}:{id}"), "x"));
    }
    for preset in ["default", "service", "hzero", "platform", "strict", "aliyun"] {
        let report = report(&dump, preset);
        let found = finding(&report, "type.split-object").unwrap();
        let rows: Vec<_> = found.patterns.iter().map(|row| (row.pattern.as_deref(), row.keys)).collect();
        assert_eq!(rows, [(Some("member:{*}:{int}"), 75)], "{preset}");
    }
}

#[test]
fn strings_for_whole_string_commands_are_no_attributes() {
    let attributes = |value: &[u8], names: [&str; 3]| {
        let mut dump = Dump::new();
        for id in 0..25 {
            for name in names {
                let key = format!("news:stat:{id}:{name}");
                // Short values do not compress.
                let _ = if value.len() > 100 { dump.compressed(key, value) } else { dump.string(key, value) };
            }
        }
        finding(&report(&dump, "hzero"), "type.split-object").map(|found| found.keys)
    };
    let hyperloglog = [b"HYLL\x01\0\0\0", &[0; 8][..], b"\x7f\xff\x7f\xff\x7f\xff"].concat();
    let bitmap = [&[0x80, 0, 0, 0x11][..], &[0; 500]].concat();
    assert_eq!(attributes(&hyperloglog, ["dau", "ip", "uv"]), None);
    assert_eq!(attributes(&bitmap, ["raid", "signin", "war"]), None);
    assert_eq!(attributes(b"tom", ["dau", "ip", "uv"]), Some(75));
}

#[test]
fn attributes_may_have_digits_and_dots() {
    let found = |preset: &str, names: &[&str]| {
        let mut dump = Dump::new();
        for id in 0..25 {
            names.iter().for_each(|name| _ = dump.string(format!("hfle:file:{id}:{name}"), "x"));
        }
        finding(&report(&dump, preset), "type.split-object").map(|found| found.keys)
    };
    assert_eq!(found("hzero", &["name", "size", "md5"]), Some(75));
    assert_eq!(found("strict", &["first.name:string", "birth.date:string", "job.title:string"]), Some(75));
    assert_eq!(found("hzero", &["rpm", "status", "temp"]), Some(75));
    assert_eq!(found("hzero", &["node1", "node2", "node3"]), None);
}

#[test]
fn values_count_before_compression_and_without_their_expiry() {
    let mut seats = Dump::new();
    (0..1_000).for_each(|n| _ = seats.list_compressed(format!("air:flight:seatmap:{n}:economy"), &["0"; 180]));
    assert!(finding(&report(&seats, "hzero"), "key.name-cost").is_none());
    let value_bytes = |expires: bool| {
        let mut dump = Dump::new();
        for n in 0..1_000 {
            if expires {
                dump.expires_at(CTIME + 3_600_000);
            }
            dump.hash_listpack(format!("shop:member:flags:{n}"), &[("a", "b")]);
        }
        let report = report(&dump, "hzero");
        finding(&report, "key.name-cost").unwrap().patterns[0].details["value_bytes"].value.clone()
    };
    // Header and end of a listpack, and two elements of three bytes.
    assert_eq!(value_bytes(false), DetailValue::Bytes(Bytes(13_000)));
    assert_eq!(value_bytes(true), value_bytes(false));
}

#[test]
fn locks_and_caches_belong_to_the_business_behind_them() {
    let mut dump = Dump::new();
    for prefix in ["cache:", "lock:", "queue:", "counter:", "rate:", "tmp:", "session:", ""] {
        (0..20).for_each(|id| _ = dump.string(format!("{prefix}order:info:{id}"), "x"));
    }
    assert!(finding(&report(&dump, "aliyun"), "instance.mixed").is_none());
    for business in ["user", "goods", "pay", "mail", "search"] {
        (0..20).for_each(|id| _ = dump.string(format!("cache:{business}:info:{id}"), "x"));
    }
    let report = report(&dump, "aliyun");
    let found = finding(&report, "instance.mixed").unwrap();
    assert_eq!(found.worst.map(|worst| worst.measured), Some(6));
}

#[test]
fn too_many_first_segments_are_told_and_hide_no_business() {
    let mut dump = Dump::new();
    for business in ["user", "goods", "pay", "mail", "search", "feed"] {
        (0..100).for_each(|id| _ = dump.string(format!("{business}:info:{id}"), "x"));
    }
    let word = |mut n: u32| -> String {
        let letter = |_| {
            n /= 17;
            char::from(b'a' + u8::try_from(n % 17).unwrap())
        };
        (0..4).map(letter).collect()
    };
    let rows = |report: &Report| {
        let told = report.warnings.iter().any(|warning| warning.kind == WarningKind::CrowdedFirstLevel);
        let open = |rule: &str| report.findings.not_evaluated.iter().any(|other| other.rule == rule);
        let found = |rule: &str| finding(report, rule).is_some();
        let lacks = [open("instance.mixed"), open("key.name-cost")];
        (told, lacks, [found("instance.mixed"), found("key.name-cost")])
    };
    (0..1000).for_each(|n| _ = dump.string(format!("{}:clicks", word(n * 17)), "5"));
    assert_eq!(rows(&report(&dump, "aliyun")), (false, [false; 2], [true, false]));
    (1000..1100).for_each(|n| _ = dump.string(format!("{}:clicks", word(n * 17)), "5"));
    assert_eq!(rows(&report(&dump, "aliyun")), (true, [true; 2], [false; 2]));
}
