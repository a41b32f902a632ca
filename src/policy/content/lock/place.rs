//! Place of the word `lock` among the segments of a name.

use std::net::Ipv4Addr;
use std::ops::BitOr;
use std::str::FromStr;

use super::subjects::{
    ATTRIBUTES, BOOKABLE, CLOSED, COMPOUNDS, COUNTED, DEVICES, FUNDS, GAME_THINGS, GAMES, GUARDED, KEPT, LOCKABLE,
    LOCKED_OUT, LOGINS, MEASURES, PARTIES, PEOPLE, PLACES, PROPERTIES, SETTINGS, THINGS, TRADED, WORK,
};
use super::words::{EXCLUSIONS, NAMES, SURE_NAMES};
use crate::policy::content::{is_one_of, without_braces, words_of};
use crate::policy::environments::is_environment;

/// Position of the word among the segments of a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LockPosition {
    /// First segment, a prefix that the standards agree on: `lock:order:7`. Also stands for names of locks other than `lock` between
    /// segments, and for names without the word.
    #[default]
    Prefix,
    /// Between two segments: `shop:lock:order:7`.
    Inner,
    /// Between two segments, and one of the [`EXCLUSIONS`]: `course:mutex:cs101`.
    Exclusion,
    /// Last segment: `order:7:lock`.
    Last,
    /// Last segment, in a spelling that means nothing but locks: `job:7:distlock`.
    SureLast,
    /// Part of a segment: `order_lock:7`.
    Part,
}

/// Hints of the other segments at what the key may be if it is no lock: a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Hints(u16);

impl Hints {
    /// The subject of the lock stands before the word, rather than only an environment and the name of a system.
    pub const SUBJECT: Hints = Hints(1);
    /// The segment before or after the word names something that can be locked: `login`, `device`.
    pub const LOCKABLE: Hints = Hints(1 << 1);
    /// The segment before the word names a person: `user`.
    pub const PERSON: Hints = Hints(1 << 2);
    /// The segment before the word names something that people reserve, sign or close: `seat`, `contract`.
    pub const BOOKABLE: Hints = Hints(1 << 3);
    /// The segment before the word is [bookable](Hints::BOOKABLE), or one of the other [`PLACES`] before an id: `table:lock:7`.
    pub const PLACE: Hints = Hints(1 << 4);
    /// The segment before the word names a [place](Hints::PLACE) that is hardly traded: a flag without an expiry says that it is taken.
    pub const RESERVED: Hints = Hints(1 << 5);
    /// The address of somebody who may be locked out follows, perhaps behind a word such as `hit`.
    pub const ADDRESS: Hints = Hints(1 << 6);
    /// The segment before the word names money that may be locked in an account: `wallet`.
    pub const FUNDS: Hints = Hints(1 << 7);
    /// Any segment names something that is counted: `stock`.
    pub const COUNTED: Hints = Hints(1 << 8);
    /// The segment before or after the word names something that is counted.
    pub const STOCK: Hints = Hints(1 << 9);
    /// The segment after the word names a property, and only ids or people follow (`lock:status:7`), or a property is the only name behind
    /// it (`lock:8812:firmware`).
    pub const PROPERTY: Hints = Hints(1 << 10);
    /// The segment before the word names a thing that has a lock, such as `room`; if the position is last or part, any segment does.
    pub const THING: Hints = Hints(1 << 11);

    /// Returns the hints if a condition holds, otherwise none.
    fn when(self, holds: bool) -> Hints {
        if holds { self } else { Hints::default() }
    }
}

impl BitOr for Hints {
    type Output = Hints;

    fn bitor(self, other: Hints) -> Hints {
        Hints(self.0 | other.0)
    }
}

/// Position of the word `lock` in a name, with the hints of the other segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockPlace {
    /// Position of the word.
    pub position: LockPosition,
    hints: Hints,
}

/// Values other than locks that the segments behind the word `lock` announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beside {
    /// True if one names a measure of locks, such as `fencing` or `ttl`.
    pub measure: bool,
    /// True if one names a measure or a setting, and none names work that a lock may be about: `lock:switch:order`, not
    /// `lock:config:refresh`.
    pub detail: bool,
    /// True if the word is the first segment, and the one after it is about logging in.
    pub login: bool,
}

