//! `rdblens render`: converts a stored report to other formats.

use std::io::{self, Read};
use std::path::Path;

use super::args::RenderArgs;
use super::delivery::ReportDelivery;
use super::gate::Gate;
use super::output::Outlet;
use super::sources::Reads;
use super::{ExitStatus, plan, written};
use crate::error::Result;
use crate::input::shown_path;
use crate::report::Report;

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
    let (name, json) = if path.as_os_str() == "-" {
        let mut json = Vec::new();
        ("<stdin>".to_owned(), io::stdin().lock().read_to_end(&mut json).map(|_| json))
    } else {
        (shown_path(path), std::fs::read(path))
    };
    let json = json.map_err(|error| plan::unreadable_report(path, &name, error))?;
    Report::read(&json, &name)
}
