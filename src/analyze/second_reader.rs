//! Compares this program's reader with an independent one, the `rdb` crate, key by key in file order.
//!
//! The crate is written for sound files: it allocates by lengths that it does not check, and may panic. It is therefore
//! given only records that were just verified, one at a time, and none whose decoded value is larger than [`MAX_DECODED_BYTES`].
//! Each record is wrapped between a header and an end mark; the crate must find exactly one key in it and arrive at the
//! end mark, which also confirms where the record ends.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Read;
use std::path::Path;

use rdb::filter::Simple;
use rdb::{RdbDecoder, RdbValue};

use super::plan::ReadPlan;
use super::read::feed::FileBatch;
use super::read::progress::Unwatched;
use super::read::reader::{Continue, ReadOptions, read_batch_shared};
use super::read::snapshot::Snapshot;
use super::read::tally::FileTally;
use crate::rdb::cursor::Cursor;
use crate::rdb::header::Family;
use crate::rdb::opcode::{Opcode, byte};
use crate::rdb::scan::{FileItem, KeyEntry};
use crate::rdb::value_type::ValueType;
use crate::rdb::verify::Verify;
use crate::record::{Kind, Record};
use crate::report::{CheckVerdict, Difference, DifferenceKind, FileCheck, NotCompared, SecondReading};
use crate::units::Millis;
use crate::wording::{Wording, wording};

/// File header for the crate, which reads value types by their byte whatever the version.
const HEADER: &[u8] = b"REDIS0011";
/// End of a file.
const END: &[u8] = &[byte::EOF];
/// Largest decoded size of a value given to the crate, which holds it whole.
const MAX_DECODED_BYTES: u64 = 1 << 30;
/// Memory per element of the crate's lists, besides the element's bytes.
const ELEMENT: u64 = 64;
/// Expiry time that servers use for "none".
const NO_EXPIRY: i64 = -1;
/// Differences listed per file; further ones are only counted.
const KEPT: usize = 10;

/// Reads every sound file again with both readers and adds the result to its check.
pub fn compare_readers<P: AsRef<Path>>(inputs: &[P], plan: &ReadPlan, checks: &mut [FileCheck]) {
    let reading = ReadOptions { selection: &plan.selection, reference: None, checksum: false };
    let sound = |check: &&mut FileCheck| check.verdict == CheckVerdict::Ok;
    let mut files: BTreeMap<String, SecondReading> =
        checks.iter_mut().filter(sound).map(|check| (check.name.clone(), SecondReading::default())).collect();
    // Files that are gone by now have no batches: all their keys are counted as not compared below.
    if let Ok(mut snapshot) = Snapshot::open_any(inputs, plan, &Unwatched) {
        for work in snapshot.feed(1, &Unwatched).by_ref() {
            if let Some(result) = files.get_mut(&work.file.name) {
                compare_batch(&work, reading, result);
            }
        }
    }
    for check in checks.iter_mut().filter(sound) {
        check.second_reader = files.remove(&check.name).map(|result| result.of_file(check.keys));
    }
}

/// Facts about a key that both readers report.
#[derive(Debug, Clone, PartialEq, Eq)]
struct KeyFacts {
    db: u64,
    key: Vec<u8>,
    kind: Kind,
    length: Option<u64>,
    expires_at: Option<i64>,
}

impl KeyFacts {
    fn of(record: &Record<'_>) -> KeyFacts {
        KeyFacts {
            db: record.db,
            key: record.key.to_vec(),
            kind: record.kind,
            length: record.length,
            expires_at: record.expires_at.map(|Millis(at)| at),
        }
    }
}

