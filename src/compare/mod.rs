//! Snapshots of several nights against each other: which patterns grew, appeared and vanished, which findings came and went,
//! and when the memory will be used up.
//!
//! What is compared are reports ([`Stored`]); a dump is analysed first. A report may list only its heaviest patterns. Then a
//! pattern that is on one side alone is not called new or vanished: it stands with an unknown figure on the other.

mod trend;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analyze::{baseline, growth};
use crate::policy::registry;
use crate::report::{
    Baseline, Finding, FindingPattern, Findings, Growth, PatternChanges, Stored, StoredFinding, TypeChange,
};
use crate::units::{Bytes, Millis};
pub use trend::{Reached, Trend};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.compare/1";

/// What a comparison shows.
#[derive(Debug, Clone, Copy)]
pub struct ComparePlan {
    /// Rows in each list.
    pub top: usize,
    /// The memory that there is.
    pub maxmemory: Option<Bytes>,
}

/// Several snapshots, compared.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct Comparison {
    /// Always `rdblens.compare/1`.
    #[schemars(extend("const" = SCHEMA))]
    pub schema: &'static str,
    /// The program's version.
    pub rdblens: &'static str,
    /// The snapshots, in the order given. What follows compares the first with the last.
    pub snapshots: Vec<SnapshotRow>,
    /// By how much the whole grew.
    pub growth: Growth,
    /// By type, the largest change first.
    pub types: Vec<TypeChange>,
    /// Patterns.
    pub patterns: PatternChanges,
    /// Findings of the last snapshot that the first did not have or had less of, and those that are gone; null unless both
    /// were held against a policy.
    pub findings: Option<Baseline>,
    /// Where the memory goes, with two snapshots or more whose times are known.
    pub trend: Option<Trend>,
    /// What the reader should know.
    pub warnings: Vec<String>,
}

/// One snapshot.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct SnapshotRow {
    /// The input.
    pub name: String,
    /// When it was taken, in milliseconds.
    pub taken: Option<Millis>,
    /// Keys.
    pub keys: u64,
    /// Memory of the keys.
    pub memory: Bytes,
    /// Memory of keys and tables, where the report has it.
    pub total: Option<Bytes>,
    /// False when it could not be read whole.
    pub complete: bool,
}

/// Compares the first of the snapshots with the last, and draws a line through all. There have to be two.
pub fn compare(snapshots: &[Stored], plan: &ComparePlan) -> Option<Comparison> {
    let [first, .., last] = snapshots else { return None };
    Some(Comparison {
        schema: SCHEMA,
        rdblens: env!("CARGO_PKG_VERSION"),
        snapshots: snapshots.iter().map(row).collect(),
        growth: growth::between(first.whole(), last.whole()),
        types: growth::types(first, last),
        patterns: growth::patterns(first, last, plan.top),
        findings: findings(first, last),
        trend: trend::trend(snapshots, plan.maxmemory),
        warnings: warnings(snapshots),
    })
}

fn row(stored: &Stored) -> SnapshotRow {
    SnapshotRow {
        name: stored.name.clone(),
        taken: stored.taken(),
        keys: stored.keys,
        memory: stored.memory,
        total: stored.total,
        complete: stored.complete,
    }
}

fn findings(first: &Stored, last: &Stored) -> Option<Baseline> {
    first.findings.as_ref()?;
    let list = last.findings.as_ref()?;
    let known = |finding: &StoredFinding| {
        let meta = registry::find(&finding.rule)?.meta;
        let row = |row: &crate::report::StoredRow| FindingPattern {
            pattern: row.pattern.clone(),
            keys: row.keys,
            memory: row.memory,
            measured: row.measured,
            allowed: row.allowed,
            ..FindingPattern::default()
        };
        Some(Finding {
            rule: meta.id.into(),
            severity: finding.severity,
            demand: meta.what.into(),
            fix: meta.fix.into(),
            unit: None,
            keys: finding.keys,
            memory: finding.memory,
            saves: None,
            distinct_patterns: finding.distinct_patterns,
            worst: None,
            patterns: finding.patterns.iter().map(row).collect(),
        })
    };
    let checked = last.checked.iter().filter_map(|id| registry::find(id)).map(|rule| rule.meta.id.into()).collect();
    let now = Findings { checked, list: list.iter().filter_map(known).collect(), ..Findings::default() };
    Some(baseline::against(first, &now))
}

fn warnings(snapshots: &[Stored]) -> Vec<String> {
    let mut warnings = Vec::new();
    for stored in snapshots.iter().filter(|stored| !stored.complete) {
        warnings.push(format!("{}: could not be read whole: what it lacks looks like shrinking", stored.name));
    }
    let selections: std::collections::BTreeSet<_> = snapshots.iter().map(|stored| &stored.selection).collect();
    if selections.len() > 1 {
        warnings.push("the reports were made with different selections of keys".to_owned());
    }
    let policies: std::collections::BTreeSet<_> =
        snapshots.iter().filter_map(|stored| stored.policy.as_ref()).collect();
    if policies.len() > 1 {
        warnings.push("the reports were held against different policies".to_owned());
    }
    let models: std::collections::BTreeSet<_> = snapshots.iter().map(|stored| &stored.model).collect();
    if models.len() > 1 {
        let models: Vec<_> = models.into_iter().map(String::as_str).collect();
        let models = models.join("; ");
        warnings.push(format!("the figures are of different servers, which changes them by itself: {models}"));
    }
    let times: Vec<_> = snapshots.iter().filter_map(Stored::taken).collect();
    if times.len() < snapshots.len() {
        warnings.push("not every snapshot says when it was taken: those are left out of the trend".to_owned());
    }
    if !times.is_sorted() {
        warnings.push("the snapshots are not in the order of their times".to_owned());
    }
    warnings
}

#[cfg(test)]
mod tests;
