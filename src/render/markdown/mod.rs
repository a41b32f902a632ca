//! Markdown for wikis and tickets: GitHub-flavoured.

mod blocks;
mod escape;

use std::io::{self, Write};

use super::document::{Document, Scope};
use super::gate::{Escapes, Gated};
use super::{Lang, Renderer, sections};
use crate::report::Report;

/// Writes [`Format::Markdown`](super::Format::Markdown).
#[derive(Debug, Clone, Copy)]
pub struct MarkdownRenderer {
    rows: usize,
    lang: Lang,
}

impl MarkdownRenderer {
    /// Returns a renderer of pages with at most this many rows in each list.
    pub fn new(rows: usize, lang: Lang) -> Self {
        MarkdownRenderer { rows, lang }
    }
}

impl Renderer for MarkdownRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write_document(&sections::document(report, Scope::text(self.rows, self.lang)), out)
    }
}

/// Writes a document.
pub(super) fn write_document(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut gated = Gated::new(Escapes::Text, out);
    blocks::Writer::new(&mut gated, document.lang).document(document)?;
    gated.finish()
}
