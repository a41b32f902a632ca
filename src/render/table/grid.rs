//! One table: its cells are made text with one unit a column, then columns are dropped and texts shortened until it
//! fits the page.

use std::io;
use std::ops::RangeInclusive;

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, LineStyle, Table, TableStyle, Width};

use super::bar;
use super::page::{Page, Span, Tone};
use crate::render::human::{self, ByteUnit};
use crate::render::key_text::{self, fit, width};
use crate::render::words::heads;
use crate::render::{Lang, markdown};
use crate::report::Text;
use crate::units::Bytes;

/// Columns between two columns.
const GAP: usize = 2;

/// What a shortened text keeps when all else did not help.
const LEAST: usize = 4;

/// A rule under the headings; space between columns.
const STYLE: TableStyle = TableStyle::new().header_separator(LineStyle::none().fill('─'));

/// One cell, raw.
#[derive(Debug, Clone)]
pub(in crate::render) enum Cell {
    /// Escaped text.
    Text(String),
    /// The escaped name of a key, a pattern or the like: what strangers chose.
    Name(String),
    Count(u64),
    Bytes(u64),
    /// A fraction of 1.
    Share(f64),
    /// One number as a part of another.
    ShareOf(u64, u64),
    Absent,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Cell::Text(text.to_owned())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(count: u64) -> Self {
        Cell::Count(count)
    }
}

impl From<Bytes> for Cell {
    fn from(bytes: Bytes) -> Self {
        Cell::Bytes(bytes.0)
    }
}

impl Cell {
    /// What strangers named, escaped here.
    pub fn name(raw: &str) -> Cell {
        Cell::Name(key_text::text(raw).into_owned())
    }

    /// Text that may hold anything, escaped here.
    pub fn text(raw: &str) -> Cell {
        Cell::Text(key_text::text(raw).into_owned())
    }

    fn format(&self, unit: ByteUnit) -> String {
        match self {
            Cell::Text(text) | Cell::Name(text) => text.clone(),
            Cell::Count(n) => human::count(*n),
            Cell::Bytes(n) => unit.format(*n),
            Cell::Share(fraction) => human::share(*fraction),
            Cell::ShareOf(part, whole) => human::share_of(*part, *whole),
            Cell::Absent => human::ABSENT.to_owned(),
        }
    }

    /// A share in millionths, for a bar; of what is no share, nothing.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped; NaN becomes 0")]
    fn share(&self) -> u64 {
        const WHOLE: u32 = 1_000_000;
        match self {
            // In range by the clamp; what is no number becomes 0.
            Cell::Share(fraction) => (fraction.clamp(0.0, 1.0) * f64::from(WHOLE)) as u64,
            Cell::ShareOf(part, whole) => {
                let share = u128::from(*part) * u128::from(WHOLE) / u128::from((*whole).max(1));
                u64::try_from(share).unwrap_or(u64::MAX)
            }
            Cell::Text(_) | Cell::Name(_) | Cell::Count(_) | Cell::Bytes(_) | Cell::Absent => 0,
        }
    }
}

/// How one column is laid out.
#[derive(Debug, Clone, Copy)]
pub(in crate::render) struct Column {
    heading: Text,
    numeric: bool,
    /// Shortened down to this width before anything is dropped; `None` is never shortened.
    least: Option<usize>,
    /// Columns with the highest number are dropped first, those with 0 never.
    spare: u8,
    /// The column's largest value is at least this many of its unit.
    units: u64,
    /// Whether bars may stand behind it.
    bars: bool,
    paint: Paint,
}

/// What of a column's cells stands out where there is colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::render) enum Paint {
    Nothing,
    /// All of it.
    Accent,
    /// All of it, by the severity that it names.
    Severity,
    /// The placeholders of a pattern.
    Placeholders,
}

/// Columns of the longest bar beside a share, and of the shortest that is worth its room.
const BARS: RangeInclusive<usize> = 6..=16;

impl Column {
    /// A left-aligned column.
    pub const fn text(heading: Text) -> Self {
        Column { heading, numeric: false, least: None, spare: 0, units: 10, bars: false, paint: Paint::Nothing }
    }

    /// A right-aligned column. Of bytes the heading is completed with the unit.
    pub const fn number(heading: Text) -> Self {
        Column { numeric: true, ..Column::text(heading) }
    }

    /// May be shortened to `least` columns.
    pub const fn shrink(self, least: usize) -> Self {
        Column { least: Some(least), ..self }
    }

    /// May be dropped, the highest number first.
    pub const fn spare(self, spare: u8) -> Self {
        Column { spare, ..self }
    }

    /// A column of shares, with bars behind it where the page has them and there is room. Only the first such has.
    pub const fn bars(self) -> Self {
        Column { bars: true, ..self }
    }

    /// Stands out where there is colour.
    pub const fn painted(self, paint: Paint) -> Self {
        Column { paint, ..self }
    }

    /// Values of very different size: takes a smaller unit.
    pub const fn wide_range(self) -> Self {
        Column { units: 1_000, ..self }
    }
}