fn compare_batch(work: &FileBatch, reading: ReadOptions<'_>, result: &mut SecondReading) {
    let mut ours = Vec::new();
    let mut tally = FileTally::default();
    read_batch_shared(&work.batch, &work.file, reading, &mut tally, &mut |record, _| {
        let decoded = record.memory.0.saturating_add(record.length.unwrap_or_default().saturating_mul(ELEMENT));
        ours.push((KeyFacts::of(record), decoded));
        Continue::Yes
    });
    let mut ours = ours.into_iter();
    let mut scanner = work.batch.scanner();
    let mut verify = Verify::new(work.batch.header);
    while scanner.cursor().left() > 0 {
        let entry = match scanner.next_item() {
            Ok(FileItem::Key(entry)) => entry,
            Ok(_) => continue,
            Err(_) => return,
        };
        // The file was sound a moment ago; if it has changed since, the comparison ends.
        if scanner.value(&entry, &mut verify).is_err() {
            return;
        }
        match verify.finish() {
            Ok(notes) if notes.empty => continue,
            Ok(_) => {}
            Err(_) => return,
        }
        let Some((ours, decoded)) = ours.next() else { return };
        let record = scanner.cursor().since(entry.start);
        let unknown = has_unknown_metadata(record, work.batch.header.family).then_some(NotCompared::KeyMetadata);
        match not_comparable(&entry, &ours, decoded).or(unknown) {
            Some(reason) => *result.not_compared.entry(reason).or_default() += 1,
            None => result.add(&ours, &second(ours.db, record)),
        }
    }
}

/// Returns why the crate cannot read a record.
fn not_comparable(entry: &KeyEntry<'_>, ours: &KeyFacts, decoded: u64) -> Option<NotCompared> {
    let is_ziplist =
        matches!(entry.value_type, ValueType::ListZiplist | ValueType::ZsetZiplist | ValueType::HashZiplist);
    match entry.value_type {
        ValueType::Stream(_) => Some(NotCompared::Stream),
        ValueType::ModulePreGa | ValueType::Module2 => Some(NotCompared::Module),
        ValueType::Array => Some(NotCompared::Array),
        _ if entry.value_type.is_compact_hash() => Some(NotCompared::CompactHash),
        // The crate misreads lengths from 253 on and the free bytes after values.
        ValueType::HashZipmap => Some(NotCompared::Zipmap),
        ValueType::Hash2 => Some(NotCompared::ValkeyHash),
        ValueType::KeydbCron => Some(NotCompared::CronJob),
        ValueType::DragonflyHash | ValueType::DragonflySet | ValueType::DragonflyModule(_) => {
            Some(NotCompared::Dragonfly)
        }
        _ if is_ziplist && ours.length >= Some(u64::from(u16::MAX) / 2) => Some(NotCompared::LongZiplist),
        _ if u32::try_from(ours.db).is_err() => Some(NotCompared::Database),
        _ if decoded > MAX_DECODED_BYTES => Some(NotCompared::Large),
        _ => None,
    }
}

/// Returns whether metadata that the crate does not know precedes the key of a record.
fn has_unknown_metadata(record: &[u8], family: Family) -> bool {
    let mut cursor = Cursor::new(record, 0);
    loop {
        let opcode = cursor.byte().ok().and_then(|byte| Opcode::from_byte(family, byte));
        let passed = match opcode {
            Some(Opcode::ExpireTimeMs) => cursor.take(8).map(|_| ()),
            Some(Opcode::ExpireTime) => cursor.take(4).map(|_| ()),
            Some(Opcode::Freq) => cursor.take(1).map(|_| ()),
            Some(Opcode::Idle) => cursor.length().map(|_| ()),
            Some(Opcode::Aux) => cursor.string().and_then(|_| cursor.string()).map(|_| ()),
            Some(Opcode::RamLru | Opcode::SlotNum | Opcode::DfMask | Opcode::KeyMeta) => return true,
            Some(_) | None => return false,
        };
        if passed.is_err() {
            return false;
        }
    }
}

