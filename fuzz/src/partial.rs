//! Target `partial`: merges any partial report.

use std::path::PathBuf;
use std::sync::OnceLock;

use rdblens::fleet::{FleetPlan, MergeChoices, PartialMerger, PartialReport, partial, plan};
use rdblens::internals::analyze::fleet::{content_of, of_content};
use rdblens::{InputCheck, Plan, PolicySource, ReadPlan, Unwatched};

use super::{Sample, render, seeds};

/// The first byte of inputs that are the content of a partial report, without its header; others are whole reports.
pub const CONTENT: u8 = 0;

/// Files of the plan, small and of many types.
const FILES: [&str; 2] = ["testdata/servers/valkey-9.2-vcs.rdb", "testdata/servers/dragonfly.rdb"];

/// Decodes a partial report, merges it with nothing and with itself, and renders what comes of it.
pub fn check(input: &[u8], mut sample: Sample) {
    let Some((&kind, bytes)) = input.split_first() else { return };
    let fleet = planned();
    let part = if kind == CONTENT { of_content(fleet, bytes) } else { PartialReport::read(bytes) };
    let part = match part {
        Ok(part) => part,
        Err(error) => {
            let said = error.to_string();
            assert!(said.contains("analyze --partial") || said.contains("rdblens"), "{said}");
            return;
        }
    };
    let content = content_of(&part);
    let again = of_content(fleet, &content).expect("what was decoded can be decoded again");
    assert!(content_of(&again) == content, "a partial report changes when it is stored");
    let Some(merger) = merged(fleet, part) else { return };
    let whole = merger.into_partial().expect("what was merged is a partial report").to_bytes().expect("it has bytes");
    let stored = PartialReport::read(&whole[..]).expect("a partial report that was written can be read");
    let merger = merged(fleet, stored).expect("what was merged can be merged");
    render(&merger.report().expect("what was merged is a report"), &mut sample);
    // The report of its content alone is the same.
    let Some(merger) = merged(fleet, again) else { panic!("the same is merged and refused") };
    merger.report().expect("what was merged is a report");
}

/// Returns a merger that has taken this report; `None` if it contradicts itself.
fn merged(fleet: &FleetPlan, part: PartialReport) -> Option<PartialMerger<'_>> {
    let mut merger = PartialMerger::new(fleet, MergeChoices::default()).expect("the plan is sound");
    match merger.add(part, "fuzz.part") {
        Ok(()) => Some(merger),
        Err(error) => {
            assert!(error.to_string().contains("fuzz.part"), "{error}");
            assert!(error.hint().is_some(), "{error} has no remedy");
            None
        }
    }
}

/// Returns the plan that the reports are parts of. Its files have names of their own, so that inputs that were kept are of use
/// wherever the crate is.
fn planned() -> &'static FleetPlan {
    static PLAN: OnceLock<FleetPlan> = OnceLock::new();
    PLAN.get_or_init(|| {
        let files: Vec<PathBuf> = FILES.iter().map(|file| seeds::root().join(file)).collect();
        let options = Plan { policy: PolicySource::Preset("strict".to_owned()), top: 4, ..Plan::new(read_plan()) };
        let mut planned = plan(&files, &options, &Unwatched).expect("the test data are sound");
        for (number, file) in planned.files.iter_mut().enumerate() {
            file.name = format!("{number}.rdb");
        }
        planned
    })
}

fn read_plan() -> ReadPlan {
    ReadPlan { inputs: InputCheck::None, ..ReadPlan::new(std::env::temp_dir()) }
}

/// Returns partial reports of the files of the plan, each alone, both, and none; as contents and whole.
pub fn seeds() -> Vec<Vec<u8>> {
    let fleet = planned();
    let of = |files: &[usize]| {
        let part = partial(fleet, files, &read_plan(), &Unwatched).expect("the test data are sound");
        [[&[CONTENT], &content_of(&part)[..]].concat(), [&[1], &part.to_bytes().expect("it has bytes")[..]].concat()]
    };
    [&[0][..], &[1], &[0, 1], &[]].into_iter().flat_map(of).collect()
}
