//! Findings: the rules by severity, then where each is broken and what to do.

use serde_json::Value as Json;

use super::command::keys_breaking;
use super::expiry::STORM;
use crate::render::document::{
    Block, Cell, Column, FindingBlock, Forms, More, Prose, Scope, Section, Table, inline_pattern,
};
use crate::render::words::{heads, known, nouns, others, say};
use crate::render::{Lang, human, key_text, passage};
use crate::report::{Detail, DetailPart, DetailValue, Finding, FindingPattern, Findings, Report, Weight, Worst};
use crate::units::Bytes;

/// Findings of one report at most; more than there are rules, each with every severity.
const MAX_FINDINGS: usize = 200;

/// Items that are named of a detail's list.
const ITEMS_OF_A_DETAIL: usize = 6;

/// Builds the section: all findings in a table, then each by itself.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let list = &report.findings.list;
    if list.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let blocks = list.iter().take(MAX_FINDINGS).map(|finding| block(report, finding, scope)).collect();
    Some(
        Section::new("findings", lang.of("Findings", "违规"))
            .lead(headline(report, lang))
            .with_in(Forms::TEXT, summary(report, lang))
            .with(Block::Findings(blocks)),
    )
}

/// Returns the number of lines beyond the first of each that the findings of a short report take on a page of 80 columns.
pub(super) fn continued(report: &Report, scope: &Scope) -> usize {
    // Chinese leaves more columns beside the text.
    let room = match scope.lang {
        Lang::En => 30,
        Lang::Zh => 24,
    };
    let text = |it: &Finding| key_text::width(&Prose::wording(it.headline(), scope.lang).plain());
    let lines = |it: &Finding| text(it).saturating_sub(1) / room;
    report.findings.list.iter().take(scope.rows).map(lines).sum()
}

/// Builds the section of a short report: the first findings, a row each, and what each is about.
pub(super) fn short(report: &Report, scope: &Scope) -> Option<Section> {
    let (findings, lang) = (&report.findings, scope.lang);
    if findings.list.is_empty() {
        return None;
    }
    let mut table = Table::of(lang.of("Findings", "违规"), &findings.list, scope.rows)
        .column(Column::text(heads::RULE), |it| &*it.rule)
        .column(Column::text(heads::SEVERITY), |it| Cell::Severity(it.severity))
        .column(Column::number(heads::KEYS), |it| Cell::nonzero(it.keys))
        .column(Column::number(heads::MEMORY), memory)
        .column(Column::number(heads::OF_MEMORY).spare(4), |it| {
            let of = |memory: Bytes| Cell::ShareOf(memory.0, report.totals.memory.0);
            memory(it).filter(|_| it.keys > 0).map(of)
        })
        .column(Column::number(heads::WORST).spare(5).pair(1), |it| measured(it, worst(it)))
        .column(Column::number(heads::ALLOWED).spare(5).pair(1), |it| allowed(it, worst(it)))
        .column(Column::text(heads::DEMAND).shrink(24).prose().spare(1), |it| {
            Prose::wording(it.headline(), lang).plain().into_owned()
        })
        .column(Column::text(heads::WHERE).shrink(24).spare(6), |it| {
            it.patterns.first().and_then(|row| row.pattern.as_deref()).map(Cell::pattern)
        })
        // Shown whole or not at all: of a passage that lost its middle nothing can be looked up.
        .column(Column::text(heads::SOURCE).spare(7), |it| it.source.as_ref().map(|source| passage::line(source, lang)))
        .build();
    (table.hidden, table.dense) = (0, true);
    let shown = match table.rows.len() {
        shown if shown < findings.list.len() => say!(lang, ", {shown} shown", "，显示 {shown} 条"),
        _ => String::new(),
    };
    let (policy, severities) = (key_text::text(&findings.policy), severities(findings, lang));
    let title =
        say!(lang, "Findings of policy {policy}: {severities}{shown}", "策略 {policy} 的违规：{severities}{shown}");
    Some(Section::new("findings", title).with(table))
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
        keys => {
            let share = human::share_of(keys, report.totals.keys);
            let breaks = if keys == 1 { "breaks" } else { "break" };
            let keys = human::counted(keys, nouns::KEY, lang);
            match broken.memory.known() {
                Some(memory) => say!(
                    lang,
                    "{keys} ({share}) with {}, {} of all memory, {breaks} a rule about keys",
                    "{keys}（{share}）违反针对 key 的规则，占 {}，为总内存的 {}",
                    human::bytes(memory.0),
                    human::share_of(memory.0, report.totals.memory.0),
                ),
                None => say!(
                    lang,
                    "{keys} ({share}) of unknown memory {breaks} a rule about keys",
                    "{keys}（{share}）违反针对 key 的规则，内存未知"
                ),
            }
        }
    };
    say!(
        lang,
        "Policy {policy}{}: {} checked, {} violated ({}{}); {keys}. `rdblens rules ID` explains a rule.",
        "策略 {policy}{}：检查了 {}，违反 {} 条（{}{}）；{keys}。`rdblens rules ID` 解释一条规则。",
        extends.unwrap_or_default(),
        human::counted(findings.checked.len() as u64, nouns::RULE, lang),
        human::count(violated(findings)),
        number_of_findings(findings, lang),
        severities(findings, lang),
    )
}

