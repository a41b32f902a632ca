//! One key as a row of `rdblens keys`: a JSON object a line, comma-separated values, or a row of a Parquet file.

mod column_list;
mod columns;
mod fields;
mod line;
#[cfg(feature = "parquet")]
mod parquet;

use serde::{Serialize, Serializer};

use super::{json, key_text};
use crate::mask::{Masker, Scratch};
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::slot::slot_of;
use crate::policy::KeyLabels;
use crate::record::{Kind, ModuleFacts, Quantization, Record};
use crate::report::base64;
use crate::units::{Bytes, Millis};

pub use column_list::{Column, ColumnChoice, ColumnType, LENGTHS};
pub use columns::{Columns, Values};
#[cfg(feature = "parquet")]
pub use parquet::ParquetFile;

/// Format of rows that are lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RowFormat {
    /// One JSON object a line.
    Ndjson,
    /// Comma-separated values; the first line names the columns.
    Csv,
}

/// First columns of the CSV form; those of [`ModuleFacts`] follow.
const COLUMNS: [&str; 18] = [
    "db",
    "key",
    "key_base64",
    "type",
    "module",
    "encoding",
    "length",
    "memory",
    "disk",
    "expires_at",
    "idle",
    "freq",
    "slot",
    "pattern",
    "fields_with_ttl",
    "groups",
    "pending",
    "source",
];

/// Columns of the labels, after all others.
const LABELS: [&str; 3] = ["breaks", "owner", "class"];

/// Columns of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum RowColumns {
    /// Facts about the key.
    #[default]
    Facts,
    /// These, and what the policy says about the key.
    Labeled,
}

/// One key as every form has it.
#[derive(Debug, Serialize)]
pub struct RecordRow<'a> {
    db: u64,
    key: Option<&'a str>,
    /// Bytes of the key, if they are not valid UTF-8.
    #[serde(rename = "key_base64", skip_serializing_if = "Option::is_none", serialize_with = "as_base64")]
    key_bytes: Option<&'a [u8]>,
    #[serde(rename = "type")]
    kind: Kind,
    #[serde(skip_serializing_if = "Option::is_none")]
    module: Option<&'a str>,
    encoding: &'static str,
    length: Option<u64>,
    memory: Option<Bytes>,
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
    #[serde(flatten)]
    module_facts: Option<&'a ModuleFacts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    longest_element: Option<Bytes>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_element: Option<Bytes>,
    #[serde(flatten)]
    labels: Option<KeyLabels<'a>>,
}

impl RecordRow<'_> {
    /// Returns whether it has none of the parts that few rows have.
    fn is_ordinary(&self) -> bool {
        self.key_bytes.is_none() && self.module.is_none() && self.module_facts.is_none() && self.labels.is_none()
    }
}

pub(super) fn as_base64<S: Serializer>(bytes: &Option<&[u8]>, to: S) -> Result<S::Ok, S::Error> {
    bytes.map(base64).serialize(to)
}

/// Makes rows of records.
#[derive(Debug, Clone, Copy)]
pub struct RowMaker<'c> {
    classifier: &'c Classifier,
    masker: Option<&'c Masker<'c>>,
    /// True if rows have the lengths of elements.
    elements: bool,
}

impl<'c> RowMaker<'c> {
    /// Returns a maker of rows whose patterns come from `classifier`, or from `masker` if names are to be masked.
    pub fn new(classifier: &'c Classifier, masker: Option<&'c Masker<'c>>) -> Self {
        RowMaker { classifier, masker, elements: true }
    }

    /// Leaves out the lengths of elements unless `wanted`: for packed values they take a second look.
    pub fn with_elements(self, wanted: bool) -> Self {
        RowMaker { elements: wanted, ..self }
    }

    /// Classifies the key of a record for [`RowMaker::row`], unless masking does so itself.
    pub fn classify(&self, record: &Record<'_>, pattern: &mut PatternBuf) {
        if self.masker.is_none() {
            self.classifier.classify(record.key, pattern);
        }
    }

