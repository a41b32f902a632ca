//! `rdblens compare` over nights: folders of dumps and reports, grouped by shard and time.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, testdata, text};

/// 2026-11-17 03:00:00 UTC.
const FIRST: i64 = 1_794_884_400;
const DAY: i64 = 86_400;

/// Writes a dump of that many keys, created at a time.
fn write(path: &Path, created: i64, shard: u64, keys: u64) {
    let mut dump = Dump::new();
    (0..keys).for_each(|i| _ = dump.string(format!("shard{shard}:key:{i}"), "x".repeat(200)));
    let bytes = dump.bytes();
    let (old, new) = (b"1700000000", created.to_string());
    let at = bytes.windows(old.len()).position(|window| window == old).unwrap();
    let bytes = [&bytes[..at], new.as_bytes(), &bytes[at + old.len()..]].concat();
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// Writes five nights of two shards; `name` makes the path of a file from its date and shard.
fn nights(root: &Path, name: impl Fn(&str, u64) -> String) -> Vec<[PathBuf; 2]> {
    (0..5_u32)
        .map(|night| {
            let date = format!("2026-11-{}", 17 + night);
            let created = FIRST + i64::from(night) * DAY;
            [1, 2].map(|shard| {
                let path = root.join(name(&date, shard));
                write(&path, created + i64::try_from(shard).unwrap() * 60, shard, 1_000 + 100 * u64::from(night));
                path
            })
        })
        .collect()
}

fn in_folders(date: &str, shard: u64) -> String {
    format!("nights/{date}/shard-{shard}.rdb")
}

fn compare(root: &Path, args: &[&str]) -> Output {
    run(rdblens().current_dir(root).arg("compare").args(args))
}

fn json(root: &Path, args: &[&str], status: i32) -> Value {
    let output = compare(root, &[args, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(status), "{args:?}: {}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn names<'v>(comparison: &'v Value, list: &str) -> Vec<&'v str> {
    comparison[list].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect()
}

fn keys(comparison: &Value) -> Vec<u64> {
    comparison["snapshots"].as_array().unwrap().iter().map(|row| row["keys"].as_u64().unwrap()).collect()
}

const ALL_KEYS: [u64; 5] = [2000, 2200, 2400, 2600, 2800];

#[test]
fn folders_of_nights_are_one_series_however_they_are_laid_out() {
    type Layout = fn(&str, u64) -> String;
    let layouts: [(Layout, &str); 4] = [
        (in_folders, "nights/2026-11-17"),
        (|date, shard| format!("nights/shard-{shard}-{date}.rdb"), "2026-11-17"),
        (|date, shard| format!("nights/node-{shard}/{date}/dump.rdb"), "2026-11-17"),
        (|date, shard| format!("nights/{}/dump-{shard}.rdb", date.replace('-', "")), "nights/20261117"),
    ];
    for (layout, first) in layouts {
        let root = tempfile::tempdir().unwrap();
        nights(root.path(), layout);
        let comparison = json(root.path(), &["nights"], 0);
        assert_eq!(keys(&comparison), ALL_KEYS, "{first}");
        assert_eq!(names(&comparison, "snapshots")[0], first);
        let row = &comparison["snapshots"][0];
        assert_eq!(
            (row["taken"].as_i64(), row["files"].as_array().map(Vec::len)),
            (Some((FIRST + 120) * 1000), Some(2))
        );
        assert_eq!(comparison["growth"]["keys"], 800);
        assert_eq!(comparison["trend"]["snapshots"], 5);
        assert!(
            comparison["left_out"].as_array().unwrap().is_empty()
                && comparison["warnings"].as_array().unwrap().is_empty()
        );
    }
}

#[test]
fn the_remedy_for_nights_in_one_folder_works_as_printed() {
    let root = tempfile::tempdir().unwrap();
    for night in 0..5 {
        write(&root.path().join(format!("cache-2026-11-{}.rdb", 17 + night)), FIRST + night * DAY, 1, 10);
    }
    let refused = run(rdblens().current_dir(root.path()).args(["analyze", "."]));
    assert_eq!(refused.status.code(), Some(2));
    assert!(text(&refused).contains("did you mean `rdblens compare`"), "{}", text(&refused));
    assert_eq!(keys(&json(root.path(), &["."], 0)), [10; 5]);
}

#[test]
fn the_order_and_repetition_of_inputs_do_not_matter() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    let all = json(root.path(), &["nights"], 0);
    for inputs in [
        &["nights/2026-11-21", "nights/2026-11-17", "nights/2026-11-19", "nights/2026-11-18", "nights/2026-11-20"][..],
        &["nights", "nights/2026-11-18"],
        &["nights", "nights"],
        &["nights", "."],
        &["nights/*"],
    ] {
        let mut again = json(root.path(), inputs, 0);
        assert_eq!(again, all, "{inputs:?}");
        again["snapshots"].take();
    }
    let mut files: Vec<String> =
        (17..22).flat_map(|day| [1, 2].map(|shard| in_folders(&format!("2026-11-{day}"), shard))).collect();
    files.reverse();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    assert_eq!(keys(&json(root.path(), &files, 0)), ALL_KEYS);
}

#[test]
fn a_night_without_a_shard_is_left_out_and_no_shrink() {
    let root = tempfile::tempdir().unwrap();
    let files = nights(root.path(), in_folders);
    fs::remove_file(&files[2][1]).unwrap();
    let comparison = json(root.path(), &["nights"], 0);
    assert_eq!(keys(&comparison), [2000, 2200, 2600, 2800]);
    assert_eq!(names(&comparison, "left_out"), ["nights/2026-11-19/shard-1.rdb"]);
    let reason = &comparison["left_out"][0]["reason"];
    assert_eq!((&reason["kind"], &reason["text"]), (&"shards-missing".into(), &"lacks 1 of 2 shards: shard-2".into()));
    // The newest night decides on the status.
    fs::remove_file(&files[4][0]).unwrap();
    let comparison = json(root.path(), &["nights"], 4);
    assert_eq!((keys(&comparison), &comparison["growth"]["keys"]), (vec![2000, 2200, 2600], &600.into()));
    let table = text(&compare(root.path(), &["nights", "--lang", "zh"]));
    assert!(
        table.contains("缺少 2 个分片中的 1 个：shard-2") && table.contains("left out: nights/2026-11-21"),
        "{table}"
    );
    let kept = json(root.path(), &["nights", "--allow-missing"], 0);
    assert_eq!(keys(&kept), [2000, 2200, 1200, 2600, 1400]);
    // With one whole night there is nothing to compare.
    let few = compare(root.path(), &["nights/2026-11-18", "nights/2026-11-19"]);
    assert_eq!(few.status.code(), Some(3), "{}", text(&few));
    assert!(few.stdout.is_empty() && text(&few).contains("fewer than two complete nights"), "{}", text(&few));
}

#[test]
fn a_damaged_night_does_not_lose_the_series() {
    let root = tempfile::tempdir().unwrap();
    let files = nights(root.path(), in_folders);
    let cut = |path: &Path| fs::write(path, &fs::read(path).unwrap()[..5_000]).unwrap();
    cut(&files[2][0]);
    fs::write(&files[1][1], "no dump").unwrap();
    let comparison = json(root.path(), &["nights"], 0);
    assert_eq!(keys(&comparison), [2000, 2600, 2800]);
    assert_eq!(names(&comparison, "left_out"), ["nights/2026-11-18", "nights/2026-11-19"]);
    assert_eq!(comparison["left_out"][0]["reason"]["kind"], "night-unreadable");
    assert_eq!(comparison["left_out"][1]["reason"]["kind"], "snapshot-incomplete");
    cut(&files[4][1]);
    assert_eq!(keys(&json(root.path(), &["nights"], 4)), [2000, 2600]);
}

#[test]
fn a_copy_of_another_night_is_not_a_night() {
    let root = tempfile::tempdir().unwrap();
    for night in 0..3 {
        write(&root.path().join(format!("2026-11-{}/dump.rdb", 17 + night)), FIRST + night * DAY, 1, 10);
    }
    fs::create_dir(root.path().join("2026-11-20")).unwrap();
    fs::copy(root.path().join("2026-11-19/dump.rdb"), root.path().join("2026-11-20/dump.rdb")).unwrap();
    // The newest folder holds what was saved the night before.
    let comparison = json(root.path(), &["."], 4);
    assert_eq!((keys(&comparison).len(), names(&comparison, "left_out")), (3, vec!["./2026-11-20/dump.rdb"]));
    assert_eq!(comparison["left_out"][0]["reason"]["kind"], "same-snapshot");
}

#[test]
fn of_two_copies_the_one_that_is_cut_off_is_left_out() {
    let root = tempfile::tempdir().unwrap();
    for night in 0..3 {
        write(&root.path().join(format!("2026-11-{}/dump.rdb", 17 + night)), FIRST + night * DAY, 1, 10);
    }
    let [cut, whole] = ["2026-11-18", "2026-11-20"].map(|date| root.path().join(date).join("dump.rdb"));
    fs::create_dir(whole.parent().unwrap()).unwrap();
    fs::copy(&cut, &whole).unwrap();
    let bytes = fs::read(&cut).unwrap();
    fs::write(&cut, &bytes[..bytes.len() / 2]).unwrap();
    let comparison = json(root.path(), &["."], 4);
    assert_eq!((keys(&comparison).len(), names(&comparison, "left_out")), (3, vec!["./2026-11-18/dump.rdb"]));
}

/// Runs the program as a user who may not read everything.
#[cfg(unix)]
fn run_as_stranger(root: &Path, args: &[&str]) -> Output {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;

    let mut command = rdblens();
    if root.metadata().unwrap().uid() == 0 {
        // The folder of the build may be closed to others, too.
        let program = root.join("rdblens");
        if !program.exists() {
            fs::copy(command.get_program(), &program).unwrap();
        }
        fs::set_permissions(root, fs::Permissions::from_mode(0o755)).unwrap();
        command = std::process::Command::new(program);
        command.env("LC_ALL", "C").uid(65_534).gid(65_534);
    }
    run(command.current_dir(root).args(args))
}

#[cfg(unix)]
#[test]
fn a_folder_that_cannot_be_read_is_a_night_that_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;

    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    fs::create_dir(root.path().join("nights/lost+found")).unwrap();
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    mode("nights/lost+found", 0);
    for (night, status) in [("2026-11-19", 0), ("2026-11-21", 4)] {
        let closed = format!("nights/{night}");
        mode(&closed, 0);
        let output = run_as_stranger(root.path(), &["compare", "nights", "--format", "json"]);
        let plan = ["capacity", "nights/2026-11-18", "--node-memory", "1MB", "--earlier"];
        let earlier = run_as_stranger(root.path(), &[&plan[..], &["nights"]].concat());
        let named = ["compare", "capacity"].map(|command| {
            let args = if command == "compare" { &["compare", &closed, "nights/2026-11-18"][..] } else { &plan };
            run_as_stranger(root.path(), &[args, &[closed.as_str()][..]].concat())
        });
        mode(&closed, 0o755);
        assert_eq!(output.status.code(), Some(status), "{}", text(&output));
        let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((keys(&comparison).len(), names(&comparison, "left_out")), (4, vec![closed.as_str()]));
        assert_eq!(comparison["left_out"][0]["reason"]["kind"], "night-unreadable");
        for refused in [&earlier, &named[0], &named[1]] {
            assert_eq!(refused.status.code(), Some(3), "{}", text(refused));
            let said = text(refused).to_lowercase();
            assert!(said.contains(&format!("{closed}: permission denied")), "{said}");
        }
    }
    mode("nights/lost+found", 0o755);
}

#[cfg(unix)]
#[test]
fn a_glob_does_not_pass_over_what_cannot_be_read() {
    use std::os::unix::fs::PermissionsExt;

    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    fs::create_dir(root.path().join("nights/lost+found")).unwrap();
    let mode = |path: &str, mode: u32| {
        fs::set_permissions(root.path().join(path), fs::Permissions::from_mode(mode)).unwrap();
    };
    let closed = "nights/2026-11-19";
    mode("nights/lost+found", 0);
    mode(closed, 0);
    for (glob, named) in [
        ("nights/*/*.rdb", closed),
        ("nights/**/*.rdb", closed),
        ("nights/*/shard-1.rdb", "nights/2026-11-19/shard-1.rdb"),
    ] {
        let output = run_as_stranger(root.path(), &["compare", glob, "--format", "json"]);
        let comparison: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text(&output)));
        assert_eq!((keys(&comparison).len(), names(&comparison, "left_out")), (4, vec![named]), "{glob}");
        assert_eq!(comparison["left_out"][0]["reason"]["kind"], "night-unreadable", "{glob}");
        let refused = run_as_stranger(root.path(), &["analyze", "--allow-same", glob]);
        let said = text(&refused).to_lowercase();
        assert_eq!(refused.status.code(), Some(3), "{said}");
        assert!(said.contains(&format!("{named}: permission denied")), "{said}");
    }
    mode(closed, 0o755);
    let output = run_as_stranger(root.path(), &["analyze", "--allow-same", "nights/*/shard-1.rdb", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    mode("nights/lost+found", 0o755);
}

#[test]
fn an_append_only_night_that_lacks_a_part_is_left_out() {
    let root = tempfile::tempdir().unwrap();
    let base = fs::read(testdata().join("dumps/shop.rdb")).unwrap();
    for night in ["2026-11-20", "2026-11-21", "2026-11-22"] {
        let folder = root.path().join(night).join("appendonlydir");
        fs::create_dir_all(&folder).unwrap();
        let manifest = "file a.aof.2.base.rdb seq 2 type b\nfile a.aof.2.incr.aof seq 2 type i\n";
        fs::write(folder.join("a.aof.manifest"), manifest).unwrap();
        fs::write(folder.join("a.aof.2.base.rdb"), &base).unwrap();
        fs::write(folder.join("a.aof.2.incr.aof"), "*1\r\n$4\r\nPING\r\n").unwrap();
    }
    assert_eq!(keys(&json(root.path(), &["."], 0)).len(), 3);
    // Nights may have their base in common: it says nothing of the scatter around the trend.
    let last = root.path().join("2026-11-22/appendonlydir/a.aof.2.base.rdb");
    fs::copy(testdata().join("dumps/shop-later.rdb"), &last).unwrap();
    let comparison = json(root.path(), &["."], 0);
    assert_eq!((keys(&comparison).len(), &comparison["trend"]["snapshots"]), (3, &2.into()));
    assert!(comparison["trend"]["per_day_range"].is_null());
    for part in ["a.aof.2.incr.aof", "a.aof.2.base.rdb"] {
        fs::remove_file(root.path().join("2026-11-22/appendonlydir").join(part)).unwrap();
        let comparison = json(root.path(), &["."], 4);
        assert_eq!(names(&comparison, "left_out"), ["./2026-11-22/appendonlydir/a.aof.manifest"]);
        let reason = comparison["left_out"][0]["reason"]["text"].as_str().unwrap();
        assert!(reason.contains(part) && reason.contains("the manifest names it"), "{reason}");
        assert_eq!(keys(&comparison).len(), 2);
    }
    // The manifest of another program says nothing of a dump.
    fs::write(root.path().join("2026-11-20/appendonlydir/backup.manifest"), "sha256 0000").unwrap();
    for name in ["a.aof.manifest", "a.aof.2.base.rdb", "a.aof.2.incr.aof"] {
        fs::remove_file(root.path().join("2026-11-20/appendonlydir").join(name)).unwrap();
    }
    fs::write(root.path().join("2026-11-20/appendonlydir/dump.rdb"), &base).unwrap();
    assert_eq!(keys(&json(root.path(), &["."], 4)).len(), 2);
}

#[test]
fn stored_reports_and_dumps_make_one_series() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    fs::create_dir(root.path().join("reports")).unwrap();
    for day in 17..20 {
        let (night, report) = (format!("nights/2026-11-{day}"), format!("reports/2026-11-{day}.json"));
        let output = run(rdblens().current_dir(root.path()).args(["analyze", &night, "-o", &report]));
        assert!(output.status.success(), "{}", text(&output));
        fs::remove_dir_all(root.path().join(night)).unwrap();
    }
    fs::write(root.path().join("reports/growth.json"), "{\"schema\": \"rdblens.compare/1\"}").unwrap();
    let comparison = json(root.path(), &["nights", "reports"], 0);
    assert_eq!(keys(&comparison), ALL_KEYS);
    assert_eq!(names(&comparison, "snapshots")[..2], ["reports/2026-11-17.json", "reports/2026-11-18.json"]);
    // A report of one shard of two is a night that lacks one.
    let output = run(rdblens().current_dir(root.path()).args([
        "analyze",
        "nights/2026-11-21/shard-2.rdb",
        "-o",
        "reports/x.json",
    ]));
    assert!(output.status.success());
    assert_eq!(names(&json(root.path(), &["reports"], 4), "left_out"), ["reports/x.json"]);
    // A night that is there twice counts once.
    let output = run(rdblens().current_dir(root.path()).args(["analyze", "nights/2026-11-21", "-o", "reports/x.json"]));
    assert!(output.status.success());
    assert_eq!(keys(&json(root.path(), &["reports", "nights"], 0)), ALL_KEYS);
}

