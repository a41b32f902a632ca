//! The command `check`: verifies a backup by reading everything, walking every value and computing the checksum.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::key_places::KeyPlaces;
use super::plan::ReadPlan;
use super::read::feed::FileBatch;
use super::read::parallel::pool;
use super::read::progress::{Progress, check_cancelled};
use super::read::snapshot::Snapshot;
use super::read::tally::{FileTally, Tallies, merge_tallies};
use super::salvage::summaries;
use super::verdict::{FileVerdict, verdicts};
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::input::{Input, shown_path};
use crate::rdb::commands::CommandReader;
use crate::rdb::resync::verify_value;
use crate::rdb::scan::FileItem;
use crate::rdb::scratch::Scratch;
use crate::rdb::verify::Verify;
use crate::rdb::verify::name_hash::NameHasher;
use crate::rdb::verify::unique::PlacedHash;
use crate::report::{CheckVerdict, FileCheck, FileError, Warning, WarningKind};
use crate::wording::wording;

/// Bytes of a file of commands that are read at once.
const COMMANDS_AT_ONCE: usize = 1 << 20;

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
    let of_commands: BTreeMap<usize, Vec<PathBuf>> =
        snapshot.inputs().map(|(file, input, _)| (file.index, increments(input))).collect();
    let threads = pool(plan.threads)?;
    let mut feed = snapshot.feed(threads.current_num_threads(), progress).with_commands();
    let places = Mutex::new(BTreeMap::new());
    let hasher = NameHasher::random();
    let budget = plan.open.budget.shared_by(snapshot.facts.len());
    let mut tallies = threads.install(|| {
        feed.by_ref()
            .par_bridge()
            .fold(Tallies::new, |mut tallies, work| {
                let tally = tallies.entry(work.file.index).or_default();
                let before = tally.keys;
                let keys = verify(&work, plan, &hasher, tally);
                place(&places, &work, &keys, || KeyPlaces::new(&plan.open.spool_dir, budget));
                progress.keys(tally.keys - before);
                tallies
            })
            .reduce(Tallies::new, |mut left, right| {
                merge_tallies(&mut left, right);
                left
            })
    });
    check_cancelled(progress)?;
    for (file, places) in places.into_inner().unwrap_or_else(PoisonError::into_inner) {
        let tally = tallies.entry(file).or_default();
        match threads.install(|| places.and_then(|places| report_repeated(places, tally))) {
            Err(error) if matches!(error.kind(), ErrorKind::OverBudget(_)) => tally.pass_over(error),
            other => other?,
        }
    }
    let indexes: Vec<Option<usize>> =
        snapshot.facts.iter().map(|facts| Some(facts.opened.as_ref().ok()?.file.index)).collect();
    let found = verdicts(snapshot.facts, feed.into_all_endings(), tallies, plan.checksum);
    let mut found: Vec<FileVerdict> = found.into_iter().map(FileVerdict::with_keys_compared).collect();
    for (verdict, index) in found.iter_mut().zip(indexes) {
        let increments = index.and_then(|index| of_commands.get(&index)).map_or(&[][..], Vec::as_slice);
        verify_increments(increments, verdict, progress)?;
    }
    let mut checks: Vec<FileCheck> = found.into_iter().map(file_check).collect();
    let is_damaged =
        |index: usize| checks.get(index).is_some_and(|check| check.verdict != CheckVerdict::Ok && !check.is_hopeless());
    let salvaged = summaries(inputs, plan, is_damaged);
    for (check, salvage) in checks.iter_mut().zip(salvaged) {
        check.salvage = salvage;
    }
    Ok(checks)
}

/// Returns the files of commands that follow the base of a multi-part append-only file.
fn increments(input: &Input) -> Vec<PathBuf> {
    let is_manifest = |path: &Path| path.extension().is_some_and(|extension| extension == "manifest");
    input.beside.iter().filter(|path| !is_manifest(path)).cloned().collect()
}

