//! Lists of a comparison key by key as CSV.

use std::io::{self, Write};

use super::rows::row;
use super::sheet::{CsvRow, Sheet};
use crate::render::key_rows::{self, DifferingRow};
use crate::report::key_comparison::{DifferenceCounts, KeyComparison, KeyDifference, KeySide};

/// A list of a comparison key by key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyComparisonList {
    /// Keys by what became of them.
    #[default]
    Sums,
    /// Both sides.
    Sides,
    /// Differing keys by type.
    Types,
    /// Differing keys by pattern.
    Patterns,
    /// The largest differing keys.
    Examples,
}

impl KeyComparisonList {
    /// All lists, the default first.
    pub const ALL: [KeyComparisonList; 5] = [
        KeyComparisonList::Sums,
        KeyComparisonList::Sides,
        KeyComparisonList::Types,
        KeyComparisonList::Patterns,
        KeyComparisonList::Examples,
    ];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            KeyComparisonList::Sums => "sums",
            KeyComparisonList::Sides => "sides",
            KeyComparisonList::Types => "types",
            KeyComparisonList::Patterns => "patterns",
            KeyComparisonList::Examples => "examples",
        }
    }

    /// Returns the names of its columns.
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            KeyComparisonList::Sums => "what keys memory",
            KeyComparisonList::Sides => "side name taken keys memory expired duplicates unreadable complete",
            KeyComparisonList::Types => "type differing added removed changed expired",
            KeyComparisonList::Patterns => "pattern differing added removed changed expired",
            KeyComparisonList::Examples => return key_rows::COLUMNS.to_vec(),
        }
        .split(' ')
        .collect()
    }

    /// Writes the list.
    pub fn write(self, comparison: &KeyComparison, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<CsvRow> = match self {
            KeyComparisonList::Sums => sums(comparison),
            KeyComparisonList::Sides => {
                vec![side("before", &comparison.before), side("after", &comparison.after)]
            }
            KeyComparisonList::Types => {
                comparison.types.iter().map(|it| counts(row().text(it.kind.name()), it.counts)).collect()
            }
            KeyComparisonList::Patterns => {
                comparison.patterns.iter().map(|it| counts(row().text(&it.pattern), it.counts)).collect()
            }
            KeyComparisonList::Examples => {
                comparison.examples.iter().map(|change| DifferingRow::of(change).csv()).collect()
            }
        };
        Sheet::new(&self.columns(), rows).write(out)
    }
}

/// Returns the sums: keys that are equal, that differ, and that differ in each way.
fn sums(comparison: &KeyComparison) -> Vec<CsvRow> {
    let sums = &comparison.sums;
    let total = |name: &str, keys: u64| row().text(name).number(keys).text("");
    let of_difference = |difference: KeyDifference| {
        let (keys, memory) = sums.of(difference);
        row().text(difference.name()).number(keys).number(memory)
    };
    let totals = [total("equal", sums.equal), total("differing", sums.differing)];
    totals.into_iter().chain(KeyDifference::ALL.map(of_difference)).collect()
}

fn side(name: &str, it: &KeySide) -> CsvRow {
    row()
        .text(name)
        .text(&it.name)
        .number(it.taken)
        .known_weight(it.keys, it.memory)
        .number(it.expired)
        .number(it.duplicates)
        .number(it.unreadable)
        .flag(it.complete)
}

fn counts(row: CsvRow, it: DifferenceCounts) -> CsvRow {
    row.number(it.differing).number(it.added).number(it.removed).number(it.changed).number(it.expired)
}
