//! Detection of secrets and personal data in names and values, and masking of what is found.
//!
//! ```text
//! digits    mobile numbers, identity cards, bank cards      email      addresses
//! token     JSON web tokens, private keys                   password   fields named like one
//! connection  passwords in URLs and settings of servers
//! amount    names of sizes and serial numbers               called     names of phone numbers and identity cards
//! named     keys named like a password                      labelled  passwords behind a label in running text
//! described values that say something about a password       locked     locks whose name says password
//! fullwidth digits as input methods type them
//! verdict   chance matches told apart                       mask       what evidence shows
//! ```
//!
//! The detectors are pure functions of bytes that take linear time on any input and never fail. Matches leave this module
//! masked: no report and no aggregate holds a secret.

mod amount;
mod called;
mod connection;
mod described;
mod digits;
mod email;
mod fullwidth;
mod kinds;
mod labelled;
mod locked;
mod mask;
mod named;
mod password;
mod token;
mod verdict;

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::pattern::segment::Separators;
use crate::policy::content::is_hump;
use crate::policy::content::serialized::{unboxed, unwrapped};
use crate::policy::content::{framed, json_escapes};
use crate::rdb::peek::{MAX_TEXT_BYTES, PeekBuffers, ValuePart};
use crate::record::{Kind, Record};
use crate::report::{Text, Wording};
use crate::sorting::CompactSort;
use digits::Wanted;
use fullwidth::Folded;
pub use kinds::{SensitiveKind, SensitiveKinds};
pub use named::NAMES;
use named::PasswordName;
pub use password::FIELDS;
use password::login::{self, LoginNames};
pub use verdict::ValueVerdict;
use verdict::{MatchTally, TextGroup};

/// Confidence of a detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchStrength {
    /// The text matches, including checksum and ranges.
    Found,
    /// A match under a name that says what the text is.
    Named,
    /// The text has the right length but does not match. Many of these suggest that matches among them are chance.
    Near,
    /// A near miss under a name that says what the text should be.
    NamedNear,
}

impl MatchStrength {
    const fn found(is_named: bool) -> MatchStrength {
        if is_named { MatchStrength::Named } else { MatchStrength::Found }
    }

    const fn near(is_named: bool) -> MatchStrength {
        if is_named { MatchStrength::NamedNear } else { MatchStrength::Near }
    }

    const fn is_match(self) -> bool {
        matches!(self, MatchStrength::Found | MatchStrength::Named)
    }
}

/// Receiver of matches: strength, kind, the matched text, and its place.
type SeeMatch<'s> = dyn FnMut(MatchStrength, SensitiveKind, &[u8], Range<usize>) + 's;

/// Kinds of sensitive data to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// Enabled kinds.
    pub kinds: SensitiveKinds,
    /// Endings of field names that hold a password, in lower case without `_`, `-`, `.` and blanks.
    pub fields: Vec<String>,
    /// Words of key names whose values are passwords.
    pub names: Vec<String>,
    /// Separators of key names.
    pub separators: Separators,
}

/// Masked match in a key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct MaskedMatch {
    /// Kind of the match.
    pub kind: SensitiveKind,
    /// Masked text.
    pub text: Box<str>,
    place: SecretPlace,
}

impl MaskedMatch {
    /// Words the match in both languages: `phone 138****5678 in the name`.
    pub fn wording(&self) -> Wording {
        let (kind, place, text) = (self.kind.text(), self.place.text(), &self.text);
        Wording { en: format!("{} {text} {}", kind.en, place.en), zh: format!("{} {text}（{}）", kind.zh, place.zh) }
    }
}

/// Place of a match, as named in evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum SecretPlace {
    Name,
    Value,
    Field,
    Element,
}

impl SecretPlace {
    const fn text(self) -> Text {
        match self {
            SecretPlace::Name => Text { en: "in the name", zh: "key 名中" },
            SecretPlace::Value => Text { en: "in the value", zh: "value 中" },
            SecretPlace::Field => Text { en: "in a field", zh: "字段中" },
            SecretPlace::Element => Text { en: "in an element", zh: "元素中" },
        }
    }
}

