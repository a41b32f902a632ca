//! What breaks the policy: the rules by severity, then where each is broken and what to do.

use serde_json::{Map, Value};

use crate::render::document::{Block, Cell, Column, FindingBlock, Forms, Prose, Scope, Section, Table, inline};
use crate::render::words::{heads, known, nouns, others, say};
use crate::render::{Lang, human, key_text};
use crate::report::{Finding, FindingPattern, Findings, Report, Unit, Weight, Worst};
use crate::units::Bytes;

/// Findings of one report at most; more than there are rules, each with every severity.
const MOST: usize = 200;

/// Items that are named of a detail's list.
const ITEMS_OF_A_DETAIL: usize = 6;

/// Builds the section: all findings in a table, then each by itself.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let list = &report.findings.list;
    if list.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let blocks = list.iter().take(MOST).map(|finding| block(report, finding, scope)).collect();
    Some(
        Section::new("findings", lang.of("Findings", "违规"))
            .lead(headline(report, lang))
            .with_in(Forms::TEXT, summary(report, lang))
            .with(Block::Findings(blocks)),
    )
}

/// Says which policy found how much, by severity.
fn headline(report: &Report, lang: Lang) -> String {
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
        "Policy {policy}{}: {} checked, {} violated ({}); {keys}. `rdblens rules ID` explains a rule.",
        "策略 {policy}{}：检查了 {}，违反 {} 条（{}）；{keys}。`rdblens rules ID` 解释一条规则。",
        extends.unwrap_or_default(),
        human::counted(findings.checked.len() as u64, nouns::RULE, lang),
        human::count(violated(findings)),
        severities(findings, lang),
    )
}

/// Returns how many rules are violated; a rule with several limits counts once.
fn violated(findings: &Findings) -> u64 {
    let rules: std::collections::BTreeSet<&str> = findings.list.iter().map(|finding| &*finding.rule).collect();
    rules.len() as u64
}

/// Counts findings by severity: `5 must, 3 should`.
pub(super) fn severities(findings: &Findings, lang: Lang) -> String {
    let rows = findings.severities.iter().filter(|row| row.findings > 0);
    let counts: Vec<String> =
        rows.map(|row| format!("{} {}", human::count(row.findings), known::severity(row.severity, lang))).collect();
    counts.join(lang.of(", ", "，"))
}

/// Returns the keys that break a rule about keys.
pub(super) fn breaking(findings: &Findings) -> Weight {
    let (mut keys, mut memory) = (0u64, Bytes(0));
    for row in &findings.severities {
        keys = keys.saturating_add(row.keys);
        memory += row.memory;
    }
    Weight { keys, memory }
}

/// All findings, a row each.
fn summary(report: &Report, lang: Lang) -> Table {
    let totals = &report.totals;
    let about_keys = |finding: &Finding| finding.keys > 0;
    let of = |finding: &Finding, part, whole| about_keys(finding).then_some(Cell::ShareOf(part, whole));
    let label = lang.of("Findings", "违规");
    Table::of(label, &report.findings.list, usize::MAX)
        .column(Column::text(heads::RULE), |it| &*it.rule)
        .column(Column::text(heads::SEVERITY), |it| Cell::Severity(it.severity))
        .column(Column::number(heads::PATTERNS).spare(3), |it| Cell::nonzero(it.distinct_patterns))
        .column(Column::number(heads::KEYS), |it| Cell::nonzero(it.keys))
        .column(Column::number(heads::OF_KEYS).spare(4), |it| of(it, it.keys, totals.keys))
        .column(Column::number(heads::MEMORY), memory)
        .column(Column::number(heads::OF_MEMORY).spare(5), |it| of(it, it.memory.0, totals.memory.0))
        .column(Column::number(heads::SAVES).spare(2), |it| it.saves)
        .column(Column::number(heads::WORST), |it| measured(it, worst(it).map(|worst| worst.measured)))
        .column(Column::number(heads::ALLOWED).spare(1), |it| measured(it, worst(it).and_then(|worst| worst.allowed)))
        .build()
}

/// Memory of a finding, unless it is about nothing that has any.
fn memory(finding: &Finding) -> Option<Bytes> {
    (finding.keys > 0 || finding.memory > Bytes(0)).then_some(finding.memory)
}

/// Returns the measured value that is farthest from its limit; of reports of the first versions, as far as their lists go.
fn worst(finding: &Finding) -> Option<Worst> {
    finding.worst.or_else(|| Worst::of(&finding.patterns))
}

fn measured(finding: &Finding, number: Option<u64>) -> Cell {
    number.map_or(Cell::Absent, |number| Cell::Measured(number, finding.unit))
}

