//! Hash templates: field names that compact hashes share, and what that saves.

use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::{heads, leads};
use crate::report::{HashTemplateRow, Report};

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let templates = report.hash_templates.as_ref().filter(|templates| templates.templates > 0)?;
    let title = scope.lang.of("Hash templates", "hash 模板");
    let saved = |bytes| Cell::Difference { bytes, of: None };
    let table = Table::of(title, &templates.list, scope.rows)
        .column(Column::text(heads::FIELD_NAMES).shrink(24), |row| Cell::words(&names(row)))
        .column(Column::number(heads::FIELDS).spare(2), |row| row.fields)
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| row.memory)
        .column(Column::number(heads::OF_TEMPLATE).spare(1), |row| row.bytes)
        .column(Column::number(heads::AGAINST_ORDINARY), |row| saved(row.saved.saturating_neg()))
        .build()
        .in_order();
    Some(Section::new("templates", title).lead(leads::templates(templates, scope.lang)).with(table))
}

/// Lists the field names that the report has.
fn names(row: &HashTemplateRow) -> String {
    let names: Vec<_> = row.names.iter().map(|name| String::from_utf8_lossy(&name.0)).collect();
    let more = if (names.len() as u64) < row.fields { ", …" } else { "" };
    names.join(", ") + more
}
