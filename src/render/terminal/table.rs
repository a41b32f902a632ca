//! Tables on a terminal: columns are dropped and texts shortened until the table fits the page.

use std::io;
use std::ops::RangeInclusive;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, TableStyle, Width};

use super::page::{Span, Style, TextPage};
use crate::render::document::{Cell, Column, Form, Name, Table, TableRow, Tone};
use crate::render::human::ByteUnit;
use crate::render::key_text::{fit, width};
use crate::render::wrap::wrap;
use crate::render::{bar, plain};

/// Space between two columns.
const GAP: usize = 2;

/// Width that a shortened text keeps when nothing else helped.
const MIN_WIDTH: usize = 4;

/// A rule under the headings; space between columns.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// Writes a table without columns that have no figure in any row; nothing if it has no rows.
pub(in crate::render) fn print(table: &Table, page: &mut TextPage<'_>) -> io::Result<()> {
    if table.rows.is_empty() {
        return Ok(());
    }
    let mut shown = ShownTable::of(table, page);
    if page.has_bars() && table.rows.len() > 1 {
        shown.add_bars(table, page.width());
    }
    shown.continue_prose(table);
    for (at, line) in shown.laid_out().lines().enumerate() {
        if at == 1 && table.dense {
            continue;
        }
        let row = at.checked_sub(2).and_then(|at| Some((table.rows.get(shown.rows.get(at)?.of)?, at)));
        match row.map(|(row, at)| (row.tone, row, at)) {
            None => page.line(if at == 0 { Style::Bold } else { Style::Faint }, &line)?,
            // A warning is about what the row is named after; figures stay legible.
            Some((Tone::Warning, row, at)) => {
                page.spans(Style::Plain, &line, &shown.spans(row, at, Some(Style::Warning)))?;
            }
            Some((Tone::Plain, row, at)) => page.spans(Style::Plain, &line, &shown.spans(row, at, None))?,
            Some((tone @ (Tone::Strong | Tone::Faint | Tone::Alarm), ..)) => page.line(Style::of(tone), &line)?,
        }
    }
    let notes = shown.columns.iter().filter_map(|column| table.columns[column.at?].note);
    let lang = page.lang();
    notes.map(|note| lang.pick(note)).try_for_each(|note| page.hanging(Style::Faint, "", note))
}

/// Widths of bars beside a share: a shorter one is not worth its room.
const BARS: RangeInclusive<usize> = 6..=16;

/// A table as it is shown.
struct ShownTable {
    columns: Vec<ShownColumn>,
    rows: Vec<ShownRow>,
}

/// A line of a table: a row, or the continuation of one.
struct ShownRow {
    /// Index of the row in the table.
    of: usize,
    /// Text of each cell.
    cells: Vec<String>,
}

/// A column that is shown.
struct ShownColumn {
    /// Its place in the table; `None` for bars.
    at: Option<usize>,
    numeric: bool,
    heading: String,
    width: usize,
    prose: bool,
}

impl ShownTable {
    /// Formats cells and chooses the columns that fit the page.
    fn of(table: &Table, page: &mut TextPage<'_>) -> ShownTable {
        let lang = page.lang();
        let wanted = table.shown(Form::Terminal);
        let units: Vec<ByteUnit> = wanted.iter().map(|&at| plain::unit(table, at)).collect();
        let columns: Vec<Column> = wanted.iter().map(|&at| table.columns[at]).collect();
        let headings = wanted.iter().zip(&units).map(|(&at, unit)| plain::heading(table, at, *unit, lang));
        let headings: Vec<String> = headings.collect();
        let text = |row: &TableRow, at: usize, unit| {
            let indent = "  ".repeat(if at == 0 { row.depth } else { 0 });
            format!("{indent}{}", plain::text(&row.cells[at], unit, lang))
        };
        let format_row = |row| wanted.iter().zip(&units).map(|(&at, unit)| text(row, at, *unit)).collect();
        let rows: Vec<Vec<String>> = table.rows.iter().map(format_row).collect();
        let natural: Vec<usize> = (0..wanted.len())
            .map(|at| rows.iter().map(|row| width(&row[at])).fold(width(&headings[at]), usize::max))
            .collect();
        let widths = layout(&columns, &natural, page.width());
        page.columns_left_out |= widths.iter().any(Option::is_none);
        let kept = |row: Vec<String>| row.into_iter().zip(&widths).filter_map(|(cell, width)| width.and(Some(cell)));
        let rows = rows.into_iter().enumerate().map(|(of, row)| ShownRow { of, cells: kept(row).collect() }).collect();
        let shown = wanted.iter().zip(headings).zip(&columns).zip(&widths);
        let columns = shown.filter_map(|(((&at, heading), column), width)| {
            Some(ShownColumn { at: Some(at), numeric: column.numeric, heading, width: (*width)?, prose: column.prose })
        });
        ShownTable { columns: columns.collect(), rows }
    }

