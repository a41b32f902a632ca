//! Plain names: names that are their own pattern, such as `user:profile:cart`.
//!
//! A name is plain if it is short ASCII and contains nothing that an id or a hash tag needs: no digit, `@`, brace or
//! control character. It needs no classification, only the positions of its separators. Lower-case letters and
//! separators
//! are recognised eight bytes at a time; any other byte is checked individually.

use super::segment::Separators;
use super::word::{HIGH, ONES, WORD, bits, equal_in, short_word, within};

/// Longest plain name: bitmaps have one bit for each byte.
pub const LONGEST: usize = 64;

/// A plain name.
#[derive(Debug, Clone, Copy)]
pub struct PlainName<'a> {
    bytes: &'a [u8],
    /// Bitmap of separators.
    separators: u64,
    /// Bitmap of bytes that are neither separators nor lower-case letters.
    others: u64,
    segments: u32,
}

impl<'a> PlainName<'a> {
    /// Returns the bytes of the name: ASCII, and not empty.
    #[inline]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the bitmap of separators: bit `i` is set if byte `i` is one.
    #[inline]
    pub fn separators(&self) -> u64 {
        self.separators
    }

    /// Returns the number of its segments; at least one.
    #[inline]
    pub fn segment_count(&self) -> u32 {
        self.segments
    }

    /// Returns its segments, in order.
    pub fn segments(&self) -> impl Iterator<Item = &'a [u8]> + Clone {
        let mut left = Some((self.bytes, self.separators));
        std::iter::from_fn(move || {
            let (bytes, separators) = left?;
            let end = separators.trailing_zeros() as usize;
            // Without a further separator `end` is 64, and no rest is that long.
            left = bytes.get(end + 1..).map(|rest| (rest, separators >> (end % LONGEST) >> 1));
            bytes.get(..end).or(Some(bytes))
        })
    }

    /// Returns where the last segment starts, and whether it has lower-case letters only; `None` if it is the only segment.
    #[inline]
    pub fn last_segment(&self) -> Option<(usize, bool)> {
        let start = u64::BITS - self.separators.leading_zeros();
        let others = self.others.checked_shr(start).unwrap_or_default();
        (start > 0).then_some((start as usize, others == 0))
    }

    /// Returns the last segment.
    #[inline]
    pub fn last(&self) -> &'a [u8] {
        let start = u64::BITS - self.separators.leading_zeros();
        self.bytes.get(start as usize..).unwrap_or_default()
    }

    /// Returns true if a segment is empty.
    #[inline]
    pub fn has_empty_segment(&self) -> bool {
        // A separator comes first (the 1 shifted in), follows another (the shift), or is the last byte.
        let last = 1 << ((self.bytes.len() - 1) % LONGEST);
        self.separators & (self.separators << 1 | 1 | last) != 0
    }

    /// Returns true if all bytes are separators or lower-case letters.
    #[inline]
    pub fn is_lower(&self) -> bool {
        self.others == 0
    }

    /// Returns the bytes that are neither separators nor lower-case letters.
    #[inline]
    pub fn others(&self) -> impl Iterator<Item = u8> {
        let (bytes, mut left) = (self.bytes, self.others);
        std::iter::from_fn(move || {
            let byte = bytes.get(left.trailing_zeros() as usize).copied();
            left &= left.wrapping_sub(1);
            byte
        })
    }
}

/// Recogniser of plain names.
#[derive(Debug, Clone)]
pub struct PlainReader {
    /// The first separator, in every byte of a word.
    separator: u64,
    /// Further separators, likewise.
    more: Vec<u64>,
}

impl PlainReader {
    /// A recogniser of names with these separators.
    pub fn new(separators: &Separators) -> Self {
        let mut all = separators.as_bytes().iter().map(|&byte| u64::from(byte) * ONES);
        let separator = all.next().unwrap_or(u64::from(b':') * ONES); // there is one
        PlainReader { separator, more: all.collect() }
    }

