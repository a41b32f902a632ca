//! Ids of a pattern's keys: a bounded sample that shows whether two patterns are about the same ids.
//!
//! If `user:1:name` and `user:1:age` are attributes of one object, the rest of their names is equal. The **id** of a key is its
//! name without the segment that may be an attribute: the last segment if it is a word (`user:1:name`), otherwise the word in
//! front of the last segment (`member:name:1`), if it is one of those that name attributes. Words with dots between them or a short
//! number at the end (`first.name`, `md5`) come last: a segment behind an attribute is an id. That depends on the name alone, so
//! the sample is a commutative monoid.
//!
//! Like the sample of expiries, it keeps the ids with the lowest hashes. Below the lower of the two highest kept hashes, the
//! samples of two patterns are both complete, so that the ids which they share can be counted there.
//!
//! With each id it keeps when its key expires, since the fields of a hash expire together, and whether the value is one for commands
//! that work on whole strings only. Values are looked at only if their ids enter the sample.

use serde::{Deserialize, Serialize};

use super::bottom_k::{self, BottomK, SampleEntry};
use crate::pattern::classify::MIN_HEX_LEN;
use crate::pattern::plain::PlainName;
use crate::pattern::segment::Separators;
use crate::policy::content::bits::holds_bits;
use crate::policy::content::is_one_of;
use crate::policy::word_set::WordSet;
use crate::record::Record;
use crate::units::Millis;

/// Maximum number of sampled ids.
pub const MAX_IDS: usize = 256;

/// Seed of the hashes.
const SEED: u64 = 0x1319_8a2e_0370_7344;

/// Longest word in bytes.
const MAX_WORD_LEN: usize = 32;

/// Most digits at the end of a word, and most words with dots between them.
const MAX_DIGITS: usize = 2;
const MAX_WORDS: usize = 4;

/// Longest word with a number; tokens are longer.
const MAX_NUMBERED_LEN: usize = 12;

/// Words behind the last dot of hosts and files.
const ENDINGS: [&[u8]; 16] = [
    b"com", b"cn", b"net", b"org", b"io", b"html", b"htm", b"js", b"css", b"json", b"xml", b"png", b"jpg", b"gif",
    b"txt", b"lua",
];

/// Sample of the ids of the keys of a pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IdSample {
    lowest: BottomK<SampledId>,
}

/// Id of a sample, with facts about its key.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct SampledId {
    /// Hash of the ends of the id.
    ends: u32,
    /// Hash of the whole id.
    whole: u32,
    /// Half the second in which the key expires, or [`NEVER`], in the upper 31 bits; in the lowest, whether the value holds bits.
    fate: u32,
}

/// Place of the expiry in [`SampledId::fate`] of keys that never expire.
const NEVER: u32 = u32::MAX >> 1;

/// Factor between the times left of two keys, and seconds on top, up to which they expire together.
const TOGETHER_FACTOR: [i64; 2] = [3, 2];
const TOGETHER_SLACK: i64 = 10;

/// Patterns that are to be compared at a time.
#[derive(Debug, Clone, Copy, Default)]
pub struct Lifetimes {
    /// The time; `None` if it is unknown.
    pub reference: Option<Millis>,
    /// Latest expiry of a key of each pattern.
    pub latest: [Option<Millis>; 2],
}

/// Ids of a pattern compared with those of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedIds {
    /// Ids in the range where both samples are complete.
    pub compared: usize,
    /// Ids that the other pattern has, too.
    pub shared: usize,
    /// Shared ids whose keys expire together, or never.
    pub together: usize,
}

impl SampleEntry for SampledId {
    const LAST: SampledId = SampledId { ends: u32::MAX, whole: u32::MAX, fate: u32::MAX };

    #[inline]
    fn upper(self) -> u32 {
        self.ends
    }
}

impl SampledId {
    fn id(self) -> (u32, u32) {
        (self.ends, self.whole)
    }