#[test]
fn reports_on_single_shards_of_several_nights_are_refused() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    fs::create_dir(root.path().join("reports")).unwrap();
    let report = |day: u32, shard: u32| {
        let (dump, to) = (format!("nights/2026-11-{day}/shard-{shard}.rdb"), format!("reports/{day}-{shard}.json"));
        let output = run(rdblens().current_dir(root.path()).args(["analyze", &dump, "-o", &to]));
        assert!(output.status.success(), "{}", text(&output));
    };
    for (day, shard) in [(17, 1), (17, 2), (18, 1), (18, 2)] {
        report(day, shard);
    }
    let output = compare(root.path(), &["reports", "--fail-on", "growth=20%"]);
    assert_eq!(output.status.code(), Some(2), "{}", text(&output));
    assert!(text(&output).contains("are reports on two servers of one night"), "{}", text(&output));
    // Those of one shard are a series.
    let of_one = ["reports/17-1.json", "reports/18-1.json"];
    assert_eq!(keys(&json(root.path(), &of_one, 0)).len(), 2);
}

#[test]
fn a_stored_night_whose_backup_was_copied_again_is_noticed() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    fs::create_dir(root.path().join("reports")).unwrap();
    let report = |night: u32, of: u32| {
        let (night, report) = (format!("nights/2026-11-{of}"), format!("reports/2026-11-{night}.json"));
        let output = run(rdblens().current_dir(root.path()).args(["analyze", &night, "-o", &report]));
        assert!(output.status.success(), "{}", text(&output));
    };
    report(18, 18);
    report(19, 19);
    json(root.path(), &["reports"], 0);
    report(20, 19);
    assert_eq!(names(&json(root.path(), &["reports"], 4), "left_out"), ["reports/2026-11-20.json"]);
    report(21, 21);
    json(root.path(), &["reports"], 0);
}

