//! `rdblens compare`: several snapshots against each other.

use std::path::Path;

use super::args::{CompareArgs, ComparisonFormat};
use super::output::Output;
use super::progress::Bar;
use super::{Exit, plan, written};
use crate::analyze::{self, Plan};
use crate::compare::{ComparePlan, compare};
use crate::error::{Error, Result};
use crate::render::{json, write_comparison};
use crate::report::Stored;
use crate::units::Bytes;

/// Patterns that are compared of a dump: all but the lightest of a great many.
const PATTERNS: usize = 10_000;

/// Reads every input, compares, writes.
pub fn run(args: &CompareArgs) -> Result<Exit> {
    let read = plan::read(&args.read)?;
    let policy = plan::policy_source(&args.policy)?;
    let plan = Plan { policy, top: PATTERNS, ..Plan::new(read) };
    let inputs = &args.read.input.inputs;
    let mut out = Output::open(args.output.output.as_deref())?;
    let quiet = args.read.input.quiet;
    let stored: Vec<Stored> = inputs.iter().map(|input| snapshot(input, &plan, quiet)).collect::<Result<_>>()?;
    let rows = args.top.map(plan::rows);
    let limits = ComparePlan { top: rows.unwrap_or(Plan::USUAL_TOP), maxmemory: args.maxmemory.map(Bytes) };
    let comparison = compare(&stored, &limits).ok_or_else(|| {
        Error::usage("one snapshot has nothing to be compared with")
            .with_hint("name at least two reports or dumps, the oldest first")
    })?;
    let rendered = match args.format {
        ComparisonFormat::Json => json::write_pretty(&comparison, &mut out),
        ComparisonFormat::Table => {
            write_comparison(&comparison, args.screen.table(&out, rows, args.lang.lang()), &mut out)
        }
    };
    written(rendered.and_then(|()| out.finish()))?;
    Ok(if stored.iter().all(|stored| stored.complete) { Exit::Done } else { Exit::Incomplete })
}

/// A stored report as it is; anything else is analysed.
fn snapshot(input: &str, plan: &Plan, quiet: bool) -> Result<Stored> {
    if Path::new(input).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return plan::stored(Path::new(input), input);
    }
    let bar = Bar::new(quiet);
    Stored::of(&analyze::analyze(&[input], plan, &bar)?, input)
}
