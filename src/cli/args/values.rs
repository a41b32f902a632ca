//! What flags take: names out of a list, sizes, shares.

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::policy::params::bytes;
use crate::render::csv::CsvSection;
use crate::render::prometheus;
use crate::render::schema::Described;

/// The form of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    Table,
    /// For programs: see docs/report-schema.md
    Json,
    /// To be attached and shown: one self-contained page
    Html,
    /// For wikis and tickets: GitHub-flavoured Markdown
    Markdown,
    /// For spreadsheets and databases: the list that --section names
    Csv,
    /// For Prometheus: a textfile for node_exporter
    Prometheus,
}

/// The form of a comparison.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ComparisonFormat {
    /// For people
    Table,
    /// For programs: see docs/compare.md
    Json,
}

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// One JSON object a line
    Ndjson,
    /// Comma-separated values with a header
    Csv,
    /// Columns with types, compressed: for DuckDB, pandas and the like
    Parquet,
}

/// For people or for programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// For people
    Text,
    /// For programs
    Json,
}

/// A JSON form that has a schema.
pub(super) fn described() -> impl TypedValueParser<Value = Described> {
    let names = PossibleValuesParser::new(Described::ALL.map(Described::name));
    names.map(|name| Described::from_name(&name).unwrap_or_default())
}

/// A list of the report.
pub(super) fn section() -> impl TypedValueParser<Value = CsvSection> {
    let names = CsvSection::ALL.iter().map(|section| PossibleValue::new(section.name()).help(section.what()));
    PossibleValuesParser::new(names).map(|name| CsvSection::from_name(&name).unwrap_or_default())
}

/// A label of Prometheus, `name=value`.
pub(super) fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as snapshot=cache-1")?;
    match prometheus::is_label(name) {
        true => Ok((name.to_owned(), value.to_owned())),
        false => {
            Err("a label's name is letters, digits and _, no digit first, and none that the metrics have".to_owned())
        }
    }
}

/// A number of bytes: `10240`, `10KB` (1024 each), `1MiB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    bytes(text).ok_or_else(|| "expected a number of bytes such as 10240, 10KB or 1MB".to_owned())
}

/// A part of the whole, 0 to 1.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a part of the whole between 0 and 1, such as 0.01".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("10240"), size("10KB"), size("1MiB")), (Ok(10_240), Ok(10_240), Ok(1 << 20)));
        assert!(size("ten").is_err() && size("99999999999999999999").is_err() && size("99999999999GB").is_err());
    }
}
