//! Tables: columns with hints on layout, and rows of raw cells.

use super::{Cell, Form, Forms, More};
use crate::report::Text;

/// Emphasis of a row or a paragraph.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tone {
    /// None.
    #[default]
    Plain,
    /// A sum, a heading.
    Strong,
    /// A detail of little weight.
    Faint,
    /// A finding.
    Warning,
    /// Figures are in doubt.
    Alarm,
}

/// A column: its heading, and hints for backends on how to lay it out.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Heading.
    pub heading: Text,
    /// Set if cells are aligned to the right.
    pub numeric: bool,
    /// Width in characters down to which texts may be shortened; `None` forbids shortening.
    pub least: Option<usize>,
    /// Order in which columns give way on a narrow page, the highest first; those with 0 stay.
    pub spare: u8,
    /// Columns with the same number say something only together: none of them is left out alone. 0 for a column by itself.
    pub pair: u8,
    /// Explanation below the table.
    pub note: Option<Text>,
    /// True if the column holds sentences, which continue on the next line instead of losing their middle. Names in such
    /// a column still lose theirs.
    pub prose: bool,
    /// Least number of units that the largest value should have.
    pub units: u64,
    /// Forms that draw bars beside the shares of the column.
    pub bars: Forms,
    /// Forms that show the column.
    forms: Forms,
}

impl Column {
    /// Returns a left-aligned column.
    pub const fn text(heading: Text) -> Column {
        Column {
            heading,
            numeric: false,
            least: None,
            spare: 0,
            pair: 0,
            note: None,
            prose: false,
            units: 10,
            bars: Forms::NONE,
            forms: Forms::ALL,
        }
    }

    /// Returns a right-aligned column.
    pub const fn number(heading: Text) -> Column {
        Column { numeric: true, ..Column::text(heading) }
    }

    /// Allows shortening to `least` characters.
    pub const fn shrink(self, least: usize) -> Column {
        Column { least: Some(least), ..self }
    }

    /// Continues cells on the next line where they would be shortened.
    pub const fn prose(self) -> Column {
        Column { prose: true, ..self }
    }

    /// Allows leaving the column out, the highest number first.
    pub const fn spare(self, spare: u8) -> Column {
        Column { spare, ..self }
    }

    /// Keeps or leaves out the column together with those of the same number.
    pub const fn pair(self, pair: u8) -> Column {
        Column { pair, ..self }
    }

    /// Draws bars beside the shares of the column, where there is room.
    pub const fn bars(self) -> Column {
        self.bars_in(Forms::ALL)
    }

    /// Draws bars beside the shares of the column in some forms.
    pub const fn bars_in(self, forms: Forms) -> Column {
        Column { bars: forms, ..self }
    }

    /// Prefers a smaller unit, for values of very different size.
    pub const fn wide_range(self) -> Column {
        Column { units: 1_000, ..self }
    }

    /// Shows the column in some forms only.
    pub const fn only(self, forms: Forms) -> Column {
        Column { forms, ..self }
    }
}

/// A row.
#[derive(Debug, Clone, Default)]
pub struct TableRow {
    /// Emphasis.
    pub tone: Tone,
    /// Levels of a tree above it.
    pub depth: usize,
    /// A cell for each column.
    pub cells: Vec<Cell>,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// Description for readers who cannot see the heading above.
    pub label: String,
    /// Columns.
    pub columns: Vec<Column>,
    /// Rows, each with a cell for each column.
    pub rows: Vec<TableRow>,
    /// Rows of the report that are left out here.
    pub hidden: u64,
    /// Flags that show the hidden rows.
    pub more: More,
    /// Rows that not even the report has.
    pub unlisted: u64,
    /// Words to open the table with, where a form can fold it.
    pub fold: Option<String>,
    /// Set if the order of rows has no meaning of its own, so that a reader may change it.
    pub sortable: bool,
    /// Set if rows are facts: a word and its value.
    pub pairs: bool,
    /// Set to leave out the rule under the headings on a terminal.
    pub dense: bool,
}

