//! Search behind damage for a record boundary that is certain.
//!
//! [`boundary`](super::boundary) guesses, and its guesses are confirmed by parsing up to them. Behind damage nothing
//! confirms a boundary, and a false one invents keys. So a chain of records must follow whose values are intact in depth,
//! with types that a server of this version writes and keys that look like names. The chain must pass the place where
//! the parser failed, or end at the end of the file.
//!
//! False starts in the damaged value run on into the records behind it. So the framing of some records is followed first, which
//! hardly looks at their bytes; only then are values verified. What is known about large values is kept, as chains that fall into
//! step with each other go on alike. Work is bounded by a budget per byte of the file, so that a file full of plausible starts takes
//! linear time.

mod known;
mod profile;

use std::ops::Range;
use std::sync::Arc;

use known::{Known, Value};
pub use profile::{KeyFacts, Profile};

use super::boundary::{
    FileFormat, MAX_KEY_LEN, Parts, can_start_record, is_same_key, may_follow_prefix, may_start_record,
};
use super::cursor::Cursor;
use super::header::{Family, RdbHeader};
use super::opcode::byte;
use super::scan::{FileItem, KeyEntry, ScanState, Scanner};
use super::string::{RawString, StringForm};
use super::template::Templates;
use super::value_type::ValueType;
use super::verify::Verify;
use super::walk::Visit;
use crate::error::Result;

/// Number of consecutive intact records that make a boundary certain.
const MIN_RECORDS: u32 = 12;
/// Intact bytes that make a boundary certain, with fewer records.
const MIN_BYTES: usize = 64 << 20;
/// Work granted per byte of the file up to the place of the search; a unit is about a byte verified.
const WORK_PER_BYTE: i64 = 16;
/// Work granted in advance.
const FIRST_WORK: i64 = 4 << 20;
/// Most work that is saved up for later: a second or two.
const MAX_WORK: i64 = 1 << 30;
/// Work of one record besides its bytes.
const WORK_PER_RECORD: i64 = 32;
/// Work of one part of a value that is skipped.
const WORK_PER_PART: usize = 4;
/// Length above which no server names an auxiliary field; the longest known is of 20 bytes.
const LONG_AUX_NAME: usize = 64;
/// Length above which the value of an auxiliary field is not binary.
const LONG_AUX_BINARY: usize = 32;
/// Bytes of an expiry in milliseconds, with its opcode.
const EXPIRY_BYTES: usize = 9;
/// Last RDB version whose servers write expiries in seconds (Redis 2.4).
const LAST_WITH_SECONDS: u32 = 2;
/// Expiries outside of these milliseconds, the years 2001 and 2286, are no evidence of a record.
const USUAL_EXPIRY: Range<i64> = 1_000_000_000_000..10_000_000_000_000;

/// Returns whether the bytes at `at` read as an expiry that keys hardly have.
fn begins_with_unusual_expiry(bytes: &[u8], at: usize) -> bool {
    let time = bytes.get(at..).and_then(expiry_ms);
    time.is_some_and(|time| !USUAL_EXPIRY.contains(&time))
}

/// Returns the milliseconds of the expiry that these bytes begin with, if they do.
pub(super) fn expiry_ms(bytes: &[u8]) -> Option<i64> {
    let time = bytes.strip_prefix(&[byte::EXPIRE_TIME_MS])?.first_chunk()?;
    Some(i64::from_le_bytes(*time))
}

