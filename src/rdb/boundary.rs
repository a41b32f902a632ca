//! Where a record probably begins: a guess at any place of a file, so that more than one thread can read it.
//!
//! A snapshot has no marks to find a record by. But a wrong place hardly ever reads as one record after the other, so a
//! place from which many can be read is one where a record begins, almost surely. *Almost* is all that is promised: a
//! string may hold a snapshot, and the pairs of a hash with field expiries, where none has any, look like strings with
//! names. Whoever guesses has to make sure, by arriving at the place from the record in front of it.
//!
//! A guess is cheap or is not made: the search counts its steps, and most places are refused at their first bytes.

use super::cursor::Cursor;
use super::header::Family;
use super::scan::{FileItem, KeyEntry, ScanState, Scanner};
use super::string::{RawString, StringForm};
use super::value_type::ValueType;

/// Records in a row that make a place believable.
const MIN_RECORDS: u32 = 32;

/// A table of more elements is not read to its end. Its number takes five bytes, which do not come together by chance as the two
/// of a smaller one do.
const LARGE_TABLE: u64 = 1 << 14;

/// Elements of a large table that make it believable.
const LARGE_TABLE_ELEMENTS: u64 = 1024;

/// Elements after which most of their lengths have to be telling: see [`string`].
const TELLING_INTERVAL: u64 = 256;

/// Longer names are not expected. Those who have them find fewer places.
const MAX_KEY_LEN: u64 = 1 << 10;

/// Steps of one search: some milliseconds. A step is a byte that was looked at, or a string that was passed over.
pub const MAX_STEPS: u64 = 2 << 20;

/// A place at which a record probably begins, found from the first byte in `from..to` of `bytes` from which records can be read; it
/// may lie behind `to`. `None` when there is none, or when looking for it takes too long.
pub fn find(bytes: &[u8], family: Family, from: usize, to: usize) -> Option<usize> {
    let mut steps = MAX_STEPS;
    let to = to.min(bytes.len());
    let mut next = from;
    while let Some(passed) = bytes.get(next..to)?.iter().position(|&byte| can_start_record(byte)) {
        let at = next + passed;
        steps = steps.checked_sub(passed as u64 + 1)?;
        next = at + 1;
        if may_start_record(bytes, family, at)
            && !may_follow_prefix(bytes, at)
            && let Some(further) = try_records(bytes.get(at..).unwrap_or_default(), family, &mut steps)
        {
            return Some(at + further);
        }
    }
    None
}

/// Who begins to read within a record may fall in with those that follow: some records later the place is surer.
const RESYNC_RECORDS: u32 = MIN_RECORDS / 2;

/// So much of a name is looked at first.
const NAME_PREFIX: usize = 24;

/// What Java's serialisation begins with.
const JAVA_MAGIC: &[u8] = b"\xac\xed\0\x05";

/// The highest type of a value.
const LAST_TYPE: u8 = 28;
const IDLE: u8 = 0xF8;
const FREQ: u8 = 0xF9;
const EXPIRY_MS: u8 = 0xFC;
const EXPIRY: u8 = 0xFD;
const SELECT_DB: u8 = 0xFE;

/// Whether a record may begin with this byte: by its type or a prefix.
#[inline]
fn can_start_record(byte: u8) -> bool {
    byte <= LAST_TYPE || matches!(byte, EXPIRY_MS | EXPIRY | IDLE | FREQ | SELECT_DB)
}

/// Refuses most places by a few bytes: a type and the name behind it, or a prefix.
#[inline]
fn may_start_record(bytes: &[u8], family: Family, at: usize) -> bool {
    let Some(&[first, second, third]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<3>()) else { return false };
    if first > LAST_TYPE {
        return true;
    }
    // One name of a database at most is empty, and zeros are many.
    matches!(second, 1..0x44 | 0xC0..=0xC3)
        && is_shortest(&[second, third])
        && ValueType::from_byte(family, first).is_some()
        && may_be_name(bytes.get(at + 1..).unwrap_or_default())
}

/// Whether a name stands here whose first bytes are characters. Names that are none are found as well, behind one that is.
///
/// Between the elements of a table every length is a type, and many a digit behind it the length of a name: one that goes over
/// the lengths of further elements.
#[inline]
fn may_be_name(bytes: &[u8]) -> bool {
    let (len, name) = match *bytes {
        [len @ 0..0x40, ref name @ ..] => (len, name),
        [0x40..0x44, _, ref name @ ..] => (0x40, name),
        _ => return true, // compressed, or a number
    };
    let known = name.get(..usize::from(len).min(NAME_PREFIX)).unwrap_or(name);
    name.starts_with(JAVA_MAGIC) || !known.iter().any(u8::is_ascii_control)
}

/// Whether a length is written as servers do: in the shortest form that it fits.
#[inline]
fn is_shortest(bytes: &[u8]) -> bool {
    match bytes {
        [0x40, low, ..] => *low >= 0x40,
        [0x80, 0, 0, high, ..] => *high >= 0x40,
        _ => true,
    }
}