#[test]
fn new_shards_are_noted_and_other_names_are_other_deployments() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    write(&root.path().join("nights/2026-11-21/shard-3.rdb"), FIRST + 4 * DAY, 3, 50);
    let comparison = json(root.path(), &["nights"], 0);
    assert_eq!(keys(&comparison)[4], 2850);
    assert!(
        comparison["warnings"].to_string().contains("shards that earlier nights lack"),
        "{}",
        comparison["warnings"]
    );
    // Before and after a migration.
    for shard in 1..=4 {
        write(&root.path().join(format!("new/node-{shard}.rdb")), FIRST + 10 * DAY, shard, 500);
    }
    let moved = json(root.path(), &["nights/2026-11-17", "new"], 0);
    assert_eq!((keys(&moved), &moved["growth"]["keys"]), (vec![2000, 2000], &0.into()));
}

#[test]
fn tables_of_nights_fit_and_escape_names() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), |date, shard| format!("夜间 \u{202e}备份/{date}/分片-{shard}.rdb"));
    for lang in ["en", "zh"] {
        let output = compare(root.path(), &["夜间 \u{202e}备份", "--lang", lang]);
        let table = text(&output);
        assert_eq!(output.status.code(), Some(0), "{table}");
        assert!(!table.contains('\u{202e}') && table.contains("分片-1"), "{table}");
    }
}

