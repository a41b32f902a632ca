//! The report for people: the answer first, then a table a section, then what to run next.
//!
//! Every line fits the width, so nothing wraps. Text from the snapshot goes through [`super::key_text`], figures through
//! [`super::human`], and what is in no snapshot is in the language of the options. A section without an answer does not appear.

mod bar;
mod baseline;
mod compare;
mod distributions;
pub(super) mod findings;
pub(super) mod grid;
pub(super) mod growth;
mod hints;
pub(super) mod instance;
pub(super) mod keys;
pub(super) mod overview;
pub(super) mod page;
pub(super) mod patterns;
pub(super) mod policy;
pub(super) mod source;
pub(super) mod what_if;

use std::io::{self, Write};

use super::{Lang, Renderer};
use crate::report::{Options, Report};
pub use compare::write_comparison;
use page::Page;

/// Columns when the caller names none: output into a file or a pipe.
const DEFAULT_WIDTH: u16 = 120;

/// Narrower pages are laid out for this many columns: with less there is no room for figures beside a name.
const LEAST_WIDTH: u16 = 60;

/// How the page looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableOptions {
    /// Columns of the terminal, at least 60; `None` gives 120, the same on every machine.
    pub width: Option<u16>,
    /// Nothing is shortened and no line is broken, however long it becomes.
    pub wide: bool,
    /// Whether to set bold type and colour by ANSI sequences.
    pub ansi: bool,
    /// Whether shares have bars beside them, where there is room.
    pub bars: bool,
    /// The most rows of one list. The JSON form has them all.
    pub rows: usize,
    /// The language of all that does not come from the snapshot.
    pub lang: Lang,
}

impl Default for TableOptions {
    /// What a file or a pipe gets: 120 columns, no colour, no bars, ten rows a list, English.
    fn default() -> Self {
        TableOptions { width: None, wide: false, ansi: false, bars: false, rows: Options::USUAL_ROWS, lang: Lang::En }
    }
}

impl TableOptions {
    /// The columns that a page is laid out for.
    pub(super) fn columns(&self) -> u16 {
        if self.wide { u16::MAX } else { self.margin() }
    }

    /// Where rules between sections end.
    fn margin(&self) -> u16 {
        self.width.unwrap_or(DEFAULT_WIDTH).max(LEAST_WIDTH)
    }
}

/// Writes [`Format::Table`](super::Format::Table).
#[derive(Debug, Clone, Copy, Default)]
pub struct TableRenderer {
    options: TableOptions,
}

impl TableRenderer {
    /// A renderer of pages that look like this.
    pub fn new(options: TableOptions) -> Self {
        TableRenderer { options }
    }
}

/// What writes one section, or nothing if it is empty.
type Section = fn(&Report, &mut Page<'_>) -> io::Result<()>;

/// The sections from top to bottom.
const SECTIONS: [Section; 25] = [
    overview::problems,
    overview::headline,
    findings::findings,
    baseline::section,
    growth::section,
    policy::sections,
    source::files,
    source::server,
    instance::instance,
    source::databases,
    source::types,
    what_if::what_if,
    keys::big,
    keys::heaviest,
    keys::longest,
    keys::by_type,
    patterns::without_ttl,
    distributions::expiry,
    patterns::naming,
    patterns::prefixes,
    patterns::heaviest,
    distributions::access,
    distributions::slots,
    keys::streams,
    hints::notes_and_next_steps,
];

/// Writes all sections: what every form for people is made of.
pub(super) fn write_sections(report: &Report, page: &mut Page<'_>) -> io::Result<()> {
    SECTIONS.iter().try_for_each(|section| section(report, page))
}

impl Renderer for TableRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write_sections(report, &mut Page::new(out, self.options.columns(), self.options))
    }
}
