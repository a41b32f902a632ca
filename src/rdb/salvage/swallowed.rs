//! False records that contain sound ones, found by the number of keys that the file announces.
//!
//! A changed length or type may lead the parser to a record that reads well and ends where a sound one does. What lies between is
//! lost as its name or value. Nothing in the record itself tells; but its database then has other keys than it announces, and inside
//! it records follow each other that look like those of the file, up to its end and beyond.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::ops::Range;

use super::duplicates::for_each_key;
use super::{DatabaseSurvey, GapKind, Survey};
use crate::error::Error;
use crate::rdb::cursor::Cursor;
use crate::rdb::file_info::FileInfo;
use crate::rdb::resync::{Goal, KeyFacts, Profile, Resync};
use crate::rdb::scan::{FileItem, KeyEntry, ScanState, Scanner};
use crate::rdb::template::Templates;
use crate::rdb::value_type::ValueType;
use crate::wording::wording;

/// Number of records inside another one that show that it is false.
const MIN_INSIDE: u64 = 6;
/// One in this many of a record's keys may be false as well and need not be missing.
const FALSE_PART: u64 = 16;
/// Minimum size in bytes of a record with [`MIN_INSIDE`] others inside.
const MIN_BYTES: usize = 48;
/// Number of records that are looked into.
const MAX_SUSPECTS: usize = 1 << 12;

/// Record that contains others.
#[derive(Debug, Clone, Copy)]
pub(super) struct FalseRecord {
    /// Where it begins.
    pub start: usize,
    /// Where the first record inside it begins.
    pub inside: usize,
    /// Number of keys inside it.
    keys: u64,
    /// True if its head looks sound, so that the record before it is, too.
    pub is_credible: bool,
}

impl FalseRecord {
    /// Returns the error of the record, which is at `at`.
    pub fn error(&self, at: usize) -> Error {
        let keys = self.keys;
        Error::corrupt(at as u64, wording!("a record that contains {keys} others", "该记录中包含另外 {keys} 条记录"))
    }
}

/// Returns how well the keys of a survey agree with the announced numbers: the keys beyond these, then all that it lacks. Less is
/// better.
pub(super) fn disagreement(survey: &Survey) -> (u64, Reverse<u64>) {
    let beyond =
        |database: &DatabaseSurvey| database.announced.map_or(0, |announced| database.keys.saturating_sub(announced));
    let beyond = survey.databases.iter().fold(0_u64, |sum, database| sum.saturating_add(beyond(database)));
    (beyond, Reverse(survey.keys()))
}

/// Record that may be false.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Suspect {
    /// True if its name does not look like others, or its value is damaged.
    is_odd: bool,
    len: usize,
    start: usize,
    is_credible: bool,
    missing: MissingKeys,
}

/// Number of keys that a database can have besides those found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct MissingKeys {
    keys: u64,
    /// True if it has too many, so that a `SELECTDB` is lost.
    is_exceeded: bool,
}

impl MissingKeys {
    /// Returns whether these records may be among those that are missing.
    fn may_include(self, inside: &Inside) -> bool {
        // Other false records were counted as keys, too.
        let own = inside.own - inside.own / FALSE_PART;
        own <= self.keys || self.is_exceeded && inside.own < inside.keys
    }
}

/// Returns the records of a survey that contain others, in order.
pub(super) fn false_records(bytes: &[u8], survey: &Survey, profile: &Profile) -> Vec<FalseRecord> {
    let mut suspects = suspects(bytes, survey, profile);
    // From front to back, as the search grants work.
    suspects.sort_unstable_by_key(|suspect| suspect.start);
    let templates = survey.about.templates.as_ref();
    let mut resync = Resync::new(bytes, 0, survey.about.header);
    resync.enterprise = survey.about.enterprise;
    let found = suspects.iter().filter_map(|suspect| {
        let range = suspect.start..suspect.start.saturating_add(suspect.len);
        let goal = Goal { failed: range.end, templates, profile, is_trusted: true };
        let inside = resync.find(range.start + 1..range.end, goal)?;
        let found = records_inside(bytes, &survey.about, profile, inside..range.end)?;
        let are_records = found.telling >= MIN_INSIDE && found.telling > found.keys / 2;
        let is_false = are_records && suspect.missing.may_include(&found);
        let (keys, is_credible) = (found.keys, suspect.is_credible);
        is_false.then_some(FalseRecord { start: range.start, inside, keys, is_credible })
    });
    found.collect()
}