impl Beside {
    /// Looks behind the first name of locks that another segment follows.
    pub fn of(name: &[u8]) -> Beside {
        let mut behind = segments_of(name);
        let mut is_first = true;
        while let Some(segment) = behind.next() {
            if is_lock_name(segment)
                && let Some(after) = behind.clone().next()
            {
                let has = |list: &str| {
                    let last_word = |segment| words_of(segment).next_back().unwrap_or_default();
                    behind.clone().any(|segment| is_word_of(segment, list) || is_word_of(last_word(segment), list))
                };
                let does = |segment| words_of(segment).any(|word| is_word_of(word, WORK));
                let measure = has(MEASURES);
                let detail = (measure || has(KEPT)) && !behind.clone().any(does);
                return Beside { measure, detail, login: is_first && is_word_of(after, LOGINS) };
            }
            is_first = false;
        }
        Beside::default()
    }
}

impl LockPlace {
    /// Returns whether the other segments give one of these hints.
    pub fn has(self, hints: Hints) -> bool {
        self.hints.0 & hints.0 != 0
    }

    /// Returns whether only a value that nothing but a holder writes makes the key a lock.
    pub fn needs_proof(self) -> bool {
        matches!(self.position, LockPosition::Last | LockPosition::Part)
    }

    /// Finds the word in a name.
    pub fn of(name: &[u8]) -> LockPlace {
        let segments = || segments_of(name);
        let (mut before, mut earlier): (Option<&[u8]>, Option<&[u8]>) = (None, None);
        let mut names = 0;
        let mut rest = segments();
        while let Some(segment) = rest.next() {
            if is_one_of(segment, &[b"lock", b"locks"])
                && let Some(after) = rest.next()
            {
                let Some(before) = before else { return LockPlace::default() };
                let is_counted = |segment: &[u8]| is_one_of(segment, &COUNTED);
                let hints = Hints::COUNTED.when(segments().any(is_counted))
                    | Hints::STOCK.when(is_counted(before) || is_counted(after))
                    | hints_before(before, after)
                    | hints_after(after, rest.clone().next())
                    | hints_between(names, before, after, rest);
                return LockPlace { position: LockPosition::Inner, hints };
            }
            if is_one_of(segment, &EXCLUSIONS)
                && let (Some(before), Some(after)) = (before, rest.clone().next())
            {
                let hints = hints_between(names, before, after, rest.skip(1));
                return LockPlace { position: LockPosition::Exclusion, hints };
            }
            if is_lock_name(segment) && rest.clone().next().is_some() {
                return LockPlace::default();
            }
            names += usize::from(before.is_some() || !is_environment(segment));
            (earlier, before) = (before, Some(segment));
        }
        match before {
            Some(last) if is_one_of(last, &SURE_NAMES) => {
                let is_setting = earlier.is_some_and(|before| is_one_of(before, &SETTINGS));
                LockPlace { position: LockPosition::SureLast, hints: Hints::PROPERTY.when(is_setting) }
            }
            Some(last) if is_lock_name(last) => {
                let of_thing = |segment: &[u8]| is_one_of(segment, &LOCKABLE) || is_one_of(segment, &THINGS);
                LockPlace { position: LockPosition::Last, hints: Hints::THING.when(segments().any(of_thing)) }
            }
            _ => LockPlace::default(),
        }
    }

    /// Returns the place of the word as a part of a segment of a name. Words of any segment may name a thing that has a lock.
    pub fn of_part(name: &[u8]) -> LockPlace {
        let names_thing =
            |word: &[u8]| is_one_of(word, &LOCKABLE) || is_one_of(word, &THINGS) || is_word_of(word, DEVICES);
        let of_thing = segments_of(name).any(|segment| names_thing(segment) || words_of(segment).any(names_thing));
        LockPlace { position: LockPosition::Part, hints: Hints::THING.when(of_thing) }
    }
}

/// Returns the hints of the segment before the word, given the one behind it.
fn hints_before(before: &[u8], after: &[u8]) -> Hints {
    let is_bookable = is_one_of(before, &BOOKABLE);
    let is_place = is_bookable || is_one_of(before, &PLACES) && is_id(after);
    Hints::LOCKABLE.when(is_one_of(before, &LOCKABLE) || is_word_of(before, GUARDED) && is_id(after))
        | Hints::PERSON.when(is_one_of(before, &PEOPLE))
        | Hints::THING.when(is_one_of(before, &THINGS))
        | Hints::BOOKABLE.when(is_bookable)
        | Hints::PLACE.when(is_place)
        | Hints::RESERVED.when(is_place && !is_one_of(before, &TRADED))
        | Hints::FUNDS.when(is_word_of(before, FUNDS) && is_id(after))
}

/// Returns the hints of the segment behind the word, given the next one.
fn hints_after(after: &[u8], next: Option<&[u8]>) -> Hints {
    let is_behind_word = is_word_of(after, LOCKED_OUT) && next.is_some_and(is_address);
    Hints::LOCKABLE.when(is_one_of(after, &LOCKABLE)) | Hints::ADDRESS.when(is_address(after) || is_behind_word)
}

