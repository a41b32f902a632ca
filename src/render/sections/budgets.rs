//! Memory budgets of the policy.

use crate::render::document::{Cell, Column, Forms, Scope, Section, Table, Tone};
use crate::render::words::heads;
use crate::report::{Report, Unit};

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let budgets = &report.findings.budgets;
    if budgets.is_empty() {
        return None;
    }
    let title = scope.lang.of("Memory budgets", "内存预算");
    let table = Table::of(title, budgets, scope.rows)
        .tones(|row| if row.memory > row.allowed { Tone::Warning } else { Tone::Plain })
        .column(Column::text(heads::BUDGET_OF).shrink(24), |row| Cell::pattern(&row.pattern))
        .column(Column::number(heads::KEYS), |row| row.keys)
        // Budgets differ so much in size that each has its own unit.
        .column(Column::number(heads::MEMORY), |row| {
            let (number, limit) = (row.memory.0, Some(row.allowed.0));
            row.unknown.known(row.keys, Cell::Measured { number, limit, unit: Some(Unit::Bytes) })
        })
        .column(Column::number(heads::ALLOWED), |row| {
            let measured = row.unknown.known(row.keys, row.memory.0);
            Cell::Limit { number: row.allowed.0, measured, unit: Some(Unit::Bytes) }
        })
        .column(Column::number(heads::USED).bars_in(Forms::HTML), |row| {
            row.unknown.known(row.keys, Cell::ShareOf(row.memory.0, row.allowed.0))
        })
        .column(Column::number(heads::UNKNOWN_KEYS), |row| row.unknown.keys_if_any())
        .build();
    Some(Section::new("budgets", title).with(table))
}
