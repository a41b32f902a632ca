//! All tests of a name at once: one pass over its bytes instead of one a rule.
//!
//! The rules themselves define what is right; this is their fast twin, and a property test holds the two together.
//! A table gives each byte its classes; their union over the name, the number of separators and the pairs of neighbouring
//! separators answer everything for plain names. Only names with bytes beyond ASCII, with an opening brace or with a
//! leading digit are looked at again.

use super::key_view::{Separators, untagged};
use super::rule::NameTest;
use super::rules::key::hash_tag;
use super::rules::key::special_chars::is_special;

/// Divides segments.
const SEPARATOR: u8 = 1;
/// Breaks `key.special-chars` by itself.
const SPECIAL: u8 = 2;
/// Part of a character beyond ASCII, or of none.
const HIGH: u8 = 4;
/// May begin a hash tag.
const BRACE: u8 = 8;
/// An upper-case letter of ASCII.
const UPPER: u8 = 16;
/// Not in the set of characters that are allowed.
const OUTSIDE: u8 = 32;
/// May end a hash tag.
const CLOSE: u8 = 64;

/// The tests in force, each with the bit that it sets.
#[derive(Debug)]
pub struct NamePass {
    separators: Separators,
    /// The classes of every byte.
    classes: [u8; 256],
    tests: Vec<(u64, NameTest)>,
}

/// What a pass over some bytes of a name has seen.
#[derive(Clone, Copy)]
struct Seen {
    /// All classes of all bytes.
    union: u8,
    /// [`SEPARATOR`] when nothing has come since the last separator or the start.
    open: u8,
    /// [`SEPARATOR`] once a segment has been empty.
    empty: u8,
    separators: u32,
}

impl Seen {
    const NOTHING: Seen = Seen { union: 0, open: SEPARATOR, empty: 0, separators: 0 };

    #[inline]
    fn pass(mut self, bytes: &[u8], classes: &[u8; 256]) -> Seen {
        for &byte in bytes {
            let class = classes[usize::from(byte)];
            self.union |= class;
            self.empty |= class & self.open;
            self.open = class & SEPARATOR;
            self.separators = self.separators.wrapping_add(u32::from(class & SEPARATOR));
        }
        self
    }

    fn has_empty_segment(self) -> bool {
        (self.empty | self.open) & SEPARATOR != 0
    }

    fn has(self, class: u8) -> bool {
        self.union & class != 0
    }
}

impl NamePass {
    /// A pass without tests, over names that these bytes divide.
    pub fn new(separators: Separators) -> Self {
        let mut classes = [0; 256];
        (0..=u8::MAX).for_each(|byte| classes[usize::from(byte)] = class_of(byte, &separators));
        NamePass { separators, classes, tests: Vec::new() }
    }

    /// Adds a test that sets these bits of the answer. False if it cannot be made in this pass.
    pub fn add(&mut self, bits: u64, test: NameTest) -> bool {
        if let NameTest::Outside(allowed) = &test {
            if self.tests.iter().any(|(_, test)| matches!(test, NameTest::Outside(_))) {
                return false; // there is one class for it
            }
            for byte in 0..=u8::MAX {
                if !allowed[usize::from(byte)] && !(byte.is_ascii() && self.separators.contains(byte)) {
                    self.classes[usize::from(byte)] |= OUTSIDE;
                }
            }
        }
        self.tests.push((bits, test));
        true
    }

    /// The bits of the tests that the name fails. Takes one pass over plain names and a second over others; allocates
    /// nothing.
    #[inline]
    pub fn broken(&self, name: &[u8]) -> u64 {
        if self.tests.is_empty() {
            return 0;
        }
        let seen = Seen::NOTHING.pass(name, &self.classes);
        let (segments, first) = match seen.has(BRACE) {
            false => (seen, name.first().copied()),
            true => self.pass_untagged(name),
        };
        self.tests.iter().fold(0, |broken, (bits, test)| {
            let fails = match test {
                NameTest::EmptySegment => segments.has_empty_segment(),
                NameTest::NoPrefix => {
                    let numeric = first.is_some_and(|byte| byte.is_ascii_digit()) && self.starts_with_a_number(name);
                    !segments.has(SEPARATOR) || first.is_none_or(|byte| self.separators.contains(byte)) || numeric
                }
                NameTest::Special => seen.has(SPECIAL) || (seen.has(HIGH) && has_special_beyond_ascii(name)),
                NameTest::LongerThan(most) => name.len() as u64 > *most,
                NameTest::FewerSegments(least) => u64::from(segments.separators) + 1 < *least,
                NameTest::UpperCase => seen.has(UPPER) || (seen.has(HIGH) && has_upper_beyond_ascii(name)),
                NameTest::StartsOtherwise(tags) => {
                    let first = if *tags { first } else { name.first().copied() };
                    !first.is_some_and(|byte| byte.is_ascii_alphabetic())
                }
                NameTest::Outside(_) => seen.has(OUTSIDE),
                NameTest::BadTag => seen.has(BRACE | CLOSE) && !hash_tag::is_sound(name),
            };
            broken | if fails { *bits } else { 0 }
        })
    }

    /// What a pass over the name without the braces of its hash tag sees, and the first byte of that.
    fn pass_untagged(&self, name: &[u8]) -> (Seen, Option<u8>) {
        let pieces = untagged(name);
        let seen = pieces.iter().fold(Seen::NOTHING, |seen, piece| seen.pass(piece, &self.classes));
        (seen, pieces.into_iter().flatten().next().copied())
    }

    /// Whether the first segment is digits only.
    fn starts_with_a_number(&self, name: &[u8]) -> bool {
        let mut first = untagged(name).into_iter().flatten().take_while(|&&byte| !self.separators.contains(byte));
        first.all(u8::is_ascii_digit)
    }
}

fn class_of(byte: u8, separators: &Separators) -> u8 {
    let class = |is: bool, class: u8| if is { class } else { 0 };
    class(separators.contains(byte), SEPARATOR)
        | class(byte.is_ascii() && is_special(char::from(byte)), SPECIAL)
        | class(!byte.is_ascii(), HIGH)
        | class(byte == b'{', BRACE)
        | class(byte == b'}', CLOSE)
        | class(byte.is_ascii_uppercase(), UPPER)
}

/// For names that have bytes beyond ASCII.
fn has_special_beyond_ascii(name: &[u8]) -> bool {
    std::str::from_utf8(name).map_or(true, |text| text.chars().any(is_special))
}

/// The same; what is no text has no letters beyond ASCII.
fn has_upper_beyond_ascii(name: &[u8]) -> bool {
    name.utf8_chunks().any(|chunk| chunk.valid().chars().any(char::is_uppercase))
}
