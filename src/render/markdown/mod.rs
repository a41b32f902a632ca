//! Markdown for wikis and tickets: GitHub-flavoured.

mod blocks;
mod escape;

use std::io::{self, Write};

use super::document::{Document, Form, Scope};
use super::escape_filter::{EscapeWriter, Escapes};
use super::{Extent, Lang, Renderer, sections};
use crate::report::{Options, Report};

/// Lines of a short page: what is pasted into an issue has to be read there.
const MAX_LINES: usize = 150;

/// Writes [`Format::Markdown`](super::Format::Markdown).
#[derive(Debug, Clone, Copy)]
pub struct MarkdownRenderer {
    rows: usize,
    lang: Lang,
    extent: Extent,
}

impl MarkdownRenderer {
    /// Returns a renderer of pages with at most this many rows in each list.
    pub fn new(rows: usize, lang: Lang) -> Self {
        MarkdownRenderer { rows, lang, extent: Extent::Full }
    }

    /// Sets how much is shown. A short page of lists of the usual length has at most [`MAX_LINES`] lines.
    pub fn showing(self, extent: Extent) -> Self {
        MarkdownRenderer { extent, ..self }
    }

    /// Returns the document as text.
    fn text(&self, document: &Document) -> io::Result<Vec<u8>> {
        let mut text = Vec::new();
        blocks::Writer::new(&mut text, document.lang).document(document)?;
        Ok(text)
    }
}

impl Renderer for MarkdownRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        let mut document = sections::document(report, Scope::text(self.rows, self.lang), self.extent, Form::Markdown);
        let mut text = self.text(&document)?;
        let is_limited = self.extent == Extent::Short && self.rows <= Options::USUAL_ROWS;
        // What matters least comes last, but for the commands at the end.
        while is_limited && memchr::memchr_iter(b'\n', &text).count() > MAX_LINES && document.sections.len() > 2 {
            document.sections.remove(document.sections.len() - 2);
            text = self.text(&document)?;
        }
        let mut filtered = EscapeWriter::new(Escapes::Text, out);
        filtered.write_all(&text)?;
        filtered.finish()
    }
}

/// Writes a document.
pub(super) fn write_document(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    let mut filtered = EscapeWriter::new(Escapes::Text, out);
    blocks::Writer::new(&mut filtered, document.lang).document(document)?;
    filtered.finish()
}
