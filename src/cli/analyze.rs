//! `rdblens analyze`: analyses a snapshot and writes the report.

use super::args::AnalyzeArgs;
use super::delivery::ReportDelivery;
use super::gate::Gate;
use super::message::notice;
use super::output::Outlet;
use super::progress::ProgressLine;
use super::sources::Reads;
use super::{ExitStatus, hints, plan, written};
use crate::analyze;
use crate::error::Result;
use crate::report::Report;

/// Analyses the inputs and writes the report in every requested format.
pub fn run(args: &AnalyzeArgs) -> Result<ExitStatus> {
    if let Some(planned) = &args.part.plan {
        return super::fleet::partial(args, planned);
    }
    let read = plan::read(&args.read)?;
    let mut plan = plan::policy(plan::report(read, &args.report)?, &args.policy)?;
    plan.mask = plan::mask(&args.mask)?;
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&plan.read.open);
    let delivery = ReportDelivery::open(&args.format, &args.output, &outlet)?;
    if !args.read.input.quiet {
        delivery.warn();
    }
    super::print_passed_over(&args.read.input);
    let report = {
        let bar = ProgressLine::new(args.read.input.quiet);
        let report = analyze::analyze(&args.read.input.inputs, &plan, &bar)?;
        if args.stats {
            notice!("{}", bar.stats());
        }
        report
    };
    let is_shown = delivery.shows_findings();
    written(delivery.write(&report, report.options.rows, args.lang.lang(), &args.screen))?;
    if report.totals.keys == 0 {
        hints::no_keys(&args.read);
    }
    print_damage(&report);
    Ok(Gate { fail_on: args.policy.fail_on, strict: args.policy.strict_gate, is_shown }.exit(&report))
}

/// Prints the damage listed in the report to standard error as well, so that it shows up in logs. It is no warning that `--quiet`
/// suppresses: it explains the exit status.
pub(super) fn print_damage(report: &Report) {
    for file in &report.source.files {
        for error in &file.errors {
            notice!("{}: {}", file.name, error.wording.en);
        }
    }
}
