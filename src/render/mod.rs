//! From a report to bytes somebody reads. A renderer adds form and nothing else: the order of rows and every figure
//! that two formats would share are in the report already.

pub mod draft;
pub mod html;
pub mod human;
pub mod json;
pub mod key_text;
pub mod lang;
pub mod rows;
pub mod rules;
pub mod table;
pub mod value;
pub mod words;
mod wrap;

use std::io::{self, Write};

use crate::report::Report;

pub use html::HtmlRenderer;
pub use json::JsonRenderer;
pub use lang::Lang;
pub use table::{TableOptions, TableRenderer, write_comparison};

/// One form of a report.
pub trait Renderer {
    /// Writes the whole report. The only failures are those of `out`; a closed pipe is one of them.
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()>;
}

/// The forms there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// For people: a headline, then tables.
    #[default]
    Table,
    /// For programs: everything, as `docs/report-schema.md` describes it.
    Json,
    /// To be attached and shown: one self-contained page.
    Html,
}

impl Format {
    /// Every format, the default first.
    pub const ALL: [Format; 3] = [Format::Table, Format::Json, Format::Html];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Json => "json",
            Format::Html => "html",
        }
    }

    /// The format of that name.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// What writes this format. `table` matters to [`Format::Table`] only, but for its language.
    pub fn renderer(self, table: TableOptions) -> Box<dyn Renderer> {
        match self {
            Format::Table => Box::new(TableRenderer::new(table)),
            Format::Json => Box::new(JsonRenderer),
            Format::Html => Box::new(HtmlRenderer::new(table.lang)),
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
