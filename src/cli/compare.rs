//! `rdblens compare`: compares snapshots or nights, oldest first.

mod series;

use std::path::Path;

use super::analyze::print_damage;
use super::args::{CompareArgs, ComparedList};
use super::delivery::{ReportDelivery, section_without_csv};
use super::given::GivenFlags;
use super::message::notice;
use super::output::{Outlet, Output};
use super::progress::ProgressLine;
use super::sources::Reads;
use super::{ExitStatus, plan, written};
use crate::analyze::{self, Plan};
use crate::error::{Error, Result};
use crate::input::nights::is_report;
use crate::input::shown_path;
use crate::render::csv::ComparisonList;
use crate::report::{GateRow, GateVerdict, NamedReport, Options};
use series::{Compared, series};

/// Maximum number of patterns read from a dump; the heaviest are kept.
const PATTERNS: usize = Options::MAX_TOP as usize;

/// Flags that apply to snapshots only, besides those of reading.
pub(super) const OF_SNAPSHOTS: [&str; 3] = ["allow_same", "separators", "policy"];

/// Reads the inputs, compares them and writes the comparison.
pub fn run(args: &CompareArgs, given: &GivenFlags) -> Result<ExitStatus> {
    if args.by_key.keys {
        return super::compare_keys::run(args);
    }
    let read = plan::read(&args.read)?;
    let policy = plan::policy_source(&args.policy)?;
    let plan = Plan { policy, top: PATTERNS, ..Plan::new(read) };
    let formats = args.format.as_of_report();
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&plan.read.open);
    let delivery = ReportDelivery::open(&formats, &args.output, &outlet)?;
    let list = match chosen_list(args, &delivery)? {
        None => ComparisonList::default(),
        Some(ComparedList::Snapshots(list)) => list,
        Some(list @ ComparedList::Keys(_)) => {
            return Err(no_such_list(list, "compare", ComparisonList::ALL.map(ComparisonList::name)));
        }
    };
    if !args.read.input.quiet {
        delivery.warn();
    }
    let rows = args.top.map(plan::rows);
    super::print_passed_over(&args.read.input);
    let Compared { comparison, whole } = series(args, given, plan, rows)?;
    let table = |out: &Output| args.screen.table(out, rows, args.lang.lang());
    written(delivery.write_document(&comparison, list, None, table))?;
    let fails = gate_fails(&comparison.gate, args.strict_gate);
    Ok(match whole {
        false => ExitStatus::Incomplete,
        true if fails => ExitStatus::Findings,
        true => ExitStatus::Done,
    })
}

/// Returns the list that CSV shall consist of.
pub(super) fn chosen_list(args: &CompareArgs, delivery: &ReportDelivery) -> Result<Option<ComparedList>> {
    match args.format.section {
        Some(_) if !delivery.writes_lists() => Err(section_without_csv()),
        list => Ok(list),
    }
}

/// Builds the error for a list that this form of the command does not have.
pub(super) fn no_such_list<const N: usize>(list: ComparedList, command: &str, own: [&str; N]) -> Error {
    Error::usage(format!("--section {}: {command} has no such list", list.name()))
        .with_hint(format!("give one of {}", own.join(", ")))
}

/// Returns whether the gate fails, and names on standard error the conditions that are broken or were not evaluated.
fn gate_fails(rows: &[GateRow], strict: bool) -> bool {
    for row @ GateRow { condition, verdict, by, .. } in rows {
        if *verdict == GateVerdict::Failed {
            let by = if by.is_empty() { String::new() } else { format!(": {}", by.join(", ")) };
            notice!("gate failed: {condition}{by}");
        }
        if let Some(reason) = row.reason_in_words() {
            let whole = if *verdict == GateVerdict::Failed { "not evaluated in full" } else { "not evaluated" };
            notice!("{whole}: {condition}: {}", reason.en);
        }
    }
    let open = rows.iter().any(|row| row.verdict == GateVerdict::NotEvaluated);
    rows.iter().any(|row| row.verdict == GateVerdict::Failed) || (strict && open)
}

/// Loads a JSON report, or analyses a dump.
pub(super) fn snapshot(input: &Path, plan: &Plan, quiet: bool) -> Result<NamedReport> {
    let name = shown_path(input);
    if is_report(input) {
        return NamedReport::open_as(input, &name);
    }
    let report = analyze::analyze(&[input], plan, &ProgressLine::new(quiet))?;
    print_damage(&report);
    Ok(NamedReport { name, report })
}