/// Returns the largest records, odd ones before others, of the databases that have other keys than they announce.
fn suspects(bytes: &[u8], survey: &Survey, profile: &Profile) -> Vec<Suspect> {
    let mut found: BinaryHeap<Reverse<Suspect>> = BinaryHeap::new();
    let mut add = |range: Range<usize>, entry: &KeyEntry<'_>, is_damaged: bool, missing: MissingKeys| {
        // Its fields may read as records.
        if range.len() < MIN_BYTES || entry.value_type == ValueType::HashMetadata {
            return;
        }
        let is_credible = profile.trusts(&KeyFacts::of(entry));
        let is_odd = is_damaged || !is_credible;
        found.push(Reverse(Suspect { is_odd, len: range.len(), start: range.start, is_credible, missing }));
        if found.len() > MAX_SUSPECTS {
            found.pop();
        }
    };
    for stretch in &survey.stretches {
        if let Some(missing) = missing_keys(survey, stretch.db) {
            for_each_key(bytes, &survey.about, stretch, |range, entry| add(range, entry, false, missing));
        }
    }
    for gap in survey.gaps.iter().filter(|gap| matches!(gap.kind, GapKind::Value(_))) {
        if let (Ok(start), Ok(end)) = (usize::try_from(gap.range.start), usize::try_from(gap.range.end))
            && let Some(missing) = missing_keys(survey, gap.db)
            && let Ok(FileItem::Key(entry)) = scanner(bytes, &survey.about, start..bytes.len()).next_item()
        {
            add(start..end, &entry, true, missing);
        }
    }
    found.into_iter().map(|suspect| suspect.0).collect()
}

/// Returns how many keys a database lacks; `None` if these are too few to be searched for and it has none too many.
fn missing_keys(survey: &Survey, db: u64) -> Option<MissingKeys> {
    let place = survey.databases.binary_search_by_key(&db, |database| database.db).ok()?;
    let database = survey.databases.get(place)?;
    let announced = database.announced?;
    // The false record may be counted as one.
    let keys = announced.saturating_sub(database.keys).saturating_add(1);
    let is_exceeded = database.keys > announced;
    (is_exceeded || keys >= MIN_INSIDE).then_some(MissingKeys { keys, is_exceeded })
}

fn scanner<'a>(bytes: &'a [u8], about: &FileInfo, range: Range<usize>) -> Scanner<'a> {
    let state = ScanState { family: about.header.family, db: None };
    Scanner::new(Cursor::new(bytes.get(range.clone()).unwrap_or_default(), range.start as u64), state)
        .with_templates(Templates::before(about.header), about.templates.clone())
}

/// Counts of the keys inside a record.
struct Inside {
    /// Number of keys.
    keys: u64,
    /// Number of those whose names are text or look like others.
    telling: u64,
    /// Number of keys before the first `SELECTDB` that has a `RESIZEDB` behind it.
    own: u64,
}

/// Returns what begins in `range`, where records follow each other up to its end.
fn records_inside(bytes: &[u8], about: &FileInfo, profile: &Profile, range: Range<usize>) -> Option<Inside> {
    let mut scanner = scanner(bytes, about, range.start..bytes.len());
    let mut inside = Inside { keys: 0, telling: 0, own: 0 };
    let (mut is_selected, mut has_database) = (false, false);
    while scanner.cursor().consumed() < range.len() {
        let item = scanner.next_item().ok()?;
        match &item {
            FileItem::Key(entry) => {
                let facts = KeyFacts::of(entry);
                scanner.skip_value(entry).ok()?;
                inside.keys += 1;
                inside.own += u64::from(!has_database);
                inside.telling += u64::from(facts.has_text_name() || profile.trusts(&facts));
            }
            FileItem::DatabaseSize(keys, expires) => has_database |= is_selected && expires <= keys,
            FileItem::End => return None,
            FileItem::Database(_)
            | FileItem::Aux(..)
            | FileItem::Slot(_)
            | FileItem::SlotNumber(_)
            | FileItem::Function(_)
            | FileItem::ModuleAux(_)
            | FileItem::SlotImport
            | FileItem::Update
            | FileItem::HashTemplate => {}
        }
        is_selected = matches!(item, FileItem::Database(_));
    }
    Some(inside)
}
