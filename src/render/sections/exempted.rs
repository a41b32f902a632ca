//! Keys that exemptions of the policy cover.

use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::heads;
use crate::report::Report;
use crate::report::known_memory;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let exempted = &report.findings.exempted;
    if exempted.is_empty() {
        return None;
    }
    let title = scope.lang.of("Exempted", "豁免");
    let table = Table::of(title, exempted, scope.rows)
        .column(Column::text(heads::PATTERN).shrink(24), |row| Cell::pattern(&row.pattern))
        .column(Column::text(heads::RULE), |row| &*row.rule)
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| known_memory(row.keys, row.memory))
        .column(Column::text(heads::REASON).shrink(20).prose(), |row| Cell::words(&row.reason))
        .build();
    Some(Section::new("exempted", title).with(table))
}
