//! `rdblens compare`: compares snapshots, oldest first.

use std::path::Path;
use std::sync::Arc;

use super::args::CompareArgs;
use super::delivery::ReportDelivery;
use super::output::{Outlet, Output};
use super::progress::ProgressLine;
use super::sources::Reads;
use super::{ExitStatus, hints, plan, written};
use crate::analyze::{self, Plan};
use crate::error::{Error, Result};
use crate::input::shown_path;
use crate::report::diff::{ComparePlan, Comparer};
use crate::report::{Comparison, NamedReport};
use crate::units::Bytes;

/// Maximum number of patterns read from a dump; the heaviest are kept.
const PATTERNS: usize = 10_000;

/// Reads the inputs, compares them and writes the comparison.
pub fn run(args: &CompareArgs) -> Result<ExitStatus> {
    if args.by_key.keys {
        return super::compare_keys::run(args);
    }
    let read = plan::read(&args.read)?;
    let policy = plan::policy_source(&args.policy)?;
    let plan = Plan { policy, top: PATTERNS, ..Plan::new(read) };
    let formats = args.format.as_of_report();
    let delivery = ReportDelivery::open(&formats, &args.output, &Outlet::new(&args.output, args.sources()))?;
    if args.format.section.is_some() && !delivery.writes_lists() {
        return Err(Error::usage("--section chooses the list of --format csv")
            .with_hint("add --format csv, or remove --section"));
    }
    if !args.read.input.quiet {
        delivery.warn();
    }
    let rows = args.top.map(plan::rows);
    super::print_passed_over(&args.read.input);
    let comparison = comparison(args, plan, rows)?;
    let table = |out: &Output| args.screen.table(out, rows, args.lang.lang());
    written(delivery.write_comparison(&comparison, args.format.section.unwrap_or_default(), table))?;
    Ok(if comparison.snapshots.iter().all(|row| row.complete) { ExitStatus::Done } else { ExitStatus::Incomplete })
}

fn comparison(args: &CompareArgs, mut plan: Plan, rows: Option<usize>) -> Result<Comparison> {
    let mut comparer = Comparer::default();
    let mut keys = 0_u64;
    for input in &args.read.input.inputs {
        let snapshot = snapshot(input, &plan, args.read.input.quiet)?;
        keys = keys.saturating_add(snapshot.report.totals.keys);
        // Changes are told since the first snapshot, so rules about growth compare with that, too.
        plan.baseline.get_or_insert_with(|| Arc::new(snapshot.clone()));
        comparer.add(snapshot);
    }
    if keys == 0 {
        hints::no_keys(&args.read);
    }
    let limits = ComparePlan { top: rows.unwrap_or(Plan::USUAL_TOP), maxmemory: args.maxmemory.map(Bytes) };
    comparer.finish(&limits).ok_or_else(|| {
        Error::usage("compare needs at least two snapshots")
            .with_hint("give two or more reports or dumps, oldest first")
    })
}

/// Loads a JSON report, or analyses a dump.
pub(super) fn snapshot(input: &Path, plan: &Plan, quiet: bool) -> Result<NamedReport> {
    let name = shown_path(input);
    if is_report(input) {
        return plan::named_report(input, &name);
    }
    let report = analyze::analyze(&[input], plan, &ProgressLine::new(quiet))?;
    Ok(NamedReport { name, report })
}

/// Returns whether an input is a stored report, by its name.
pub(super) fn is_report(input: &Path) -> bool {
    input.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}
