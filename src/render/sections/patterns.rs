//! The heaviest patterns.

use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::human;
use crate::render::words::{heads, nouns, say};
use crate::report::{PatternRow, Report};

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let patterns = &report.patterns;
    if patterns.list.is_empty() {
        return None;
    }
    let lang = scope.lang;
    let title = lang.of("Patterns", "模式");
    let distinct = human::counted(patterns.distinct, nouns::DIFFERENT_PATTERN, lang);
    let table = Table::of(title, &patterns.list, scope.rows)
        .column(Column::text(heads::PATTERN).shrink(24), |row| Cell::pattern(&row.pattern))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| row.unknown.known(row.keys, row.memory))
        .column(Column::number(heads::SHARE).bars(), |row| row.unknown.known(row.keys, Cell::Share(row.share)))
        .column(Column::number(heads::MEAN).wide_range().spare(2), |row| row.unknown.known(row.keys, row.mean))
        .column(Column::number(heads::WITHOUT_TTL).spare(1), |row| Cell::ShareOf(row.without_ttl.keys, row.keys))
        .column(Column::text(heads::TYPES).shrink(8).spare(3), types)
        .column(Column::text(heads::EXAMPLE).shrink(16).spare(4), |row| &row.example)
        .build()
        .out_of(patterns.distinct);
    let lead = match patterns.list.first().and_then(|row| row.unknown.known(row.keys, ())) {
        Some(()) => say!(lang, "{distinct}; the heaviest:", "{distinct}，其中最大的："),
        None => say!(lang, "{distinct}:", "{distinct}："),
    };
    Some(Section::new("patterns", title).lead(lead).with(table))
}

fn types(row: &PatternRow) -> String {
    row.types.iter().map(|of_type| of_type.kind.name()).collect::<Vec<_>>().join(" ")
}
