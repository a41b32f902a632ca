//! Values of flags and their parsers: enums, sizes, shares, labels.

use std::num::ParseFloatError;
use std::ops::RangeInclusive;
use std::path::Path;

use clap::ValueEnum;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::policy::params::bytes;
use crate::render::Format;
use crate::render::csv::{CapacityList, ComparisonList, CsvSection, KeyComparisonList};
use crate::render::extent::SectionName;
use crate::render::prometheus;
use crate::render::schema::Described;
use crate::report::Options;

/// Format of a report, a comparison or a capacity plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// Tables for the terminal
    Table,
    // The help of each command names the document of its own form.
    Json,
    /// One self-contained HTML page
    Html,
    /// GitHub-flavoured Markdown
    Markdown,
    /// CSV of the list chosen with --section
    Csv,
    /// Metrics for the textfile collector of node_exporter
    Prometheus,
}

impl ReportFormat {
    /// Returns the form that is written; CSV is that of the default list.
    pub fn form(self) -> Format {
        match self {
            ReportFormat::Table => Format::Table,
            ReportFormat::Json => Format::Json,
            ReportFormat::Html => Format::Html,
            ReportFormat::Markdown => Format::Markdown,
            ReportFormat::Csv => Format::Csv(CsvSection::default()),
            ReportFormat::Prometheus => Format::Prometheus,
        }
    }
}

/// Returns the parser of `--format`; `document` describes the JSON form.
pub(super) fn report_format(document: &'static str) -> impl TypedValueParser<Value = ReportFormat> {
    let value = |format: &ReportFormat| {
        let value = format.to_possible_value()?;
        let is_json = *format == ReportFormat::Json;
        Some(if is_json { value.help(format!("JSON, see {document}")) } else { value })
    };
    let values = PossibleValuesParser::new(ReportFormat::value_variants().iter().filter_map(value));
    values.map(|name| ReportFormat::from_str(&name, false).unwrap_or(ReportFormat::Table))
}

/// Format of rows, one for each key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RowFormat {
    /// One JSON object per line
    Ndjson,
    /// Comma-separated values with a header
    Csv,
    /// Apache Parquet, typed and compressed
    Parquet,
}

impl RowFormat {
    /// Returns the format that the extension of a file name stands for.
    pub fn of_name(path: &Path) -> Option<RowFormat> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "ndjson" | "jsonl" => Some(RowFormat::Ndjson),
            "csv" => Some(RowFormat::Csv),
            "parquet" => Some(RowFormat::Parquet),
            _ => None,
        }
    }

    /// Name of the format.
    pub fn name(self) -> &'static str {
        match self {
            RowFormat::Ndjson => "ndjson",
            RowFormat::Csv => "csv",
            RowFormat::Parquet => "parquet",
        }
    }
}

/// Text or JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TextFormat {
    /// Plain text
    Text,
    /// JSON
    Json,
}

/// Parses the name of a JSON output that has a schema.
pub(super) fn described() -> impl TypedValueParser<Value = Described> {
    let names = PossibleValuesParser::new(Described::ALL.map(Described::name));
    names.map(|name| Described::from_name(&name).unwrap_or_default())
}

/// Parses the name of a section of the report.
pub(super) fn section() -> impl TypedValueParser<Value = SectionName> {
    let names = SectionName::all().map(|section| PossibleValue::new(section.name()).help(section.what()));
    PossibleValuesParser::new(names).try_map(|name| SectionName::from_name(&name).ok_or("no such section"))
}

/// A list of a comparison of snapshots, or of one key by key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparedList {
    /// A list of `compare`.
    Snapshots(ComparisonList),
    /// A list of `compare --keys`.
    Keys(KeyComparisonList),
}

impl ComparedList {
    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ComparedList::Snapshots(list) => list.name(),
            ComparedList::Keys(list) => list.name(),
        }
    }

    fn all() -> impl Iterator<Item = ComparedList> {
        let snapshots = ComparisonList::ALL.into_iter().map(ComparedList::Snapshots);
        snapshots.chain(KeyComparisonList::ALL.into_iter().map(ComparedList::Keys))
    }
}

/// Parses the name of a list of a comparison.
pub(super) fn compared_list() -> impl TypedValueParser<Value = ComparedList> {
    let names = PossibleValuesParser::new(ComparedList::all().map(ComparedList::name));
    names.try_map(|name| ComparedList::all().find(|list| list.name() == name).ok_or("no such list"))
}

/// Parses the name of a list of a capacity plan.
pub(super) fn capacity_list() -> impl TypedValueParser<Value = CapacityList> {
    let names = PossibleValuesParser::new(CapacityList::ALL.map(CapacityList::name));
    let list = |name: String| CapacityList::ALL.into_iter().find(|list| list.name() == name);
    names.map(move |name| list(name).unwrap_or_default())
}

