//! Cells of the page, formatted for the templates.

use super::prose::{HtmlName, MAX_COLUMNS};
use super::view::permille;
use crate::render::document::{Cell, Form, Name, Range, Table, TableRow, Tone};
use crate::render::key_text::fit;
use crate::render::words::known;
use crate::render::{Lang, human};

/// A cell of the page.
#[derive(Debug)]
pub enum HtmlCell {
    /// No figure.
    Absent,
    /// Words.
    Text(String),
    /// Pale words of little weight, and the depth of the row.
    Faint(String, usize),
    /// A name, and the depth of the row.
    Name(HtmlName, usize),
    /// A figure; its raw value gives the order.
    Number(String, u64),
    /// A share with a bar as long as it is.
    Share(String, u64),
    /// A change; a bar to the left is less, to the right is more.
    Change(ChangeBar),
    /// A severity.
    Severity(&'static str, &'static str),
    /// A type, with its colour.
    Kind(&'static str),
    /// Sizes on a scale that all rows share.
    Range(RangeBar),
}

/// A change with its bar.
#[derive(Debug)]
pub struct ChangeBar {
    /// The change with its sign.
    pub shown: String,
    /// Begin of its bar: the middle, or before it.
    pub from: u64,
    /// Length of its bar.
    pub permille: u64,
    /// Set if it is a decrease.
    pub less: bool,
}

impl ChangeBar {
    /// Returns a change whose bar fills half of the cell if `part` is all of `whole`.
    fn new(shown: String, part: u64, whole: u64, less: bool) -> ChangeBar {
        let half = permille(part, whole) / 2;
        ChangeBar { shown, from: if less { 500 - half } else { 500 }, permille: half, less }
    }
}

/// Places of sizes on a scale, in thousandths of its length.
#[derive(Debug)]
pub struct RangeBar {
    /// Place of the median.
    pub p50: u64,
    /// Place of the size that 99 of 100 keys stay below.
    pub p99: u64,
    /// Place of the largest size.
    pub max: u64,
}

impl RangeBar {
    fn of(range: &Range) -> RangeBar {
        let place = |size: u64| range.scale.place(size);
        RangeBar { p50: place(range.p50.0), p99: place(range.p99.0.min(range.max.0)), max: place(range.max.0) }
    }

