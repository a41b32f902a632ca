//! `rdblens compare --keys`: compares two snapshots key by key.

use std::io;
use std::path::{Path, PathBuf};

use super::args::{CompareArgs, ComparedList, IgnoredFact, ReportFormat, RowFormat as RowFormatArg};
use super::compare::{chosen_list, no_such_list};
use super::delivery::ReportDelivery;
use super::output::{Outlet, Output};
use super::progress::ProgressLine;
use super::sources::{Reads, names_stdout};
use super::{ExitStatus, plan, print_verdicts, written};
use crate::analyze::Plan;
use crate::analyze::key_diff::{KeyDiff, KeyDiffPlan, check_plan, compare_keys};
use crate::error::{Error, Result};
use crate::input::nights::{holds_report, is_report};
use crate::input::shown_path;
use crate::pattern::classify::Classifier;
use crate::pattern::segment::Separators;
use crate::render::csv::KeyComparisonList;
use crate::render::escape_filter::Escapes;
use crate::render::key_rows::{DifferingRow, DifferingRows};
use crate::render::rows::RowFormat;
use crate::report::key_comparison::{KeyComparison, KeyComparisonOptions};

/// Reads both sides, compares their keys, and writes the rows and the sums.
pub fn run(args: &CompareArgs) -> Result<ExitStatus> {
    let by_key = &args.by_key;
    let read = plan::read(&args.read)?;
    check_plan(&read)?;
    let sides = sides(args)?;
    refuse_reports(sides)?;
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&read.open);
    let mut rows = by_key.rows.as_deref().map(|path| rows_to(path, args, &outlet)).transpose()?;
    let mut formats = args.format.as_of_report();
    // The mark may be meant for the rows alone.
    formats.csv.bom &= !rows_are_csv(by_key.rows.as_deref()) || names_csv(args);
    let delivery = ReportDelivery::open(&formats, &args.output, &outlet)?;
    let list = match chosen_list(args, &delivery)? {
        None => KeyComparisonList::default(),
        Some(ComparedList::Keys(list)) => list,
        Some(list @ ComparedList::Snapshots(_)) => {
            return Err(no_such_list(list, "compare --keys", KeyComparisonList::ALL.map(KeyComparisonList::name)));
        }
    };
    if !args.read.input.quiet {
        delivery.warn();
    }
    super::print_passed_over(&args.read.input);
    let top = args.top.map(plan::rows);
    let classifier = Classifier::new(Separators::new(&read.separators)?);
    let plan = KeyDiffPlan {
        read,
        options: KeyComparisonOptions {
            ignore_expiry: by_key.ignore.contains(&IgnoredFact::Expiry),
            expiry_tolerance: by_key.expiry_tolerance.unwrap_or_default(),
        },
        top: top.unwrap_or(Plan::USUAL_TOP),
        mask: plan::mask(&args.mask)?,
    };
    let bar = ProgressLine::new(args.read.input.quiet);
    let mut closed = Ok(());
    let KeyDiff { comparison, verdicts } = compare_keys(sides, &plan, &classifier, &bar, |change| {
        if let Some(rows) = rows.as_mut().filter(|_| closed.is_ok()) {
            closed = rows.add(&DifferingRow::of(change));
        }
        Ok(())
    })?;
    drop(bar);
    // Rows that are not complete get no name. The sums are complete by themselves.
    let (rows, failed) = match rows.filter(|_| closed.is_ok()).map(DifferingRows::finish) {
        Some(Ok(rows)) => (Some(rows), closed),
        Some(Err(error)) => (None, Err(error)),
        None => (None, closed),
    };
    let table = |out: &Output| args.screen.table(out, top, args.lang.lang());
    let sums = delivery.write_document(&comparison, list, rows, table);
    written(failed)?;
    written(sums)?;
    print_verdicts(&verdicts, args.read.input.quiet);
    Ok(exit(&comparison, by_key.fail_on_difference))
}