    /// Returns when the key expires, in seconds; `None` if never.
    fn expiry(self) -> Option<i64> {
        let half = self.fate >> 1;
        (half != NEVER).then(|| i64::from(half) * 2)
    }

    fn holds_bits(self) -> bool {
        self.fate & 1 == 1
    }

    /// Returns whether the keys of an id expire together: their times left are about the same, or the times by which they expire
    /// before the last of their patterns, as those of keys do that are set together with different times to live.
    fn expires_with(self, other: SampledId, lifetimes: &Lifetimes) -> bool {
        let (Some(own), Some(others)) = (self.expiry(), other.expiry()) else {
            return self.expiry() == other.expiry();
        };
        let Some(now) = lifetimes.reference.map(seconds) else { return true };
        let (own, others) = (own.saturating_sub(now).max(0), others.saturating_sub(now).max(0));
        let [factor, divisor] = TOGETHER_FACTOR;
        let slack = (own.min(others) * (factor - divisor) / divisor).saturating_add(TOGETHER_SLACK);
        let between = match lifetimes.latest.map(|latest| latest.map(seconds)) {
            [Some(own), Some(others)] => own.saturating_sub(others),
            _ => 0,
        };
        let apart = own - others;
        apart.abs() <= slack || apart.saturating_sub(between).abs() <= slack
    }
}

fn seconds(time: Millis) -> i64 {
    time.0.div_euclid(1000)
}

/// Returns when a key expires, as [`SampledId::fate`] of a value that does not hold bits.
fn fate(record: &Record<'_>) -> u32 {
    let half = |at: Millis| u32::try_from(seconds(at).max(0) / 2).map_or(NEVER - 1, |half| half.min(NEVER - 1));
    record.expires_at.map_or(NEVER, half) << 1
}

impl IdSample {
    /// Creates an empty sample of at most `most` ids.
    pub fn new(most: usize) -> Self {
        IdSample { lowest: BottomK::new(most) }
    }

    /// Adds the id of a key. Returns the growth in bytes.
    #[inline(always)] // for nearly every string
    pub fn add(&mut self, id: IdPlace, record: &Record<'_>) -> usize {
        let ends = bottom_k::upper(bottom_k::hash_ends(SEED, id.last_piece(record.key)));
        // Mostly the ends of an id decide that it is not sampled.
        if self.lowest.excludes(ends) { 0 } else { self.offer(ends, id, record) }
    }

    #[inline(never)]
    fn offer(&mut self, ends: u32, id: IdPlace, record: &Record<'_>) -> usize {
        let [before, after] = id.pieces(record.key);
        let whole = bottom_k::upper(bottom_k::hash(bottom_k::hash(SEED, before), after));
        let id = SampledId { ends, whole, fate: fate(record) };
        // Many keys may have one id. The value is looked at last, and only raises the fate.
        if !self.lowest.takes(id) {
            return 0;
        }
        self.lowest.offer(SampledId { fate: id.fate | u32::from(holds_bits(record)), ..id })
    }

    /// Merges another sample; the smaller limit of the two applies.
    pub fn merge(&mut self, other: IdSample) {
        self.lowest.merge(other.lowest);
    }

    /// Lowers the limit to `most` ids.
    pub fn keep(&mut self, most: usize) {
        self.lowest.keep(most);
    }

