//! Keys that occur more than once among the sound records of a damaged file.

use std::ops::Range;

use super::parts::too_many;
use super::{Gap, GapKind, Stretch, name};
use crate::error::Error;
use crate::limits;
use crate::rdb::batch::FIRST_DATABASE;
use crate::rdb::cursor::Cursor;
use crate::rdb::file_info::FileInfo;
use crate::rdb::resync::verify_value;
use crate::rdb::scan::{FileItem, KeyEntry, ScanState, Scanner};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::StringForm;
use crate::rdb::template::Templates;
use crate::rdb::verify::Verify;
use crate::rdb::verify::name_hash::NameHasher;
use crate::rdb::verify::unique::PlacedHash;
use crate::wording::wording;

/// Length above which compressed names are compared as they are stored: the same server stores equal names alike.
const LONG_NAME: u64 = 1 << 20;

fn scanner<'a>(bytes: &'a [u8], about: &FileInfo, stretch: &Stretch) -> Scanner<'a> {
    let part = bytes.get(stretch.range.clone()).unwrap_or_default();
    let state = ScanState { family: about.header.family, db: Some(stretch.db) };
    Scanner::new(Cursor::new(part, stretch.range.start as u64), state)
        .with_templates(Templates::before(about.header), about.templates.clone())
}

/// Passes the keys of a stretch to `see`, with their positions.
pub(super) fn for_each_key(
    bytes: &[u8],
    about: &FileInfo,
    stretch: &Stretch,
    mut see: impl FnMut(Range<usize>, &KeyEntry<'_>),
) {
    let start = stretch.range.start;
    let mut scanner = scanner(bytes, about, stretch);
    while scanner.cursor().left() > 0 {
        match scanner.next_item() {
            Ok(FileItem::Key(entry)) if scanner.skip_value(&entry).is_ok() => {
                see(start + entry.start..start + scanner.cursor().consumed(), &entry);
            }
            Ok(FileItem::Key(_)) | Err(_) => return,
            Ok(_) => {}
        }
    }
}

/// Cuts the duplicates out of the stretches and records them as gaps; both are in file order before and after.
///
/// Returns false if there are too many: then the file is given up at one of them, and the last gap is the rest.
pub(super) fn remove_duplicates(
    bytes: &[u8],
    about: &FileInfo,
    stretches: &mut Vec<Stretch>,
    gaps: &mut Vec<Gap>,
) -> bool {
    let mut found = duplicates(bytes, about, stretches);
    gaps.sort_by_key(|gap| gap.range.start);
    let gaps_before = |start: usize| gaps.partition_point(|gap| gap.range.start < start as u64);
    let full = (0..found.len()).find(|&at| at + gaps_before(found[at]) >= limits::MAX_GAPS);
    let end = full.map(|at| found[at]);
    found.truncate(full.unwrap_or(found.len()));
    *stretches = without(bytes, about, std::mem::take(stretches), &found, gaps);
    if let Some(end) = end {
        give_up(bytes, about, end, stretches, gaps);
    }
    gaps.sort_by_key(|gap| gap.range.start);
    end.is_none()
}

/// Returns the positions of records to cut: all of a name that occurs with different contents, all but the first of equal ones.
/// If there are more than there may be gaps, returns only the first ones, one more than that.
///
/// One of the records that differ is false, and nothing tells which. Records without elements do not count: servers skip them.
/// Memory is bounded: hashes are collected in as many passes as needed.
fn duplicates(bytes: &[u8], about: &FileInfo, stretches: &[Stretch]) -> Vec<usize> {
    let records: u64 = stretches.iter().map(|stretch| stretch.records).sum();
    let passes = records / limits::HASHED_KEYS + 1;
    let mut found = Vec::new();
    let (mut scratch, mut verify) = (Scratch::new(LONG_NAME), Verify::lenient());
    // Two, so that no name is taken for the block of another one.
    let (names, blocks) = (NameHasher::random(), NameHasher::random());
    for pass in 0..passes {
        let mut hashes: Vec<PlacedHash> = Vec::new();
        for stretch in stretches {
            for_each_key(bytes, about, stretch, |range, entry| {
                let (hasher, stored) = match entry.key.form {
                    StringForm::Lzf { block, len } if len > LONG_NAME => (&blocks, Ok(block)),
                    StringForm::Plain(_) | StringForm::Int(_) | StringForm::Lzf { .. } => {
                        (&names, entry.key.decode(&mut scratch))
                    }
                };
                if let Ok(key) = stored {
                    let hash = PlacedHash::new(hasher, stretch.db, key, range.start as u64);
                    if hash.part(passes) == pass {
                        hashes.push(hash);
                    }
                }
            });
        }
        hashes.sort_unstable();
        for group in hashes.chunk_by(|one, other| one.is_same_name(*other)).filter(|group| group.len() > 1) {
            let starts = group.iter().filter_map(|hash| usize::try_from(hash.offset()).ok());
            let group: Vec<usize> = starts.filter(|&start| !is_empty(bytes, about, start, &mut verify)).collect();
            let [first, others @ ..] = &group[..] else { continue };
            let record = record_bytes(bytes, about, *first);
            let are_equal = others.iter().all(|other| record_bytes(bytes, about, *other) == record);
            found.extend(if are_equal { others } else { &group[..] });
        }
        found.sort_unstable();
        found.truncate(limits::MAX_GAPS + 1);
    }
    found
}

/// Returns the key of the record at a position, and a scanner at its value.
fn record<'a>(bytes: &'a [u8], about: &FileInfo, start: usize) -> Option<(Scanner<'a>, KeyEntry<'a>)> {
    let mut scanner = scanner(bytes, about, &Stretch { range: start..bytes.len(), ..Stretch::default() });
    loop {
        match scanner.next_item() {
            Ok(FileItem::Key(entry)) => return Some((scanner, entry)),
            // An auxiliary field of KeyDB, between a prefix and its key.
            Ok(_) => {}
            Err(_) => return None,
        }
    }
}

