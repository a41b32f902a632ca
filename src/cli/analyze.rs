//! `rdblens analyze`: analyses a snapshot and writes the report.

use super::args::AnalyzeArgs;
use super::delivery::ReportDelivery;
use super::progress::ProgressLine;
use super::{ExitStatus, plan, written};
use crate::analyze;
use crate::error::Result;
use crate::report::{Report, Severity};

/// Analyses the inputs and writes the report in every requested format.
pub fn run(args: &AnalyzeArgs) -> Result<ExitStatus> {
    let read = plan::read(&args.read)?;
    let mut plan = plan::policy(plan::report(read, &args.report)?, &args.policy)?;
    plan.mask = plan::mask(&args.mask)?;
    let delivery = ReportDelivery::open(&args.format, &args.output)?;
    let report = {
        let bar = ProgressLine::new(args.read.input.quiet);
        let report = analyze::analyze(&args.read.input.inputs, &plan, &bar)?;
        if args.stats {
            eprintln!("rdblens: {}", bar.stats());
        }
        report
    };
    written(delivery.write(&report, report.options.rows, args.lang.lang(), &args.screen))?;
    if !args.read.input.quiet {
        print_damage(&report);
    }
    Ok(exit(&report, args.policy.fail_on))
}

/// Prints the damage listed in the report to standard error as well, so that it shows up in logs.
fn print_damage(report: &Report) {
    for file in &report.source.files {
        for error in &file.errors {
            eprintln!("rdblens: {}: {}", file.name, error.wording.en);
        }
    }
}

/// Returns the exit status for a report.
pub(super) fn exit(report: &Report, fail_on: Option<Severity>) -> ExitStatus {
    if !report.complete {
        return ExitStatus::Incomplete;
    }
    match fail_on {
        Some(least) if worst(report).is_some_and(|worst| worst >= least) => ExitStatus::Findings,
        _ => ExitStatus::Done,
    }
}

/// Returns the highest severity of the findings; with a baseline, only of those that are new or worse.
fn worst(report: &Report) -> Option<Severity> {
    match &report.findings.baseline {
        None => report.findings.list.iter().map(|finding| finding.severity).max(),
        Some(baseline) => baseline.new.iter().chain(&baseline.worse).map(|row| row.severity).max(),
    }
}
