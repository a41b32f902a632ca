//! The HTML report is well formed, bounded, and safe with hostile names. `.ci/checks/test_html.py` opens it in a
//! browser.

use std::collections::BTreeSet;

use data_encoding::BASE64;
use rdblens::internals::render::{HtmlRenderer, Lang, Renderer, human, key_text};
use rdblens::internals::units::Bytes;
use rdblens::report::{AuxField, DetailField, DetailValue, Key, PatternRow, PrefixNode, Report};
use sha2::{Digest, Sha256};

use crate::common::golden;
use crate::common::page::Page;
use crate::common::program::{run_args, stdout_of, testdata};
use crate::common::reports::{odd, sample, what_if};

fn html(report: &Report, lang: Lang) -> String {
    let mut out = Vec::new();
    HtmlRenderer::new(lang).render(report, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn all() -> [Report; 6] {
    [sample::full(), sample::sound(), odd::empty(), odd::extreme(), what_if::asked(), what_if::extreme()]
}

/// Returns the page without style and script, one tag per line: the part that depends on the report.
fn body(report: &Report, lang: Lang) -> String {
    let html = html(report, lang);
    let page = Page::read(&html);
    let policy = page.values("content").next().unwrap().replace('\'', "&#39;");
    let body = html.replace(&policy, "…").replace(&page.style, "…").replace(&page.script, "…");
    let trimmed: Vec<&str> = body.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    trimmed.join("\n") + "\n"
}

#[test]
fn pages_match_the_golden_files() {
    golden::check("report-full.html", &body(&sample::full(), Lang::En));
    golden::check("report-empty.html", &body(&odd::empty(), Lang::En));
    golden::check("report-what-if.zh.html", &body(&what_if::asked(), Lang::Zh));
}

#[test]
fn every_page_is_well_formed_and_the_same_each_time() {
    for report in all() {
        for lang in Lang::ALL {
            let html = html(&report, lang);
            let page = Page::read(&html);
            assert_eq!(html, self::html(&report, lang));
            assert!(html.starts_with("<!DOCTYPE html>") && !html.contains('\r'));
            let ids: Vec<&str> = page.values("id").collect();
            assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "an id stands for one element");
            for target in page.values("href") {
                let id = target.strip_prefix('#').expect("links stay on the page");
                assert!(ids.contains(&id), "{target} leads nowhere");
            }
            for label in page.values("aria-labelledby") {
                assert!(ids.contains(&label), "{label} labels nothing");
            }
        }
    }
}

#[test]
fn the_page_allows_its_own_style_and_script_and_nothing_else() {
    let page = Page::read(&html(&sample::full(), Lang::En));
    let hash = |text: &str| format!("'sha256-{}'", BASE64.encode(&Sha256::digest(text)));
    let policy = page.values("content").next().unwrap();
    assert_eq!(
        policy,
        format!(
            "default-src 'none'; style-src {}; script-src {}; base-uri 'none'; form-action 'none'",
            hash(&page.style),
            hash(&page.script)
        )
    );
    for external in ["url(", "@import", "http:", "https:", "//"] {
        assert!(!page.style.contains(external), "{external}");
    }
    for reach in ["fetch", "XMLHttp", "import(", "eval", "innerHTML", "localStorage", "document.cookie", "http"] {
        assert!(!page.script.contains(reach), "{reach}");
    }
}

/// Returns a report with that many patterns on its list, of five times as many in the snapshot.
fn with_patterns(rows: usize) -> Report {
    let mut report = sample::full();
    let first = report.patterns.list[0].clone();
    report.patterns.list =
        (0..rows).map(|at| PatternRow { pattern: format!("p{at}:{{int}}"), ..first.clone() }).collect();
    report.patterns.distinct = 5 * rows as u64;
    report.options.rows = rows;
    report
}

#[test]
fn lists_open_up_to_top_and_then_name_the_way_on() {
    let page = |rows: usize| {
        let mut out = Vec::new();
        HtmlRenderer::new(Lang::En).with_rows(rows).render(&with_patterns(rows), &mut out).unwrap();
        let html = String::from_utf8(out).unwrap();
        html.split("<h2 id=\"h-patterns\"").nth(1).unwrap().split("</section>").next().unwrap().to_owned()
    };
    let rows = |section: &str| section.split("<tbody>").nth(1).unwrap().matches("<tr>").count();
    let few = page(20);
    assert_eq!(rows(&few), 20);
    assert!(few.contains("<div class=\"listing long\">") && few.contains("<summary>10 more<"), "{few}");
    assert!(few.contains("80 more with <code>--top 100</code>."), "{few}");
    let many = page(400);
    assert_eq!(rows(&many), 400);
    assert!(many.contains("<summary>390 more<") && many.contains("<code>--top 2000</code>"));
    // A page of bounded size cannot hold all of these; what it leaves out is in the report.
    let most = page(10_000);
    assert!((100..=1_000).contains(&rows(&most)), "{}", rows(&most));
    let left_out = 10_000 - rows(&most);
    assert!(
        most.contains(&format!("{} more with <code>--format json --top 10000</code>.", human::count(left_out as u64)))
    );
    assert!(!page(5).contains("class=\"rest\""));
}

#[test]
fn the_first_screen_leads_to_the_gravest_findings_and_has_the_map() {
    let report = flooded(40);
    let html = html(&report, Lang::En);
    let head = html.split("<section class=\"head\"").nth(1).unwrap().split("</section>").next().unwrap();
    let links: Vec<&str> = head.split("href=\"#f").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let first: Vec<String> = (0..10).map(|at| at.to_string()).chain(["indings".to_owned()]).collect();
    assert!(first.iter().all(|link| links.contains(&link.as_str())), "{links:?}");
    assert_eq!((html.matches("class=\"treemap\"").count(), head.matches("class=\"treemap\"").count()), (1, 1));
    let empty = self::html(&odd::empty(), Lang::En);
    assert!(!empty.contains("class=\"gravest\"") && !empty.contains("class=\"treemap\""));
}

#[test]
fn a_baseline_passes_on_the_sizes_that_it_knew() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let dump = |name: &str| testdata().join("dumps").join(name).to_str().unwrap().to_owned();
    let (shop, later) = (dump("shop.rdb"), dump("shop-later.rdb"));
    let mut oldest: serde_json::Value =
        serde_json::from_str(&stdout_of(&["analyze", &shop, "--format", "json"])).unwrap();
    let day = oldest["server"]["ctime"].as_i64().unwrap();
    oldest["server"]["ctime"] = (day - 86_400).into();
    std::fs::write(path("oldest.json"), oldest.to_string()).unwrap();
    let earlier = ["--earlier", &path("oldest.json"), "--format", "json", "-o", &path("old.json")];
    run_args(&[&["analyze", &shop][..], &earlier].concat());
    let with_baseline = ["analyze", &later, "--baseline", &path("old.json"), "--maxmemory", "16MB"];
    let report = stdout_of(&[&with_baseline[..], &["--format", "json"]].concat());
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let names: Vec<&str> =
        report["history"].as_array().unwrap().iter().map(|row| row["report"].as_str().unwrap()).collect();
    assert_eq!(names, ["oldest.json", "old.json"]);
    let html = stdout_of(&[&with_baseline[..], &["--format", "html"]].concat());
    assert!(html.contains("<polygon class=\"range\"") && html.contains("maxmemory 16.0 MiB"));
    assert_eq!(
        html.split("class=\"plot\"").nth(1).unwrap().split("</figure>").next().unwrap().matches("<circle").count(),
        3
    );
    let text = stdout_of(&[&with_baseline[..], &["--section", "trend"]].concat());
    assert!(text.contains("a day (3 snapshots over"), "{text}");
    // Other keys than those of the report would bend the line.
    let other = stdout_of(&["analyze", &later, "--baseline", &path("old.json"), "--db", "0", "--format", "json"]);
    assert!(!other.contains("\"history\""));
}

