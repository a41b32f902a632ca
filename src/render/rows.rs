//! One key as a row of `rdblens keys`: a JSON object a line, or comma-separated values.

use std::fmt::Write as _;

use serde::Serialize;

use super::key_text;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::slot::slot_of;
use crate::record::{Kind, Record};
use crate::report::base64;
use crate::units::{Bytes, Millis};

/// The form of rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object a line.
    Ndjson,
    /// Comma-separated values; the first line names the columns.
    Csv,
}

/// The columns of the CSV form.
const COLUMNS: &str = "db,key,key_base64,type,module,encoding,length,memory,disk,expires_at,idle,freq,slot,pattern,\
                       fields_with_ttl,groups,pending,source\n";

#[derive(Serialize)]
struct Row<'a> {
    db: u64,
    key: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    key_base64: Option<String>,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'a str>,
    encoding: &'static str,
    length: Option<u64>,
    memory: Bytes,
    disk: Bytes,
    expires_at: Option<Millis>,
    idle: Option<u64>,
    freq: Option<u8>,
    slot: u16,
    pattern: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    fields_with_ttl: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    groups: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pending: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
}

/// Writes rows of one form.
#[derive(Debug, Clone, Copy)]
pub struct RowWriter<'c> {
    format: RowFormat,
    classifier: &'c Classifier,
}

impl<'c> RowWriter<'c> {
    /// A writer whose patterns come from `classifier`.
    pub fn new(format: RowFormat, classifier: &'c Classifier) -> Self {
        RowWriter { format, classifier }
    }

    /// What stands before the first row.
    pub fn head(&self) -> &'static str {
        match self.format {
            RowFormat::Ndjson => "",
            RowFormat::Csv => COLUMNS,
        }
    }

    /// Appends the row of one key. `source` names its file, where there are several; `pattern` is a buffer that is used
    /// again.
    pub fn write(&self, record: &Record<'_>, source: Option<&str>, pattern: &mut PatternBuf, out: &mut Vec<u8>) {
        self.classifier.classify(record.key, pattern);
        let text = std::str::from_utf8(record.key).ok();
        let row = Row {
            db: record.db,
            key: text,
            key_base64: text.is_none().then(|| base64(record.key)),
            kind: record.kind,
            module: record.module.as_ref().map(|module| module.as_str()),
            encoding: record.encoding.name(),
            length: record.length,
            memory: record.memory,
            disk: record.disk,
            expires_at: record.expires_at,
            idle: record.idle,
            freq: record.freq,
            slot: slot_of(record.key),
            pattern: &pattern.text,
            fields_with_ttl: record.fields_with_ttl,
            groups: record.stream.map(|stream| stream.groups),
            pending: record.stream.map(|stream| stream.pending),
            source,
        };
        match self.format {
            RowFormat::Ndjson => write_json(&row, out),
            RowFormat::Csv => write_csv(&row, out),
        }
    }
}

fn write_json(row: &Row<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    match serde_json::to_writer(&mut *out, row) {
        Ok(()) => out.push(b'\n'),
        // Neither the memory nor the strings and numbers of a row can fail; half a row would be worse than none.
        Err(_) => out.truncate(start),
    }
}

fn write_csv(row: &Row<'_>, out: &mut Vec<u8>) {
    let mut line = String::new();
    let number = |line: &mut String, number: Option<i128>| {
        if let Some(number) = number {
            // Writing to a string cannot fail.
            let _ = write!(line, "{number}");
        }
        line.push(',');
    };
    number(&mut line, Some(row.db.into()));
    for field in [row.key, row.key_base64.as_deref(), Some(row.kind.name()), row.module, Some(row.encoding)] {
        text(&mut line, field);
        line.push(',');
    }
    for field in [
        row.length.map(Into::into),
        Some(row.memory.0.into()),
        Some(row.disk.0.into()),
        row.expires_at.map(|at| at.0.into()),
        row.idle.map(Into::into),
        row.freq.map(Into::into),
        Some(row.slot.into()),
    ] {
        number(&mut line, field);
    }
    text(&mut line, Some(row.pattern));
    line.push(',');
    for field in [row.fields_with_ttl, row.groups, row.pending] {
        number(&mut line, field.map(Into::into));
    }
    text(&mut line, row.source);
    line.push('\n');
    out.extend_from_slice(line.as_bytes());
}

/// A field of text: safe in a spreadsheet, quoted where it must be.
fn text(line: &mut String, field: Option<&str>) {
    let Some(field) = field else { return };
    let field = key_text::csv(field);
    if !field.contains([',', '"', '\n', '\r']) {
        line.push_str(&field);
        return;
    }
    line.push('"');
    for part in field.split_inclusive('"') {
        line.push_str(part);
        if part.ends_with('"') {
            line.push('"');
        }
    }
    line.push('"');
}
