//! Ids as parts of a shape: a segment that is a UUID, a hexadecimal number, a token, an e-mail or an IPv4 address.
//!
//! Bitmaps of the bytes of a name decide what a segment is, without a loop over its bytes. Of an id, the shape holds class and
//! length. Segments that they leave undecided are no ids here: such names have a shape of their own and are classified each
//! time.

use std::ops::Range;

use super::ipv4::is_ipv4;
use super::known::{IdSpan, KnownIds};
use super::{MAX_LEN, WORDS, blocks, ones};
use crate::pattern::block::Block;
use crate::pattern::classify::token::RunBits;
use crate::pattern::classify::{MIN_HEX_LEN, SegmentClass};
use crate::pattern::segment::Separators;
use crate::pattern::word::WORD;

/// Mark in place of the first byte of an id, plus its class; the others have the mark of numbers.
const FIRST_MARK: u8 = 0x90;

/// Mark in place of the first byte of an id with bytes that name tests count, plus its class.
const FIRST_MARK_COUNTED: u8 = 0xA0;

const UUID: usize = 36;

/// Places of the dashes in a UUID.
pub(super) const DASHES: u64 = 1 << 8 | 1 << 13 | 1 << 18 | 1 << 23;

/// Bitmaps that tell whether a name may have ids.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct NameBits {
    pub digits: u64,
    letters: u64,
    /// Each `@`.
    at: u64,
    dots: u64,
    pub beyond_ascii: u64,
}

impl NameBits {
    /// Adds the block at `place`.
    #[inline(always)]
    pub fn take(&mut self, block: Block, place: usize) {
        let place = place % MAX_LEN;
        self.digits |= block.within(b'0', b'9') << place;
        self.letters |= block.within_letters(b'a', b'z') << place;
        self.at |= block.equal(b'@') << place;
        self.dots |= block.equal(b'.') << place;
        self.beyond_ascii |= block.beyond_ascii() << place;
    }

    /// Returns a byte of each segment that may be an id: letters beside digits, `@`, dots between digits.
    #[inline]
    fn telling(&self) -> u64 {
        let mixed = self.digits & (self.letters << 1 | self.letters >> 1);
        mixed | self.at | (self.dots & self.digits << 1 & self.digits >> 1)
    }

    #[inline]
    pub fn may_have_ids(&self) -> bool {
        self.telling() != 0
    }
}

/// Bitmaps of the segments that are ids.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct IdSegments {
    pub whole: u64,
    /// Without the first byte of each.
    pub behind: u64,
    /// True if one of them has bytes that tests count.
    pub counted: bool,
    /// The ids one by one, if no other segment may be an id.
    pub known: Option<KnownIds>,
}

/// Meaning of a byte of an id to the tests of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdByte {
    /// Nothing: another such byte may take its place.
    Free,
    /// It is counted: names that differ in such bytes are alike but for what is counted.
    Counted,
    /// It divides the name: no id holds it.
    Dividing,
}

/// Recogniser of ids in names.
#[derive(Debug, Clone)]
pub(super) struct IdMarker {
    separators: Vec<u8>,
    bytes: [IdByte; 256],
    /// Bitmaps of the letters and digits some of which are counted: all or none.
    pub counted: RunBits,
    /// Bitmaps of the letters and digits some of which no id may hold: all or none.
    pub dividing: RunBits,
}

/// A segment that is an id.
#[derive(Debug, Clone, Copy)]
struct Id {
    class: SegmentClass,
    /// True if tests count some of its bytes.
    counted: bool,
}

/// A segment of a name, with the bitmaps of the name.
struct Segment<'a> {
    name: &'a [u8],
    range: Range<usize>,
    /// Bitmap of its bytes.
    all: u64,
    seen: &'a NameBits,
    letters: Letters,
}

#[derive(Clone, Copy)]
struct Letters {
    lower: u64,
    /// Letters up to `f`.
    hex: u64,
}

impl IdMarker {
    pub fn new(separators: &Separators, bytes: &[IdByte; 256]) -> Self {
        // No id holds a separator, whatever the rules make of it: tokens may have `/`, `-` and `_`.
        let mut bytes = *bytes;
        separators.as_bytes().iter().for_each(|&byte| bytes[usize::from(byte)] = IdByte::Dividing);
        let any = |kind: IdByte| {
            let of =
                |mut range: Range<u8>| if range.any(|byte| bytes[usize::from(byte)] == kind) { u64::MAX } else { 0 };
            RunBits { digits: of(b'0'..b'9' + 1), lower: of(b'a'..b'z' + 1), upper: of(b'A'..b'Z' + 1) }
        };
        let (counted, dividing) = (any(IdByte::Counted), any(IdByte::Dividing));
        IdMarker { separators: separators.as_bytes().to_vec(), bytes, counted, dividing }
    }

    /// Returns whether an id may hold a byte, if it may hold bytes that are counted or not.
    pub fn may_hold(&self, byte: u8, counted: bool) -> bool {
        match self.bytes[usize::from(byte)] {
            IdByte::Free => true,
            IdByte::Counted => counted,
            IdByte::Dividing => false,
        }
    }

