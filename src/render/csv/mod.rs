//! One list of the report as comma-separated values: raw numbers as in JSON, a heading for each column.
//!
//! Lines end in a line feed, fields are quoted as RFC 4180 has it. A text that a spreadsheet would take for a formula begins
//! with `'`, see [`key_text::csv`](super::key_text::csv); numbers are never quoted. The columns of a section keep their
//! names and places, new ones come last.

mod capacity;
mod comparison;
mod key_comparison;
mod rows;
mod section;
mod sheet;

use std::io::{self, Write};

use super::Renderer;
use crate::report::Report;
pub use capacity::CapacityList;
pub use comparison::ComparisonList;
pub use key_comparison::KeyComparisonList;
pub use section::CsvSection;
pub(super) use sheet::CsvRow;

/// Writes [`Format::Csv`](super::Format::Csv).
#[derive(Debug, Clone, Copy)]
pub struct CsvRenderer {
    section: CsvSection,
}

impl CsvRenderer {
    /// Returns a renderer of this section.
    pub fn new(section: CsvSection) -> Self {
        CsvRenderer { section }
    }
}

impl Renderer for CsvRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        self.section.sheet(report).write(out)
    }
}
