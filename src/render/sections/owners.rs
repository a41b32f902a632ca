//! Owners of the data dictionary, and what they break.

use crate::render::Lang;
use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::{heads, known, others};
use crate::report::known_memory;
use crate::report::{Report, RuleWeight};

/// Rules that are named of one owner or pattern.
const RULES_OF_A_ROW: usize = 3;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let (lang, findings) = (scope.lang, &report.findings);
    if findings.dictionary.is_none() || findings.by_owner.is_empty() {
        return None;
    }
    let title = lang.of("Owners", "负责人");
    let table = Table::of(title, &findings.by_owner, scope.rows)
        .column(Column::text(heads::OWNER).shrink(12), |row| match &row.owner {
            Some(owner) => Cell::words(owner),
            None => lang.of("no owner", "无人负责").into(),
        })
        .column(Column::text(heads::CONTACT).shrink(12).spare(3), |row| Cell::maybe_words(row.contact.as_deref()))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| known_memory(row.keys, row.memory))
        .column(Column::number(heads::SHARE).bars().spare(2), |row| {
            known_memory(row.keys, row.memory).map(|memory| Cell::ShareOf(memory.0, report.totals.memory.0))
        })
        .column(Column::number(heads::WITHOUT_TTL).spare(4), |row| {
            row.without_ttl.map(|without| Cell::ShareOf(without.keys, row.keys))
        })
        .column(Column::number(heads::BREAKING), |row| row.broken.keys)
        .column(Column::text(heads::BREAK).shrink(20).prose().spare(1), |row| rules(&row.rules, lang))
        .build();
    Some(Section::new("owners", title).with(table))
}

/// Returns the gravest rules by name; nothing if there are none.
pub(super) fn rules(rules: &[RuleWeight], lang: Lang) -> Option<String> {
    let mut names: Vec<String> = rules
        .iter()
        .take(RULES_OF_A_ROW)
        .map(|rule| format!("{} {}", known::severity(rule.severity, lang), rule.rule))
        .collect();
    if let Some(more) = rules.len().checked_sub(RULES_OF_A_ROW).filter(|more| *more > 0) {
        names.push(others(more, lang));
    }
    (!names.is_empty()).then(|| names.join(lang.of(", ", "，")))
}
