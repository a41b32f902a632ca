//! Metrics of a comparison: what grew, and how fast.
//!
//! Their names are their own, so that they may stand in one directory with those of a report.

use std::io::{self, Write};

use super::exposition::{Exposition, SampleValue};
use crate::report::known_memory;
use crate::report::{Comparison, GateRow, GateVerdict, PatternChange, SnapshotRow, Trend, Weight};

/// Writes a comparison, with series for at most `top` patterns.
pub fn write_comparison(
    comparison: &Comparison,
    top: usize,
    labels: Vec<(String, String)>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let mut metrics = Exposition::new(labels);
    let to = &mut metrics;
    to.family("rdblens_compare_info", "Build that made the comparison; always 1.")
        .sample(&[("version", comparison.rdblens)], true);
    to.one("rdblens_compare_snapshots", "Snapshots that were compared.", Some(comparison.snapshots.len() as u64));
    let incomplete = comparison.snapshots.iter().filter(|row| !row.complete).count() as u64;
    to.one("rdblens_compare_snapshots_incomplete", "Snapshots that could not be read completely.", Some(incomplete));
    let left_out = comparison.left_out.len() as u64;
    to.one("rdblens_compare_nights_left_out", "Nights that were left out because they are incomplete.", Some(left_out));
    ends(comparison, to);
    let growth = comparison.growth;
    to.one("rdblens_compare_growth_keys", "Keys of the last snapshot minus those of the first.", Some(growth.keys));
    let bytes = "Memory of the keys of the last snapshot minus that of the first.";
    let is_known = |row: &SnapshotRow| known_memory(row.keys, row.memory).is_some();
    let known = comparison.ends().is_none_or(|ends| ends.into_iter().all(is_known)).then_some(growth.memory);
    to.one("rdblens_compare_growth_bytes", bytes, known);
    to.one(
        "rdblens_compare_growth_ratio",
        "Growth of the memory of the keys as a fraction of the memory before.",
        growth.share,
    );
    if let Some(it) = &comparison.trend {
        trend(it, to);
    }
    patterns(comparison, top, to);
    findings(comparison, to);
    gate(&comparison.gate, to);
    metrics.write(out)
}

fn ends(comparison: &Comparison, to: &mut Exposition) {
    let Some(ends) = comparison.ends() else { return };
    let mut each = |name, help, value: &dyn Fn(&SnapshotRow) -> Option<SampleValue>| {
        let family = to.family(name, help);
        for (stat, row) in ["first", "last"].into_iter().zip(ends) {
            if let Some(value) = value(row) {
                family.sample(&[("stat", stat)], value);
            }
        }
    };
    let taken = "When the first and the last snapshot were taken.";
    each("rdblens_compare_timestamp_seconds", taken, &|row| row.taken.map(SampleValue::from));
    each("rdblens_compare_keys", "Keys of the first and the last snapshot.", &|row| Some(row.keys.into()));
    let memory = "Memory of the keys of the first and the last snapshot.";
    each("rdblens_compare_memory_bytes", memory, &|row| known_memory(row.keys, row.memory).map(SampleValue::from));
    let total = "Memory of keys and tables of the first and the last snapshot.";
    each("rdblens_compare_total_bytes", total, &|row| row.total.map(SampleValue::from));
}

fn trend(trend: &Trend, to: &mut Exposition) {
    let family = to.family("rdblens_trend_bytes_per_day", "Growth per day, by linear regression over all snapshots.");
    family.sample(&[("stat", "line")], trend.per_day);
    if let Some([least, most]) = trend.per_day_range {
        family.sample(&[("stat", "least")], least).sample(&[("stat", "most")], most);
    }
    let Some(reached) = trend.reached else { return };
    to.one("rdblens_trend_limit_exceeded", "Whether the limit is exceeded already.", Some(reached.already));
    let family = to.family("rdblens_trend_limit_reached_timestamp_seconds", "Forecast of when the limit is reached.");
    for (stat, at) in [("line", reached.at), ("earliest", reached.earliest), ("latest", reached.latest)] {
        if let Some(at) = at {
            family.sample(&[("stat", stat)], at);
        }
    }
}

fn patterns(comparison: &Comparison, top: usize, to: &mut Exposition) {
    let changes = comparison.patterns.certain();
    let changes = changes.get(..top).unwrap_or(&changes);
    let mut each = |name, help, value: &dyn Fn(&PatternChange) -> Option<i64>| {
        let family = to.family(name, help);
        for (fate, change) in changes {
            if let Some(value) = value(change) {
                family.sample(&[("pattern", &change.pattern), ("change", fate.name())], value);
            }
        }
    };
    let is_known = |weight: &Weight| known_memory(weight.keys, weight.memory).is_some();
    let bytes = "Change in the memory of the patterns that changed most.";
    each("rdblens_pattern_growth_bytes", bytes, &|change| {
        [change.before, change.after].iter().flatten().all(is_known).then_some(change.growth?.memory)
    });
    each("rdblens_pattern_growth_keys", "Change in the number of keys of the patterns that changed most.", &|change| {
        Some(change.growth?.keys)
    });
}

fn gate(rows: &[GateRow], to: &mut Exposition) {
    let family = to.family("rdblens_compare_gate_failed", "Whether the condition of --fail-on failed.").apart();
    for row in rows {
        family.sample(&[("condition", &row.condition)], row.verdict == GateVerdict::Failed);
    }
    let evaluated = "Whether the condition of --fail-on could be evaluated.";
    let family = to.family("rdblens_compare_gate_evaluated", evaluated).apart();
    for row in rows {
        family.sample(&[("condition", &row.condition)], row.verdict != GateVerdict::NotEvaluated);
    }
}

fn findings(comparison: &Comparison, to: &mut Exposition) {
    let Some(findings) = &comparison.findings else { return };
    let family = to.family("rdblens_compare_findings", "Changes of findings since the first snapshot.");
    for (change, list) in findings.lists() {
        family.sample(&[("change", change.name())], list.len() as u64);
    }
    family.sample(&[("change", "undecided")], findings.undecided.len() as u64);
}
