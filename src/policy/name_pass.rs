//! Evaluation of all name tests in one pass over the bytes of a name, instead of one pass per rule.
//!
//! The rules themselves define what is right; this is their fast path, and a property test compares the two.
//! A table gives each byte its classes; their union over the name, the number of separators and the pairs of neighbouring
//! separators answer everything for plain names. Only names with bytes beyond ASCII, with braces or without a
//! letter at the start are looked at again.

mod count_limits;
mod scan;

use count_limits::CountLimits;
pub use count_limits::Violations;
use scan::{BRACE, CLOSE, HIGH, MAX_COUNTED_LEN, NameScan, OUTSIDE, SEPARATOR, SPECIAL, UPPER, WORD, class_of, count};

use super::checks::MAX_KEY_CHECKS;
use super::rule::{NameTest, Violation};
use super::rules::key::lowercase::upper_case_letters;
use super::rules::key::special_chars::is_special;
use super::rules::key::type_suffix::last_segment;
use super::rules::key::{empty_segment, hash_tag, length, prefix};
use super::type_words::{KindSet, TypeWords};
use crate::pattern::classify::MAX_SEGMENTS;
use crate::pattern::name::KeyName;
use crate::pattern::plain::PlainName;
use crate::pattern::segment::Separators;
use crate::pattern::shape::IdByte;
use crate::pattern::slot::untagged;
use crate::record::Kind;

/// Enabled name tests with the bits that each sets; zero for disabled ones.
#[derive(Debug)]
pub struct NamePass {
    separators: Separators,
    /// Classes of every byte.
    classes: [u8; 256],
    /// True if any test is enabled.
    any: bool,
    empty: u64,
    /// Segments and words must not be empty.
    empty_words: u64,
    /// No segment must be a placeholder of a format or a template.
    unfilled: u64,
    prefix: u64,
    special: u64,
    upper: u64,
    /// First byte must be a letter; with `tagged_start`, the brace of a tag may precede it.
    tagged_start: u64,
    start: u64,
    outside: u64,
    bad_tag: u64,
    lengths: CountLimits,
    levels: CountLimits,
    /// Words of types, one of which has to be the last segment, and the bit of that rule.
    typed: Option<(TypeWords, u64)>,
    /// Precomputed failures of lower-case names without empty segments, by number of segments; without length tests.
    plain: [u64; MAX_SEGMENTS + 1],
    /// Smallest length limit: names up to it fail no length test.
    longest: u64,
    /// True if separators and lower-case letters fail no test by themselves; false until [`NamePass::settle`].
    suits_plain: bool,
}

/// Result of a pass over a name.
///
/// Names that differ only in the values of digits share it if [`NamePass::ignores_digit_values`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NameFailures {
    /// Bits of failed tests.
    pub bits: u64,
    /// Bits of tests whose measured value is in `counts`.
    pub counted: u64,
    /// Four counts of 16 bits each, laid out as in [`count`].
    counts: u64,
    /// Length of the name in characters, or in bytes if it is within all limits.
    length: u64,
    /// Number of segments.
    segments: u32,
    /// True if a segment or word is empty: whether it is the gap of an address depends on the digits beside it.
    pub has_empty: bool,
    /// Types that the last segment should have named.
    unnamed: KindSet,
}

impl NameFailures {
    /// Returns whether the name fails no test, whatever the type of the key is.
    #[inline]
    pub fn is_none(&self) -> bool {
        self.bits == 0 && self.unnamed == 0
    }
}

impl NamePass {
    /// Creates a pass without tests for names with these separators.
    pub fn new(separators: Separators) -> Self {
        let mut classes = [0; 256];
        (0..=u8::MAX).for_each(|byte| classes[usize::from(byte)] = class_of(byte, &separators));
        NamePass {
            separators,
            classes,
            any: false,
            empty: 0,
            empty_words: 0,
            unfilled: 0,
            prefix: 0,
            special: 0,
            upper: 0,
            tagged_start: 0,
            start: 0,
            outside: 0,
            bad_tag: 0,
            lengths: CountLimits::default(),
            levels: CountLimits::default(),
            typed: None,
            plain: [0; MAX_SEGMENTS + 1],
            longest: 0,
            suits_plain: false,
        }
    }

