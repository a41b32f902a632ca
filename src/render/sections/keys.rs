//! Tables of single keys, for several sections.

use std::borrow::Borrow;
use std::collections::HashMap;

use super::files::own_part;
use crate::render::document::{Cell, Column, Scope, Table};
use crate::render::words::heads;
use crate::report::Text;
use crate::report::{KeyRow, Report, SourceFile};
use crate::units::Millis;

/// Explains the column of that name.
pub(super) const LENGTH: Text = Text {
    en: "Length: elements of a collection, bytes of a string.",
    zh: "长度为元素数，string 为字节数。",
};

/// Builds a table of the first `most` keys.
pub(super) fn table(label: &str, report: &Report, keys: &[impl Borrow<KeyRow>], most: usize) -> Table {
    let elements =
        ElementColumns { longest: heads::LONGEST_ELEMENT, mean: heads::MEAN_ELEMENT, spare: 6, spare_length: 3 };
    table_with(&elements, label, report, keys, most)
}

/// Builds a table of the first `most` collections, in which the lengths of elements matter more than times and shares.
pub(super) fn collections(label: &str, report: &Report, keys: &[impl Borrow<KeyRow>], most: usize) -> Table {
    let elements = ElementColumns { longest: heads::LONGEST, mean: heads::MEAN, spare: 1, spare_length: 0 };
    table_with(&elements, label, report, keys, most)
}

/// Headings of the lengths of elements, and how soon the columns with lengths are dropped.
struct ElementColumns {
    longest: Text,
    mean: Text,
    spare: u8,
    spare_length: u8,
}

fn table_with(
    elements: &ElementColumns,
    label: &str,
    report: &Report,
    keys: &[impl Borrow<KeyRow>],
    most: usize,
) -> Table {
    let db_is_needed = report.databases.len() > 1;
    let now = report.expiry.reference_time;
    let own_times = own_times(report);
    let now_of = |row: &KeyRow| row.source.as_deref().and_then(|source| own_times.get(source).copied()).or(now);
    let expires = if now.is_some() { heads::EXPIRES_IN } else { heads::EXPIRES };
    Table::of(label, keys, most)
        .column(Column::text(heads::KEY).shrink(24), |row| &row.borrow().key)
        .column(Column::number(heads::DB).spare(if db_is_needed { 0 } else { 5 }), |row| row.borrow().db)
        .column(Column::text(heads::TYPE), |row| row.borrow().kind)
        .column(Column::text(heads::ENCODING).spare(4), |row| row.borrow().encoding.name())
        .column(Column::number(heads::LENGTH).spare(elements.spare_length), |row| row.borrow().length)
        .column(Column::number(elements.longest).spare(elements.spare), |row| row.borrow().longest_element)
        .column(Column::number(elements.mean).spare(elements.spare), |row| row.borrow().mean_element)
        .column(Column::number(heads::MEMORY), |row| row.borrow().memory)
        .column(Column::number(heads::SHARE).bars().spare(2), |row| {
            row.borrow().memory.map(|memory| Cell::ShareOf(memory.0, report.totals.memory.0))
        })
        .column(Column::number(expires).spare(1), |row| {
            let row = row.borrow();
            Cell::Left { at: row.expires_at, now: now_of(row) }
        })
        .column(Column::text(heads::FILE).shrink(12).spare(2), |row| {
            row.borrow().source.as_deref().map(|source| Cell::plain(own_part(&report.source.files, source)))
        })
        .build()
}

/// Returns the times that expiries in the files were compared with, by name; none if all have the time of the report.
fn own_times(report: &Report) -> HashMap<&str, Millis> {
    let dated = |file: &SourceFile| Some(Millis::end_of_second(file.ctime?));
    let files = &report.source.files;
    // A time that was given with `--at` is that of all files.
    if files.len() < 2 || files.iter().filter_map(dated).max() != report.expiry.reference_time {
        return HashMap::new();
    }
    files.iter().filter_map(|file| Some((file.name.as_str(), dated(file)?))).collect()
}

/// Returns whether the lists of big and of heaviest keys show the same rows.
pub(super) fn big_are_heaviest(report: &Report, scope: &Scope) -> bool {
    !scope.apart && report.big_keys.keys > 0 && scope.first(&report.big_keys.list) == scope.first(&report.top.by_memory)
}