/// Reads one record with the crate. `bytes` must have been verified.
fn second(db: u64, bytes: &[u8]) -> Result<KeyFacts, Wording> {
    let select = [&[byte::SELECT_DB, 0x81][..], &db.to_be_bytes()].concat();
    let file = HEADER.chain(&select[..]).chain(bytes).chain(END);
    let refused = |error: rdb::types::RdbError| wording!("not readable: {error}", "无法读取：{error}");
    let lacks_key = || wording!("no key", "没有 key");
    let mut items = RdbDecoder::new(file, Simple::new()).map_err(refused)?;
    // KeyDB puts auxiliary fields between an expiry and its key.
    let mut items = items.by_ref().filter(|item| !matches!(item, Ok(RdbValue::AuxField { .. })));
    let mut next = || items.next().transpose().map_err(refused);
    let (Some(RdbValue::SelectDb(db)), Some(value)) = (next()?, next()?) else { return Err(lacks_key()) };
    let facts = facts_of(db.into(), value).ok_or_else(lacks_key)?;
    match next()? {
        Some(RdbValue::Checksum(left)) if left.is_empty() => Ok(facts),
        Some(_) | None => Err(wording!("the record ends elsewhere", "记录的结束位置不同")),
    }
}

fn facts_of(db: u64, value: RdbValue) -> Option<KeyFacts> {
    let (key, kind, length, expiry) = match value {
        RdbValue::String { key, value, expiry } => (key, Kind::String, value.len(), expiry),
        RdbValue::List { key, values, expiry } => (key, Kind::List, values.len(), expiry),
        RdbValue::Set { key, members, expiry } => (key, Kind::Set, members.len(), expiry),
        RdbValue::SortedSet { key, values, expiry } => (key, Kind::Zset, values.len(), expiry),
        RdbValue::Hash { key, values, expiry } => (key, Kind::Hash, values.len(), expiry),
        RdbValue::SelectDb(_) | RdbValue::ResizeDb { .. } | RdbValue::AuxField { .. } | RdbValue::Checksum(_) => {
            return None;
        }
    };
    Some(KeyFacts {
        db,
        key,
        kind,
        length: Some(length as u64),
        expires_at: expiry.map(u64::cast_signed).filter(|at| *at != NO_EXPIRY),
    })
}

impl SecondReading {
    /// Counts what is missing of the `keys` of the file as not compared: the file changed after it was checked.
    fn of_file(mut self, keys: u64) -> SecondReading {
        let told = self.compared.saturating_add(self.not_compared.values().sum());
        if told < keys {
            self.not_compared.insert(NotCompared::Changed, keys - told);
        }
        self
    }

    /// Adds a key that both readers have read.
    fn add(&mut self, ours: &KeyFacts, theirs: &Result<KeyFacts, Wording>) {
        self.compared += 1;
        let Some((what, ours_says, theirs_says)) = difference(ours, theirs) else { return };
        self.different += 1;
        if self.differences.len() < KEPT {
            let (db, key) = (ours.db, ours.key.as_slice().into());
            self.differences.push(Difference { db, key, what, ours: ours_says, theirs: theirs_says });
        }
    }
}

/// Returns a value that reads the same in both languages.
fn shown(value: impl fmt::Display) -> Wording {
    wording!("{value}", "{value}")
}

fn shown_or_none(value: Option<impl fmt::Display>) -> Wording {
    value.map_or_else(|| wording!("none", "无"), shown)
}

