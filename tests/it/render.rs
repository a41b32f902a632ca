//! Whole reports in every format, compared with golden files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rdblens::internals::render::csv::CsvSection;
use rdblens::internals::render::{Format, Lang, TableOptions, key_text};
use rdblens::report::{Key, Report};
use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::golden;
use crate::common::program::stdout_of;
use crate::common::reports::{odd, sample, what_if};

fn render(report: &Report, format: Format, table: TableOptions) -> String {
    let mut out = Vec::new();
    format.renderer(table).render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn table(report: &Report, width: Option<u16>) -> String {
    render(report, Format::Table, TableOptions { width, ..TableOptions::default() })
}

fn chinese(report: &Report, width: Option<u16>) -> String {
    render(report, Format::Table, TableOptions { width, lang: Lang::Zh, ..TableOptions::default() })
}

fn all() -> [Report; 6] {
    [sample::full(), sample::sound(), odd::empty(), odd::extreme(), what_if::asked(), what_if::extreme()]
}

fn json(report: &Report) -> String {
    render(report, Format::Json, TableOptions::default())
}

#[test]
fn json_reports_match_the_golden_files() {
    golden::check("report-full.json", &json(&sample::full()));
    golden::check("report-empty.json", &json(&odd::empty()));
}

#[test]
fn json_holds_the_report_and_ends_its_line() {
    let text = json(&sample::full());
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), serde_json::to_value(sample::full()).unwrap());
    assert!(text.ends_with("}\n") && !text.ends_with("\n\n"));
}

#[test]
fn tables_match_the_golden_files() {
    golden::check("report-full.txt", &table(&sample::full(), None));
    golden::check("report-full-80.txt", &table(&sample::full(), Some(80)));
    golden::check("report-sound.txt", &table(&sample::sound(), None));
    golden::check("report-empty.txt", &table(&odd::empty(), None));
}

/// Returns the options of a terminal.
fn on_a_terminal(lang: Lang, width: u16) -> TableOptions {
    TableOptions { width: Some(width), ansi: true, bars: true, lang, ..TableOptions::default() }
}

/// The text without colour.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("\x1b[") {
        plain += before;
        rest = behind.split_once('m').unwrap().1;
    }
    plain + rest
}

#[test]
fn tables_on_a_terminal_match_the_golden_files() {
    golden::check("report-full.ansi.txt", &render(&sample::full(), Format::Table, on_a_terminal(Lang::En, 140)));
    golden::check("report-full.zh.ansi.txt", &render(&sample::full(), Format::Table, on_a_terminal(Lang::Zh, 140)));
}

#[test]
fn colour_changes_no_character_and_bars_no_other_column() {
    for (report, lang) in all().iter().flat_map(|report| [(report, Lang::En), (report, Lang::Zh)]) {
        for width in [60, 80, 120, 200] {
            let options = on_a_terminal(lang, width);
            let both = plain(&render(report, Format::Table, options));
            let bars = render(report, Format::Table, TableOptions { ansi: false, ..options });
            let neither = render(report, Format::Table, TableOptions { ansi: false, bars: false, ..options });
            assert_eq!(both, bars);
            assert!(both.lines().all(|line| key_text::width(line) <= usize::from(width)));
            let words = |text: &str| {
                let words = text.split_whitespace().filter(|word| !word.chars().all(|c| "━╸─".contains(c)));
                words.map(str::to_owned).collect::<Vec<_>>()
            };
            assert_eq!(words(&bars), words(&neither));
        }
    }
}

#[test]
fn a_wide_table_shortens_and_breaks_nothing() {
    for (report, lang) in all().iter().flat_map(|report| [(report, Lang::En), (report, Lang::Zh)]) {
        let options = TableOptions { wide: true, lang, ..TableOptions::default() };
        let wide = render(report, Format::Table, options);
        for row in &report.top.by_memory {
            let name = key_text::key(&row.key.0);
            assert!(wide.contains(&name), "{name}");
        }
        assert!(!wide.contains("columns left out") && !wide.contains("此处省略的列"));
        // Section rules end at the usual width.
        assert!(wide.lines().filter(|line| line.starts_with("── ")).all(|line| key_text::width(line) <= 120));
    }
}

