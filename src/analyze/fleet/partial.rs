//! Partial reports: all that was read of some files of a plan.

use std::io::Read;

use data_encoding::HEXLOWER_PERMISSIVE;
use serde::{Deserialize, Serialize};

use super::FleetRun;
use super::envelope::{self, refused};
use super::merge::MergeChoices;
use super::plan::fingerprint;
use crate::analyze::aggregates::{Aggregates, StoredAggregates};
use crate::analyze::outcome::FileOutcome;
use crate::analyze::plan::ReadPlan;
use crate::analyze::read::progress::Progress;
use crate::analyze::read::snapshot::{Snapshot, WholeRun};
use crate::analyze::run::{Gathered, gather};
use crate::error::{Error, ErrorKind, Result};
use crate::input::{Input, Location, Stores, as_address};
use crate::report::fleet::{FleetPlan, PlannedFile};
use crate::wording::{Wording, singular, wording};

/// All that was read of some files of a plan, to be [merged](super::PartialMerger) with that of the others.
///
/// Holds names of keys as they are. Equal files give equal bytes, whatever the number of threads.
#[derive(Debug)]
pub struct PartialReport {
    digest: [u8; 32],
    pub(super) content: PartialContent,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct PartialContent {
    pub files: Vec<FileOutcome>,
    pub aggregates: StoredAggregates,
}

impl PartialReport {
    pub(super) fn new(fleet: &FleetPlan, files: Vec<FileOutcome>, aggregates: Aggregates) -> Result<PartialReport> {
        Ok(PartialReport {
            digest: digest_of(fleet)?,
            content: PartialContent { files, aggregates: aggregates.into_stored() },
        })
    }

    /// Encodes the report; [`PartialReport::read`] decodes it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        envelope::write(&self.digest, &self.content)
    }

    /// Decodes a report. The bytes need not be trusted: lengths are limited, and contradictions are found when it is merged.
    pub fn read(input: impl Read) -> Result<PartialReport> {
        let (digest, content) = envelope::read(input)?;
        Ok(PartialReport { digest, content })
    }

    /// Returns whether it is a part of a plan.
    pub fn is_of(&self, fleet: &FleetPlan) -> bool {
        digest_of(fleet).is_ok_and(|digest| digest == self.digest)
    }

    /// Returns the positions of its files in the plan.
    pub fn files(&self) -> impl Iterator<Item = usize> {
        self.content.files.iter().map(|file| file.position)
    }
}

/// Decodes the content of a partial report without its header, for tests of hostile contents.
#[cfg(feature = "internals")]
pub fn of_content(fleet: &FleetPlan, content: &[u8]) -> Result<PartialReport> {
    Ok(PartialReport { digest: digest_of(fleet)?, content: envelope::decode(content)? })
}

/// Encodes the content of a partial report without its header.
#[cfg(feature = "internals")]
pub fn content_of(part: &PartialReport) -> Vec<u8> {
    postcard::to_stdvec(&part.content).unwrap_or_default()
}

fn digest_of(fleet: &FleetPlan) -> Result<[u8; 32]> {
    let digest = HEXLOWER_PERMISSIVE.decode(fleet.digest.as_bytes()).ok();
    digest.and_then(|digest| digest.try_into().ok()).ok_or_else(|| Error::usage("the digest of the plan is no SHA-256"))
}

/// Reads the files at these positions of a plan, as `how` says: its window, budget, threads and division are used, all else is in
/// the plan.
///
/// Fails if a file cannot be opened, or differs from the one that was planned.
pub fn partial(fleet: &FleetPlan, files: &[usize], how: &ReadPlan, progress: &dyn Progress) -> Result<PartialReport> {
    let run = FleetRun::new(fleet, how, MergeChoices::default())?;
    let mut positions = files.to_vec();
    positions.sort_unstable();
    positions.dedup();
    let (mut inputs, mut stores) = (Vec::new(), Stores::new(&how.stores));
    for position in positions {
        let planned = fleet.files.get(position).ok_or_else(|| {
            let (files, number) = (fleet.files.len(), position + 1);
            Error::usage(singular(format!("the plan has {files} files, there is no file {number}")))
        })?;
        // Files that could not be read when the plan was made are in the report without a part.
        if let Some(path) = &planned.path {
            inputs.push((position, input(planned, path, &mut stores)?));
        }
    }
    if inputs.is_empty() {
        return PartialReport::new(fleet, Vec::new(), Aggregates::new(&run.questions));
    }
    let whole = WholeRun {
        inputs: usize::try_from(fleet.inputs).unwrap_or(usize::MAX),
        opened: fleet.files.iter().filter(|file| file.path.is_some()).count(),
        reference: fleet.reference_time,
    };
    let snapshot = Snapshot::open_part(inputs, &run.plan.read, whole, progress)?;
    for (about, file) in snapshot.heads() {
        let planned = fleet.files.get(file.index);
        if planned.is_some_and(|planned| planned.head.as_ref() != Some(&fingerprint(about))) {
            return Err(replaced(&file.name, wording!("its header or auxiliary fields", "文件头或辅助字段")));
        }
    }
    // The key for masking names is derived from checksums, and whether names are masked is decided when parts are merged.
    let Gathered { aggregates, outcomes } = gather(snapshot, &run.plan, &run.questions, true, progress)?;
    PartialReport::new(fleet, outcomes, aggregates)
}

/// Returns the input of a planned file, if its size is still that of the plan. Objects are asked for by their tag.
fn input(planned: &PlannedFile, path: &str, stores: &mut Stores) -> Result<Input> {
    let of = |location| Input {
        name: planned.name.clone(),
        location,
        following_bytes: planned.following_bytes,
        multi_part: planned.multi_part,
        beside: Vec::new(),
    };
    if as_address(path.as_ref()).is_some() {
        let object = stores.planned(path, planned.size, planned.etag.as_deref());
        let object = object.map_err(|error| error.in_file(&planned.name))?;
        return Ok(of(Location::Object(Box::new(object))));
    }
    let metadata = std::fs::metadata(path).map_err(|error| Error::from(error).in_file(&planned.name))?;
    if planned.size.is_some_and(|size| size != metadata.len()) {
        let size = planned.size.unwrap_or_default();
        let now = metadata.len();
        return Err(replaced(
            &planned.name,
            wording!("{size} bytes then, {now} now", "当时 {size} 字节，现在 {now} 字节"),
        ));
    }
    Ok(of(Location::File(path.into())))
}

/// Returns the error for a file that is not the one that was planned.
fn replaced(name: &str, what: Wording) -> Error {
    let error = Error::new(ErrorKind::Unreadable(Wording {
        en: format!("the file has changed since the plan was made: {}", what.en),
        zh: format!("文件在制定计划之后发生了变化：{}", what.zh),
    }));
    let error = error.with_remedy(wording!(
        "run rdblens plan again, and all parts with the new plan",
        "请重新运行 rdblens plan，并用新计划重做所有部分"
    ));
    error.in_file(name)
}

/// Returns the error for a partial report whose content contradicts itself.
pub(super) fn contradiction(what: &str) -> Error {
    refused(wording!("its content contradicts itself: {what}", "内容自相矛盾：{what}"))
}
