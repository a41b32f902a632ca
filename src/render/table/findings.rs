//! What breaks the policy: the rules by severity, then where each is broken and what to do.

use std::io;

use serde_json::{Map, Value};

use super::grid::{Cell, Column, Grid, Paint};
use super::overview::breaking;
use super::page::{Page, Span, Tone};
use crate::render::key_text::width;
use crate::render::words::{heads, known, nouns, others, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Finding, FindingPattern, Findings, Report, Unit, Worst};
use crate::units::Bytes;

/// Patterns of each finding.
const PATTERNS_OF_A_FINDING: usize = 4;

/// Items of one detail's list.
const ITEMS_OF_A_DETAIL: usize = 6;

/// All findings in a table, then each by itself.
pub(super) fn findings(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    let findings = &report.findings;
    if findings.list.is_empty() {
        return Ok(());
    }
    let lang = page.lang();
    page.title(lang.of("Findings", "违规"))?;
    page.text(&headline(report, lang))?;
    let mut grid = Grid::new([
        Column::text(heads::RULE),
        Column::text(heads::SEVERITY).painted(Paint::Severity),
        Column::number(heads::PATTERNS).spare(3),
        Column::number(heads::KEYS),
        Column::number(heads::OF_KEYS).spare(4),
        Column::number(heads::MEMORY),
        Column::number(heads::OF_MEMORY).spare(5),
        Column::number(heads::SAVES).spare(2),
        Column::number(heads::WORST),
        Column::number(heads::ALLOWED).spare(1),
    ]);
    for finding in &findings.list {
        grid.row(summary(report, finding, lang));
    }
    grid.print(page)?;
    for finding in &findings.list {
        detail(finding, page)?;
    }
    Ok(())
}

/// The policy, what it found by severity, and how many keys that concerns.
pub(in crate::render) fn headline(report: &Report, lang: Lang) -> String {
    let findings = &report.findings;
    let policy = key_text::text(&findings.policy);
    let extends = findings.extends.as_deref().map(key_text::text);
    let extends = extends.map(|base| say!(lang, ", which extends {base}", "（扩展自 {base}）"));
    let broken = breaking(findings);
    let keys = match broken.keys {
        0 => lang.of("no single key breaks a rule", "没有单个 key 违反规则").to_owned(),
        keys => say!(
            lang,
            "{} ({}) with {}, {} of all memory, break a rule about keys",
            "{}（{}）违反针对 key 的规则，占 {}，为总内存的 {}",
            human::counted(keys, nouns::KEY, lang),
            human::share_of(keys, report.totals.keys),
            human::bytes(broken.memory.0),
            human::share_of(broken.memory.0, report.totals.memory.0),
        ),
    };
    say!(
        lang,
        "Policy {policy}{}, {}: {}; {keys}. `rdblens rules ID` explains a rule.",
        "策略 {policy}{}，{}：{}；{keys}。`rdblens rules ID` 解释一条规则。",
        extends.unwrap_or_default(),
        human::counted(findings.checked.len() as u64, nouns::RULE, lang),
        severities(findings, lang),
    )
}

/// `5 must, 3 should`.
pub(in crate::render) fn severities(findings: &Findings, lang: Lang) -> String {
    let rows = findings.severities.iter().filter(|row| row.findings > 0);
    let counts: Vec<String> = rows.map(|row| format!("{} {}", human::count(row.findings), row.severity)).collect();
    counts.join(lang.of(", ", "，"))
}

fn summary(report: &Report, finding: &Finding, lang: Lang) -> [Cell; 10] {
    let about_keys = finding.keys > 0;
    let of = |part: u64, whole: u64| if about_keys { Cell::ShareOf(part, whole) } else { Cell::Absent };
    let worst = worst(finding);
    let number = measured(finding.unit, lang);
    [
        (&*finding.rule).into(),
        finding.severity.name().into(),
        if finding.distinct_patterns > 0 { finding.distinct_patterns.into() } else { Cell::Absent },
        if about_keys { finding.keys.into() } else { Cell::Absent },
        of(finding.keys, report.totals.keys),
        if about_keys || finding.memory > Bytes(0) { finding.memory.into() } else { Cell::Absent },
        of(finding.memory.0, report.totals.memory.0),
        finding.saves.map_or(Cell::Absent, Cell::from),
        number(worst.map(|worst| worst.measured)),
        number(worst.and_then(|worst| worst.allowed)),
    ]
}