/// A table in the making.
#[derive(Debug, Clone)]
pub(in crate::render) struct Grid {
    columns: Vec<Column>,
    rows: Vec<(Tone, Vec<Cell>)>,
}

impl Grid {
    pub fn new(columns: impl Into<Vec<Column>>) -> Self {
        Grid { columns: columns.into(), rows: Vec::new() }
    }

    /// Adds a row: a cell for each column.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.toned(Tone::Plain, cells);
    }

    /// Adds a row with an emphasis.
    pub fn toned(&mut self, tone: Tone, cells: impl Into<Vec<Cell>>) {
        let cells = cells.into();
        debug_assert_eq!(cells.len(), self.columns.len());
        self.rows.push((tone, cells));
    }

    /// Writes the table without columns that have no figure in any row; nothing when it has no rows.
    pub fn print(&self, page: &mut Page<'_>) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        if page.is_markdown() {
            return self.print_markdown(page);
        }
        let units: Vec<ByteUnit> = (0..self.columns.len()).map(|at| self.unit(at)).collect();
        let headings: Vec<String> =
            (0..self.columns.len()).map(|at| self.heading(at, units[at], page.lang())).collect();
        let rows: Vec<Vec<String>> = self.rows.iter().map(|(_, cells)| format_row(cells, &units)).collect();
        let natural: Vec<usize> = (0..self.columns.len())
            .map(|at| rows.iter().map(|row| width(&row[at])).fold(width(&headings[at]), usize::max))
            .collect();

        let vacant = |at: usize| self.rows.iter().all(|(_, cells)| matches!(cells[at], Cell::Absent));
        let filled: Vec<bool> = (0..self.columns.len()).map(|at| !vacant(at)).collect();
        let widths = layout(&self.columns, &natural, &filled, page.width());
        page.columns_left_out |= widths.iter().zip(&filled).any(|(width, filled)| width.is_none() && *filled);
        let mut shown = Shown { columns: self.columns.clone(), widths, headings, rows };
        if page.has_bars() && self.rows.len() > 1 {
            self.add_bars(&mut shown, page.width());
        }
        for (at, line) in shown.table().lines().enumerate() {
            match at.checked_sub(2).and_then(|at| self.rows.get(at).map(|(tone, _)| (*tone, at))) {
                None => page.line(if at == 0 { Tone::Bold } else { Tone::Faint }, &line)?,
                // A warning is about what the row is named after; figures stay legible.
                Some((Tone::Warning, row)) => page.spans(Tone::Plain, &line, &shown.spans(row, Some(Tone::Warning)))?,
                Some((Tone::Plain, row)) => page.spans(Tone::Plain, &line, &shown.spans(row, None))?,
                Some((tone, _)) => page.line(tone, &line)?,
            }
        }
        Ok(())
    }

    /// Puts bars behind the first column that may have them, in the room that is left.
    fn add_bars(&self, shown: &mut Shown, page: usize) {
        let left = page.saturating_sub(total(&shown.widths) + GAP).min(*BARS.end());
        let may = |at: &usize| self.columns[*at].bars && shown.widths[*at].is_some();
        let (Some(at), true) = ((0..self.columns.len()).find(may), BARS.contains(&left)) else { return };
        let shares: Vec<u64> = self.rows.iter().map(|(_, cells)| cells[at].share()).collect();
        let most = shares.iter().copied().max().unwrap_or_default();
        let columns = u8::try_from(left).unwrap_or_default();
        for (row, share) in shown.rows.iter_mut().zip(shares) {
            row.insert(at + 1, bar::line(share, most, columns));
        }
        shown.columns.insert(at + 1, Column::text(heads::NONE).painted(Paint::Accent));
        shown.headings.insert(at + 1, String::new());
        shown.widths.insert(at + 1, Some(left));
    }

    /// The same for Markdown: whole names, every column, no emphasis.
    fn print_markdown(&self, page: &mut Page<'_>) -> io::Result<()> {
        let filled = |at: &usize| !self.rows.iter().all(|(_, cells)| matches!(cells[*at], Cell::Absent));
        let columns: Vec<(usize, ByteUnit)> =
            (0..self.columns.len()).filter(filled).map(|at| (at, self.unit(at))).collect();
        let lang = page.lang();
        let heads = columns.iter().map(|&(at, unit)| markdown::cell(&self.heading(at, unit, lang))).collect();
        let numeric: Vec<bool> = columns.iter().map(|&(at, _)| self.columns[at].numeric).collect();
        let rows = self.rows.iter().map(|(_, cells)| {
            let text = |&(at, unit): &(usize, ByteUnit)| match &cells[at] {
                Cell::Name(name) => markdown::name(name),
                cell => markdown::cell(&cell.format(unit)),
            };
            columns.iter().map(text).collect()
        });
        page.markdown_table(&markdown::table(heads, &numeric, rows))
    }

    fn unit(&self, at: usize) -> ByteUnit {
        let bytes = self.rows.iter().filter_map(|(_, cells)| match cells[at] {
            Cell::Bytes(n) => Some(n),
            _ => None,
        });
        ByteUnit::largest_with(bytes.max().unwrap_or(0), self.columns[at].units)
    }

    fn heading(&self, at: usize, unit: ByteUnit, lang: Lang) -> String {
        let holds_bytes = self.rows.iter().any(|(_, cells)| matches!(cells[at], Cell::Bytes(_)));
        let heading = lang.pick(self.columns[at].heading);
        if holds_bytes { format!("{heading} {}", unit.name()) } else { heading.to_owned() }
    }
}

