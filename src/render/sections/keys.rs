//! Tables of single keys, for several sections.

use super::files::own_part;
use crate::render::document::{Cell, Column, Scope, Table};
use crate::render::words::heads;
use crate::report::Text;
use crate::report::{KeyRow, Report};

/// Explains the column of that name.
pub(super) const LENGTH: Text = Text {
    en: "Length: elements of a collection, bytes of a string. An element of a hash is a field and its value.",
    zh: "长度为元素数，string 为字节数。hash 的元素为字段及其值。",
};

/// Builds a table of the first `most` keys.
pub(super) fn table(label: &str, report: &Report, keys: &[impl std::borrow::Borrow<KeyRow>], most: usize) -> Table {
    let db_is_needed = report.databases.len() > 1;
    let now = report.expiry.reference_time;
    let expires = if now.is_some() { heads::EXPIRES_IN } else { heads::EXPIRES };
    Table::of(label, keys, most)
        .column(Column::text(heads::KEY).shrink(24), |row| &row.borrow().key)
        .column(Column::number(heads::DB).spare(if db_is_needed { 0 } else { 5 }), |row| row.borrow().db)
        .column(Column::text(heads::TYPE), |row| row.borrow().kind)
        .column(Column::text(heads::ENCODING).spare(4), |row| row.borrow().encoding.name())
        .column(Column::number(heads::LENGTH).spare(3), |row| row.borrow().length)
        .column(Column::number(heads::LONGEST_ELEMENT).spare(6), |row| row.borrow().longest_element)
        .column(Column::number(heads::MEAN_ELEMENT).spare(7), |row| row.borrow().mean_element)
        .column(Column::number(heads::MEMORY), |row| row.borrow().memory)
        .column(Column::number(heads::SHARE).bars().spare(2), |row| {
            row.borrow().memory.map(|memory| Cell::ShareOf(memory.0, report.totals.memory.0))
        })
        .column(Column::number(expires).spare(1), |row| Cell::Left { at: row.borrow().expires_at, now })
        .column(Column::text(heads::FILE).shrink(12).spare(2), |row| {
            row.borrow().source.as_deref().map(|source| Cell::plain(own_part(&report.source.files, source)))
        })
        .build()
}

/// Returns whether the lists of big and of heaviest keys show the same rows.
pub(super) fn big_are_heaviest(report: &Report, scope: &Scope) -> bool {
    !scope.apart && report.big_keys.keys > 0 && scope.first(&report.big_keys.list) == scope.first(&report.top.by_memory)
}