    /// Passes the row of one key, whose pattern this is, to `see`. `source` names its file if there are several.
    pub fn row(
        &self,
        record: &Record<'_>,
        pattern: &PatternBuf,
        source: Option<&str>,
        labels: Option<KeyLabels<'_>>,
        see: impl FnOnce(&RecordRow<'_>),
    ) {
        let masked = self.masker.map(|masker| masker.mask(record.key, &mut Scratch::default()));
        let key = masked.as_ref().map_or(record.key, |masked| &masked.key);
        let text = std::str::from_utf8(key).ok();
        let elements = if self.elements { record.find_element_lengths() } else { None };
        see(&RecordRow {
            db: record.db,
            key: text,
            key_bytes: text.is_none().then_some(key),
            kind: record.kind,
            module: record.module.as_ref().map(|module| module.as_str()),
            encoding: record.encoding.name(),
            length: record.length,
            memory: record.known_memory(),
            disk: record.disk,
            expires_at: record.expires_at,
            idle: record.idle,
            freq: record.freq,
            slot: slot_of(record.key),
            pattern: masked.as_ref().map_or(&pattern.text, |masked| &masked.pattern),
            fields_with_ttl: record.fields_with_ttl,
            groups: record.stream.map(|stream| stream.groups),
            pending: record.stream.map(|stream| stream.pending),
            source,
            module_facts: record.module_facts,
            longest_element: elements.map(|of| of.longest),
            mean_element: elements.map(|of| of.mean),
            labels,
        });
    }
}

/// Rows as lines of text.
#[derive(Debug, Default)]
pub struct RecordLines {
    text: Vec<u8>,
    /// End of each row.
    ends: Vec<usize>,
}

impl RecordLines {
    /// Returns the text before the first row.
    pub fn head(format: RowFormat, columns: RowColumns) -> Vec<u8> {
        let mut head = Vec::new();
        let facts = || COLUMNS.into_iter().chain(ModuleFacts::NUMBERS).chain(["quantization"]).chain(LENGTHS);
        match format {
            RowFormat::Ndjson => {}
            RowFormat::Csv => match columns {
                RowColumns::Facts => write_csv_record(facts(), &mut head),
                RowColumns::Labeled => write_csv_record(facts().chain(LABELS), &mut head),
            },
        }
        head
    }

    /// Appends a row.
    pub fn push(&mut self, row: &RecordRow<'_>, format: RowFormat) {
        match format {
            RowFormat::Ndjson => write_json(row, &mut self.text),
            RowFormat::Csv => write_csv(row, &mut self.text),
        }
        self.ends.push(self.text.len());
    }

    /// Removes all rows.
    pub fn clear(&mut self) {
        self.text.clear();
        self.ends.clear();
    }