/// Says how many findings there are, unless each is of a rule of its own: a rule with several limits may have several.
fn number_of_findings(findings: &Findings, lang: Lang) -> String {
    // Of a stored report, which may name any number.
    let all = findings.severities.iter().fold(0u64, |sum, row| sum.saturating_add(row.findings));
    if all == violated(findings) {
        String::new()
    } else {
        say!(lang, "{} findings: ", "共 {} 项违规：", human::count(all))
    }
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
        .column(Column::number(heads::PATTERNS).spare(4), |it| Cell::nonzero(it.distinct_patterns))
        .column(Column::number(heads::KEYS), |it| Cell::nonzero(it.keys))
        .column(Column::number(heads::OF_KEYS).spare(5), |it| of(it, it.keys, totals.keys))
        .column(Column::number(heads::MEMORY), memory)
        .column(Column::number(heads::OF_MEMORY).spare(6), |it| {
            memory(it).and_then(|memory| of(it, memory.0, totals.memory.0))
        })
        .column(Column::number(heads::SAVES).spare(3), |it| it.saves)
        .column(Column::number(heads::WORST).spare(1).pair(1), |it| measured(it, worst(it)))
        .column(Column::number(heads::ALLOWED).spare(1).pair(1), |it| allowed(it, worst(it)))
        .build()
}

/// Memory of a finding, unless it is unknown or the finding is about nothing that has any.
fn memory(finding: &Finding) -> Option<Bytes> {
    finding.memory.known()
}

/// Returns the measured value that is farthest from its limit; of reports of the first versions, as far as their lists go.
fn worst(finding: &Finding) -> Option<Worst> {
    finding.worst.or_else(|| Worst::of(&finding.patterns))
}

fn measured(finding: &Finding, worst: Option<Worst>) -> Cell {
    let cell = |worst: Worst| Cell::Measured { number: worst.measured, limit: worst.allowed, unit: finding.unit };
    worst.map_or(Cell::Absent, cell)
}

fn allowed(finding: &Finding, worst: Option<Worst>) -> Cell {
    let cell = |worst: Worst| {
        let (number, measured) = (worst.allowed?, Some(worst.measured));
        Some(Cell::Limit { number, measured, unit: finding.unit })
    };
    worst.and_then(cell).unwrap_or(Cell::Absent)
}

/// Returns the figures of a row, if it measures any.
fn figures(row: &FindingPattern) -> Option<Worst> {
    Some(Worst { measured: row.measured?, allowed: row.allowed })
}

