//! The command `compare --keys`: which keys were added, removed or changed between two snapshots, each in one file or many.
//!
//! ```text
//! files of a side ─► records with hashes of name and content ─► parts, by hash of the name ─► join ─► differing keys, sorted
//! ```
//!
//! Neither the number of keys nor of differences is bounded by memory: keys beyond a share of `--max-memory` are on disk by
//! part, differing keys in sorted runs. Names and contents are compared by hashes with a key that is random in each run: without
//! it, no file can be made whose keys collide. No result depends on the key.

mod differing;
mod join;
mod store;
mod stored;
mod summary;

use std::borrow::Cow;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use self::differing::{Differing, Sorter};
use self::join::{Comparing, Join, JoinSums};
use self::store::{Gathered, KeyStore, PARTS};
use self::stored::{Frames, Side, SideFacts, StoredKey};
use self::summary::Summary;
use super::first_pass::require_files;
use super::plan::{InputCheck, MaskKey, Plan, PolicySource, ReadPlan};
use super::read::feed::FileBatch;
use super::read::parallel::pool;
use super::read::progress::Progress;
use super::read::reader::{Continue, ReadOptions, read_batch_shared};
use super::read::snapshot::Snapshot;
use super::read::tally::{Tallies, merge_tallies};
use super::row_filter::{RowConditions, RowSetup};
use super::verdict::{FileVerdict, verdicts};
use crate::error::{Error, Result};
use crate::pattern::classify::Classifier;
use crate::rdb::content::{ContentHasher, ContentScratch, FieldExpiries};
use crate::rdb::verify::name_hash::NameHasher;
use crate::rdb::verify::unique::part_of;
use crate::report::key_comparison::{KeyChange, KeyComparison, KeyComparisonOptions, KeySide, warnings};
use crate::units::{Bytes, Millis};

/// Options of a comparison key by key.
#[derive(Debug, Clone)]
pub struct KeyDiffPlan {
    /// Options for reading both sides.
    pub read: ReadPlan,
    /// Properties whose change counts as a difference.
    pub options: KeyComparisonOptions,
    /// Rows in each list.
    pub top: usize,
    /// Key for masking names; `None` shows them. Both sides are then read twice.
    pub mask: Option<MaskKey>,
}

/// Result of a comparison, with what is to be said about the files.
#[derive(Debug)]
pub struct KeyDiff {
    /// The comparison.
    pub comparison: KeyComparison,
    /// Verdicts on the files of the old side, then of the new one.
    pub verdicts: Vec<FileVerdict>,
}

/// Compares the keys of two snapshots, and passes those that differ to `see`, by database and name.
pub fn compare_keys<P: AsRef<Path>>(
    sides: [&[P]; 2],
    plan: &KeyDiffPlan,
    classifier: &Classifier,
    progress: &dyn Progress,
    mut see: impl FnMut(&KeyChange) -> Result<()> + Send,
) -> Result<KeyDiff> {
    let [before, after] = sides;
    let masking = plan.mask.as_ref().map(|key| masking(sides, &plan.read, key, progress)).transpose()?;
    let masker = masking.as_ref().and_then(RowSetup::masker);
    let mut before = Snapshot::open(before, &plan.read, progress)?;
    let mut after = Snapshot::open(after, &plan.read, progress)?;
    let models = [&before, &after].map(|side| side.heads().map(|(_, file)| file.model.name()).collect());
    let threads = pool(plan.read.threads)?;
    let budget = plan.read.open.budget;
    let expiries = if plan.options.ignore_expiry { FieldExpiries::Ignored } else { FieldExpiries::Count };
    let hashers = Hashers { names: NameHasher::random(), contents: ContentHasher::random(expiries) };
    let store = Mutex::new(Ok(KeyStore::new(&plan.read.open.spool_dir, budget)));
    let reader = SideReader { plan: &plan.read, hashers: &hashers, store: &store, progress };
    let old = threads.install(|| reader.read(Side::Before, &mut before))?;
    let new = threads.install(|| reader.read(Side::After, &mut after))?;
    let store = store.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    let comparing =
        Comparing { options: plan.options, masker: masker.as_ref(), taken_after: new.reference.map(|at| at.0) };
    let mut sorter = Sorter::new(&plan.read.open.spool_dir, budget);
    let sums = threads.install(|| join(store, &comparing, &mut sorter))?;
    let sides = [KeySide::from(&old), KeySide::from(&new)];
    let mut summary = Summary::new(classifier, &sides, plan.top);
    threads.install(|| sorter.finish(|key| see(&summary.add(key))))?;
    let mut comparison = summary.finish(sums, sides, plan.options);
    comparison.warnings = warnings([&comparison.before, &comparison.after], models, comparison.sums.differing);
    let verdicts = [old, new].into_iter().flat_map(|side| side.verdicts).collect();
    Ok(KeyDiff { comparison, verdicts })
}