/// Returns whether a server writes this type in files of this version.
///
/// Servers keep reading the layouts of their predecessors but no longer write them.
fn is_written(header: RdbHeader, value_type: ValueType) -> bool {
    let version = header.version;
    match value_type {
        // Its files are of version 9, whatever types are in them.
        _ if header.family == Family::Dragonfly => {
            !matches!(value_type, ValueType::ModulePreGa | ValueType::Module2 | ValueType::HashZipmap)
        }
        ValueType::String | ValueType::Set | ValueType::Hash | ValueType::SetIntset => true,
        ValueType::HashZipmap => version <= 3,
        ValueType::List | ValueType::ListZiplist => version <= 6,
        ValueType::Zset => version <= 7,
        ValueType::ZsetZiplist | ValueType::HashZiplist => version <= 9,
        ValueType::ListQuicklist => (7..=9).contains(&version),
        ValueType::Zset2 | ValueType::Module2 => version >= 8,
        ValueType::Stream(1) => version == 9,
        ValueType::Stream(2) => version == 10,
        ValueType::Stream(_) | ValueType::SetListpack => version >= 11,
        ValueType::HashListpack | ValueType::ZsetListpack | ValueType::ListQuicklist2 => version >= 10,
        ValueType::HashMetadataPreGa
        | ValueType::HashListpackExPreGa
        | ValueType::KeydbCron
        | ValueType::ModulePreGa => false,
        ValueType::HashMetadata | ValueType::HashListpackEx => version >= 12,
        ValueType::Array => version >= 13,
        ValueType::HashTemplateListpack
        | ValueType::HashTemplateListpackRef
        | ValueType::HashTemplateArray
        | ValueType::HashTemplateArrayRef => version >= 15,
        ValueType::Hash2 => header.family == Family::Valkey,
        ValueType::DragonflyHash | ValueType::DragonflySet | ValueType::DragonflyModule(_) => false,
    }
}

/// Returns whether fields of a hash may parse as string keys in files of this version: see [`Profile::trusts`].
pub fn fields_look_like_keys(header: RdbHeader) -> bool {
    header.family == Family::Redis && header.version >= 12
}

/// Search of one file for boundaries behind damage.
pub struct Resync<'a> {
    bytes: &'a [u8],
    base: u64,
    header: RdbHeader,
    work: i64,
    /// Offset up to which work has been granted.
    granted: usize,
    verify: Verify,
    known: Known,
    /// True if the file has opcodes of Redis Enterprise.
    pub enterprise: bool,
}

/// Ids of hash templates from here on are damage: servers number templates from 0 on.
pub const MAX_TEMPLATE_ID: u64 = 1 << 21;

/// Conditions that a boundary must fulfil.
#[derive(Debug, Clone, Copy)]
pub struct Goal<'p> {
    /// Offset that its chain of records must pass.
    pub failed: usize,
    /// Hash templates of the file.
    pub templates: Option<&'p Arc<Templates>>,
    /// Facts about the sound keys.
    pub profile: &'p Profile,
    /// True if the first key must resemble them.
    pub is_trusted: bool,
}

/// How closely the records of a chain are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The first of them must follow each other.
    Framing,
    /// All values must be sound.
    Content,
}

