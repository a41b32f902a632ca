//! `rdblens analyze`: the report.

use super::args::{AnalyzeArgs, ReportFormat, SeverityArg};
use super::lang::LangArgs;
use super::output::Output;
use super::progress::Bar;
use super::{Exit, plan, written};
use crate::analyze;
use crate::error::Result;
use crate::policy::Severity;
use crate::render::{Format, TableOptions};
use crate::report::Report;

/// Makes the report and writes it.
pub fn run(args: &AnalyzeArgs) -> Result<Exit> {
    let read = plan::read(&args.read)?;
    let mut plan = plan::policy(plan::report(read, &args.report)?, &args.policy)?;
    plan.mask = plan::mask(&args.mask)?;
    let mut out = Output::open(args.output.output.as_deref())?;
    let report = {
        let bar = Bar::new(args.read.input.quiet);
        analyze::analyze(&args.read.input.inputs, &plan, &bar)?
    };
    let format = match args.format {
        ReportFormat::Table => Format::Table,
        ReportFormat::Json => Format::Json,
        ReportFormat::Html => Format::Html,
    };
    let table = table_options(&out, args.report.top.map(|_| plan.top), &args.lang);
    let rendered = format.renderer(table).render(&report, &mut out);
    written(rendered.and_then(|()| out.finish()))?;
    if !args.read.input.quiet {
        tell_errors(&report);
    }
    Ok(exit(&report, args.policy.fail_on))
}

/// `rows` is what the user asked for, if anything.
pub(super) fn table_options(out: &Output, rows: Option<usize>, lang: &LangArgs) -> TableOptions {
    let usual = TableOptions::default();
    let plain = TableOptions { rows: rows.unwrap_or(usual.rows), lang: lang.lang(), ..usual };
    if !out.is_terminal() {
        return plain;
    }
    let width = comfy_table::Table::new().width();
    TableOptions { width, ansi: std::env::var_os("NO_COLOR").is_none(), ..plain }
}

/// What the report says about damage stands on standard error, too: it must not be missed in a log.
fn tell_errors(report: &Report) {
    for file in &report.source.files {
        for error in &file.errors {
            eprintln!("rdblens: {}: {error}", file.name);
        }
    }
}

fn exit(report: &Report, fail_on: Option<SeverityArg>) -> Exit {
    if !report.complete {
        return Exit::Incomplete;
    }
    match fail_on {
        Some(least) if worst(report).is_some_and(|worst| worst >= least) => Exit::Findings,
        _ => Exit::Done,
    }
}

/// The greatest severity of what was found; with a baseline, of what is new or worse.
fn worst(report: &Report) -> Option<SeverityArg> {
    match &report.findings.baseline {
        None => report.findings.list.iter().filter_map(|finding| severity(finding.severity)).max(),
        Some(baseline) => baseline.new.iter().chain(&baseline.worse).filter_map(|row| severity(&row.severity)).max(),
    }
}

fn severity(name: &str) -> Option<SeverityArg> {
    [(Severity::Hint, SeverityArg::Hint), (Severity::Should, SeverityArg::Should), (Severity::Must, SeverityArg::Must)]
        .into_iter()
        .find(|(severity, _)| severity.name() == name)
        .map(|(_, arg)| arg)
}
