//! Sheets: rows of fields, and how they are written as CSV.

use std::io::{self, Write};

use crate::render::key_text;
use crate::render::rows::write_csv_record;
use crate::report::known_memory;
use crate::report::{Example, Key, Unknown, Weight, base64};
use crate::units::{Bytes, Millis};

/// A heading and rows with as many fields.
#[derive(Debug)]
pub(super) struct Sheet {
    columns: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

/// A row of fields that are text already.
#[derive(Debug, Default)]
pub struct CsvRow(Vec<String>);

impl Sheet {
    /// Returns rows below these headings.
    pub fn new(columns: &[&'static str], rows: impl IntoIterator<Item = CsvRow>) -> Sheet {
        let rows: Vec<Vec<String>> = rows.into_iter().map(|row| row.0).collect();
        debug_assert!(rows.iter().all(|row| row.len() == columns.len()), "{columns:?}");
        Sheet { columns: columns.to_vec(), rows }
    }

    /// Writes the headings and the rows.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(out);
        let written = writer.write_record(&self.columns);
        let all = self.rows.iter().try_fold((), |(), row| writer.write_record(row));
        written.and(all).map_err(io::Error::from)?;
        writer.flush()
    }
}

/// Number that a field can hold.
pub trait CsvNumber {
    fn digits(self) -> String;
}

macro_rules! numbers {
    ($($number:ty),*) => {
        $(impl CsvNumber for $number {
            fn digits(self) -> String {
                self.to_string()
            }
        })*
    };
}

numbers!(u8, u16, u32, u64, i64, f64, usize);

impl CsvNumber for Bytes {
    fn digits(self) -> String {
        self.0.to_string()
    }
}

impl CsvNumber for Millis {
    fn digits(self) -> String {
        self.0.to_string()
    }
}

impl<N: CsvNumber> CsvNumber for Option<N> {
    /// Returns nothing for an unknown number.
    fn digits(self) -> String {
        self.map_or_else(String::new, CsvNumber::digits)
    }
}

impl CsvRow {
    /// Appends the row as a line.
    pub fn write_line(self, out: &mut Vec<u8>) {
        write_csv_record(self.0.into_iter(), out);
    }

    /// Adds `true` or `false`.
    pub fn flag(self, flag: bool) -> CsvRow {
        self.text(if flag { "true" } else { "false" })
    }

    /// Adds a number, or an empty field where there is none.
    pub fn number(mut self, number: impl CsvNumber) -> CsvRow {
        self.0.push(number.digits());
        self
    }

    /// Adds a text.
    pub fn text(mut self, text: &str) -> CsvRow {
        self.0.push(key_text::csv(text).into_owned());
        self
    }

    /// Adds a text, or an empty field where there is none.
    pub fn maybe(self, text: Option<&str>) -> CsvRow {
        self.text(text.unwrap_or_default())
    }

    /// Adds keys and memory.
    pub fn weight(self, keys: u64, memory: Bytes) -> CsvRow {
        self.number(keys).number(memory)
    }

    /// Adds keys and memory, which is empty if it is unknown for all of them.
    pub fn known_weight(self, keys: u64, memory: Bytes) -> CsvRow {
        self.number(keys).number(known_memory(keys, memory))
    }

    /// Like [`CsvRow::known_weight`], or two empty fields.
    pub fn maybe_known_weight(self, weight: Option<Weight>) -> CsvRow {
        let memory = weight.and_then(|weight| known_memory(weight.keys, weight.memory));
        self.number(weight.map(|weight| weight.keys)).number(memory)
    }

    /// Adds the keys of unknown memory, and their bytes in the file.
    pub fn unknown(self, unknown: Unknown) -> CsvRow {
        self.number(unknown.keys).number(unknown.stored_bytes)
    }

    /// Adds keys and memory, or two empty fields.
    pub fn maybe_weight(self, weight: Option<Weight>) -> CsvRow {
        self.number(weight.map(|weight| weight.keys)).number(weight.map(|weight| weight.memory))
    }

    /// Adds a name in two fields: as text, and in base64 where it is no text.
    pub fn key(self, key: &Key) -> CsvRow {
        match key.as_text() {
            Some(text) => self.text(text).text(""),
            None => self.text("").text(&base64(&key.0)),
        }
    }

    /// Adds database, name in two fields, length of a name that is cut, and memory of a key, or five empty fields.
    pub fn example(self, example: Option<&Example>) -> CsvRow {
        match example {
            Some(Example { db, key, memory }) => self.number(*db).key(key).number(key.whole_bytes()).number(*memory),
            None => self.text("").text("").text("").text("").text(""),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(sheet: &Sheet) -> String {
        let mut out = Vec::new();
        sheet.write(&mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_come_back_whatever_is_in_them() {
        let names: [&[u8]; 6] = [b"=1+1", b"'x", b"a,\"b\"\r\nc", "\u{202e}<b>".as_bytes(), b"\xff", b""];
        let rows = names.map(|name| CsvRow::default().key(&Key::from(name)).number(-5i64).number(None::<u64>));
        let text = written(&Sheet::new(&["key", "key_base64", "a", "b"], rows));
        assert!(text.starts_with("key,key_base64,a,b\n'=1+1,,-5,\n''x,,-5,\n"), "{text}");
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        for (row, name) in reader.records().map(Result::unwrap).zip(names) {
            let back = match &row[1] {
                "" => row[0].strip_prefix('\'').unwrap_or(&row[0]).as_bytes().to_vec(),
                base64 => data_encoding::BASE64.decode(base64.as_bytes()).unwrap(),
            };
            assert_eq!(back, name);
        }
    }
}