/// One finding by itself.
fn block(report: &Report, finding: &Finding, scope: &Scope) -> FindingBlock {
    let lang = scope.lang;
    let worst = worst(finding);
    let figures = [
        (heads::WORST, measured(finding, worst)),
        (heads::ALLOWED, allowed(finding, worst)),
        (heads::SAVES, finding.saves.into()),
        (heads::PATTERNS, Cell::nonzero(finding.distinct_patterns)),
    ];
    let shown = finding.patterns.get(..scope.inner).unwrap_or(&finding.patterns);
    FindingBlock {
        severity: finding.severity,
        rule: finding.rule.clone(),
        demand: Prose::wording(finding.headline(), lang),
        fix: Prose::wording(&finding.fix, lang),
        source: finding.source.as_ref().map(|source| passage::line(source, lang).into()),
        keys: Some(finding.keys).filter(|keys| *keys > 0),
        memory: memory(finding),
        whole: report.totals.memory,
        figures: figures.into_iter().filter(|(_, figure)| *figure != Cell::Absent).collect(),
        places: places(report, finding, scope),
        details: shown.iter().filter_map(|row| details(row, lang)).collect(),
    }
}

/// The patterns that break the rule.
fn places(report: &Report, finding: &Finding, scope: &Scope) -> Table {
    let lang = scope.lang;
    let label = say!(lang, "Where {} is broken", "违反 {} 的位置", finding.rule);
    let limit = finding.patterns.first().and_then(|row| row.allowed);
    // A limit that all share is in the summary.
    let alike = finding.patterns.iter().all(|row| row.allowed == limit);
    let mut table = Table::of(label, &finding.patterns, scope.inner)
        .column(Column::text(heads::PATTERN).shrink(24), |row| match &row.pattern {
            Some(pattern) => Cell::pattern(pattern),
            None => counted_as(finding, row, lang).into(),
        })
        .column(Column::text(heads::OWNER).shrink(8).spare(3), |row| Cell::maybe_words(row.owner.as_deref()))
        .column(Column::number(heads::KEYS), |row| Cell::nonzero(row.keys))
        .column(Column::number(heads::MEMORY), |row| row.memory.known())
        .column(Column::number(heads::SAVES).spare(4), |row| row.saves)
        .column(Column::number(heads::WORST).spare(5).pair(1), |row| measured(finding, figures(row)))
        .column(Column::number(heads::ALLOWED).spare(5).pair(1), |row| {
            allowed(finding, figures(row).filter(|_| !alike))
        })
        .column(Column::text(heads::EXAMPLE).shrink(16).spare(1), |row| row.examples.first())
        .build();
    let all = finding.distinct_patterns.max(finding.patterns.len() as u64);
    table.hidden = all.saturating_sub(table.rows.len() as u64);
    table.more = More::Keys(keys_breaking(report, &[&*finding.rule]));
    table
}

/// Names the keys that a row without a pattern counts; for some rules these are not all keys of the snapshot.
fn counted_as(finding: &Finding, row: &FindingPattern, lang: Lang) -> &'static str {
    match &*finding.rule {
        "instance.mixed" if row.details.contains_key("owners") => lang.of("counted owners", "计入的负责人"),
        "instance.mixed" => lang.of("counted businesses", "计入的业务"),
        "memory.volatile-policy" => lang.of("keys without TTL", "无 TTL 的 key"),
        STORM => lang.of("the whole instance", "整个实例"),
        _ => lang.of("the whole snapshot", "整个快照"),
    }
}

/// Details of a row, after its pattern.
fn details(row: &FindingPattern, lang: Lang) -> Option<Prose> {
    let all = || row.details.iter().filter_map(|(name, detail)| detail_text(name, detail, lang)).collect();
    let facts: Vec<String> = only_alternative(row, lang).map_or_else(all, |fact| vec![fact]);
    let pattern = row.pattern.as_deref().map_or_else(String::new, |pattern| format!("{}: ", inline_pattern(pattern)));
    let facts_text = facts.join(lang.of("; ", "；"));
    (!facts.is_empty()).then(|| format!("{pattern}{}", key_text::text(&facts_text)).into())
}