/// One finding by itself.
fn block(report: &Report, finding: &Finding, scope: &Scope) -> FindingBlock {
    let lang = scope.lang;
    let worst = worst(finding);
    let figures = [
        (heads::WORST, measured(finding, worst.map(|worst| worst.measured))),
        (heads::ALLOWED, measured(finding, worst.and_then(|worst| worst.allowed))),
        (heads::SAVES, finding.saves.into()),
        (heads::PATTERNS, Cell::nonzero(finding.distinct_patterns)),
    ];
    let shown = finding.patterns.get(..scope.inner).unwrap_or(&finding.patterns);
    FindingBlock {
        severity: finding.severity,
        rule: finding.rule.clone(),
        demand: Prose::wording(finding.headline(), lang),
        fix: Prose::wording(&finding.fix, lang),
        keys: Some(finding.keys).filter(|keys| *keys > 0),
        memory: memory(finding),
        whole: report.totals.memory,
        figures: figures.into_iter().filter(|(_, figure)| *figure != Cell::Absent).collect(),
        places: places(finding, scope),
        details: shown.iter().filter_map(|row| details(row, finding.unit, lang)).collect(),
    }
}

/// The patterns that break the rule.
fn places(finding: &Finding, scope: &Scope) -> Table {
    let lang = scope.lang;
    let label = say!(lang, "Where {} is broken", "违反 {} 的位置", finding.rule);
    let limit = finding.patterns.first().and_then(|row| row.allowed);
    // A limit that all share is in the summary.
    let alike = finding.patterns.iter().all(|row| row.allowed == limit);
    let has_memory = |row: &FindingPattern| row.keys > 0 || row.memory > Bytes(0);
    let mut table = Table::of(label, &finding.patterns, scope.inner)
        .column(Column::text(heads::PATTERN).shrink(24), |row| match &row.pattern {
            Some(pattern) => Cell::pattern(pattern),
            None => lang.of("the whole snapshot", "整个快照").into(),
        })
        .column(Column::text(heads::OWNER).shrink(8).spare(3), |row| Cell::maybe_words(row.owner.as_deref()))
        .column(Column::number(heads::KEYS), |row| Cell::nonzero(row.keys))
        .column(Column::number(heads::MEMORY), |row| has_memory(row).then_some(row.memory))
        .column(Column::number(heads::SAVES).spare(4), |row| row.saves)
        .column(Column::number(heads::WORST).spare(5), |row| measured(finding, row.measured))
        .column(Column::number(heads::ALLOWED).spare(6), |row| measured(finding, row.allowed.filter(|_| !alike)))
        .column(Column::text(heads::EXAMPLE).shrink(16).spare(1), |row| row.examples.first())
        .build();
    let all = finding.distinct_patterns.max(finding.patterns.len() as u64);
    table.hidden = all.saturating_sub(table.rows.len() as u64);
    table
}

/// Details of a row, after its pattern.
fn details(row: &FindingPattern, unit: Option<Unit>, lang: Lang) -> Option<Prose> {
    let facts: Vec<String> =
        row.details.iter().filter_map(|(name, value)| detail_text(name, value, unit, lang)).collect();
    let pattern = row.pattern.as_deref().map_or_else(String::new, |pattern| format!("{}: ", inline(pattern)));
    let facts_text = facts.join(lang.of("; ", "；"));
    (!facts.is_empty()).then(|| format!("{pattern}{}", key_text::text(&facts_text)).into())
}

/// Returns a detail as `name value`, or nothing if it says nothing. A flag is told by its name alone.
fn detail_text(name: &str, value: &Value, unit: Option<Unit>, lang: Lang) -> Option<String> {
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

/// Returns the value of a detail in a form for people. Names say what is a time or counted in bytes; a mean is of what the rule
/// measures.
fn plain(name: &str, value: &Value, unit: Option<Unit>, lang: Lang) -> String {
    let bytes = ["memory", "bytes", "saves"].iter().any(|part| name.contains(part));
    match value {
        Value::String(text) => known::detail_value(name, text, lang).to_owned(),
        Value::Number(number) => match (name, number.as_u64(), number.as_i64()) {
            ("ctime", _, Some(seconds)) => human::time_of_seconds(seconds),
            ("start", _, Some(millis)) => human::time(millis),
            ("mean", Some(number), _) => human::in_unit(number, unit, lang),
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

/// Members that name an item of a list.
const NAMES: [&str; 3] = ["name", "pattern", "model"];

/// Returns an item of a list with its weight: `cache (949.9 KiB, 22.7 %)`. The JSON report has the rest.
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
