//! `rdblens plan`, `rdblens analyze --partial` and `rdblens merge`: a report that several processes compute.

use std::io::Write;
use std::path::Path;

use super::args::{AnalyzeArgs, MergeArgs, OutputArgs, PlanArgs, PolicyArgs, ReportArgs};
use super::delivery::ReportDelivery;
use super::gate::Gate;
use super::message::notice;
use super::output::Outlet;
use super::progress::ProgressLine;
use super::sources::{Reads, Sources};
use super::{ExitStatus, analyze, parts, plan, print_passed_over, written};
use crate::analyze::fleet::{self, MergeChoices, PartialMerger, PartialReport};
use crate::error::{Error, Result};
use crate::input::limited::read_to_end_at_most;
use crate::input::shown_path;
use crate::limits::MAX_PARTIAL_BYTES;
use crate::render::escape_filter::Escapes;
use crate::render::json::write_pretty;
use crate::report::fleet::FleetPlan;
use crate::report::{NamedReport, Prefixes};

/// Maximum size of a plan: millions of files.
const MAX_PLAN: u64 = 1 << 30;

/// Maximum size of a partial report in a store: that of its content, which is compressed.
const MAX_PART: u64 = MAX_PARTIAL_BYTES;

/// Writes the plan of a report.
pub fn plan(args: &PlanArgs) -> Result<ExitStatus> {
    let report = ReportArgs {
        top: args.top,
        big: args.big,
        depth: Prefixes::USUAL_DEPTH,
        min_share: Prefixes::USUAL_MIN_SHARE,
        what_if: args.what_if.clone(),
    };
    let policy = PolicyArgs {
        policy: args.policy.clone(),
        fail_on: None,
        strict_gate: false,
        maxmemory: args.maxmemory,
        maxmemory_policy: args.maxmemory_policy.clone(),
        now: None,
        baseline: None,
        earlier: Vec::new(),
        inspect_values: args.inspect_values,
    };
    let options = plan::policy(plan::report(plan::read(&args.read)?, &report)?, &policy)?;
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&options.read.open);
    let mut out = outlet.open(args.output.output.as_deref())?;
    out.set_escapes(Escapes::Json);
    print_passed_over(&args.read.input);
    let planned = {
        let bar = ProgressLine::new(args.read.input.quiet);
        fleet::plan(&args.read.input.inputs, &options, &bar)?
    };
    if !args.read.input.quiet {
        for row in planned.files.iter().filter_map(|file| file.unreadable.as_ref()) {
            row.errors.iter().for_each(|error| notice!("{}: {}", row.name, error.wording.en));
        }
    }
    let is_complete = planned.files.iter().all(|file| file.unreadable.is_none());
    written(write_pretty(&planned, &mut out).and_then(|()| out.finish()))?;
    Ok(if is_complete { ExitStatus::Done } else { ExitStatus::Incomplete })
}

/// Writes the partial report of some files of a plan.
pub fn partial(args: &AnalyzeArgs, plan_path: &Path) -> Result<ExitStatus> {
    let planned = read_plan(plan_path)?;
    let files: Vec<usize> = match args.part.shard.or(args.part.shard_index) {
        Some((number, count)) => planned.shard(number, count),
        None => args.part.file.iter().map(|&number| position(&planned, number)).collect::<Result<_>>()?,
    };
    let paths = files.iter().filter_map(|&file| planned.files.get(file)?.path.as_deref());
    let sources = Sources::default().addresses(&[plan_path]).files([plan_path]).files(paths);
    let read = plan::input(&args.read.input);
    let outlet = Outlet::new(&private(&args.output), sources).with_temporary(&read.open);
    let mut out = outlet.open(args.output.output.as_deref())?;
    let part = {
        let bar = ProgressLine::new(args.read.input.quiet);
        let part = fleet::partial(&planned, &files, &read, &bar)?;
        if args.stats {
            notice!("{}", bar.stats());
        }
        part
    };
    let bytes = part.to_bytes()?;
    written(out.write_all(&bytes).and_then(|()| out.finish()))?;
    Ok(ExitStatus::Done)
}

/// Returns the position of a file of a plan, which are counted from 1.
fn position(plan: &FleetPlan, number: usize) -> Result<usize> {
    number.checked_sub(1).ok_or_else(|| {
        let files = plan.files.len();
        Error::usage(format!("--file 0: the files of the plan are counted from 1 to {files}"))
    })
}

/// Merges partial reports to a report, or to another partial report.
pub fn merge(args: &MergeArgs) -> Result<ExitStatus> {
    let planned = read_plan(&args.plan)?;
    let choices = MergeChoices {
        mask: plan::mask(&args.mask)?,
        baseline: plan::baseline(args.baseline.as_deref())?,
        earlier: args.earlier.iter().map(NamedReport::open).collect::<Result<_>>()?,
        files: plan::files(args.baseline.as_deref(), &args.earlier),
        now: args.now.as_deref().map(|text| plan::time("--now", text)).transpose()?,
        depth: usize::from(args.depth),
        min_share: args.min_share,
    };
    if args.partial {
        let mut out = Outlet::new(&private(&args.output), args.sources()).open(args.output.output.as_deref())?;
        let bytes = merged(args, &planned, choices)?.into_partial()?.to_bytes()?;
        written(out.write_all(&bytes).and_then(|()| out.finish()))?;
        return Ok(ExitStatus::Done);
    }
    let delivery = ReportDelivery::open(&args.format, &args.output, &Outlet::new(&args.output, args.sources()))?;
    if !args.quiet {
        delivery.warn();
    }
    let report = merged(args, &planned, choices)?.report()?;
    let is_shown = delivery.shows_findings();
    written(delivery.write(&report, report.options.rows, args.lang.lang(), &args.screen))?;
    analyze::print_damage(&report);
    Ok(Gate { fail_on: args.fail_on, strict: args.strict_gate, is_shown }.exit(&report))
}

fn merged<'p>(args: &MergeArgs, planned: &'p FleetPlan, choices: MergeChoices) -> Result<PartialMerger<'p>> {
    let mut merger = PartialMerger::new(planned, choices)?;
    for part in parts::find(&args.parts)? {
        let bytes = part.stored(MAX_PART);
        let bytes = bytes.map_err(|error| error.with_hint("give partial reports of rdblens analyze --partial"))?;
        let read = PartialReport::read(bytes).map_err(|error| error.in_file(&part.name))?;
        merger.add(read, &part.name)?;
    }
    Ok(merger)
}

/// Returns the flags of an output that only its owner may read: partial reports hold names as they are.
fn private(output: &OutputArgs) -> OutputArgs {
    OutputArgs { output: output.output.clone(), force: output.force, private: true }
}

fn read_plan(path: &Path) -> Result<FleetPlan> {
    let name = shown_path(path);
    let read = || -> Result<Vec<u8>> { Ok(read_to_end_at_most(parts::plan(path)?.stored(MAX_PLAN)?, MAX_PLAN)?) };
    let json = read().map_err(|error| error.in_file(&name).with_hint("give a plan written by rdblens plan"))?;
    fleet::read_plan(&json, &name)
}
