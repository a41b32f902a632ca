//! Rows, column by column: for the row groups of a Parquet file, and for readers that take columns as they are.

use super::RecordRow;
#[cfg(feature = "parquet")]
use super::column_list::DIFFERING;
use super::column_list::{COLUMNS, Column, ColumnChoice, ColumnType, ELEMENTS, FIRST};
use crate::policy::KeyLabels;
#[cfg(feature = "parquet")]
use crate::record::Kind;
use crate::record::{ModuleFacts, Quantization};
#[cfg(feature = "parquet")]
use crate::render::key_rows::DifferingRow;
use crate::units::Millis;

/// First and last millisecond of the years 1 to 9999. Readers convert times to microseconds or to their language's
/// own type, and a single time beyond these limits would make them refuse the whole column.
const TIMES: (i64, i64) = (-62_135_596_800_000, 253_402_300_799_999);

/// Values of one column, in the layout of Arrow: absent values have a slot, too.
#[derive(Debug)]
pub struct Values {
    /// Numbers, flags and times, one for each row.
    pub numbers: Vec<i64>,
    /// Texts one after the other.
    pub bytes: Vec<u8>,
    /// Start of each text in `bytes`, and the end of the last; empty unless the column holds texts.
    pub offsets: Vec<i32>,
    /// First text of each row, and the end of the last; empty unless rows hold lists.
    pub lists: Vec<i32>,
    /// One bit for each row, the lowest first, set if it has a value. Empty if all rows have one.
    pub present: Vec<u8>,
    holds: ColumnType,
    rows: usize,
}

impl Values {
    fn new(holds: ColumnType) -> Values {
        let is_text = matches!(holds, ColumnType::Text | ColumnType::Texts | ColumnType::Binary);
        Values {
            numbers: Vec::new(),
            bytes: Vec::new(),
            offsets: if is_text { vec![0] } else { Vec::new() },
            lists: if holds == ColumnType::Texts { vec![0] } else { Vec::new() },
            present: Vec::new(),
            holds,
            rows: 0,
        }
    }

    /// Returns whether a row has a value.
    pub fn has(&self, row: usize) -> bool {
        self.present.is_empty() || self.present.get(row / 8).is_some_and(|bits| bits >> (row % 8) & 1 == 1)
    }

    /// Gives the rows up to `rows`, which were not pushed, no value.
    fn pad(&mut self, rows: usize) {
        if self.rows >= rows {
            return;
        }
        self.mark_all();
        self.present.resize(rows.div_ceil(8), 0);
        match self.holds {
            ColumnType::Text | ColumnType::Binary => self.offsets.resize(rows + 1, last(&self.offsets)),
            ColumnType::Texts => self.lists.resize(rows + 1, last(&self.lists)),
            ColumnType::Bool | ColumnType::Small | ColumnType::Number | ColumnType::Time => {
                self.numbers.resize(rows, 0);
            }
        }
        self.rows = rows;
    }

    /// Writes the bits of rows that all have a value, unless they are written.
    fn mark_all(&mut self) {
        if self.present.is_empty() {
            self.present.resize(self.rows / 8, u8::MAX);
            if !self.rows.is_multiple_of(8) {
                self.present.push((1 << (self.rows % 8)) - 1);
            }
        }
    }

    /// Counts a row that has a value.
    fn mark(&mut self) {
        if !self.present.is_empty() {
            if self.rows.is_multiple_of(8) {
                self.present.push(0);
            }
            if let Some(bits) = self.present.last_mut() {
                *bits |= 1 << (self.rows % 8);
            }
        }
        self.rows += 1;
    }

    fn push_number(&mut self, row: usize, number: i64) {
        self.pad(row);
        self.numbers.push(number);
        self.mark();
    }

    fn push_bytes(&mut self, row: usize, bytes: &[u8]) {
        self.pad(row);
        self.push_text(bytes);
        self.mark();
    }

    fn push_text(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        // Columns with that many bytes of text are not appended to: see `is_full`.
        self.offsets.push(i32::try_from(self.bytes.len()).unwrap_or(i32::MAX));
    }

    /// Appends a row of a list.
    fn push_list(&mut self, row: usize, texts: &[&str]) {
        self.pad(row);
        texts.iter().for_each(|text| self.push_text(text.as_bytes()));
        self.lists.push(i32::try_from(self.offsets.len().saturating_sub(1)).unwrap_or(i32::MAX));
        self.mark();
    }