    /// Adds a test that sets bit `place`, which is below [`MAX_KEY_CHECKS`]. Returns false if the pass cannot evaluate it.
    pub fn add(&mut self, place: usize, test: NameTest) -> bool {
        let bits = 1 << (place % MAX_KEY_CHECKS);
        match test {
            NameTest::EmptySegment { words, unfilled_ids } if words.is_empty() => {
                self.empty |= bits;
                self.add_unfilled(bits, unfilled_ids);
            }
            NameTest::EmptySegment { .. } if self.empty_words != 0 => return false, // only one class is available
            NameTest::EmptySegment { words, unfilled_ids } => {
                self.empty_words = bits;
                self.add_unfilled(bits, unfilled_ids);
                let divides = |byte: &u8| self.separators.contains(*byte) || words.contains(byte);
                let dividing = (0..=u8::MAX).filter(divides);
                dividing.for_each(|byte| self.classes[usize::from(byte)] |= WORD);
            }
            NameTest::NoPrefix => self.prefix |= bits,
            NameTest::Special => self.special |= bits,
            NameTest::LongerThan(most) => self.lengths.add(place, most, u64::min),
            NameTest::FewerSegments(least) => self.levels.add(place, least, u64::max),
            NameTest::UpperCase => self.upper |= bits,
            NameTest::StartsOtherwise(true) => self.tagged_start |= bits,
            NameTest::StartsOtherwise(false) => self.start |= bits,
            NameTest::Outside(_) if self.outside != 0 => return false, // only one class is available
            NameTest::Outside(allowed) => {
                self.outside = bits;
                let divides = |byte: u8| byte.is_ascii() && self.separators.contains(byte);
                let within = |byte: &u8| allowed[usize::from(*byte)] || divides(*byte);
                let outside = (0..=u8::MAX).filter(|byte| !within(byte));
                outside.for_each(|byte| self.classes[usize::from(byte)] |= OUTSIDE);
            }
            NameTest::BadTag => self.bad_tag |= bits,
        }
        self.any = true;
        true
    }

    fn add_unfilled(&mut self, bits: u64, unfilled_ids: bool) {
        if unfilled_ids {
            self.unfilled |= bits;
            // Formats are looked for where templates are: in names that need a closer look.
            self.classes[usize::from(b'%')] |= BRACE;
        }
    }

    /// Adds the test that the last segment is one of the words for the type of the key, which sets bit `place`. Returns false
    /// if the pass cannot evaluate it.
    pub fn add_type_words(&mut self, place: usize, words: &TypeWords) -> bool {
        if self.typed.is_some() || words.may_be_ids() {
            return false;
        }
        self.typed = Some((words.clone(), 1 << (place % MAX_KEY_CHECKS)));
        true
    }

    /// Returns the bits of the tests that a name fails as that of a key of this type.
    #[inline]
    pub fn broken_as(&self, failures: &NameFailures, kind: Kind) -> u64 {
        match &self.typed {
            Some((_, bit)) if failures.unnamed >> kind as usize & 1 == 1 => failures.bits | bit,
            _ => failures.bits,
        }
    }

    /// Returns whether all digits have the same classes, so that their values change no result.
    pub fn ignores_digit_values(&self) -> bool {
        let digits = &self.classes[usize::from(b'0')..=usize::from(b'9')];
        digits.iter().all(|class| Some(class) == digits.first())
    }

    /// Returns for each byte what it means to the tests within a segment, other than the first one and the words of
    /// [`NamePass::add_type_words`].
    pub fn id_bytes(&self) -> [IdByte; 256] {
        let if_tested = |bits: u64, class: u8| if bits == 0 { 0 } else { class };
        let counted =
            if_tested(self.special, SPECIAL) | if_tested(self.upper, UPPER) | if_tested(self.outside, OUTSIDE);
        let counted = counted | if_tested(self.empty_words, WORD);
        self.classes.map(|class| match class {
            class if class & (SEPARATOR | HIGH | BRACE | CLOSE) != 0 => IdByte::Dividing,
            class if class & counted != 0 => IdByte::Counted,
            _ => IdByte::Free,
        })
    }

    /// Evaluates the tests that count bytes once more, for a name like the one that gave these results but for bytes of its ids.
    #[inline]
    pub fn recount(&self, name: &[u8], failures: &mut NameFailures) {
        *failures = NameFailures { unnamed: failures.unnamed, ..self.broken_bytes(name) };
    }

    /// Returns whether separators and lower-case letters fail no test by themselves, so that plain names need no pass.
    fn suits_plain_names(&self) -> bool {
        (0..=u8::MAX).all(|byte| {
            let class = self.classes[usize::from(byte)];
            match self.separators.contains(byte) {
                true => class & !WORD == SEPARATOR,
                false => class & SEPARATOR == 0 && (class == 0 || !byte.is_ascii_lowercase()),
            }
        })
    }