    /// Puts bars after the first column that may have them, in the room that is left.
    fn add_bars(&mut self, table: &Table, page: usize) {
        let used = self.columns.iter().map(|column| column.width + GAP).sum::<usize>();
        let left = page.saturating_sub(used).min(*BARS.end());
        let may = |column: &ShownColumn| column.at.is_some_and(|at| table.columns[at].bars.has(Form::Terminal));
        let Some(place) = self.columns.iter().position(may).filter(|_| BARS.contains(&left)) else { return };
        let Some(at) = self.columns[place].at else { return };
        let shares: Vec<u64> = table.rows.iter().map(|row| millionths(&row.cells[at])).collect();
        let most = shares.iter().copied().max().unwrap_or_default();
        let columns = u8::try_from(left).unwrap_or_default();
        for (row, share) in self.rows.iter_mut().zip(shares) {
            row.cells.insert(place + 1, bar::line(share, most, columns));
        }
        let bars = ShownColumn { at: None, numeric: false, heading: String::new(), width: left, prose: false };
        self.columns.insert(place + 1, bars);
    }

    /// Divides rows whose sentences are wider than their column into lines.
    fn continue_prose(&mut self, table: &Table) {
        let columns = &self.columns;
        let divide = |row: ShownRow| {
            let is_name = |at: usize| {
                let cell = table.rows.get(row.of).and_then(|row| row.cells.get(at));
                matches!(cell, Some(Cell::Name(Name::Key(_) | Name::Pattern(_) | Name::Plain(_))))
            };
            let continues = |column: &ShownColumn| column.prose && !column.at.is_some_and(is_name);
            let is_wide = |(cell, column): (&String, &ShownColumn)| continues(column) && width(cell) > column.width;
            if !row.cells.iter().zip(columns).any(is_wide) {
                return vec![row];
            }
            let cells: Vec<Vec<String>> = row
                .cells
                .iter()
                .zip(columns)
                .map(|(cell, column)| if continues(column) { wrap(cell, column.width) } else { vec![cell.clone()] })
                .collect();
            let lines = cells.iter().map(Vec::len).max().unwrap_or_default();
            let line = |at: usize| cells.iter().map(|cell| cell.get(at).cloned().unwrap_or_default()).collect();
            (0..lines).map(|at| ShownRow { of: row.of, cells: line(at) }).collect()
        };
        self.rows = std::mem::take(&mut self.rows).into_iter().flat_map(divide).collect();
    }

    /// Lays the table out in lines.
    fn laid_out(&self) -> comfy_table::Table {
        let fitted = |cell: &str, column: &ShownColumn| fit(cell, column.width).into_owned();
        let fitted_row = |row: &ShownRow| -> Vec<String> {
            row.cells.iter().zip(&self.columns).map(|(cell, column)| fitted(cell, column)).collect()
        };
        let mut table = comfy_table::Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
        table.set_header(self.columns.iter().map(|column| fitted(&column.heading, column)).collect::<Vec<_>>());
        table.add_rows(self.rows.iter().map(fitted_row));
        for (at, column) in self.columns.iter().enumerate() {
            let Some(shown) = table.column_mut(at) else { continue };
            let gap = if at == 0 { 0 } else { GAP };
            shown.set_padding((as_u16(gap), 0));
            shown.set_constraint(ColumnConstraint::Absolute(Width::Fixed(as_u16(column.width + gap))));
            shown.set_cell_alignment(if column.numeric { CellAlignment::Right } else { CellAlignment::Left });
        }
        table
    }

