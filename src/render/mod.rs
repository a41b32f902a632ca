//! Renderers: a report as bytes for people and programs.
//!
//! For people, `sections` builds a `document` of the report once, and the backends `terminal`, `markdown` and `html` write it.
//! For programs, `json`, `csv` and `prometheus` write the figures of the report themselves.

mod bar;
pub mod csv;
mod document;
pub mod draft;
pub mod escape_filter;
pub mod extent;
pub mod formatted;
pub mod html;
pub mod human;
pub mod json;
pub mod key_rows;
pub mod key_text;
pub mod lang;
pub mod markdown;
pub mod passage;
mod plain;
pub mod prometheus;
pub mod rows;
pub mod rules;
pub mod salvage;
pub mod schema;
mod sections;
pub mod shell;
pub mod terminal;
pub mod value;
pub mod words;
mod wrap;

use std::io::{self, Write};

use crate::report::Report;

pub use csv::CsvRenderer;
pub use extent::Extent;
pub use html::{HtmlRenderer, PageNames};
pub use json::{JsonRenderer, JsonSectionsRenderer};
pub use lang::Lang;
pub use markdown::MarkdownRenderer;
pub use prometheus::PrometheusRenderer;
pub use terminal::{TableOptions, TableRenderer};

/// Writer of one form of a report.
pub trait Renderer {
    /// Writes the whole report. The only failures are those of `out`; a closed pipe is one of them.
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;
}

/// Form of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: a headline, then tables.
    #[default]
    Table,
    /// For programs: everything, as `docs/report-schema.md` describes it.
    Json,
    /// To be attached and shown: one self-contained page.
    Html,
    /// For wikis and tickets: GitHub-flavoured Markdown.
    Markdown,
    /// For spreadsheets and databases: one list of the report.
    Csv(csv::CsvSection),
    /// For Prometheus: figures to follow from night to night.
    Prometheus,
}

impl Format {
    /// Every format, the default first; CSV with its default section.
    pub const ALL: [Format; 6] = [
        Format::Table,
        Format::Json,
        Format::Html,
        Format::Markdown,
        Format::Csv(csv::CsvSection::Patterns),
        Format::Prometheus,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Html => "html",
            Format::Markdown => "markdown",
            Format::Csv(_) => "csv",
            Format::Prometheus => "prometheus",
        }
    }

    /// Returns the endings of its files' names, the usual one first.
    pub const fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::Table => &["txt"],
            Format::Json => &["json"],
            Format::Html => &["html", "htm"],
            Format::Markdown => &["md", "markdown"],
            Format::Csv(_) => &["csv"],
            Format::Prometheus => &["prom"],
        }
    }

    /// Returns the format of files whose names end in this.
    pub fn from_extension(extension: &str) -> Option<Format> {
        let known = |format: &Format| format.extensions().iter().any(|own| own.eq_ignore_ascii_case(extension));
        Format::ALL.into_iter().find(known)
    }

    /// Returns the format of that name.
    #[cfg(any(test, feature = "internals"))]
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Returns the renderer of this format. `table` is for those that people read; its rows count for
    /// [`Format::Prometheus`], too.
    pub fn renderer(self, table: TableOptions) -> Box<dyn Renderer> {
        match self {
            Format::Table => Box::new(TableRenderer::new(table)),
            Format::Json => Box::new(JsonRenderer),
            Format::Html => Box::new(HtmlRenderer::new(table.lang).showing(table.extent)),
            Format::Markdown => Box::new(MarkdownRenderer::new(table.rows, table.lang).showing(table.extent)),
            Format::Csv(section) => Box::new(CsvRenderer::new(section)),
            Format::Prometheus => Box::new(PrometheusRenderer::new(table.rows, Vec::new())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name() {
        for format in Format::ALL {
            assert_eq!(Format::from_name(format.name()), Some(format));
        }
        assert_eq!(Format::from_name("xml"), None);
    }
}