/// Returns the first fact in which two readers differ, with both values.
fn difference(ours: &KeyFacts, theirs: &Result<KeyFacts, Wording>) -> Option<(DifferenceKind, Wording, Wording)> {
    let theirs = match theirs {
        Ok(theirs) => theirs,
        Err(error) => return Some((DifferenceKind::Unread, shown(ours.kind.name()), error.clone())),
    };
    let (what, pair) = if ours.db != theirs.db {
        (DifferenceKind::Db, [shown(ours.db), shown(theirs.db)])
    } else if ours.key != theirs.key {
        (DifferenceKind::Key, [ours, theirs].map(|facts| shown(facts.key.escape_ascii())))
    } else if ours.kind != theirs.kind {
        (DifferenceKind::Type, [ours, theirs].map(|facts| shown(facts.kind.name())))
    } else if ours.length != theirs.length {
        (DifferenceKind::Length, [ours.length, theirs.length].map(shown_or_none))
    } else if ours.expires_at != theirs.expires_at {
        (DifferenceKind::Expiry, [ours.expires_at, theirs.expires_at].map(shown_or_none))
    } else {
        return None;
    };
    let [ours, theirs] = pair;
    Some((what, ours, theirs))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> KeyFacts {
        KeyFacts { db: 3, key: b"k".to_vec(), kind: Kind::String, length: Some(2), expires_at: Some(77) }
    }

    #[test]
    fn a_record_is_read_with_its_database_and_expiry() {
        let record = [&[0xFC][..], &77u64.to_le_bytes(), &[0, 1], b"k", &[2], b"ab"].concat();
        assert_eq!(second(3, &record), Ok(facts()));
    }

    #[test]
    fn a_record_that_ends_elsewhere_is_not_confirmed() {
        let record = b"\x00\x01k\x02ab";
        assert!(second(0, record).is_ok());
        assert!(second(0, &record[..5]).is_err());
        assert!(second(0, &[record, &b"x"[..]].concat()).is_err());
        assert!(second(0, &[&record[..], record].concat()).is_err());
    }

    #[test]
    fn metadata_that_the_crate_does_not_know_is_found_among_the_other() {
        let expiry = [&[0xFC][..], &77u64.to_le_bytes()].concat();
        for (family, metadata, is_unknown) in [
            (Family::Redis, &b""[..], false),
            (Family::Redis, b"\xf9\x07", false),
            (Family::Redis, b"\xf8\x40\x50", false),
            (Family::Redis, b"\xfa\x0bmvcc-tstamp\xc0\x01", false),
            (Family::Redis, b"\x6b\x05", true),
            (Family::Redis, b"\xf9\x07\x79\x05", true),
            (Family::Redis, b"\xf3\x00", true),
            (Family::Valkey, b"\x6b\x05", false),
            (Family::Dragonfly, b"\xdc\x01\0\0\0", true),
            (Family::Redis, b"\xdc\x01\0\0\0", false),
        ] {
            let record = [&expiry, metadata, b"\x00\x01k\x02ab"].concat();
            assert_eq!(has_unknown_metadata(&record, family), is_unknown, "{metadata:?}");
        }
    }

    #[test]
    fn every_fact_counts() {
        type Change = fn(&mut KeyFacts);
        let changed: [(DifferenceKind, Change); 5] = [
            (DifferenceKind::Db, |facts| facts.db = 4),
            (DifferenceKind::Key, |facts| facts.key = b"l".to_vec()),
            (DifferenceKind::Type, |facts| facts.kind = Kind::Set),
            (DifferenceKind::Length, |facts| facts.length = None),
            (DifferenceKind::Expiry, |facts| facts.expires_at = None),
        ];
        for (what, change) in changed {
            let mut theirs = facts();
            change(&mut theirs);
            assert_eq!(difference(&facts(), &Ok(theirs)).map(|found| found.0), Some(what));
        }
        assert_eq!(difference(&facts(), &Ok(facts())), None);
        assert_eq!(difference(&facts(), &Err(shown("x"))).map(|found| found.0), Some(DifferenceKind::Unread));
    }

    #[test]
    fn differences_are_counted_beyond_those_kept() {
        let mut reading = SecondReading::default();
        (0..25).for_each(|_| reading.add(&facts(), &Err(shown("x"))));
        reading.add(&facts(), &Ok(facts()));
        assert_eq!((reading.compared, reading.different, reading.differences.len()), (26, 25, KEPT));
    }

    #[test]
    fn keys_that_are_gone_are_counted_as_not_compared() {
        let mut reading = SecondReading::default();
        reading.add(&facts(), &Ok(facts()));
        reading.not_compared.insert(NotCompared::Stream, 2);
        let whole = reading.of_file(3);
        assert_eq!(whole.not_compared.get(&NotCompared::Changed), None);
        let changed = whole.of_file(10);
        assert_eq!(changed.not_compared[&NotCompared::Changed], 7);
        assert!(changed.is_incomplete());
    }
}
