//! Stored reports: read back and rendered again, a report gives the same bytes in every format.

use std::fs;
use std::path::Path;

use rdblens::internals::render::{Format, Lang, TableOptions};
use rdblens::report::Report;

use crate::common::dumps;
use crate::common::program::{rdblens, run, run_with_input};
use crate::common::reports::{odd, sample, what_if};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn render(report: &Report, format: Format, table: TableOptions) -> Vec<u8> {
    let mut out = Vec::new();
    format.renderer(table).render(report, &mut out).unwrap();
    out
}

fn stored(report: &Report) -> Report {
    Report::read(&render(report, Format::Json, TableOptions::default()), "stored.json").unwrap()
}

/// Asserts that two reports are equal in every format.
fn assert_alike(one: &Report, other: &Report, what: &str) {
    for format in Format::ALL {
        for lang in Lang::ALL {
            for rows in [2, one.options.rows] {
                let table = TableOptions { lang, rows, ..TableOptions::default() };
                assert!(
                    render(one, format, table) == render(other, format, table),
                    "{what}: {} in {}",
                    format.name(),
                    lang.name()
                );
            }
        }
    }
}

#[test]
fn reports_made_by_hand_come_back() {
    let all = [sample::full(), sample::sound(), odd::empty(), odd::extreme(), what_if::asked(), what_if::extreme()];
    for (at, report) in all.iter().enumerate() {
        assert_alike(report, &stored(report), &at.to_string());
    }
}

#[test]
fn figures_and_names_come_back_to_the_last_bit() {
    let mut report = sample::full();
    report.totals.memory.0 = u64::MAX;
    report.types[0].share = 0.1 + 0.2;
    let key = |bytes: &[u8]| rdblens::report::Key::from(bytes);
    let names: [&[u8]; 5] = [b"", b"\xff\x00", "\u{202e}\n\0键".as_bytes(), b"\xe4\xbd", &[b'x'; 70_000]];
    for name in names {
        report.top.by_memory[0].key = key(name);
        let back = stored(&report);
        assert_eq!(back.top.by_memory[0].key, key(name));
        assert_eq!((back.totals.memory.0, back.types[0].share.to_bits()), (u64::MAX, (0.1f64 + 0.2).to_bits()));
    }
}

#[test]
fn reports_of_the_first_version_can_be_read() {
    let report = Report::read(&fs::read(format!("{DATA}/reports/first.json")).unwrap(), "first.json").unwrap();
    assert_eq!((report.options.rows, report.findings.list.len(), report.instance.is_none()), (10, 0, true));
    assert_eq!(report.naming.rules[0].demand.zh, report.naming.rules[0].demand.en, "better in English than not at all");
    for format in Format::ALL {
        assert!(!render(&report, format, TableOptions { lang: Lang::Zh, ..TableOptions::default() }).is_empty());
    }
}

#[test]
fn a_report_may_lack_sections_and_columns() {
    let partial = r#"{"schema": "rdblens.report/1", "options": {}, "totals": {"keys": 2},
        "types": [{"type": "hash", "keys": 2, "memory": 5}],
        "patterns": {"distinct": 3, "list": [{"pattern": "a:{int}", "keys": 2, "memory": 18446744073709551615}]},
        "findings": {"list": [{"rule": "key.length", "severity": "must", "keys": 1, "memory": 1}]}}"#;
    let report = Report::read(partial.as_bytes(), "partial.json").unwrap();
    assert!(report.complete && report.has_findings() && !report.lists_all_patterns());
    assert_eq!(report.patterns.list[0].memory.0, u64::MAX);
    for format in Format::ALL {
        render(&report, format, TableOptions::default());
    }
    let without = partial.replace("findings", "other");
    assert!(!Report::read(without.as_bytes(), "partial.json").unwrap().has_findings());
}