impl Table {
    /// Returns a table of the first `most` items. Columns are added with [`TableOf::column`].
    pub fn of<T>(label: impl Into<String>, items: &[T], most: usize) -> TableOf<'_, T> {
        let shown = items.get(..most).unwrap_or(items);
        let table = Table {
            label: label.into(),
            columns: Vec::new(),
            rows: vec![TableRow::default(); shown.len()],
            hidden: (items.len() - shown.len()) as u64,
            more: More::Top,
            unlisted: 0,
            fold: None,
            sortable: true,
            pairs: false,
            dense: false,
        };
        TableOf { items: shown, table }
    }

    /// Sets how many rows there are anywhere, listed or not.
    pub fn out_of(mut self, all: u64) -> Table {
        self.unlisted = all.saturating_sub(self.rows.len() as u64 + self.hidden);
        self
    }

    /// Sets how many rows there are anywhere, if the report knows: `all` is 0 in reports of earlier versions. Without it, `are_others`
    /// says whether there are rows that the report does not list.
    pub fn out_of_known(self, all: u64, are_others: bool) -> Table {
        match (all, are_others) {
            (1.., _) => self.out_of(all),
            (0, true) => Table { more: More::Open, ..self },
            (0, false) => self,
        }
    }

    /// Returns how many rows are left out here that the way to more shows: JSON has those of the report only.
    pub fn rest(&self) -> u64 {
        if self.more == More::Json { self.hidden } else { self.hidden.saturating_add(self.unlisted) }
    }

    /// Folds the table under these words.
    pub fn folded(mut self, words: impl Into<String>) -> Table {
        self.fold = Some(words.into());
        self
    }

    /// Adds a column with a cell for each row.
    pub fn push_column(&mut self, column: Column, cells: Vec<Cell>) {
        self.columns.push(column);
        self.rows.iter_mut().zip(cells).for_each(|(row, cell)| row.cells.push(cell));
    }

    /// Explains a column below the table, where the column is shown.
    pub fn explain(&mut self, heading: Text, note: Text) {
        for column in self.columns.iter_mut().filter(|column| column.heading == heading) {
            column.note = Some(note);
        }
    }

    /// Keeps the order of rows.
    pub fn in_order(mut self) -> Table {
        self.sortable = false;
        self
    }

    /// Returns the positions of columns that a form shows and that have a figure in any row.
    pub fn shown(&self, form: Form) -> Vec<usize> {
        let empty = |cell: Option<&Cell>| matches!(cell, None | Some(Cell::Absent | Cell::Blank));
        let filled = |at: usize| self.rows.iter().any(|row| !empty(row.cells.get(at)));
        (0..self.columns.len()).filter(|&at| self.columns[at].forms.has(form) && filled(at)).collect()
    }

    /// Returns the explanations of the columns that a form shows.
    pub fn notes(&self, form: Form) -> impl Iterator<Item = Text> {
        self.shown(form).into_iter().filter_map(|at| self.columns[at].note)
    }
}

/// Builder of a table: each column comes with the function that fills it.
#[derive(Debug)]
pub struct TableOf<'t, T> {
    items: &'t [T],
    table: Table,
}

impl<'t, T> TableOf<'t, T> {
    /// Adds a column and its cell in every row.
    pub fn column<C: Into<Cell>>(mut self, column: Column, cell: impl Fn(&'t T) -> C) -> Self {
        self.table.columns.push(column);
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.cells.push(cell(item).into());
        }
        self
    }

    /// Gives rows their emphasis.
    pub fn tones(mut self, tone: impl Fn(&'t T) -> Tone) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.tone = tone(item);
        }
        self
    }

    /// Gives rows their depth.
    pub fn depths(mut self, depth: impl Fn(&'t T) -> usize) -> Self {
        for (row, item) in self.table.rows.iter_mut().zip(self.items) {
            row.depth = depth(item);
        }
        self
    }

    /// Returns the table.
    pub fn build(self) -> Table {
        self.table
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::words::heads::{self, same};

    #[test]
    fn columns_fill_rows_and_count_what_is_left_out() {
        let table = Table::of("", &[3_u64, 1, 2], 2)
            .column(Column::number(heads::KEYS), |n| *n)
            .column(Column::number(same("none")), |_| Cell::Absent)
            .column(Column::number(heads::MEMORY).only(Forms::HTML), |n| Cell::Id(*n))
            .build()
            .out_of(10);
        assert_eq!(table.rows[1].cells, [Cell::Count(1), Cell::Absent, Cell::Id(1)]);
        assert_eq!((table.hidden, table.unlisted), (1, 7));
        assert_eq!((table.shown(Form::Terminal), table.shown(Form::Html)), (vec![0], vec![0, 2]));
    }
}
