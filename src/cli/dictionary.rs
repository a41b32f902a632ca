//! `rdblens dictionary`: drafts a data dictionary, or the missing entries of an existing one.

use super::analyze::print_damage;
use super::args::DictionaryArgs;
use super::output::Outlet;
use super::progress::ProgressLine;
use super::sources::Reads;
use super::{ExitStatus, hints, plan, written};
use crate::analyze::{self, Plan, PolicySource};
use crate::error::Result;
use crate::pattern::classify::Classifier;
use crate::pattern::segment::Separators;
use crate::policy::file::PatternSyntax;
use crate::render::draft::{Base, Draft};
use crate::render::escape_filter::Escapes;

/// Analyses the snapshot and writes the draft.
pub fn run(args: &DictionaryArgs) -> Result<ExitStatus> {
    let read = plan::read(&args.read)?;
    let separators = Separators::new(&read.separators)?;
    let classifier = Classifier::new(separators.clone());
    let syntax = PatternSyntax { separators: separators.as_bytes(), classifier: &classifier };
    let source = match &args.policy {
        None => PolicySource::Preset("none".to_owned()),
        Some(policy) => plan::policy_source(policy)?,
    };
    let existing = args.policy.is_some().then(|| source.load(syntax)).transpose()?;
    let base = match (existing.as_ref(), &source) {
        (None, _) => Base::Preset("default", None),
        (Some(policy), PolicySource::Preset(name)) => Base::Preset(name, Some(policy)),
        (Some(policy), PolicySource::File { .. }) => Base::File(policy),
    };
    let top = plan::rows(args.top);
    // Patterns that have an entry are not counted, and any may have one.
    let pattern_rows = existing.as_ref().filter(|policy| !policy.entries.is_empty()).map(|_| usize::MAX);
    let plan = Plan { policy: source.clone(), top, pattern_rows, ..Plan::new(read) };
    let outlet = Outlet::new(&args.output, args.sources()).with_temporary(&plan.read.open);
    let mut out = outlet.open(args.output.output.as_deref())?;
    out.set_escapes(Escapes::Text);
    super::print_passed_over(&args.read.input);
    let report = {
        let bar = ProgressLine::new(args.read.input.quiet);
        analyze::analyze(&args.read.input.inputs, &plan, &bar)?
    };
    if report.totals.keys == 0 {
        hints::no_keys(&args.read);
    }
    let draft = Draft { syntax, base, most: top, lang: args.lang.lang() };
    print_damage(&report);
    written(draft.write(&report, &mut out).and_then(|()| out.finish()))?;
    Ok(if report.complete { ExitStatus::Done } else { ExitStatus::Incomplete })
}
