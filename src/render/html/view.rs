//! What the templates are given: sections of blocks, with all text and all figures in the form in which they are shown.

use std::borrow::{Borrow, Cow};

use super::charts::{Columns, Split, Strip};
use super::names::{self, Name, Part};
use super::sections::findings::FindingView;
use super::treemap::Treemap;
use crate::render::words::say;
use crate::render::{Lang, human};
use crate::report::Text;
use crate::units::Bytes;

/// How many rows are shown.
#[derive(Debug, Clone, Copy)]
pub struct Caps {
    /// Of a list.
    pub rows: usize,
    /// Of a list within a row of another.
    pub inner: usize,
    /// Places of the map of prefixes.
    pub map: usize,
}

/// A sentence or several, with names in it.
#[derive(Debug, Clone, Default)]
pub struct Prose(pub String);

impl Prose {
    /// Its pieces.
    pub fn parts(&self) -> Vec<Part<'_>> {
        names::parts(&self.0)
    }
}

impl<T: Into<String>> From<T> for Prose {
    fn from(text: T) -> Self {
        Prose(text.into())
    }
}

/// One part of the page, with its place in the list of contents.
#[derive(Debug)]
pub struct Section {
    /// Its anchor.
    pub id: &'static str,
    /// Its heading.
    pub title: Cow<'static, str>,
    /// What it says in words, below the heading.
    pub lead: Vec<Prose>,
    /// What it shows.
    pub blocks: Vec<Block>,
}

/// What a section is made of.
#[derive(Debug)]
pub enum Block {
    /// A heading.
    Title(&'static str),
    /// Text.
    Text(Prose),
    /// Remarks, one a line.
    Notes(Vec<Prose>),
    /// A table.
    Table(Table),
    /// The map of prefixes.
    Treemap(Treemap),
    /// Findings with their controls.
    Findings(Vec<FindingView>),
    /// How a whole divides.
    Split(Split),
    /// Columns over classes.
    Columns(Columns),
    /// Colours over slots.
    Strip(Strip),
}

/// A table.
#[derive(Debug)]
pub struct Table {
    /// What it shows, for those who cannot see the heading above.
    pub label: String,
    /// Its columns.
    pub columns: Vec<Column>,
    /// Its rows, each with a cell a column.
    pub rows: Vec<Vec<Cell>>,
    /// What is said of rows that are not shown.
    pub more: Option<String>,
    /// The table opens on demand, under these words.
    pub folded: Option<&'static str>,
    /// Whether the reader may order it.
    pub sortable: bool,
    /// Whether it is a list of facts, each a word and its value.
    pub pairs: bool,
}

impl Table {
    /// An empty table.
    pub fn new(label: impl Into<String>, columns: impl IntoIterator<Item = Column>) -> Table {
        let columns = columns.into_iter().collect();
        Table { label: label.into(), columns, rows: Vec::new(), more: None, folded: None, sortable: true, pairs: false }
    }

    /// The rows of the first items, and a word on the others. `all` is how many there are anywhere.
    pub fn fill<T>(mut self, items: &[T], most: usize, all: u64, lang: Lang, row: impl Fn(&T) -> Vec<Cell>) -> Table {
        self.rows.extend(items.iter().take(most).map(row));
        self.more = more(self.rows.len(), all.max(items.len() as u64), lang);
        self
    }

    /// The table under words that open it.
    pub fn folded(mut self, words: &'static str) -> Table {
        self.folded = Some(words);
        self
    }

    /// The table in the order that it has.
    pub fn in_order(mut self) -> Table {
        self.sortable = false;
        self
    }

    /// The table without columns that say nothing in any row.
    pub fn compact(mut self) -> Table {
        let says = |at: usize| self.rows.iter().any(|row| !matches!(row.get(at), None | Some(Cell::Absent)));
        let kept: Vec<bool> = (0..self.columns.len()).map(|at| at == 0 || says(at)).collect();
        let mut keep = kept.iter();
        self.columns.retain(|_| keep.next().is_none_or(|keep| *keep));
        for row in &mut self.rows {
            let mut keep = kept.iter();
            row.retain(|_| keep.next().is_none_or(|keep| *keep));
        }
        self
    }

    /// Cells beside their columns.
    pub fn cells<'t>(&'t self, row: &'t [Cell]) -> impl Iterator<Item = (&'t Cell, &'t Column)> {
        row.iter().zip(&self.columns)
    }
}

/// What is said of rows that are not shown.
pub fn more(shown: usize, all: u64, lang: Lang) -> Option<String> {
    let hidden = all.checked_sub(shown as u64).filter(|hidden| *hidden > 0)?;
    let hidden = human::count(hidden);
    Some(say!(lang, "{hidden} more are not shown.", "另有 {hidden} 个未显示。"))
}

/// A column.
#[derive(Debug)]
pub struct Column {
    /// Its heading.
    pub head: &'static str,
    number: bool,
    spare: bool,
}

impl Column {
    /// Of words and names.
    pub fn text(head: Text, lang: Lang) -> Column {
        Column { head: lang.pick(head), number: false, spare: false }
    }

    /// Of figures.
    pub fn number(head: Text, lang: Lang) -> Column {
        Column { number: true, ..Column::text(head, lang) }
    }

    /// Left out on a narrow screen.
    pub fn spare(self) -> Column {
        Column { spare: true, ..self }
    }

