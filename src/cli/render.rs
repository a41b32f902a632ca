//! `rdblens render`: converts a stored report to other formats.

use std::io;
use std::path::Path;

use super::args::RenderArgs;
use super::delivery::ReportDelivery;
use super::gate::Gate;
use super::output::Outlet;
use super::sources::Reads;
use super::{ExitStatus, plan, written};
use crate::analyze::files::unreadable_report;
use crate::error::Result;
use crate::input::limited::read_to_end_at_most;
use crate::limits::MAX_REPORT_BYTES;
use crate::report::{NamedReport, Report};

/// Loads the report and writes it in every requested format.
pub fn run(args: &RenderArgs) -> Result<ExitStatus> {
    let report = read(&args.report)?;
    let delivery = ReportDelivery::open(&args.format, &args.output, &Outlet::new(&args.output, args.sources()))?;
    delivery.warn();
    let rows = args.top.map_or(report.options.rows, plan::rows);
    let is_shown = delivery.shows_findings();
    written(delivery.write(&report, rows, args.lang.lang(), &args.screen))?;
    Ok(Gate { fail_on: args.fail_on, strict: args.strict_gate, is_shown }.exit(&report))
}

fn read(path: &Path) -> Result<Report> {
    if path.as_os_str() != "-" {
        return Ok(NamedReport::open(path)?.report);
    }
    let name = "<stdin>";
    let json = read_to_end_at_most(io::stdin().lock(), MAX_REPORT_BYTES);
    Report::read(&json.map_err(|error| unreadable_report(path, name, error))?, name)
}