/// Returns names that would cause harm if interpreted as anything but text.
fn hostile() -> Vec<Vec<u8>> {
    let texts = [
        "<script>alert(1)</script>",
        "</script><img src=x onerror=alert(1)>",
        "\"><svg onload=alert(1)>",
        "' onmouseover='x",
        "-->",
        "]]>",
        "{{ 7 * 7 }}{% raw %}",
        "&lt;b&gt;&#x3c;",
        "</bdi></td><h1>",
        "javascript:alert(1)",
        "\u{202e}\u{2066}\u{2069}\u{2068}",
        "new\nline\u{2028}\u{0}",
        "א:ب:你",
        "`code`",
    ];
    let mut names: Vec<Vec<u8>> = texts.iter().map(|text| text.as_bytes().to_vec()).collect();
    names.extend(texts.iter().map(|text| text.repeat(10_240 / text.len()).into_bytes()));
    names.push(b"\xff\xfe\x80".repeat(3_000));
    names
}

/// Returns a report with hostile names only, and lists as long as `--top` allows.
fn flooded(rows: usize) -> Report {
    let names = hostile();
    let name = |at: usize| names[at % names.len()].clone();
    let text = |at: usize| String::from_utf8_lossy(&name(at)).into_owned();
    let mut report = sample::full();
    fn fill<T: Clone>(list: &mut Vec<T>, rows: usize, mut change: impl FnMut(usize, &mut T)) {
        let Some(first) = list.first().cloned() else { return };
        *list = vec![first; rows];
        list.iter_mut().enumerate().for_each(|(at, row)| change(at, row));
    }
    for list in [&mut report.big_keys.list, &mut report.top.by_memory, &mut report.top.by_length] {
        fill(list, rows, |at, row| row.key = Key::from(&name(at)[..]));
    }
    fill(&mut report.patterns.list, rows, |at, row| {
        row.pattern = text(at);
        row.example.key = Key::from(&name(at)[..]);
    });
    fill(&mut report.no_ttl.patterns, rows, |at, row| row.pattern = text(at));
    fill(&mut report.source.files, rows, |at, file| {
        (file.name, file.errors) = (text(at), vec![text(at + 1).into(); 3]);
    });
    fill(&mut report.databases, rows, |at, row| row.db = at as u64);
    fill(&mut report.types, rows, |at, row| row.encoding = text(at));
    report.warnings = (0..rows).map(|at| text(at).into()).collect();
    report.server.aux = (0..rows).map(|at| AuxField { name: text(at), value: text(at + 1) }).collect();
    report.findings.policy = text(0);
    for finding in &mut report.findings.list {
        fill(&mut finding.patterns, 20, |at, row| {
            row.pattern = Some(text(at));
            row.owner = Some(text(at + 1));
            row.details = [
                DetailField::new("name", "name", "名称").with(DetailValue::Text(text(at))),
                DetailField::new("names", "names", "名称").with(DetailValue::Texts(vec![text(at); 9])),
            ]
            .into();
        });
    }
    fill(&mut report.findings.list, 150, |_, _| {});
    fill(&mut report.findings.by_owner, rows, |at, row| row.owner = Some(text(at)));
    fill(&mut report.findings.by_pattern, rows, |at, row| row.pattern = text(at));
    if let Some(since) = &mut report.growth {
        since.report = text(1);
        fill(&mut since.types, rows, |at, row| row.kind = text(at));
        let lists = &mut since.patterns;
        for list in [&mut lists.grown, &mut lists.new, &mut lists.shrunk, &mut lists.vanished, &mut lists.uncertain] {
            fill(list, rows, |at, row| row.pattern = text(at));
        }
    }
    if let Some(slots) = &mut report.slots {
        fill(&mut slots.ranges, rows, |_, _| {});
        fill(&mut slots.list, rows, |at, row| row.example.key = Key::from(&name(at)[..]));
    }
    if let Some(streams) = &mut report.streams {
        fill(&mut streams.list, rows, |at, row| row.key = Key::from(&name(at)[..]));
    }
    if let Some(templates) = &mut report.hash_templates {
        fill(&mut templates.list, rows, |at, row| row.names = vec![Key::from(&name(at)[..]); 3]);
    }
    fn flood(node: &mut PrefixNode, depth: usize, text: &dyn Fn(usize) -> String) {
        let leaf = PrefixNode { children: vec![], ..node.clone() };
        node.children = (0..if depth > 0 { 8 } else { 0 })
            .map(|at| {
                let mut child = PrefixNode {
                    prefix: text(at),
                    segment: text(at + 1),
                    memory: Bytes(node.memory.0 / 9),
                    ..leaf.clone()
                };
                flood(&mut child, depth - 1, text);
                child
            })
            .collect();
    }
    fill(&mut report.prefixes.tree, 20, |at, node| {
        node.prefix = text(at);
        node.segment = text(at + 1);
        flood(node, 2, &text);
    });
    report
}

