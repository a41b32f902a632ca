//! Columns of rows, for the row groups of a Parquet file.

use super::{RecordRow, RowColumns};
use crate::policy::KeyLabels;
use crate::record::{Kind, ModuleFacts, Quantization};
use crate::render::key_rows::DifferingRow;
use crate::units::Millis;

/// Type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ParquetType {
    /// True or false.
    Bool,
    /// A number below 2¹⁵.
    Small,
    Number,
    /// Milliseconds since the epoch.
    Time,
    Text,
    /// Any number of texts.
    Texts,
    Binary,
}

/// A column, as readers see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct ParquetColumn {
    pub name: &'static str,
    pub holds: ParquetType,
    /// Set if every row has a value.
    pub required: bool,
}

const fn required(name: &'static str, holds: ParquetType) -> ParquetColumn {
    ParquetColumn { name, holds, required: true }
}

const fn optional(name: &'static str, holds: ParquetType) -> ParquetColumn {
    ParquetColumn { name, holds, required: false }
}

/// Number of columns before those of [`ModuleFacts`].
const FIRST: usize = 18;

/// Number of columns without labels.
const FACTS: usize = FIRST + ModuleFacts::NUMBERS.len() + 1;

/// All columns, in the order of [`Columns::push`]; the last three are labels.
const COLUMNS: [ParquetColumn; FACTS + 3] = [
    required("db", ParquetType::Number),
    optional("key", ParquetType::Text),
    optional("key_bytes", ParquetType::Binary),
    required("type", ParquetType::Text),
    optional("module", ParquetType::Text),
    required("encoding", ParquetType::Text),
    optional("length", ParquetType::Number),
    optional("memory", ParquetType::Number),
    required("disk", ParquetType::Number),
    optional("expires_at", ParquetType::Time),
    optional("idle", ParquetType::Number),
    optional("freq", ParquetType::Small),
    required("slot", ParquetType::Small),
    required("pattern", ParquetType::Text),
    optional("fields_with_ttl", ParquetType::Number),
    optional("groups", ParquetType::Number),
    optional("pending", ParquetType::Number),
    optional("source", ParquetType::Text),
    optional("filters", ParquetType::Number),
    optional("capacity", ParquetType::Number),
    optional("items", ParquetType::Number),
    optional("width", ParquetType::Number),
    optional("depth", ParquetType::Number),
    optional("k", ParquetType::Number),
    optional("samples", ParquetType::Number),
    optional("chunks", ParquetType::Number),
    optional("dimension", ParquetType::Number),
    optional("elements", ParquetType::Number),
    optional("levels", ParquetType::Number),
    optional("quantization", ParquetType::Text),
    required("breaks", ParquetType::Texts),
    optional("owner", ParquetType::Text),
    optional("class", ParquetType::Text),
];

/// Returns the columns of a file.
pub(super) fn columns(columns: RowColumns) -> &'static [ParquetColumn] {
    match columns {
        RowColumns::Facts => COLUMNS.split_at(FACTS).0,
        RowColumns::Labeled => &COLUMNS,
    }
}

/// Columns of rows of differing keys, in the order of [`Columns::push_differing`].
pub(super) const DIFFERING: [ParquetColumn; 19] = [
    required("change", ParquetType::Texts),
    required("db", ParquetType::Number),
    optional("key", ParquetType::Text),
    optional("key_bytes", ParquetType::Binary),
    optional("type_before", ParquetType::Text),
    optional("type_after", ParquetType::Text),
    optional("module_before", ParquetType::Text),
    optional("module_after", ParquetType::Text),
    optional("length_before", ParquetType::Number),
    optional("length_after", ParquetType::Number),
    optional("memory_before", ParquetType::Number),
    optional("memory_after", ParquetType::Number),
    optional("expires_at_before", ParquetType::Time),
    optional("expires_at_after", ParquetType::Time),
    optional("source_before", ParquetType::Text),
    optional("source_after", ParquetType::Text),
    required("copies_before", ParquetType::Number),
    required("copies_after", ParquetType::Number),
    required("certain", ParquetType::Bool),
];

/// First and last millisecond of the years 1 to 9999. Readers convert times to microseconds or to their language's
/// own type, and a single time beyond these limits would make them refuse the whole column.
const TIMES: (i64, i64) = (-62_135_596_800_000, 253_402_300_799_999);