/// Returns the hints of the segments around the word together, given the number of names before it and the segments behind `after`.
fn hints_between<'n>(
    names: usize,
    before: &[u8],
    after: &[u8],
    mut rest: impl Iterator<Item = &'n [u8]> + Clone,
) -> Hints {
    let is_property = |segment: &[u8]| is_one_of(segment, &PROPERTIES);
    let follows = |segment: &[u8]| is_id(segment) || is_one_of(segment, &PEOPLE);
    let has_subject = names > 1 || is_id(after) && rest.clone().all(is_id);
    let is_of_property = is_one_of(before, &SETTINGS)
        || is_one_of(after, &COMPOUNDS)
        || is_property(after) && rest.clone().all(follows)
        || is_id(after) && rest.find(|segment| !is_id(segment)).is_some_and(is_property) && rest.next().is_none();
    Hints::SUBJECT.when(has_subject) | Hints::PROPERTY.when(is_of_property)
}

/// Returns the segments of a name, without braces around them.
fn segments_of(name: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    name.split(|byte| matches!(byte, b':' | b'/' | b'|' | b'#')).map(without_braces)
}

/// Returns whether a name says before `lock` who or what may be blocked or closed, and behind it only which one: `app:driver:lock:7`,
/// `hr:payroll:lock:202611`, not `pay:merchant:lock:settle:7`, which locks a settlement, nor `driver:lock:order:7`.
pub fn may_be_blocked(name: &[u8]) -> bool {
    let (mut before, mut names) = (None, 0);
    let mut rest = segments_of(name);
    while let Some(segment) = rest.next() {
        if is_one_of(segment, &[b"lock", b"locks"]) {
            let (Some(subject), Some(after)) = (before, rest.next()) else { return false };
            let is_alone = is_id(after) && rest.clone().all(is_id) || names > 1 && rest.next().is_none();
            return is_alone && names_blockable(subject, segments_of(name));
        }
        names += usize::from(before.is_some() || !is_environment(segment));
        before = Some(segment);
    }
    false
}

/// Returns whether a name is about the state of something, so that a value may say since when it is locked or from where.
pub fn names_state(name: &[u8]) -> bool {
    let (place, beside) = (LockPlace::of(name), Beside::of(name));
    place.has(Hints::LOCKABLE | Hints::PERSON | Hints::THING | Hints::PLACE | Hints::ADDRESS)
        || beside.login
        || beside.measure
        || may_be_blocked(name)
}

/// Returns whether the segment before `lock` names who or what may be blocked or closed, in the singular or plural.
fn names_blockable<'n>(subject: &[u8], mut segments: impl Iterator<Item = &'n [u8]>) -> bool {
    let singular = subject.strip_suffix(b"s").unwrap_or(subject);
    let is_among = |words: &str| is_word_of(subject, words) || is_word_of(singular, words);
    [PARTIES, DEVICES, CLOSED].into_iter().any(is_among)
        || [&PEOPLE[..], &LOCKABLE, &THINGS].into_iter().any(|words| is_one_of(singular, words))
        || is_among(GAME_THINGS) && segments.any(|segment| is_word_of(segment, GAMES))
}

/// Returns whether a text is one of the words between blanks, in whatever case.
fn is_word_of(text: &[u8], words: &str) -> bool {
    words.split_ascii_whitespace().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Returns whether a segment is an IPv4 or e-mail address.
fn is_address(segment: &[u8]) -> bool {
    let text = std::str::from_utf8(segment).unwrap_or_default();
    let is_mail = |(name, host): (&str, &str)| {
        !name.is_empty()
            && host.contains('.')
            && host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    Ipv4Addr::from_str(text).is_ok() || text.split_once('@').is_some_and(is_mail)
}

/// Returns whether a name is that of an attribute of a lock that is a thing: `lock:7:battery`.
pub fn names_attribute(name: &[u8]) -> bool {
    let mut segments = segments_of(name);
    let is_first = segments.next().is_some_and(|first| is_one_of(first, &[b"lock", b"locks"]));
    let mut last = None;
    let mut ids = 0;
    for segment in segments {
        match last.replace(segment) {
            Some(id) if !is_id(id) => return false,
            Some(_) => ids += 1,
            None => {}
        }
    }
    is_first && ids > 0 && last.is_some_and(|last| is_word_of(last, ATTRIBUTES))
}

fn is_id(segment: &[u8]) -> bool {
    segment.iter().any(u8::is_ascii_digit)
}

/// Returns whether a segment is one of the usual [`NAMES`] of locks, in whatever case.
pub fn is_lock_name(segment: &[u8]) -> bool {
    NAMES.iter().any(|name| segment.eq_ignore_ascii_case(name.as_bytes()))
}
