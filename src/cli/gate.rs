//! The gate of `--fail-on`: exit status by findings, and by rules that were not evaluated.

use super::ExitStatus;
use super::message::notice;
use crate::report::{NotEvaluated, Report, Severity};

/// Conditions under which a run fails.
#[derive(Debug, Clone, Copy)]
pub struct Gate {
    /// Lowest severity that counts; `None` to let all findings pass.
    pub fail_on: Option<Severity>,
    /// True if rules that were not evaluated fail it, too.
    pub strict: bool,
}

impl Gate {
    /// Returns the exit status for a report, and names the rules of the gate that were not evaluated on standard error.
    pub fn exit(self, report: &Report) -> ExitStatus {
        let Some(least) = self.fail_on else { return complete(report) };
        let counts = |rule: &&NotEvaluated| rule.applies && rule.severity >= least;
        let open: Vec<&NotEvaluated> = report.findings.not_evaluated.iter().filter(counts).collect();
        for NotEvaluated { rule, severity, reason, remedy, .. } in &open {
            let (reason, remedy) = (&reason.en, &remedy.en);
            notice!("not evaluated: {rule} ({severity}): {reason}; {remedy}");
        }
        let fails = worst(report).is_some_and(|worst| worst >= least) || (self.strict && !open.is_empty());
        match complete(report) {
            ExitStatus::Done if fails => ExitStatus::Findings,
            status => status,
        }
    }
}

/// Returns the exit status without a gate.
fn complete(report: &Report) -> ExitStatus {
    if report.complete { ExitStatus::Done } else { ExitStatus::Incomplete }
}

/// Returns the highest severity of the findings; with a baseline, only of those that may be new or worse.
fn worst(report: &Report) -> Option<Severity> {
    match &report.findings.baseline {
        None => report.findings.list.iter().map(|finding| finding.severity).max(),
        Some(baseline) => {
            let rows = baseline.new.iter().chain(&baseline.worse).chain(&baseline.first_evaluated);
            rows.map(|row| row.severity).max()
        }
    }
}