#[test]
fn what_if_is_legible_at_any_width() {
    golden::check("report-what-if.json", &json(&what_if::asked()));
    golden::check("report-what-if.txt", &table(&what_if::asked(), None));
    golden::check("report-what-if-80.txt", &table(&what_if::asked(), Some(80)));
}

#[test]
fn chinese_tables_match_the_golden_files() {
    golden::check("report-full.zh.txt", &chinese(&sample::full(), None));
    golden::check("report-full-80.zh.txt", &chinese(&sample::full(), Some(80)));
    golden::check("report-sound.zh.txt", &chinese(&sample::sound(), None));
    golden::check("report-empty.zh.txt", &chinese(&odd::empty(), None));
    golden::check("report-what-if.zh.txt", &chinese(&what_if::asked(), None));
    golden::check("report-what-if-80.zh.txt", &chinese(&what_if::asked(), Some(80)));
}

#[test]
fn every_format_matches_the_golden_files() {
    let full = sample::full();
    let markdown = |lang| render(&full, Format::Markdown, TableOptions { lang, ..TableOptions::default() });
    golden::check("report-full.md", &markdown(Lang::En));
    golden::check("report-full.zh.md", &markdown(Lang::Zh));
    golden::check("report-full.prom", &render(&full, Format::Prometheus, TableOptions::default()));
    // Every list, each below its name.
    let mut lists = String::new();
    for section in CsvSection::ALL {
        lists += &format!("# {}\n{}\n", section.name(), render(&full, Format::Csv(*section), TableOptions::default()));
    }
    golden::check("report-full.csv", &lists);
}

#[test]
fn output_for_programs_is_equal_in_every_language() {
    for format in [Format::Csv(CsvSection::Findings), Format::Prometheus] {
        let in_lang = |lang| render(&sample::full(), format, TableOptions { lang, ..TableOptions::default() });
        assert_eq!(in_lang(Lang::En), in_lang(Lang::Zh));
    }
}

#[test]
fn json_is_the_same_in_every_language() {
    for report in all() {
        let in_lang = |lang| render(&report, Format::Json, TableOptions { lang, ..TableOptions::default() });
        assert_eq!(in_lang(Lang::En), in_lang(Lang::Zh));
    }
}

#[test]
fn no_english_is_left_in_a_chinese_report() {
    // Warnings and errors are in English, as in JSON.
    for mut report in [sample::full(), sample::sound(), odd::empty(), odd::extreme(), what_if::asked()] {
        report.warnings.clear();
        let alternatives = report.what_if.iter_mut().flat_map(|what_if| &mut what_if.alternatives);
        alternatives.for_each(|alternative| alternative.caveats.clear());
        report.source.files.iter_mut().for_each(|file| file.errors.clear());
        for width in [60, 80, 120, 300] {
            for line in chinese(&report, Some(width)).lines() {
                // Commands, and texts of the dump or the policy.
                let foreign = ["rdblens ", "辅助字段：", "model of ", "read by the old", "name, address", "objects"];
                if foreign.iter().any(|start| line.contains(start)) {
                    continue;
                }
                let words = line.split(|c: char| c.is_whitespace() || "，。；：（）、".contains(c));
                let words = words.map(|word| word.trim_matches([',', '.', ';', ':', '(', ')']));
                // MEMORY USAGE is a command.
                let english = words.filter(|word| {
                    let lower = word.to_ascii_lowercase();
                    ENGLISH.contains(&lower.as_str()) && *word != word.to_ascii_uppercase()
                });
                assert_eq!(english.collect::<Vec<_>>(), [""; 0], "{line}");
            }
        }
    }
}

#[test]
fn figures_are_the_same_in_every_language() {
    for report in [sample::full(), sample::sound(), odd::empty(), what_if::asked()] {
        // Wide enough to show every column.
        let (english, chinese) = (table(&report, Some(400)), chinese(&report, Some(400)));
        assert_eq!(figures(&english), figures(&chinese));
        assert_eq!(english.matches("\n── ").count(), chinese.matches("\n── ").count());
    }
}