#[test]
fn the_gate_fails_for_growth_and_names_what_it_cannot_evaluate() {
    let root = tempfile::tempdir().unwrap();
    nights(root.path(), in_folders);
    let gate = |conditions: &str, flags: &[&str]| {
        let output = compare(root.path(), &[&["nights", "--fail-on", conditions], flags].concat());
        (output.status.code().unwrap(), text(&output))
    };
    // Keys grow by 40 % in four days.
    for (conditions, status) in [
        ("keys=41%", 0),
        ("keys=39%", 1),
        ("keys=71%/week,growth=1000%", 0),
        ("keys=69%/week", 1),
        ("growth=10%/day", 1),
        ("pattern=1%", 0),
        ("should", 1),
    ] {
        let (code, said) = gate(conditions, &[]);
        assert_eq!(code, status, "{conditions}: {said}");
        assert_eq!(said.contains("gate failed: "), status == 1, "{conditions}: {said}");
    }
    let (_, prom) = gate("keys=39%,growth=1000%", &["--format", "prometheus"]);
    assert!(prom.contains("rdblens_compare_gate_failed{condition=\"keys=39%\"} 1"), "{prom}");
    assert!(gate("keys=39%", &["--lang", "zh"]).1.contains("未通过"));
    // Without a time there is no rate.
    for (name, keys) in [("a.rdb", 10), ("b.rdb", 11)] {
        write(&root.path().join(name), FIRST, 1, keys);
    }
    for (flags, status) in [(&[][..], 0), (&["--strict-gate"], 1)] {
        let output = compare(root.path(), &[&["a.rdb", "b.rdb", "--fail-on", "growth=1%/day"], flags].concat());
        assert_eq!(output.status.code(), Some(status));
        assert!(text(&output).contains("not evaluated: growth=1%/day: a rate needs the times"), "{}", text(&output));
    }
    for wrong in ["growth", "growth=20", "size=3%", "growth=20%/year", "bad"] {
        let (code, said) = gate(wrong, &[]);
        assert!(code == 2 && said.contains("growth=20%/week"), "{said}");
    }
}

