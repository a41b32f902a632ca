//! The terminal: the answer first, then sections, then commands to run next.
//!
//! Every line fits the width, so nothing wraps.

mod blocks;
pub(super) mod page;
pub(super) mod table;

use std::io::{self, Write};

use super::document::{Document, Form, Scope};
use super::sections;
use super::{Extent, Lang, Renderer};
use crate::report::{Options, Report};
use page::TextPage;

/// Width if the caller names none: output into a file or a pipe.
const DEFAULT_WIDTH: u16 = 120;

/// Least width: with less there is no room for figures beside a name.
const MIN_WIDTH: u16 = 60;

/// Options of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableOptions {
    /// Columns of the terminal, at least 60; `None` gives 120, the same on every machine.
    pub width: Option<u16>,
    /// Set to shorten nothing and break no line, however long it is.
    pub wide: bool,
    /// Set for bold type and colour by ANSI sequences.
    pub ansi: bool,
    /// Set for bars beside shares, where there is room.
    pub bars: bool,
    /// Most rows of a list. The JSON form has them all.
    pub rows: usize,
    /// Language of all that does not come from the snapshot.
    pub lang: Lang,
    /// How much is shown.
    pub extent: Extent,
}

impl Default for TableOptions {
    /// Returns the options for a file or a pipe: 120 columns, no colour, no bars, ten rows a list, English, all sections.
    fn default() -> Self {
        TableOptions {
            width: None,
            wide: false,
            ansi: false,
            bars: false,
            rows: Options::USUAL_ROWS,
            lang: Lang::En,
            extent: Extent::Full,
        }
    }
}

impl TableOptions {
    /// Returns the width that the page is laid out for.
    pub(super) fn columns(&self) -> u16 {
        if self.wide { u16::MAX } else { self.margin() }
    }

    /// Returns the width of the rules between sections.
    fn margin(&self) -> u16 {
        self.width.unwrap_or(DEFAULT_WIDTH).max(MIN_WIDTH)
    }
}

/// Writes [`Format::Table`](super::Format::Table).
#[derive(Debug, Clone, Copy, Default)]
pub struct TableRenderer {
    options: TableOptions,
}

impl TableRenderer {
    /// Returns a renderer of pages with these options.
    pub fn new(options: TableOptions) -> Self {
        TableRenderer { options }
    }
}

impl Renderer for TableRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let TableOptions { rows, lang, extent, .. } = self.options;
        let document = sections::document(report, Scope::text(rows, lang), extent, Form::Terminal);
        write_document(&document, self.options, out)
    }
}

/// Writes a document.
pub(super) fn write_document(document: &Document, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let page = &mut TextPage::new(out, options.columns(), options);
    blocks::headline(&document.headline, page)?;
    document.sections.iter().try_for_each(|section| blocks::section(section, page))
}

/// Writes a document as tables, without its headline.
pub(super) fn write_sections(document: &Document, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
    let page = &mut TextPage::new(out, options.columns(), options);
    document.sections.iter().try_for_each(|section| blocks::section(section, page))
}
