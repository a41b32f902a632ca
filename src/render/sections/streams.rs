//! Streams with their groups and the entries that those left unacknowledged.

use crate::render::document::{Column, Scope, Section, Table};
use crate::render::words::{heads, leads};
use crate::report::Report;

/// Builds the section.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let streams = report.streams.as_ref().filter(|streams| streams.keys > 0)?;
    let title = scope.lang.of("Streams", "Stream");
    let table = Table::of(title, &streams.list, scope.rows)
        .column(Column::text(heads::STREAM).shrink(24), |row| &row.key)
        .column(Column::number(heads::DB).spare(2), |row| row.db)
        .column(Column::number(heads::ENTRIES), |row| row.entries)
        .column(Column::number(heads::GROUPS).spare(1), |row| row.groups)
        .column(Column::number(heads::PENDING), |row| row.pending)
        .column(Column::number(heads::MEMORY), |row| row.memory)
        .build()
        .out_of(streams.keys);
    Some(Section::new("streams", title).lead(leads::streams(streams, scope.lang)).with(table))
}