/// What is farthest from what is allowed; of reports of the first versions, as far as their lists go.
pub(in crate::render) fn worst(finding: &Finding) -> Option<Worst> {
    finding.worst.or_else(|| Worst::of(&finding.patterns))
}

/// Makes cells of what was measured and of what is allowed, with the unit.
fn measured(unit: Option<Unit>, lang: Lang) -> impl Fn(Option<u64>) -> Cell {
    move |number| number.map_or(Cell::Absent, |number| in_unit(number, unit, lang).into())
}

/// A number of a rule's unit for people.
pub(in crate::render) fn in_unit(number: u64, unit: Option<Unit>, lang: Lang) -> String {
    match unit {
        Some(Unit::Bytes) => human::bytes(number),
        Some(Unit::Millis) => human::duration(number, lang),
        Some(Unit::Permille) => human::share_of(number, 1000),
        Some(Unit::Elements | Unit::Segments | Unit::Count) | None => human::count(number),
    }
}

/// One finding: what is demanded, where it is broken, what to do.
fn detail(finding: &Finding, page: &mut Page<'_>) -> io::Result<()> {
    let lang = page.lang();
    page.gap()?;
    let demand = key_text::text(lang.of(&finding.demand.en, &finding.demand.zh));
    let head = say!(lang, "{} {}: {demand}", "{} {}：{demand}", finding.severity, finding.rule);
    let severity =
        Span { from: 0, to: width(finding.severity.name()), tone: Tone::of_severity(finding.severity.name()) };
    page.opened(Tone::Bold, severity, &head)?;
    let mut grid = Grid::new([
        Column::text(heads::PATTERN).painted(Paint::Placeholders).shrink(24),
        Column::text(heads::OWNER).shrink(8).spare(3),
        Column::number(heads::KEYS),
        Column::number(heads::MEMORY),
        Column::number(heads::SAVES).spare(4),
        Column::number(heads::WORST).spare(5),
        Column::number(heads::ALLOWED).spare(6),
        Column::text(heads::EXAMPLE).shrink(16).spare(1),
    ]);
    let limit = finding.patterns.first().and_then(|row| row.allowed);
    let alike = finding.patterns.iter().all(|row| row.allowed == limit);
    let number = measured(finding.unit, lang);
    let shown = page.first(&finding.patterns);
    let shown = &shown[..shown.len().min(PATTERNS_OF_A_FINDING)];
    for row in shown {
        grid.row([
            row.pattern.as_deref().map_or_else(|| lang.of("the whole snapshot", "整个快照").into(), Cell::name),
            row.owner.as_deref().map_or(Cell::Absent, Cell::text),
            if row.keys > 0 { row.keys.into() } else { Cell::Absent },
            if row.keys > 0 || row.memory > Bytes(0) { row.memory.into() } else { Cell::Absent },
            row.saves.map_or(Cell::Absent, Cell::from),
            number(row.measured),
            // One limit for all is in the summary.
            if alike { Cell::Absent } else { number(row.allowed) },
            row.examples.first().map_or(Cell::Absent, |example| Cell::Name(key_text::key(&example.key.0))),
        ]);
    }
    grid.print(page)?;
    page.more(
        shown.len(),
        usize::try_from(finding.distinct_patterns).unwrap_or(usize::MAX).max(finding.patterns.len()),
    )?;
    for row in shown {
        details(row, finding.unit, page)?;
    }
    page.hanging(Tone::Plain, "→ ", &key_text::text(lang.of(&finding.fix.en, &finding.fix.zh)))
}

/// What else is known of a row, behind its pattern.
fn details(row: &FindingPattern, unit: Option<Unit>, page: &mut Page<'_>) -> io::Result<()> {
    let lang = page.lang();
    let facts: Vec<String> =
        row.details.iter().filter_map(|(name, value)| detail_text(name, value, unit, lang)).collect();
    if facts.is_empty() {
        return Ok(());
    }
    let pattern = row.pattern.as_deref().map_or_else(String::new, |pattern| format!("{pattern}: "));
    let text = format!("{pattern}{}", facts.join(lang.of("; ", "；")));
    page.hanging(Tone::Faint, "  ", &key_text::text(&text))
}

