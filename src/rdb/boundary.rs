//! Heuristic search for a record boundary at an arbitrary offset, so that several threads can parse one file.
//!
//! RDB has no synchronisation markers. But bytes at a wrong offset hardly ever parse as a run of records, so an offset
//! from which many records parse is almost certainly a boundary. It is only a guess: a string may contain a snapshot, and
//! the pairs of a hash with field expiries, none of them set, look like string keys. The caller must confirm a guess by
//! parsing up to it from the preceding record.
//!
//! The search is bounded by [`MAX_STEPS`], and most offsets are rejected by their first bytes.

use std::sync::Arc;

use super::cursor::Cursor;
use super::header::Family;
use super::opcode::byte::{EXPIRE_TIME, EXPIRE_TIME_MS, FREQ, IDLE, RAM_LRU, SELECT_DB, SLOT_NUM};
use super::scan::{FileItem, KeyEntry, ScanState, Scanner};
use super::string::{RawString, StringForm};
use super::template::Templates;
use super::value_type::ValueType;
use super::walk::{FieldExpiry, ListNode, ModuleItem, Visit};
use crate::error::Result;

/// Number of consecutive records that make an offset plausible.
const MIN_RECORDS: u32 = 32;

/// Element count from which a collection is not read to its end. Such a count takes five bytes, unlike the one or two of
/// a small count, and five bytes rarely form a valid length by chance.
const LARGE_TABLE: u64 = 1 << 14;

/// Number of elements that make a large collection plausible.
const LARGE_TABLE_ELEMENTS: u64 = 1024;

/// Interval, in elements, at which most lengths so far must be unlikely in text: see [`skip_string`].
const TELLING_INTERVAL: u64 = 256;

/// Maximum plausible key length; in files with longer keys fewer boundaries are found.
pub(super) const MAX_KEY_LEN: u64 = 1 << 10;

/// Step limit of one search, some milliseconds; a step is a byte examined, a string skipped, or [`PREFIX_STEP`] bytes of
/// prefixes.
pub const MAX_STEPS: u64 = 2 << 20;

/// Bytes of key prefixes and rare items that cost a step. A record has a prefix or two; a run of them may fill a file.
const PREFIX_STEP: u64 = 8;

/// Facts about a file that its records cannot be read without.
#[derive(Debug, Clone, Copy)]
pub struct FileFormat<'t> {
    /// Family of the format.
    pub family: Family,
    /// Hash templates of the file.
    pub templates: Option<&'t Arc<Templates>>,
    /// True if keys may have prefixes of Redis Enterprise, letters that texts are full of.
    pub enterprise: bool,
}

impl FileFormat<'_> {
    pub(super) fn last_type(self) -> u8 {
        match (self.family, self.templates) {
            (Family::Dragonfly, _) => LAST_DRAGONFLY_TYPE,
            (Family::Redis | Family::Valkey, Some(_)) => LAST_TEMPLATE_TYPE,
            (Family::Redis | Family::Valkey, None) => LAST_TYPE,
        }
    }
}

/// Returns a probable record boundary, searching from the offsets `from..to` of `bytes`.
///
/// The boundary may lie after `to`, because parsing may start inside a record and fall into step with the next ones.
/// Returns `None` if there is none or the step limit is reached.
pub fn find(bytes: &[u8], format: FileFormat<'_>, from: usize, to: usize) -> Option<usize> {
    let mut steps = MAX_STEPS;
    let to = to.min(bytes.len());
    let (mut next, last_type) = (from, format.last_type());
    while let Some(passed) =
        bytes.get(next..to)?.iter().position(|&byte| can_start_record(byte, last_type, format.enterprise))
    {
        let at = next + passed;
        steps = steps.checked_sub(passed as u64 + 1)?;
        next = at + 1;
        if may_start_record(bytes, format, at)
            && !may_follow_prefix(bytes, at, true, format.enterprise)
            && let Some(further) = try_records(bytes.get(at..).unwrap_or_default(), format, &mut steps)
        {
            return Some(at + further);
        }
    }
    None
}

