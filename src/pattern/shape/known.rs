//! Names that differ from one of a known shape in their ids and dates: bitmaps of a name tell whether its ids are of the same
//! classes.
//!
//! The answer is `false` for what has to be looked at more closely: tokens with a word in them.

use super::ids::{DASHES, IdMarker};
use super::ipv4::is_ipv4;
use super::{Outline, Shape, Shaper, blocks, ones};
use crate::pattern::classify::token::RunBits;
use crate::pattern::classify::{self, SegmentClass};

/// Most ids and dates of a shape that other names are compared with.
const MAX_IDS: usize = 2;

/// Ids and dates of a name.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct KnownIds {
    /// Bitmap of all bytes of the ids.
    whole: u64,
    /// Bitmap of the digits of the dates.
    dates: u64,
    /// True if the ids may have bytes that tests count.
    pub counted: bool,
    spans: [Option<IdSpan>; MAX_IDS],
}

/// Place and class of an id or a date.
#[derive(Debug, Clone, Copy)]
pub(super) struct IdSpan {
    start: u8,
    length: u8,
    class: SegmentClass,
}

/// Bitmaps of the characters of a name.
#[derive(Default)]
struct NameChars {
    digits: u64,
    lower: u64,
    upper: u64,
    /// Letters up to `f`.
    hex: u64,
}

impl IdSpan {
    /// Creates a span; `None` beyond the longest name.
    pub fn new(start: usize, length: usize, class: SegmentClass) -> Option<Self> {
        Some(IdSpan { start: u8::try_from(start).ok()?, length: u8::try_from(length).ok()?, class })
    }

    fn start(self) -> usize {
        usize::from(self.start)
    }

    fn length(self) -> usize {
        usize::from(self.length)
    }
}

impl KnownIds {
    /// Adds an id; returns `None` if there are too many.
    pub fn with(mut self, span: IdSpan) -> Option<Self> {
        self.add(span)?;
        self.whole |= ones(span.length()) << span.start();
        Some(self)
    }

    /// Adds a date with these digits; returns `None` if there are too many.
    pub fn with_date(mut self, digits: u64, span: IdSpan) -> Option<Self> {
        self.add(span)?;
        self.dates |= digits;
        Some(self)
    }

    fn add(&mut self, span: IdSpan) -> Option<()> {
        *self.spans.iter_mut().find(|span| span.is_none())? = Some(span);
        Some(())
    }

    /// Sets whether the ids may have bytes that tests count.
    pub fn counted(self, counted: bool) -> Self {
        KnownIds { counted, ..self }
    }
}

impl Shaper {
    /// Returns true if `name`, whose outline this is, certainly has this shape, with ids of the same classes and dates at the
    /// same places.
    #[inline]
    pub fn fits(&self, shape: &Shape, name: &[u8], outline: &Outline) -> bool {
        let Some(ids) = &shape.ids else { return false };
        if shape.length != outline.length {
            return false;
        }
        let mut differing = 0;
        for ((place, one), (_, other)) in blocks(&shape.words, shape.length).zip(blocks(&outline.words, shape.length)) {
            differing |= one.differs(other) << place;
        }
        let same = differing & !(ids.whole | ids.dates) | ids.dates & !outline.digits == 0;
        same && !shape.may_hold_date(name) && self.ids.hold(name, outline, ids)
    }
}

impl IdMarker {
    /// Returns true if the name certainly has these ids and dates, and no byte of its ids is counted unless one of theirs is.
    fn hold(&self, name: &[u8], outline: &Outline, ids: &KnownIds) -> bool {
        let chars = if ids.whole == 0 { NameChars::default() } else { NameChars::of(outline) };
        let within = |bits: u64| bits & ids.whole;
        let all = RunBits { digits: within(chars.digits), lower: within(chars.lower), upper: within(chars.upper) };
        !all.any_of(self.dividing)
            && (ids.counted || !all.any_of(self.counted))
            && ids.spans.iter().flatten().all(|&span| self.holds(name, &chars, span, ids.counted))
    }

    fn holds(&self, name: &[u8], chars: &NameChars, span: IdSpan, counted: bool) -> bool {
        let Some(id) = name.get(span.start()..span.start() + span.length()) else { return false };
        let run = chars.run(span);
        let hex = run.digits | chars.hex >> span.start();
        let all = ones(span.length());
        let has_both = run.digits != 0 && run.lower | run.upper != 0;
        match span.class {
            SegmentClass::Hex => has_both && hex & all == all,
            SegmentClass::Uuid => {
                let is_dash = |at: usize| id.get(at) == Some(&b'-');
                has_both && (hex | DASHES) & all == all && [8, 13, 18, 23].into_iter().all(is_dash)
            }
            SegmentClass::Token => has_both && self.is_one_token(id, run, hex, counted),
            SegmentClass::Email => self.is_email(id, run, counted),
            SegmentClass::Date => is_date(id),
            SegmentClass::Ip => is_ipv4(id),
            _ => false,
        }
    }

    /// Returns true if an id is an e-mail address.
    fn is_email(&self, id: &[u8], run: RunBits, counted: bool) -> bool {
        let (mut at, mut dot) = (None, None);
        let mut left = ones(id.len()) & !(run.digits | run.lower | run.upper);
        while left != 0 {
            let place = left.trailing_zeros() as usize;
            left &= left - 1;
            let Some(&byte) = id.get(place).filter(|&&byte| self.may_hold(byte, counted)) else { return false };
            match (byte, at) {
                (b'-' | b'_', _) | (b'.' | b'+' | b'%' | b'\'', None) => {}
                (b'@', None) if place > 0 => at = Some(place),
                // Labels of the domain are not empty.
                (b'.', Some(at)) if place > dot.unwrap_or(at) + 1 => dot = Some(place),
                _ => return false,
            }
        }
        let Some(dot) = dot else { return false };
        let (letters, top) = ((run.lower | run.upper) >> dot >> 1, ones(id.len()) >> dot >> 1);
        letters == top && top.count_ones() >= 2
    }
}

/// Returns whether a text with the same outline as a date is one, too.
fn is_date(text: &[u8]) -> bool {
    match text {
        [_, _, _, _, b'0'..=b'9', ..] => classify::is_date(text),
        [b'1', b'9', ..] | [b'2', b'0', ..] => classify::date_prefix(text) == Some(text.len()),
        _ => false,
    }
}

impl NameChars {
    #[inline]
    fn of(outline: &Outline) -> Self {
        let mut chars = NameChars { digits: outline.digits, lower: 0, upper: 0, hex: 0 };
        for (place, block) in blocks(&outline.words, outline.length) {
            chars.lower |= block.within(b'a', b'z') << place;
            chars.upper |= block.within(b'A', b'Z') << place;
            chars.hex |= block.within_letters(b'a', b'f') << place;
        }
        chars
    }

    #[inline]
    fn run(&self, span: IdSpan) -> RunBits {
        let of = |bits: u64| bits >> span.start() & ones(span.length());
        RunBits { digits: of(self.digits), lower: of(self.lower), upper: of(self.upper) }
    }
}