/// A table as it is shown.
struct Shown {
    columns: Vec<Column>,
    /// None for columns that are left out.
    widths: Vec<Option<usize>>,
    headings: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Shown {
    fn table(&self) -> Table {
        let Shown { columns, widths, headings, rows } = self;
        let kept = |row: &[String]| -> Vec<String> {
            row.iter().zip(widths).filter_map(|(cell, width)| width.map(|w| fit(cell, w).into_owned())).collect()
        };
        let mut table = Table::new();
        table.load_style(STYLE).set_content_arrangement(ContentArrangement::Disabled).force_no_tty();
        table.set_header(kept(headings));
        table.add_rows(rows.iter().map(|row| kept(row)));
        let columns = columns.iter().zip(widths).filter_map(|(column, width)| width.map(|w| (column, w)));
        for (at, (column, width)) in columns.enumerate() {
            let Some(shown) = table.column_mut(at) else { continue };
            let gap = if at == 0 { 0 } else { GAP };
            shown.set_padding((as_u16(gap), 0));
            shown.set_constraint(ColumnConstraint::Absolute(Width::Fixed(as_u16(width + gap))));
            shown.set_cell_alignment(if column.numeric { CellAlignment::Right } else { CellAlignment::Left });
        }
        table
    }
}

impl Shown {
    /// What stands out in a row, from left to right; `first` is for its first column.
    fn spans(&self, row: usize, first: Option<Tone>) -> Vec<Span> {
        let (mut spans, mut from) = (Vec::new(), 0);
        for ((column, width), cell) in self.columns.iter().zip(&self.widths).zip(&self.rows[row]) {
            let Some(width) = *width else { continue };
            let text = fit(cell, width);
            let whole = |tone| Span { from, to: from + width, tone };
            match (column.paint, first.filter(|_| from == 0)) {
                (_, Some(tone)) => spans.push(whole(tone)),
                (Paint::Nothing, None) => {}
                (Paint::Accent, None) => spans.push(whole(Tone::Accent)),
                (Paint::Severity, None) => spans.push(whole(Tone::of_severity(text.trim_end()))),
                (Paint::Placeholders, None) => spans.extend(placeholders(&text).map(|(start, end)| Span {
                    from: from + start,
                    to: from + end,
                    tone: Tone::Accent,
                })),
            }
            from += width + GAP;
        }
        spans
    }
}

/// The columns of each placeholder of a pattern: `{int}`, `{*}`.
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

fn format_row(cells: &[Cell], units: &[ByteUnit]) -> Vec<String> {
    cells.iter().zip(units).map(|(cell, unit)| cell.format(*unit)).collect()
}

/// Widths come out of [`layout`], which keeps them under the page's, a `u16`, wherever that is possible at all.
fn as_u16(width: usize) -> u16 {
    u16::try_from(width).unwrap_or(u16::MAX)
}

/// The width of each of the `wanted` columns, `None` for the others and those dropped. First texts are shortened to their least, then columns are
/// dropped, then texts lose more than that.
fn layout(columns: &[Column], natural: &[usize], wanted: &[bool], page: usize) -> Vec<Option<usize>> {
    let mut kept = wanted.to_vec();
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
        kept[dropped] = false;
    }
    let floor = (total(&capped(&kept, 0, None)) > page).then_some(LEAST);
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

    fn print(grid: &Grid, width: u16) -> String {
        let mut out = Vec::new();
        grid.print(&mut Page::new(&mut out, width, TableOptions::default())).unwrap();
        String::from_utf8(out).unwrap()
    }

    fn sample() -> Grid {
        let mut grid = Grid::new([
            Column::text(same("key")).shrink(10),
            Column::number(same("keys")),
            Column::number(same("memory")),
            Column::text(same("note")).spare(1),
        ]);
        grid.row([Cell::from("  user:用户:0123456789"), 1_234_u64.into(), Bytes(20 << 20).into(), "yes".into()]);
        grid.row([Cell::from("b"), 5_u64.into(), Bytes(1).into(), Cell::Absent]);
        grid
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
    fn what_cannot_be_shortened_further_is_kept_within_the_page() {
        for line in print(&sample(), 20).lines() {
            assert!(width(line) <= 20, "{line}");
        }
    }

    #[test]
    fn a_column_without_figures_is_not_written() {
        let mut grid = Grid::new([Column::text(same("a")), Column::number(same("b"))]);
        grid.row([Cell::from("x"), Cell::Absent]);
        assert_eq!(print(&grid, 80), "a\n─\nx\n");
    }

    #[test]
    fn a_table_without_rows_is_not_written() {
        assert_eq!(print(&Grid::new([Column::text(same("a"))]), 80), "");
    }
}
