//! A differing key as a row: a JSON object a line, comma-separated values, or a row of a Parquet file.

use std::io::{self, Write};

use serde::Serialize;

use super::csv::CsvRow;
use super::json;
#[cfg(feature = "parquet")]
use super::rows::{Columns, ParquetFile};
use super::rows::{RowFormat, as_base64, write_csv_record};
use crate::record::Kind;
use crate::report::base64;
use crate::report::key_comparison::{KeyChange, KeyDifference, KeyFacts};
use crate::units::{Bytes, Millis};

/// Columns of the CSV form.
pub const COLUMNS: [&str; 19] = [
    "change",
    "db",
    "key",
    "key_base64",
    "type_before",
    "type_after",
    "module_before",
    "module_after",
    "length_before",
    "length_after",
    "memory_before",
    "memory_after",
    "expires_at_before",
    "expires_at_after",
    "source_before",
    "source_after",
    "copies_before",
    "copies_after",
    "certain",
];

/// A differing key as every form has it.
#[derive(Debug, Serialize)]
pub struct DifferingRow<'a> {
    pub(super) change: &'a [KeyDifference],
    pub(super) db: u64,
    pub(super) key: Option<&'a str>,
    /// Bytes of the key, if they are not valid UTF-8.
    #[serde(rename = "key_base64", skip_serializing_if = "Option::is_none", serialize_with = "as_base64")]
    pub(super) key_bytes: Option<&'a [u8]>,
    #[serde(rename = "type_before")]
    pub(super) kind_before: Option<Kind>,
    #[serde(rename = "type_after")]
    pub(super) kind_after: Option<Kind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) module_before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) module_after: Option<&'a str>,
    pub(super) length_before: Option<u64>,
    pub(super) length_after: Option<u64>,
    pub(super) memory_before: Option<Bytes>,
    pub(super) memory_after: Option<Bytes>,
    pub(super) expires_at_before: Option<Millis>,
    pub(super) expires_at_after: Option<Millis>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_before: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) source_after: Option<&'a str>,
    pub(super) copies_before: u64,
    pub(super) copies_after: u64,
    pub(super) certain: bool,
}

impl<'a> DifferingRow<'a> {
    /// Returns the row of a key.
    pub fn of(change: &'a KeyChange) -> DifferingRow<'a> {
        fn of<'f, T>(facts: Option<&'f KeyFacts>, get: impl Fn(&'f KeyFacts) -> Option<T>) -> Option<T> {
            facts.and_then(get)
        }
        let (before, after) = (change.before.as_ref(), change.after.as_ref());
        let text = change.key.as_text();
        DifferingRow {
            change: &change.change,
            db: change.db,
            key: text,
            key_bytes: text.is_none().then_some(&change.key.0),
            kind_before: before.map(|facts| facts.kind),
            kind_after: after.map(|facts| facts.kind),
            module_before: of(before, |facts| facts.module.as_deref()),
            module_after: of(after, |facts| facts.module.as_deref()),
            length_before: of(before, |facts| facts.length),
            length_after: of(after, |facts| facts.length),
            memory_before: of(before, |facts| facts.memory),
            memory_after: of(after, |facts| facts.memory),
            expires_at_before: of(before, |facts| facts.expires_at),
            expires_at_after: of(after, |facts| facts.expires_at),
            source_before: of(before, |facts| facts.source.as_deref()),
            source_after: of(after, |facts| facts.source.as_deref()),
            copies_before: before.map_or(0, |facts| facts.copies),
            copies_after: after.map_or(0, |facts| facts.copies),
            certain: change.certain,
        }
    }

    /// Returns the fields of [`COLUMNS`].
    pub(super) fn csv(&self) -> CsvRow {
        CsvRow::default()
            .text(&self.changes().join(" "))
            .number(self.db)
            .maybe(self.key)
            .maybe(self.key_bytes.map(base64).as_deref())
            .maybe(self.kind_before.map(Kind::name))
            .maybe(self.kind_after.map(Kind::name))
            .maybe(self.module_before)
            .maybe(self.module_after)
            .number(self.length_before)
            .number(self.length_after)
            .number(self.memory_before)
            .number(self.memory_after)
            .number(self.expires_at_before)
            .number(self.expires_at_after)
            .maybe(self.source_before)
            .maybe(self.source_after)
            .number(self.copies_before)
            .number(self.copies_after)
            .flag(self.certain)
    }

    /// Returns the names of the differences.
    pub(super) fn changes(&self) -> Vec<&'static str> {
        self.change.iter().map(|change| change.name()).collect()
    }
}

/// Writer of rows.
pub enum DifferingRows<W: Write + Send> {
    /// One line each.
    Lines(RowFormat, W, Vec<u8>),
    /// A Parquet file.
    #[cfg(feature = "parquet")]
    Parquet(Box<ParquetFile<W>>, Columns),
}

/// Rows that are encoded at a time.
#[cfg(feature = "parquet")]
const ROWS_AT_ONCE: usize = 1 << 10;

impl<W: Write + Send> DifferingRows<W> {
    /// Returns a writer of lines.
    pub fn lines(format: RowFormat, mut out: W) -> io::Result<Self> {
        let mut line = Vec::new();
        if format == RowFormat::Csv {
            write_csv_record(COLUMNS.into_iter(), &mut line);
            out.write_all(&line)?;
        }
        Ok(DifferingRows::Lines(format, out, line))
    }

    /// Returns a writer of a Parquet file.
    #[cfg(feature = "parquet")]
    pub fn parquet(out: W) -> io::Result<Self> {
        Ok(DifferingRows::Parquet(Box::new(ParquetFile::of_differing(out)?), Columns::of_differing()))
    }

    /// Writes a row.
    pub fn add(&mut self, row: &DifferingRow<'_>) -> io::Result<()> {
        match self {
            DifferingRows::Lines(format, out, line) => {
                line.clear();
                match format {
                    RowFormat::Ndjson => {
                        json::write_line(row, line)?;
                        line.push(b'\n');
                    }
                    RowFormat::Csv => row.csv().write_line(line),
                }
                out.write_all(line)
            }
            #[cfg(feature = "parquet")]
            DifferingRows::Parquet(file, columns) => {
                columns.push_differing(row);
                if columns.len() < ROWS_AT_ONCE && !columns.is_full() {
                    return Ok(());
                }
                file.add(std::mem::replace(columns, Columns::of_differing()))
            }
        }
    }

    /// Writes what is left, and returns the output.
    pub fn finish(self) -> io::Result<W> {
        match self {
            DifferingRows::Lines(_, out, _) => Ok(out),
            #[cfg(feature = "parquet")]
            DifferingRows::Parquet(mut file, columns) => {
                file.add(columns)?;
                file.into_inner()
            }
        }
    }
}