/// Runs the script of docs/nightly.md, as it is printed there, over five nights.
#[cfg(unix)]
#[test]
fn the_nightly_recipe_survives_a_night_that_fails() {
    let page = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/nightly.md")).unwrap();
    let script = page.split("```sh\n").nth(1).unwrap().split("```").next().unwrap();
    assert!(script.starts_with("#!/bin/sh"));
    for failure in ["damaged", "missing"] {
        let root = tempfile::tempdir().unwrap();
        let path = |name: &str| root.path().join(name);
        let files = nights(root.path(), in_folders);
        if failure == "damaged" {
            fs::write(&files[2][1], &fs::read(&files[2][1]).unwrap()[..5_000]).unwrap();
        } else {
            fs::remove_file(&files[2][1]).unwrap();
        }
        write(&files[4][0], FIRST + 4 * DAY, 1, 2_500);
        fs::write(path("nightly.sh"), script).unwrap();
        let folder = Path::new(env!("CARGO_BIN_EXE_rdblens")).parent().unwrap().to_owned();
        let paths = std::env::join_paths(
            std::iter::once(folder).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        )
        .unwrap();
        let night = |day: u32, accept: &str| {
            let mut command = std::process::Command::new("sh");
            command.arg(path("nightly.sh")).arg(path(&format!("nights/2026-11-{day}"))).env("PATH", &paths);
            command.env("RDBLENS_STATE", path("state")).env("RDBLENS_METRICS", path("metrics"));
            run(command.env("RDBLENS_ACCEPT", accept).env("LC_ALL", "C"))
        };
        let baseline = || {
            let json: Value = serde_json::from_slice(&fs::read(path("state/baseline.json")).unwrap()).unwrap();
            json["totals"]["keys"].as_u64().unwrap()
        };
        let growth = || fs::read_to_string(path("metrics/rdblens-cache-growth.prom")).unwrap();
        // Nights are run again, too: the first, and one that failed.
        for (day, status, passed) in
            [(17, 0, 2000), (17, 0, 2000), (18, 0, 2200), (18, 0, 2200), (19, 4, 2200), (19, 4, 2200), (20, 0, 2600)]
        {
            let output = night(day, "0");
            assert_eq!(output.status.code(), Some(status), "{failure} {day}: {}", text(&output));
            assert_eq!(baseline(), passed, "{failure} {day}");
        }
        let metrics = fs::read_to_string(path("metrics/rdblens-cache.prom")).unwrap();
        assert!(metrics.contains("rdblens_keys{snapshot=\"cache\"} 2600\n"), "{metrics}");
        // The night that grows too much has its metrics and its place in the series; the baseline stays.
        let output = night(21, "0");
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        assert!(text(&output).contains("gate failed: growth=20%"), "{}", text(&output));
        assert!(fs::read_to_string(path("state/gate.md")).unwrap().contains("failed"));
        assert!(growth().contains("rdblens_compare_keys{snapshot=\"cache\",stat=\"last\"} 3900\n"), "{}", growth());
        assert!(growth().contains("rdblens_compare_snapshots{snapshot=\"cache\"} 4\n"), "{}", growth());
        assert_eq!(baseline(), 2600);
        let output = night(21, "1");
        assert_eq!((output.status.code(), baseline()), (Some(0), 3900), "{}", text(&output));
    }
}