/// Statements of a key's name about its value.
#[derive(Debug, Clone, Copy)]
struct KeyWords<'k> {
    name: &'k [u8],
    password: Option<PasswordName<'k>>,
    /// True if the value is an amount or a serial number.
    of_amount: bool,
    /// True if the value is a serial number if it is a number as a whole.
    of_serial: bool,
    separators: &'k Separators,
}

impl KeyWords<'_> {
    /// Returns whether the secret that this word names is a code that is given to everybody.
    fn gives_out(&self, word: &str, secret: &[u8]) -> bool {
        named::is_code_word(word) && named::gives_out(self.name)
            || password::is_hashable(word)
                && !named::is_chosen(secret)
                && named::is_of_share(self.name, self.separators)
    }
}

/// Fields of a hash that together make `pass` a password.
#[derive(Debug, Default)]
struct HashLogin<'w> {
    names: LoginNames,
    /// Word and group of the field, and its value.
    pass: Option<(&'w str, TextGroup, Vec<u8>)>,
}

impl<'w> HashLogin<'w> {
    fn add(&mut self, field: &[u8], value: &[u8], words: &'w [String]) {
        self.names.add(field);
        let value = unwrapped(value);
        if let Some(word) = login::pass(field, value.trim_ascii(), words) {
            self.pass = Some((word, TextGroup::Values(hash(field)), value.into_owned()));
        }
    }

    fn finish(self, tally: &mut MatchTally) {
        if let Some((word, group, value)) = self.pass.filter(|(.., value)| self.names.make_password(value.trim_ascii()))
        {
            tally.add(MatchStrength::Found, SensitiveKind::Password, group, &value, word);
            tally.end_text(group);
        }
    }
}

impl Inspection {
    /// Adds the kinds and words of `other`.
    pub fn extend(&mut self, other: Inspection) {
        self.kinds = self.kinds.or(other.kinds);
        for (words, more) in [(&mut self.fields, other.fields), (&mut self.names, other.names)] {
            let new: Vec<String> = more.into_iter().filter(|word| !words.contains(word)).collect();
            words.extend(new);
        }
    }

    /// Inspects the name of a key and the beginning of its value. Collects evidence for the kinds in `shown`.
    pub fn inspect(&self, record: &Record<'_>, shown: SensitiveKinds, buffers: &mut PeekBuffers) -> ValueVerdict {
        let mut tally = MatchTally::new(shown);
        let (name, group) = (beginning(record.key), TextGroup::Single(SecretPlace::Name));
        self.scan(name, b"", &mut |seen, kind, secret, _| tally.add(seen, kind, group, secret, ""));
        tally.end_text(group);
        if let Some(value) = record.raw {
            let wants_passwords = self.kinds.has(SensitiveKind::Password);
            let password = if wants_passwords { named::find(name, &self.names, &self.separators) } else { None };
            let password = password.filter(|_| !locked::is_lock(record, &self.separators));
            let (of_amount, of_serial) = (amount::is_amount(name), amount::is_serial(name));
            let key = KeyWords { name, password, of_amount, of_serial, separators: &self.separators };
            let mut login = HashLogin::default();
            value.peek(buffers, |part| {
                if let (true, ValuePart::Pair(field, value)) = (wants_passwords, &part) {
                    login.add(&unwrapped(field), value, &self.fields);
                }
                self.part(part, record.kind, &key, &mut tally);
            });
            login.finish(&mut tally);
        }
        tally.finish()
    }

