//! Ids of a pattern's keys: a bounded sample that shows whether two patterns are about the same ids.
//!
//! If `user:1:name` and `user:1:age` are attributes of one object, the rest of their names is equal. The **id** of a key is its
//! name without the segment that may be an attribute: the last segment if it is a word (`user:1:name`), otherwise the word in
//! front of the last segment (`member:name:1`), if it is one of those that name attributes. That depends on the name alone, so
//! the sample is a commutative monoid.
//!
//! Like the sample of expiries, it keeps the ids with the lowest hashes. Below the lower of the two highest kept hashes, the
//! samples of two patterns are both complete, so that the ids which they share can be counted there.

use serde::{Deserialize, Serialize};

use super::bottom_k::{self, BottomK};
use crate::pattern::plain::PlainName;
use crate::pattern::segment::Separators;
use crate::policy::word_set::WordSet;

/// Maximum number of sampled ids.
pub const MOST_IDS: usize = 64;

/// Seed of the hashes.
const SEED: u64 = 0x1319_8a2e_0370_7344;

/// Longest word in bytes.
const LONGEST_WORD: usize = 32;

/// Sample of the ids of the keys of a pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct IdSample {
    /// Entries: hash of the ends of an id in the upper half, of the whole id in the lower.
    lowest: BottomK,
}

/// Ids of a pattern compared with those of another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SharedIds {
    /// Ids in the range where both samples are complete.
    pub compared: usize,
    /// Ids that the other pattern has, too.
    pub shared: usize,
}

impl IdSample {
    /// Creates an empty sample of at most `most` ids.
    pub fn new(most: usize) -> Self {
        IdSample { lowest: BottomK::new(most) }
    }

    /// Adds the id of a key. Returns the growth in bytes.
    #[inline(always)] // for nearly every string
    pub fn add(&mut self, id: IdPlace, name: &[u8]) -> usize {
        let ends = bottom_k::upper(bottom_k::hash_ends(SEED, id.last_piece(name)));
        // Mostly the ends of an id decide that it is not sampled.
        if self.lowest.excludes(ends) { 0 } else { self.offer(ends, id.pieces(name)) }
    }

