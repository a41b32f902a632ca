//! The command `check`: verifies a backup by reading everything, walking every value and computing the checksum.

use std::path::Path;

use rayon::prelude::*;

use super::plan::ReadPlan;
use super::read::feed::FileBatch;
use super::read::parallel::pool;
use super::read::progress::Progress;
use super::read::snapshot::Snapshot;
use super::read::tally::{FileTally, Tallies, merge_tallies};
use super::verdict::{FileVerdict, verdicts};
use crate::error::{ErrorKind, Reading, Result, Within};
use crate::rdb::scan::FileItem;
use crate::rdb::verify::Verify;
use crate::report::{CheckVerdict, FileCheck};

/// Verifies every input: structure, values and checksum. Fails only when an input cannot be found.
///
/// ```
/// use rdblens::{ReadPlan, Unwatched, check};
/// use rdblens::report::CheckVerdict;
///
/// let plan = ReadPlan::new(std::env::temp_dir());
/// let files = check(&["testdata/dumps/shop.rdb", "testdata/hostile/checksum-wrong.rdb"], &plan, &Unwatched)?;
/// assert_eq!(files[0].verdict, CheckVerdict::Ok);
/// assert_eq!(files[1].verdict, CheckVerdict::ChecksumMismatch);
/// # Ok::<(), rdblens::Error>(())
/// ```
pub fn check<P: AsRef<Path>>(inputs: &[P], plan: &ReadPlan, progress: &dyn Progress) -> Result<Vec<FileCheck>> {
    let mut snapshot = Snapshot::open_any(inputs, plan, progress)?;
    let threads = pool(plan.threads)?;
    let mut feed = snapshot.feed(threads.current_num_threads(), progress);
    let tallies = threads.install(|| {
        feed.by_ref()
            .par_bridge()
            .fold(Tallies::new, |mut tallies, work| {
                let tally = tallies.entry(work.file.index).or_default();
                let before = tally.keys;
                verify(&work, plan.checksum, tally);
                progress.keys(tally.keys - before);
                tallies
            })
            .reduce(Tallies::new, |mut left, right| {
                merge_tallies(&mut left, right);
                left
            })
    });
    let found = verdicts(snapshot.facts, feed.into_endings(), tallies, plan.checksum);
    Ok(found.into_iter().map(file_check).collect())
}

fn verify(work: &FileBatch, checksum: bool, tally: &mut FileTally) {
    let batch = &work.batch;
    if checksum {
        tally.add_checksum(batch);
    }
    let mut scanner = batch.scanner();
    let mut verify = Verify::default();
    let mut scratch = Vec::new();
    while scanner.cursor().left() > 0 {
        let entry = match scanner.next_item() {
            Ok(FileItem::Key(entry)) => entry,
            Ok(_) => continue,
            Err(error) => return tally.damage(error),
        };
        tally.keys += 1;
        let key = entry.key.decode(&mut scratch).map(|_| ()).within(Reading::Key);
        let value = scanner.cursor().clone();
        if let Err(error) = scanner.value(&entry, &mut verify) {
            return tally.damage(error);
        }
        while verify.needs_another_walk() {
            *scanner.cursor_mut() = value.clone();
            if let Err(error) = scanner.value(&entry, &mut verify) {
                return tally.damage(error);
            }
        }
        match key.and(verify.finish().map_err(|error| error.or_at(entry.offset))) {
            Ok(notes) => tally.note(notes),
            Err(error) => tally.damage(error),
        }
    }
}

fn file_check(verdict: FileVerdict) -> FileCheck {
    let word = match &verdict.fault {
        None if verdict.row.damaged_keys > 0 => CheckVerdict::Corrupt,
        None => CheckVerdict::Ok,
        Some(error) => match error.kind() {
            ErrorKind::Truncated { .. } => CheckVerdict::Truncated,
            ErrorKind::Checksum { .. } => CheckVerdict::ChecksumMismatch,
            ErrorKind::Unsupported(_) => CheckVerdict::Unsupported,
            ErrorKind::Corrupt(_) | ErrorKind::Limit(_) => CheckVerdict::Corrupt,
            ErrorKind::NotASnapshot(_) => CheckVerdict::NotASnapshot,
            ErrorKind::Io(_) | ErrorKind::Unreadable(_) | ErrorKind::Usage(_) => CheckVerdict::Unreadable,
        },
    };
    let row = verdict.row;
    FileCheck {
        name: row.name,
        verdict: word,
        keys: row.keys_read,
        bytes: row.bytes.0,
        rdb_version: row.rdb_version,
        server: row.server,
        container: row.container,
        checksum: row.checksum,
        damaged_keys: row.damaged_keys,
        errors: row.errors,
        warnings: verdict.warnings,
        second_reader: None,
    }
}