/// Returns the only alternative, which is the best one, and its memory: `redis 8.10, jemalloc: 3.3 MiB`. `None` if there are several.
fn only_alternative(row: &FindingPattern, lang: Lang) -> Option<String> {
    let (best, alternatives) = (row.details.get("best")?, row.details.get("alternatives")?);
    match (&best.value, &alternatives.value) {
        (DetailValue::Text(best), DetailValue::Parts(parts)) => match parts.as_slice() {
            [DetailPart { name, memory: Some(memory), .. }] if name == best => {
                let memory = human::bytes(memory.0);
                Some(say!(lang, "{name}: {memory}", "{name}：{memory}"))
            }
            _ => None,
        },
        _ => None,
    }
}

/// Returns a detail as `label value`, or nothing if it says nothing. A flag is told by its label alone.
fn detail_text(name: &str, detail: &Detail, lang: Lang) -> Option<String> {
    let label = match lang.of(&detail.label.en, &detail.label.zh) {
        "" => name.replace('_', " "),
        label => label.to_owned(),
    };
    match &detail.value {
        DetailValue::Flag(holds) => holds.then_some(label),
        value => detail_value(value, lang).map(|value| format!("{label} {value}")),
    }
}

/// Returns the value in a form for people; none if there is none.
fn detail_value(value: &DetailValue, lang: Lang) -> Option<String> {
    let text = match value {
        DetailValue::Bytes(size) => human::bytes(size.0),
        DetailValue::Count(number) => human::count(*number),
        DetailValue::Number(number) => number.to_string(),
        DetailValue::Time(time) => human::time(time.0),
        DetailValue::Duration(millis) => human::duration(*millis, lang),
        DetailValue::Flag(flag) => flag.to_string(),
        DetailValue::Text(text) | DetailValue::Pattern(text) => text.clone(),
        DetailValue::Word(word) => lang.of(&word.en, &word.zh).to_owned(),
        DetailValue::Texts(texts) => listed(texts.iter().cloned(), lang.of(", ", "、"), lang)?,
        DetailValue::Parts(parts) => {
            // Memory models have commas in their names.
            let has_commas = parts.iter().any(|part| part.name.contains(", "));
            let joint = if has_commas { " / " } else { lang.of(", ", "、") };
            listed(parts.iter().map(|part| part_text(part, lang)), joint, lang)?
        }
        DetailValue::Other { value: Json::Null, .. } => return None,
        DetailValue::Other { value: Json::String(text), .. } => text.clone(),
        DetailValue::Other { value, .. } => value.to_string(),
    };
    Some(text)
}

/// Returns the first items and how many there are beside them; none of an empty list.
fn listed(items: impl ExactSizeIterator<Item = String>, joint: &str, lang: Lang) -> Option<String> {
    let more = items.len().checked_sub(ITEMS_OF_A_DETAIL).filter(|more| *more > 0);
    let shown: Vec<String> = items.take(ITEMS_OF_A_DETAIL).chain(more.map(|more| others(more, lang))).collect();
    (!shown.is_empty()).then(|| shown.join(joint))
}