    /// Its class.
    pub fn class(&self) -> &'static str {
        match (self.number, self.spare) {
            (false, false) => "t",
            (true, false) => "n",
            (false, true) => "t spare",
            (true, true) => "n spare",
        }
    }
}

/// A cell.
#[derive(Debug)]
pub enum Cell {
    /// Nothing to say.
    Absent,
    /// Words.
    Text(String),
    /// Words that are pale: a rest, a sum of small things. So many levels deep.
    Faint(String, usize),
    /// A name, so many levels deep.
    Name(Name, usize),
    /// A figure; its raw value gives the order.
    Number(String, u64),
    /// A share with a bar as long as it is.
    Share(String, u64),
    /// A change; a bar to the left is less, to the right is more.
    Change(Change),
    /// How grave.
    Severity(String),
    /// A type, with its colour.
    Kind(&'static str),
    /// Sizes on a scale that all rows share.
    Range(Range),
}

/// How much more or less.
#[derive(Debug)]
pub struct Change {
    /// With its sign.
    pub shown: String,
    /// Where its bar begins: the middle, or before it.
    pub from: u64,
    /// How long its bar is; twice as much fills the half.
    pub tenths: u64,
    /// Whether it is less.
    pub less: bool,
}

/// Places of a row's sizes on a logarithmic scale, in tenths of a percent of its length.
#[derive(Debug)]
pub struct Range {
    /// Half of the keys are below.
    pub p50: u64,
    /// 99 of 100 are below.
    pub p99: u64,
    /// The largest.
    pub max: u64,
}

impl Range {
    /// From the median to all but one in a hundred.
    pub fn body(&self) -> u64 {
        self.p99.saturating_sub(self.p50).max(4)
    }
}

impl Cell {
    /// A name.
    pub fn name(name: Name) -> Cell {
        Cell::Name(name, 0)
    }

    /// A name of a pattern, if there is one.
    pub fn opt(text: Option<&str>) -> Cell {
        text.map_or(Cell::Absent, |text| Cell::name(Name::text(text)))
    }

    /// How many.
    pub fn count(n: u64) -> Cell {
        Cell::Number(human::count(n), n)
    }

    /// Bytes.
    pub fn bytes(bytes: Bytes) -> Cell {
        Cell::Number(human::bytes(bytes.0), bytes.0)
    }

    /// A part of a whole with its bar.
    pub fn share(part: u64, whole: u64) -> Cell {
        Cell::Share(human::share_of(part, whole), tenths(part, whole))
    }

    /// A part of a whole as a figure.
    pub fn portion(part: u64, whole: u64) -> Cell {
        Cell::Number(human::share_of(part, whole), tenths(part, whole))
    }

    /// How much more.
    pub fn change(from: u64, to: u64) -> Cell {
        let (half, less) = (tenths(from.abs_diff(to), from) / 2, to < from);
        let start = if less { 500 - half } else { 500 };
        Cell::Change(Change { shown: human::change(from, to), from: start, tenths: half, less })
    }

    /// Bytes more or less; those of the largest difference fill the half.
    pub fn difference(bytes: i64, largest: u64) -> Cell {
        let (half, less) = (tenths(bytes.unsigned_abs(), largest) / 2, bytes < 0);
        let start = if less { 500 - half } else { 500 };
        Cell::Change(Change { shown: human::signed(bytes), from: start, tenths: half, less })
    }
}

/// A part in thousandths of the whole, which is a thousand at most; something is one at least.
pub fn tenths(part: u64, whole: u64) -> u64 {
    if whole == 0 || part == 0 {
        return 0;
    }
    let thousandths = u128::from(part.min(whole)) * 1000 / u128::from(whole);
    u64::try_from(thousandths).unwrap_or(1000).max(1)
}

/// Thousandths as an SVG length: `43.2%`.
pub fn percent(tenths: impl Borrow<u64>) -> String {
    let tenths = tenths.borrow();
    match tenths % 10 {
        0 => format!("{}%", tenths / 10),
        rest => format!("{}.{rest}%", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::words::heads;

    #[test]
    fn columns_that_say_nothing_are_left_out() {
        let columns = [heads::KEY, heads::DB, heads::MEMORY].map(|head| Column::text(head, Lang::En));
        let mut table = Table::new("", columns);
        table.rows = vec![vec![Cell::Text("a".into()), Cell::Absent, Cell::count(1)]];
        let table = table.compact();
        assert_eq!(table.columns.iter().map(|column| column.head).collect::<Vec<_>>(), ["key", "memory"]);
        assert_eq!(table.rows[0].len(), 2);
    }

    #[test]
    fn parts_are_thousandths_and_never_vanish() {
        assert_eq!((tenths(1, 1_000_000), tenths(0, 5), tenths(5, 0), tenths(7, 5)), (1, 0, 0, 1000));
        assert_eq!(tenths(u64::MAX, u64::MAX), 1000);
        assert_eq!((percent(432), percent(1000), percent(1)), ("43.2%".into(), "100%".into(), "0.1%".into()));
    }

    #[test]
    fn rows_that_are_not_shown_are_counted() {
        assert_eq!(more(10, 1_210, Lang::En).as_deref(), Some("1,200 more are not shown."));
        assert_eq!(more(10, 10, Lang::En), None);
    }
}
