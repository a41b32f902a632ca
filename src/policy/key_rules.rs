//! All naming rules at once: one pass over a name's bytes instead of one a rule.
//!
//! The rules themselves define what is right; this is their fast twin, and a property test holds the two together.
//! A table gives each byte its classes; their union over the name and the pairs of neighbouring separators answer
//! everything for plain names. Only names with bytes beyond ASCII, with an opening brace or with a leading digit
//! are looked at again.

use super::key_view::{KeyView, Separators, untagged};
use super::registry;
use super::rule::{KeyRule, Meta};
use super::rules::key::special_chars::is_special;
use super::rules::key::{self, Length};

/// Divides segments.
const SEPARATOR: u8 = 1;
/// Breaks `key.special-chars` by itself.
const SPECIAL: u8 = 2;
/// Part of a character beyond ASCII, or of none.
const HIGH: u8 = 4;
/// May begin a hash tag.
const BRACE: u8 = 8;

/// The rules in force, ready to be asked about millions of names.
#[derive(Debug)]
pub struct KeyRules {
    separators: Separators,
    /// The classes of every byte.
    classes: [u8; 256],
    rules: Vec<Box<dyn KeyRule>>,
    metas: Vec<&'static Meta>,
    max_length: u64,
    bits: Bits,
}

/// The bit of each rule that the fast pass answers.
#[derive(Debug)]
struct Bits {
    empty_segment: u64,
    length: u64,
    prefix: u64,
    special_chars: u64,
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
}

impl Seen {
    const NOTHING: Seen = Seen { union: 0, open: SEPARATOR, empty: 0 };

