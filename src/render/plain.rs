//! Cells as plain text, with one unit for all bytes of a column: for backends that write text.

use super::document::{Cell, Table};
use super::human::{self, ByteUnit};
use super::{Lang, bar};
use crate::render::words::known;

/// Returns the unit of a column: that of its largest value.
pub(super) fn unit(table: &Table, column: usize) -> ByteUnit {
    let bytes = table.rows.iter().filter_map(|row| match row.cells.get(column) {
        Some(Cell::Bytes(bytes)) => Some(bytes.0),
        _ => None,
    });
    ByteUnit::largest_with(bytes.max().unwrap_or(0), table.columns[column].units)
}

/// Returns the heading of a column, with the unit if it holds bytes.
pub(super) fn heading(table: &Table, column: usize, unit: ByteUnit, lang: Lang) -> String {
    let holds_bytes = table.rows.iter().any(|row| matches!(row.cells.get(column), Some(Cell::Bytes(_))));
    let heading = lang.pick(table.columns[column].heading);
    if holds_bytes { format!("{heading} {}", unit.name()) } else { heading.to_owned() }
}

/// Returns a cell as text; names are visible but not escaped for any markup.
pub(super) fn text(cell: &Cell, unit: ByteUnit, lang: Lang) -> String {
    match cell {
        Cell::Absent | Cell::Range(_) => human::ABSENT.to_owned(),
        Cell::Blank => String::new(),
        Cell::Text(text) => text.clone(),
        Cell::Name(name) => name.visible().into_owned(),
        Cell::Count(n) => human::count(*n),
        Cell::Id(n) => n.to_string(),
        Cell::Bytes(bytes) => unit.format(bytes.0),
        Cell::Share(fraction) => human::share(*fraction),
        Cell::ShareOf(part, whole) => human::share_of(*part, *whole),
        Cell::Change { from, to } => human::change(*from, *to),
        Cell::Difference { bytes, of: None } => human::signed(*bytes),
        Cell::Difference { bytes, of: Some((before, after)) } => {
            format!("{}, {}", human::signed(*bytes), human::change(*before, *after))
        }
        Cell::Measured { number, limit, unit } => human::measured(*number, *limit, *unit, lang),
        Cell::Limit { number, measured, unit } => human::limit(*number, *measured, *unit, lang),
        Cell::Severity(severity) => known::severity(*severity, lang).to_owned(),
        Cell::Kind(kind) => kind.name().to_owned(),
        Cell::Time(at) => human::time(at.0),
        Cell::Left { at, now } => human::left(*at, *now, lang),
        Cell::Bar(part, most) => bar::bar(*part, *most, bar::WIDTH),
    }
}
