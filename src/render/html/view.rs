//! View of a document for the templates: sections of blocks, with all figures formatted.

use std::borrow::Borrow;

use super::cells::{HtmlCell, cell};
use super::charts::{ClassColumns, SplitBar, StripView};
use super::findings::{FindingView, FindingsView};
use super::prose::HtmlProse;
use super::treemap::Treemap;
use crate::render::document::{Block, Column, Fields, Form, More, Prose, Section, Table};
use crate::render::words::say;
use crate::render::{Lang, human, key_text};

/// A section of the page, with its place in the list of contents.
#[derive(Debug)]
pub struct SectionView {
    /// Anchor.
    pub id: &'static str,
    /// Heading.
    pub title: String,
    /// Sentences below the heading.
    pub lead: Vec<HtmlProse>,
    /// Blocks.
    pub blocks: Vec<BlockView>,
}

/// A block of the page.
#[derive(Debug)]
pub enum BlockView {
    /// A heading.
    Heading(String),
    /// Text.
    Text(HtmlProse),
    /// Remarks, one a line.
    Notes(Vec<HtmlProse>),
    /// A table.
    Table(TableView),
    /// The map of prefixes, which the head of the page shows.
    Treemap(Treemap),
    /// Findings with their controls.
    Findings(FindingsView),
    /// Division of a whole.
    Split(SplitBar),
    /// Columns over classes.
    Columns(ClassColumns),
    /// Colours over slots.
    Strip(StripView),
}

impl SectionView {
    /// Returns the view of a section, unless the page has nothing to show of it.
    pub fn of(section: &Section, map: usize, lang: Lang) -> Option<SectionView> {
        section.is_shown(Form::Html).then(|| SectionView {
            id: section.id,
            title: key_text::fit(&section.title.plain(), 120).into_owned(),
            lead: section.lead.iter().map(HtmlProse::from).collect(),
            blocks: section.blocks(Form::Html).flat_map(|block| BlockView::of(block, map, lang)).collect(),
        })
    }
}

impl BlockView {
    /// Returns what the page shows of a block.
    fn of(block: &Block, map: usize, lang: Lang) -> Vec<BlockView> {
        match block {
            Block::Heading(text) => vec![BlockView::Heading(text.clone())],
            Block::Paragraph(_, text) => vec![BlockView::Text(text.into())],
            Block::Labelled(label, text) => {
                let mut prose = HtmlProse::from((*label).to_owned());
                prose.0.extend(HtmlProse::from(text).0);
                vec![BlockView::Text(prose)]
            }
            Block::Notes(notes, hidden) => {
                let more = More::Json.sentence(*hidden, 0, notes.len(), lang).as_ref().map(HtmlProse::from);
                vec![BlockView::Notes(notes.iter().map(HtmlProse::from).chain(more).collect())]
            }
            Block::Fields(fields) => vec![BlockView::Table(TableView::of(&field_table(fields), lang))],
            Block::Table(table) if table.rows.is_empty() => Vec::new(),
            Block::Table(table) => {
                let notes = table.notes(Form::Html).map(|note| BlockView::Text(lang.pick(note).to_owned().into()));
                let view = BlockView::Table(TableView::of(table, lang).open(OPEN, lang));
                std::iter::once(view).chain(notes).collect()
            }
            Block::Tree(tree) => {
                let table = TableView::of(&tree.table(lang), lang).open(OPEN_OF_TREE, lang);
                let map = Treemap::of(tree, map, lang).map(BlockView::Treemap);
                map.into_iter().chain([BlockView::Table(table)]).collect()
            }
            Block::Findings(list) => {
                let views = list.iter().enumerate().map(|(at, finding)| FindingView::of(at, finding, lang));
                vec![BlockView::Findings(FindingsView { list: views.collect(), rest: rest(list.len(), OPEN, lang) })]
            }
            Block::Split(split) => vec![BlockView::Split(SplitBar::of(split))],
            Block::Classes(classes) => vec![BlockView::Columns(ClassColumns::of(classes, lang))],
            Block::Strip(strip) => vec![BlockView::Strip(StripView::of(strip, lang))],
            Block::Script(steps) => {
                let step = |(command, effect): &(String, String)| Prose::from(format!("`{command}` {effect}"));
                vec![BlockView::Notes(steps.iter().map(|it| HtmlProse::from(&step(it))).collect())]
            }
            // Left out by `Section::blocks`.
            Block::Hints(_) => Vec::new(),
        }
    }
}

/// Returns names and values as a table that opens on demand.
fn field_table(fields: &Fields) -> Table {
    use crate::render::document::Cell;
    use crate::report::Text;
    const FIELD: Text = Text { en: "field", zh: "字段" };
    const VALUE: Text = Text { en: "value", zh: "值" };
    Table::of(&fields.title, &fields.list, usize::MAX)
        .column(Column::text(FIELD), |(name, _)| Cell::words(name))
        .column(Column::text(VALUE), |(_, value)| Cell::words(value))
        .build()
        .in_order()
        .folded(&fields.title)
}