/// Values of one column; absent ones are in `present` only.
#[derive(Debug, Default)]
pub(super) struct Values {
    /// 1 for each row that has a value, else 0: Parquet's definition levels.
    pub present: Vec<i16>,
    /// Of a list: 0 for each row, 1 for each further text of it: Parquet's repetition levels.
    pub repeated: Vec<i16>,
    pub numbers: Vec<i64>,
    /// Texts one after the other, and the end of each.
    pub bytes: Vec<u8>,
    pub ends: Vec<usize>,
}

/// One value of a row.
enum ParquetCell<'a> {
    Number(Option<i64>),
    Bytes(Option<&'a [u8]>),
}

impl Values {
    fn push(&mut self, cell: &ParquetCell<'_>) {
        let present = match cell {
            ParquetCell::Number(number) => {
                self.numbers.extend(number);
                number.is_some()
            }
            ParquetCell::Bytes(None) => false,
            ParquetCell::Bytes(Some(bytes)) => {
                self.bytes.extend_from_slice(bytes);
                self.ends.push(self.bytes.len());
                true
            }
        };
        self.present.push(i16::from(present));
    }

    /// Appends a row of a list.
    fn push_list(&mut self, texts: &[&str]) {
        for (at, text) in texts.iter().enumerate() {
            self.push(&ParquetCell::Bytes(Some(text.as_bytes())));
            self.repeated.push(i16::from(at > 0));
        }
        if texts.is_empty() {
            self.push(&ParquetCell::Bytes(None));
            self.repeated.push(0);
        }
    }

    fn truncate(&mut self, rows: usize) {
        let starts = self.repeated.iter().enumerate().filter(|(_, repeated)| **repeated == 0);
        // Of a list, a row is as many levels as it has texts.
        let levels =
            if self.repeated.is_empty() { rows } else { starts.map(|(at, _)| at).nth(rows).unwrap_or(usize::MAX) };
        self.repeated.truncate(levels);
        self.present.truncate(levels);
        let left = self.present.iter().filter(|present| **present == 1).count();
        self.numbers.truncate(left);
        self.ends.truncate(left);
        self.bytes.truncate(self.ends.last().copied().unwrap_or_default());
    }

    fn append(&mut self, other: Values) {
        self.present.extend(other.present);
        self.repeated.extend(other.repeated);
        self.numbers.extend(other.numbers);
        let before = self.bytes.len();
        self.ends.extend(other.ends.iter().map(|end| before + end));
        self.bytes.extend(other.bytes);
    }
}

/// Some rows, column by column.
#[derive(Debug)]
pub struct Columns {
    values: Vec<Values>,
}

impl Default for Columns {
    fn default() -> Self {
        Columns::of(&COLUMNS)
    }
}

impl Columns {
    /// Returns these columns, without rows.
    pub(super) fn of(columns: &[ParquetColumn]) -> Columns {
        Columns { values: columns.iter().map(|_| Values::default()).collect() }
    }

    /// Returns the columns of differing keys, without rows.
    pub fn of_differing() -> Columns {
        Columns::of(&DIFFERING)
    }

