//! Hostile names break no output format: Markdown, CSV lists and Prometheus files remain valid for their readers.

use std::collections::BTreeSet;

use rdblens::internals::render::csv::CsvSection;
use rdblens::internals::render::{Format, Lang, PrometheusRenderer, Renderer, TableOptions, key_text};
use rdblens::report::{DetailField, DetailPart, DetailValue, Key, Report};

use crate::common::reports::{odd, sample, what_if};

/// Names that replace every name of a report.
const HOSTILE: [&[u8]; 16] = [
    b"<script>alert(1)</script>",
    b"a|b`c`d||``",
    b"\\|",
    b"`",
    "\u{202e}gpj.exe\u{2066}\u{200b}".as_bytes(),
    b"two\r\nlines\n\n# heading\n- item",
    b"=HYPERLINK(\"http://x\")",
    b"\t=1+1",
    b"@everyone #12 :smile: http://x www.x.y",
    b"![x](javascript:alert(1)) [a]: b *b* _c_ ~~d~~ $e$ &lt;",
    b"\xff\xfe|`<\x00\x1b[2J",
    b"a\",b\nc\\",
    b"} 1\nrdblens_keys 7",
    "é\u{301}\u{301}\u{301}\u{301}\u{301}键😀".as_bytes(),
    b"",
    &[b'x'; 10_240],
];

const NAME: DetailField = DetailField::new("name", "name", "名称");
const NAMES: DetailField = DetailField::new("names", "names", "名称");
const PARTS: DetailField = DetailField::new("parts", "parts", "部分");

/// Returns a report with every name and every text of a policy replaced.
fn with_name(name: &[u8]) -> Report {
    let mut report = sample::full();
    let text = || String::from_utf8_lossy(name).into_owned();
    report.for_each_key(|key| *key = Key::from(name));
    report.patterns.list.iter_mut().for_each(|row| row.pattern = text());
    report.no_ttl.patterns.iter_mut().for_each(|row| row.pattern = text());
    report.prefixes.tree.iter_mut().for_each(|node| (node.prefix, node.segment) = (text(), text()));
    report.types.iter_mut().for_each(|row| row.encoding = text());
    report.source.files.iter_mut().for_each(|file| (file.name, file.errors) = (text(), vec![text().into()]));
    report.findings.policy = text();
    for row in report.findings.list.iter_mut().flat_map(|finding| &mut finding.patterns) {
        (row.pattern, row.owner) = (Some(text()), Some(text()));
        row.details = [
            NAME.with(DetailValue::Text(text())),
            NAMES.with(DetailValue::Texts(vec![text(); 9])),
            PARTS.with(DetailValue::Parts(vec![DetailPart { name: text(), ..DetailPart::default() }; 9])),
            ("new".into(), serde_json::json!({ "label": text(), "type": text(), "value": [text()] }).into()),
        ]
        .into();
    }
    report.findings.by_owner.iter_mut().for_each(|row| (row.owner, row.contact) = (Some(text()), Some(text())));
    report.findings.exempted.iter_mut().for_each(|row| (row.pattern, row.reason) = (text(), text()));
    report.findings.budgets.iter_mut().for_each(|row| row.pattern = text());
    report.server.aux.iter_mut().for_each(|field| field.value = text());
    report.warnings = vec![text().into()];
    report.what_if = what_if::asked().what_if;
    report.what_if.iter_mut().flat_map(|what_if| &mut what_if.alternatives).for_each(|row| row.ask = text());
    report
}

fn reports() -> Vec<Report> {
    let mut reports: Vec<Report> = HOSTILE.iter().map(|name| with_name(name)).collect();
    reports.extend([sample::full(), odd::empty(), odd::extreme(), what_if::extreme()]);
    reports
}