    /// Returns the tests that a name fails. The name must come from a classifier with the separators of this pass.
    ///
    /// Plain names are answered from their bitmaps, others take one pass over their bytes. Allocates nothing.
    #[inline(always)] // in the caller, the kind of name is known
    pub fn broken(&self, name: &KeyName<'_>) -> NameFailures {
        let mut failures = match name {
            KeyName::Plain(plain) if self.suits_plain => self.broken_plain(plain),
            KeyName::Plain(_) | KeyName::Classified(..) => self.broken_bytes(name.bytes()),
        };
        if let Some((words, _)) = &self.typed {
            failures.unnamed = match name {
                KeyName::Plain(plain) => words.not_named_by(plain.last()),
                KeyName::Classified(bytes, _) => words.not_named_by(&last_segment(bytes, &self.separators)),
            };
        }
        failures
    }

    /// Returns the tests that a plain name fails, from the bitmaps of its bytes alone.
    #[inline(always)] // in the one place where it is needed for every name
    fn broken_plain(&self, name: &PlainName<'_>) -> NameFailures {
        if !self.any {
            return NameFailures::default();
        }
        let length = name.bytes().len() as u64;
        match self.plain.get(name.segment_count() as usize) {
            Some(&bits) if length <= self.longest && name.is_lower() && !name.has_empty_segment() => {
                NameFailures { bits, length, segments: name.segment_count(), ..NameFailures::default() }
            }
            _ => self.failed_plain(name.bytes(), self.seen_plain(name)),
        }
    }

    /// Slow path of `broken_plain`: the name is long, has other bytes than lower-case letters, or has empty segments.
    #[inline(never)]
    fn failed_plain(&self, name: &[u8], seen: NameScan) -> NameFailures {
        self.failed(name, seen)
    }

    /// Precomputes the results for plain names, after all tests have been added.
    pub fn settle(&mut self) {
        self.suits_plain = self.suits_plain_names();
        let separator = (0..=u8::MAX).find(|&byte| self.separators.contains(byte)).unwrap_or(b':');
        self.longest = self.lengths.first.unwrap_or(u64::MAX);
        let lengths = self.lengths.all_broken(u64::MAX, |length, most| length > most);
        for segments in 1..self.plain.len() {
            let name = vec![[b'a']; segments].join(&separator);
            let broken = self.failed(&name, NameScan::NOTHING.pass(&name, &self.classes));
            self.plain[segments] = broken.bits & !lengths;
        }
    }

    /// Derives the state after a plain name from its bitmaps, without a pass over its bytes.
    #[inline]
    fn seen_plain(&self, name: &PlainName<'_>) -> NameScan {
        let of = |is: bool, class: u8| if is { class } else { 0 };
        let others = name.others().fold(0, |union, byte| union | self.classes[usize::from(byte)]);
        if others & WORD != 0 {
            return NameScan::NOTHING.pass(name.bytes(), &self.classes);
        }
        NameScan {
            union: others | of(name.separators() != 0, SEPARATOR),
            open: 0,
            empty: of(name.has_empty_segment(), SEPARATOR | WORD),
            separators: name.segment_count() - 1,
        }
    }

    /// Returns the tests that a name fails, byte by byte.
    #[inline]
    fn broken_bytes(&self, name: &[u8]) -> NameFailures {
        if !self.any {
            return NameFailures::default();
        }
        self.failed(name, NameScan::NOTHING.pass(name, &self.classes))
    }