/// Records after which the reported boundary is taken: parsing that starts inside a record usually falls into step with
/// the following ones, so a boundary some records later is more reliable.
const RESYNC_RECORDS: u32 = MIN_RECORDS / 2;

/// Bytes of a key that the quick check examines.
const NAME_PREFIX: usize = 24;

/// Magic of Java serialisation, a common start of binary keys.
const JAVA_MAGIC: &[u8] = b"\xac\xed\0\x05";

/// Highest value type byte in files without hash templates.
const LAST_TYPE: u8 = 28;
/// Highest value type byte in files with hash templates. It is a space, which texts are full of.
const LAST_TEMPLATE_TYPE: u8 = 32;
/// Highest value type byte in files of Dragonfly.
const LAST_DRAGONFLY_TYPE: u8 = 37;

/// Returns whether `byte` is a value type or an opcode that can start a record.
#[inline]
pub(super) fn can_start_record(byte: u8, last_type: u8, enterprise: bool) -> bool {
    byte <= last_type
        || matches!(byte, EXPIRE_TIME_MS | EXPIRE_TIME | IDLE | FREQ | SELECT_DB)
        || enterprise && matches!(byte, RAM_LRU | SLOT_NUM)
}

/// Quick check by a few bytes: a value type followed by a key, or a prefix opcode.
#[inline]
pub(super) fn may_start_record(bytes: &[u8], format: FileFormat<'_>, at: usize) -> bool {
    let Some(&[first, second, third]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<3>()) else { return false };
    if first > format.last_type() {
        return true;
    }
    // Reject the empty key: at most one exists per database, but runs of zeros are common.
    matches!(second, 1..0x44 | 0xC0..=0xC3)
        && is_shortest(&[second, third])
        && ValueType::from_byte(format.family, first).is_some()
        && may_be_name(bytes.get(at + 1..).unwrap_or_default())
}

/// Returns whether a length and a printable key prefix start here.
///
/// Inside a collection every element length is also a valid type byte, and the digit that follows a valid key length. Such
/// a false key spans the lengths of further elements, which are control characters. A file with binary keys is still
/// handled as long as some of its keys are printable.
#[inline]
fn may_be_name(bytes: &[u8]) -> bool {
    let (len, name) = match *bytes {
        [len @ 0..0x40, ref name @ ..] => (len, name),
        [0x40..0x44, _, ref name @ ..] => (0x40, name),
        _ => return true, // compressed, or an integer
    };
    let known = name.get(..usize::from(len).min(NAME_PREFIX)).unwrap_or(name);
    name.starts_with(JAVA_MAGIC) || !known.iter().any(u8::is_ascii_control)
}

/// Returns whether a length uses the shortest possible encoding, as servers always do.
#[inline]
fn is_shortest(bytes: &[u8]) -> bool {
    match bytes {
        [0x40, low, ..] => *low >= 0x40,
        [0x80, 0, 0, high, ..] => *high >= 0x40,
        _ => true,
    }
}

/// Returns whether the bytes before `at` may be a prefix opcode of the same record.
///
/// A record also parses from its type byte on, but it starts at its first prefix.
/// `seconds` says whether expiries may be in seconds.
pub(super) fn may_follow_prefix(bytes: &[u8], at: usize, seconds: bool, enterprise: bool) -> bool {
    let is = |back: usize, byte: u8| at.checked_sub(back).and_then(|at| bytes.get(at)) == Some(&byte);
    let is_length_of = |opcode: u8| is(2, opcode) || is(3, opcode) || is(6, opcode);
    is(9, EXPIRE_TIME_MS)
        || seconds && is(5, EXPIRE_TIME)
        || is(2, FREQ)
        || is_length_of(IDLE)
        || enterprise && is_length_of(RAM_LRU)
}

