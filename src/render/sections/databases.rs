//! The databases.

use crate::render::document::{Cell, Column, Scope, Section, Table};
use crate::render::words::heads;
use crate::report::Report;

/// Builds the section; none if 0 is the only database, whose figures are the totals.
pub(super) fn section(report: &Report, scope: &Scope) -> Option<Section> {
    let (databases, totals) = (&report.databases, &report.totals);
    if databases.is_empty() || !scope.apart && databases.iter().all(|database| database.db == 0) {
        return None;
    }
    let title = scope.lang.of("Databases", "数据库");
    let table = Table::of(title, databases, scope.rows)
        .column(Column::text(heads::DB), |row| Cell::Id(row.db))
        .column(Column::number(heads::KEYS), |row| row.keys)
        .column(Column::number(heads::OF_KEYS).spare(1), |row| Cell::ShareOf(row.keys, totals.keys))
        .column(Column::number(heads::MEMORY), |row| row.unknown.known(row.keys, row.memory))
        .column(Column::number(heads::OF_MEMORY).bars(), |row| {
            row.unknown.known(row.keys, row.memory).map(|memory| Cell::ShareOf(memory.0, totals.memory.0))
        })
        .column(Column::number(heads::DISK).spare(2), |row| row.disk)
        .column(Column::number(heads::WITH_TTL), |row| Cell::ShareOf(row.with_ttl, row.keys))
        .column(Column::number(heads::EXPIRED).spare(3), |row| row.expired)
        .build();
    Some(Section::new("databases", title).with(table))
}
