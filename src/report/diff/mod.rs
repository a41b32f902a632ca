//! Comparing reports: findings against a baseline, growth between two snapshots, the trend over several.
//!
//! All of it works on [`Report`]; a report read from its JSON form and one that was just made are the same here. Lists in
//! reports are cut to their heaviest rows, so "not listed" never counts as "not there" unless the list is complete.

pub(crate) mod baseline;
pub(crate) mod compare;
pub(crate) mod copies;
mod gate;
pub(crate) mod growth;
pub(crate) mod history;
pub(crate) mod nights;
mod policy_change;
mod row_groups;
mod templates;
pub(in crate::report) mod trend;

pub use baseline::{Baseline, BaselineRow, BeforeRow, UndecidedRule};
pub use compare::{ComparePlan, Comparer, Comparison, LeftOut, SnapshotRow, compare};
pub use gate::{Condition, GateGap, GateRow, GateVerdict, MIN_PATTERN_GROWTH};
pub use growth::{Fate, Growth, PatternChange, PatternChanges, PatternCounts, Since, TypeChange};
pub use history::EarlierSnapshot;
pub use templates::{TemplateChange, TemplateDifference, TemplateSums};
pub use trend::{Reached, Trend};

use std::collections::BTreeMap;

use super::{Report, Warning, WarningKind, Weight};
use crate::error::Error;
use crate::pattern::segment::Separators;
use crate::record::Kind;
use crate::units::{Bytes, Millis};

/// A report with the name by which messages and later reports refer to it.
#[derive(Debug, Clone)]
pub struct NamedReport {
    /// Usually the last part of the file's name.
    pub name: String,
    /// The report.
    pub report: Report,
}

impl NamedReport {
    /// Reads the JSON form of a report, as [`Report::read`] does.
    pub fn read(json: &[u8], name: &str) -> Result<NamedReport, Error> {
        Ok(NamedReport { name: name.to_owned(), report: Report::read(json, name)? })
    }
}

/// Returns the separators of the names of two reports; those of the later one if they differ.
fn separators(first: &Report, last: &Report) -> Separators {
    // Reports of the first versions do not name theirs, and those of others may name anything.
    let of = |report: &Report| Separators::new(&report.options.separators).ok();
    of(last).or_else(|| of(first)).unwrap_or_default()
}

/// Figures that comparisons need.
impl Report {
    /// Returns when the snapshot was taken, if it says so.
    pub fn taken(&self) -> Option<Millis> {
        self.server.ctime.map(|seconds| Millis(seconds.saturating_mul(1000)))
    }

    /// Returns whether two reports are of one snapshot: of the same time, size and keys.
    pub(in crate::report) fn is_of_snapshot_of(&self, other: &Report) -> bool {
        self.snapshot_key().is_some_and(|key| other.snapshot_key() == Some(key))
    }

    /// Returns what two snapshots hardly have in common: time, size and number of keys; `None` without a time.
    pub(crate) fn snapshot_key(&self) -> Option<(Millis, Bytes, u64)> {
        Some((self.taken()?, self.source.bytes, self.totals.keys))
    }

    /// Returns the number of all keys and their memory.
    pub fn weight(&self) -> Weight {
        Weight { keys: self.totals.keys, memory: self.totals.memory }
    }

    /// Returns the memory of keys and tables together, where the report has it. A server without keys has no tables either.
    pub fn total(&self) -> Option<Bytes> {
        let nothing = || self.is_of_empty_server().then_some(Bytes(0));
        self.instance.as_ref().map(|instance| instance.total).or_else(nothing)
    }

    /// Returns whether the server has no keys, rather than none that were selected.
    pub(in crate::report) fn is_of_empty_server(&self) -> bool {
        self.weight() == Weight::default() && self.options.selection.is_empty()
    }

    /// Sums keys and memory of each type over its encodings; by name, so that sorting is stable across versions.
    fn weights_by_type(&self) -> BTreeMap<&'static str, Weight> {
        let mut types: BTreeMap<&str, Weight> = BTreeMap::new();
        for row in &self.types {
            let sum = types.entry(Kind::name(row.kind)).or_default();
            sum.keys = sum.keys.saturating_add(row.keys);
            sum.memory += row.memory;
        }
        types
    }

    /// Returns each listed pattern with its keys and memory.
    pub fn weights_by_pattern(&self) -> BTreeMap<&str, Weight> {
        let weight = |keys, memory| Weight { keys, memory };
        self.patterns.list.iter().map(|row| (row.pattern.as_str(), weight(row.keys, row.memory))).collect()
    }

    /// Returns true if the report lists every pattern of its snapshot, not just the heaviest.
    pub fn lists_all_patterns(&self) -> bool {
        self.unlisted_patterns() == 0
    }

    /// Returns how many patterns the list lacks, as it was cut.
    pub(crate) fn unlisted_patterns(&self) -> u64 {
        self.patterns.distinct.saturating_sub(self.patterns.list.len() as u64)
    }

    /// Returns true if its tree of patterns was in strict mode, or if that is not known.
    pub(crate) fn has_strict_patterns(&self) -> bool {
        let is_told = |warning: &Warning| matches!(warning.kind, WarningKind::CrowdedLevels | WarningKind::Other);
        self.warnings.iter().any(is_told)
    }

    /// Returns true if the snapshot was checked against a policy.
    pub fn has_findings(&self) -> bool {
        let findings = &self.findings;
        !(findings.policy.is_empty() && findings.checked.is_empty() && findings.list.is_empty())
    }
}
