//! Merging of partial reports, one after the other.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::FleetRun;
use super::partial::{PartialContent, PartialReport, contradiction};
use crate::analyze::aggregates::Aggregates;
use crate::analyze::assemble::{self, FirstFile};
use crate::analyze::outcome::FileOutcome;
use crate::analyze::plan::{MaskKey, ReadPlan};
use crate::analyze::read::snapshot::input_file;
use crate::analyze::verdict::unreadable;
use crate::error::{Error, ErrorKind, Result};
use crate::report::fleet::{FleetPlan, PlannedFile};
use crate::report::{NamedReport, Prefixes, Report};
use crate::units::Millis;
use crate::wording::wording;

/// Options of a report that are decided when its parts are merged.
#[derive(Debug, Clone)]
pub struct MergeChoices {
    /// Key for masking names; `None` shows them.
    pub mask: Option<MaskKey>,
    /// An earlier report to compare with.
    pub baseline: Option<Arc<NamedReport>>,
    /// Other earlier reports, for the trend of memory.
    pub earlier: Vec<NamedReport>,
    /// See [`Plan::files`](crate::analyze::plan::Plan::files).
    pub files: Vec<String>,
    /// The current time, for rules about the age of a snapshot.
    pub now: Option<Millis>,
    /// Levels of the prefix tree.
    pub depth: usize,
    /// Prefixes below this share of the memory are left out.
    pub min_share: f64,
}

impl Default for MergeChoices {
    fn default() -> Self {
        MergeChoices {
            mask: None,
            baseline: None,
            earlier: Vec::new(),
            files: Vec::new(),
            now: None,
            depth: usize::from(Prefixes::USUAL_DEPTH),
            min_share: Prefixes::USUAL_MIN_SHARE,
        }
    }
}

/// Merges the partial reports of a plan, in any order. Holds one at a time besides their sum.
pub struct PartialMerger<'p> {
    fleet: &'p FleetPlan,
    run: FleetRun,
    aggregates: Aggregates,
    /// By position, each with the name of the partial report that it is from.
    outcomes: BTreeMap<usize, (FileOutcome, Arc<str>)>,
}

impl<'p> PartialMerger<'p> {
    /// Creates a merger of the partial reports of a plan.
    pub fn new(fleet: &'p FleetPlan, choices: MergeChoices) -> Result<PartialMerger<'p>> {
        // Nothing is read here.
        let run = FleetRun::new(fleet, &ReadPlan::new(std::path::PathBuf::new()), choices)?;
        let aggregates = Aggregates::new(&run.questions);
        Ok(PartialMerger { fleet, run, aggregates, outcomes: BTreeMap::new() })
    }

    /// Adds a partial report; `name` is for messages. Fails, and is of no further use then, if the report is of another plan,
    /// contradicts itself, or has a file that another one has, too.
    pub fn add(&mut self, part: PartialReport, name: &str) -> Result<()> {
        self.try_add(part, name).map_err(|error| error.in_file(name))
    }

    fn try_add(&mut self, part: PartialReport, name: &str) -> Result<()> {
        if !part.is_of(self.fleet) {
            let error = Error::new(ErrorKind::Unreadable(wording!("is a part of another plan", "属于另一个计划")));
            return Err(error.with_remedy(wording!(
                "give the plan that it was made with, or make it again with this one",
                "请提供生成它时使用的计划，或用当前计划重新生成"
            )));
        }
        let PartialContent { files, aggregates } = part.content;
        let name: Arc<str> = name.into();
        for outcome in files {
            let planned = self.fleet.files.get(outcome.position).filter(|planned| planned.path.is_some());
            if planned.is_none_or(|planned| planned.name != outcome.row.name) || outcome.head.is_none() {
                return Err(contradiction("a file is not in the plan"));
            }
            if let Some((_, earlier)) = self.outcomes.get(&outcome.position) {
                return Err(twice(&outcome.row.name, earlier));
            }
            self.outcomes.insert(outcome.position, (outcome, Arc::clone(&name)));
        }
        self.aggregates.add_stored(aggregates).map_err(contradiction)
    }

    /// Returns the positions of the files that no partial report has.
    pub fn missing(&self) -> Vec<usize> {
        let planned = self.fleet.files.iter().enumerate().filter(|(_, file)| file.path.is_some());
        planned.map(|(position, _)| position).filter(|position| !self.outcomes.contains_key(position)).collect()
    }

    /// Returns one partial report of all that was added.
    pub fn into_partial(self) -> Result<PartialReport> {
        let outcomes = self.outcomes.into_values().map(|(outcome, _)| outcome).collect();
        PartialReport::new(self.fleet, outcomes, self.aggregates)
    }

    /// Returns the report of all that was added. If files are missing it is marked incomplete and names them.
    pub fn report(self) -> Result<Report> {
        let PartialMerger { fleet, run, aggregates, mut outcomes } = self;
        let plan = &run.plan;
        let outcome =
            |(position, planned): (usize, &PlannedFile)| match (&planned.unreadable, outcomes.remove(&position)) {
                (Some(row), _) => {
                    let error = missing(position);
                    FileOutcome {
                        row: row.clone(),
                        ..FileOutcome::new(position, unreadable(planned.name.clone(), error))
                    }
                }
                (None, Some((outcome, _))) => outcome,
                (None, None) => FileOutcome::new(position, unreadable(planned.name.clone(), missing(position))),
            };
        let outcomes: Vec<FileOutcome> = fleet.files.iter().enumerate().map(outcome).collect();
        let with_heads = outcomes.iter().filter_map(|outcome| Some((outcome, outcome.head.as_ref()?)));
        let heads: Vec<_> = with_heads
            .map(|(outcome, head)| {
                let (_, file) = input_file(outcome.position, outcome.row.name.clone(), head, &plan.read);
                (head.header, Arc::new(file))
            })
            .collect();
        let files: Vec<_> = heads.iter().map(|(_, file)| Arc::clone(file)).collect();
        let first = fleet.first.as_ref().map(super::plan::first_info).transpose()?;
        let whole = first.map(|about| {
            let (_, file) = input_file(0, String::new(), &about, &plan.read);
            FirstFile::new(about, &file.model, plan, &heads)
        });
        let mut report = assemble::report(plan, whole, aggregates, &files, outcomes, &run.questions);
        report.warnings.extend(fleet.warnings.iter().cloned());
        report.options.inputs.clone_from(&fleet.arguments);
        Ok(report)
    }
}

/// Returns the error for a file that no partial report has.
fn missing(position: usize) -> Error {
    let number = position + 1;
    let error =
        Error::new(ErrorKind::Unreadable(wording!("no partial report has this file", "没有任何部分结果包含该文件")));
    error.with_remedy(wording!(
        "make one with `rdblens analyze --plan PLAN.json --partial --file {number} -o {number}.part`, and merge again with it",
        "请用 `rdblens analyze --plan PLAN.json --partial --file {number} -o {number}.part` 生成，再与它一起重新合并"
    ))
}

/// Returns the error for a file that two partial reports have.
fn twice(file: &str, earlier: &str) -> Error {
    let error = Error::new(ErrorKind::Unreadable(wording!(
        "has {file}, which {earlier} has, too",
        "含有 {file}，但 {earlier} 中已有该文件"
    )));
    error.with_remedy(wording!("give each part once", "每份部分结果只能提供一次"))
}