    #[inline]
    fn pass(mut self, bytes: &[u8], classes: &[u8; 256]) -> Seen {
        for &byte in bytes {
            let class = classes[usize::from(byte)];
            self.union |= class;
            self.empty |= class & self.open;
            self.open = class & SEPARATOR;
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

impl KeyRules {
    /// The rules that all standards agree on. Names are divided by each of these bytes, by `:` if there is none.
    pub fn default_rules(separators: &[u8]) -> Self {
        let separators = Separators::new(separators);
        let rules = registry::default_key_rules();
        let metas: Vec<_> = rules.iter().map(|rule| rule.meta()).collect();
        // Bits are places in a list that is far shorter than 64; a rule that is not in it has no bit.
        let bit = |of: &Meta| metas.iter().position(|meta| meta.id == of.id).map_or(0, |place| 1 << place);
        let bits = Bits {
            empty_segment: bit(&key::empty_segment::META),
            length: bit(&key::length::META),
            prefix: bit(&key::prefix::META),
            special_chars: bit(&key::special_chars::META),
        };
        let mut classes = [0; 256];
        (0..=u8::MAX).for_each(|byte| classes[usize::from(byte)] = class_of(byte, &separators));
        KeyRules { separators, classes, rules, metas, max_length: Length::default().max, bits }
    }

    /// The rules' descriptions, in order of id. The place of a rule in this list is its bit in [`Self::broken`].
    pub fn metas(&self) -> &[&'static Meta] {
        &self.metas
    }

    /// The rules that the name breaks: bit `i` stands for `metas()[i]`. Takes one pass over plain names and a
    /// second over others; allocates nothing.
    #[inline]
    pub fn broken(&self, name: &[u8]) -> u64 {
        let seen = Seen::NOTHING.pass(name, &self.classes);
        let special = seen.has(SPECIAL) || (seen.has(HIGH) && has_special_beyond_ascii(name));
        let (segments, first) = match seen.has(BRACE) {
            false => (seen, name.first().copied()),
            true => self.pass_untagged(name),
        };
        let numeric = first.is_some_and(|byte| byte.is_ascii_digit()) && self.starts_with_a_number(name);
        let unprefixed = !segments.has(SEPARATOR) || first.is_none_or(|byte| self.separators.contains(byte)) || numeric;

        let mask = |broken: bool, bit: u64| if broken { bit } else { 0 };
        mask(segments.has_empty_segment(), self.bits.empty_segment)
            | mask(name.len() as u64 > self.max_length, self.bits.length)
            | mask(unprefixed, self.bits.prefix)
            | mask(special, self.bits.special_chars)
    }

    /// The same as [`Self::broken`], found by asking one rule after the other.
    pub fn broken_one_by_one(&self, name: &[u8]) -> u64 {
        let view = KeyView::new(name, &self.separators);
        let broken = self.rules.iter().enumerate().filter(|(_, rule)| rule.check(&view).is_some());
        broken.fold(0, |mask, (bit, _)| mask | 1 << bit)
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
}

/// For names that have bytes beyond ASCII.
fn has_special_beyond_ascii(name: &[u8]) -> bool {
    std::str::from_utf8(name).map_or(true, |text| text.chars().any(is_special))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ids(rules: &KeyRules, name: &[u8]) -> Vec<&'static str> {
        let broken = rules.broken(name);
        rules.metas().iter().enumerate().filter(|(bit, _)| broken >> bit & 1 == 1).map(|(_, meta)| meta.id).collect()
    }

    #[test]
    fn a_good_name_breaks_nothing() {
        let rules = KeyRules::default_rules(b":");
        let names = ["user:profile:12345", "{user:1001}:profile", "lock:task:{7}", "\u{7528}\u{6237}:1", "a:b"];
        names.iter().for_each(|name| assert_eq!(rules.broken(name.as_bytes()), 0, "{name}"));
    }

    #[test]
    fn bad_names_break_what_the_standards_say() {
        let rules = KeyRules::default_rules(b"");
        assert_eq!(ids(&rules, b"user_profile_12345"), ["key.prefix"]);
        assert_eq!(ids(&rules, b"12345:name"), ["key.prefix"]);
        assert_eq!(ids(&rules, b"user:profile:"), ["key.empty-segment"]);
        assert_eq!(ids(&rules, b""), ["key.empty-segment", "key.prefix"]);
        assert_eq!(ids(&rules, b"user:\xff"), ["key.special-chars"]);
        assert_eq!(ids(&rules, &[b"u:".repeat(65), b" ".to_vec()].concat()), ["key.length", "key.special-chars"]);
    }

    #[test]
    fn names_divide_by_the_separators_in_force() {
        let rules = KeyRules::default_rules(b"|/");
        assert_eq!(ids(&rules, b"user:1"), ["key.prefix"]);
        assert_eq!(ids(&rules, b"user|1/name"), [""; 0]);
        assert_eq!(ids(&rules, b"user|/1"), ["key.empty-segment"]);
    }

    const PIECES: [&[u8]; 18] = [
        b":",
        b":",
        b"{",
        b"}",
        b"a",
        b"b",
        b"1",
        b"42",
        b".",
        b" ",
        b"\\",
        b"\x7f",
        b"\xff",
        b"\xe4",
        b"\xc2\x85",
        b"\xe3\x80\x80",
        b"\xe4\xb8\xad",
        b"user",
    ];
    const SEPARATORS: [&[u8]; 10] = [b":", b"", b".", b":.", b"{", b"}", b":{}", b"1", b" :", b"\xff:"];

    fn names() -> impl Strategy<Value = Vec<u8>> {
        prop_oneof![
            prop::collection::vec(prop::sample::select(&PIECES[..]), 0..12).prop_map(|pieces| pieces.concat()),
            prop::collection::vec(prop::sample::select(&PIECES[..6]), 0..6).prop_map(|pieces| pieces.concat()),
            prop::collection::vec(any::<u8>(), 0..140),
            (120usize..140).prop_map(|length| [b"u:".to_vec(), b"x".repeat(length)].concat()),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]
        #[test]
        fn one_pass_finds_what_the_rules_find_one_by_one(name in names(), separators in prop::sample::select(&SEPARATORS[..])) {
            let rules = KeyRules::default_rules(separators);
            prop_assert_eq!(rules.broken(&name), rules.broken_one_by_one(&name));
        }
    }
}