fn record_bytes<'a>(bytes: &'a [u8], about: &FileInfo, start: usize) -> Option<&'a [u8]> {
    let (mut scanner, entry) = record(bytes, about, start)?;
    scanner.skip_value(&entry).ok()?;
    bytes.get(start..start + scanner.cursor().consumed())
}

/// Returns whether the record at a position has no elements, so that servers skip it.
fn is_empty(bytes: &[u8], about: &FileInfo, start: usize, verify: &mut Verify) -> bool {
    let Some((mut scanner, entry)) = record(bytes, about, start) else { return false };
    let is_sound = verify_value(&mut scanner, &entry, verify).is_ok();
    verify.finish().is_ok_and(|notes| is_sound && notes.empty)
}

/// Ends the survey at a position, where a record begins.
fn give_up(bytes: &[u8], about: &FileInfo, end: usize, stretches: &mut Vec<Stretch>, gaps: &mut Vec<Gap>) {
    stretches.truncate(stretches.partition_point(|stretch| stretch.range.start < end));
    if let Some(last) = stretches.last_mut()
        && last.range.end > end
    {
        last.range.end = end;
        recount(bytes, about, last, &mut Verify::lenient());
    }
    gaps.retain(|gap| gap.range.start < end as u64);
    gaps.push(Gap {
        range: end as u64..bytes.len() as u64,
        kind: GapKind::Framing,
        db: stretches.last().map_or(FIRST_DATABASE, |stretch| stretch.db),
        error: too_many(end),
        keys_before: 0,
        keys_behind: 0,
    });
}

/// Cuts the keys at these positions out of the stretches and records them as gaps.
fn without(
    bytes: &[u8],
    about: &FileInfo,
    stretches: Vec<Stretch>,
    starts: &[usize],
    gaps: &mut Vec<Gap>,
) -> Vec<Stretch> {
    let mut kept = Vec::new();
    let mut verify = Verify::lenient();
    for mut stretch in stretches {
        let before = starts.partition_point(|start| *start < stretch.range.start);
        let own = starts.get(before..).unwrap_or_default();
        if own.first().is_none_or(|start| *start >= stretch.range.end) {
            kept.push(stretch);
            continue;
        }
        let (original, first) = (stretch.clone(), kept.len());
        for_each_key(bytes, about, &original, |range, entry| {
            if own.binary_search(&range.start).is_err() {
                return;
            }
            let error = Error::corrupt(entry.offset, wording!("the key occurs more than once", "该 key 多次出现"));
            gaps.push(Gap {
                range: range.start as u64..range.end as u64,
                kind: GapKind::Duplicate(name(&entry.key)),
                db: original.db,
                error,
                keys_before: 0,
                keys_behind: 0,
            });
            let behind = Stretch { range: range.end..stretch.range.end, ..stretch.clone() };
            stretch.range.end = range.start;
            kept.push(std::mem::replace(&mut stretch, behind));
        });
        kept.push(stretch);
        kept[first..].iter_mut().for_each(|stretch| recount(bytes, about, stretch, &mut verify));
    }
    kept.retain(|stretch| !stretch.range.is_empty());
    kept
}

/// Counts the keys of a stretch that was cut.
fn recount(bytes: &[u8], about: &FileInfo, stretch: &mut Stretch, verify: &mut Verify) {
    (stretch.records, stretch.keys, stretch.expires) = (0, 0, 0);
    let mut scanner = scanner(bytes, about, stretch);
    while scanner.cursor().left() > 0 {
        let entry = match scanner.next_item() {
            Ok(FileItem::Key(entry)) => entry,
            Ok(_) => continue,
            Err(_) => return,
        };
        if verify_value(&mut scanner, &entry, verify).is_err() {
            return;
        }
        stretch.count(verify.finish().is_ok_and(|notes| notes.empty), entry.expires_at.is_some());
    }
}