/// Parses a Prometheus label, `name=value`.
pub(super) fn label(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("expected NAME=VALUE, such as snapshot=cache-1")?;
    if prometheus::is_label(name) {
        Ok((name.to_owned(), value.to_owned()))
    } else {
        Err("a label name has letters, digits and _, starts with no digit, and is not used by the metrics themselves"
            .to_owned())
    }
}

/// Returns the parser of `--top`.
pub(super) fn top() -> impl TypedValueParser<Value = u32> {
    whole(1..=u64::from(Options::MAX_TOP))
}

/// Returns the parser of a whole number in a range. The one of clap names neither the kind nor the range of what is expected in
/// words.
pub(super) fn whole<N>(range: RangeInclusive<u64>) -> impl TypedValueParser<Value = N>
where
    N: TryFrom<u64> + Clone + Send + Sync + 'static,
{
    move |text: &str| -> Result<N, String> {
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| N::try_from(number).ok()).ok_or_else(|| match (*range.start(), *range.end()) {
            (0, u64::MAX) => "must be a whole number".to_owned(),
            (least, most) => format!("must be {least} to {most}"),
        })
    }
}

/// Parses a number of bytes: `10240`, `10KB` (units of 1024), `1MiB`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    bytes(text).ok_or_else(|| "expected a number of bytes such as 10240, 10KB or 1MB".to_owned())
}

/// Parses one of several parts: `3/16`.
pub(super) fn shard(text: &str) -> Result<(u64, u64), String> {
    let numbers = text.split_once('/').and_then(|(number, count)| Some((number.parse().ok()?, count.parse().ok()?)));
    match numbers {
        Some((number, count)) if (1..=count).contains(&number) => Ok((number, count)),
        _ => Err("expected a part and the number of parts, such as 3/16".to_owned()),
    }
}

/// Parses one of several parts that count from 0, `0/16`, as [`shard`] does.
pub(super) fn shard_index(text: &str) -> Result<(u64, u64), String> {
    let parse = |text: &str| text.parse::<u64>().ok();
    let numbers = text.split_once('/').and_then(|(index, count)| Some((parse(index)?, parse(count)?)));
    match numbers {
        Some((index, count)) if index < count => Ok((index + 1, count)),
        _ => Err("expected an index from 0 and the number of parts, such as 0/16".to_owned()),
    }
}

/// Parses a share between 0 and 1, `0.01` or `1%`.
pub(super) fn share(text: &str) -> Result<f64, String> {
    match fraction(text) {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a share between 0 and 1, such as 0.01 or 1%".to_owned()),
    }
}

/// Parses a number or a percentage. The result is the number nearest to what is written: 0.7 divided by 100 is not 0.007.
fn fraction(text: &str) -> Result<f64, ParseFloatError> {
    match text.strip_suffix('%') {
        Some(percent) => format!("{}e-2", percent.trim()).parse(),
        None => text.parse(),
    }
}

/// Parses a share, `30%` or `0.3`, as thousandths below 1000.
pub(super) fn permille(text: &str) -> Result<u64, String> {
    match fraction(text).map(|share| share * 1000.0) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked to be between 0 and 1000")]
        Ok(permille) if (0.0..1000.0).contains(&permille.round()) => Ok(permille.round() as u64),
        _ => Err("expected a share below 100 %, such as 30% or 0.3".to_owned()),
    }
}

/// Parses a price of memory, `9.5` or `9.5/GB-month`.
pub(super) fn price(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix("/GB-month").unwrap_or(text);
    match number.trim().parse::<f64>() {
        Ok(price) if price.is_finite() && price >= 0.0 => Ok(price),
        _ => Err("expected a price for a GB of memory a month, such as 9.5/GB-month".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_prices_have_units() {
        assert_eq!((permille("30%"), permille("0.3"), permille("12.5 %")), (Ok(300), Ok(300), Ok(125)));
        assert_eq!((share("0.7%"), share("0.01"), share("100 %")), (Ok(0.007), Ok(0.01), Ok(1.0)));
        assert!(["7", "101%", "-1%", "%", "NaN", "1e1%"].iter().all(|text| share(text).is_err()));
        assert!(permille("100%").is_err() && permille("30").is_err() && permille("-1%").is_err());
        assert_eq!((price("9.5/GB-month"), price("9.5")), (Ok(9.5), Ok(9.5)));
        assert!(price("9.5/GB-hour").is_err() && price("-1").is_err() && price("inf").is_err());
    }

    #[test]
    fn sizes_have_units() {
        assert_eq!((size("10240"), size("10KB"), size("1MiB")), (Ok(10_240), Ok(10_240), Ok(1 << 20)));
        assert!(size("ten").is_err() && size("99999999999999999999").is_err() && size("99999999999GB").is_err());
    }
}