#[test]
fn no_snapshot_makes_a_large_page() {
    for rows in [40, 500] {
        let report = flooded(rows);
        for lang in Lang::ALL {
            let size = html(&report, lang).len();
            assert!((100_000..1_000_000).contains(&size), "{size} bytes of {rows} rows");
        }
    }
}

#[test]
fn names_are_text_and_nothing_else() {
    let (tame, wild) = (Page::read(&html(&sample::full(), Lang::En)), Page::read(&html(&flooded(40), Lang::En)));
    let names = |page: &Page| page.elements.iter().map(|element| element.name.clone()).collect::<BTreeSet<_>>();
    let attributes = |page: &Page| {
        page.elements.iter().flat_map(|element| element.attributes.keys().cloned()).collect::<BTreeSet<_>>()
    };
    assert!(names(&wild).is_subset(&names(&tame)), "{:?}", names(&wild).difference(&names(&tame)));
    // Short names have no title attribute.
    let titled: BTreeSet<String> = attributes(&tame).into_iter().chain(["title".to_owned()]).collect();
    assert!(attributes(&wild).is_subset(&titled), "{:?}", attributes(&wild).difference(&titled));
    let scripts = wild.elements.iter().filter(|element| ["script", "style", "h1"].contains(&element.name.as_str()));
    assert_eq!(scripts.count(), 3);
    assert_eq!((&tame.script, &tame.style), (&wild.script, &wild.style));

    // The names are shown as they are.
    let text = wild.text.concat();
    for shown in [
        "<script>alert(1)</script>",
        "{{ 7 * 7 }}{% raw %}",
        "&lt;b&gt;&#x3c;",
        "\\u{202e}\\u{2066}",
        "new\\nline\\u{2028}\\x00",
    ] {
        assert!(text.contains(shown), "{shown}");
    }
    // No bidirectional controls except the isolates around names, each of which is closed.
    let isolates = |c: char| text.matches(c).count();
    assert_eq!((isolates('\u{2068}'), isolates('\u{2069}')), (0, 0), "in the text they have become elements");
    for label in wild.values("aria-label") {
        assert_eq!(label.matches('\u{2068}').count(), label.matches('\u{2069}').count(), "{label}");
        let hidden: Vec<char> =
            label.chars().filter(|&c| key_text::is_hidden(c) && !"\u{2068}\u{2069}".contains(c)).collect();
        assert!(hidden.is_empty(), "{label}: {hidden:?}");
    }
    assert!(text.chars().all(|c| c == '\n' || c == '\u{a0}' || !key_text::is_hidden(c)));
}