impl<'a> Resync<'a> {
    /// Creates a search over the bytes of a file, which lie at absolute offset `base`.
    pub fn new(bytes: &'a [u8], base: u64, header: RdbHeader) -> Resync<'a> {
        let (verify, known) = (Verify::new(header), Known::default());
        Resync { bytes, base, header, work: FIRST_WORK, granted: 0, verify, known, enterprise: false }
    }

    /// Returns the first certain boundary in `range`.
    pub fn find(&mut self, range: Range<usize>, goal: Goal<'_>) -> Option<usize> {
        let enterprise = self.enterprise;
        let format = FileFormat { family: self.header.family, templates: goal.templates, enterprise };
        let last_type = format.last_type();
        let (mut next, end) = (range.start, range.end);
        self.known.clear();
        while let Some(passed) =
            self.bytes.get(next..end)?.iter().position(|&byte| can_start_record(byte, last_type, enterprise))
        {
            let at = next + passed;
            next = at + 1;
            self.grant(next);
            if self.work > 0
                && may_start_record(self.bytes, format, at)
                && !self.follows_prefix(at)
                && !self.begins_with_false_expiry(at)
                && self.is_certain(at, goal)
            {
                return Some(at);
            }
        }
        None
    }

    /// Returns whether the bytes before `at` may be a prefix of the same record; expiries that keys hardly have are none.
    fn follows_prefix(&self, at: usize) -> bool {
        let is_no_expiry =
            at.checked_sub(EXPIRY_BYTES).is_some_and(|before| begins_with_unusual_expiry(self.bytes, before));
        !is_no_expiry && may_follow_prefix(self.bytes, at, self.writes_seconds(), self.enterprise)
    }

    /// Returns whether servers write expiries in seconds in files of this version.
    fn writes_seconds(&self) -> bool {
        self.header.family == Family::Redis && self.header.version <= LAST_WITH_SECONDS
    }

    /// Returns whether the bytes at `at` read as an expiry that keys hardly have, or that no server writes in such a file.
    ///
    /// The end of a damaged value may read so. Taken for the expiry of the sound key behind it, it would be invented, and servers
    /// delete keys that have expired; that key is found at its own start.
    fn begins_with_false_expiry(&self, at: usize) -> bool {
        let is_unwritten = self.bytes.get(at) == Some(&byte::EXPIRE_TIME) && !self.writes_seconds();
        is_unwritten || begins_with_unusual_expiry(self.bytes, at)
    }

    /// Returns whether a certain boundary is at `at`.
    pub fn is_boundary(&mut self, at: usize, templates: Option<&Arc<Templates>>, profile: &Profile) -> bool {
        self.known.clear();
        let goal = Goal { failed: at, templates, profile, is_trusted: false };
        at < self.bytes.len() && self.work > 0 && self.is_certain(at, goal)
    }

    /// Returns whether a hash at `at`, or behind a few intact records there, has another lost template: it cannot be passed.
    pub fn is_before_lost(&mut self, at: usize, templates: &Arc<Templates>, profile: &Profile) -> bool {
        self.known.clear();
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let state = ScanState { family: self.header.family, db: None };
        let mut scanner = Scanner::new(Cursor::new(bytes, self.base + at as u64), state)
            .with_templates(Templates::before(self.header), Some(Arc::clone(templates)))
            .without_more_templates();
        let mut last: Option<RawString<'a>> = None;
        for _ in 0..MIN_RECORDS {
            let start = scanner.cursor().consumed();
            let item = scanner.next_item();
            self.work -= WORK_PER_RECORD;
            self.charge(scanner.cursor().consumed().saturating_sub(start));
            let Ok(FileItem::Key(entry)) = item else { return false };
            let key = KeyFacts::of(&entry);
            if self.work <= 0 || !key.has_text_name() || !self.may_be_key(&entry, last.as_ref(), profile) {
                return false;
            }
            let mut value = scanner.cursor().clone();
            if !self.pass_value(&mut scanner, at, &entry, Depth::Content) {
                return entry.value_type == ValueType::HashTemplateArrayRef
                    && value.length().is_ok_and(|id| id < MAX_TEMPLATE_ID && !templates.defines(id));
            }
            last = Some(entry.key);
        }
        false
    }

    /// Returns whether a chain of intact records starts at `at`.
    fn is_certain(&mut self, at: usize, goal: Goal<'_>) -> bool {
        let bytes = self.bytes.get(at..).unwrap_or_default();
        let state = ScanState { family: self.header.family, db: None };
        let scanner = Scanner::new(Cursor::new(bytes, self.base + at as u64), state)
            .with_templates(Templates::before(self.header), goal.templates.cloned())
            .without_more_templates();
        // Hardly any false start gets past the framing of some records, which takes little work.
        [Depth::Framing, Depth::Content].into_iter().all(|depth| self.is_chain(scanner.clone(), at, goal, depth))
    }

    /// Returns whether a chain of intact records starts at `origin`, where the scanner is, and passes the failure.
    fn is_chain(&mut self, mut scanner: Scanner<'a>, origin: usize, goal: Goal<'_>, depth: Depth) -> bool {
        let profile = goal.profile;
        let (mut records, mut telling) = (0, 0);
        let mut last: Option<RawString<'a>> = None;
        loop {
            let start = scanner.cursor().consumed();
            let is_long = records >= MIN_RECORDS || (records > 0 && start >= MIN_BYTES);
            match depth {
                Depth::Framing if is_long => return true,
                Depth::Content if is_long && origin + start > goal.failed => return telling * 2 > records,
                Depth::Framing | Depth::Content => {}
            }
            let item = scanner.next_item();
            self.work -= WORK_PER_RECORD;
            self.charge(scanner.cursor().consumed().saturating_sub(start));
            match item {
                Ok(FileItem::Key(entry)) => {
                    let key = KeyFacts::of(&entry);
                    if scanner.met_enterprise_prefix() && !self.enterprise
                        || !self.may_be_key(&entry, last.as_ref(), profile)
                        || profile.is_overlong(&key)
                        || goal.is_trusted && records == 0 && !profile.trusts(&key)
                        || !self.pass_value(&mut scanner, origin, &entry, depth)
                    {
                        return false;
                    }
                    last = Some(entry.key);
                    records += 1;
                    telling += u32::from(key.is_text || profile.knows_shape(&key));
                }
                Ok(FileItem::End) => return records > 0 && is_end_of_file(self.header, scanner.cursor().rest()),
                Ok(FileItem::Database(db)) if db > u64::from(u16::MAX) => return false,
                Ok(FileItem::SlotNumber(_)) if self.enterprise => {}
                Ok(FileItem::Aux(name, value)) if is_false_aux(&name, &value) => return false,
                Ok(
                    FileItem::Database(_)
                    | FileItem::DatabaseSize(..)
                    | FileItem::Slot(_)
                    | FileItem::Aux(..)
                    | FileItem::ModuleAux(_),
                ) => {}
                Ok(
                    FileItem::SlotNumber(_)
                    | FileItem::Function(_)
                    | FileItem::SlotImport
                    | FileItem::Update
                    | FileItem::HashTemplate,
                )
                | Err(_) => return false,
            }
        }
    }

    /// Moves behind a value, if it is sound as far as it is looked into; returns whether it is. The scanner began at `origin`.
    fn pass_value(&mut self, scanner: &mut Scanner<'a>, origin: usize, entry: &KeyEntry<'a>, depth: Depth) -> bool {
        let start = scanner.cursor().consumed();
        match (self.known.get(origin + start, entry.value_type), depth) {
            (Some(Value::Damaged), _) => return false,
            (Some(Value::Framed(len)), Depth::Framing) | (Some(Value::Sound(len)), _) => {
                return scanner.cursor_mut().take(len as u64).is_ok();
            }
            (Some(Value::Framed(_)), Depth::Content) | (None, _) => {}
        }
        let (is_sound, work) = match depth {
            Depth::Framing => skip_value(scanner, entry),
            Depth::Content => self.verify_value(scanner, entry),
        };
        self.charge(work);
        let len = scanner.cursor().consumed() - start;
        let value = match depth {
            _ if !is_sound => Value::Damaged,
            Depth::Framing => Value::Framed(len),
            Depth::Content => Value::Sound(len),
        };
        self.known.add(origin + start, entry.value_type, value, work);
        is_sound
    }

    /// Verifies a value; returns whether it is sound, and the work that it took.
    fn verify_value(&mut self, scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>) -> (bool, usize) {
        let start = scanner.cursor().consumed();
        let is_plain = entry.value_type == ValueType::String && scanner.cursor().peek().is_some_and(|byte| byte < 0xC0);
        let walked = verify_value(scanner, entry, &mut self.verify);
        // Forgets the fault of a value that was not walked to its end, too.
        let is_sound = self.verify.finish().is_ok() && walked.is_ok();
        // A plain string is passed without looking at it.
        let work = if is_plain { 0 } else { scanner.cursor().consumed() - start };
        (is_sound, work)
    }

    /// Grants the work for all bytes up to `at`, once for each.
    fn grant(&mut self, at: usize) {
        let granted = i64::try_from(at.saturating_sub(self.granted)).unwrap_or(i64::MAX).saturating_mul(WORK_PER_BYTE);
        self.granted = self.granted.max(at);
        self.work = self.work.saturating_add(granted).min(MAX_WORK);
    }

    /// Subtracts the work of verifying bytes that are read again.
    pub fn charge(&mut self, bytes: usize) {
        self.work = self.work.saturating_sub(i64::try_from(bytes).unwrap_or(i64::MAX));
    }

    fn may_be_key(&self, entry: &KeyEntry<'_>, last: Option<&RawString<'_>>, profile: &Profile) -> bool {
        let is_usual = is_written(self.header, entry.value_type) || profile.types.contains(&entry.value_type);
        let is_new = last.is_none_or(|last| !is_same_key(last, &entry.key));
        is_usual && is_new && (last.is_some() || entry.key.len() <= MAX_KEY_LEN) && !expands(&entry.key)
    }
}

/// Returns whether no server writes an auxiliary field with this name and value: a damaged length makes whole records look like one.
///
/// Servers write short names, and text. Only KeyDB stores members of sets and hashes, which may be binary.
pub fn is_false_aux(name: &RawString<'_>, value: &RawString<'_>) -> bool {
    let is_printable = |bytes: &[u8]| bytes.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ');
    if let StringForm::Plain(bytes) = name.form
        && (bytes.len() > LONG_AUX_NAME || !is_printable(bytes))
    {
        return true;
    }
    match (name.form, value.form) {
        (StringForm::Plain(b"keydb-subexpire-key"), _) => false,
        (_, StringForm::Plain(bytes)) => {
            let is_binary = |byte: &u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
            bytes.len() > LONG_AUX_BINARY && bytes.iter().any(is_binary)
        }
        (_, StringForm::Int(_) | StringForm::Lzf { .. }) => false,
    }
}

/// Returns whether a compressed key expands so far that verifying it is not worth the work.
fn expands(key: &RawString<'_>) -> bool {
    key.is_compressed() && key.len() > u64::from(u16::MAX)
}

/// Skips a value; returns whether it could be, and the work that it took.
fn skip_value<'a>(scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>) -> (bool, usize) {
    let start = scanner.cursor().consumed();
    let mut parts = Parts(0);
    let is_skipped = scanner.value(entry, &mut parts as &mut dyn Visit).is_ok();
    let work = match entry.value_type {
        // Not all that is read of them is a part.
        ValueType::Module2
        | ValueType::ModulePreGa
        | ValueType::KeydbCron
        | ValueType::DragonflyModule(_)
        | ValueType::HashTemplateListpack
        | ValueType::HashTemplateListpackRef
        | ValueType::HashTemplateArray
        | ValueType::HashTemplateArrayRef => scanner.cursor().consumed() - start,
        // Strings are passed without looking at them, so false lengths cost nothing.
        _ => usize::try_from(parts.0).unwrap_or(usize::MAX).saturating_mul(WORK_PER_PART),
    };
    (is_skipped, work)
}