    /// Appends a differing key.
    pub fn push_differing(&mut self, row: &DifferingRow<'_>) {
        let number = |number: Option<u64>| ParquetCell::Number(number.map(held));
        let time = |time: Option<Millis>| ParquetCell::Number(time.map(|at| at.0.clamp(TIMES.0, TIMES.1)));
        fn text(text: Option<&str>) -> ParquetCell<'_> {
            ParquetCell::Bytes(text.map(str::as_bytes))
        }
        let cells: [ParquetCell<'_>; DIFFERING.len() - 1] = [
            number(Some(row.db)),
            text(row.key),
            ParquetCell::Bytes(row.key_bytes),
            text(row.kind_before.map(Kind::name)),
            text(row.kind_after.map(Kind::name)),
            text(row.module_before),
            text(row.module_after),
            number(row.length_before),
            number(row.length_after),
            number(row.memory_before.map(|memory| memory.0)),
            number(row.memory_after.map(|memory| memory.0)),
            time(row.expires_at_before),
            time(row.expires_at_after),
            text(row.source_before),
            text(row.source_after),
            number(Some(row.copies_before)),
            number(Some(row.copies_after)),
            number(Some(u64::from(row.certain))),
        ];
        if let Some((changes, others)) = self.values.split_first_mut() {
            changes.push_list(&row.changes());
            others.iter_mut().zip(cells).for_each(|(values, cell)| values.push(&cell));
        }
    }

    /// Appends a row.
    pub fn push(&mut self, row: &RecordRow<'_>) {
        let number = |number: Option<u64>| ParquetCell::Number(number.map(held));
        fn text(text: Option<&str>) -> ParquetCell<'_> {
            ParquetCell::Bytes(text.map(str::as_bytes))
        }
        let facts = row.module_facts.copied().unwrap_or_default();
        let cells: [ParquetCell<'_>; FIRST] = [
            number(Some(row.db)),
            text(row.key),
            ParquetCell::Bytes(row.key_bytes),
            text(Some(row.kind.name())),
            text(row.module),
            text(Some(row.encoding)),
            number(row.length),
            number(row.memory.map(|memory| memory.0)),
            number(Some(row.disk.0)),
            ParquetCell::Number(row.expires_at.map(|at| at.0.clamp(TIMES.0, TIMES.1))),
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
        let cells = cells.into_iter().chain(facts.numbers().map(number)).chain([quantization]);
        self.values.iter_mut().zip(cells).for_each(|(values, cell)| values.push(&cell));
        if let Some(KeyLabels { breaks, owner, class }) = row.labels
            && let [.., list, owners, classes] = self.values.as_mut_slice()
        {
            list.push_list(breaks);
            owners.push(&text(owner));
            classes.push(&text(class));
        }
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        // The list of changes, the only one in front, has a level for each of its texts.
        self.values.get(1).map_or(0, |values| values.present.len())
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of all texts.
    pub(super) fn bytes(&self) -> usize {
        self.values.iter().map(|values| values.bytes.len()).sum()
    }

    /// Keeps only the first `rows` rows.
    pub(super) fn truncate(&mut self, rows: usize) {
        if rows < self.len() {
            self.values.iter_mut().for_each(|values| values.truncate(rows));
        }
    }

    /// Appends all rows of `other`.
    pub(super) fn append(&mut self, other: Columns) {
        self.values.iter_mut().zip(other.values).for_each(|(values, other)| values.append(other));
    }

    /// Returns the values of each column; those of labels are empty if the rows have none.
    pub(super) fn into_values(self) -> Vec<Values> {
        self.values
    }
}

/// Returns the number, capped below 2⁶³: only a damaged file has a larger one.
fn held(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(cells: &[Option<&[u8]>]) -> Values {
        let mut values = Values::default();
        cells.iter().for_each(|cell| values.push(&ParquetCell::Bytes(*cell)));
        values
    }

    #[test]
    fn absent_values_take_no_room_and_cutting_keeps_step() {
        let mut values = texts(&[Some(b"one"), None, Some(b""), Some(b"four")]);
        values.truncate(3);
        assert_eq!((values.present.as_slice(), values.ends.as_slice()), ([1, 0, 1].as_slice(), [3, 3].as_slice()));
        assert_eq!(values.bytes, b"one");
    }

    #[test]
    fn lists_keep_step_with_their_rows() {
        let mut values = Values::default();
        [&["a", "b"][..], &[], &["c"]].into_iter().for_each(|list| values.push_list(list));
        assert_eq!((values.repeated.as_slice(), values.present.as_slice()), (&[0, 1, 0, 0][..], &[1, 1, 0, 1][..]));
        values.truncate(2);
        assert_eq!((values.repeated.as_slice(), values.bytes.as_slice()), (&[0, 1, 0][..], &b"ab"[..]));
        values.truncate(0);
        assert!(values.present.is_empty() && values.bytes.is_empty());
    }

    #[test]
    fn appended_values_come_behind() {
        let mut values = texts(&[Some(b"one")]);
        values.append(texts(&[None, Some(b"three")]));
        assert_eq!((values.bytes.as_slice(), values.ends.as_slice()), (b"onethree".as_slice(), [3, 8].as_slice()));
        assert_eq!(values.present, [1, 0, 1]);
    }
}
