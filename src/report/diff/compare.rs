//! Comparison of several snapshots: patterns that grew, appeared and vanished, findings that came and went, the memory trend.
//!
//! Only the first and the last report are kept whole; of those between them the trend needs a few figures. So a year of
//! nightly reports takes hardly more memory than two.

use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::policy_change::PolicyChange;
use super::trend::{self, Trend};
use super::{
    Baseline, Condition, GateRow, Growth, NamedReport, PatternChanges, TemplateChange, TypeChange, baseline, growth,
};
use crate::report::{Unknown, Warning, WarningKind, Weight};
use crate::units::{Bytes, Millis};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.compare/1";

/// Options of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct ComparePlan {
    /// Rows in each list.
    pub top: usize,
    /// Memory limit of each server: each file of the last snapshot is one. 0 is no limit, as in `redis.conf`.
    pub maxmemory: Option<Bytes>,
}

/// Comparison of several snapshots.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Comparison {
    /// Always `rdblens.compare/1`.
    #[cfg_attr(feature = "internals", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The program's version.
    pub rdblens: &'static str,
    /// The snapshots, nights in the order of time, others in the order given. What follows compares the first with the last.
    pub snapshots: Vec<SnapshotRow>,
    /// Nights that no figure is of, because something of them is missing.
    pub left_out: Vec<LeftOut>,
    /// Growth in total.
    pub growth: Growth,
    /// Growth by type, the largest change first.
    pub types: Vec<TypeChange>,
    /// Growth by pattern.
    pub patterns: PatternChanges,
    /// Hash templates of the first and the last snapshot; null if neither has any.
    pub hash_templates: Option<TemplateChange>,
    /// Findings of the last snapshot that are new or worse than in the first, and those that are fixed; null unless both
    /// were checked against a policy.
    pub findings: Option<Baseline>,
    /// Memory trend, with two or more complete snapshots whose times are known.
    pub trend: Option<Trend>,
    /// Conditions of `--fail-on`, in the order given.
    pub gate: Vec<GateRow>,
    /// Circumstances that the reader should know.
    pub warnings: Vec<Warning>,
}

/// One of the compared snapshots.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SnapshotRow {
    /// The input.
    pub name: String,
    /// When it was taken, in milliseconds.
    pub taken: Option<Millis>,
    /// The files that it was read from.
    pub files: Vec<String>,
    /// Keys.
    pub keys: u64,
    /// Memory of the keys.
    pub memory: Bytes,
    /// Memory of keys and tables, where the report has it.
    pub total: Option<Bytes>,
    /// False when it could not be read completely.
    pub complete: bool,
    /// Keys whose memory is unknown; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

impl SnapshotRow {
    /// Returns the row of a report.
    pub(in crate::report) fn of(NamedReport { name, report }: &NamedReport) -> SnapshotRow {
        SnapshotRow {
            name: name.clone(),
            taken: report.taken(),
            files: report.source.files.iter().map(|file| file.name.clone()).collect(),
            keys: report.totals.keys,
            memory: report.totals.memory,
            total: report.total(),
            complete: report.complete,
            unknown: report.totals.unknown,
        }
    }
}

/// A night that is not compared.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct LeftOut {
    /// Its name.
    pub name: String,
    /// When it was taken, in milliseconds, or the date in its name.
    pub taken: Option<Millis>,
    /// The files that there are.
    pub files: Vec<String>,
    /// Why it is left out.
    pub reason: Warning,
}

impl SnapshotRow {
    /// Returns its keys and their memory.
    pub fn weight(&self) -> Weight {
        Weight { keys: self.keys, memory: self.memory }
    }
}

impl Comparison {
    /// Returns the two snapshots that are compared with each other.
    pub fn ends(&self) -> Option<[&SnapshotRow; 2]> {
        Some([self.snapshots.first()?, self.snapshots.last()?])
    }

    /// Returns the milliseconds between the two snapshots, if the second is the later one.
    pub fn span(&self) -> Option<u64> {
        let [first, last] = self.ends()?.map(|row| row.taken);
        last?.0.checked_sub(first?.0).filter(|span| *span > 0).map(i64::unsigned_abs)
    }
}

/// Takes reports one by one, oldest first, and compares the first with the last.
#[derive(Debug, Default)]
pub struct Comparer {
    first: Option<NamedReport>,
    last: Option<NamedReport>,
    points: Vec<Point>,
    left_out: Vec<LeftOut>,
    notes: Vec<Warning>,
}

/// Figures of a report that are needed even if it is neither the first nor the last.
#[derive(Debug)]
pub(super) struct Point {
    pub row: SnapshotRow,
    selection: Vec<String>,
    separators: Vec<String>,
    model: String,
}

impl Point {
    pub fn of(named: &NamedReport) -> Point {
        let report = &named.report;
        Point {
            row: SnapshotRow::of(named),
            selection: report.options.selection.clone(),
            separators: report.options.separators_in_order(),
            model: report.server.model.clone(),
        }
    }
}

impl Comparer {
    /// Adds the next report.
    pub fn add(&mut self, report: NamedReport) {
        self.points.push(Point::of(&report));
        match &self.first {
            None => self.first = Some(report),
            Some(_) => self.last = Some(report),
        }
    }