/// Reads both sides once for masking: names that make the patterns of both together stay, and the tokens depend on both.
fn masking<P: AsRef<Path>>(
    sides: [&[P]; 2],
    read: &ReadPlan,
    key: &MaskKey,
    progress: &dyn Progress,
) -> Result<RowSetup> {
    // The two sides are of different times, or even the same file.
    let read = ReadPlan { inputs: InputCheck::None, ..read.clone() };
    let inputs: Vec<&Path> = sides.into_iter().flatten().map(AsRef::as_ref).collect();
    require_files(&inputs, "--mask")?;
    let snapshot = Snapshot::open(&inputs, &read, progress)?;
    let policy = PolicySource::Preset("none".to_owned());
    let plan = Plan { policy, mask: Some(key.clone()), ..Plan::new(read) };
    RowSetup::new(&inputs, &plan, RowConditions::default(), &snapshot, progress)
}

/// Hash functions of a run.
struct Hashers {
    names: NameHasher,
    contents: ContentHasher,
}

/// Result of reading one side.
struct SideRead {
    verdicts: Vec<FileVerdict>,
    reference: Option<Millis>,
    expired: u64,
    unreadable: u64,
}

impl From<&SideRead> for KeySide {
    fn from(side: &SideRead) -> KeySide {
        let name = match side.verdicts.as_slice() {
            [only] => only.row.name.clone(),
            files => format!("{} files", files.len()),
        };
        KeySide {
            name,
            taken: side
                .verdicts
                .iter()
                .filter_map(|file| file.row.ctime)
                .max()
                .map(|at| Millis(at.saturating_mul(1000))),
            keys: 0,
            memory: Bytes(0),
            expired: side.expired,
            duplicates: 0,
            unreadable: side.unreadable,
            complete: side.verdicts.iter().all(FileVerdict::is_sound),
            files: side.verdicts.iter().map(|file| file.row.clone()).collect(),
        }
    }
}

/// Reader of the keys of a side into the store.
struct SideReader<'r> {
    plan: &'r ReadPlan,
    hashers: &'r Hashers,
    store: &'r Mutex<Result<KeyStore>>,
    progress: &'r dyn Progress,
}

/// Keys that a thread has read.
#[derive(Default)]
struct Counted {
    tallies: Tallies,
    expired: u64,
    unreadable: u64,
    /// Keys of a batch, empty between batches.
    keys: Gathered,
}