/// Returns everything that looks like a number, sorted, since sentences may reorder numbers.
fn figures(text: &str) -> Vec<&str> {
    let words = text.split(|c: char| !c.is_ascii_graphic());
    let words = words.map(|word| word.trim_matches([',', '.', ';', ':', '(', ')']));
    let mut figures: Vec<&str> = words.filter(|word| word.contains(|c: char| c.is_ascii_digit())).collect();
    figures.sort_unstable();
    figures
}

/// Words of English reports that Chinese ones must not contain. Names of commands, types and encodings are allowed.
const ENGLISH: [&str; 63] = [
    "above", "all", "allowed", "and", "are", "as", "at", "be", "bytes", "by", "checksum", "contact", "days", "demands",
    "disk", "elements", "entries", "entry", "every", "example", "expires", "expired", "file", "files", "findings",
    "from", "heaviest", "hours", "in", "is", "keys", "left", "length", "lighter", "mean", "memory", "minutes", "more",
    "never", "no", "none", "of", "on", "or", "over", "owners", "pattern", "patterns", "rule", "rules", "saves",
    "seconds", "severity", "share", "snapshot", "that", "the", "types", "what", "which", "will", "with", "worst",
];

#[test]
fn without_a_width_there_are_120_columns() {
    assert_eq!(table(&sample::full(), None), table(&sample::full(), Some(120)));
}

#[test]
fn no_line_is_wider_than_the_page() {
    for report in all() {
        for (asked, width) in
            [(Some(80), 80), (Some(120), 120), (None, 120), (Some(0), 60), (Some(61), 61), (Some(300), 300)]
        {
            for text in [table(&report, asked), chinese(&report, asked)] {
                for line in text.lines() {
                    assert!(key_text::width(line) <= width, "{width}: {line}");
                }
            }
        }
    }
}

#[test]
fn no_line_ends_in_spaces_and_no_two_empty_lines_follow() {
    for report in all() {
        for text in [table(&report, None), chinese(&report, None)] {
            assert!(text.lines().all(|line| line.trim_end() == line));
            assert!(!text.contains("\n\n\n") && !text.starts_with('\n'));
        }
    }
}

#[test]
fn nothing_from_the_snapshot_reaches_the_terminal_raw() {
    for report in [sample::full(), odd::extreme(), what_if::asked(), what_if::extreme()] {
        for text in [table(&report, None), chinese(&report, None), json(&report)] {
            let hidden = text.chars().find(|&c| c != '\n' && key_text::is_hidden(c));
            assert_eq!(hidden, None);
        }
    }
}

#[test]
fn ansi_adds_emphasis_only() {
    for report in [sample::full(), sample::sound()] {
        let plain = table(&report, Some(100));
        let ansi =
            render(&report, Format::Table, TableOptions { width: Some(100), ansi: true, ..TableOptions::default() });
        assert!(ansi.contains("\x1b[1m"));
        assert_eq!(without_ansi(&ansi), plain);
    }
}

