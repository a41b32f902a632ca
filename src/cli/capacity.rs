//! `rdblens capacity`: plans nodes, slots and instances.

use std::path::{Path, PathBuf};

use super::archives::unpacked;
use super::args::CapacityArgs;
use super::compare::snapshot;
use super::delivery::{ReportDelivery, section_without_csv};
use super::given::{GivenFlags, READING};
use super::output::{Outlet, Output};
use super::sources::Reads;
use super::{ExitStatus, plan, print_passed_over, written};
use crate::analyze::files::short_text;
use crate::analyze::nights::{keep_whole, leave_out_present};
use crate::analyze::read::one_snapshot;
use crate::analyze::read::one_snapshot::stored::check_stored;
use crate::analyze::{InputCheck, Plan, SlotCounts};
use crate::error::{Error, Result, os_error};
use crate::input::nights::{NightFile, files, is_report};
use crate::input::{Input, Location, drop_shards_of_summaries, resolve_each, shown_path};
use crate::report::capacity::capacity;
use crate::report::diff::copies::copies;
use crate::report::{CapacityPlan, ClusterNodes, NamedReport, Report, Warning, WarningKind};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Flags that apply to the inputs if these are snapshots, whatever the earlier nights are.
pub(super) const OF_INPUTS: [&str; 3] = ["separators", "policy", "cluster_nodes"];

/// Reads the inputs, plans for them and writes the plan.
pub fn run(args: &CapacityArgs, given: &GivenFlags) -> Result<ExitStatus> {
    let analysis = plan::capacity(args)?;
    let asked = CapacityPlan {
        node_memory: Bytes(args.node_memory),
        headroom_permille: args.headroom,
        nodes: args.nodes,
        until: args.until.as_deref().map(|text| plan::date("--until", text)).transpose()?,
        cost_per_gb_month: args.cost,
        top: plan::rows(args.top),
    };
    if asked.usable() == Bytes(0) {
        return Err(
            Error::usage("--node-memory leaves no room for data").with_hint("give the memory of a node, such as 16GB")
        );
    }
    if are_stored(args) {
        given.refuse_for_reports(OF_INPUTS, "the inputs")?;
    }
    let nodes = args.cluster_nodes.as_deref().map(cluster_nodes).transpose()?;
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&analysis.read.open);
    let delivery = ReportDelivery::open(&args.as_of_report(), &args.output, &outlet)?;
    if args.section.is_some() && !delivery.writes_lists() {
        return Err(section_without_csv());
    }
    if !args.input.quiet {
        delivery.warn();
    }
    print_passed_over(&args.input);
    let mut asks: Vec<String> = analysis.read.what_if.iter().map(|ask| ask.text().to_owned()).collect();
    let servers = reports(&args.input.inputs, &analysis, args.input.quiet)?;
    // Only totals of earlier nights count.
    let mut of_nights = Plan { slots: SlotCounts::IfUsed, pattern_rows: None, ..analysis };
    let (earlier, shards) = earlier(args, given, &mut of_nights, &servers)?;
    let mut plan = capacity(&servers, &earlier, nodes.as_ref(), asked).ok_or_else(|| {
        Error::usage("no snapshot among the inputs").with_hint("give a dump or a report for each server")
    })?;
    if !plan.knows_memory() {
        // Nothing is said of memory, whatever is asked.
        asks.clear();
    }
    asks.retain(|ask| !plan.demand.scenarios.iter().any(|scenario| scenario.what_if.as_ref() == Some(ask)));
    if !asks.is_empty() {
        plan.warnings.push(Warning::new(WarningKind::QuestionsNotStored { asks }));
    }
    plan.warnings.extend(shards);
    if let Some(until) = plan.options.until {
        // A damaged input is no wrong usage: the plan says that growth is not known.
        if plan.trend.is_none() && plan.knows_memory() && plan.servers.iter().all(|server| server.complete) {
            return Err(Error::usage("--until: growth is unknown: it needs snapshots of at least two times")
                .with_hint("give --earlier a report of another night"));
        }
        if plan.servers.iter().filter_map(|server| server.taken).max().is_some_and(|taken| until <= taken) {
            return Err(Error::usage("--until: the date is not after the snapshot").with_hint("give a later date"));
        }
    }
    let table = |out: &Output| args.screen.table(out, Some(plan.options.top), args.lang.lang());
    written(delivery.write_document(&plan, args.section.unwrap_or_default(), None, table))?;
    Ok(if plan.is_complete() { ExitStatus::Done } else { ExitStatus::Incomplete })
}