#[test]
fn nested_or_mistyped_json_is_an_error() {
    let deep = format!("{{\"schema\":\"rdblens.report/1\",\"prefixes\":{}", "{\"tree\":[".repeat(100_000));
    let frame = |field: &str| {
        format!(
            r#"{{"schema":"rdblens.report/1","options":{{}},"totals":{{}},"patterns":{{"distinct":0,"list":[]}},{field}}}"#
        )
    };
    assert!(Report::read(frame(r#""complete":true"#).as_bytes(), "x.json").is_ok());
    let no_distinct = frame(r#""complete":true"#).replace(r#""distinct":0,"#, "");
    let nul = "\0REDIS0011".to_owned();
    let mistyped = [r#""complete":1"#, r#""types":[{"type":"tree"}]"#, r#""findings":7"#, r#""totals":{"keys":-1}"#];
    let hostile =
        mistyped.map(frame).into_iter().chain([deep, no_distinct, nul, "[]".to_owned(), "{\"schema\":5}".to_owned()]);
    for json in hostile {
        let message = Report::read(json.as_bytes(), "x.json").unwrap_err().to_string();
        assert!(message.contains("x.json") && message.contains("analyze --format json"), "{message}");
    }
}

proptest::proptest! {
    #[test]
    fn any_text_is_a_report_or_wrong_usage(text in ".{0,200}") {
        let _ = Report::read(text.as_bytes(), "x.json");
    }
}

#[test]
fn fields_of_later_versions_are_ignored() {
    let mut json = serde_json::to_value(sample::full()).unwrap();
    json["later"] = 1.into();
    json["totals"]["later"] = 1.into();
    json["top"]["by_memory"][0]["later"] = 1.into();
    json["findings"]["list"][0]["patterns"][0]["later"] = 1.into();
    let report = Report::read(json.to_string().as_bytes(), "later.json").unwrap();
    assert_alike(&sample::full(), &report, "later");
}

#[test]
fn other_files_are_rejected_with_a_remedy() {
    let no_key = br#"{"schema":"rdblens.report/1","totals":{},"patterns":{"distinct":0,"list":[]}}"#;
    let later = br#"{"schema":"rdblens.report/2"}"#;
    let written = "analyze --format json";
    for (json, remedy) in [
        (&b""[..], written),
        (b"{}", written),
        (later, "another version of rdblens wrote it: update this one"),
        (b"\0REDIS", written),
        (no_key, written),
    ] {
        let message = Report::read(json, "x.json").unwrap_err().to_string();
        assert!(message.contains("x.json") && message.contains(remedy), "{message}");
    }
}

/// Returns the report, or `None` if none is possible.
fn analyze(inputs: &[&Path], change: impl FnOnce(&mut rdblens::internals::analyze::Plan)) -> Option<Report> {
    use rdblens::internals::analyze::{Plan, ReadPlan, Unwatched, analyze};
    let mut plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
    change(&mut plan);
    let inputs: Vec<&str> = inputs.iter().map(|input| input.to_str().unwrap()).collect();
    analyze(&inputs, &plan, &Unwatched).ok()
}

#[test]
fn every_dump_is_written_the_same_from_its_stored_report() {
    let mut reports = 0;
    for dump in dumps() {
        let Some(report) = analyze(&[&dump], |_| ()) else { continue };
        assert_alike(&report, &stored(&report), &dump.display().to_string());
        reports += 1;
    }
    assert!(reports > 100, "{reports}");
}

#[test]
fn options_that_extend_a_report_survive_storage() {
    let shop = format!("{DATA}/dumps/shop.rdb");
    let folder = tempfile::tempdir().unwrap();
    let earlier = folder.path().join("earlier.json");
    let later = format!("{DATA}/dumps/shop-later.rdb");
    let flipped = format!("{DATA}/hostile/checksum-flipped-bit.rdb");
    let cut = format!("{DATA}/hostile/truncated-in-list.rdb");
    let policy = format!("{DATA}/policy/shop.toml");
    assert!(run(rdblens().args(["analyze", &shop, "--format", "json", "-o"]).arg(&earlier)).status.success());
    let cases: [&[&str]; 10] = [
        &[&shop, "--mask"],
        &[&shop, "--top", "3"],
        &[&shop, "--top", "1"],
        &[&shop, "--top", "1000", "--depth", "9", "--min-share", "0"],
        &[&shop, "--what-if", "valkey-8.1", "--what-if", "glibc", "--what-if", "hash-max-listpack-entries=64"],
        &[&later, "--baseline", earlier.to_str().unwrap(), "--maxmemory", "64MB", "--maxmemory-policy", "noeviction"],
        &[&shop, "--policy", &policy, "--inspect-values", "--now", "2026-12-01T00:00:00Z"],
        &[&shop, &later, "no-such-shard.rdb", &flipped, &cut, "--allow-same"],
        &[&shop, "--match", "user:*", "--server", "redis-8.2", "--at", "2027-01-01T00:00:00Z"],
        &[&shop, "--policy", "none", "--type", "stream"],
    ];
    for (at, case) in cases.iter().enumerate() {
        for lang in ["en", "zh"] {
            let name = |what: &str| folder.path().join(format!("{at}-{lang}-{what}"));
            let both = |command: &str, inputs: &[&str], to: &Path| {
                let formats = Format::ALL.iter().flat_map(|format| ["--format", format.name()]);
                let output =
                    run(rdblens().arg(command).args(inputs).args(formats).args(["--lang", lang, "-o"]).arg(to));
                (output.status.code(), String::from_utf8(output.stderr).unwrap())
            };
            let (direct, rendered) = (name("direct"), name("rendered"));
            let (status, errors) = both("analyze", case, &direct);
            assert!(matches!(status, Some(0 | 4)), "{case:?}: {errors}");
            let report = direct.with_extension("json");
            assert_eq!(both("render", &[report.to_str().unwrap()], &rendered), (status, String::new()));
            for format in Format::ALL {
                let read = |path: &Path| fs::read(path.with_extension(format.extensions()[0])).unwrap();
                assert!(read(&direct) == read(&rendered), "{case:?}: {} in {lang}", format.name());
            }
        }
    }
}

#[test]
fn a_report_may_come_from_standard_input() {
    let shop = format!("{DATA}/dumps/shop.rdb");
    let json = run(rdblens().args(["analyze", &shop, "--format", "json"])).stdout;
    let table = run(rdblens().args(["analyze", &shop])).stdout;
    let output = run_with_input(rdblens().args(["render", "-"]), json.clone());
    assert!(output.status.success() && output.stdout == table);
    let status = |args: &[&str]| run_with_input(rdblens().args(["render", "-"]).args(args), json.clone()).status.code();
    assert_eq!(
        (status(&["--fail-on", "must"]), status(&["--format", "csv", "--section", "types"])),
        (Some(1), Some(0))
    );
    let short = run_with_input(rdblens().args(["render", "-", "--top", "2"]), json).stdout;
    assert!(short.len() < table.len());
}

#[test]
fn several_formats_are_written_all_or_none() {
    let shop = format!("{DATA}/dumps/shop.rdb");
    let folder = tempfile::tempdir().unwrap();
    let names = || {
        let mut names: Vec<_> = fs::read_dir(folder.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    let analyze = |args: &[&str], to: &str| {
        run(rdblens().args(["analyze", &shop]).args(args).arg("-o").arg(folder.path().join(to)))
    };
    fs::create_dir(folder.path().join("taken.md")).unwrap();
    let output = analyze(&["--format", "json", "--format", "markdown"], "taken");
    assert_eq!(output.status.code(), Some(3), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("taken.md"));
    assert_eq!(names(), ["taken.md"], "nothing half");
    let lists = ["--format", "csv", "--section", "types", "--section", "files", "--format", "json", "--format", "json"];
    assert_eq!(analyze(&lists, "a").status.code(), Some(0));
    assert_eq!(names(), ["a.files.csv", "a.json", "a.types.csv", "taken.md"]);
    assert_eq!(analyze(&[], "b.prom").status.code(), Some(0));
    assert!(fs::read_to_string(folder.path().join("b.prom")).unwrap().ends_with("# EOF\n"));
    for wrong in [
        &["--format", "json", "--format", "csv"][..],
        &["--section", "next", "--format", "json"],
        &["--title", "x"],
        &["--format", "csv", "--section", "all"],
        &["--label", "snapshot=a"],
        &["--format", "prometheus", "--label", "pattern=a"],
        &["--format", "xml"],
    ] {
        let output = run(rdblens().args(["analyze", &shop]).args(wrong));
        assert!(output.status.code() == Some(2) && output.stdout.is_empty() && !output.stderr.is_empty(), "{wrong:?}");
    }
}

#[test]
fn formats_that_cannot_be_rendered_are_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let wrong = folder.path().join("wrong.json");
    fs::write(&wrong, "{}").unwrap();
    let output = run(rdblens().arg("render").arg(&wrong));
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("analyze --format json"));
}

#[test]
fn stored_reports_that_cannot_be_read_are_inputs_that_cannot_be_read() {
    let (shop, no) = (format!("{DATA}/dumps/shop.rdb"), "no-such.json");
    for args in [
        &["render", no][..],
        &["render", DATA],
        &["compare", no, &shop],
        &["capacity", no, "--node-memory", "1GB"],
        &["analyze", &shop, "--baseline", no],
        &["analyze", &shop, "--earlier", no],
    ] {
        let output = run(rdblens().args(args));
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {said}");
        assert!(output.stdout.is_empty() && said.lines().count() == 1, "{args:?}: {said}");
        assert_eq!(said.contains("no-such.json: no such file or directory"), args.contains(&no), "{args:?}: {said}");
    }
}

#[test]
fn chosen_sections_are_written_from_a_stored_report_and_are_none_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (shop, whole, part) = (format!("{DATA}/dumps/shop.rdb"), place("whole.json"), place("part.json"));
    let done = |args: &[&str]| assert_eq!(run(rdblens().args(args)).status.code(), Some(0), "{args:?}");
    done(&["analyze", &shop, "-o", &whole]);
    for (ending, section) in [("json", "types,totals"), ("prom", "types,totals")] {
        let (direct, rendered) = (place(&format!("part.{ending}")), place(&format!("again.{ending}")));
        done(&["analyze", &shop, "--section", section, "-o", &direct]);
        done(&["render", &whole, "--section", section, "-o", &rendered]);
        assert!(fs::read(direct).unwrap() == fs::read(rendered).unwrap(), "{ending}");
    }
    for args in [
        &["render", &part][..],
        &["compare", &part, &whole],
        &["capacity", &part, "--node-memory", "1GB"],
        &["analyze", &shop, "--baseline", &part],
        &["analyze", &shop, "--earlier", &part],
    ] {
        let output = run(rdblens().args(args));
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && output.stdout.is_empty(), "{args:?}: {error}");
        assert!(error.contains("part.json: holds only some sections of a report"), "{error}");
        assert!(error.contains("`rdblens analyze --format json` writes without --section"), "{error}");
    }
}

#[test]
fn encodings_that_are_no_plain_utf8_are_named() {
    let text = r#"{"schema":"rdblens.report/1"}"#;
    let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (bytes, said) in [
        ([&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(), "a byte order mark; save it as UTF-8 without one"),
        ([&b"\xff\xfe"[..], &wide].concat(), "it is UTF-16; save it as UTF-8"),
        (wide, "it is UTF-16; save it as UTF-8"),
    ] {
        let error = Report::read(&bytes, "a.json").unwrap_err().to_string();
        assert!(error.starts_with("a.json: not a JSON report: ") && error.contains(said), "{error}");
    }
}