/// Parses consecutive records from the start of `bytes`; returns the boundary to report if they are plausible.
fn try_records(bytes: &[u8], format: FileFormat<'_>, steps: &mut u64) -> Option<usize> {
    let state = ScanState { family: format.family, db: None };
    let mut scanner = Scanner::new(Cursor::new(bytes, 0), state)
        .with_templates(Templates::NONE, format.templates.cloned())
        .without_more_templates();
    let (mut records, mut telling) = (0, 0);
    let mut last: Option<RawString<'_>> = None;
    let mut place = 0;
    while records < MIN_RECORDS {
        if records <= RESYNC_RECORDS && scanner.at_boundary() {
            place = scanner.cursor().consumed();
        }
        let start = scanner.cursor().offset();
        let item = scanner.next_item();
        charge(steps, 1 + parsed_to(&item, &scanner).saturating_sub(start) / PREFIX_STEP)?;
        match item {
            Ok(FileItem::Key(entry)) => {
                if !is_plausible(&entry, last.as_ref()) {
                    return None;
                }
                last = Some(entry.key);
                telling += u32::from(is_text(&entry.key) || matches!(entry.key.form, StringForm::Int(_)));
                match skip_value(&mut scanner, &entry, steps) {
                    Some(SkippedValue::Whole) => records += 1,
                    Some(SkippedValue::Large) => return Some(place),
                    None => return None,
                }
            }
            // EOF is plausible only at the end of the file: followed by nothing, or by the checksum.
            Ok(FileItem::End) => return (records > 0 && matches!(scanner.cursor().left(), 0 | 8)).then_some(place),
            Ok(FileItem::Database(_) | FileItem::DatabaseSize(..) | FileItem::Slot(_) | FileItem::SlotNumber(_)) => {}
            // Other items come before all keys or are rare.
            Ok(_) | Err(_) => return None,
        }
    }
    // Runs of integers may parse as records, too, but then few keys are printable.
    (telling > MIN_RECORDS / 2).then_some(place)
}

/// Subtracts the steps of what was read; returns `None` if there were not as many, and none are left then.
fn charge(steps: &mut u64, read: u64) -> Option<()> {
    let left = steps.checked_sub(read);
    *steps = left.unwrap_or(0);
    left.map(|_| ())
}

/// Returns the offset up to which the bytes of an item were parsed. The string behind it was skipped at once, whatever its length.
fn parsed_to(item: &Result<FileItem<'_>>, scanner: &Scanner<'_>) -> u64 {
    match item {
        Ok(FileItem::Key(entry)) => entry.key.offset,
        Ok(FileItem::Aux(string, _) | FileItem::Function(string)) => string.offset,
        Ok(_) | Err(_) => scanner.cursor().offset(),
    }
}

/// Returns whether a key is short and differs from its predecessor; runs of zeros parse as empty keys and values.
fn is_plausible(entry: &KeyEntry<'_>, last: Option<&RawString<'_>>) -> bool {
    entry.key.len() <= MAX_KEY_LEN && last.is_none_or(|last| !is_same_key(last, &entry.key))
}

pub(super) fn is_same_key(one: &RawString<'_>, other: &RawString<'_>) -> bool {
    match (one.form, other.form) {
        (StringForm::Plain(one), StringForm::Plain(other)) => one == other,
        (StringForm::Int(one), StringForm::Int(other)) => one == other,
        (StringForm::Lzf { block: one, .. }, StringForm::Lzf { block: other, .. }) => one == other,
        _ => false,
    }
}

/// Outcome of skipping a value.
enum SkippedValue {
    /// Skipped to its end.
    Whole,
    /// Skipped far enough to be certain that it is a large collection.
    Large,
}

fn skip_value<'a>(scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>, steps: &mut u64) -> Option<SkippedValue> {
    match TableLayout::of(entry.value_type) {
        Some(table) if is_text(&entry.key) => table.skip(scanner.cursor_mut(), steps),
        // Collections can be large: do not read one after an implausible key.
        Some(_) => None,
        None => match BlobHeader::of(entry.value_type) {
            Some(packed) => {
                scanner.cursor_mut().string().ok().filter(|blob| packed.is_plausible(blob)).map(|_| SkippedValue::Whole)
            }
            None => {
                let mut parts = Parts(0);
                let skipped = scanner.value(entry, &mut parts as &mut dyn Visit);
                charge(steps, parts.0)?;
                skipped.ok().map(|()| SkippedValue::Whole)
            }
        },
    }
}