/// Verifies the framing of the commands in the files that follow a snapshot. Only the last file may end within a command.
fn verify_increments(paths: &[PathBuf], verdict: &mut FileVerdict, progress: &dyn Progress) -> Result<()> {
    for (number, path) in (1..).zip(paths) {
        let name = shown_path(path);
        let is_last = number == paths.len();
        let cut = verify_commands(path, progress).and_then(|cut| match cut {
            Some(offset) if !is_last => Err(cut_before_another(offset)),
            cut => Ok(cut),
        });
        match cut {
            Ok(cut) => {
                let warning = |offset| Warning::about(&name, WarningKind::LastCommandCut { offset });
                verdict.warnings.extend(cut.map(warning));
            }
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled) => return Err(error),
            // Errors of this row are about its snapshot: this one names its file.
            Err(error) if verdict.fault.is_none() => {
                let is_corrupt = matches!(error.kind(), ErrorKind::Corrupt(_));
                let what = error.in_file(&name).wording_with_file();
                let fault = Error::new(if is_corrupt { ErrorKind::Corrupt(what) } else { ErrorKind::Unreadable(what) });
                verdict.row.errors.push(FileError::from(&fault));
                verdict.fault = Some(fault.in_file(&verdict.row.name));
            }
            Err(_) => {}
        }
    }
    Ok(())
}

/// Returns the error for a file of commands that ends within one although another file follows.
fn cut_before_another(offset: u64) -> Error {
    let what = wording!("the last command is cut off, and another file follows", "最后一条命令不完整，而其后还有文件");
    Error::corrupt(offset, what)
        .with_remedy(wording!("servers do not load it", "服务器无法加载"))
        .while_reading(Reading::Commands)
}