/// Makes the reports of earlier nights, without those that are damaged or lack shards, and says which these are.
fn earlier(
    args: &CapacityArgs,
    given: &GivenFlags,
    plan: &mut Plan,
    servers: &[NamedReport],
) -> Result<(Vec<NamedReport>, Vec<Warning>)> {
    // Nights are told apart by their times, and each file is read by itself.
    plan.read.inputs = InputCheck::None;
    // The folders of archives last until all of their files are read.
    let unpacked = unpacked(&args.earlier, &mut plan.read, args.input.quiet)?;
    let mut files = files(&unpacked.inputs)?;
    drop_shards_of_summaries(&mut files, |file| &file.path);
    if are_stored(args) && files.iter().all(|file| file.dump.is_none()) {
        given.refuse_for_reports(READING, "all inputs")?;
    }
    let read = |mut file: NightFile| {
        let name = plan.read.shown(file.name());
        if let Some(error) = file.error.take() {
            return Err(error);
        }
        let mut named = snapshot(&file.path, plan, args.input.quiet)?;
        named.name = name;
        Ok(named)
    };
    // Prefer a dump over its report: flags about servers apply only to dumps.
    files.compact_sort_by_key(|file| file.dump.is_none());
    let nights = files.into_iter().map(read).collect::<Result<Vec<_>>>()?;
    let (mut earlier, damaged): (Vec<_>, Vec<_>) = nights.into_iter().partition(|named| named.report.complete);
    let mut warnings = if args.allow_same { Vec::new() } else { leave_out_copies(servers, &mut earlier) };
    warnings.extend(leave_out_present(servers, &mut earlier));
    if !args.allow_missing {
        warnings.extend(keep_whole(servers, &mut earlier)?);
    }
    warnings.extend(damaged.iter().map(|named| Warning::about(&named.name, WarningKind::NightDamaged)));
    Ok((earlier, warnings))
}

/// Removes earlier reports of snapshots that are there already, and says which these are.
fn leave_out_copies(servers: &[NamedReport], earlier: &mut Vec<NamedReport>) -> Vec<Warning> {
    let copies = copies(servers, earlier);
    let named = std::mem::take(earlier).into_iter().zip(copies);
    named
        .filter_map(|(named, copy_of)| match copy_of {
            Some(of) => Some(Warning::about(&named.name, WarningKind::SameSnapshot { of })),
            None => {
                earlier.push(named);
                None
            }
        })
        .collect()
}

/// Returns whether all inputs are stored reports, whatever the earlier nights are.
fn are_stored(args: &CapacityArgs) -> bool {
    args.input.inputs.iter().all(|input| is_report(input))
}

/// Makes one report for each server: files of a directory are servers, too, and the files of a Dragonfly snapshot one. Fails if the
/// inputs are not shards, as far as the plan demands.
fn reports(inputs: &[PathBuf], plan: &Plan, quiet: bool) -> Result<Vec<NamedReport>> {
    let (mut paths, mut dumps): (Vec<PathBuf>, Vec<Input>) = (Vec::new(), Vec::new());
    for input in inputs {
        let found = if is_report(input) { Vec::new() } else { resolve_each(&[input]).inputs };
        dumps.extend(found.iter().cloned());
        let files = found.into_iter().map(|found| match found.location {
            Location::File(path) => path,
            Location::Stdin => PathBuf::from("-"),
            Location::Object(object) => PathBuf::from(object.address().whole()),
        });
        let before = paths.len();
        paths.extend(files);
        if paths.len() == before {
            // Reading it says what is wrong with it.
            paths.push(input.clone());
        }
    }
    one_snapshot::check_each(dumps, &plan.read)?;
    drop_shards_of_summaries(&mut paths, |path| path);
    let read = |path: &PathBuf| {
        let mut named = snapshot(path, plan, quiet)?;
        drop_details(&mut named.report);
        Ok(named)
    };
    let reports = paths.iter().map(read).collect::<Result<Vec<_>>>()?;
    if plan.read.inputs != InputCheck::None {
        check_stored(&reports, |index| paths.get(index).is_some_and(|path| is_report(path)))?;
    }
    Ok(reports)
}

/// Drops types and examples of patterns. The lists are whole, and the reports of all servers are kept until the end.
fn drop_details(report: &mut Report) {
    for row in &mut report.patterns.list {
        row.types = Vec::new();
        row.example.key = [].as_slice().into();
    }
}

fn cluster_nodes(path: &Path) -> Result<ClusterNodes> {
    let name = shown_path(path);
    let text = short_text(path).map_err(|error| {
        Error::usage(format!("--cluster-nodes {name}: {}", os_error(error)))
            .with_hint("write it with `redis-cli CLUSTER NODES`, or give the nodes.conf of a node")
    })?;
    ClusterNodes::parse(&text, &name)
}
