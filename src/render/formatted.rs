//! Documents other than reports in every form: comparisons of snapshots, comparisons key by key, and capacity plans.

use std::io::{self, Write};

use serde::Serialize;

use super::csv::{CapacityList, ComparisonList, KeyComparisonList};
use super::document::{Document, Scope};
use super::{
    Format, HtmlRenderer, Lang, PageNames, TableOptions, html, json, markdown, prometheus, sections, terminal,
};
use crate::report::key_comparison::KeyComparison;
use crate::report::{Capacity, Comparison};

/// Labels of every sample of Prometheus.
pub type Labels = Vec<(String, String)>;

/// Document that is written in every form.
///
/// Unless a type says otherwise, its page has as many rows as its table.
pub trait FormattedDocument: Serialize {
    /// List that CSV consists of.
    type List: Copy;

    /// Returns the version that made it.
    fn version(&self) -> &'static str;

    /// Returns it for people.
    fn document(&self, rows: usize, lang: Lang) -> Document;

    /// Writes one of its lists as CSV.
    fn write_list(&self, list: Self::List, out: &mut dyn Write) -> io::Result<()>;

    /// Writes its figures for Prometheus.
    fn write_metrics(&self, rows: usize, labels: Labels, out: &mut dyn Write) -> io::Result<()>;

    /// Writes it for the terminal.
    fn write_table(&self, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
        terminal::write_document(&self.document(options.rows, options.lang), options, out)
    }

    /// Writes it as a page.
    fn write_page(&self, rows: usize, lang: Lang, names: &PageNames, out: &mut dyn Write) -> io::Result<()> {
        html::write_document(&self.document(rows, lang), self.version(), names, out)
    }
}

/// Options of a document in any form.
#[derive(Debug, Clone)]
pub struct DocumentOptions<L> {
    /// Options of the table; its rows and language count for the other forms, too.
    pub table: TableOptions,
    /// List that CSV consists of.
    pub list: L,
    /// Names that HTML shows.
    pub names: PageNames,
    /// Labels for Prometheus.
    pub labels: Labels,
}

/// Writes a document in one form.
pub fn write<D: FormattedDocument>(
    document: &D,
    format: Format,
    options: &DocumentOptions<D::List>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let TableOptions { rows, lang, .. } = options.table;
    match format {
        Format::Table => document.write_table(options.table, out),
        Format::Json => json::write_pretty(document, out),
        Format::Html => document.write_page(rows, lang, &options.names, out),
        Format::Markdown => markdown::write_document(&document.document(rows, lang), out),
        Format::Csv(_) => document.write_list(options.list, out),
        Format::Prometheus => document.write_metrics(rows, options.labels.clone(), out),
    }
}

impl FormattedDocument for Comparison {
    type List = ComparisonList;

    fn version(&self) -> &'static str {
        self.rdblens
    }

    fn document(&self, rows: usize, lang: Lang) -> Document {
        sections::comparison::document(self, &Scope::text(rows, lang))
    }

    fn write_list(&self, list: ComparisonList, out: &mut dyn Write) -> io::Result<()> {
        list.write(self, out)
    }

    fn write_metrics(&self, rows: usize, labels: Labels, out: &mut dyn Write) -> io::Result<()> {
        prometheus::write_comparison(self, rows, labels, out)
    }

    // Its first section says what a headline would.
    fn write_table(&self, options: TableOptions, out: &mut dyn Write) -> io::Result<()> {
        terminal::write_sections(&self.document(options.rows, options.lang), options, out)
    }

    // A page has more rows, as many as keep it small.
    fn write_page(&self, _rows: usize, lang: Lang, names: &PageNames, out: &mut dyn Write) -> io::Result<()> {
        HtmlRenderer::new(lang).named(names.clone()).render_comparison(self, out)
    }
}

impl FormattedDocument for KeyComparison {
    type List = KeyComparisonList;

    fn version(&self) -> &'static str {
        self.rdblens
    }

    fn document(&self, rows: usize, lang: Lang) -> Document {
        sections::key_comparison::document(self, rows, lang)
    }

    fn write_list(&self, list: KeyComparisonList, out: &mut dyn Write) -> io::Result<()> {
        list.write(self, out)
    }

    fn write_metrics(&self, rows: usize, labels: Labels, out: &mut dyn Write) -> io::Result<()> {
        prometheus::write_key_comparison(self, rows, labels, out)
    }
}

impl FormattedDocument for Capacity {
    type List = CapacityList;

    fn version(&self) -> &'static str {
        self.rdblens
    }

    // The number of rows is an option of the plan itself.
    fn document(&self, _rows: usize, lang: Lang) -> Document {
        sections::capacity::document(self, lang)
    }

    fn write_list(&self, list: CapacityList, out: &mut dyn Write) -> io::Result<()> {
        list.write(self, out)
    }

    fn write_metrics(&self, _rows: usize, labels: Labels, out: &mut dyn Write) -> io::Result<()> {
        prometheus::write_capacity(self, labels, out)
    }
}