impl SideReader<'_> {
    fn read(&self, side: Side, snapshot: &mut Snapshot) -> Result<SideRead> {
        let reading = snapshot.reading(self.plan);
        let reference = snapshot.reference;
        let mut feed = snapshot.feed(rayon::current_num_threads(), self.progress);
        let counted = feed
            .by_ref()
            .par_bridge()
            .fold(Counted::default, |mut counted, work| {
                self.read_batch(side, &work, reading, &mut counted);
                counted
            })
            .reduce(Counted::default, |mut left, right| {
                merge_tallies(&mut left.tallies, right.tallies);
                left.expired += right.expired;
                left.unreadable += right.unreadable;
                left
            });
        let facts = std::mem::take(&mut snapshot.facts);
        let verdicts = verdicts(facts, feed.into_endings()?, counted.tallies, reading.checksum);
        Ok(SideRead { verdicts, reference, expired: counted.expired, unreadable: counted.unreadable })
    }

    fn read_batch(&self, side: Side, work: &FileBatch, reading: ReadOptions<'_>, counted: &mut Counted) {
        let Counted { tallies, expired, unreadable, keys } = counted;
        let mut scratch = ContentScratch::new(work.file.budget.part());
        let tally = tallies.entry(work.file.index).or_default();
        let before = tally.keys;
        // Shards are saved one after the other: a key counts as expired only if its own server saw it expire.
        let reference = work.file.reference_in(reading.reference);
        read_batch_shared(&work.batch, &work.file, reading, tally, &mut |record, _| {
            if matches!((record.expires_at, reference), (Some(at), Some(reference)) if at < reference) {
                *expired += 1;
                return Continue::Yes;
            }
            let content = record.raw.and_then(|raw| raw.content(&self.hashers.contents, &mut scratch).ok());
            *unreadable += u64::from(content.is_none());
            keys.push(&StoredKey {
                side,
                hash: self.hashers.names.hash(record.db, record.key),
                db: record.db,
                name: record.key,
                facts: SideFacts {
                    file: record.file as u64,
                    expires_at: record.expires_at.map(|at| at.0),
                    kind: record.kind,
                    module: record.module,
                    length: record.length,
                    memory: record.memory.0,
                    content,
                },
            });
            Continue::Yes
        });
        self.progress.keys(tally.keys - before);
        let block = keys.take_block();
        // After a panic in another thread the result is discarded, so a poisoned lock is harmless.
        let mut store = self.store.lock().unwrap_or_else(PoisonError::into_inner);
        if let Ok(known) = &mut *store
            && let Err(error) = known.add(block)
        {
            *store = Err(error);
        }
    }
}

/// Fewest parts that are joined at once: threads that wait for the slowest of few parts lose time.
const AT_ONCE: usize = 16;

/// Joins both sides, and adds the keys that differ to `sorter`.
fn join(mut store: KeyStore, comparing: &Comparing<'_>, sorter: &mut Sorter) -> Result<JoinSums> {
    let mut sums = JoinSums::default();
    let mut take = |joined: Result<Joined>| {
        let (of_part, differing) = joined?;
        sums.merge(of_part);
        sorter.add(differing)
    };
    let in_memory = store.settle()?;
    // Some parts per thread, so that only their differing keys are in memory.
    let at_once = rayon::current_num_threads().max(AT_ONCE);
    let mut part = 0;
    while part < PARTS {
        let parts = if in_memory { part..PARTS.min(part + at_once) } else { part..store.end_of_fitting(part, at_once) };
        part = parts.end;
        if in_memory {
            let joined: Vec<_> =
                parts.into_par_iter().map(|part| Ok(join_in_memory(&store, part, comparing))).collect();
            joined.into_iter().try_for_each(&mut take)?;
        } else if parts.len() > 1 {
            let joined: Vec<_> =
                parts.into_par_iter().map(|part| join_on_disk(&store, part, 0, 1, comparing)).collect();
            joined.into_iter().try_for_each(&mut take)?;
        } else {
            // It may be larger than the memory.
            let passes = store.passes(parts.start);
            (0..passes).try_for_each(|pass| take(join_on_disk(&store, parts.start, pass, passes, comparing)))?;
        }
    }
    Ok(sums)
}

/// Sums of some keys, and those that differ.
type Joined = (JoinSums, Vec<Differing>);

fn join_in_memory(store: &KeyStore, part: usize, comparing: &Comparing<'_>) -> Joined {
    let mut join = Join::of_bytes(store.in_memory(part).map(<[u8]>::len).sum());
    for record in store.in_memory(part).flat_map(Frames) {
        join.add(record, Cow::Borrowed);
    }
    join.finish(comparing)
}

/// Joins the keys of a part that one of several passes over it takes.
fn join_on_disk(store: &KeyStore, part: usize, pass: u64, passes: u64, comparing: &Comparing<'_>) -> Result<Joined> {
    let number = part as u64 * passes + pass;
    let mut join = Join::of_bytes(0);
    store.on_disk(part, |record| {
        if StoredKey::head(record).is_some_and(|(hash, _)| part_of(hash, PARTS as u64 * passes) == number) {
            join.add(record, |record| Cow::Owned(record.to_vec()));
        }
    })?;
    Ok(join.finish(comparing))
}

/// Refuses options that leave out some keys of one side only.
pub fn check_plan(plan: &ReadPlan) -> Result<()> {
    match plan.limit {
        None => Ok(()),
        Some(_) => Err(Error::usage("--limit cannot be combined with --keys")
            .with_hint("choose the keys of both sides with --match, --db or --type")),
    }
}