/// A detail as `name value`; none if it says nothing. What is so is told by its name alone.
pub(in crate::render) fn detail_text(name: &str, value: &Value, unit: Option<Unit>, lang: Lang) -> Option<String> {
    let says_nothing = match value {
        Value::Null | Value::Bool(false) => true,
        Value::Array(items) => items.is_empty(),
        _ => false,
    };
    let words = known::detail(name, lang);
    match value {
        _ if says_nothing => None,
        Value::Bool(true) => Some(words.into_owned()),
        _ => Some(format!("{words} {}", plain(name, value, unit, lang))),
    }
}

/// A value of a detail without the marks of JSON, where it has a plain form. Names say what is a time or counted in bytes;
/// a mean is of what the rule measures.
fn plain(name: &str, value: &Value, unit: Option<Unit>, lang: Lang) -> String {
    let bytes = ["memory", "bytes", "saves"].iter().any(|part| name.contains(part));
    match value {
        Value::String(text) => known::detail_value(name, text, lang).to_owned(),
        Value::Number(number) => match (name, number.as_u64(), number.as_i64()) {
            ("ctime", _, Some(seconds)) => human::time_of_seconds(seconds),
            ("start", _, Some(millis)) => human::time(millis),
            ("mean", Some(number), _) => in_unit(number, unit, lang),
            (_, Some(number), _) if bytes => human::bytes(number),
            (_, Some(number), _) => human::count(number),
            _ => number.to_string(),
        },
        Value::Array(items) => {
            let shown = items.iter().take(ITEMS_OF_A_DETAIL).map(|item| plain(name, item, unit, lang));
            let more = items.len().checked_sub(ITEMS_OF_A_DETAIL).filter(|more| *more > 0);
            shown.chain(more.map(|more| others(more, lang))).collect::<Vec<_>>().join(", ")
        }
        Value::Object(members) => match NAMES.iter().find_map(|name| members.get(*name)?.as_str()) {
            Some(name) => named(name, members),
            None => members
                .iter()
                .filter_map(|(name, value)| detail_text(name, value, unit, lang))
                .collect::<Vec<_>>()
                .join(" "),
        },
        Value::Null => human::ABSENT.to_owned(),
        Value::Bool(flag) => flag.to_string(),
    }
}

/// What tells one of a list from the others.
const NAMES: [&str; 3] = ["name", "pattern", "model"];

/// One of a list with its weight: `cache (949.9 KiB, 22.7 %)`. The JSON report has the rest.
fn named(name: &str, members: &Map<String, Value>) -> String {
    let memory = members.get("memory").and_then(Value::as_u64).map(human::bytes);
    let share = members.get("share").and_then(Value::as_f64).map(human::share);
    let weight: Vec<String> = [memory, share].into_iter().flatten().collect();
    if weight.is_empty() { name.to_owned() } else { format!("{name} ({})", weight.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn details_read_as_words_and_units() {
        let text = |name: &str, value: Value| detail_text(name, &value, Some(Unit::Bytes), Lang::En);
        assert_eq!(text("leaves", json!(["age", "name"])).as_deref(), Some("leaves age, name"));
        assert_eq!(text("memory_before", json!(2048)).as_deref(), Some("memory before 2.0 KiB"));
        assert_eq!(text("mean", json!(2048)).as_deref(), Some("mean 2.0 KiB"));
        assert_eq!(text("keys_before", json!(2048)).as_deref(), Some("keys before 2,048"));
        assert_eq!(text("ctime", json!(0)).as_deref(), Some("ctime 1970-01-01 00:00:00Z"));
        assert_eq!(text("new", json!(true)).as_deref(), Some("new"));
        let owners = json!([{ "name": "shop", "memory": 1024 }, { "name": "mail", "memory": 0 }]);
        assert_eq!(text("owners", owners).as_deref(), Some("owners shop (1.0 KiB), mail (0 B)"));
        let many = json!((0..9).collect::<Vec<_>>());
        assert_eq!(text("slots", many).as_deref(), Some("slots 0, 1, 2, 3, 4, 5, 3 more"));
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        for value in [json!(null), json!(false), json!([])] {
            assert_eq!(detail_text("sampled", &value, None, Lang::En), None);
        }
    }
}