    /// Returns the length from the median to all but one in a hundred.
    pub fn body(&self) -> u64 {
        self.p99.saturating_sub(self.p50).max(4)
    }
}

/// Returns a cell of a table as it stands on the page.
pub(super) fn cell(table: &Table, row: &TableRow, at: usize, lang: Lang) -> HtmlCell {
    let depth = if at == 0 { row.depth } else { 0 };
    let share = |text: String, permille: u64| {
        if table.columns[at].bars.has(Form::Html) {
            // The longest bar fills its cell: shares of a few per cent could not be told apart otherwise.
            HtmlCell::Share(text, permille.saturating_mul(1000) / largest_share(table, at))
        } else {
            HtmlCell::Number(text, permille)
        }
    };
    match &row.cells[at] {
        Cell::Absent => HtmlCell::Absent,
        Cell::Blank => HtmlCell::Text(String::new()),
        Cell::Text(text) if at == 0 && row.tone == Tone::Faint => HtmlCell::Faint(text.clone(), depth),
        Cell::Text(text) => HtmlCell::Text(text.clone()),
        // A sentence continues on the next line, so only a name loses its middle.
        Cell::Name(name @ Name::Words(_)) if table.columns[at].prose => {
            HtmlCell::Text(fit(&name.visible(), MAX_COLUMNS).into_owned())
        }
        Cell::Name(name) => HtmlCell::Name(HtmlName::of(name), depth),
        Cell::Count(n) => HtmlCell::Number(human::count(*n), *n),
        Cell::Id(n) => HtmlCell::Number(n.to_string(), *n),
        Cell::Bytes(bytes) => HtmlCell::Number(human::bytes(bytes.0), bytes.0),
        Cell::Share(fraction) => share(human::share(*fraction), permille_of(*fraction)),
        Cell::ShareOf(part, whole) => share(human::share_of(*part, *whole), permille(*part, *whole)),
        Cell::Change { from, to } => {
            HtmlCell::Change(ChangeBar::new(human::change(*from, *to), from.abs_diff(*to), *from, to < from))
        }
        Cell::Difference { bytes, of } => {
            let shown = human::signed(*bytes);
            let shown = match of {
                Some((before, after)) => format!("{shown}, {}", human::change(*before, *after)),
                None => shown,
            };
            HtmlCell::Change(ChangeBar::new(shown, bytes.unsigned_abs(), largest(table, at), *bytes < 0))
        }
        Cell::Measured { number, limit, unit } => {
            HtmlCell::Number(human::measured(*number, *limit, *unit, lang), *number)
        }
        Cell::Limit { number, measured, unit } => {
            HtmlCell::Number(human::limit(*number, *measured, *unit, lang), *number)
        }
        Cell::Severity(severity) => HtmlCell::Severity(severity.name(), known::severity(*severity, lang)),
        Cell::Kind(kind) => HtmlCell::Kind(kind.name()),
        Cell::Time(time) => HtmlCell::Number(human::time(time.0), u64::try_from(time.0).unwrap_or(0)),
        // Keys that never expire sort last.
        Cell::Left { at, now } => {
            HtmlCell::Number(human::left(*at, *now, lang), at.map_or(u64::MAX, |at| u64::try_from(at.0).unwrap_or(0)))
        }
        Cell::Range(range) => HtmlCell::Range(RangeBar::of(range)),
        Cell::Bar(part, most) => share(String::new(), permille(*part, *most)),
    }
}

/// Returns a fraction in thousandths, at least one unless it is zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; NaN becomes 0")]
fn permille_of(fraction: f64) -> u64 {
    let whole = (fraction.clamp(0.0, 1.0) * 1000.0) as u64;
    if fraction > 0.0 { whole.max(1) } else { whole }
}

/// Returns the largest share of a column in thousandths, at least one.
fn largest_share(table: &Table, at: usize) -> u64 {
    let share = |row: &TableRow| match row.cells.get(at) {
        Some(Cell::Share(fraction)) => permille_of(*fraction),
        Some(Cell::ShareOf(part, whole) | Cell::Bar(part, whole)) => permille(*part, *whole),
        _ => 0,
    };
    table.rows.iter().map(share).max().unwrap_or_default().max(1)
}

/// Returns the size of the largest difference in a column.
fn largest(table: &Table, at: usize) -> u64 {
    let size = |row: &TableRow| match row.cells.get(at) {
        Some(Cell::Difference { bytes, .. }) => bytes.unsigned_abs(),
        _ => 0,
    };
    table.rows.iter().map(size).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::document::Column;
    use crate::render::words::heads;

    #[test]
    fn shares_have_bars_only_where_the_column_says_so() {
        let table = Table::of("", &[2_u64, 1], 2)
            .column(Column::number(heads::SHARE).bars(), |n| Cell::ShareOf(*n, 4))
            .column(Column::number(heads::SHARE), |n| Cell::ShareOf(*n, 4))
            .build();
        let cells = |row: usize| [0, 1].map(|at| cell(&table, &table.rows[row], at, Lang::En));
        assert!(matches!(cells(0), [HtmlCell::Share(_, 1000), HtmlCell::Number(_, 500)]), "{:?}", cells(0));
        assert!(matches!(cells(1), [HtmlCell::Share(_, 500), HtmlCell::Number(_, 250)]), "relative to the largest");
    }

    #[test]
    fn a_sentence_keeps_its_middle_and_a_name_does_not() {
        let words = "add a table to the policy file of the team; another command drafts the first one of them";
        let table = Table::of("", &[words], 1)
            .column(Column::text(heads::REASON).prose(), |words| Cell::words(words))
            .column(Column::text(heads::NAME), |words| Cell::words(words))
            .build();
        let cells = [0, 1].map(|at| cell(&table, &table.rows[0], at, Lang::En));
        let [HtmlCell::Text(text), HtmlCell::Name(name, _)] = cells else { panic!("{cells:?}") };
        assert!(text == words && name.shown.contains('…'), "{text} {name:?}");
    }

    #[test]
    fn bars_of_differences_are_relative_to_the_largest() {
        let table = Table::of("", &[-10_i64, 5], 2)
            .column(Column::number(heads::CHANGE), |bytes| Cell::Difference { bytes: *bytes, of: None })
            .build();
        let bars = [0, 1].map(|row: usize| match cell(&table, &table.rows[row], 0, Lang::En) {
            HtmlCell::Change(change) => (change.from, change.permille, change.less),
            other => panic!("{other:?}"),
        });
        assert_eq!(bars, [(0, 500, true), (500, 250, false)]);
    }
}
