//! Lists of a comparison as CSV.

use std::io::{self, Write};

use super::rows::{BASELINE_COLUMNS, GROWTH_COLUMNS, baseline, growth, row};
use super::sheet::{CsvRow, Sheet};
use crate::report::{Comparison, SnapshotRow};

/// A list of a comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ComparisonList {
    /// Keys and memory of the first and the last snapshot: the whole, by type and by pattern.
    #[default]
    Growth,
    /// The snapshots.
    Snapshots,
    /// Findings that are new, worse or fixed.
    Findings,
}

impl ComparisonList {
    /// All lists, the default first.
    pub const ALL: [ComparisonList; 3] = [ComparisonList::Growth, ComparisonList::Snapshots, ComparisonList::Findings];

    /// Returns the name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            ComparisonList::Growth => "growth",
            ComparisonList::Snapshots => "snapshots",
            ComparisonList::Findings => "findings",
        }
    }

    /// Returns the names of its columns.
    pub fn columns(self) -> Vec<&'static str> {
        match self {
            ComparisonList::Growth => GROWTH_COLUMNS,
            ComparisonList::Snapshots => "name taken keys memory total complete",
            ComparisonList::Findings => BASELINE_COLUMNS,
        }
        .split(' ')
        .collect()
    }

    /// Writes the list.
    pub fn write(self, comparison: &Comparison, out: &mut dyn Write) -> io::Result<()> {
        let rows: Vec<CsvRow> = match self {
            ComparisonList::Growth => comparison.ends().map_or_else(Vec::new, |[first, last]| {
                growth([first.weight(), last.weight()], &comparison.types, &comparison.patterns)
            }),
            ComparisonList::Snapshots => comparison.snapshots.iter().map(snapshot).collect(),
            ComparisonList::Findings => comparison.findings.iter().flat_map(baseline).collect(),
        };
        Sheet::new(&self.columns(), rows).write(out)
    }
}

fn snapshot(it: &SnapshotRow) -> CsvRow {
    row().text(&it.name).number(it.taken).known_weight(it.keys, it.memory).number(it.total).flag(it.complete)
}