    /// Returns the text of the first `rows` rows.
    pub fn first(&self, rows: usize) -> &[u8] {
        let end = rows.min(self.ends.len()).checked_sub(1).and_then(|last| self.ends.get(last)).copied();
        self.text.get(..end.unwrap_or_default()).unwrap_or_default()
    }
}

fn write_json(row: &RecordRow<'_>, out: &mut Vec<u8>) {
    let start = out.len();
    if line::write_plain_json(row, out) {
        return out.push(b'\n');
    }
    match json::write_line(row, out) {
        Ok(()) => out.push(b'\n'),
        // Writing strings and numbers into memory cannot fail; if it did, half a row would be worse than none.
        Err(_) => out.truncate(start),
    }
}

fn write_csv(row: &RecordRow<'_>, out: &mut Vec<u8>) {
    if !fields::write_plain_csv(row, out) {
        write_any_csv(row, out);
    }
}

/// Appends any row.
fn write_any_csv(row: &RecordRow<'_>, out: &mut Vec<u8>) {
    let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
    let text = |text: Option<&str>| text.map(|text| key_text::csv(text).into_owned()).unwrap_or_default();
    let facts = row.module_facts.copied().unwrap_or_default();
    let fields: [String; COLUMNS.len()] = [
        number(Some(row.db)),
        text(row.key),
        text(row.key_bytes.map(base64).as_deref()),
        row.kind.name().to_owned(),
        text(row.module),
        row.encoding.to_owned(),
        number(row.length),
        number(row.memory.map(|memory| memory.0)),
        number(Some(row.disk.0)),
        row.expires_at.map(|at| at.0.to_string()).unwrap_or_default(),
        number(row.idle),
        number(row.freq.map(u64::from)),
        number(Some(u64::from(row.slot))),
        text(Some(row.pattern)),
        number(row.fields_with_ttl),
        number(row.groups),
        number(row.pending),
        text(row.source),
    ];
    let quantization = text(facts.quantization.map(Quantization::name));
    let lengths = [row.longest_element, row.mean_element].map(|length| number(length.map(|length| length.0)));
    let fields = fields.into_iter().chain(facts.numbers().map(number)).chain([quantization]).chain(lengths);
    match row.labels {
        None => write_csv_record(fields, out),
        Some(KeyLabels { breaks, owner, class }) => {
            write_csv_record(fields.chain([breaks.join(" "), text(owner), text(class)]), out);
        }
    }
}

/// Appends a line of comma-separated values, quoted where they must be.
pub(super) fn write_csv_record(fields: impl Iterator<Item: AsRef<[u8]>>, out: &mut Vec<u8>) {
    let start = out.len();
    let mut writer = csv::WriterBuilder::new().buffer_capacity(1 << 10).from_writer(&mut *out);
    let written = writer.write_record(fields).is_ok() && writer.flush().is_ok();
    drop(writer);
    if !written {
        out.truncate(start);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::segment::Separators;
    use crate::record::{Encoding, ValueFacts};

    fn record(key: &[u8]) -> Record<'_> {
        Record {
            file: 0,
            db: 3,
            key,
            kind: Kind::String,
            module: None,
            encoding: Encoding::Raw,
            length: Some(100),
            memory: Bytes(160),
            alternatives: &[],
            allocated_elsewhere: &[],
            allocated: Bytes(160),
            disk: Bytes(110),
            content: Bytes(100),
            expires_at: Some(Millis(1_900_000_000_000)),
            idle: None,
            freq: Some(7),
            fields_with_ttl: None,
            module_facts: None,
            stream: None,
            value: &ValueFacts::NONE,
            compact: None,
            raw: None,
        }
    }

    fn written(format: RowFormat, key: &[u8], source: Option<&str>) -> String {
        labeled(format, key, source, None)
    }

    fn labeled(format: RowFormat, key: &[u8], source: Option<&str>, labels: Option<KeyLabels<'_>>) -> String {
        let classifier = Classifier::new(Separators::new(&[":".to_owned()]).unwrap());
        let mut lines = RecordLines::default();
        let (maker, mut pattern) = (RowMaker::new(&classifier, None), PatternBuf::default());
        maker.classify(&record(key), &mut pattern);
        maker.row(&record(key), &pattern, source, labels, |row| lines.push(row, format));
        let columns = if labels.is_some() { RowColumns::Labeled } else { RowColumns::Facts };
        String::from_utf8([&RecordLines::head(format, columns), lines.first(1)].concat()).unwrap()
    }

    #[test]
    fn a_json_row_has_the_promised_names() {
        let row: serde_json::Value = serde_json::from_str(&written(RowFormat::Ndjson, b"user:17", None)).unwrap();
        let expected = serde_json::json!({
            "db": 3, "key": "user:17", "type": "string", "encoding": "raw", "length": 100, "memory": 160, "disk": 110,
            "expires_at": 1_900_000_000_000u64, "idle": null, "freq": 7, "slot": slot_of(b"user:17"),
            "pattern": "user:{int}",
        });
        assert_eq!(row, expected);
    }

    #[test]
    fn labels_are_the_last_columns() {
        let labels = KeyLabels { breaks: &["big.string", "ttl.missing"], owner: Some("=team"), class: None };
        let row: serde_json::Value =
            serde_json::from_str(&labeled(RowFormat::Ndjson, b"a:1", None, Some(labels))).unwrap();
        assert_eq!(row["breaks"], serde_json::json!(["big.string", "ttl.missing"]));
        assert_eq!((&row["owner"], &row["class"]), (&"=team".into(), &serde_json::Value::Null));
        let text = labeled(RowFormat::Csv, b"a:1", None, Some(labels));
        let mut lines = text.lines();
        assert!(lines.next().unwrap().ends_with(",mean_element,breaks,owner,class"));
        assert!(lines.next().unwrap().ends_with(",big.string ttl.missing,'=team,"), "{text}");
        let nothing = labeled(RowFormat::Csv, b"a:1", None, Some(KeyLabels::default()));
        assert!(nothing.ends_with(",,,\n"), "{nothing}");
    }

    #[test]
    fn as_many_lines_are_given_as_are_asked_for() {
        let lines = RecordLines { text: b"one\ntwo\n".to_vec(), ends: vec![4, 8] };
        assert_eq!([0, 1, 2, 3].map(|rows| lines.first(rows).len()), [0, 4, 8, 8]);
    }

    #[test]
    fn names_that_are_no_text_are_base64() {
        let row: serde_json::Value = serde_json::from_str(&written(RowFormat::Ndjson, b"\xff:1", Some("a"))).unwrap();
        assert_eq!((&row["key"], &row["key_base64"]), (&serde_json::Value::Null, &"/zox".into()));
        assert_eq!(row["source"], "a");
    }

    #[test]
    fn csv_has_a_header_and_is_safe_in_a_spreadsheet() {
        let text = written(RowFormat::Csv, b"=cmd|' /C calc'!A0,\"x\"", None);
        let mut lines = text.lines();
        assert_eq!(
            lines.next().map(|head| head.split(',').count()),
            Some(COLUMNS.len() + ModuleFacts::NUMBERS.len() + 1 + LENGTHS.len())
        );
        let row = lines.next().unwrap();
        assert!(row.starts_with("3,\"'=cmd|' /C calc'!A0,\"\"x\"\"\",,string,"), "{row}");
    }
}