/// Packs the folder `nights`.
fn pack(root: &Path, args: &[&str]) {
    let packed = std::process::Command::new("tar").current_dir(root).args(args).arg("nights").status();
    assert!(packed.expect("tar is installed").success(), "{args:?}");
}

#[test]
fn an_archive_of_nights_is_compared_as_its_folder_is() {
    let root = tempfile::tempdir().unwrap();
    let temp = root.path().join("temp");
    fs::create_dir(&temp).unwrap();
    nights(root.path(), in_folders);
    let flags = ["--format", "json", "--temp-dir", "temp"];
    let of_folder = compare(root.path(), &[&["nights"], &flags[..]].concat()).stdout;
    for args in
        [["-cf", "nights.tar", "--format=ustar"], ["-cf", "nights.tar", "--format=pax"], ["-czf", "nights.tgz", "-v"]]
    {
        pack(root.path(), &args);
        let output = compare(root.path(), &[&[args[1]], &flags[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
        let shown = String::from_utf8(output.stdout).unwrap().replace(&format!("{}/nights", args[1]), "nights");
        assert_eq!(shown, String::from_utf8_lossy(&of_folder), "{args:?}");
        assert_eq!(fs::read_dir(&temp).unwrap().count(), 0, "nothing is left behind");
    }
}

#[test]
fn each_night_may_be_an_archive_of_its_own() {
    let root = tempfile::tempdir().unwrap();
    for (night, [one, other]) in nights(root.path(), in_folders).into_iter().enumerate() {
        let folder = one.parent().unwrap();
        let archive = format!("backup-2026-11-{}.tar", 17 + night);
        let names = [&one, &other].map(|path| path.file_name().unwrap().to_owned());
        let mut packed = std::process::Command::new("tar");
        packed.arg("-cf").arg(root.path().join(&archive)).arg("-C").arg(folder).args(names);
        assert!(packed.status().unwrap().success());
    }
    let comparison = json(root.path(), &["backup-*.tar"], 0);
    assert_eq!(keys(&comparison), ALL_KEYS);
    assert_eq!(names(&comparison, "snapshots")[0], "backup-2026-11-17.tar");
    let files: Vec<_> =
        comparison["snapshots"][0]["files"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(files, ["backup-2026-11-17.tar/shard-1.rdb", "backup-2026-11-17.tar/shard-2.rdb"]);
}

#[test]
fn damage_in_an_archive_is_named_by_the_archive() {
    let root = tempfile::tempdir().unwrap();
    let files = nights(root.path(), in_folders);
    let whole = fs::read(&files[2][0]).unwrap();
    fs::write(&files[2][0], &whole[..whole.len() / 2]).unwrap();
    pack(root.path(), &["-cf", "nights.tar"]);
    let comparison = json(root.path(), &["nights.tar"], 0);
    assert_eq!(names(&comparison, "left_out"), ["nights.tar/nights/2026-11-19"]);
    assert!(!text(&compare(root.path(), &["nights.tar"])).contains(".rdblens-"), "no temporary path is shown");

    let archive = fs::read(root.path().join("nights.tar")).unwrap();
    fs::write(root.path().join("cut.tar"), &archive[..archive.len() / 2]).unwrap();
    let cut = compare(root.path(), &["cut.tar"]);
    assert_eq!(cut.status.code(), Some(3));
    assert!(text(&cut).contains("cut.tar: byte 0x"), "{}", text(&cut));
    let small = compare(root.path(), &["nights.tar", "--max-temp", "100KB"]);
    assert_eq!(small.status.code(), Some(3));
    assert!(text(&small).contains("--max-temp"), "{}", text(&small));
    let analyzed = run(rdblens().current_dir(root.path()).args(["analyze", "nights.tar"]));
    assert!(text(&analyzed).contains("`rdblens compare`"), "{}", text(&analyzed));
}

/// Writes three nights of three shards that were saved fifty minutes apart, in folders without a date.
fn slow_nights(root: &Path, with_ids: bool) {
    for (night, day) in (0..).zip(["mon", "tue", "wed"]) {
        for shard in 0..3 {
            let path = root.join(format!("nights/{day}/s{shard}.rdb"));
            write(&path, FIRST + night * DAY + shard * 3000, shard.unsigned_abs(), 100 + 10 * night.unsigned_abs());
            if with_ids {
                of_server(&path, shard.unsigned_abs());
            }
        }
    }
}

/// Adds a replication id to a dump.
fn of_server(path: &Path, server: u64) {
    let mut bytes = fs::read(path).unwrap();
    let field = format!("\u{7}repl-id({server:040}");
    bytes.splice(9..9, [&[0xFA], field.as_bytes()].concat());
    fs::write(path, bytes).unwrap();
}

fn sizes(nights: &Value) -> Vec<Option<u64>> {
    nights.as_array().unwrap().iter().map(|night| night["snapshots"].as_u64()).collect()
}

#[test]
fn shards_of_a_folder_are_one_night_though_saving_them_took_long() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    slow_nights(root, false);
    assert_eq!(keys(&json(root, &["nights/mon", "nights/wed"], 0)), [300, 360]);
    slow_nights(root, true);
    assert_eq!(keys(&json(root, &["nights"], 0)), [300, 330, 360]);
    let capacity = |args: &[&str]| {
        let output =
            run(rdblens().current_dir(root).args(["capacity", "--node-memory", "1MB", "--format", "json"]).args(args));
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output));
        serde_json::from_slice::<Value>(&output.stdout).unwrap()
    };
    let earlier = ["--earlier", "nights/mon", "--earlier", "nights/tue"];
    let wed = ["nights/wed/s0.rdb", "nights/wed/s1.rdb", "nights/wed/s2.rdb"];
    let plan = capacity(&[&earlier[..], &wed].concat());
    assert_eq!((sizes(&plan["nights"]), plan["warnings"].as_array().unwrap().len()), (vec![Some(3); 3], 0), "{plan}");
    // A shard of the present night is no night of its own.
    let plan = capacity(&[&["--allow-missing", "--earlier", "nights/wed/s2.rdb"], &earlier[..], &wed[..2]].concat());
    assert_eq!(sizes(&plan["nights"]), [Some(3), Some(3), Some(2)]);
    let note = &plan["warnings"][0];
    assert_eq!((&note["kind"], &note["about"]), (&"night-not-whole".into(), &"nights/wed/s2.rdb".into()), "{note}");
}

#[test]
fn snapshots_of_one_server_within_an_hour_are_not_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    for (number, minute) in (0..).zip([0, 30, 1440, 1470, 2880]) {
        let path = root.join(format!("hours/dump-{number}.rdb"));
        write(&path, FIRST + minute * 60, 1, 100 + number);
        of_server(&path, 1);
    }
    assert_eq!(keys(&json(root, &["hours"], 0)), [100, 101, 102, 103, 104]);
    let args = ["capacity", "hours/dump-4.rdb", "--earlier", "hours", "--node-memory", "1MB", "--format", "json"];
    let plan: Value = serde_json::from_slice(&run(rdblens().current_dir(root).args(args)).stdout).unwrap();
    assert_eq!(sizes(&plan["nights"]), vec![Some(1); 5]);
}