    /// Returns the number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of texts, which differs from that of rows if the column holds lists.
    #[cfg(feature = "parquet")]
    pub(super) fn texts(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Returns the bytes of a text, by its number.
    #[cfg(feature = "parquet")]
    pub(super) fn range(&self, number: usize) -> std::ops::Range<usize> {
        let end = |at: usize| self.offsets.get(at).and_then(|at| usize::try_from(*at).ok()).unwrap_or_default();
        end(number)..end(number + 1).max(end(number))
    }

    fn truncate(&mut self, rows: usize) {
        if rows >= self.rows {
            return;
        }
        self.numbers.truncate(rows);
        let mut texts = rows;
        if self.holds == ColumnType::Texts {
            self.lists.truncate(rows + 1);
            texts = usize::try_from(last(&self.lists)).unwrap_or_default();
        }
        self.offsets.truncate(texts + 1);
        self.bytes.truncate(usize::try_from(last(&self.offsets)).unwrap_or_default());
        self.present.truncate(rows.div_ceil(8));
        if !rows.is_multiple_of(8)
            && let Some(bits) = self.present.last_mut()
        {
            *bits &= (1 << (rows % 8)) - 1;
        }
        self.rows = rows;
    }

    #[cfg(feature = "parquet")]
    fn append(&mut self, other: Values) {
        if !(self.present.is_empty() && other.present.is_empty()) {
            self.mark_all();
            for row in 0..other.rows {
                let bit = u8::from(other.has(row));
                match (self.rows + row) % 8 {
                    0 => self.present.push(bit),
                    at => self.present.last_mut().into_iter().for_each(|bits| *bits |= bit << at),
                }
            }
        }
        self.rows += other.rows;
        self.numbers.extend(other.numbers);
        append_ends(&mut self.lists, &other.lists, self.offsets.len().saturating_sub(1));
        append_ends(&mut self.offsets, &other.offsets, self.bytes.len());
        self.bytes.extend(other.bytes);
    }
}

fn last(ends: &[i32]) -> i32 {
    ends.last().copied().unwrap_or_default()
}

/// Appends ends behind others that end at `before`.
#[cfg(feature = "parquet")]
fn append_ends(ends: &mut Vec<i32>, others: &[i32], before: usize) {
    let before = i32::try_from(before).unwrap_or(i32::MAX);
    ends.extend(others.iter().skip(1).map(|end| end.saturating_add(before)));
}

/// Some rows, column by column.
#[derive(Debug)]
pub struct Columns {
    /// Values of each column; `None` for columns that are not chosen.
    values: Vec<Option<Values>>,
    rows: usize,
    /// Bytes of all texts that were pushed.
    pushed: usize,
}

impl Columns {
    /// Returns the columns of a choice, without rows.
    pub(crate) fn new(choice: &ColumnChoice) -> Columns {
        let is_chosen = |at| choice.positions().contains(&at);
        let values = COLUMNS.iter().enumerate().map(|(at, column)| is_chosen(at).then(|| Values::new(column.holds)));
        Columns { values: values.collect(), rows: 0, pushed: 0 }
    }

    /// Returns these columns, without rows.
    #[cfg(feature = "parquet")]
    pub(super) fn of(columns: &[Column]) -> Columns {
        let values = columns.iter().map(|column| Some(Values::new(column.holds))).collect();
        Columns { values, rows: 0, pushed: 0 }
    }

    /// Returns the columns of differing keys, without rows.
    #[cfg(feature = "parquet")]
    pub(crate) fn of_differing() -> Columns {
        Columns::of(&DIFFERING)
    }

    fn number(&mut self, at: usize, number: Option<i64>) {
        if let (Some(Some(values)), Some(number)) = (self.values.get_mut(at), number) {
            values.push_number(self.rows, number);
        }
    }

    fn text(&mut self, at: usize, text: Option<&[u8]>) {
        if let (Some(Some(values)), Some(text)) = (self.values.get_mut(at), text) {
            values.push_bytes(self.rows, text);
            self.pushed += text.len();
        }
    }

