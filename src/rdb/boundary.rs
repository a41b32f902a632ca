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
use super::scan::{Entry, Item, Scanner, State};
use super::string::{Form, RawString};
use super::value_type::ValueType;

/// Records in a row that make a place believable.
const RECORDS: u32 = 32;

/// A table of more elements is not read to its end. Its number takes five bytes, which do not come together by chance as the two
/// of a smaller one do.
const LARGE: u64 = 1 << 14;

/// Elements of a large table that make it believable.
const ELEMENTS: u64 = 1024;

/// Elements after which most of their lengths have to be telling: see [`string`].
const TELLING: u64 = 256;

/// Longer names are not expected. Those who have them find fewer places.
const LONGEST_KEY: u64 = 1 << 10;

/// Steps of one search: some milliseconds. A step is a byte that was looked at, or a string that was passed over.
pub const STEPS: u64 = 2 << 20;

/// A place at which a record probably begins, found from the first byte in `from..to` of `bytes` from which records can be read; it
/// may lie behind `to`. `None` when there is none, or when looking for it takes too long.
pub fn find(bytes: &[u8], family: Family, from: usize, to: usize) -> Option<usize> {
    let mut steps = STEPS;
    let to = to.min(bytes.len());
    let mut next = from;
    while let Some(passed) = bytes.get(next..to)?.iter().position(|&byte| begins(byte)) {
        let at = next + passed;
        steps = steps.checked_sub(passed as u64 + 1)?;
        next = at + 1;
        if may_begin(bytes, family, at)
            && !is_within_record(bytes, at)
            && let Some(further) = reads(bytes.get(at..).unwrap_or_default(), family, &mut steps)
        {
            return Some(at + further);
        }
    }
    None
}

/// Who begins to read within a record may fall in with those that follow: some records later the place is surer.
const SURER: u32 = RECORDS / 2;

/// So much of a name is looked at first.
const KNOWN: usize = 24;

/// What Java's serialisation begins with.
const JAVA: &[u8] = b"\xac\xed\0\x05";

/// The highest type of a value.
const LAST_TYPE: u8 = 28;
const IDLE: u8 = 0xF8;
const FREQ: u8 = 0xF9;
const EXPIRY_MS: u8 = 0xFC;
const EXPIRY: u8 = 0xFD;
const SELECT_DB: u8 = 0xFE;

/// Whether a record may begin with this byte: by its type or a prefix.
#[inline]
fn begins(byte: u8) -> bool {
    byte <= LAST_TYPE || matches!(byte, EXPIRY_MS | EXPIRY | IDLE | FREQ | SELECT_DB)
}

/// Refuses most places by a few bytes: a type and the name behind it, or a prefix.
#[inline]
fn may_begin(bytes: &[u8], family: Family, at: usize) -> bool {
    let Some(&[first, second, third]) = bytes.get(at..).and_then(|rest| rest.first_chunk::<3>()) else { return false };
    if first > LAST_TYPE {
        return true;
    }
    // One name of a database at most is empty, and zeros are many.
    matches!(second, 1..0x44 | 0xC0..=0xC3)
        && is_shortest(&[second, third])
        && ValueType::from_byte(family, first).is_some()
        && begins_name(bytes.get(at + 1..).unwrap_or_default())
}

