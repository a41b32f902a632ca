//! Names and types of the columns of rows.

use super::RowColumns;
use crate::error::{Error, Result};
use crate::near;
use crate::record::ModuleFacts;

/// Type of the values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnType {
    /// True or false.
    Bool,
    /// A number below 2¹⁵.
    Small,
    /// A number below 2⁶³.
    Number,
    /// Milliseconds since the epoch.
    Time,
    /// UTF-8.
    Text,
    /// Any number of texts.
    Texts,
    /// Any bytes.
    Binary,
}

/// A column, as readers see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// Type of its values.
    pub holds: ColumnType,
    /// Set if every row has a value.
    pub required: bool,
}

const fn required(name: &'static str, holds: ColumnType) -> Column {
    Column { name, holds, required: true }
}

const fn optional(name: &'static str, holds: ColumnType) -> Column {
    Column { name, holds, required: false }
}

/// Number of columns before those of [`ModuleFacts`].
pub(super) const FIRST: usize = 18;

/// Number of columns without labels.
const FACTS: usize = ELEMENTS + LENGTHS.len();

/// Position of the first of [`LENGTHS`].
pub(super) const ELEMENTS: usize = FIRST + ModuleFacts::NUMBERS.len() + 1;

/// Columns with the lengths of elements, which take a second look at packed values.
pub const LENGTHS: [&str; 2] = ["longest_element", "mean_element"];

/// All columns, in the order of [`Columns::push`]; the last three are labels.
pub(super) const COLUMNS: [Column; FACTS + 3] = [
    required("db", ColumnType::Number),
    optional("key", ColumnType::Text),
    optional("key_bytes", ColumnType::Binary),
    required("type", ColumnType::Text),
    optional("module", ColumnType::Text),
    required("encoding", ColumnType::Text),
    optional("length", ColumnType::Number),
    optional("memory", ColumnType::Number),
    required("disk", ColumnType::Number),
    optional("expires_at", ColumnType::Time),
    optional("idle", ColumnType::Number),
    optional("freq", ColumnType::Small),
    required("slot", ColumnType::Small),
    required("pattern", ColumnType::Text),
    optional("fields_with_ttl", ColumnType::Number),
    optional("groups", ColumnType::Number),
    optional("pending", ColumnType::Number),
    optional("source", ColumnType::Text),
    optional("filters", ColumnType::Number),
    optional("capacity", ColumnType::Number),
    optional("items", ColumnType::Number),
    optional("width", ColumnType::Number),
    optional("depth", ColumnType::Number),
    optional("k", ColumnType::Number),
    optional("samples", ColumnType::Number),
    optional("chunks", ColumnType::Number),
    optional("dimension", ColumnType::Number),
    optional("elements", ColumnType::Number),
    optional("levels", ColumnType::Number),
    optional("quantization", ColumnType::Text),
    optional(LENGTHS[0], ColumnType::Number),
    optional(LENGTHS[1], ColumnType::Number),
    required("breaks", ColumnType::Texts),
    optional("owner", ColumnType::Text),
    optional("class", ColumnType::Text),
];

/// Returns all columns that rows can have.
pub fn columns(columns: RowColumns) -> &'static [Column] {
    match columns {
        RowColumns::Facts => COLUMNS.split_at(FACTS).0,
        RowColumns::Labeled => &COLUMNS,
    }
}

/// Columns of rows of differing keys, in the order of [`Columns::push_differing`].
#[cfg(feature = "parquet")]
pub(super) const DIFFERING: [Column; 19] = [
    required("change", ColumnType::Texts),
    required("db", ColumnType::Number),
    optional("key", ColumnType::Text),
    optional("key_bytes", ColumnType::Binary),
    optional("type_before", ColumnType::Text),
    optional("type_after", ColumnType::Text),
    optional("module_before", ColumnType::Text),
    optional("module_after", ColumnType::Text),
    optional("length_before", ColumnType::Number),
    optional("length_after", ColumnType::Number),
    optional("memory_before", ColumnType::Number),
    optional("memory_after", ColumnType::Number),
    optional("expires_at_before", ColumnType::Time),
    optional("expires_at_after", ColumnType::Time),
    optional("source_before", ColumnType::Text),
    optional("source_after", ColumnType::Text),
    required("copies_before", ColumnType::Number),
    required("copies_after", ColumnType::Number),
    required("certain", ColumnType::Bool),
];

/// Choice of columns, in an order of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnChoice {
    /// Position of each chosen column among all.
    chosen: Vec<usize>,
}

impl ColumnChoice {
    /// Chooses all of these columns.
    pub fn all(of: RowColumns) -> ColumnChoice {
        ColumnChoice { chosen: (0..columns(of).len()).collect() }
    }

    /// Chooses columns by name. Fails if there is none of that name, or if one is named twice.
    pub fn of<S: AsRef<str>>(names: &[S], of: RowColumns) -> Result<ColumnChoice> {
        let mut chosen = Vec::with_capacity(names.len());
        for name in names.iter().map(AsRef::as_ref) {
            let known = columns(of);
            let Some(at) = known.iter().position(|column| column.name == name) else {
                let near = near::did_you_mean(&near::names(name, known.iter().map(|column| column.name)));
                let all: Vec<_> = known.iter().map(|column| column.name).collect();
                return Err(Error::usage(format!("no column \"{name}\""))
                    .with_hint(format!("{near}the columns are {}", all.join(", "))));
            };
            if chosen.contains(&at) {
                return Err(Error::usage(format!("column \"{name}\" is named twice")));
            }
            chosen.push(at);
        }
        Ok(ColumnChoice { chosen })
    }

    /// Returns the chosen columns.
    pub fn columns(&self) -> impl Iterator<Item = &'static Column> {
        self.chosen.iter().filter_map(|&at| COLUMNS.get(at))
    }

    /// Returns whether the column of this name is chosen.
    pub fn has(&self, name: &str) -> bool {
        self.columns().any(|column| column.name == name)
    }

    /// Returns the position of each chosen column among all.
    pub(super) fn positions(&self) -> &[usize] {
        &self.chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_chosen_by_name_in_any_order() {
        let choice = ColumnChoice::of(&["memory", "key"], RowColumns::Facts).unwrap();
        assert_eq!(choice.columns().map(|column| column.name).collect::<Vec<_>>(), ["memory", "key"]);
        assert!(choice.has("key") && !choice.has("pattern"));
        let unknown = ColumnChoice::of(&["memroy"], RowColumns::Facts).unwrap_err().to_string();
        assert!(unknown.contains("did you mean") && unknown.contains("memory"), "{unknown}");
        assert!(ColumnChoice::of(&["key", "key"], RowColumns::Facts).is_err());
        assert!(ColumnChoice::of(&["owner"], RowColumns::Facts).is_err());
        assert!(ColumnChoice::of(&["owner"], RowColumns::Labeled).is_ok());
    }
}