    /// Adds a night that is not compared.
    pub fn leave_out(&mut self, night: LeftOut) {
        self.left_out.push(night);
    }

    /// Adds a circumstance that the reader should know.
    pub fn note(&mut self, note: Warning) {
        self.notes.push(note);
    }

    /// Returns the comparison, or `None` with fewer than two reports.
    pub fn finish(self, plan: &ComparePlan) -> Option<Comparison> {
        self.finish_with(plan, &[])
    }

    /// Returns the comparison with the result of each condition, or `None` with fewer than two reports.
    pub fn finish_with(self, plan: &ComparePlan, conditions: &[Condition]) -> Option<Comparison> {
        let (first, last) = (self.first?, self.last?);
        let servers = last.report.servers().len().max(1) as u64;
        let limit = plan.maxmemory.filter(|limit| limit.0 > 0).map(|limit| Bytes(limit.0.saturating_mul(servers)));
        let mut trend = trend::trend(&self.points, limit);
        if let (Some(trend), Some(instance)) = (&mut trend, &last.report.instance) {
            trend.note_used(instance.used_mem);
        }
        let policies = PolicyChange::of_reports(&first.report, &last.report);
        let mut warnings = warnings(&self.points, trend.is_some(), limit.is_some());
        warnings.extend(policies.as_ref().and_then(PolicyChange::warning).map(Warning::new));
        if first.report.is_of_snapshot_of(&last.report) {
            warnings.push(Warning::about(&last.name, WarningKind::SameSnapshot { of: first.name.clone() }));
        }
        let findings = policies.as_ref().map(|it| baseline::across_policies(&first, &last.report, it));
        warnings.extend(findings.as_ref().and_then(Baseline::undecided_warning).map(Warning::new));
        let mut comparison = Comparison {
            schema: SCHEMA,
            rdblens: env!("CARGO_PKG_VERSION"),
            growth: growth::between(first.report.weight(), last.report.weight()),
            types: growth::types(&first.report, &last.report),
            patterns: growth::patterns(&first.report, &last.report, plan.top),
            hash_templates: TemplateChange::between(&first.report, &last.report),
            findings,
            warnings: warnings.into_iter().chain(self.notes).collect(),
            trend,
            left_out: self.left_out,
            snapshots: self.points.into_iter().map(|point| point.row).collect(),
            gate: Vec::new(),
        };
        comparison.gate = conditions.iter().map(|condition| condition.evaluate(&comparison, &first, &last)).collect();
        Some(comparison)
    }
}

/// Compares reports given oldest first; returns `None` with fewer than two.
///
/// ```
/// use rdblens::{ComparePlan, NamedReport, Plan, ReadPlan, Unwatched, analyze, compare};
///
/// let plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
/// let mut reports = Vec::new();
/// for name in ["testdata/dumps/shop.rdb", "testdata/dumps/shop-later.rdb"] {
///     reports.push(NamedReport { name: name.to_owned(), report: analyze(&[name], &plan, &Unwatched)? });
/// }
/// let comparison = compare(reports, &ComparePlan { top: 10, maxmemory: None }).expect("two reports");
/// assert!(comparison.growth.memory > 0);
/// # Ok::<(), rdblens::Error>(())
/// ```
pub fn compare(reports: impl IntoIterator<Item = NamedReport>, plan: &ComparePlan) -> Option<Comparison> {
    let mut comparer = Comparer::default();
    reports.into_iter().for_each(|report| comparer.add(report));
    comparer.finish(plan)
}

/// Notes what makes figures differ by itself, and what is missing for a trend; `wants_trend` if a forecast was asked for.
fn warnings(points: &[Point], has_trend: bool, wants_trend: bool) -> Vec<Warning> {
    let mut warnings = Vec::new();
    for point in points.iter().filter(|point| !point.row.complete) {
        warnings.push(Warning::about(&point.row.name, WarningKind::SnapshotIncomplete));
    }
    if (!warnings.is_empty() || wants_trend) && !has_trend {
        warnings.push(Warning::new(WarningKind::NoTrend));
    }
    for row in points.iter().map(|point| &point.row).filter(|row| !row.unknown.is_none()) {
        let Unknown { keys, stored_bytes } = row.unknown;
        let kind = WarningKind::UnknownMemory { keys, stored_bytes, modules: Vec::new() };
        warnings.push(Warning::about(&row.name, kind));
    }
    let selections: BTreeSet<_> = points.iter().map(|point| &point.selection).collect();
    if selections.len() > 1 {
        warnings.push(Warning::new(WarningKind::SelectionsDiffer));
    }
    let separators = points.iter().map(|point| &point.separators[..]);
    warnings.extend(WarningKind::separators_differ(separators).map(Warning::new));
    let models: BTreeSet<_> = points.iter().map(|point| point.model.as_str()).collect();
    if models.len() > 1 {
        let models = models.into_iter().map(str::to_owned).collect();
        warnings.push(Warning::new(WarningKind::ModelsDiffer { models }));
    }
    let times: Vec<_> = points.iter().filter_map(|point| point.row.taken).collect();
    if times.len() < points.len() {
        warnings.push(Warning::new(WarningKind::TimesMissing));
    }
    if !times.is_sorted() {
        warnings.push(Warning::new(WarningKind::NotInOrder));
    }
    warnings
}

#[cfg(test)]
pub(super) mod tests;