    #[inline(never)]
    fn offer(&mut self, ends: u32, [before, after]: [&[u8]; 2]) -> usize {
        let whole = bottom_k::upper(bottom_k::hash(bottom_k::hash(SEED, before), after));
        self.lowest.offer(u64::from(ends) << 32 | u64::from(whole))
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

    /// Counts the ids that another pattern has, too.
    pub fn shared_with(&self, other: &IdSample) -> SharedIds {
        let bound = self.lowest.highest().unwrap_or(u64::MAX).min(other.lowest.highest().unwrap_or(u64::MAX));
        let (own, others) = (self.up_to(bound), other.up_to(bound));
        let shared = own.iter().filter(|id| others.binary_search(id).is_ok()).count();
        SharedIds { compared: own.len(), shared }
    }

    /// Returns all entries, ascending.
    #[cfg(test)]
    pub fn sorted(&self) -> Vec<u64> {
        self.up_to(u64::MAX)
    }

    /// Returns the different entries up to a bound, ascending.
    fn up_to(&self, bound: u64) -> Vec<u64> {
        let mut entries: Vec<u64> = self.lowest.entries().filter(|&entry| entry <= bound).collect();
        entries.sort_unstable();
        entries.dedup();
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
        if is_lower && (1..=LONGEST_WORD).contains(&last.len()) && !names_type(last) {
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
        let above = self.last_segment(rest)?;
        let is_attribute = above.is_word && self.attributes.ends(&rest[above.start..]);
        if is_attribute { IdPlace::new(above.start - 1, (rest.len(), name.len())) } else { None }
    }

    /// Returns the last segment of a name; `None` if it is the only one.
    #[inline]
    fn last_segment(&self, name: &[u8]) -> Option<LastSegment> {
        let mut all = WORD;
        for (place, &byte) in name.iter().enumerate().rev() {
            let class = self.classes[usize::from(byte)];
            if class & DIVIDES != 0 {
                let length = name.len() - place - 1;
                let is_word = all & WORD != 0 && (1..=LONGEST_WORD).contains(&length);
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
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::pattern::plain::PlainReader;

    fn id(name: &str) -> Option<String> {
        let finder = IdFinder::new(&Separators::default(), WordSet::new(["name", "age"]));
        let pieces = finder.place(name.as_bytes())?.pieces(name.as_bytes());
        Some(String::from_utf8(pieces.join(&b"|"[..])).unwrap())
    }

    fn sample(most: usize, ids: impl IntoIterator<Item = u32>) -> IdSample {
        let mut sample = IdSample::new(most);
        ids.into_iter().for_each(|id| {
            let name = format!("user:{id}");
            _ = sample.add(IdPlace::new(name.len(), (0, 0)).unwrap(), name.as_bytes());
        });
        sample
    }

    fn entries(sample: &IdSample) -> Vec<u64> {
        let mut entries: Vec<u64> = sample.lowest.entries().collect();
        entries.sort_unstable();
        entries
    }

    #[test]
    fn the_id_is_the_name_without_the_word_at_or_before_its_end() {
        let of = |name| id(name).unwrap();
        assert_eq!((of("user:1:name"), of("user:1:last_login")), ("user:1|".into(), "user:1|".into()));
        assert_eq!((of("member:name:1"), of("a:b:age:{7}")), ("member|:1".into(), "a:b|:{7}".into()));
        assert_eq!(of("user:1:\u{59d3}\u{540d}"), "user:1|");
        assert_eq!((of("user:1:name:string"), of("member:name:1:Str")), ("user:1|".into(), "member|:1".into()));
        for name in [
            "",
            "a",
            "12",
            "a:1",
            "1:2:3",
            "user:1:",
            "user::1",
            "name:1",
            "shop:goods:1",
            "a:1:string",
            "string",
            &format!("a:1:{}", "x".repeat(33)),
        ] {
            assert_eq!(id(name), None, "{name}");
        }
    }

    #[test]
    fn shared_ids_are_counted_where_both_samples_are_complete() {
        let few = sample(MOST_IDS, 0..50);
        assert_eq!(few.shared_with(&sample(MOST_IDS, 25..60)), SharedIds { compared: 50, shared: 25 });
        assert_eq!(few.shared_with(&sample(MOST_IDS, 100..150)).shared, 0);
        let same = sample(MOST_IDS, 0..10_000).shared_with(&sample(MOST_IDS, 0..10_000));
        assert_eq!(same, SharedIds { compared: MOST_IDS, shared: MOST_IDS });
        let half = sample(MOST_IDS, 0..10_000).shared_with(&sample(MOST_IDS, 5_000..15_000));
        assert!(half.compared >= 48 && (half.compared / 4..half.compared * 3 / 4).contains(&half.shared), "{half:?}");
    }

    #[test]
    fn ids_with_equal_ends_stay_apart() {
        let ending = |tenant: u32| format!("tenant{tenant}:account1");
        let mut one = IdSample::new(8);
        (0..100).for_each(|tenant| {
            let name = ending(tenant);
            _ = one.add(IdPlace::new(name.len(), (0, 0)).unwrap(), name.as_bytes());
        });
        assert_eq!(one.up_to(u64::MAX).len(), 8);
    }

    proptest! {
        #[test]
        fn plain_names_are_found_from_their_bitmaps(name in "[a-zA-Z:_ -]{0,9}(:(name|str|String|[a-z]{30,35}|[a-z]{0,6}))?") {
            let separators = Separators::default();
            let finder = IdFinder::new(&separators, WordSet::new(["name", "a", "b"]));
            if let Some(plain) = PlainReader::new(&separators).read(name.as_bytes(), 99, |_| false) {
                prop_assert_eq!(finder.look_plain(&plain), finder.look(name.as_bytes()));
            }
        }

        #[test]
        fn splitting_and_order_do_not_matter(ids in prop::collection::vec(0u32..60, 0..100), cut in 0usize..100, most in 1usize..40) {
            let whole = sample(most, ids.iter().copied());
            let (left, right) = ids.split_at(cut.min(ids.len()));
            for (one, other) in [(left, right), (right, left)] {
                let mut merged = sample(most, one.iter().copied());
                merged.merge(sample(MOST_IDS, other.iter().copied()));
                prop_assert_eq!(entries(&merged), entries(&whole));
                let mut later = sample(MOST_IDS, one.iter().chain(other).copied());
                later.keep(most);
                prop_assert_eq!(entries(&later), entries(&whole));
            }
        }
    }
}
