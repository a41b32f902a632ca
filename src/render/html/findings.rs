//! Findings, to be filtered and ordered.

use super::cells::{HtmlCell, cell};
use super::prose::HtmlProse;
use super::view::{TableView, permille};
use crate::render::document::{Cell, Column, FindingBlock, Table};
use crate::render::words::{heads, known, nouns};
use crate::render::{Lang, human};

/// All findings.
#[derive(Debug)]
pub struct FindingsView {
    /// Findings in the report's order, the gravest first.
    pub list: Vec<FindingView>,
    /// Words that open those beyond the first.
    pub rest: Option<String>,
}

/// One finding.
#[derive(Debug)]
pub struct FindingView {
    /// Place in the report's order.
    pub at: usize,
    /// `must`, `should` or `hint`.
    pub severity: &'static str,
    /// Word of the severity.
    pub word: &'static str,
    /// Rule.
    pub rule: String,
    /// Demand of the rule.
    pub demand: HtmlProse,
    /// Remedy.
    pub fix: HtmlProse,
    /// Passage that demands it.
    pub source: Option<HtmlProse>,
    /// Keys, if it is about keys.
    pub keys: Option<String>,
    /// Keys with their noun, if it is about keys.
    pub keys_in_words: Option<String>,
    /// Memory, if it has any.
    pub memory: Option<String>,
    /// Share of all memory in words.
    pub share: String,
    /// Share of all memory in thousandths.
    pub permille: u64,
    /// Further figures, each with its name.
    pub figures: Vec<(&'static str, String)>,
    /// Keys for the order.
    pub raw_keys: u64,
    /// Bytes for the order.
    pub raw_memory: u64,
    /// Patterns that break the rule.
    pub places: TableView,
    /// Details of these patterns.
    pub details: Vec<HtmlProse>,
}

impl FindingView {
    /// Returns the view of a finding at this place of the list.
    pub fn of(at: usize, finding: &FindingBlock, lang: Lang) -> FindingView {
        let memory = finding.memory.unwrap_or_default();
        let figures = finding.figures.iter().map(|(head, figure)| (lang.pick(*head), text(figure, lang)));
        FindingView {
            at,
            severity: finding.severity.name(),
            word: known::severity(finding.severity, lang),
            rule: finding.rule.to_string(),
            demand: (&finding.demand).into(),
            fix: (&finding.fix).into(),
            source: finding.source.as_ref().map(HtmlProse::from),
            keys: finding.keys.map(human::count),
            keys_in_words: finding.keys.map(|keys| human::counted(keys, nouns::KEY, lang)),
            memory: finding.memory.map(|memory| human::bytes(memory.0)),
            share: human::share_of(memory.0, finding.whole.0),
            permille: permille(memory.0, finding.whole.0),
            figures: figures.collect(),
            raw_keys: finding.keys.unwrap_or(0),
            raw_memory: memory.0,
            places: TableView::of(&finding.places, lang),
            details: finding.details.iter().map(HtmlProse::from).collect(),
        }
    }
}

/// Returns a figure outside of a table as text.
pub(super) fn text(figure: &Cell, lang: Lang) -> String {
    let table = Table::of("", &[figure], 1).column(Column::text(heads::NONE), |figure| (*figure).clone()).build();
    match cell(&table, &table.rows[0], 0, lang) {
        HtmlCell::Text(text) | HtmlCell::Faint(text, _) | HtmlCell::Number(text, _) | HtmlCell::Share(text, _) => text,
        HtmlCell::Name(name, _) => name.shown,
        HtmlCell::Change(change) => change.shown,
        HtmlCell::Kind(word) | HtmlCell::Severity(_, word) => word.to_owned(),
        HtmlCell::Absent | HtmlCell::Range(_) => human::ABSENT.to_owned(),
    }
}