/// Number of parts of a skipped value: a stream, an array or a value of a module may have as many as the file has bytes.
pub(super) struct Parts(pub u64);

impl Visit for Parts {
    fn lengths_suffice(&self) -> bool {
        true
    }
    fn element_len(&mut self, _: u64) {
        self.0 += 1;
    }
    fn pair_len(&mut self, _: u64, _: u64) {
        self.0 += 1;
    }
    fn scored_len(&mut self, _: u64) {
        self.0 += 1;
    }
    fn pair(&mut self, _: RawString<'_>, _: RawString<'_>) {
        self.0 += 1;
    }
    fn expiring_pair(&mut self, _: RawString<'_>, _: RawString<'_>, _: FieldExpiry) {
        self.0 += 1;
    }
    fn node(&mut self, _: ListNode, _: RawString<'_>) {
        self.0 += 1;
    }
    fn stream_node(&mut self, _: &[u8; 16], _: RawString<'_>) {
        self.0 += 1;
    }
    fn group(&mut self, _: RawString<'_>, _: (u64, u64), _: Option<u64>, _: u64) {
        self.0 += 1;
    }
    fn pending(&mut self, _: &[u8; 16], _: i64, _: u64) {
        self.0 += 1;
    }
    fn consumer(&mut self, _: RawString<'_>, _: i64, _: Option<i64>, _: u64) {
        self.0 += 1;
    }
    fn consumer_pending(&mut self, _: &[u8; 16]) {
        self.0 += 1;
    }
    fn nacked(&mut self, _: &[u8; 16]) {
        self.0 += 1;
    }
    fn producer(&mut self, _: RawString<'_>, _: u64) {
        self.0 += 1;
    }
    fn idempotency(&mut self, _: RawString<'_>, _: (u64, u64)) {
        self.0 += 1;
    }
    fn module_item(&mut self, _: ModuleItem<'_>) {
        self.0 += 1;
    }
    fn array_item(&mut self, _: u64, _: ModuleItem<'_>) {
        self.0 += 1;
    }
}

/// Header by which a packed blob is recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlobHeader {
    /// Total length in four bytes: ziplists and listpacks.
    Length,
    /// Width and count of integers: intsets.
    Numbers,
    /// End byte only: zipmaps have no telling header.
    Zipmap,
}

impl BlobHeader {
    fn of(value_type: ValueType) -> Option<BlobHeader> {
        Some(match value_type {
            ValueType::ListZiplist
            | ValueType::ZsetZiplist
            | ValueType::HashZiplist
            | ValueType::HashListpack
            | ValueType::ZsetListpack
            | ValueType::SetListpack
            | ValueType::HashTemplateListpackRef => BlobHeader::Length,
            ValueType::SetIntset => BlobHeader::Numbers,
            ValueType::HashZipmap => BlobHeader::Zipmap,
            _ => return None,
        })
    }

    /// Returns whether the blob matches its header. Integers are rejected: those in a ziplist would pass as zipmaps.
    fn is_plausible(self, blob: &RawString<'_>) -> bool {
        let StringForm::Plain(bytes) = blob.form else { return blob.is_compressed() };
        let number =
            |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).map(|four| u32::from_le_bytes(*four));
        let length = bytes.len() as u64;
        match self {
            BlobHeader::Length => number(0).map(u64::from) == Some(length),
            BlobHeader::Numbers => {
                let (width, count) = (u64::from(number(0).unwrap_or(0)), u64::from(number(4).unwrap_or(0)));
                matches!(width, 2 | 4 | 8) && 8 + width * count == length
            }
            BlobHeader::Zipmap => bytes.last() == Some(&0xFF),
        }
    }
}

/// Returns whether a key is printable or starts with Java's serialisation magic. Integer keys do not count: integers in a
/// listpack look like sets with integer keys.
pub(super) fn is_text(key: &RawString<'_>) -> bool {
    match key.form {
        StringForm::Plain(bytes) => bytes.starts_with(JAVA_MAGIC) || !bytes.iter().any(u8::is_ascii_control),
        StringForm::Lzf { .. } => true,
        StringForm::Int(_) => false,
    }
}

