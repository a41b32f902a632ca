//! The gate of `--fail-on`: exit status by findings, and by rules that were not evaluated.

use std::collections::BTreeMap;

use super::ExitStatus;
use super::message::notice;
use crate::render::Lang;
use crate::render::human::counted;
use crate::render::words::nouns;
use crate::report::{NotEvaluated, Report, Severity};

/// Maximum number of rules in the message.
const NAMED: usize = 10;

/// Conditions under which a run fails.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// Lowest severity that counts; `None` to let all findings pass.
    pub fail_on: Option<Severity>,
    /// True if rules that were not evaluated fail it, too.
    pub strict: bool,
    /// True if standard output shows what fails it.
    pub is_shown: bool,
}

impl Gate {
    /// Returns the exit status for a report. Says on standard error what could not be judged, and which rules fail the gate.
    pub fn exit(self, report: &Report) -> ExitStatus {
        let Some(least) = self.fail_on else { return complete(report) };
        let gaps = gaps(report, least);
        gaps.iter().for_each(|gap| notice!("{gap}"));
        let failing = failing(report, least);
        if !failing.is_empty() && !self.is_shown {
            notice!("gate failed: {least}: {}", listed(&failing));
        }
        let fails = !failing.is_empty() || (self.strict && !gaps.is_empty());
        match complete(report) {
            ExitStatus::Done if fails => ExitStatus::Findings,
            status => status,
        }
    }
}

/// Returns what keeps the gate from judging all of its rules and keys: reasons for which a strict gate fails.
fn gaps(report: &Report, least: Severity) -> Vec<String> {
    let findings = &report.findings;
    let counts = |rule: &&NotEvaluated| rule.applies && rule.severity >= least;
    let mut gaps: Vec<String> = findings.not_evaluated.iter().filter(counts).map(not_evaluated).collect();
    let undecided = findings.baseline.as_ref().map_or_else(Vec::new, |it| it.undecided_from(least));
    if !undecided.is_empty() {
        let rules = listed(&undecided);
        gaps.push(format!(
            "gate: lists of the heaviest patterns do not tell whether violations are new or worse: {rules}; make the baseline with \
             --top 10000"
        ));
    }
    if has_no_rules(report) {
        let policy = &findings.policy;
        gaps.push(format!(
            "gate: policy {policy} has no rules in force: nothing can fail; give another --policy, or extend a preset in it"
        ));
    }
    let selection = &report.options.selection;
    if report.totals.keys == 0 && !selection.is_empty() {
        gaps.push(format!("gate: no key was selected by {}: nothing can fail", selection.join(" ")));
    }
    gaps
}

fn not_evaluated(row: &NotEvaluated) -> String {
    let NotEvaluated { rule, severity, reason, remedy, .. } = row;
    format!("not evaluated: {rule} ({severity}): {}; {}", reason.en, remedy.en)
}

/// Returns true if the policy has no rule in force, such as an empty file that is to be filled in later.
fn has_no_rules(report: &Report) -> bool {
    report.findings.checked.is_empty() && report.findings.not_evaluated.is_empty()
}

/// Returns the exit status without a gate.
fn complete(report: &Report) -> ExitStatus {
    if report.complete { ExitStatus::Done } else { ExitStatus::Incomplete }
}

/// Lists the first rules, and says how many more there are.
fn listed(rules: &[String]) -> String {
    let named = rules.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match rules.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}

/// Returns the rules with findings of at least this severity, each with its number of keys; with a baseline, only findings that may be
/// new or worse.
fn failing(report: &Report, least: Severity) -> Vec<String> {
    let mut rules: Vec<(&str, u64)> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    let mut add = |rule, severity: Severity, keys: u64| {
        if severity < least {
            return;
        }
        let place = *places.entry(rule).or_insert(rules.len());
        match rules.get_mut(place) {
            Some((_, sum)) => *sum = sum.saturating_add(keys),
            None => rules.push((rule, keys)),
        }
    };
    match &report.findings.baseline {
        None => report.findings.list.iter().for_each(|it| add(&*it.rule, it.severity, it.keys)),
        Some(baseline) => baseline.failing().for_each(|row| add(row.rule.as_str(), row.severity, row.keys)),
    }
    let text = |(rule, keys): (&str, u64)| match keys {
        0 => rule.to_owned(),
        keys => format!("{rule} ({})", counted(keys, nouns::KEY, Lang::En)),
    };
    rules.into_iter().map(text).collect()
}