/// True where a prefix of the record may stand in front: a record can be read from its type on as well, but it begins at its
/// first prefix.
fn may_follow_prefix(bytes: &[u8], at: usize) -> bool {
    let is = |back: usize, byte: u8| at.checked_sub(back).and_then(|at| bytes.get(at)) == Some(&byte);
    is(9, EXPIRY_MS) || is(5, EXPIRY) || is(2, FREQ) || is(2, IDLE) || is(3, IDLE) || is(6, IDLE)
}

/// Whether what begins here reads as records, one after the other; and where one of the first begins.
fn try_records(bytes: &[u8], family: Family, steps: &mut u64) -> Option<usize> {
    let mut scanner = Scanner::new(Cursor::new(bytes, 0), ScanState { family, db: None });
    let (mut records, mut telling) = (0, 0);
    let mut last: Option<RawString<'_>> = None;
    let mut place = 0;
    while records < MIN_RECORDS {
        if records <= RESYNC_RECORDS && scanner.at_boundary() {
            place = scanner.cursor().consumed();
        }
        *steps = steps.checked_sub(1)?;
        match scanner.next_item() {
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
            // The end, where an end may be.
            Ok(FileItem::End) => return (records > 0 && matches!(scanner.cursor().left(), 0 | 8)).then_some(place),
            Ok(FileItem::Database(_) | FileItem::DatabaseSize(..) | FileItem::Slot(_)) => {}
            // The others stand in front of all keys, or are rare.
            Ok(_) | Err(_) => return None,
        }
    }
    // Numbers in a row may read as records, too, but with names that are not written in characters.
    (telling > MIN_RECORDS / 2).then_some(place)
}

/// Names are short, and two neighbours differ: zeros would read as records without name and value.
fn is_plausible(entry: &KeyEntry<'_>, last: Option<&RawString<'_>>) -> bool {
    entry.key.len() <= MAX_KEY_LEN && last.is_none_or(|last| !is_same_key(last, &entry.key))
}

fn is_same_key(one: &RawString<'_>, other: &RawString<'_>) -> bool {
    match (one.form, other.form) {
        (StringForm::Plain(one), StringForm::Plain(other)) => one == other,
        (StringForm::Int(one), StringForm::Int(other)) => one == other,
        (StringForm::Lzf { block: one, .. }, StringForm::Lzf { block: other, .. }) => one == other,
        _ => false,
    }
}

/// A value that has been passed over.
enum SkippedValue {
    /// To its end.
    Whole,
    /// Too far to be anything but the elements of a table.
    Large,
}

fn skip_value<'a>(scanner: &mut Scanner<'a>, entry: &KeyEntry<'a>, steps: &mut u64) -> Option<SkippedValue> {
    match TableLayout::of(entry.value_type) {
        Some(table) if is_text(&entry.key) => table.skip(scanner.cursor_mut(), steps),
        // A table may be large: it is not read on the word of a name that is none.
        Some(_) => None,
        None => match BlobHeader::of(entry.value_type) {
            Some(packed) => {
                scanner.cursor_mut().string().ok().filter(|blob| packed.is_plausible(blob)).map(|_| SkippedValue::Whole)
            }
            None => scanner.skip_value(entry).ok().map(|()| SkippedValue::Whole),
        },
    }
}

/// What begins a value that is one blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BlobHeader {
    /// Its own length, in four bytes: ziplists and listpacks.
    Length,
    /// The width of its numbers and how many there are.
    Numbers,
    /// Nothing telling, but a last byte.
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
            | ValueType::SetListpack => BlobHeader::Length,
            ValueType::SetIntset => BlobHeader::Numbers,
            ValueType::HashZipmap => BlobHeader::Zipmap,
            _ => return None,
        })
    }

    /// Numbers in a ziplist would read as zipmaps that are numbers.
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

/// Whether a name is written in characters. Those of Java's serialisation begin with its mark. Numbers in a listpack look like sets
/// whose names are numbers.
fn is_text(key: &RawString<'_>) -> bool {
    match key.form {
        StringForm::Plain(bytes) => bytes.starts_with(JAVA_MAGIC) || !bytes.iter().any(u8::is_ascii_control),
        StringForm::Lzf { .. } => true,
        StringForm::Int(_) => false,
    }
}

/// What an element is made of in those layouts that [`walk`](super::walk) goes over element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TableLayout {
    Single,
    Pair,
    Scored,
    /// With the score as a text.
    ScoredText,
    Ziplist,
    ListNode,
    /// An expiry in front of each pair; the next of all stands in front of the first, or nowhere.
    ExpiryFirst(bool),
    /// An expiry behind each pair.
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

    /// Passes over the elements, but over no more than it takes to tell that they are some.
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

    /// Passes over one; tells whether its length is one that hardly any text has.
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

/// Passes over a ziplist or listpack.
fn skip_packed(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.string().ok().filter(|blob| BlobHeader::Length.is_plausible(blob)).map(|_| true)
}

/// Passes over a string; tells whether its first byte is one that hardly occurs in a text. Within a text any byte reads as a length,
/// and a walk over wrong elements would go on for megabytes.
#[inline]
fn skip_string(cursor: &mut Cursor<'_>) -> Option<bool> {
    let first = cursor.peek().filter(|_| is_shortest(cursor.rest()))?;
    cursor.string().ok()?;
    Some(matches!(first, 0..0x20 | 0x40..0x50 | 0x80..))
}

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;
