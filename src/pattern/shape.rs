//! Shapes of names: names that differ only in their numbers have the same shape, such as `user:1001:cart` and
//! `user:2002:cart`.
//!
//! A shape is a name with each digit of its numbers replaced by a mark for the kind of number. Names of the same shape have the
//! same pattern, agree on having a hash tag, and break the same rules about names, so one cache entry answers for all of them.
//! It is computed eight bytes at a time, without classifying the name. Digits whose values matter are kept:
//!
//! ```text
//! sha256  h5  v2         a number beside a letter, too short to be an id: it stays in the pattern
//! x-2026-01-01  T1230Z   a year between marks, a time: the segment from there on
//! 20260101  2026-01-01   a date, or a part of an IP address: other marks than plain numbers
//! ```
//!
//! A segment that is an id of letters and digits, such as a UUID or a token, is replaced by a mark for its class (`ids`). If tests
//! count some of its bytes, the shape is [counted](Shape::is_counted): its names have to be counted one by one.
//!
//! Names with bytes beyond ASCII, and long names, have no shape.

mod ids;
mod ipv4;
mod known;
mod outline;
mod tokens;

use super::block::{BLOCK, Block, each_block};
use super::classify::{self, GLUED, SegmentClass};
use super::segment::Separators;
use super::word::{FACTOR, HIGH, ONES, WORD};
use ids::{IdMarker, NameBits};
use known::{IdSpan, KnownIds};

pub use ids::IdByte;
pub use outline::Outline;

/// Longest name with a shape: bitmaps have one bit for each byte.
pub const MAX_LEN: usize = 64;

const WORDS: usize = MAX_LEN / WORD;
const BLOCKS: usize = MAX_LEN / BLOCK;

// Marks in place of digits: bytes above 0x7F, which no ASCII name contains.

const NUMBER: u64 = ONES * 0x80;
const DATE: u64 = ONES * 0x81;
const OCTET: u64 = ONES * 0x82;

/// Dots between numbers from which on they may make an IP address.
const DOTS: u32 = 3;

/// Shape of one name.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    /// The name with its marks, eight bytes a word, padded with zeros to the end of its last block.
    words: [u64; WORDS],
    length: usize,
    /// Hash of words and length.
    hash: u64,
    /// Bitmap of the first digits of numbers that are no date, or the year of one, but would be with other values.
    dates: u64,
    /// True if all marks are those of plain numbers, and would be in any name that differs only in numbers unlike
    /// dates.
    is_plain: bool,
    /// Ids and dates, if all other marks are those of plain numbers.
    ids: Option<KnownIds>,
    /// True if ids have bytes that tests count.
    counted: bool,
}

/// Computes shapes.
#[derive(Debug, Clone)]
pub struct Shaper {
    separators: Separators,
    ids: IdMarker,
}

/// Bitmaps of the digits in a name, by kind of number.
#[derive(Debug, Clone, Copy, Default)]
struct NumberMaps {
    /// Digits of all numbers whose values do not matter.
    all: u64,
    /// Digits of dates.
    dates: u64,
    /// Digits of numbers that an IP address may hold.
    octets: u64,
    /// First digits of numbers as long as a date or a year.
    dateable: u64,
    /// True if there are too few dots for an IP address, and nothing like a time.
    plain: bool,
    /// Texts of the dates; `None` if there are too many.
    known: Option<KnownIds>,
}

impl Shape {
    /// Returns the hash. It has no random seed, so names can be made to collide, which costs cache hits only.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }

    /// Returns true if two shapes are equal.
    #[inline]
    pub fn is(&self, other: &Shape) -> bool {
        // The last word in use is padded with zeros, and words after it are left over from other names.
        let used = used(self.length);
        self.length == other.length && (0..used).all(|at| self.words[at % WORDS] == other.words[at % WORDS])
    }

    /// Returns whether names may have this shape but for their ids: see [`Shaper::fits`].
    pub fn has_known_ids(&self) -> bool {
        self.ids.is_some()
    }

    /// Returns whether names of this shape may differ in what tests count.
    pub fn is_counted(&self) -> bool {
        self.counted
    }

