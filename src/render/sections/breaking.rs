//! Patterns whose keys break most rules.

use super::owners::rules;
use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::heads;
use crate::report::Report;
use crate::report::known_memory;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let (lang, findings) = (scope.lang, &report.findings);
    // Without owners, the findings say as much; by itself the list is there whenever the report has it.
    let is_shown = scope.apart || findings.dictionary.is_some();
    if findings.by_pattern.is_empty() || !is_shown {
        return None;
    }
    let title = lang.of("Patterns with the most violations", "违规最多的模式");
    let table = Table::of(title, &findings.by_pattern, scope.rows)
        .column(Column::text(heads::PATTERN).shrink(24), |row| Cell::pattern(&row.pattern))
        .column(Column::text(heads::OWNER).shrink(8).spare(1), |row| Cell::maybe_words(row.owner.as_deref()))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| known_memory(row.keys, row.memory))
        .column(Column::text(heads::BREAK).shrink(24).prose(), |row| rules(&row.rules, lang))
        .build();
    Some(Section::new("breaking", title).with(table))
}
