//! The default report fits a screen or two, whatever is in the snapshot; `--full` and `--section` show more.

use std::fs;
use std::path::PathBuf;

use rdblens::internals::render::{Extent, Format, Lang, TableOptions, key_text};
use rdblens::report::Report;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, run_args, stdout_of};
use crate::common::reports::{odd, sample};
use crate::common::{dumps, golden};

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

/// Lines of two small screens, and the line that explains a column.
const MAX_LINES: usize = 49;

fn render(report: &Report, format: Format, width: u16, lang: Lang) -> String {
    let mut out = Vec::new();
    let options = TableOptions { width: Some(width), extent: Extent::Short, lang, ..TableOptions::default() };
    format.renderer(options).render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the report of a dump; damaged ones have one, too.
fn report(path: &str, more: &[&str]) -> Option<Report> {
    let output = run_args(&[&["analyze", path, "--format", "json", "--quiet"], more].concat());
    Report::read(&output.stdout, "report").ok()
}

/// Names in many scripts, some of them hostile, that break every rule about names.
fn hostile() -> Vec<u8> {
    let mut dump = Dump::new();
    for n in 0..40 {
        for name in ["用户:订单 {n}::明细", "a\u{202e}b{n}", "\x1b[2Jx{n}:", "x{n}", "it's\\{n}:\u{200b}", "{n}"]
        {
            dump.string(name.replace("{n}", &n.to_string()), "x".repeat(20_000 + n));
        }
        dump.list(format!("队列:{n}"), &vec!["y"; 6_000]);
    }
    dump.string("k".repeat(4_000), "{\"a\":1}").bytes()
}

#[test]
fn the_default_report_fits_two_screens() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("hostile.rdb");
    fs::write(&path, hostile()).unwrap();
    let cut = folder.path().join("cut.rdb");
    fs::write(&cut, &fs::read(SHOP).unwrap()[..400_000]).unwrap();
    let small = |path: &PathBuf| fs::metadata(path).is_ok_and(|file| file.len() < 64 << 10);
    let inputs = dumps().into_iter().filter(small).chain([path, cut, SHOP.into()]);
    let inputs: Vec<String> = inputs.map(|path| path.to_str().unwrap().to_owned()).collect();
    let mut seen = 0;
    for input in inputs {
        for policy in ["default", "platform"] {
            let Some(report) = report(&input, &["--policy", policy, "--maxmemory", "4MB"]) else { continue };
            seen += 1;
            for lang in Lang::ALL {
                let text = render(&report, Format::Table, 80, lang);
                // A long path takes a line of its own, and one more in each of two commands.
                let most = MAX_LINES + if input.len() > 30 { 3 } else { 0 };
                assert!(text.lines().count() <= most, "{input} has {} lines:\n{text}", text.lines().count());
                let narrow = render(&report, Format::Table, 60, lang);
                for (line, width) in text.lines().map(|line| (line, 80)).chain(narrow.lines().map(|line| (line, 60))) {
                    assert!(key_text::width(line) <= width, "{input}: {line}");
                }
                let markdown = render(&report, Format::Markdown, 80, lang);
                assert!(markdown.lines().count() <= 150, "{input}: {} lines", markdown.lines().count());
            }
        }
    }
    assert!(seen > 4);
}

#[test]
fn short_reports_match_the_golden_files() {
    for (name, report) in [("full", sample::full()), ("sound", sample::sound()), ("empty", odd::empty())] {
        golden::check(&format!("short-{name}.txt"), &render(&report, Format::Table, 100, Lang::En));
    }
    golden::check("short-full.zh.txt", &render(&sample::full(), Format::Table, 80, Lang::Zh));
    golden::check("short-full-200.txt", &render(&sample::full(), Format::Table, 200, Lang::En));
    golden::check("short-full.md", &render(&sample::full(), Format::Markdown, 100, Lang::En));
    golden::check("short-full.zh.md", &render(&sample::full(), Format::Markdown, 100, Lang::Zh));
}