    /// Returns what stands out in a row, from left to right; `first` is for its first column.
    fn spans(&self, row: &TableRow, at: usize, first: Option<Style>) -> Vec<Span> {
        let (mut spans, mut from) = (Vec::new(), 0);
        for (column, text) in self.columns.iter().zip(&self.rows[at].cells) {
            let text = fit(text, column.width);
            let whole = |style| Span { from, to: from + column.width, style };
            let cell = column.at.map(|at| &row.cells[at]);
            match (cell, first.filter(|_| from == 0)) {
                // The rest of a cell above.
                _ if text.is_empty() => {}
                (_, Some(style)) => spans.push(whole(style)),
                (None | Some(Cell::Bar(..)), None) => spans.push(whole(Style::Accent)),
                (Some(Cell::Severity(severity)), None) => spans.push(whole(Style::of_severity(*severity))),
                (Some(Cell::Name(Name::Pattern(_))), None) => {
                    spans.extend(placeholders(&text).map(|(start, end)| Span {
                        from: from + start,
                        to: from + end,
                        style: Style::Accent,
                    }));
                }
                (Some(_), None) => {}
            }
            from += column.width + GAP;
        }
        spans
    }
}

/// Returns a share in millionths, for a bar; zero of a cell that is no share.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; NaN becomes 0")]
fn millionths(cell: &Cell) -> u64 {
    const WHOLE: u32 = 1_000_000;
    match cell {
        Cell::Share(fraction) => (fraction.clamp(0.0, 1.0) * f64::from(WHOLE)) as u64,
        Cell::ShareOf(part, whole) => {
            let share = u128::from(*part) * u128::from(WHOLE) / u128::from((*whole).max(1));
            u64::try_from(share).unwrap_or(u64::MAX)
        }
        _ => 0,
    }
}

/// Returns the columns of each placeholder of a pattern: `{int}`, `{*}`.
fn placeholders(pattern: &str) -> impl Iterator<Item = (usize, usize)> {
    pattern.match_indices('{').filter_map(|(at, _)| {
        let rest = &pattern[at..];
        let end = rest.find('}')?;
        let inside = &rest[1..end];
        let named = !inside.is_empty() && inside.chars().all(|c| c.is_ascii_lowercase() || c == '*');
        let from = width(&pattern[..at]);
        named.then_some((from, from + end + 1))
    })
}