    fn list(&mut self, at: usize, texts: &[&str]) {
        if let Some(Some(values)) = self.values.get_mut(at) {
            values.push_list(self.rows, texts);
        }
    }

    /// Appends a differing key.
    #[cfg(feature = "parquet")]
    pub(crate) fn push_differing(&mut self, row: &DifferingRow<'_>) {
        let text = |text: Option<&'static str>| text.map(str::as_bytes);
        self.list(0, &row.changes());
        self.number(1, Some(held(row.db)));
        self.text(2, row.key.map(str::as_bytes));
        self.text(3, row.key_bytes);
        self.text(4, text(row.kind_before.map(Kind::name)));
        self.text(5, text(row.kind_after.map(Kind::name)));
        self.text(6, row.module_before.map(str::as_bytes));
        self.text(7, row.module_after.map(str::as_bytes));
        self.number(8, row.length_before.map(held));
        self.number(9, row.length_after.map(held));
        self.number(10, row.memory_before.map(|memory| held(memory.0)));
        self.number(11, row.memory_after.map(|memory| held(memory.0)));
        self.number(12, row.expires_at_before.map(time));
        self.number(13, row.expires_at_after.map(time));
        self.text(14, row.source_before.map(str::as_bytes));
        self.text(15, row.source_after.map(str::as_bytes));
        self.number(16, Some(held(row.copies_before)));
        self.number(17, Some(held(row.copies_after)));
        self.number(18, Some(i64::from(row.certain)));
        self.rows += 1;
    }

    /// Appends a row.
    pub(crate) fn push(&mut self, row: &RecordRow<'_>) {
        self.number(0, Some(held(row.db)));
        self.text(1, row.key.map(str::as_bytes));
        self.text(2, row.key_bytes);
        self.text(3, Some(row.kind.name().as_bytes()));
        self.text(4, row.module.map(str::as_bytes));
        self.text(5, Some(row.encoding.as_bytes()));
        self.number(6, row.length.map(held));
        self.number(7, row.memory.map(|memory| held(memory.0)));
        self.number(8, Some(held(row.disk.0)));
        self.number(9, row.expires_at.map(time));
        self.number(10, row.idle.map(held));
        self.number(11, row.freq.map(i64::from));
        self.number(12, Some(i64::from(row.slot)));
        self.text(13, Some(row.pattern.as_bytes()));
        self.number(14, row.fields_with_ttl.map(held));
        self.number(15, row.groups.map(held));
        self.number(16, row.pending.map(held));
        self.text(17, row.source.map(str::as_bytes));
        if let Some(facts) = row.module_facts {
            facts.numbers().into_iter().zip(FIRST..).for_each(|(number, at)| self.number(at, number.map(held)));
            let quantization = facts.quantization.map(Quantization::name);
            self.text(FIRST + ModuleFacts::NUMBERS.len(), quantization.map(str::as_bytes));
        }
        self.number(ELEMENTS, row.longest_element.map(|length| held(length.0)));
        self.number(ELEMENTS + 1, row.mean_element.map(|length| held(length.0)));
        if let Some(KeyLabels { breaks, owner, class }) = row.labels {
            let labels = COLUMNS.len() - 3;
            self.list(labels, breaks);
            self.text(labels + 1, owner.map(str::as_bytes));
            self.text(labels + 2, class.map(str::as_bytes));
        }
        self.rows += 1;
    }

    /// Returns the number of rows.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Returns whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Returns the bytes of all texts.
    #[cfg(feature = "parquet")]
    pub(super) fn bytes(&self) -> usize {
        self.values.iter().flatten().map(|values| values.bytes.len()).sum()
    }

    /// Returns whether the offsets of texts have no room for the largest row.
    pub(crate) fn is_full(&self) -> bool {
        /// A row has a key of half a GiB at most, and a pattern of that length.
        const FULL: usize = 1 << 29;
        self.pushed >= FULL
    }

    /// Keeps only the first `rows` rows.
    pub(crate) fn truncate(&mut self, rows: usize) {
        if rows < self.rows {
            self.values.iter_mut().flatten().for_each(|values| values.truncate(rows));
            self.rows = rows;
        }
    }