    /// Inspects a part of a value.
    fn part(&self, part: ValuePart<'_>, kind: Kind, key: &KeyWords<'_>, tally: &mut MatchTally) {
        // In names of amounts, values of strings and of fields are numbers, but for those that are called phone numbers; members and
        // fields may be phone numbers whatever the key counts.
        tally.phones = match part {
            ValuePart::String(text) => !(key.of_amount || key.of_serial && is_digits(&unwrapped(text))),
            ValuePart::Element(_) | ValuePart::Pair(..) => true,
        };
        match part {
            ValuePart::String(text) => {
                self.text(text, key.name, TextGroup::Single(SecretPlace::Value), key.password, key, tally);
            }
            ValuePart::Element(text) => {
                let password = key.password.filter(|named| named.is_last);
                let password = password.map(|named| named.doubted(kind != Kind::List));
                self.text(text, b"", TextGroup::Elements, password, key, tally);
            }
            ValuePart::Pair(field, value) => {
                let field = &*unwrapped(field);
                self.text(field, b"", TextGroup::Fields, None, key, tally);
                let of_id = named::is_id(field);
                let group = if of_id { TextGroup::ValuesOfIds } else { TextGroup::Values(hash(field)) };
                if self.kinds.has(SensitiveKind::Password)
                    && let secret = &*unwrapped(value)
                    && let Some(word) = password::word(field, secret, &self.fields)
                    && !key.gives_out(word, secret)
                {
                    tally.add(MatchStrength::Found, SensitiveKind::Password, group, secret, word);
                }
                tally.phones = !(key.of_amount || amount::is_amount(field) || amount::is_serial(field));
                // A hash of passwords by user, or of one; other fields describe a password.
                let holds = of_id || named::is_value(field);
                let password = key.password.filter(|named| named.is_last && holds);
                self.text(value, field, group, password.map(|named| named.doubted(!of_id)), key, tally);
            }
        }
    }

    /// Returns the name, of a very long one its beginning, with all matches masked; `None` if nothing matches.
    pub fn masked_name(&self, name: &[u8]) -> Option<Vec<u8>> {
        let name = beginning(name);
        let mut found: Vec<(Range<usize>, String)> = Vec::new();
        self.scan(name, b"", &mut |seen, kind, secret, range| {
            if seen.is_match() {
                found.push((range, mask::masked(kind, secret, "")));
            }
        });
        if found.is_empty() {
            return None;
        }
        found.compact_sort_by_key(|(range, _)| (range.start, std::cmp::Reverse(range.end)));
        let (mut masked, mut at) = (Vec::with_capacity(name.len()), 0);
        for (range, shown) in found {
            if range.start < at {
                // Overlaps the previous match, which is masked already.
                at = at.max(range.end);
                continue;
            }
            masked.extend_from_slice(name.get(at..range.start).unwrap_or_default());
            masked.extend_from_slice(shown.as_bytes());
            at = range.end;
        }
        masked.extend_from_slice(name.get(at..).unwrap_or_default());
        Some(masked)
    }

    /// Inspects a text of a value, including members of JSON objects in it. `name` is that of its field or key.
    fn text(
        &self,
        text: &[u8],
        name: &[u8],
        group: TextGroup,
        password: Option<PasswordName<'_>>,
        key: &KeyWords<'_>,
        tally: &mut MatchTally,
    ) {
        let whole = unboxed(text);
        let plain = framed::texts(&whole).or_else(|| json_escapes::unescaped(&whole));
        let text = plain.as_deref().unwrap_or(&whole);
        self.scan(text, name, &mut |seen, kind, secret, _| tally.add(seen, kind, group, secret, ""));
        if self.kinds.has(SensitiveKind::PrivateKey) {
            token::scan_raw_key(text, name, |range| {
                let secret = text.get(range).unwrap_or_default();
                tally.add(MatchStrength::Found, SensitiveKind::PrivateKey, group, secret, "privatekey");
            });
        }
        if self.kinds.has(SensitiveKind::Password) {
            password::scan(text, &self.fields, |word, range| {
                let secret = text.get(range).unwrap_or_default();
                if !key.gives_out(word, secret) {
                    tally.add(MatchStrength::Found, SensitiveKind::Password, group, secret, word);
                }
            });
            if let Some(named) = password.filter(|named| named.is_told_by(&whole)) {
                tally.add(MatchStrength::Found, SensitiveKind::Password, group, &unwrapped(&whole), named.word);
            }
        }
        tally.end_text(group);
    }

