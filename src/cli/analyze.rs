//! `rdblens analyze`: the report.

use super::args::AnalyzeArgs;
use super::delivery::Delivery;
use super::progress::Bar;
use super::{Exit, plan, written};
use crate::analyze;
use crate::error::Result;
use crate::report::{Report, Severity};

/// Makes the report and writes it.
pub fn run(args: &AnalyzeArgs) -> Result<Exit> {
    let read = plan::read(&args.read)?;
    let mut plan = plan::policy(plan::report(read, &args.report)?, &args.policy)?;
    plan.mask = plan::mask(&args.mask)?;
    let delivery = Delivery::open(&args.format, &args.output)?;
    let report = {
        let bar = Bar::new(args.read.input.quiet);
        let report = analyze::analyze(&args.read.input.inputs, &plan, &bar)?;
        if args.stats {
            eprintln!("rdblens: {}", bar.stats());
        }
        report
    };
    written(delivery.write(&report, report.options.rows, args.lang.lang(), &args.screen))?;
    if !args.read.input.quiet {
        tell_errors(&report);
    }
    Ok(exit(&report, args.policy.fail_on))
}

/// What the report says about damage stands on standard error, too: it must not be missed in a log.
fn tell_errors(report: &Report) {
    for file in &report.source.files {
        for error in &file.errors {
            eprintln!("rdblens: {}: {error}", file.name);
        }
    }
}

/// What a report says to scripts.
pub(super) fn exit(report: &Report, fail_on: Option<Severity>) -> Exit {
    if !report.complete {
        return Exit::Incomplete;
    }
    match fail_on {
        Some(least) if worst(report).is_some_and(|worst| worst >= least) => Exit::Findings,
        _ => Exit::Done,
    }
}

/// The greatest severity of what was found; with a baseline, of what is new or worse.
fn worst(report: &Report) -> Option<Severity> {
    match &report.findings.baseline {
        None => report.findings.list.iter().map(|finding| finding.severity).max(),
        Some(baseline) => baseline.new.iter().chain(&baseline.worse).map(|row| row.severity).max(),
    }
}