    /// Returns the bytes on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.lowest.heap_bytes()
    }

    /// Returns whether some ids may be missing.
    pub fn is_full(&self) -> bool {
        self.lowest.highest().is_some()
    }

    /// Returns whether half of the values or more hold bits, which no command can read from the field of a hash.
    pub fn hold_bits(&self) -> bool {
        let with_bits = self.lowest.entries().filter(|id| id.holds_bits()).count();
        with_bits > 0 && with_bits * 2 >= self.lowest.len()
    }

    /// Counts the ids that another pattern has, too.
    pub fn shared_with(&self, other: &IdSample, lifetimes: &Lifetimes) -> SharedIds {
        let bound = [self, other].into_iter().filter_map(|sample| sample.lowest.highest()).min();
        let bound = bound.map_or(SampledId::LAST.id(), SampledId::id);
        let (own, others) = (self.up_to(bound), other.up_to(bound));
        let (mut shared, mut together) = (0, 0);
        for id in &own {
            let Ok(at) = others.binary_search_by_key(&id.id(), |other| other.id()) else { continue };
            shared += 1;
            together += usize::from(others.get(at).is_some_and(|other| id.expires_with(*other, lifetimes)));
        }
        SharedIds { compared: own.len(), shared, together }
    }

    /// Returns the hashes of all ids, ascending.
    #[cfg(test)]
    pub fn sorted(&self) -> Vec<(u32, u32)> {
        self.up_to(SampledId::LAST.id()).into_iter().map(SampledId::id).collect()
    }

    /// Returns the different ids up to a bound, ascending.
    fn up_to(&self, bound: (u32, u32)) -> Vec<SampledId> {
        let mut entries: Vec<SampledId> = self.lowest.entries().filter(|entry| entry.id() <= bound).collect();
        entries.sort_unstable();
        entries.dedup_by_key(|entry| entry.id());
        entries
    }
}

/// Place of the id in a name: two pieces, the second of which may be empty. Names of one shape share it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IdPlace {
    /// End of the first piece, which begins the name.
    first: u32,
    /// The second piece.
    second: (u32, u32),
}

impl IdPlace {
    /// Creates a place; `None` beyond the longest possible name.
    fn new(first: usize, second: (usize, usize)) -> Option<Self> {
        let number = |place: usize| u32::try_from(place).ok();
        Some(IdPlace { first: number(first)?, second: (number(second.0)?, number(second.1)?) })
    }

    /// Returns the pieces of the id of a name; empty ones beyond its end.
    pub fn pieces(self, name: &[u8]) -> [&[u8]; 2] {
        [self.before(name), self.after(name)]
    }

    /// Returns the last piece of the id of a name that is not empty.
    #[inline]
    pub fn last_piece(self, name: &[u8]) -> &[u8] {
        let (start, end) = self.second;
        if start == end { self.before(name) } else { self.after(name) }
    }

    #[inline]
    fn before(self, name: &[u8]) -> &[u8] {
        name.get(..self.first as usize).unwrap_or_default()
    }

    #[inline]
    fn after(self, name: &[u8]) -> &[u8] {
        let (start, end) = self.second;
        name.get(start as usize..end as usize).unwrap_or_default()
    }
}

/// Knowledge of the place of the id in a name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KnownId {
    /// Not determined yet.
    #[default]
    Unknown,
    /// The name has no id.
    Nowhere,
    /// The name has one.
    At(IdPlace),
}

/// Finds ids in names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdFinder {
    /// Classes of each byte: [`DIVIDES`], [`WORD`].
    classes: Box<[u8; 256]>,
    /// Words that may name an attribute before an id.
    attributes: WordSet,
}

/// Class of separators.
const DIVIDES: u8 = 1;

/// Class of bytes that occur in words: letters, `_`, `-` and those beyond ASCII.
const WORD: u8 = 2;

