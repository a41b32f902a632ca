//! The report as one HTML file, to be attached, mailed, printed.
//!
//! It loads nothing and stores nothing: style and script stand in it, and its own Content-Security-Policy allows those two by
//! their hashes and nothing else. Without the script everything is there to be read, and the map of prefixes opens level by level;
//! the script adds keys, filter and order.
//!
//! ```text
//! Report ─► sections/* ─► view: sections of blocks ─► templates/*.html ─► bytes
//!           text.rs       names bounded, rows capped   escape everything
//! ```
//!
//! Names come from strangers. They are made visible by [`super::key_text`], bounded by `names`, escaped by the templates, which
//! escape whatever they are not told to leave alone, and stand in `<bdi>`, so that none turns round what is beside it.

mod charts;
mod csp;
mod names;
mod sections;
mod squarify;
mod text;
mod treemap;
mod view;

use std::io::{self, Write};

use askama::Template;

use super::{Lang, Renderer};
use crate::report::Report;
use names::Part;
use text::Headline;
use view::{Block, Caps, Cell, Section};

/// The file stays below this, whatever the snapshot: mail servers and wikis refuse more.
const MOST_BYTES: usize = 1_000_000;

/// Rows of the lists and places of the map. Where a report is too large with the first, the next is taken; with the last, no
/// report is.
const CAPS: [Caps; 3] = [
    Caps { rows: 30, inner: 12, map: 240 },
    Caps { rows: 20, inner: 6, map: 120 },
    Caps { rows: 8, inner: 3, map: 40 },
];

/// The page's look. Every figure is in the text, so a reader without it misses nothing.
const STYLE: &str = include_str!("style.css");

/// What the page can do. It reads the page and nothing else.
const SCRIPT: &str = include_str!("script.js");

/// Writes [`Format::Html`](super::Format::Html).
#[derive(Debug, Clone, Copy, Default)]
pub struct HtmlRenderer {
    lang: Lang,
}

impl HtmlRenderer {
    /// A renderer of pages in this language.
    pub fn new(lang: Lang) -> Self {
        HtmlRenderer { lang }
    }
}

impl Renderer for HtmlRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut page = String::new();
        for caps in CAPS {
            page = html(report, self.lang, caps)?;
            if page.len() <= MOST_BYTES {
                break;
            }
        }
        out.write_all(page.as_bytes())
    }
}

/// The page with lists of that length.
fn html(report: &Report, lang: Lang, caps: Caps) -> io::Result<String> {
    let sections = sections::all(report, lang, caps);
    let page = Page {
        lang,
        headline: Headline::of(report, &sections, lang),
        sections: &sections,
        policy: csp::policy(STYLE, SCRIPT),
        style: STYLE,
        script: SCRIPT,
        version: &report.rdblens,
    };
    page.render().map_err(io::Error::other)
}

/// The whole document.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a> {
    lang: Lang,
    headline: Headline,
    sections: &'a [Section],
    policy: String,
    style: &'static str,
    script: &'static str,
    version: &'a str,
}