    /// Overwrites the bytes of a bitmap with `mark`.
    #[inline]
    fn put(&mut self, mut bits: u64, mark: u64) {
        for at in 0..used(self.length) {
            let over = bytes_of(bits & 0xFF);
            let word = &mut self.words[at % WORDS];
            *word = (*word & !over) | (mark & over);
            bits >>= WORD;
        }
    }

    /// Overwrites the bytes of a bitmap with [`NUMBER`], and hashes the result on the way.
    #[inline]
    fn put_numbers(&mut self, mut bits: u64) {
        self.hash = self.length as u64;
        for at in 0..used(self.length) {
            let over = bytes_of(bits & 0xFF);
            let word = &mut self.words[at % WORDS];
            *word = (*word & !over) | (NUMBER & over);
            self.hash = (self.hash.rotate_left(23) ^ *word).wrapping_mul(FACTOR);
            bits >>= WORD;
        }
    }

    /// Mixes more into the hash.
    #[inline]
    fn mix(&mut self, more: u64) {
        self.hash = (self.hash ^ more ^ self.hash >> 32).wrapping_mul(FACTOR);
    }
}

/// Returns the blocks of a name with their places.
#[inline]
fn blocks(words: &[u64; WORDS], length: usize) -> impl Iterator<Item = (usize, Block)> {
    let blocks = words.as_chunks().0.iter().take(length.div_ceil(BLOCK));
    blocks.enumerate().map(|(number, [first, last])| (number * BLOCK, Block::new(*first, *last)))
}

/// Returns the number of words in a name of this length.
#[inline]
fn used(length: usize) -> usize {
    length.div_ceil(WORD).min(WORDS)
}

impl Shaper {
    /// Creates a shaper for names with these separators; `bytes` tells for each byte what it means to the tests of a name.
    pub fn new(separators: Separators, bytes: &[IdByte; 256]) -> Self {
        Shaper { ids: IdMarker::new(&separators, bytes), separators }
    }

    /// Writes the shape of `name` into `shape`; returns false if it has none.
    #[inline]
    pub fn shape(&self, name: &[u8], shape: &mut Shape) -> bool {
        if name.len() > MAX_LEN {
            return false;
        }
        shape.length = name.len();
        let words = shape.words.as_chunks_mut::<2>().0;
        let mut seen = NameBits::default();
        each_block(name, |block, place| {
            words[place / BLOCK % BLOCKS] = block.words();
            seen.take(block, place);
        });
        if seen.beyond_ascii != 0 {
            return false;
        }
        let (mut ids, mut digits, mut known, mut counted) = (0, seen.digits, Some(KnownIds::default()), false);
        if seen.may_have_ids() {
            let segments = self.ids.mark(name, &seen, &mut shape.words);
            (ids, digits) = (segments.behind, digits & !segments.whole);
            (known, counted) = (segments.known, segments.counted);
        }
        let numbers = self.numbers(name, digits, known);
        shape.dates = numbers.dateable & !numbers.dates;
        shape.is_plain = numbers.plain && numbers.dates | ids == 0;
        shape.ids = numbers.known.filter(|_| numbers.plain && numbers.dates | ids != 0);
        shape.counted = counted;
        shape.put_numbers(numbers.all | ids);
        for (kind, mark) in [(numbers.dates, DATE), (numbers.octets, OCTET)] {
            if kind != 0 {
                shape.put(kind, mark);
            }
        }
        shape.mix(numbers.dates.wrapping_add(numbers.octets.rotate_left(1)));
        true
    }

