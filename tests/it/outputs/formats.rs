//! Formats and names of outputs.

use std::fs;

use super::{TestFiles, status, stderr};
use crate::common::program::stdout_of;

#[test]
fn a_directory_gets_a_file_named_report() {
    let files = TestFiles::new();
    fs::create_dir(files.path("out")).unwrap();
    for (line, name) in [
        ("analyze a.rdb --format html -o out/", "report.html"),
        ("analyze a.rdb --format json -o out", "report.json"),
        ("analyze a.rdb -o out", "report.txt"),
        ("compare a.rdb a.rdb --format markdown -o out/", "report.md"),
        ("capacity a.rdb --node-memory 1GB --format csv -o out", "report.csv"),
    ] {
        let output = files.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((status(&output), stderr(&output)), (0, String::new()), "{line}");
        assert!(files.path("out").join(name).is_file(), "{line}");
    }
    for formats in [&["--format", "html"][..], &["--format", "html", "--format", "json"]] {
        let output = files.run(&[&["analyze", "a.rdb", "-o", "missing/"], formats].concat());
        assert_eq!(status(&output), 3);
        assert!(stderr(&output).contains("there is no directory missing"), "{}", stderr(&output));
    }
}

#[cfg(feature = "parquet")]
#[test]
fn rows_have_the_format_of_the_file_name() {
    let files = TestFiles::new();
    let rows = |name: &str, more: &[&str]| {
        let output = files.run(&[&["keys", "a.rdb", "--limit", "2", "-o", name][..], more].concat());
        (fs::read(files.path(name)).unwrap(), stderr(&output))
    };
    for (name, begins) in [("a.parquet", "PAR1"), ("a.CSV", "db,key"), ("a.jsonl", "{\"db\""), ("a.txt", "{\"db\"")] {
        let (bytes, messages) = rows(name, &[]);
        assert!(bytes.starts_with(begins.as_bytes()), "{name}: {}", bytes.escape_ascii());
        assert_eq!(messages, "", "{name}");
    }
    let (bytes, messages) = rows("b.csv", &["--format", "ndjson"]);
    assert!(bytes.starts_with(b"{"));
    assert_eq!(messages, "rdblens: b.csv will be ndjson, not csv\n");
}

#[test]
fn a_label_is_given_once() {
    let files = TestFiles::new();
    let metrics = ["analyze", "a.rdb", "--format", "prometheus", "--label", "a=1", "--label"];
    let output = files.run(&[&metrics[..], &["a=2"]].concat());
    assert_eq!(status(&output), 2);
    assert!(stderr(&output).contains("--label a is given more than once"), "{}", stderr(&output));
    assert_eq!(status(&files.run(&[&metrics[..], &["b=1"]].concat())), 0);
}

#[test]
fn a_byte_order_mark_begins_csv_and_nothing_else() {
    let files = TestFiles::new();
    files.run(&["analyze", "a.rdb", "--format", "json", "-o", "report.json"]);
    let commands = [&["analyze", "a.rdb"][..], &["render", "report.json"], &["keys", "a.rdb"]];
    for command in commands {
        let csv = [command, &["--format", "csv"]].concat();
        let plain = files.run(&csv).stdout;
        let marked = files.run(&[&csv[..], &["--bom"]].concat());
        assert_eq!(status(&marked), 0, "{}", stderr(&marked));
        assert_eq!(marked.stdout, [b"\xef\xbb\xbf", plain.as_slice()].concat(), "{command:?}");
        let other = files.run(&[command, &["--bom"]].concat());
        assert_eq!((status(&other), other.stdout.len()), (2, 0), "{command:?}");
        assert!(stderr(&other).contains("--bom requires --format csv"), "{}", stderr(&other));
    }
    // Each CSV of several files, and no other.
    let lists = ["--format", "csv", "--format", "json", "--section", "types,files", "--bom", "-o", "all"];
    assert_eq!(status(&files.run(&[commands[0], &lists].concat())), 0);
    let marks = ["all.types.csv", "all.files.csv", "all.json"]
        .map(|name| fs::read(files.path(name)).unwrap().starts_with("\u{feff}".as_bytes()));
    assert_eq!(marks, [true, true, false]);
    // The ending of the output is a format, too.
    assert_eq!(status(&files.run(&["analyze", "a.rdb", "--bom", "-o", "types.csv"])), 0);
}

#[test]
fn a_chosen_trend_shows_two_snapshots_and_a_missing_section_goes_by_its_own_name() {
    let folder = tempfile::tempdir().unwrap();
    let stored = folder.path().join("shop.json").display().to_string();
    let dump = |name: &str| format!("{}/testdata/dumps/{name}.rdb", env!("CARGO_MANIFEST_DIR"));
    stdout_of(&["analyze", &dump("shop"), "--format", "json", "-o", &stored]);
    let of = |name: &str| stdout_of(&["analyze", &dump(name), "--section", "trend", "--earlier", &stored]);
    let later = of("shop-later");
    assert!(later.contains("2 snapshots over 3 hours") && later.contains("2026-11-21 04:31:55Z"), "{later}");
    let same = of("shop");
    assert!(
        same.contains("- trend: nothing to show; --earlier REPORT.json gives it, with a complete report"),
        "{same}"
    );
    let one = folder.path().join("one.rdb").display().to_string();
    fs::write(&one, b"REDIS0011\xfe\0\0\x01a\x01b\xff\0\0\0\0\0\0\0\0").unwrap();
    let none = stdout_of(&["analyze", &one, "--section", "slots,idle"]);
    assert!(none.contains("- slots: nothing to show") && none.contains("- idle: nothing to show"), "{none}");
}