    /// Runs all detectors that look at bytes only, without field names but for those of numbers. Passes on each match with its place in
    /// `text`.
    fn scan(&self, text: &[u8], name: &[u8], see: &mut SeeMatch<'_>) {
        match Folded::of(text) {
            None => self.detect(text, name, &mut |seen, kind, range| {
                see(seen, kind, text.get(range.clone()).unwrap_or_default(), range);
            }),
            Some(folded) => self.detect(&folded.text, name, &mut |seen, kind, range| {
                see(seen, kind, folded.text.get(range.clone()).unwrap_or_default(), folded.origin(&range));
            }),
        }
    }

    fn detect(&self, text: &[u8], name: &[u8], see: &mut dyn FnMut(MatchStrength, SensitiveKind, Range<usize>)) {
        const NUMBERS: SensitiveKinds = SensitiveKinds::from_bits(
            1 << SensitiveKind::Phone as u8 | 1 << SensitiveKind::IdCard as u8 | 1 << SensitiveKind::BankCard as u8,
        );
        if !self.kinds.both(NUMBERS).is_empty() {
            digits::scan(text, &Wanted::new(self.kinds, name), see);
        }
        if self.kinds.has(SensitiveKind::Email) {
            email::scan(text, |range| see(MatchStrength::Found, SensitiveKind::Email, range));
        }
        if self.kinds.has(SensitiveKind::Jwt) {
            token::scan_jwt(text, |range| see(MatchStrength::Found, SensitiveKind::Jwt, range));
        }
        if self.kinds.has(SensitiveKind::Password) {
            connection::scan(text, |range| see(MatchStrength::Found, SensitiveKind::Password, range));
            labelled::scan(text, |range| see(MatchStrength::Found, SensitiveKind::Password, range));
        }
        if self.kinds.has(SensitiveKind::PrivateKey) {
            token::scan_private_key(text, |range| see(MatchStrength::Found, SensitiveKind::PrivateKey, range));
        }
    }
}

/// Returns whether a text is a number, blanks aside.
fn is_digits(text: &[u8]) -> bool {
    text.trim_ascii().iter().all(u8::is_ascii_digit)
}

/// Splits off the last word of a name in camel case.
fn split_hump(name: &[u8]) -> (&[u8], &[u8]) {
    let hump = name.windows(2).rposition(|pair| is_hump(pair[0], pair[1]));
    name.split_at(hump.map_or(0, |hump| hump + 1))
}

/// Tells fields apart.
fn hash(field: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(field);
    hasher.finish()
}

/// Limits a name to the length that is inspected of values, since names may be as long.
fn beginning(name: &[u8]) -> &[u8] {
    name.get(..MAX_TEXT_BYTES).unwrap_or(name)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::*;

    /// Returns an inspection of all kinds.
    pub fn everything() -> Inspection {
        Inspection {
            kinds: SensitiveKind::ALL.into_iter().collect(),
            fields: FIELDS.iter().map(|word| (*word).to_owned()).collect(),
            names: NAMES.iter().map(|word| (*word).to_owned()).collect(),
            separators: Separators::default(),
        }
    }

    /// Returns the verdict on the text of a value, with evidence.
    pub fn verdict(text: &[u8]) -> ValueVerdict {
        let mut tally = MatchTally::new(SensitiveKinds::ALL);
        let separators = &Separators::default();
        let key = KeyWords { name: b"", password: None, of_amount: false, of_serial: false, separators };
        everything().text(text, b"", TextGroup::Single(SecretPlace::Value), None, &key, &mut tally);
        tally.finish()
    }

    fn kinds(text: &str, which: impl Fn(&ValueVerdict) -> SensitiveKinds) -> Vec<SensitiveKind> {
        let verdict = verdict(text.as_bytes());
        SensitiveKind::ALL.into_iter().filter(|kind| which(&verdict).has(*kind)).collect()
    }

    /// Returns the kinds found in a text.
    pub fn found(text: &str) -> Vec<SensitiveKind> {
        kinds(text, |verdict| verdict.found)
    }

    /// Returns the kinds of near misses in a text.
    pub fn near(text: &str) -> Vec<SensitiveKind> {
        kinds(text, |verdict| verdict.near)
    }
}

#[cfg(test)]
mod tests;