/// Converts a width of [`layout`], which keeps widths under that of the page, a `u16`, wherever that is possible at all.
fn as_u16(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// Returns the width of each column, `None` for those dropped. First texts are shortened to their least, then columns that can be
/// spared are dropped, then texts lose more than that, and at last columns are dropped from the right: a figure is shown whole or
/// not at all.
fn layout(columns: &[Column], natural: &[usize], page: usize) -> Vec<Option<usize>> {
    let mut kept = vec![true; columns.len()];
    let capped = |kept: &[bool], cap: usize, floor: Option<usize>| -> Vec<Option<usize>> {
        let width = |at: usize| match columns[at].least {
            None => natural[at],
            Some(least) => natural[at].min(cap.max(floor.unwrap_or(least))),
        };
        (0..columns.len()).map(|at| kept[at].then(|| width(at))).collect()
    };
    while total(&capped(&kept, 0, None)) > page {
        let spare = (0..columns.len()).filter(|&at| kept[at] && columns[at].spare > 0);
        let Some(dropped) = spare.max_by_key(|&at| columns[at].spare) else { break };
        let pair = columns[dropped].pair;
        (0..columns.len())
            .filter(|&at| at == dropped || pair != 0 && columns[at].pair == pair)
            .for_each(|at| kept[at] = false);
    }
    let floor = (total(&capped(&kept, 0, None)) > page).then_some(MIN_WIDTH);
    while total(&capped(&kept, 0, floor)) > page {
        let Some(last) = (1..columns.len()).rfind(|&at| kept[at]) else { break };
        kept[last] = false;
    }
    let fits = |cap: &usize| total(&capped(&kept, *cap, floor)) <= page;
    let cap = (0..=page).rev().find(fits).unwrap_or(0);
    capped(&kept, cap, floor)
}

fn total(widths: &[Option<usize>]) -> usize {
    let shown = widths.iter().flatten();
    shown.clone().sum::<usize>() + GAP * shown.count().saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::TableOptions;
    use crate::render::words::heads::same;
    use crate::report::Text;
    use crate::units::Bytes;

    fn print(table: &Table, width: u16) -> String {
        let mut out = Vec::new();
        super::print(table, &mut TextPage::new(&mut out, width, TableOptions::default())).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn sample() -> Table {
        let rows = [("user:用户:0123456789", 1_234_u64, 20 << 20, Some("yes")), ("b", 5, 1, None)];
        Table::of("", &rows, 2)
            .depths(|(_, _, memory, _)| usize::from(*memory > 1))
            .column(Column::text(same("key")).shrink(10), |(key, ..)| *key)
            .column(Column::number(same("keys")), |(_, keys, ..)| *keys)
            .column(Column::number(same("memory")), |(_, _, memory, _)| Bytes(*memory))
            .column(Column::text(same("note")).spare(1), |(.., note)| *note)
            .build()
    }

    #[test]
    fn a_column_has_one_unit_named_in_its_heading() {
        let expected = "\
key                      keys  memory MiB  note
───────────────────────────────────────────────
  user:用户:0123456789  1,234        20.0  yes
b                           5        <0.1  –
";
        assert_eq!(print(&sample(), 80), expected);
    }

    #[test]
    fn names_are_shortened_before_columns_are_dropped() {
        let expected = "\
key                 keys  memory MiB  note
──────────────────────────────────────────
  user:…123456789  1,234        20.0  yes
b                      5        <0.1  –
";
        assert_eq!(print(&sample(), 42), expected);
        assert!(!print(&sample(), 32).contains("note"));
    }

    #[test]
    fn a_pair_of_columns_is_left_out_together() {
        let table = Table::of("", &[("a", 6_000_u64, 5_000_u64)], 1)
            .column(Column::text(same("rule")), |(rule, ..)| *rule)
            .column(Column::number(same("worst")).spare(2).pair(1), |(_, worst, _)| *worst)
            .column(Column::number(same("allowed")).spare(2).pair(1), |(.., allowed)| *allowed)
            .column(Column::text(same("what")).spare(1), |_| "many")
            .build();
        let head = |width| print(&table, width).lines().next().unwrap_or_default().to_owned();
        assert_eq!([30, 20, 9].map(head), ["rule  worst  allowed  what", "rule  what", "rule"]);
    }

    #[test]
    fn a_column_is_explained_where_it_is_shown() {
        let mut table = sample();
        table.explain(same("note"), Text { en: "Note: a remark.", zh: "说明" });
        assert!(print(&table, 80).ends_with("–\nNote: a remark.\n"));
        assert!(!print(&table, 32).contains("remark"));
    }

    #[test]
    fn sentences_continue_on_the_next_line() {
        let table = Table::of("", &[("a", "no more than 52.6 % of it", 7_u64), ("b", "short", 8)], 2)
            .column(Column::text(same("id")), |(id, ..)| *id)
            .column(Column::text(same("what")).shrink(10).prose(), |(_, what, _)| *what)
            .column(Column::number(same("keys")), |(.., keys)| *keys)
            .build();
        let expected = "\
id  what          keys
──────────────────────
a   no more than     7
    52.6 % of it
b   short            8
";
        assert_eq!(print(&table, 22), expected);
    }

    #[test]
    fn a_name_among_sentences_loses_its_middle() {
        let rows = [Cell::from("none of them expires"), Cell::plain("leaderboard:spending")];
        let table =
            Table::of("", &rows, 2).column(Column::text(same("which")).shrink(10).prose(), Clone::clone).build();
        assert_eq!(print(&table, 12), "which\n────────────\nnone of them\nexpires\nleader…nding\n");
    }

    #[test]
    fn figures_are_shown_whole_or_not_at_all() {
        let expected = "\
key         keys
────────────────
  us…6789  1,234
b              5
";
        assert_eq!(print(&sample(), 16), expected);
        assert_eq!(print(&sample(), 3).lines().last(), Some("b"));
    }

    #[test]
    fn a_column_without_figures_is_not_written() {
        let table = Table::of("", &["x"], 1)
            .column(Column::text(same("a")), |text| *text)
            .column(Column::number(same("b")), |_| Cell::Absent)
            .build();
        assert_eq!(print(&table, 80), "a\n─\nx\n");
    }

    #[test]
    fn a_table_without_rows_is_not_written() {
        let table = Table::of("", &[0_u64; 0], 1).column(Column::number(same("a")), |n| *n).build();
        assert_eq!(print(&table, 80), "");
    }
}