/// Rows of a list that are open from the beginning.
pub(super) const OPEN: usize = 10;
/// Rows of the table of prefixes that are open: those of one prefix follow each other.
const OPEN_OF_TREE: usize = 30;

/// Returns the words that open the rows beyond those that are open from the beginning.
pub(super) fn rest(rows: usize, open: usize, lang: Lang) -> Option<String> {
    let more = human::count(rows.saturating_sub(open) as u64);
    (rows > open).then(|| say!(lang, "{more} more", "其余 {more} 项"))
}

/// A table of the page.
#[derive(Debug)]
pub struct TableView {
    /// Description.
    pub label: String,
    /// Columns.
    pub columns: Vec<ColumnView>,
    /// Rows, each with a cell for each column.
    pub rows: Vec<Vec<HtmlCell>>,
    /// Class that tells the style sheet how many rows are open from the beginning.
    pub class: &'static str,
    /// Words that open the other rows.
    pub rest: Option<String>,
    /// How to see rows that are not on the page.
    pub more: Option<HtmlProse>,
    /// Words that open the table.
    pub fold: Option<String>,
    /// Set if the reader may reorder the rows.
    pub sortable: bool,
    /// Set if rows are facts: a name and its value.
    pub pairs: bool,
}

impl TableView {
    /// Returns the view of a table, without columns that say nothing.
    pub fn of(table: &Table, lang: Lang) -> TableView {
        let shown = table.shown(Form::Html);
        let rows = table.rows.iter();
        TableView {
            label: table.label.clone(),
            columns: shown.iter().map(|&at| ColumnView::of(&table.columns[at], lang)).collect(),
            rows: rows.map(|row| shown.iter().map(|&at| cell(table, row, at, lang)).collect()).collect(),
            class: "",
            rest: None,
            more: table
                .more
                .sentence(table.hidden, table.unlisted, table.rows.len(), lang)
                .as_ref()
                .map(HtmlProse::from),
            fold: table.fold.clone(),
            sortable: table.sortable,
            pairs: table.pairs,
        }
    }

    /// Closes the rows beyond the first `open`, unless the table as a whole is closed.
    fn open(mut self, open: usize, lang: Lang) -> TableView {
        if self.fold.is_none() {
            self.rest = rest(self.rows.len(), open, lang);
            self.class = match (&self.rest, open) {
                (None, OPEN_OF_TREE) => " tree",
                (None, _) => "",
                (Some(_), OPEN_OF_TREE) => " long tree",
                (Some(_), _) => " long",
            };
        }
        self
    }

    /// Returns cells beside their columns.
    pub fn cells<'t>(&'t self, row: &'t [HtmlCell]) -> impl Iterator<Item = (&'t HtmlCell, &'t ColumnView)> {
        row.iter().zip(&self.columns)
    }
}

/// A column of the page.
#[derive(Debug)]
pub struct ColumnView {
    /// Heading.
    pub head: &'static str,
    /// Class.
    pub class: &'static str,
}

impl ColumnView {
    fn of(column: &Column, lang: Lang) -> ColumnView {
        let class = match (column.numeric, column.spare > 0) {
            (false, false) => "t",
            (true, false) => "n",
            (false, true) => "t spare",
            (true, true) => "n spare",
        };
        ColumnView { head: lang.pick(column.heading), class }
    }
}

/// Returns a part in thousandths of the whole: at most a thousand, and at least one unless it is zero.
pub fn permille(part: u64, whole: u64) -> u64 {
    if whole == 0 || part == 0 {
        return 0;
    }
    let permille = u128::from(part.min(whole)) * 1000 / u128::from(whole);
    u64::try_from(permille).unwrap_or(1000).max(1)
}

/// Returns thousandths as an SVG length: `43.2%`.
pub fn percent(permille: impl Borrow<u64>) -> String {
    let permille = permille.borrow();
    match permille % 10 {
        0 => format!("{}%", permille / 10),
        rest => format!("{}.{rest}%", permille / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_thousandths_and_never_vanish() {
        assert_eq!((permille(1, 1_000_000), permille(0, 5), permille(5, 0), permille(7, 5)), (1, 0, 0, 1000));
        assert_eq!(permille(u64::MAX, u64::MAX), 1000);
        assert_eq!((percent(432), percent(1000), percent(1)), ("43.2%".into(), "100%".into(), "0.1%".into()));
    }

    #[test]
    fn rows_beyond_the_first_are_closed_and_counted() {
        let table = |rows: u64| {
            let rows: Vec<u64> = (0..rows).collect();
            let table = Table::of("", &rows, 2_000).column(Column::number(crate::render::words::heads::KEYS), |n| *n);
            TableView::of(&table.build(), Lang::En).open(OPEN, Lang::En)
        };
        assert_eq!((table(1_210).rest.as_deref(), table(1_210).class), (Some("1,200 more"), " long"));
        assert_eq!((table(10).rest, table(10).class), (None, ""));
    }
}