fn render(report: &Report, format: Format) -> String {
    let mut out = Vec::new();
    format.renderer(TableOptions::default()).render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

/// Returns the line without code in backticks, code in tags, and escaped characters.
fn bare(line: &str) -> String {
    let (mut bare, mut rest) = (String::new(), line.replace("&emsp;", ""));
    while let Some(at) = rest.find(['`', '\\', '<']) {
        let sign = rest[at..].chars().next().unwrap();
        bare.push_str(&rest[..at]);
        let behind = rest[at + 1..].to_owned();
        rest = match sign {
            '\\' => behind.chars().skip(1).collect(),
            '`' => behind.split_once('`').unwrap_or_else(|| panic!("open code: {line}")).1.to_owned(),
            _ => {
                let code = behind.strip_prefix("code>").unwrap_or_else(|| panic!("a tag: {line}"));
                let (inside, behind) = code.split_once("</code>").unwrap();
                assert!(!inside.contains(['<', '`', '|', '\\', '*']), "{line}");
                behind.to_owned()
            }
        };
    }
    bare + &rest
}

#[test]
fn markdown_stays_in_its_cells() {
    for report in reports() {
        let text = render(&report, Format::Markdown);
        assert_eq!(text.chars().find(|&c| c != '\n' && key_text::is_hidden(c)), None);
        let (mut cells, mut in_code) = (0, false);
        for line in text.lines() {
            if line.starts_with("```") {
                in_code = !in_code;
            } else if in_code {
                assert!(line.starts_with("rdblens "), "{line}");
            } else if line.starts_with('|') {
                let pipes = bare(line).matches('|').count();
                assert!(cells == 0 || cells == pipes, "{cells} cells: {line:.300}");
                cells = pipes;
            } else {
                cells = 0;
                let bare = bare(line.strip_prefix("> ").unwrap_or(line));
                assert!(!bare.contains(['@', '<', '|', '[', '$', '&']) && !bare.contains("://"), "{line:.300}");
            }
        }
        assert!(!in_code);
    }
}

#[test]
fn lists_can_be_read_back_and_are_no_formulas() {
    for report in reports() {
        for section in CsvSection::ALL {
            let text = render(&report, Format::Csv(*section));
            let mut reader = csv::Reader::from_reader(text.as_bytes());
            assert_eq!(reader.headers().unwrap().iter().collect::<Vec<_>>(), section.columns());
            for row in reader.records() {
                for field in &row.unwrap() {
                    let number = field.parse::<f64>().is_ok();
                    assert!(
                        number || !field.trim_start_matches(' ').starts_with(['=', '+', '-', '@', '\t', '\r', '\n'])
                    );
                }
            }
        }
    }
}

#[test]
fn names_in_lists_are_unchanged() {
    for name in HOSTILE {
        let text = render(&with_name(name), Format::Csv(CsvSection::Heaviest));
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for row in reader.records().map(Result::unwrap) {
            let back = match &row[2] {
                "" => row[1].strip_prefix('\'').unwrap_or(&row[1]).as_bytes().to_vec(),
                base64 => data_encoding::BASE64.decode(base64.as_bytes()).unwrap(),
            };
            assert_eq!(back, name);
        }
    }
}

#[test]
fn figures_for_prometheus_keep_its_format() {
    for report in reports() {
        let mut out = Vec::new();
        let labels = vec![("snapshot".to_owned(), "\"\\\n\u{202e}".to_owned())];
        PrometheusRenderer::new(5, labels).render(&report, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("\n# EOF\n"));
        let (mut family, mut families, mut series) = (String::new(), BTreeSet::new(), BTreeSet::new());
        for line in text.lines().filter(|line| *line != "# EOF") {
            if let Some(comment) = line.strip_prefix("# ") {
                let words: Vec<&str> = comment.splitn(3, ' ').collect();
                if words[0] == "HELP" {
                    family = words[1].to_owned();
                    assert!(families.insert(family.clone()), "{family} stands in two places");
                    assert!(words[2].ends_with('.'));
                }
                assert!(["HELP", "TYPE", "UNIT"].contains(&words[0]) && words[1] == family, "{line}");
                assert!(words[0] != "UNIT" || family.ends_with(&format!("_{}", words[2])), "{line}");
                continue;
            }
            let (one, value) = sample_of(line);
            assert!(one.starts_with(&format!("{family}{{snapshot=")), "{line:.300}");
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line:.300}");
            assert!(series.insert(one.to_owned()), "{one} is there twice");
            assert!(line.len() < 2_000, "{line}");
        }
        assert!(series.len() < 400, "{}", series.len());
    }
}

/// Splits a sample into its series and its value.
fn sample_of(line: &str) -> (&str, &str) {
    let (name, rest) = line.split_once('{').unwrap();
    assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
    let mut rest = rest;
    loop {
        let (label, value) = rest.split_once("=\"").unwrap();
        assert!(label.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_'), "{line}");
        let mut characters = value.char_indices();
        let end = loop {
            match characters.next().unwrap() {
                (_, '\\') => assert!(matches!(characters.next().unwrap().1, '\\' | '"' | 'n'), "{line}"),
                (at, '"') => break at,
                _ => {}
            }
        };
        match value[end + 1..].strip_prefix(',') {
            Some(next) => rest = next,
            None => {
                let value = value[end + 1..].strip_prefix("} ").unwrap();
                return (&line[..line.len() - value.len() - 1], value);
            }
        }
    }
}

#[test]
fn series_do_not_grow_with_the_snapshot() {
    let mut report = sample::full();
    let database = report.databases[0].clone();
    report.databases = (0..10_000).map(|db| rdblens::report::Database { db, ..database.clone() }).collect();
    let row = report.patterns.list[0].clone();
    let named = |at: u64| rdblens::report::PatternRow { pattern: format!("p{at}:{{int}}"), ..row.clone() };
    report.patterns.list = (0..10_000).map(named).collect();
    let text = render(&report, Format::Prometheus);
    assert!(text.lines().count() < 1_000, "{}", text.lines().count());
    let keys = |line: &str| line.rsplit(' ').next().unwrap().parse::<u64>().unwrap();
    let of_databases = text.lines().filter(|line| line.starts_with("rdblens_database_keys{"));
    assert_eq!(of_databases.map(keys).sum::<u64>(), 10_000 * database.keys, "none is lost");
}

#[test]
fn markdown_is_in_the_language_asked_for() {
    let mut out = Vec::new();
    let table = TableOptions { lang: Lang::Zh, ..TableOptions::default() };
    Format::Markdown.renderer(table).render(&sample::sound(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("## 违规") && text.contains("| key 名 |") && !text.contains("## Findings"));
}

#[test]
fn every_list_and_metric_is_documented() {
    let page = include_str!("../../docs/formats.md");
    for section in CsvSection::ALL {
        let columns: Vec<String> = section.columns().iter().map(|column| format!("`{column}`")).collect();
        let row = format!("| `{}` | {} | {} |", section.name(), section.what(), columns.join(" "));
        assert!(page.contains(&row), "not in docs/formats.md: {row}");
    }
    let mut report = what_if::asked();
    report.findings.baseline = sample::full().findings.baseline;
    for report in [report, sample::full(), sample::sound()] {
        for line in render(&report, Format::Prometheus).lines().filter_map(|line| line.strip_prefix("# HELP ")) {
            let (name, help) = line.split_once(' ').unwrap();
            let documented = page
                .lines()
                .any(|row| row.starts_with(&format!("| `{name}` |")) && row.ends_with(&format!("| {help} |")));
            assert!(documented, "not in docs/formats.md: {name}: {help}");
        }
    }
}
