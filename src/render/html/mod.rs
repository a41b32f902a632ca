//! HTML form of a report: one file, to be attached, mailed, printed.
//!
//! It loads nothing and stores nothing: style and script stand in it, and its own Content-Security-Policy allows those two by
//! their hashes and nothing else. Without the script everything is there to be read, and the map of prefixes opens level by level;
//! the script adds keys, filter and order.
//!
//! ```text
//! Document ─► view: sections of blocks ─► templates/*.html ─► bytes
//!             figures as text, names bounded  escape everything
//! ```
//!
//! Names are untrusted. They are made visible by [`super::key_text`], bounded by `prose`, escaped by the templates,
//! which escape whatever they are not told to leave alone, and stand in `<bdi>`, so that a right-to-left name does not
//! reorder the text beside it.

mod cells;
mod charts;
mod csp;
mod findings;
mod first;
mod headline;
mod prose;
mod squarify;
mod treemap;
mod trend;
mod view;

use std::io::{self, Write};

use askama::Template;

use super::document::{Document, Form, Scope};
use super::escape_filter::{EscapeWriter, Escapes};
use super::{Extent, Lang, Renderer, sections};
use crate::report::{Comparison, Report};
use cells::HtmlCell;
use first::FirstScreen;
use headline::HeadView;
use prose::Piece;
use view::{BlockView, SectionView};

/// Size limit of the file, whatever the snapshot: mail servers and wikis reject more.
const MAX_BYTES: usize = 1_000_000;

/// Rows of lists and areas of the map.
#[derive(Debug, Clone, Copy)]
struct Caps {
    /// Rows of a list.
    rows: usize,
    /// Rows of a list within a row of another.
    inner: usize,
    /// Areas of the map of prefixes.
    map: usize,
}

/// Rows of a list at most, whatever `--top` says: more do not fit a page of that size in any case.
const MAX_ROWS: usize = 1_000;

/// Caps to try in turn until the page is small enough, after those for the rows of `--top`; the last always suffices.
const CAPS: [Caps; 3] = [
    Caps { rows: 30, inner: 12, map: 240 },
    Caps { rows: 20, inner: 6, map: 120 },
    Caps { rows: 8, inner: 3, map: 40 },
];

/// Style of the page. Every figure is in the text, so a reader without it misses nothing.
const STYLE: &str = include_str!("style.css");

/// Script of the page. It reads the page and nothing else.
const SCRIPT: &str = include_str!("script.js");

/// Writes reports as one self-contained page.
#[derive(Debug, Clone, Default)]
pub struct HtmlRenderer {
    lang: Lang,
    extent: Extent,
    names: PageNames,
    rows: usize,
}

/// Title of the page, and the place that the snapshot is from.
#[derive(Debug, Clone, Default)]
pub struct PageNames {
    /// Title instead of the name of the file.
    pub title: Option<String>,
    /// Environment, such as production.
    pub environment: Option<String>,
}

impl HtmlRenderer {
    /// Returns a renderer of pages in this language.
    pub fn new(lang: Lang) -> Self {
        HtmlRenderer { lang, ..HtmlRenderer::default() }
    }

    /// Sets which sections are shown; a short page has all of them.
    pub fn showing(self, extent: Extent) -> Self {
        HtmlRenderer { extent, ..self }
    }

    /// Sets the rows that a list may have, as far as the page has room for them.
    pub fn with_rows(self, rows: usize) -> Self {
        HtmlRenderer { rows, ..self }
    }

    /// Sets the title and the environment.
    pub fn named(self, names: PageNames) -> Self {
        HtmlRenderer { names, ..self }
    }
}

impl Renderer for HtmlRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write_small(self.rows, |caps| html(report, self, caps), out)
    }
}

impl HtmlRenderer {
    /// Writes a comparison as a page.
    pub fn render_comparison(&self, comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
        let html = |caps: Caps| {
            let document = sections::comparison::document(comparison, &caps.scope(self.lang));
            page(&document, caps.map, comparison.rdblens, &self.names)
        };
        // A comparison has as many rows as were asked for.
        write_small(MAX_ROWS, html, out)
    }
}

impl Caps {
    fn scope(self, lang: Lang) -> Scope {
        let Caps { rows, inner, map } = self;
        Scope { lang, rows, many: 2 * rows, inner, nodes: map, apart: false }
    }
}

/// Writes the page with the most rows, up to `rows`, that is small enough.
fn write_small(rows: usize, html: impl Fn(Caps) -> io::Result<String>, out: &mut dyn Write) -> io::Result<()> {
    let mut page = String::new();
    let asked = [MAX_ROWS, 250, 100].map(|most| Caps { rows: rows.min(most), ..CAPS[0] });
    for caps in asked.into_iter().filter(|caps| caps.rows > CAPS[0].rows).chain(CAPS) {
        page = html(caps)?;
        if page.len() <= MAX_BYTES {
            break;
        }
    }
    write_filtered(&page, out)
}

fn write_filtered(page: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut filtered = EscapeWriter::new(Escapes::Page, out);
    filtered.write_all(page.as_bytes())?;
    filtered.finish()
}

/// Writes a document as a page. The caller bounds its lists.
pub(super) fn write_document(
    document: &Document,
    version: &str,
    names: &PageNames,
    out: &mut dyn Write,
) -> io::Result<()> {
    write_filtered(&page(document, CAPS[0].map, version, names)?, out)
}

/// Returns the page with lists of that length.
fn html(report: &Report, renderer: &HtmlRenderer, caps: Caps) -> io::Result<String> {
    let document = sections::document(report, caps.scope(renderer.lang), renderer.extent, Form::Html);
    page(&document, caps.map, &report.rdblens, &renderer.names)
}

/// Returns the page of a document.
fn page(document: &Document, map: usize, version: &str, names: &PageNames) -> io::Result<String> {
    let lang = document.lang;
    let sections: Vec<SectionView> =
        document.sections.iter().filter_map(|section| SectionView::of(section, map, lang)).collect();
    let page = HtmlPage {
        lang,
        headline: HeadView::of(&document.headline, &sections, lang).named(names),
        first: FirstScreen::of(&sections, lang),
        sections: &sections,
        policy: csp::policy(STYLE, SCRIPT),
        style: STYLE,
        script: SCRIPT,
        version,
    };
    page.render().map_err(io::Error::other)
}

/// The whole page.
#[derive(Template)]
#[template(path = "page.html")]
struct HtmlPage<'a> {
    lang: Lang,
    headline: HeadView,
    first: FirstScreen<'a>,
    sections: &'a [SectionView],
    policy: String,
    style: &'static str,
    script: &'static str,
    version: &'a str,
}