    /// Returns the tests that a name fails, given the state after a pass over it.
    #[inline(always)]
    fn failed(&self, name: &[u8], seen: NameScan) -> NameFailures {
        let (segments, first, is_unfilled) = match seen.has(BRACE) {
            false => (seen, name.first().copied(), false),
            true => self.pass_untagged(name),
        };
        let fails = |bits: u64, fails: bool| if fails { bits } else { 0 };
        let is_letter = |first: Option<u8>| first.is_some_and(|byte| byte.is_ascii_alphabetic());
        let bytes = name.len() as u64;
        // A character has one byte at least, so names within the limit in bytes need no count.
        let length = if seen.has(HIGH) && bytes > self.longest { length::length(name) } else { bytes };
        let levels = segments.separators.saturating_add(1);
        let mut broken = self.lengths.broken(length, |length, most| length > most)
            | self.levels.broken(u64::from(levels), |segments, least| segments < least)
            | fails(self.empty, segments.has_empty_segment())
            | fails(self.empty_words, segments.has_empty_word())
            | fails(self.prefix, !segments.has(SEPARATOR) || first.is_none_or(|byte| self.separators.contains(byte)))
            | fails(self.special, seen.has(SPECIAL))
            | fails(self.upper, seen.has(UPPER) && !seen.has(HIGH))
            | fails(self.tagged_start, !is_letter(first))
            | fails(self.start, !is_letter(name.first().copied()))
            | fails(self.outside, seen.has(OUTSIDE));
        let has_empty = broken & (self.empty | self.empty_words) != 0;
        if has_empty && self.is_gap_of_address(name) {
            broken &= !(self.empty | self.empty_words);
        }
        broken |= fails(self.unfilled, is_unfilled);
        let may_lack_name = || {
            first.is_some_and(|byte| !byte.is_ascii_alphabetic()) || prefix::may_begin_with_id(name, &self.separators)
        };
        if self.prefix & !broken != 0 && may_lack_name() {
            broken |= fails(self.prefix, self.starts_without_a_name(name));
        }
        if seen.has(HIGH) {
            broken |= fails(self.special, has_special_beyond_ascii(name));
            broken |= fails(self.upper, upper_case_letters(name) > 0);
        }
        if seen.has(BRACE | CLOSE) {
            broken |= fails(self.bad_tag, !hash_tag::is_sound(name));
        }
        // Segments are counted without the braces of a hash tag, all else with them.
        let segments_counted = if seen.has(BRACE) { 0 } else { self.empty };
        let counting = self.special | self.upper | self.outside | segments_counted;
        let (counted, counts) = match broken & counting != 0 && !seen.has(HIGH) && name.len() <= MAX_COUNTED_LEN {
            true => (counting, count(name, &self.classes)),
            false => (0, 0),
        };
        NameFailures { bits: broken, counted, counts, length, segments: levels, has_empty, unnamed: 0 }
    }

    /// Writes the measured values of failed tests about length, segments and counted characters.
    #[inline]
    pub fn measure(&self, broken: &NameFailures, violations: &mut Violations) {
        if broken.bits == 0 {
            return;
        }
        self.lengths.measure(broken.bits, broken.length, violations);
        self.levels.measure(broken.bits, u64::from(broken.segments), violations);
        if broken.counts != 0 {
            self.measure_counts(broken, violations);
        }
    }

    #[inline(never)] // few names have such characters
    fn measure_counts(&self, broken: &NameFailures, violations: &mut Violations) {
        let bits = [self.special, self.upper, self.outside, self.empty];
        for (place, bits) in bits.into_iter().enumerate() {
            let mut left = bits & broken.counted & broken.bits;
            while left != 0 {
                let measured = broken.counts >> (16 * place) & 0xFFFF;
                violations[left.trailing_zeros() as usize % MAX_KEY_CHECKS] = Violation { measured, allowed: 0 };
                left &= left - 1;
            }
        }
    }

    /// Passes over the name without the braces of its hash tag; also returns the first byte without them, and whether a segment is a
    /// placeholder of a format or a template.
    fn pass_untagged(&self, name: &[u8]) -> (NameScan, Option<u8>, bool) {
        let pieces = untagged(name);
        let seen = pieces.iter().fold(NameScan::NOTHING, |seen, piece| seen.pass(piece, &self.classes));
        let is_unfilled = self.unfilled != 0 && empty_segment::placeholders(&pieces, &self.separators) > 0;
        (seen, pieces.into_iter().flatten().next().copied(), is_unfilled)
    }

    /// Returns true if the only empty segment or word of a name is the gap of an address.
    #[cold]
    fn is_gap_of_address(&self, name: &[u8]) -> bool {
        let name = untagged(name).concat();
        let divides = |byte: &u8| self.classes[usize::from(*byte)] & (SEPARATOR | WORD) != 0;
        empty_segment::is_gap_of_address(&name, divides)
    }

    /// Returns true if the first segment names no business: it has no letter, or is an id.
    #[inline(never)]
    fn starts_without_a_name(&self, name: &[u8]) -> bool {
        let first = |name: &[u8]| !prefix::names_a_business(self.separators.split(name).next().unwrap_or_default());
        match untagged(name) {
            [_, [], _] => first(name), // no tag: a tag is never empty
            pieces => first(&pieces.concat()),
        }
    }
}

/// Returns true if a name with bytes beyond ASCII has special characters.
fn has_special_beyond_ascii(name: &[u8]) -> bool {
    std::str::from_utf8(name).map_or(true, |text| text.chars().any(is_special))
}