impl IdFinder {
    /// Creates a finder for names with these separators. Before an id, only `attributes` may name attributes.
    pub fn new(separators: &Separators, attributes: WordSet) -> Self {
        let mut classes = Box::new([0; 256]);
        for byte in 0..=u8::MAX {
            let is_word = byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'-') || !byte.is_ascii();
            let class = if is_word { WORD } else { 0 };
            classes[usize::from(byte)] = if separators.contains(byte) { class | DIVIDES } else { class };
        }
        IdFinder { classes, attributes }
    }

    /// Returns where the id of a name is.
    pub fn look(&self, name: &[u8]) -> KnownId {
        self.place(name).map_or(KnownId::Nowhere, KnownId::At)
    }

    /// Like [`IdFinder::look`], for a plain name: mostly the bitmaps of its bytes tell.
    #[inline]
    pub fn look_plain(&self, name: &PlainName<'_>) -> KnownId {
        let Some((start, is_lower)) = name.last_segment() else { return KnownId::Nowhere };
        let last = name.bytes().get(start..).unwrap_or_default();
        if is_lower && (1..=MAX_WORD_LEN).contains(&last.len()) && !names_type(last) {
            return IdPlace::new(start - 1, (0, 0)).map_or(KnownId::Nowhere, KnownId::At);
        }
        self.look(name.bytes())
    }

    /// Returns the place of the id: the name without the segment that may be an attribute. `None` if no segment may.
    #[inline(never)] // few names come here: most places are known, or found from bitmaps
    pub fn place(&self, name: &[u8]) -> Option<IdPlace> {
        let (mut name, mut last) = (name, self.last_segment(name)?);
        if last.is_word && names_type(&name[last.start..]) {
            name = &name[..last.start - 1];
            last = self.last_segment(name)?;
        }
        if last.is_word {
            return IdPlace::new(last.start - 1, (0, 0));
        }
        let rest = &name[..last.start - 1];
        let above = self.last_segment(rest);
        if let Some(above) = above.filter(|above| above.is_word && self.attributes.ends(&rest[above.start..])) {
            return IdPlace::new(above.start - 1, (rest.len(), name.len()));
        }
        if self.is_compound(&name[last.start..]) { IdPlace::new(last.start - 1, (0, 0)) } else { None }
    }

    /// Returns whether a segment has words joined by dots, or a word with a number: `first.name`, `sha1`, `addr12`.
    ///
    /// The number has fewer digits than the word has letters, two at most, and no file or host is meant.
    fn is_compound(&self, segment: &[u8]) -> bool {
        if segment.len() > MAX_WORD_LEN || !segment.first().is_some_and(|&byte| self.is_of_word(byte)) {
            return false;
        }
        let mut words = segment.split(|byte| *byte == b'.');
        let is_hex = |word: &[u8]| word.iter().all(u8::is_ascii_hexdigit);
        let is_word = |word: &[u8]| {
            let digits = word.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let letters = word.get(..word.len() - digits).unwrap_or_default();
            // Names of one shape differ in ids, which have digits: a word is shorter, or has a letter that they have not.
            let is_short = word.len() <= MAX_NUMBERED_LEN && !(word.len() >= MIN_HEX_LEN && is_hex(word));
            let joins = digits == 0 || is_short && letters.last().is_some_and(u8::is_ascii_alphabetic);
            joins
                && digits <= MAX_DIGITS
                && letters.len() > digits.max(1)
                && letters.iter().all(|&byte| self.is_of_word(byte))
        };
        let last = segment.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        let is_place = last.len() < segment.len() && is_one_of(last, &ENDINGS);
        !is_place && words.clone().count() <= MAX_WORDS && words.all(is_word)
    }

    fn is_of_word(&self, byte: u8) -> bool {
        self.classes[usize::from(byte)] & WORD != 0
    }

    /// Returns the last segment of a name; `None` if it is the only one.
    #[inline]
    fn last_segment(&self, name: &[u8]) -> Option<LastSegment> {
        let mut all = WORD;
        for (place, &byte) in name.iter().enumerate().rev() {
            let class = self.classes[usize::from(byte)];
            if class & DIVIDES != 0 {
                let length = name.len() - place - 1;
                let is_word = all & WORD != 0 && (1..=MAX_WORD_LEN).contains(&length);
                return Some(LastSegment { start: place + 1, is_word });
            }
            all &= class;
        }
        None
    }
}

/// Returns whether a last segment names the type of a string, as some standards ask for, and is no attribute.
pub fn names_type(segment: &[u8]) -> bool {
    segment.eq_ignore_ascii_case(b"string") || segment.eq_ignore_ascii_case(b"str")
}

/// Last segment of a name.
struct LastSegment {
    start: usize,
    /// True if it may name an attribute: letters, `_` and `-`, not too long.
    is_word: bool,
}

#[cfg(test)]
mod tests;
