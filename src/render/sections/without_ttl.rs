//! Keys that never expire, by pattern.

use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::{heads, leads};
use crate::report::Report;
use crate::report::known_memory;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let no_ttl = &report.no_ttl;
    if no_ttl.keys == 0 {
        return None;
    }
    let title = scope.lang.of("Keys without TTL", "无 TTL 的 key");
    let table = Table::of(title, &no_ttl.patterns, scope.rows)
        .column(Column::text(heads::PATTERN).shrink(24), |row| Cell::pattern(&row.pattern))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::MEMORY), |row| known_memory(row.keys, row.memory))
        .column(Column::number(heads::OF_MEMORY).bars(), |row| {
            known_memory(row.keys, row.memory).map(|memory| Cell::ShareOf(memory.0, report.totals.memory.0))
        })
        .column(Column::text(heads::EXAMPLE).shrink(20).spare(1), |row| row.examples.first())
        .build();
    let listed = no_ttl.patterns.iter().fold(0, |sum: u64, row| sum.saturating_add(row.keys));
    let are_others = listed < no_ttl.keys;
    let table = table.out_of_known(no_ttl.distinct_patterns, are_others);
    Some(Section::new("without-ttl", title).lead(leads::without_ttl(report, scope.lang)).with(table))
}