/// Layout of one element, for collections that [`walk`](super::walk) walks element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableLayout {
    Single,
    Pair,
    Scored,
    /// Member with a score stored as text.
    ScoredText,
    Ziplist,
    ListNode,
    /// Expiry before each pair; `true` if the earliest expiry precedes all pairs.
    ExpiryFirst(bool),
    /// Expiry after each pair.
    ExpiryLast,
}

impl TableLayout {
    fn of(value_type: ValueType) -> Option<TableLayout> {
        Some(match value_type {
            ValueType::List | ValueType::Set => TableLayout::Single,
            ValueType::ListQuicklist => TableLayout::Ziplist,
            ValueType::Hash => TableLayout::Pair,
            ValueType::Zset2 => TableLayout::Scored,
            ValueType::Zset => TableLayout::ScoredText,
            ValueType::HashMetadata => TableLayout::ExpiryFirst(true),
            ValueType::HashMetadataPreGa => TableLayout::ExpiryFirst(false),
            ValueType::Hash2 => TableLayout::ExpiryLast,
            ValueType::ListQuicklist2 => TableLayout::ListNode,
            _ => return None,
        })
    }

    /// Skips the elements, or enough of them to recognise a large collection.
    fn skip(self, cursor: &mut Cursor<'_>, steps: &mut u64) -> Option<SkippedValue> {
        if self == TableLayout::ExpiryFirst(true) {
            cursor.i64_le().ok()?;
        }
        if !is_shortest(cursor.rest()) {
            return None;
        }
        let count = cursor.count(1).ok()?;
        let mut telling = 0;
        for passed in 0..count {
            if passed % TELLING_INTERVAL == 0 && telling < passed / 4 * 3 {
                return None;
            }
            if count >= LARGE_TABLE && passed == LARGE_TABLE_ELEMENTS {
                return Some(SkippedValue::Large);
            }
            *steps = steps.checked_sub(1)?;
            telling += u64::from(self.element(cursor)?);
        }
        Some(SkippedValue::Whole)
    }

    /// Skips one element; returns whether its length byte is unlikely to occur inside text.
    fn element(self, cursor: &mut Cursor<'_>) -> Option<bool> {
        match self {
            TableLayout::Single => skip_string(cursor),
            TableLayout::Pair => Some(skip_string(cursor)? | skip_string(cursor)?),
            TableLayout::Scored => {
                let telling = skip_string(cursor)?;
                cursor.f64_le().ok().filter(|score| !score.is_nan()).map(|_| telling)
            }
            TableLayout::ScoredText => {
                let telling = skip_string(cursor)?;
                let score = match cursor.byte().ok()? {
                    0 => return None,
                    253.. => &[],
                    len => cursor.take(u64::from(len)).ok()?,
                };
                score.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e')).then_some(telling)
            }
            TableLayout::ExpiryFirst(_) => {
                cursor.number().ok()?;
                Some(skip_string(cursor)? | skip_string(cursor)?)
            }
            TableLayout::ExpiryLast => {
                let telling = skip_string(cursor)? | skip_string(cursor)?;
                cursor.i64_le().ok().map(|_| telling)
            }
            TableLayout::Ziplist => skip_packed(cursor),
            TableLayout::ListNode => match cursor.length().ok()? {
                1 => cursor.string().ok().map(|_| true),
                2 => skip_packed(cursor),
                _ => None,
            },
        }
    }
}

/// Skips a ziplist or listpack with a plausible header.
fn skip_packed(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.string().ok().filter(|blob| BlobHeader::Length.is_plausible(blob)).map(|_| true)
}

/// Skips a string; returns whether its first byte is unlikely to occur inside text.
///
/// Inside text every character parses as a length, so without this check a walk over false elements would continue for
/// megabytes.
#[inline]
fn skip_string(cursor: &mut Cursor<'_>) -> Option<bool> {
    let first = cursor.peek().filter(|_| is_shortest(cursor.rest()))?;
    cursor.string().ok()?;
    Some(matches!(first, 0..0x20 | 0x40..0x50 | 0x80..))
}

#[cfg(test)]
mod tests;