#[test]
fn a_memory_limit_is_that_of_each_shard() {
    let folder = tempfile::tempdir().unwrap();
    nights(folder.path(), in_folders);
    let comparison = json(folder.path(), &["nights", "--maxmemory", "1MB"], 0);
    assert_eq!(comparison["trend"]["reached"]["maxmemory"], 2 << 20);
    let shards = ["nights/2026-11-21/shard-1.rdb", "nights/2026-11-21/shard-2.rdb"];
    let report = run(rdblens().current_dir(folder.path()).arg("analyze").args(shards).args([
        "--maxmemory",
        "1MB",
        "--format",
        "json",
    ]));
    let report: Value = serde_json::from_slice(&report.stdout).unwrap();
    assert_eq!(report["instance"]["maxmemory"], 2 << 20);
}

#[test]
fn a_plan_of_capacity_takes_whole_nights_only() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    nights(root, in_folders);
    let earlier = root.join("earlier");
    fs::create_dir(&earlier).unwrap();
    let nights = ["2026-11-17", "2026-11-18", "2026-11-19", "2026-11-20"];
    for night in nights {
        fs::rename(root.join("nights").join(night), earlier.join(night)).unwrap();
    }
    let capacity = |args: &[&str]| {
        let plan = ["capacity", "--node-memory", "16MB", "--earlier", "earlier", "--format", "json"];
        run(rdblens().current_dir(root).args(plan).args(args))
    };
    let json = |args: &[&str]| -> Value { serde_json::from_slice(&capacity(args).stdout).unwrap() };
    let both = ["nights/2026-11-21/shard-1.rdb", "nights/2026-11-21/shard-2.rdb"];
    let whole = json(&both);
    assert_eq!((&whole["trend"]["snapshots"], &whole["warnings"]), (&5.into(), &Value::Array(vec![])));
    // The present night is among the earlier ones, too, as dumps and as one report.
    let again = json(&[&both[..], &["--earlier", "nights"]].concat());
    assert_eq!((&again["trend"], &again["nights"]), (&whole["trend"], &whole["nights"]));
    assert!(again["warnings"].as_array().unwrap().iter().all(|warning| warning["kind"] == "same-snapshot"));
    let report = run(rdblens().current_dir(root).args(["analyze", "nights/2026-11-21", "-o", "night.json"]));
    assert!(report.status.success(), "{}", text(&report));
    let again = json(&[&both[..], &["--earlier", "night.json"]].concat());
    assert_eq!((&again["trend"], &again["nights"]), (&whole["trend"], &whole["nights"]));

    let one = capacity(&both[..1]);
    assert_eq!(one.status.code(), Some(3), "{}", text(&one));
    assert!(text(&one).contains("lacks 1 of 2 shards: shard-2"), "{}", text(&one));
    assert!(json(&[both[0], "--allow-missing"])["trend"]["per_day"].as_i64().unwrap() < 0);

    fs::remove_file(earlier.join("2026-11-19/shard-1.rdb")).unwrap();
    let plan = json(&both);
    assert_eq!((&plan["trend"]["snapshots"], &plan["warnings"][0]["kind"]), (&4.into(), &"night-not-whole".into()));
    assert_eq!(plan["nights"][3]["total"], whole["nights"][4]["total"]);
}
