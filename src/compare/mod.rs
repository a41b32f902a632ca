//! Snapshots of several nights against each other: which patterns grew, appeared and vanished, which findings came and went,
//! and when the memory will be used up.
//!
//! What is compared are reports ([`Stored`]); a dump is analysed first. A report may list only its heaviest patterns. Then a
//! pattern that is on one side alone is not called new or vanished: it stands with an unknown figure on the other.

mod trend;

use std::cmp::Reverse;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Serialize;

use crate::analyze::baseline;
use crate::policy::{Severity, registry};
use crate::report::{Baseline, Finding, FindingPattern, Findings, Stored, StoredFinding, Weight};
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

/// A change of keys and memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, JsonSchema)]
pub struct Growth {
    /// Keys more; negative if less.
    pub keys: i64,
    /// Memory more.
    pub memory: i64,
    /// The change of the memory as a part of what it was; null where nothing was.
    pub share: Option<f64>,
}

/// Keys of one type.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub struct TypeChange {
    /// The type.
    #[serde(rename = "type")]
    pub kind: String,
    /// Before.
    pub before: Weight,
    /// After.
    pub after: Weight,
    /// The difference.
    #[serde(flatten)]
    pub growth: Growth,
}

/// Changes of patterns, each list with the largest change first.
#[derive(Debug, Clone, Default, Serialize, JsonSchema)]
pub struct PatternChanges {
    /// Those that take more memory or have more keys.
    pub grown: Vec<PatternChange>,
    /// Those that take less.
    pub shrunk: Vec<PatternChange>,
    /// Those that were not there.
    pub new: Vec<PatternChange>,
    /// Those that are not there any more.
    pub vanished: Vec<PatternChange>,
    /// Those that only one of two reports lists, where the other lists its heaviest patterns only.
    pub uncertain: Vec<PatternChange>,
    /// How many there are of each, listed or not.
    pub counts: PatternCounts,
}

/// How many patterns changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
#[allow(missing_docs)]
pub struct PatternCounts {
    pub grown: u64,
    pub shrunk: u64,
    pub new: u64,
    pub vanished: u64,
    pub unchanged: u64,
    pub uncertain: u64,
}

/// The change of one pattern.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PatternChange {
    /// The pattern.
    pub pattern: String,
    /// Before; null if it was not there, or the report does not list it.
    pub before: Option<Weight>,
    /// After; null the same way.
    pub after: Option<Weight>,
    /// The difference; where a side is unknown, it counts as nothing.
    #[serde(flatten)]
    pub growth: Growth,
}

/// Compares the first of the snapshots with the last, and draws a line through all. There have to be two.
pub fn compare(snapshots: &[Stored], plan: &ComparePlan) -> Option<Comparison> {
    let [first, .., last] = snapshots else { return None };
    let whole = |stored: &Stored| Weight { keys: stored.keys, memory: stored.memory };
    Some(Comparison {
        schema: SCHEMA,
        rdblens: env!("CARGO_PKG_VERSION"),
        snapshots: snapshots.iter().map(row).collect(),
        growth: growth(whole(first), whole(last)),
        types: types(first, last),
        patterns: patterns(first, last, plan.top),
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

fn growth(before: Weight, after: Weight) -> Growth {
    let difference = |after: u64, before: u64| {
        let size = i64::try_from(after.abs_diff(before)).unwrap_or(i64::MAX);
        if after >= before { size } else { -size }
    };
    let share = (before.memory.0 > 0).then(|| after.memory.0 as f64 / before.memory.0 as f64 - 1.0);
    Growth { keys: difference(after.keys, before.keys), memory: difference(after.memory.0, before.memory.0), share }
}

fn types(first: &Stored, last: &Stored) -> Vec<TypeChange> {
    let mut types: BTreeMap<&str, (Weight, Weight)> = BTreeMap::new();
    first.types.iter().for_each(|(kind, weight)| types.entry(kind).or_default().0 = *weight);
    last.types.iter().for_each(|(kind, weight)| types.entry(kind).or_default().1 = *weight);
    let change = |(kind, (before, after)): (&str, (Weight, Weight))| TypeChange {
        kind: kind.to_owned(),
        before,
        after,
        growth: growth(before, after),
    };
    let mut types: Vec<_> = types.into_iter().map(change).collect();
    types.sort_by_key(|change| Reverse(change.growth.memory.unsigned_abs()));
    types
}

/// The patterns of a report, and whether they are all.
fn listed(stored: &Stored) -> (BTreeMap<&str, Weight>, bool) {
    let patterns = stored.patterns.iter().map(|row| (row.pattern.as_str(), row.weight)).collect();
    (patterns, stored.patterns.len() as u64 >= stored.distinct_patterns)
}

fn patterns(first: &Stored, last: &Stored, top: usize) -> PatternChanges {
    let ((before, before_whole), (after, after_whole)) = (listed(first), listed(last));
    let mut changes = PatternChanges::default();
    let names: std::collections::BTreeSet<&str> = before.keys().chain(after.keys()).copied().collect();
    for name in names {
        let (before, after) = (before.get(name).copied(), after.get(name).copied());
        let change = PatternChange {
            pattern: name.to_owned(),
            before,
            after,
            growth: growth(before.unwrap_or_default(), after.unwrap_or_default()),
        };
        let counts = &mut changes.counts;
        let (list, count) = match (before, after) {
            (None, _) if before_whole => (&mut changes.new, &mut counts.new),
            (_, None) if after_whole => (&mut changes.vanished, &mut counts.vanished),
            (None, _) | (_, None) => (&mut changes.uncertain, &mut counts.uncertain),
            _ if (change.growth.memory, change.growth.keys) > (0, 0) => (&mut changes.grown, &mut counts.grown),
            _ if (change.growth.memory, change.growth.keys) < (0, 0) => (&mut changes.shrunk, &mut counts.shrunk),
            _ => {
                counts.unchanged += 1;
                continue;
            }
        };
        *count += 1;
        list.push(change);
    }
    let lists =
        [&mut changes.grown, &mut changes.shrunk, &mut changes.new, &mut changes.vanished, &mut changes.uncertain];
    for list in lists {
        // Stable: of equal changes the smaller name comes first.
        list.sort_by_key(|change| Reverse((change.growth.memory.unsigned_abs(), change.growth.keys.unsigned_abs())));
        list.truncate(top);
    }
    changes
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
            severity: Severity::parse(&finding.severity)?.name().into(),
            demand: meta.what.into(),
            fix: meta.fix.into(),
            unit: None,
            keys: finding.keys,
            memory: finding.memory,
            saves: None,
            distinct_patterns: finding.distinct_patterns,
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