fn without_ansi(text: &str) -> String {
    let mut parts = text.split("\x1b[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

#[test]
fn damage_is_the_first_thing_on_the_page() {
    let text = table(&sample::full(), None);
    assert!(text.starts_with("!! INCOMPLETE"));
    assert!(text.contains("!! appendonlydir: CHECKSUM MISMATCH"));
    assert!(!table(&sample::sound(), None).contains("!!"));
}

#[test]
fn names_are_not_reported_twice() {
    let text = table(&sample::sound(), None);
    let (_, names) = text.split_once("── Names that violate rules").unwrap();
    // Of the violated rules only this one is missing from the findings of the sample.
    assert!(names.contains("key.length") && !names.contains("key.prefix"));
    let mut bare = sample::sound();
    bare.findings = rdblens::report::Findings::default();
    let text = table(&bare, None);
    assert!(
        text.contains("── Names that violate rules") && text.contains("key.prefix") && !text.contains("── Findings")
    );
}

#[test]
fn findings_stand_below_the_overview_and_say_what_to_do() {
    for width in [80, 120] {
        let text = table(&sample::sound(), Some(width));
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{width}: {what}"));
        assert!(at("! policy") < at("── Findings") && at("── Findings") < at("── Server"));
        assert!(text.contains("2,000,000    5,000") && text.contains("91.4 %   80.0 %"));
        assert!(text.contains("→ split it over several keys") && text.contains("leaves age, favor, name"));
        for section in ["Owners", "Patterns with the most violations", "Data dictionary", "Memory budgets", "Exempted"]
        {
            at(&format!("── {section}"));
        }
        assert!(text.contains("unused: voucher:{token}"));
    }
}

#[test]
fn every_form_has_the_same_sections_in_the_same_order() {
    for report in [sample::full(), sample::sound(), what_if::asked()] {
        let text = render(&report, Format::Table, TableOptions { wide: true, ..TableOptions::default() });
        let headings = |line: &str| Some(line.strip_prefix("── ")?.trim_end_matches(['─', ' ']).to_owned());
        let terminal: Vec<String> = text.lines().filter_map(headings).collect();
        let text = render(&report, Format::Markdown, TableOptions::default());
        let markdown: Vec<String> =
            text.lines().filter_map(|line| line.strip_prefix("## ").map(str::to_owned)).collect();
        let text = render(&report, Format::Html, TableOptions::default());
        let heading = |rest: &str| Some(rest.split_once('>')?.1.split_once("</h2>")?.0.to_owned());
        let html: Vec<String> = text.split("<h2 id=\"h-").skip(1).filter_map(heading).collect();
        assert_eq!(terminal, markdown);
        // Commands to run next are for terminals; the page may add sections of pictures or facts of its own.
        let common: Vec<String> = html.into_iter().filter(|title| terminal.contains(title)).collect();
        assert_eq!(common, terminal.iter().filter(|title| *title != "What next").cloned().collect::<Vec<_>>());
        let at = |title: &str| terminal.iter().position(|shown| shown == title);
        for two in ["Findings", "Prefixes", "Patterns", "Types", "Instance", "Server"].windows(2) {
            let [before, after] = [at(two[0]), at(two[1])];
            assert!(before.is_none() || after.is_none() || before < after, "{two:?}");
        }
    }
}

#[test]
fn lists_are_as_long_as_asked() {
    let short = render(&sample::full(), Format::Table, TableOptions { rows: 2, ..TableOptions::default() });
    assert!(short.contains(" more with --top 20"));
    assert!(short.lines().count() < table(&sample::full(), None).lines().count());
}

#[test]
fn every_json_field_is_documented_and_every_documented_field_exists() {
    let mut fields = BTreeSet::new();
    let mut insisted = sample::full();
    insisted.options.allow_same = true;
    insisted.options.inputs = vec!["nights/".to_owned()];
    insisted.patterns.list[0].example.key = Key::beginning_of(b"blob:xxx", 5_000);
    insisted.source.files[0].salvage = Some(sample::salvage());
    for report in [insisted, what_if::asked()] {
        collect_fields(&serde_json::from_str(&json(&report)).unwrap(), &mut fields);
    }
    let documented: BTreeSet<String> = include_str!("../../docs/report-schema.md")
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once('`'))
        .map(|(name, _)| name.to_owned())
        .collect();
    let missing: Vec<_> = fields.difference(&documented).collect();
    let invented: Vec<_> = documented.difference(&fields).collect();
    assert!(missing.is_empty(), "not in docs/report-schema.md: {missing:?}");
    assert!(invented.is_empty(), "documented, but not in the report: {invented:?}");
}

/// The names of all fields at any depth.
fn collect_fields(value: &Value, fields: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, member) in members {
                fields.insert(name.clone());
                // Details differ by rule, and settings go by rule.
                if !["details", "settings"].contains(&name.as_str()) {
                    collect_fields(member, fields);
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_fields(item, fields)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Names of rules and of the details that their files define.
fn details_of_rules(folder: &Path, found: &mut Vec<(String, Vec<String>)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            details_of_rules(&path, found);
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let quoted = |text: &str| text.split('"').nth(1).unwrap_or_default().to_owned();
        let names: Vec<String> = text.split("DetailField::new(").skip(1).map(quoted).collect();
        let rule = text.lines().find_map(|line| line.trim().strip_prefix("id: ")).map(quoted);
        if let Some(rule) = rule.filter(|_| !names.is_empty()) {
            found.push((rule, names));
        }
    }
}

#[test]
fn details_of_every_rule_are_documented() {
    let mut rules = Vec::new();
    details_of_rules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src/policy/rules"), &mut rules);
    assert!(rules.len() > 10, "{rules:?}");
    let page = include_str!("../../docs/report-schema.md");
    for (rule, names) in rules {
        let (_, said) = [format!("\n- `{rule}`:"), format!("\n### findings: {rule}\n")]
            .iter()
            .find_map(|start| page.split_once(start.as_str()))
            .unwrap_or_else(|| panic!("{rule} is not in docs/report-schema.md"));
        let end = if said.starts_with('\n') { "\n#" } else { "\n- `" };
        let said = said.split(end).next().unwrap_or_default();
        for name in names {
            assert!(said.contains(&format!("`{name}`")), "{name} of {rule} is not in docs/report-schema.md");
        }
    }
}

#[test]
fn every_field_of_the_schema_is_named_on_its_page() {
    fn collect(schema: &Value, fields: &mut BTreeSet<String>) {
        match schema {
            Value::Object(members) => {
                let own = members.get("properties").and_then(Value::as_object);
                fields.extend(own.iter().flat_map(|own| own.keys().cloned()));
                members.values().for_each(|member| collect(member, fields));
            }
            Value::Array(items) => items.iter().for_each(|item| collect(item, fields)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    let mut fields = BTreeSet::new();
    let schema = serde_json::from_str(include_str!("../../docs/report.schema.json")).unwrap();
    collect(&schema, &mut fields);
    let page = include_str!("../../docs/report-schema.md");
    let missing: Vec<_> = fields.iter().filter(|field| !page.contains(&format!("`{field}`"))).collect();
    assert!(fields.len() > 200 && missing.is_empty(), "not in docs/report-schema.md: {missing:?}");
}

#[test]
fn lists_that_were_asked_to_be_short_say_what_they_leave_out() {
    let shop = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");
    let sections = ["patterns", "big-keys", "longest", "no-ttl", "slots", "streams"];
    for section in sections {
        let of = |flags: &[&str]| stdout_of(&[&["analyze", shop, "--section", section], flags].concat());
        for flags in [&["--top", "3"][..], &["--top", "3", "--format", "markdown"], &[]] {
            let text = of(flags);
            assert!(text.contains("more with --top "), "{section} {flags:?}: {text}");
        }
    }
    let all = stdout_of(&["analyze", shop, "--section", "patterns", "--top", "3"]);
    assert!(all.contains("… 142 more with --top 200"), "{all}");
}

#[test]
fn a_name_that_is_cut_is_marked_in_every_form_and_masked_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("long.rdb").display().to_string();
    let mut dump = Dump::new();
    dump.string(format!("{{blob}}:{}:1", "x".repeat(5_000)), "value");
    fs::write(&path, dump.bytes()).unwrap();
    let of = |flags: &[&str]| stdout_of(&[&["analyze", &path], flags].concat());
    let report: Value = serde_json::from_str(&of(&["--format", "json"])).unwrap();
    let example = &report["patterns"]["list"][0]["example"];
    assert_eq!((&example["key_bytes"], example["key"].as_str().map(str::len)), (&5_009.into(), Some(1_024)));
    assert_eq!(report["slots"]["list"][0]["example"]["key_bytes"], 5_009);
    let row = &report["top"]["by_memory"][0];
    assert_eq!((&row["key_bytes"], row["key"].as_str().map(str::len)), (&Value::Null, Some(5_009)));
    let csv = of(&["--format", "csv", "--section", "patterns"]);
    assert!(csv.lines().nth(1).unwrap().contains("xxx,,5009,"), "{csv}");
    for form in ["table", "markdown", "html"] {
        let text = of(&["--section", "patterns", "--format", form, "--lang", "en"]);
        assert!(text.contains('…') && !text.contains("\\u{2026}"), "{form}");
    }
    let wide = of(&["--section", "patterns", "--wide"]);
    assert!(wide.contains("xxx…") && !wide.contains("u{2026}"), "{wide}");
    let masked: Value = serde_json::from_str(&of(&["--format", "json", "--mask"])).unwrap();
    let name = masked["top"]["by_memory"][0]["key"].as_str().unwrap();
    assert!(name.contains('~') && name.len() < 100, "{name}");
    assert_eq!(masked["patterns"]["list"][0]["example"]["key"], name);
    assert_eq!(masked["slots"]["list"][0]["example"]["key"], name);
}