/// Returns whether the extension of the file of rows stands for CSV.
fn rows_are_csv(rows: Option<&Path>) -> bool {
    rows.and_then(Path::extension).is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// Returns whether the sums are to be CSV, by flag or by the name of their file.
fn names_csv(args: &CompareArgs) -> bool {
    let formats = &args.format.formats;
    formats.contains(&ReportFormat::Csv) || formats.is_empty() && rows_are_csv(args.output.output.as_deref())
}

fn exit(comparison: &KeyComparison, fails_on_difference: bool) -> ExitStatus {
    let is_sound = [&comparison.before, &comparison.after].iter().all(|side| side.complete && side.unreadable == 0);
    match (is_sound, comparison.sums.differing) {
        (false, _) => ExitStatus::Incomplete,
        (true, 1..) if fails_on_difference => ExitStatus::Findings,
        (true, _) => ExitStatus::Done,
    }
}

/// Returns the inputs of both sides.
fn sides(args: &CompareArgs) -> Result<[&[PathBuf]; 2]> {
    let inputs = args.read.input.inputs.as_slice();
    match (inputs, args.by_key.with.as_slice()) {
        (inputs, with @ [_, ..]) => Ok([inputs, with]),
        ([before, after], []) => Ok([std::slice::from_ref(before), std::slice::from_ref(after)]),
        (_, []) => Err(Error::usage("compare --keys needs two sides").with_hint(
            "give two inputs, each a file or a directory, or several of each side: A1.rdb A2.rdb --with B1.rdb B2.rdb",
        )),
    }
}

/// Refuses stored reports, which have no keys but the heaviest.
fn refuse_reports(sides: [&[PathBuf]; 2]) -> Result<()> {
    match sides.into_iter().flatten().find(|path| is_report(path) && holds_report(path)) {
        None => Ok(()),
        Some(path) => {
            let name = shown_path(path);
            Err(Error::usage(format!("compare --keys reads snapshots, and {name} is a stored report"))
                .with_hint("give the snapshot that it was made from; without --keys, compare takes reports, too"))
        }
    }
}

/// Opens the destination of the rows.
fn rows_to(path: &Path, args: &CompareArgs, outlet: &Outlet) -> Result<DifferingRows<Output>> {
    if names_stdout(path) {
        if args.output.output.as_deref().is_none_or(names_stdout) {
            return Err(Error::usage("--rows - and the sums cannot share standard output")
                .with_hint("write the sums to a file with -o, such as -o sums.json"));
        }
        return lines(RowFormat::Ndjson, Escapes::Json, outlet.open(None)?);
    }
    match RowFormatArg::of_name(path) {
        Some(RowFormatArg::Ndjson) => lines(RowFormat::Ndjson, Escapes::Json, outlet.open(Some(path))?),
        Some(RowFormatArg::Csv) => {
            let mut out = outlet.open(Some(path))?;
            if args.format.csv.bom {
                out.write_bom()?;
            }
            lines(RowFormat::Csv, Escapes::Text, out)
        }
        Some(RowFormatArg::Parquet) => parquet(path, outlet),
        None => Err(Error::usage(format!("--rows {}: the extension names no format of rows", shown_path(path)))
            .with_hint("give a file that ends in .ndjson, .csv or .parquet")),
    }
}

fn lines(format: RowFormat, escapes: Escapes, mut out: Output) -> Result<DifferingRows<Output>> {
    out.set_escapes(escapes);
    opened(DifferingRows::lines(format, out))
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, outlet: &Outlet) -> Result<DifferingRows<Output>> {
    opened(DifferingRows::parquet(outlet.open(Some(path))?))
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path, _: &Outlet) -> Result<DifferingRows<Output>> {
    Err(super::delivery::without_parquet(&format!("--rows {}", shown_path(path))))
}

fn opened(rows: io::Result<DifferingRows<Output>>) -> Result<DifferingRows<Output>> {
    rows.map_err(Error::from)
}
