//! Reports over many files, computed in parts by several processes: a plan, partial reports, and their merging.
//!
//! ```text
//! inputs ─ plan ─┬─ read files 1, 4 ─ PartialReport ─┐
//!                ├─ read files 2, 5 ─ PartialReport ─┼─ PartialMerger ─ Report, or a PartialReport of them all
//!                └─ read files 3, 6 ─ PartialReport ─┘
//! ```
//!
//! The merged report equals that of [`analyze`](super::analyze) over the same files, byte for byte: both are assembled from the
//! same aggregates, which merge in any order, and from outcomes of files in the order of the plan.

mod envelope;
mod merge;
mod options;
mod partial;
mod plan;

use std::sync::Arc;
use std::sync::atomic::Ordering;

pub use merge::{MergeChoices, PartialMerger};
pub use partial::{PartialReport, partial};
#[cfg(feature = "internals")]
pub use partial::{content_of, of_content};
pub use plan::{plan, read_plan};

use super::plan::{Plan, ReadPlan};
use super::questions::{LoadedPolicy, Questions, questions_with};
use super::read::snapshot::{input_file, reference};
use crate::error::Result;
use crate::report::fleet::FleetPlan;
use crate::units::ReferenceTimes;

/// Settings of a part of a run.
struct FleetRun {
    plan: Plan,
    questions: Arc<Questions>,
}

impl FleetRun {
    /// Derives the settings from the plan; `how` says how files are read.
    fn new(fleet: &FleetPlan, how: &ReadPlan, choices: MergeChoices) -> Result<FleetRun> {
        let MergeChoices { mask, baseline, earlier, files, now, depth, min_share } = choices;
        let planned = options::plan_of(&fleet.options, how)?;
        let earlier = earlier.into_iter().map(Arc::new).collect();
        let plan = Plan { mask, baseline, earlier, files, now, depth, min_share, ..planned };
        let standard = LoadedPolicy::load(&plan)?;
        let plan = standard.with_upgrade(&plan).into_owned();
        let own = fleet.files.iter().map(|file| reference(&plan.read, file.ctime));
        let references = ReferenceTimes::new(fleet.reference_time, own);
        let names: Vec<String> = fleet.files.iter().map(|file| file.name.clone()).collect();
        let mut questions = questions_with(&plan, standard, references, &names)?;
        let first = fleet.first.as_ref().map(plan::first_info).transpose()?;
        questions.checks.context.model = first.map(|about| input_file(0, String::new(), &about, &plan.read).1.model);
        questions.slotted = fleet.cluster;
        // Count slots at once: only the merged parts tell whether any key has a hash tag.
        questions.tagged.store(true, Ordering::Relaxed);
        Ok(FleetRun { plan, questions: Arc::new(questions) })
    }
}