/// Returns an item of a list with its memory, or its keys where it has none: `cache (949.9 KiB, 22.7 %)`.
fn part_text(part: &DetailPart, lang: Lang) -> String {
    let name = part.name_zh.as_deref().filter(|_| lang == Lang::Zh).unwrap_or(&part.name);
    let keys = part.keys.filter(|_| part.memory.is_none()).map(|keys| human::counted(keys, nouns::KEY, lang));
    let memory = part.memory.map(|memory| human::bytes(memory.0));
    let weight: Vec<String> = [keys, memory, part.share.map(human::share)].into_iter().flatten().collect();
    let weight = weight.join(lang.of(", ", "，"));
    if weight.is_empty() { name.to_owned() } else { say!(lang, "{name} ({weight})", "{name}（{weight}）") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::{Severity, SeverityRow, Wording};
    use crate::units::Millis;
    use serde_json::json;

    fn text(value: DetailValue, lang: Lang) -> Option<String> {
        let label = Wording { en: "size before".into(), zh: "此前".into() };
        detail_text("size_before", &Detail { label, value }, lang)
    }

    #[test]
    fn details_read_as_labels_and_units() {
        let en = |value| text(value, Lang::En).unwrap();
        assert_eq!(en(DetailValue::Bytes(Bytes(2048))), "size before 2.0 KiB");
        assert_eq!(en(DetailValue::Count(2048)), "size before 2,048");
        assert_eq!(en(DetailValue::Number(2048)), "size before 2048");
        assert_eq!(en(DetailValue::Time(Millis(0))), "size before 1970-01-01 00:00:00Z");
        assert_eq!(en(DetailValue::Duration(600_000)), "size before 10 minutes");
        assert_eq!(en(DetailValue::Flag(true)), "size before");
        let part = |name: &str| DetailPart { name: name.into(), ..DetailPart::default() };
        let shop = DetailPart { memory: Some(Bytes(1024)), keys: Some(9), share: Some(0.5), ..part("shop") };
        let parts = vec![shop, DetailPart { keys: Some(1), ..part("mail") }, part("x")];
        assert_eq!(en(DetailValue::Parts(parts)), "size before shop (1.0 KiB, 50.0 %), mail (1 key), x");
        let model = |name: &str| DetailPart { memory: Some(Bytes(1 << 20)), ..part(name) };
        let parts = vec![model("redis 8.10, jemalloc"), model("valkey 9.2, jemalloc")];
        assert_eq!(
            en(DetailValue::Parts(parts)),
            "size before redis 8.10, jemalloc (1.0 MiB) / valkey 9.2, jemalloc (1.0 MiB)"
        );
        let many = (0..9).map(|at| at.to_string()).collect();
        assert_eq!(en(DetailValue::Texts(many)), "size before 0, 1, 2, 3, 4, 5, and 3 more");
        let word = DetailValue::Word(Wording { en: "big key".into(), zh: "大 key".into() });
        assert_eq!(text(word, Lang::Zh).unwrap(), "此前 大 key");
    }

    #[test]
    fn a_single_alternative_is_not_named_the_best() {
        let part = |name: &str| DetailPart { name: name.into(), memory: Some(Bytes(1 << 20)), ..DetailPart::default() };
        let row = |parts: Vec<DetailPart>| {
            let detail = |value| Detail { label: Wording { en: "x".into(), zh: "x".into() }, value };
            let details = [
                ("best".into(), detail(DetailValue::Text("redis 8.10, jemalloc".into()))),
                ("alternatives".into(), detail(DetailValue::Parts(parts))),
            ];
            let row = FindingPattern { details: details.into(), ..FindingPattern::default() };
            details_of(&row)
        };
        assert_eq!(row(vec![part("redis 8.10, jemalloc")]), "redis 8.10, jemalloc: 1.0 MiB");
        let two = row(vec![part("redis 8.10, jemalloc"), part("valkey 9.2, jemalloc")]);
        assert!(two.contains(" / ") && two.ends_with("; x redis 8.10, jemalloc"), "{two}");
    }

    fn details_of(row: &FindingPattern) -> String {
        details(row, Lang::En).unwrap().plain().into_owned()
    }

    #[test]
    fn details_of_newer_reports_are_shown_as_they_are() {
        let read = |json| detail_text("size_before", &Detail::from(json), Lang::Zh);
        assert_eq!(read(json!({ "type": "new", "value": { "a": 1 } })).as_deref(), Some("size before {\"a\":1}"));
        assert_eq!(read(json!("as it is")).as_deref(), Some("size before as it is"));
    }

    #[test]
    fn numbers_of_findings_do_not_overflow() {
        let mut findings = Findings::default();
        let row = |findings| SeverityRow { severity: Severity::Must, findings, keys: 0, memory: Bytes(0) };
        findings.severities = [u64::MAX, 1].map(row).to_vec();
        assert_eq!(number_of_findings(&findings, Lang::En), "18,446,744,073,709,551,615 findings: ");
    }

    #[test]
    fn what_says_nothing_is_left_out() {
        for value in [DetailValue::Flag(false), DetailValue::Texts(vec![]), DetailValue::Parts(vec![])] {
            assert_eq!(text(value, Lang::En), None);
        }
        assert_eq!(detail_text("a", &Detail::from(json!(null)), Lang::En), None);
    }
}