    /// Sorts the digits of a name, given as a bitmap, by kind of number. Adds the dates to its `known` ids.
    #[inline]
    fn numbers(&self, name: &[u8], digits: u64, known: Option<KnownIds>) -> NumberMaps {
        let mut numbers = NumberMaps { all: digits, known, ..NumberMaps::default() };
        let (mut left, mut dots, mut timed) = (digits, 0, false);
        while left != 0 {
            // Each run of ones in the bitmap is one number.
            let start = left.trailing_zeros() as usize;
            let length = (left >> start).trailing_ones() as usize;
            let run = ones(length) << start;
            left &= !run;
            let before = start.checked_sub(1).and_then(|at| name.get(at));
            let behind = name.get(start + length);
            let is_letter = |byte: Option<&u8>| byte.is_some_and(u8::is_ascii_alphabetic);
            if length < GLUED && (is_letter(before) || is_letter(behind)) {
                numbers.all &= !run;
                continue;
            }
            let dotted = behind == Some(&b'.') && name.get(start + length + 1).is_some_and(u8::is_ascii_digit);
            dots += u32::from(dotted);
            if matches!(name.get(start), Some(b'1' | b'2')) {
                left &= !self.date(name, start, length, &mut numbers);
            }
            if matches!(length, 4 | 6 | 8 | 10 | 12 | 14) {
                numbers.dateable |= run & run.wrapping_neg() & numbers.all;
                timed |= length == 8 && matches!(behind, Some(b'T' | b't' | b' '));
            }
        }
        numbers.plain = dots < DOTS && !timed;
        if dots >= DOTS {
            numbers.octets = octets(name, numbers.all & !numbers.dates);
        }
        numbers
    }

    /// Classifies a number that may be a year or begin with one. Returns the bitmap of what is decided with it.
    #[inline(never)]
    fn date(&self, name: &[u8], start: usize, length: usize, numbers: &mut NumberMaps) -> u64 {
        let (number, behind) = name.get(start..).and_then(|rest| rest.split_at_checked(length)).unwrap_or_default();
        let goes_on = match number {
            [b'1', b'9', _, _] | [b'2', b'0', _, _] => matches!(behind.first(), Some(b'-' | b'.' | b'/' | b'_')),
            [b'2', b'0', _, _, _, _, _, _] => matches!(behind.first(), Some(b'T' | b't' | b' ')),
            _ => false,
        };
        if goes_on {
            let is_first =
                start.checked_sub(1).and_then(|at| name.get(at)).is_none_or(|&byte| self.separators.contains(byte));
            let segment = behind.iter().position(|&byte| self.separators.contains(byte)).unwrap_or(behind.len());
            let kept = ones(length + segment) << start;
            let text = name.get(start..start + length + segment).unwrap_or_default();
            if is_first && classify::date_prefix(text) == Some(text.len()) {
                // The whole segment is a date: its digits are marked together.
                numbers.add_date(numbers.all & kept, start, text.len());
            } else {
                numbers.all &= !kept;
            }
            return kept;
        }
        if classify::is_date(number) {
            numbers.add_date(ones(length) << start, start, length);
        }
        0
    }
}

impl NumberMaps {
    /// Adds a date, given its digits and its text.
    fn add_date(&mut self, digits: u64, start: usize, length: usize) {
        self.dates |= digits;
        self.known =
            self.known.and_then(|known| known.with_date(digits, IdSpan::new(start, length, SegmentClass::Date)?));
    }
}

/// Returns the bitmap of the numbers that an IP address may hold.
#[cold]
fn octets(name: &[u8], numbers: u64) -> u64 {
    let (mut left, mut octets) = (numbers, 0);
    while left != 0 {
        let start = left.trailing_zeros() as usize;
        let length = (left >> start).trailing_ones() as usize;
        let run = ones(length) << start;
        left &= !run;
        octets |= if is_octet(name.get(start..start + length).unwrap_or_default()) { run } else { 0 };
    }
    octets
}

/// Returns true if a number is one of those between the dots of an IP address.
#[inline]
fn is_octet(number: &[u8]) -> bool {
    matches!(number, [_] | [b'1'..=b'9', _] | [b'1', _, _] | [b'2', b'0'..=b'4', _] | [b'2', b'5', b'0'..=b'5'])
}

/// Returns a word with this many low bits set: at least one, at most all.
#[inline]
fn ones(count: usize) -> u64 {
    u64::MAX >> (MAX_LEN - count.clamp(1, MAX_LEN))
}

/// Expands eight bits to eight bytes of 0x00 or 0xFF: the reverse of [`bits`].
#[inline]
fn bytes_of(bits: u64) -> u64 {
    // The eight bits are copied into every byte, and byte `i` keeps bit `i` only.
    let one_each = (bits * ONES) & 0x8040_2010_0804_0201;
    let set = (((one_each & !HIGH) + !HIGH) | one_each) & HIGH; // the high bit of each byte that is not zero
    (set >> 7) * 0xFF
}

#[cfg(test)]
pub(crate) mod tests;