/// Whether a name stands here whose first bytes are characters. Names that are none are found as well, behind one that is.
///
/// Between the elements of a table every length is a type, and many a digit behind it the length of a name: one that goes over
/// the lengths of further elements.
#[inline]
fn begins_name(bytes: &[u8]) -> bool {
    let (len, name) = match *bytes {
        [len @ 0..0x40, ref name @ ..] => (len, name),
        [0x40..0x44, _, ref name @ ..] => (0x40, name),
        _ => return true, // compressed, or a number
    };
    let known = name.get(..usize::from(len).min(KNOWN)).unwrap_or(name);
    name.starts_with(JAVA) || !known.iter().any(u8::is_ascii_control)
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
fn is_within_record(bytes: &[u8], at: usize) -> bool {
    let is = |back: usize, byte: u8| at.checked_sub(back).and_then(|at| bytes.get(at)) == Some(&byte);
    is(9, EXPIRY_MS) || is(5, EXPIRY) || is(2, FREQ) || is(2, IDLE) || is(3, IDLE) || is(6, IDLE)
}

/// Whether what begins here reads as records, one after the other; and where one of the first begins.
fn reads(bytes: &[u8], family: Family, steps: &mut u64) -> Option<usize> {
    let mut scanner = Scanner::new(Cursor::new(bytes, 0), State { family, db: None });
    let (mut records, mut telling) = (0, 0);
    let mut last: Option<RawString<'_>> = None;
    let mut place = 0;
    while records < RECORDS {
        if records <= SURER && scanner.at_boundary() {
            place = scanner.cursor().consumed();
        }
        *steps = steps.checked_sub(1)?;
        match scanner.next_item() {
            Ok(Item::Entry(entry)) => {
                if !is_believable(&entry, last.as_ref()) {
                    return None;
                }
                last = Some(entry.key);
                telling += u32::from(is_text(&entry.key) || matches!(entry.key.form, Form::Int(_)));
                match value(&mut scanner, &entry, steps) {
                    Some(Value::Whole) => records += 1,
                    Some(Value::Large) => return Some(place),
                    None => return None,
                }
            }
            // The end, where an end may be.
            Ok(Item::End) => return (records > 0 && matches!(scanner.cursor().left(), 0 | 8)).then_some(place),
            Ok(Item::Database(_) | Item::DatabaseSize(..) | Item::Slot(_)) => {}
            // The others stand in front of all keys, or are rare.
            Ok(_) | Err(_) => return None,
        }
    }
    // Numbers in a row may read as records, too, but with names that are not written in characters.
    (telling > RECORDS / 2).then_some(place)
}

/// Names are short, and two neighbours differ: zeros would read as records without name and value.
fn is_believable(entry: &Entry<'_>, last: Option<&RawString<'_>>) -> bool {
    entry.key.len() <= LONGEST_KEY && last.is_none_or(|last| !same(last, &entry.key))
}

fn same(one: &RawString<'_>, other: &RawString<'_>) -> bool {
    match (one.form, other.form) {
        (Form::Plain(one), Form::Plain(other)) => one == other,
        (Form::Int(one), Form::Int(other)) => one == other,
        (Form::Lzf { block: one, .. }, Form::Lzf { block: other, .. }) => one == other,
        _ => false,
    }
}

/// A value that has been passed over.
enum Value {
    /// To its end.
    Whole,
    /// Too far to be anything but the elements of a table.
    Large,
}

fn value<'a>(scanner: &mut Scanner<'a>, entry: &Entry<'a>, steps: &mut u64) -> Option<Value> {
    match Table::of(entry.value_type) {
        Some(table) if is_text(&entry.key) => table.pass(scanner.cursor_mut(), steps),
        // A table may be large: it is not read on the word of a name that is none.
        Some(_) => None,
        None => match Packed::of(entry.value_type) {
            Some(packed) => {
                scanner.cursor_mut().string().ok().filter(|blob| packed.is_believable(blob)).map(|_| Value::Whole)
            }
            None => scanner.skip_value(entry).ok().map(|()| Value::Whole),
        },
    }
}

/// What begins a value that is one blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Packed {
    /// Its own length, in four bytes: ziplists and listpacks.
    Length,
    /// The width of its numbers and how many there are.
    Numbers,
    /// Nothing telling, but a last byte.
    Zipmap,
}

impl Packed {
    fn of(value_type: ValueType) -> Option<Packed> {
        Some(match value_type {
            ValueType::ListZiplist
            | ValueType::ZsetZiplist
            | ValueType::HashZiplist
            | ValueType::HashListpack
            | ValueType::ZsetListpack
            | ValueType::SetListpack => Packed::Length,
            ValueType::SetIntset => Packed::Numbers,
            ValueType::HashZipmap => Packed::Zipmap,
            _ => return None,
        })
    }

    /// Numbers in a ziplist would read as zipmaps that are numbers.
    fn is_believable(self, blob: &RawString<'_>) -> bool {
        let Form::Plain(bytes) = blob.form else { return blob.is_compressed() };
        let number =
            |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk::<4>()).map(|four| u32::from_le_bytes(*four));
        let length = bytes.len() as u64;
        match self {
            Packed::Length => number(0).map(u64::from) == Some(length),
            Packed::Numbers => {
                let (width, count) = (u64::from(number(0).unwrap_or(0)), u64::from(number(4).unwrap_or(0)));
                matches!(width, 2 | 4 | 8) && 8 + width * count == length
            }
            Packed::Zipmap => bytes.last() == Some(&0xFF),
        }
    }
}