/// Reads a file of commands; returns where the last one begins if it is cut off.
fn verify_commands(path: &Path, progress: &dyn Progress) -> Result<Option<u64>> {
    let mut file = File::open(path)?;
    let (mut reader, mut buffer) = (CommandReader::new(0), vec![0; COMMANDS_AT_ONCE]);
    loop {
        check_cancelled(progress)?;
        match file.read(&mut buffer) {
            Ok(0) => return Ok(reader.cut_off()),
            Ok(read) => reader = reader.feed(buffer.get(..read).unwrap_or_default())?,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Keys of each file, by position among the inputs, or why they could not be kept.
type Places = Mutex<BTreeMap<usize, Result<KeyPlaces>>>;

/// Adds the keys of a batch to those of its file.
fn place(places: &Places, work: &FileBatch, keys: &[PlacedHash], new: impl FnOnce() -> KeyPlaces) {
    // After a panic in another thread the result is discarded, so a poisoned lock is harmless.
    let mut places = places.lock().unwrap_or_else(PoisonError::into_inner);
    let file = places.entry(work.file.index).or_insert_with(|| Ok(new()));
    if let Ok(known) = file
        && let Err(error) = known.add(keys)
    {
        *file = Err(error);
    }
}

/// Counts each key that occurs before in its database as damaged: no server loads the file.
fn report_repeated(places: KeyPlaces, tally: &mut FileTally) -> Result<()> {
    let (count, first) = places.finish()?;
    let named = first.len() as u64;
    for (before, again) in first {
        let error =
            Error::corrupt(again, wording!("repeats the key at byte {before:#x}", "与字节 {before:#x} 处的 key 重复"))
                .with_remedy(wording!("servers do not load it", "服务器无法加载"));
        tally.damage(error.while_reading(Reading::Key));
    }
    tally.damaged += count - named;
    Ok(())
}

/// Verifies the records of a batch and returns their keys.
fn verify(work: &FileBatch, plan: &ReadPlan, hasher: &NameHasher, tally: &mut FileTally) -> Vec<PlacedHash> {
    let mut places = Vec::new();
    let batch = &work.batch;
    if plan.checksum {
        tally.add_checksum(batch);
    }
    let mut scanner = batch.scanner().with_checked_opcodes();
    let budget = plan.open.budget;
    let mut verify = Verify::new(batch.header).with_parts_up_to(budget.part());
    let mut scratch = Scratch::new(budget.key());
    while scanner.cursor().left() > 0 {
        let offset = scanner.cursor().offset();
        let item = match scanner.next_item() {
            Ok(item) => item,
            Err(error) => {
                tally.damage(error);
                break;
            }
        };
        let known = batch.header.check_knows(scanner.take_first_version(&item), offset);
        let known = known.and(scanner.take_fault());
        let FileItem::Key(entry) = item else {
            known.unwrap_or_else(|error| tally.damage(error));
            continue;
        };
        tally.keys += 1;
        let key = entry.key.decode(&mut scratch).within(Reading::Key);
        let key = key.map(|name| PlacedHash::new(hasher, entry.db.unwrap_or_default(), name, entry.key.offset));
        if let Err(error) = verify_value(&mut scanner, &entry, &mut verify) {
            tally.damage(error);
            break;
        }
        let notes = verify.finish();
        let over_budget = verify.take_over_budget();
        match known.and(key).and_then(|key| notes.map(|notes| (key, notes))) {
            Ok((key, notes)) => {
                tally.note(notes);
                over_budget.into_iter().for_each(|error| tally.pass_over(error));
                places.extend(Some(key).filter(|_| !notes.empty));
            }
            Err(error) => tally.damage(error.or_at(entry.offset)),
        }
    }
    places
}

fn file_check(verdict: FileVerdict) -> FileCheck {
    let word = match &verdict.fault {
        None if verdict.row.damaged_keys > 0 => CheckVerdict::Corrupt,
        None if verdict.over_budget.is_some() => CheckVerdict::OverBudget,
        None => CheckVerdict::Ok,
        Some(error) => match error.kind() {
            ErrorKind::Truncated { .. } => CheckVerdict::Truncated,
            ErrorKind::Checksum { .. } => CheckVerdict::ChecksumMismatch,
            ErrorKind::Unsupported(_) if is_damaged_before(&verdict, error) => CheckVerdict::Corrupt,
            ErrorKind::Unsupported(_) => CheckVerdict::Unsupported,
            ErrorKind::OverBudget(_) => CheckVerdict::OverBudget,
            ErrorKind::Corrupt(_) | ErrorKind::Limit(_) => CheckVerdict::Corrupt,
            ErrorKind::NotASnapshot(_) => CheckVerdict::NotASnapshot,
            ErrorKind::Io(_) | ErrorKind::Cancelled | ErrorKind::Unreadable(_) | ErrorKind::Usage(_) => {
                CheckVerdict::Unreadable
            }
        },
    };
    let mut row = verdict.row;
    row.errors.extend(verdict.over_budget.as_ref().map(FileError::from));
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
        salvage: None,
        second_reader: None,
    }
}

/// Returns whether a value before `error` is damaged in a file of a known version: then what reads as that of a newer one is damage, too.
fn is_damaged_before(verdict: &FileVerdict, error: &Error) -> bool {
    let is_before = |damage: &Error| {
        let is_damage = matches!(damage.kind(), ErrorKind::Corrupt(_) | ErrorKind::Truncated { .. });
        is_damage && damage.offset().is_some() && damage.offset() < error.offset()
    };
    let is_newer = |warning: &Warning| matches!(warning.kind, WarningKind::NewerFormat { .. });
    verdict.damage.iter().any(is_before) && !verdict.warnings.iter().any(is_newer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::read::progress::Unwatched;
    use crate::limits::Budget;

    #[test]
    fn strings_outside_of_keys_that_do_not_expand_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.rdb");
        // Three bytes that refer to text before them, of which there is none; and a hundred times `a`.
        let broken: &[u8] = b"\xc3\x03\x08\xe0\x40\x00";
        let sound: &[u8] = b"\xc3\x09\x40\x64\x01aa\xe0\x57\0\x01aa";
        let job: &[u8] = b"\xc3\x09\x28\x01aa\xe0\x1b\0\x01aa";
        let library: &[u8] = b"\xc3\x0e\x0d\x0c#!lua name=a\n";
        let module: &[u8] = b"\xf7\x81\0\0\0\0\0\0\0\0\x02\x01\x05";
        let parts: [[&[u8]; 4]; 9] = [
            [b"REDIS0011", b"\xfa\x03abc", b"", b"auxiliary field's value"],
            [b"REDIS0011", b"\xfa", b"\x01x", b"auxiliary field's name"],
            [b"REDIS0011", b"\xf5", b"", b"function library"],
            [b"REDIS0010", b"\xf6", b"\x03lua\0\x01x", b"function name"],
            [b"REDIS0010", b"\xf6\x01n\x03lua\x01", b"\x01x", b"function description"],
            [b"REDIS0010", b"\xf6\x01n\x03lua\0", b"", b"function code"],
            [b"REDIS0011", module, b"\0", b"string in module data"],
            [b"REDIS0013", b"\xf3\x01\0\0\0\0\x05", b"\0\0\x01k\x01v", b"string in module data"],
            [b"VALKEY080", b"\xf3", b"\x01\0\x01", b"slot import's job"],
        ];
        for [magic, before, behind, part] in parts {
            let sound = match part {
                b"function library" => library,
                b"slot import's job" => job,
                _ => sound,
            };
            for (string, verdict) in [(sound, CheckVerdict::Ok), (broken, CheckVerdict::Corrupt)] {
                let bytes = [magic, before, string, behind, b"\x00\x01a\x01b\xff", &[0; 8]].concat();
                std::fs::write(&path, bytes).unwrap();
                let plan = ReadPlan::new(folder.path().to_owned());
                let file = check(&[&path], &plan, &Unwatched).unwrap().remove(0);
                let part = String::from_utf8_lossy(part);
                assert_eq!(file.verdict, verdict, "{part}");
                assert!(file.errors.iter().all(|error| error.wording.en.contains(&*part)), "{part}: {:?}", file.errors);
                assert_eq!(file.salvage.map(|found| found.damaged.len()), (verdict != CheckVerdict::Ok).then_some(1));
            }
        }
    }

    #[test]
    fn unknown_types_behind_damage_are_damage() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.rdb");
        // An intset of seven bytes before an opcode that no server has.
        let (intset, unknown) = (&b"\x0b\x03set\x07\x02\0\0\0\x01\0\0"[..], &b"\xe0"[..]);
        let cases = [
            (b"REDIS0011", &b""[..], CheckVerdict::Unsupported),
            (b"REDIS0011", intset, CheckVerdict::Corrupt),
            (b"REDIS0078", intset, CheckVerdict::Unsupported),
        ];
        for (magic, damaged, verdict) in cases {
            std::fs::write(&path, [magic, &b"\0\x01a\x01b"[..], damaged, unknown].concat()).unwrap();
            let file = check(&[&path], &ReadPlan::new(folder.path().to_owned()), &Unwatched).unwrap().remove(0);
            assert_eq!(file.verdict, verdict, "{:?}", file.errors);
        }
    }

    #[test]
    fn stream_whose_group_has_a_name_over_budget_is_unchecked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("dump.rdb");
        // A pending entry for each of two groups; the name of the second is 100 times `a`, compressed.
        let id = [&[0; 15][..], &[1]].concat();
        let pending = [b"\0\0\x01", &id[..], &[0; 8], b"\x01"].concat();
        let consumer = [b"\x01\x01c", &[0; 8][..], b"\x01", &id].concat();
        let name = b"\xc3\x09\x40\x64\x01aa\xe0\x57\0\x01aa";
        let groups = [b"\x01n", &pending[..], &consumer, name, &pending, &consumer].concat();
        let dump = [b"REDIS0009\xfe\0\x0f\x01s\0\0\0\0\x02", &groups[..], b"\xff", &[0; 8]].concat();
        std::fs::write(&path, dump).unwrap();
        let verdict = |memory| {
            let mut plan = ReadPlan::new(folder.path().to_owned());
            plan.open.budget = Budget { memory, ..Budget::default() };
            check(&[&path], &plan, &Unwatched).unwrap()[0].verdict
        };
        assert_eq!(verdict(64 * 100), CheckVerdict::Ok);
        assert_eq!(verdict(64 * 99), CheckVerdict::OverBudget);
    }
}
