//! Keys that occur more than once among the sound records of a damaged file.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use super::{Gap, GapKind, Stretch, name};
use crate::error::Error;
use crate::limits;
use crate::rdb::cursor::Cursor;
use crate::rdb::file_info::FileInfo;
use crate::rdb::resync::verify_value;
use crate::rdb::scan::{FileItem, KeyEntry, ScanState, Scanner};
use crate::rdb::scratch::Scratch;
use crate::rdb::string::StringForm;
use crate::rdb::template::Templates;
use crate::rdb::verify::Verify;
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

/// Returns the positions of keys that occur more than once in a database, but for the first of equal records.
///
/// Of records that differ one is false, and nothing tells which. Records without elements do not count: servers skip them.
/// Memory is bounded: hashes are collected in as many passes as needed.
pub(super) fn duplicates(bytes: &[u8], about: &FileInfo, stretches: &[Stretch]) -> Vec<usize> {
    let records: u64 = stretches.iter().map(|stretch| stretch.records).sum();
    let passes = records / limits::HASHED_KEYS + 1;
    let mut found = Vec::new();
    let (mut scratch, mut verify) = (Scratch::new(LONG_NAME), Verify::lenient());
    for pass in 0..passes {
        let mut hashes: Vec<(u64, usize, usize)> = Vec::new();
        for stretch in stretches {
            for_each_key(bytes, about, stretch, |range, entry| {
                let stored = match entry.key.form {
                    StringForm::Lzf { block, len } if len > LONG_NAME => Ok(block),
                    StringForm::Plain(_) | StringForm::Int(_) | StringForm::Lzf { .. } => {
                        entry.key.decode(&mut scratch)
                    }
                };
                if let Ok(key) = stored {
                    let mut hasher = DefaultHasher::new();
                    (stretch.db, entry.key.len(), key).hash(&mut hasher);
                    let hash = hasher.finish();
                    if hash % passes == pass {
                        hashes.push((hash, range.start, range.end));
                    }
                }
            });
        }
        hashes.sort_unstable();
        for group in hashes.chunk_by(|one, other| one.0 == other.0).filter(|group| group.len() > 1) {
            let has_elements = |place: &&(u64, usize, usize)| !is_empty(bytes, about, place.1..place.2, &mut verify);
            let group: Vec<_> = group.iter().filter(has_elements).collect();
            if group.len() < 2 {
                continue;
            }
            let record = |place: &(u64, usize, usize)| bytes.get(place.1..place.2);
            let are_equal = group.iter().all(|place| record(place) == record(group[0]));
            found.extend(group.iter().skip(usize::from(are_equal)).map(|place| place.1));
        }
    }
    found.sort_unstable();
    found
}

/// Returns whether the record at a range has no elements, so that servers skip it.
fn is_empty(bytes: &[u8], about: &FileInfo, range: Range<usize>, verify: &mut Verify) -> bool {
    let mut scanner = scanner(bytes, about, &Stretch { range, ..Stretch::default() });
    let Ok(FileItem::Key(entry)) = scanner.next_item() else { return false };
    let is_sound = verify_value(&mut scanner, &entry, verify).is_ok();
    verify.finish().is_ok_and(|notes| is_sound && notes.empty)
}

/// Cuts the keys at these positions out of the stretches and records them as gaps.
pub(super) fn without(
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