    /// Appends all rows of `other`, which has the same columns.
    #[cfg(feature = "parquet")]
    pub(super) fn append(&mut self, other: Columns) {
        for (values, other) in self.values.iter_mut().flatten().zip(other.values.into_iter().flatten()) {
            // Most columns have no value at all.
            if other.rows > 0 {
                values.pad(self.rows);
                values.append(other);
            }
        }
        self.rows += other.rows;
        self.pushed += other.pushed;
    }

    /// Gives columns without a value in the last rows a slot for each row.
    fn pad(&mut self) {
        let rows = self.rows;
        self.values.iter_mut().flatten().for_each(|values| values.pad(rows));
    }

    /// Returns the values of each column that was chosen, in the order of all columns; those of a column without any value have no
    /// rows.
    #[cfg(feature = "parquet")]
    pub(super) fn into_values(mut self) -> impl Iterator<Item = Values> {
        let rows = self.rows;
        self.values.iter_mut().flatten().filter(|values| values.rows > 0).for_each(|values| values.pad(rows));
        self.values.into_iter().flatten()
    }

    /// Returns the values of the columns of a choice, in its order.
    pub fn chosen(mut self, choice: &ColumnChoice) -> Vec<(&'static Column, Values)> {
        self.pad();
        let mut taken = |at: usize| Some((COLUMNS.get(at)?, self.values.get_mut(at)?.take()?));
        choice.positions().iter().filter_map(|&at| taken(at)).collect()
    }
}

/// Returns the number, capped below 2⁶³: only a damaged file has a larger one.
fn held(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn time(at: Millis) -> i64 {
    at.0.clamp(TIMES.0, TIMES.1)
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(cells: &[Option<&[u8]>]) -> Values {
        let mut values = Values::new(ColumnType::Text);
        for (row, cell) in cells.iter().enumerate() {
            cell.iter().for_each(|text| values.push_bytes(row, text));
        }
        values.pad(cells.len());
        values
    }

    fn seen(values: &Values) -> Vec<Option<&[u8]>> {
        (0..values.rows).map(|row| values.has(row).then(|| &values.bytes[values.range(row)])).collect()
    }

    proptest! {
        #[test]
        fn cut_and_joined_columns_hold_what_was_pushed(
            one in prop::collection::vec(prop::option::of("[a-c]{0,3}"), 0..40),
            two in prop::collection::vec(prop::option::of("[a-c]{0,3}"), 0..40),
            rows in 0_usize..40,
        ) {
            let cells = |of: &[Option<String>]| of.iter().map(|cell| cell.clone().map(String::into_bytes)).collect::<Vec<_>>();
            let (one, two) = (cells(&one), cells(&two));
            let borrowed = |of: &[Option<Vec<u8>>]| texts(&of.iter().map(Option::as_deref).collect::<Vec<_>>());
            let mut values = borrowed(&one);
            values.truncate(rows);
            values.append(borrowed(&two));
            let expected: Vec<_> = one.iter().take(rows).chain(&two).map(Option::as_deref).collect();
            prop_assert_eq!(seen(&values), expected);
            prop_assert!(values.present.is_empty() || values.present.len() == values.rows.div_ceil(8));
        }
    }

    #[test]
    fn lists_keep_step_with_their_rows() {
        let mut values = Values::new(ColumnType::Texts);
        for (row, list) in [&["a", "b"][..], &[], &["c"]].into_iter().enumerate() {
            values.push_list(row, list);
        }
        assert_eq!((values.lists.as_slice(), values.bytes.as_slice()), (&[0, 2, 2, 3][..], &b"abc"[..]));
        values.truncate(2);
        let mut more = Values::new(ColumnType::Texts);
        more.push_list(0, &["d", "e"]);
        values.append(more);
        assert_eq!((values.lists.as_slice(), values.offsets.as_slice()), (&[0, 2, 2, 4][..], &[0, 1, 2, 3, 4][..]));
        values.truncate(0);
        assert!(values.bytes.is_empty() && values.lists == [0]);
    }

    #[test]
    fn numbers_that_are_absent_have_a_slot() {
        let mut values = Values::new(ColumnType::Number);
        values.push_number(2, 7);
        values.pad(4);
        assert_eq!((values.numbers.as_slice(), values.present.as_slice()), (&[0, 0, 7, 0][..], &[0b100][..]));
        assert!(values.has(2) && !values.has(3));
    }
}