/// Whether a name is written in characters. Those of Java's serialisation begin with its mark. Numbers in a listpack look like sets
/// whose names are numbers.
fn is_text(key: &RawString<'_>) -> bool {
    match key.form {
        Form::Plain(bytes) => bytes.starts_with(JAVA) || !bytes.iter().any(u8::is_ascii_control),
        Form::Lzf { .. } => true,
        Form::Int(_) => false,
    }
}

/// What an element is made of in those layouts that [`walk`](super::walk) goes over element by element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Table {
    One,
    Two,
    Scored,
    /// With the score as a text.
    Rated,
    Ziplist,
    Node,
    /// An expiry in front of each pair; the next of all stands in front of the first, or nowhere.
    Timed(bool),
    /// An expiry behind each pair.
    Dated,
}

impl Table {
    fn of(value_type: ValueType) -> Option<Table> {
        Some(match value_type {
            ValueType::List | ValueType::Set => Table::One,
            ValueType::ListQuicklist => Table::Ziplist,
            ValueType::Hash => Table::Two,
            ValueType::Zset2 => Table::Scored,
            ValueType::Zset => Table::Rated,
            ValueType::HashMetadata => Table::Timed(true),
            ValueType::HashMetadataPreGa => Table::Timed(false),
            ValueType::Hash2 => Table::Dated,
            ValueType::ListQuicklist2 => Table::Node,
            _ => return None,
        })
    }

    /// Passes over the elements, but over no more than it takes to tell that they are some.
    fn pass(self, cursor: &mut Cursor<'_>, steps: &mut u64) -> Option<Value> {
        if self == Table::Timed(true) {
            cursor.i64_le().ok()?;
        }
        if !is_shortest(cursor.rest()) {
            return None;
        }
        let count = cursor.count(1).ok()?;
        let mut telling = 0;
        for passed in 0..count {
            if passed % TELLING == 0 && telling < passed / 4 * 3 {
                return None;
            }
            if count >= LARGE && passed == ELEMENTS {
                return Some(Value::Large);
            }
            *steps = steps.checked_sub(1)?;
            telling += u64::from(self.element(cursor)?);
        }
        Some(Value::Whole)
    }

    /// Passes over one; tells whether its length is one that hardly any text has.
    fn element(self, cursor: &mut Cursor<'_>) -> Option<bool> {
        match self {
            Table::One => string(cursor),
            Table::Two => Some(string(cursor)? | string(cursor)?),
            Table::Scored => {
                let telling = string(cursor)?;
                cursor.f64_le().ok().filter(|score| !score.is_nan()).map(|_| telling)
            }
            Table::Rated => {
                let telling = string(cursor)?;
                let score = match cursor.byte().ok()? {
                    0 => return None,
                    253.. => &[],
                    len => cursor.take(u64::from(len)).ok()?,
                };
                score.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e')).then_some(telling)
            }
            Table::Timed(_) => {
                cursor.number().ok()?;
                Some(string(cursor)? | string(cursor)?)
            }
            Table::Dated => {
                let telling = string(cursor)? | string(cursor)?;
                cursor.i64_le().ok().map(|_| telling)
            }
            Table::Ziplist => packed(cursor),
            Table::Node => match cursor.length().ok()? {
                1 => cursor.string().ok().map(|_| true),
                2 => packed(cursor),
                _ => None,
            },
        }
    }
}

/// Passes over a ziplist or listpack.
fn packed(cursor: &mut Cursor<'_>) -> Option<bool> {
    cursor.string().ok().filter(|blob| Packed::Length.is_believable(blob)).map(|_| true)
}

/// Passes over a string; tells whether its first byte is one that hardly occurs in a text. Within a text any byte reads as a length,
/// and a walk over wrong elements would go on for megabytes.
#[inline]
fn string(cursor: &mut Cursor<'_>) -> Option<bool> {
    let first = cursor.peek().filter(|_| is_shortest(cursor.rest()))?;
    cursor.string().ok()?;
    Some(matches!(first, 0..0x20 | 0x40..0x50 | 0x80..))
}

#[cfg(test)]
#[path = "boundary_tests.rs"]
mod tests;
