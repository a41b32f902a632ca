//! What breaks the policy, each finding with its places, to be filtered and ordered.

use super::section;
use crate::render::html::names::{Name, sentence};
use crate::render::html::view::{Block, Caps, Cell, Column, Prose, Section, Table, tenths};
use crate::render::table::findings::{detail_text, headline, in_unit, worst};
use crate::render::words::{heads, say};
use crate::render::{Lang, human};
use crate::report::{Finding, FindingPattern, Report};
use crate::units::Bytes;

/// One finding.
#[derive(Debug)]
pub struct FindingView {
    /// Its place in the report's order.
    pub at: usize,
    /// `must`, `should` or `hint`.
    pub severity: String,
    /// Its rule.
    pub rule: String,
    /// What is demanded.
    pub demand: Prose,
    /// What to do.
    pub fix: Prose,
    /// Keys, where it is about keys.
    pub keys: Option<String>,
    /// Memory, where it has any.
    pub memory: Option<String>,
    /// Its share of all memory in words.
    pub share: String,
    /// The same in thousandths.
    pub tenths: u64,
    /// Figures besides, each with its name.
    pub figures: Vec<(&'static str, String)>,
    /// Keys for the order.
    pub raw_keys: u64,
    /// Bytes for the order.
    pub raw_memory: u64,
    /// Where it is broken.
    pub places: Table,
    /// What else is known of these places.
    pub details: Vec<Prose>,
}

/// All findings.
pub fn findings(report: &Report, lang: Lang, caps: Caps) -> Option<Section> {
    let list = &report.findings.list;
    if list.is_empty() {
        return None;
    }
    let shown: Vec<FindingView> =
        list.iter().enumerate().take(MOST).map(|(at, finding)| view(report, at, finding, lang, caps)).collect();
    let lead = sentence(&headline(report, lang));
    Some(section("findings", lang.of("Findings", "违规")).lead(lead).with(Block::Findings(shown)))
}

/// Findings of one report; more than there are rules in any policy, each with every severity.
const MOST: usize = 200;

fn view(report: &Report, at: usize, finding: &Finding, lang: Lang, caps: Caps) -> FindingView {
    let about_keys = finding.keys > 0;
    let has_memory = about_keys || finding.memory > Bytes(0);
    let mut figures = Vec::new();
    let mut figure = |head, text: Option<String>| figures.extend(text.map(|text| (lang.pick(head), text)));
    let worst = worst(finding);
    let measured = |number: Option<u64>| number.map(|number| in_unit(number, finding.unit, lang));
    figure(heads::WORST, measured(worst.map(|worst| worst.measured)));
    figure(heads::ALLOWED, measured(worst.and_then(|worst| worst.allowed)));
    figure(heads::SAVES, finding.saves.map(|saves| human::bytes(saves.0)));
    figure(heads::PATTERNS, Some(finding.distinct_patterns).filter(|n| *n > 0).map(human::count));
    let shown = &finding.patterns[..finding.patterns.len().min(caps.inner)];
    FindingView {
        at,
        severity: finding.severity.to_string(),
        rule: finding.rule.to_string(),
        demand: sentence(lang.of(&finding.demand.en, &finding.demand.zh)).into(),
        fix: sentence(lang.of(&finding.fix.en, &finding.fix.zh)).into(),
        keys: about_keys.then(|| human::count(finding.keys)),
        memory: has_memory.then(|| human::bytes(finding.memory.0)),
        share: human::share_of(finding.memory.0, report.totals.memory.0),
        tenths: tenths(finding.memory.0, report.totals.memory.0),
        figures,
        raw_keys: finding.keys,
        raw_memory: finding.memory.0,
        places: places(finding, lang, caps),
        details: shown.iter().filter_map(|row| details(row, finding, lang)).collect(),
    }
}

/// The patterns that break the rule.
fn places(finding: &Finding, lang: Lang, caps: Caps) -> Table {
    let columns = [
        Column::text(heads::PATTERN, lang),
        Column::text(heads::OWNER, lang).spare(),
        Column::number(heads::KEYS, lang),
        Column::number(heads::MEMORY, lang),
        Column::number(heads::SAVES, lang).spare(),
        Column::number(heads::WORST, lang),
        Column::number(heads::ALLOWED, lang).spare(),
        Column::text(heads::EXAMPLE, lang).spare(),
    ];
    let measured =
        |number: Option<u64>| number.map_or(Cell::Absent, |n| Cell::Number(in_unit(n, finding.unit, lang), n));
    let label = say!(lang, "Where {} is broken", "违反 {} 的位置", finding.rule);
    let table =
        Table::new(label, columns).fill(&finding.patterns, caps.inner, finding.distinct_patterns, lang, |row| {
            let whole = || Cell::Text(lang.of("the whole snapshot", "整个快照").to_owned());
            vec![
                row.pattern.as_deref().map_or_else(whole, |pattern| Cell::name(Name::text(pattern))),
                Cell::opt(row.owner.as_deref()),
                if row.keys > 0 { Cell::count(row.keys) } else { Cell::Absent },
                if row.keys > 0 || row.memory > Bytes(0) { Cell::bytes(row.memory) } else { Cell::Absent },
                row.saves.map_or(Cell::Absent, Cell::bytes),
                measured(row.measured),
                measured(row.allowed),
                row.examples.first().map_or(Cell::Absent, |example| Cell::name(Name::key(&example.key.0))),
            ]
        });
    table.compact()
}

/// What else is known of a place.
fn details(row: &FindingPattern, finding: &Finding, lang: Lang) -> Option<Prose> {
    let facts: Vec<String> = row
        .details
        .iter()
        .filter_map(|(name, value)| detail_text(name, value, finding.unit, lang))
        .map(|fact| sentence(&fact))
        .collect();
    let pattern =
        row.pattern.as_deref().map_or_else(String::new, |pattern| format!("{}: ", Name::text(pattern).inline()));
    (!facts.is_empty()).then(|| format!("{pattern}{}", facts.join(lang.of("; ", "；"))).into())
}