#[test]
fn figures_are_the_same_in_every_language() {
    for report in [sample::full(), sample::sound(), odd::empty(), what_if::asked()] {
        let [en, zh] = Lang::ALL.map(|lang| Page::read(&html(&report, lang)));
        assert_eq!(figures(&en), figures(&zh));
        assert_eq!(
            en.elements.len() - tags(&en, "bdi") - tags(&en, "code"),
            zh.elements.len() - tags(&zh, "bdi") - tags(&zh, "code")
        );
    }
}

fn tags(page: &Page, name: &str) -> usize {
    page.elements.iter().filter(|element| element.name == name).count()
}

/// Returns raw figures and lengths, which are equal in every language.
fn figures(page: &Page) -> Vec<&str> {
    ["data-v", "data-memory", "data-keys", "width", "x", "y", "cx"]
        .into_iter()
        .flat_map(|name| page.values(name))
        .collect()
}

#[test]
fn no_english_is_left_in_a_chinese_page() {
    const ENGLISH: [&str; 40] = [
        "above", "all", "allowed", "and", "are", "as", "bytes", "by", "checksum", "days", "disk", "elements",
        "entries", "every", "example", "expires", "expired", "file", "files", "findings", "from", "heaviest", "hours",
        "is", "left", "more", "never", "none", "of", "on", "or", "over", "owner", "pattern", "rule", "seconds", "the",
        "that", "what", "with",
    ];
    for mut report in [sample::full(), sample::sound(), odd::empty(), what_if::asked()] {
        // Warnings are in English, as in JSON.
        report.warnings.clear();
        report.findings.exempted.clear();
        report.source.files.iter_mut().for_each(|file| file.errors.clear());
        if let Some(dictionary) = &mut report.findings.dictionary {
            dictionary.entries.iter_mut().for_each(|entry| entry.note = None);
        }
        let alternatives = report.what_if.iter_mut().flat_map(|what_if| &mut what_if.alternatives);
        alternatives.for_each(|alternative| alternative.caveats.clear());
        let page = Page::read(&html(&report, Lang::Zh));
        let labels = page.values("aria-label").chain(page.values("placeholder"));
        // Names of models stay English.
        let texts = page.text.iter().map(String::as_str).chain(labels).filter(|text| !text.starts_with("model of "));
        for text in texts {
            let words = text.split(|c: char| !c.is_ascii_alphanumeric() && !"-_.:{}/".contains(c));
            let english: Vec<&str> = words.filter(|word| ENGLISH.contains(word)).collect();
            assert_eq!(english, [""; 0], "{text}");
        }
    }
}