#[test]
fn narrow_pages_keep_what_belongs_together() {
    let path = "testdata/dumps/shop.rdb";
    let report = report(path, &["--policy", "platform"]).unwrap();
    let full = |width| {
        let mut out = Vec::new();
        let options = TableOptions { width: Some(width), extent: Extent::Full, ..TableOptions::default() };
        Format::Table.renderer(options).render(&report, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    // Without the column of models, `newest` alone says no server.
    let narrow = full(80);
    assert!(narrow.contains(" newest (redis ") && !narrow.contains("  model "), "{narrow}");
    // Words are not cut.
    assert!(narrow.contains("none of the collections has a"), "{narrow}");
    for width in 60..130 {
        let short = render(&report, Format::Table, width, Lang::En);
        for text in [&short, &full(width)] {
            let heads = text.lines().filter(|line| line.starts_with("rule  ") && line.contains("severity"));
            heads.for_each(|head| assert_eq!(head.contains(" worst"), head.contains(" allowed"), "{width}: {head}"));
        }
        assert!(!short.contains("show FILE "), "{width}: {short}");
        assert_eq!(short.contains("\nLength: elements"), short.contains("  length  "), "{width}: {short}");
    }
    let wide = render(&report, Format::Table, 120, Lang::Zh);
    assert!(!wide.contains("《"), "a source that has no room: {wide}");
}

#[test]
fn the_fill_level_is_among_the_totals() {
    let text = stdout_of(&["analyze", SHOP, "--maxmemory", "8MB", "--lang", "en"]);
    assert!(text.contains(" of maxmemory (8.0 MiB): ") && text.contains(" free"), "{text}");
    let text = stdout_of(&["analyze", SHOP, "--maxmemory", "1MB", "--lang", "en"]);
    assert!(text.contains(" over"), "{text}");
}

#[test]
fn sections_are_chosen_in_every_form() {
    let only = |more: &[&str]| stdout_of(&[&["analyze", SHOP, "--lang", "en"], more].concat());
    let titles = |text: &str, mark: &str| text.lines().filter(|line| line.starts_with(mark)).count();
    let table = only(&["--section", "types,no-ttl"]);
    assert!(titles(&table, "── ") == 2 && table.contains("── Types ") && table.contains("── Keys without TTL "));
    let markdown = only(&["--section", "types", "--section", "databases", "--format", "markdown"]);
    assert_eq!(titles(&markdown, "## "), 2);
    let html = only(&["--section", "types", "--format", "html"]);
    assert!(html.contains("id=\"types\"") && !html.contains("id=\"findings\""));
    let csv = only(&["--section", "types", "--format", "csv"]);
    assert!(csv.starts_with("type,encoding,"));
    assert!(titles(&only(&["--full"]), "── ") > 15 && titles(&only(&["--full", "--format", "markdown"]), "## ") > 15);
    // What the report does not have is said, with the flag that gives it.
    let table = only(&["--section", "types,growth,streams,no-ttl,owners"]);
    assert_eq!(titles(&table, "── "), 4, "{table}");
    assert!(table.contains("- growth: nothing to show; --baseline REPORT.json gives it"), "{table}");
    assert!(table.contains("- owners: nothing to show; --policy FILE.toml gives it"), "{table}");
    // Chosen sections leave out nothing that others would show.
    let table = only(&["--section", "heaviest,naming,by-type,databases", "--top", "3", "--db", "0", "--type", "zset"]);
    assert!(table.contains("── Heaviest keys ") && table.contains("── Databases "), "{table}");
    assert!(table.contains("── Heaviest keys of each type "), "{table}");
    assert!(only(&["--section", "naming"]).contains("── Names that violate rules "));
    assert!(only(&["--section", "heaviest", "--top", "3"]).contains("── Heaviest keys "));
    for (section, format, told) in [
        ("types,server", "csv", "section server is not available as CSV (available: patterns, "),
        ("types,next", "json", "choose --format table, html or markdown"),
        ("types,heaviest", "prometheus", "sections with metrics: patterns, totals, files, "),
    ] {
        let output = run_args(&["analyze", SHOP, "--section", section, "--format", format]);
        assert_eq!(output.status.code(), Some(2), "{format}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(output.stdout.is_empty() && error.contains(told), "{format}: {error}");
        if let Some((_, names)) = error.split_once("sections with metrics: ") {
            let names: String = names.chars().filter(|c| c.is_ascii_lowercase() || "-,".contains(*c)).collect();
            let list = format!("are `{}`.", names.replace(',', "`, `"));
            let page = fs::read_to_string("docs/formats.md").unwrap();
            assert!(page.split_whitespace().collect::<Vec<_>>().join(" ").contains(&list), "{list}");
        }
    }
}

#[test]
fn sections_for_programs_are_those_of_the_whole_report() {
    let only = |more: &[&str]| stdout_of(&[&["analyze", SHOP], more].concat());
    let json = |more: &[&str]| -> serde_json::Value {
        serde_json::from_str(&only(&[&["--format", "json"], more].concat())).unwrap()
    };
    let (mut whole, chosen) = (json(&[]), json(&["--section", "no-ttl,types,growth,heaviest,trend,owners"]));
    let fields = chosen.as_object().unwrap();
    let names: Vec<&str> = fields.keys().map(String::as_str).collect();
    let expected = ["complete", "findings", "growth", "history", "no_ttl", "rdblens", "schema", "top", "types"];
    assert_eq!(names, expected);
    (whole["schema"], whole["history"]) = ("rdblens.sections/1".into(), serde_json::json!([]));
    for (name, field) in fields {
        assert_eq!(*field, whole[name], "{name}");
    }
    assert!(chosen["growth"].is_null() && chosen["types"].as_array().is_some_and(|rows| rows.len() > 5));

    let all = only(&["--format", "prometheus"]);
    let some = only(&["--format", "prometheus", "--section", "types,baseline,dictionary"]);
    let of_types = |line: &&str| {
        ["rdblens_type_", "rdblens_report_", "rdblens_snapshot_", "# EOF"].iter().any(|name| line.contains(name))
    };
    assert_eq!(some.lines().collect::<Vec<_>>(), all.lines().filter(of_types).collect::<Vec<_>>());
}

/// Runs a command line on a terminal of its own, and returns what it wrote there.
#[cfg(unix)]
fn on_terminal(line: &str, pager: &str) -> String {
    let line = format!("'{}' {line}", env!("CARGO_BIN_EXE_rdblens"));
    let mut script = std::process::Command::new("script");
    script.env("LC_ALL", "C").env("TERM", "xterm").env("PAGER", pager).stdin(std::process::Stdio::null());
    String::from_utf8(script.args(["-qec", &line, "/dev/null"]).output().unwrap().stdout).unwrap()
}

#[test]
#[cfg(unix)]
fn a_full_report_goes_through_the_pager_on_a_terminal_only() {
    let full = format!("analyze '{SHOP}' --full --quiet");
    let paged = |text: &str| text.lines().any(|line| line.trim_start().starts_with("1\t"));
    assert!(paged(&on_terminal(&full, "cat -n")));
    assert!(!paged(&on_terminal(&format!("{full} --no-pager"), "cat -n")));
    assert!(!paged(&on_terminal(&format!("analyze '{SHOP}' --quiet"), "cat -n")));
    assert!(!paged(&on_terminal(&format!("{full} | cat"), "cat -n")));
    // One that is left early, or that there is not, changes nothing else.
    assert_eq!(on_terminal(&format!("{full}; echo status $?"), "head -1").lines().last(), Some("status 0"));
    assert!(on_terminal(&full, "no-such-pager").contains("testdata/dumps/shop.rdb"));
}

#[test]
fn printed_commands_name_inputs_as_they_were_given_and_run() {
    let folder = tempfile::tempdir().unwrap();
    let shards = folder.path().join("it's six! shards");
    std::fs::create_dir(&shards).unwrap();
    for shard in 0..6 {
        std::fs::copy(SHOP, shards.join(format!("-{shard}.rdb"))).unwrap();
    }
    let args = ["analyze", "it's six! shards", "--allow-same", "--policy", "none"];
    let report = run(rdblens().args(args).args(["--full", "--lang", "en"]).current_dir(&folder));
    let text = String::from_utf8(report.stdout).unwrap();
    let (_, next) = text.split_once("── What next").unwrap();
    let next = next.replace("\\\n   ", "");
    let commands: Vec<&str> = next.lines().filter(|line| line.starts_with("rdblens ")).collect();
    assert!(commands.len() >= 3 && !next.contains("FILE"), "{next}");
    for command in commands {
        let command = command.split("  #").next().unwrap();
        let program = rdblens().get_program().to_str().unwrap().to_owned();
        let line = command.replacen("rdblens", &format!("'{program}'"), 1);
        let output = run(std::process::Command::new("sh").args(["-c", &line]).current_dir(&folder));
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_heaviest_of_each_type_say_what_a_small_top_leaves_out() {
    let of = |top: &str| {
        let output = run(rdblens().args(["analyze", SHOP, "--section", "by-type", "--lang", "en", "--top", top]));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(of("1").contains("… 12 more with --top 20"), "{}", of("1"));
    assert!(!of("3").contains("more with"), "{}", of("3"));
}