/// Walks a value as often as it takes to compare all its elements. The visitor keeps its faults.
pub fn verify_value<'a>(scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>, verify: &mut Verify) -> Result<()> {
    let value = scanner.cursor().clone();
    scanner.value(entry, verify)?;
    while verify.needs_another_walk() {
        *scanner.cursor_mut() = value.clone();
        scanner.value(entry, verify)?;
    }
    Ok(())
}

/// Returns whether a snapshot may end here: `rest` follows the EOF opcode.
pub fn is_end_of_file(header: RdbHeader, rest: &[u8]) -> bool {
    /// Blocks allocated in advance.
    const PADDING: usize = 64 << 10;
    const REPLICATION_MARK: usize = 40;
    // Cut off within the checksum.
    let Some(rest) = rest.get(header.checksum_len()..) else { return true };
    let is_padding = rest.len() <= PADDING && rest.iter().all(|&byte| byte == 0);
    rest.is_empty() || rest.len() == REPLICATION_MARK || is_padding || starts_commands(rest)
}

/// Returns whether commands of an append-only file, or its annotations, start here.
fn starts_commands(bytes: &[u8]) -> bool {
    let Some(rest) = bytes.strip_prefix(b"*") else { return bytes.starts_with(b"#TS:") };
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    (1..8).contains(&digits) && rest.get(digits..).is_some_and(|rest| rest.starts_with(b"\r\n$"))
}

#[cfg(test)]
mod tests;