    /// Replaces the first byte of each id by the mark of its class, and returns the ids.
    pub fn mark(&self, name: &[u8], seen: &NameBits, words: &mut [u64; WORDS]) -> IdSegments {
        let (mut separators, mut letters) = (0, Letters { lower: 0, hex: 0 });
        for (place, block) in blocks(words, name.len()) {
            separators |= self.separators.iter().fold(0, |all, &one| all | block.equal(one)) << place;
            letters.lower |= block.within(b'a', b'z') << place;
            letters.hex |= block.within_letters(b'a', b'f') << place;
        }
        let (mut left, mut ids) = (seen.telling() & !separators, IdSegments::default());
        let mut known = Some(KnownIds::default());
        while left != 0 {
            let place = left.trailing_zeros();
            let start = (u64::BITS - (separators & !(u64::MAX << place)).leading_zeros()) as usize;
            let behind = place as usize + (separators >> place).trailing_zeros() as usize;
            let range = start..behind.min(name.len());
            let all = ones(range.len()) << start;
            left &= !all;
            let segment = Segment { name, range, all, seen, letters };
            let id = self.id(&segment);
            known =
                known.zip(id).and_then(|(known, id)| known.with(IdSpan::new(start, segment.range.len(), id.class)?));
            if let Some(Id { class, counted }) = id {
                let mark = class as u8 | if counted { FIRST_MARK_COUNTED } else { FIRST_MARK };
                let (word, shift) = (&mut words[start / WORD % WORDS], start % WORD * 8);
                *word = (*word & !(0xFF << shift)) | (u64::from(mark) << shift);
                ids.whole |= all;
                ids.behind |= all & !(1 << start);
                ids.counted |= counted;
            }
        }
        ids.known = known.filter(|_| ids.whole != 0).map(|known| known.counted(ids.counted));
        ids
    }

    /// Returns what a segment is if it is an id whose characters are at most counted by rules about names.
    #[inline]
    fn id(&self, segment: &Segment<'_>) -> Option<Id> {
        let run = segment.bits();
        let others = segment.all & !(run.digits | run.lower | run.upper);
        if run.lower | run.upper == 0 {
            // All addresses of one length have as many digits and dots, which is all that rules count.
            return segment.is_ipv4(others).then_some(Id { class: SegmentClass::Ip, counted: false });
        }
        // Rules about the beginning of a name examine its first segment.
        if run.any_of(self.dividing) || segment.range.start == 0 {
            return None;
        }
        let counted = run.any_of(self.counted);
        let of = |class| Some(Id { class, counted });
        let length = segment.range.len();
        let is_hex = (run.digits | segment.letters.hex | others) & segment.all == segment.all && run.digits != 0;
        if is_hex && others == 0 && length >= MIN_HEX_LEN {
            return of(SegmentClass::Hex);
        }
        if is_hex && length == UUID && others == DASHES << segment.range.start {
            let all_dashes = segment.each(others).all(|(_, byte)| byte == b'-');
            return if all_dashes { of(SegmentClass::Uuid) } else { None };
        }
        if !segment.each(others).all(|(_, byte)| self.may_hold(byte, true)) {
            return None;
        }
        let class = if segment.seen.at & segment.all != 0 {
            segment.is_email(others).then_some(SegmentClass::Email)
        } else {
            self.is_token(segment).then_some(SegmentClass::Token)
        };
        let counted = counted || !segment.each(others).all(|(_, byte)| self.may_hold(byte, false));
        class.map(|class| Id { class, counted })
    }

    /// Returns true if the whole segment is certainly a token.
    fn is_token(&self, segment: &Segment<'_>) -> bool {
        let of = |bits: u64| bits >> segment.range.start & ones(segment.range.len());
        let RunBits { digits, lower, upper } = segment.bits();
        let bits = RunBits { digits: of(digits), lower: of(lower), upper: of(upper) };
        let bytes = segment.name.get(segment.range.clone()).unwrap_or_default();
        self.is_one_token(bytes, bits, of(segment.letters.hex), true)
    }
}

impl Segment<'_> {
    fn bits(&self) -> RunBits {
        let NameBits { digits, letters, .. } = *self.seen;
        let lower = self.letters.lower & self.all;
        RunBits { digits: digits & self.all, lower, upper: letters & self.all & !lower }
    }

    /// Returns the bytes of a bitmap with their places.
    fn each(&self, mut bitmap: u64) -> impl Iterator<Item = (usize, u8)> {
        std::iter::from_fn(move || {
            let place = bitmap.trailing_zeros() as usize;
            let byte = self.name.get(place).filter(|_| bitmap != 0)?;
            bitmap &= bitmap - 1;
            Some((place, *byte))
        })
    }

    /// Returns true for four numbers with dots between.
    fn is_ipv4(&self, others: u64) -> bool {
        let segment = self.name.get(self.range.clone()).unwrap_or_default();
        others == self.seen.dots & self.all && is_ipv4(segment)
    }

    /// Returns true for an e-mail address. `others` are its bytes that are neither letters nor digits.
    fn is_email(&self, others: u64) -> bool {
        let at = self.seen.at & self.all;
        let behind = self.all & !at & !at.wrapping_sub(1);
        let dots = self.seen.dots & behind;
        if !at.is_power_of_two() || at == 1 << self.range.start || dots == 0 {
            return false;
        }
        let last = u64::BITS - dots.leading_zeros();
        let top = self.all.checked_shr(last).unwrap_or_default();
        let letters = self.seen.letters.checked_shr(last).unwrap_or_default();
        top & !letters == 0
            && top.count_ones() >= 2
            && dots & (dots | at) << 1 == 0
            && self.each(others & !at & !dots).all(|(place, byte)| match byte {
                b'-' | b'_' => true,
                b'.' | b'+' | b'%' | b'\'' => behind >> place & 1 == 0,
                _ => false,
            })
    }
}