    /// Reads a name; returns `None` if it is not plain: too long, more than `most_segments`, or a byte for which
    /// `tells` returns true, as it may belong to an id. Lower-case letters are not passed to `tells`.
    #[inline(always)] // in the one place where it is needed for every key
    pub fn read<'a>(&self, bytes: &'a [u8], most_segments: u32, tells: impl Fn(u8) -> bool) -> Option<PlainName<'a>> {
        let name = if self.more.is_empty() { self.tell_two_words(bytes) } else { None };
        let name = name.or_else(|| self.tell(bytes))?;
        (name.segments <= most_segments && (name.is_lower() || !name.others().any(tells))).then_some(name)
    }

    /// Fast path for 9 to 16 bytes and a single separator, without a loop; most names have such a length.
    #[inline]
    fn tell_two_words<'a>(&self, bytes: &'a [u8]) -> Option<PlainName<'a>> {
        if bytes.len() <= WORD || bytes.len() > 2 * WORD {
            return None;
        }
        let (first, last) = (u64::from_le_bytes(*bytes.first_chunk()?), u64::from_le_bytes(*bytes.last_chunk()?));
        // The two words overlap. The last one is shifted past the bytes of the first, which leaves zeros after the
        // name.
        let behind = bytes.len().wrapping_neg() % WORD * 8;
        let last = last >> behind;
        let divides = [equal_in(first, self.separator), equal_in(last, self.separator)];
        let other = [HIGH & !(divides[0] | lower_in(first)), HIGH >> behind & !(divides[1] | lower_in(last))];
        let others = if other[0] | other[1] == 0 { 0 } else { bits(other[0]) | bits(other[1]) << WORD };
        let segments = 1 + count(divides.map(|high| high >> 7).iter().sum());
        Some(PlainName { bytes, separators: bits(divides[0]) | bits(divides[1]) << WORD, others, segments })
    }

    /// Reads a name of any length and any separators; returns `None` if it is empty or too long.
    #[inline(never)]
    fn tell<'a>(&self, bytes: &'a [u8]) -> Option<PlainName<'a>> {
        let before = bytes.len().wrapping_sub(1); // the last byte
        if before >= LONGEST {
            return None;
        }
        // Separators by position in a word: at most eight in each byte, so that the sum over the bytes fits in one.
        let mut counts = 0;
        let (mut separators, mut others) = (0, 0);
        let mut take = |word: u64, of_name: u64, place: usize| {
            let divides = self.separators_in(word);
            let other = of_name & !(divides | lower_in(word));
            counts += divides >> 7;
            separators |= bits(divides) << (place % LONGEST);
            if other != 0 {
                others |= bits(other) << (place % LONGEST);
            }
        };
        let mut place = 0;
        for word in bytes.as_chunks().0.iter().take(before / WORD) {
            take(u64::from_le_bytes(*word), HIGH, place);
            place += WORD;
        }
        // One to eight bytes are left; the zeros after the name are no separators, and are masked out of `others`.
        let behind = bytes.len().wrapping_neg() % WORD * 8;
        let last = bytes.last_chunk().map_or_else(|| short_word(bytes), |last| u64::from_le_bytes(*last) >> behind);
        take(last, HIGH >> behind, place);
        Some(PlainName { bytes, separators, others, segments: 1 + count(counts) })
    }

    /// Sets the high bit of each byte that is a separator.
    #[inline]
    fn separators_in(&self, word: u64) -> u64 {
        self.more.iter().fold(equal_in(word, self.separator), |divides, &more| divides | equal_in(word, more))
    }
}

/// Sets the high bit of each byte that is a lower-case letter.
#[inline]
fn lower_in(word: u64) -> u64 {
    // `within` expects ASCII; `!word` drops bytes whose own high bit is set.
    within(word, b'a', b'z') & !word
}

/// Sums all bytes of a word; the sum must be below 256.
#[inline]
fn count(bytes: u64) -> u32 {
    (bytes.wrapping_mul(ONES) >> 56) as u32
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn divides(separators: &str) -> Separators {
        Separators::new(&separators.chars().map(String::from).collect::<Vec<_>>()).unwrap()
    }

    proptest! {
        #[test]
        fn words_are_classified_like_single_bytes(
            name in prop_oneof!["[a-z:/.]{0,70}", "[:/]{0,70}", "[ -~]{0,20}", "\\PC{0,10}"].prop_map(String::into_bytes),
            separators in prop::sample::select(&[":", ":/", "-", "./_"][..]),
        ) {
            let separators = divides(separators);
            let of = |is: &dyn Fn(u8) -> bool| {
                let places = name.iter().enumerate().filter(|(_, byte)| is(**byte));
                places.fold(0u64, |bits, (place, _)| bits | 1 << (place % LONGEST))
            };
            let is_other = |byte: u8| !separators.contains(byte) && !byte.is_ascii_lowercase();
            let read = PlainReader::new(&separators).read(&name, 99, |_| false);
            prop_assert_eq!(read.is_some(), (1..=LONGEST).contains(&name.len()));
            if let Some(read) = read {
                prop_assert_eq!(read.separators(), of(&|byte| separators.contains(byte)));
                prop_assert_eq!(read.others, of(&is_other));
                let segments: Vec<_> = separators.split(&name).collect();
                prop_assert_eq!(read.segment_count() as usize, segments.len());
                prop_assert_eq!(read.segments().collect::<Vec<_>>(), segments.clone());
                let last = segments.last().filter(|_| segments.len() > 1);
                let last = last.map(|last| (name.len() - last.len(), last.iter().all(u8::is_ascii_lowercase)));
                prop_assert_eq!(read.last_segment(), last);
                prop_assert_eq!(Some(read.last()), segments.last().copied());
                prop_assert_eq!(read.has_empty_segment(), segments.iter().any(|segment| segment.is_empty()));
                let others: Vec<u8> = name.iter().copied().filter(|&byte| is_other(byte)).collect();
                prop_assert_eq!(read.others().collect::<Vec<_>>(), others);
            }
        }
    }

    #[test]
    fn names_with_ids_or_too_many_segments_are_not_plain() {
        let reader = PlainReader::new(&divides(":"));
        let read = |name: &str| reader.read(name.as_bytes(), 3, |byte| byte.is_ascii_digit()).is_some();
        assert!(read("a:b:c") && read("A-b") && read(":"));
        assert!(!read("a:b:c:d") && !read("a:1") && !read(""));
    }
}
