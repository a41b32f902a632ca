//! Place of the word `lock` among the segments of a name.

use super::subjects::{
    ATTRIBUTES, BOOKABLE, CLOSED, COMPOUNDS, COUNTED, DEVICES, FUNDS, GAME_THINGS, GAMES, GUARDED, KEPT, LOCKABLE,
    LOCKED_OUT, LOGINS, MEASURES, PARTIES, PEOPLE, PLACES, PROPERTIES, SETTINGS, THINGS, TRADED, WORK,
};
use super::words::{EXCLUSIONS, NAMES, SURE_NAMES};
use std::net::Ipv4Addr;
use std::str::FromStr;

use crate::policy::content::{is_one_of, words_of};
use crate::policy::environments::is_environment;

/// Place of the word `lock` in a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LockPlace {
    /// True if a segment stands before it. As the first segment it is a prefix that the standards agree on.
    pub is_inner: bool,
    /// True if what it is the lock of stands before it, rather than only an environment and the name of a system.
    pub has_subject: bool,
    /// True if the segment before or after it names something that can be locked.
    pub of_lockable: bool,
    /// True if the segment before it names a person.
    pub of_person: bool,
    /// True if the segment before it names something that people reserve, sign or close.
    pub of_bookable: bool,
    /// True if that is so, or if the segment before it is one of the other [PLACES] and an id follows.
    pub of_place: bool,
    /// True if a flag without an expiry says that what stands before it is reserved.
    pub of_reserved: bool,
    /// True if the address of somebody who may be locked out follows, perhaps behind a word such as `hit`.
    pub of_address: bool,
    /// True if the segment before it names money that may be locked in an account.
    pub of_funds: bool,
    /// True if a segment names something that is counted.
    pub of_counted: bool,
    /// True if that is the segment before or after it.
    pub of_stock: bool,
    /// True if the segment after it names a property, and only ids or people follow, or if one names it behind nothing but ids
    /// (`lock:8812:firmware`).
    pub is_property: bool,
    /// True if only a value that nothing but a lock holds makes the key one: no segment stands after the word, or it is a part of one.
    pub needs_proof: bool,
    /// True if the word is a part of a segment.
    pub is_part: bool,
    /// True if no segment stands after it, and it means nothing but locks.
    pub is_bare_last: bool,
    /// True if the segment before it, or if it needs proof any segment, names a thing that has a lock.
    pub of_thing: bool,
}

/// Values other than locks that the segments behind the word `lock` announce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Beside {
    /// True if one names a measure of locks, such as `fencing` or `ttl`.
    pub measure: bool,
    /// True if that is so, or if one names a setting, and none names work that a lock may be about.
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
    /// Finds the word in a name. All is false if it is absent, the first segment, or behind another name of locks. Behind
    /// one of the [EXCLUSIONS], only `has_subject` and `is_property` are set.
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
                let of_bookable = is_one_of(before, &BOOKABLE);
                let of_place = of_bookable || is_one_of(before, &PLACES) && is_id(after);
                let follows = rest.clone().next().filter(|_| is_word_of(after, LOCKED_OUT));
                return LockPlace {
                    is_inner: true,
                    of_lockable: is_one_of(before, &LOCKABLE)
                        || is_one_of(after, &LOCKABLE)
                        || is_word_of(before, GUARDED),
                    of_reserved: of_place && !is_one_of(before, &TRADED),
                    of_address: is_address(after) || follows.is_some_and(is_address),
                    of_funds: is_word_of(before, FUNDS) && is_id(after),
                    of_person: is_one_of(before, &PEOPLE),
                    of_thing: is_one_of(before, &THINGS),
                    of_bookable,
                    of_place,
                    of_counted: segments().any(|segment| is_one_of(segment, &COUNTED)),
                    of_stock: is_one_of(before, &COUNTED) || is_one_of(after, &COUNTED),
                    ..LockPlace::between(names, before, after, rest)
                };
            }
            if is_one_of(segment, &EXCLUSIONS)
                && let (Some(before), Some(after)) = (before, rest.clone().next())
            {
                return LockPlace::between(names, before, after, rest.skip(1));
            }
            if is_lock_name(segment) && rest.clone().next().is_some() {
                return LockPlace::default();
            }
            names += usize::from(before.is_some() || !is_environment(segment));
            (earlier, before) = (before, Some(segment));
        }
        match before {
            Some(last) if is_one_of(last, &SURE_NAMES) => LockPlace {
                is_inner: true,
                is_bare_last: true,
                is_property: earlier.is_some_and(|before| is_one_of(before, &SETTINGS)),
                ..LockPlace::default()
            },
            Some(last) if is_lock_name(last) => {
                let of_thing = |segment: &[u8]| is_one_of(segment, &LOCKABLE) || is_one_of(segment, &THINGS);
                LockPlace { needs_proof: true, of_thing: segments().any(of_thing), ..LockPlace::default() }
            }
            _ => LockPlace::default(),
        }
    }

    /// Returns the place of the word as a part of a segment of a name. Words of any segment may name a thing that has a lock.
    pub fn of_part(name: &[u8]) -> LockPlace {
        let names_thing =
            |word: &[u8]| is_one_of(word, &LOCKABLE) || is_one_of(word, &THINGS) || is_word_of(word, DEVICES);
        let of_thing = segments_of(name).any(|segment| names_thing(segment) || words_of(segment).any(names_thing));
        LockPlace { needs_proof: true, is_part: true, of_thing, ..LockPlace::default() }
    }

    /// Returns what the segments around the word say, given the number of names before it and the segments behind `after`.
    fn between<'n>(
        names: usize,
        before: &[u8],
        after: &[u8],
        mut rest: impl Iterator<Item = &'n [u8]> + Clone,
    ) -> LockPlace {
        let is_property = |segment: &[u8]| is_one_of(segment, &PROPERTIES);
        let follows = |segment: &[u8]| is_id(segment) || is_one_of(segment, &PEOPLE);
        LockPlace {
            has_subject: names > 1 || is_id(after) && rest.clone().all(is_id),
            is_property: is_one_of(before, &SETTINGS)
                || is_one_of(after, &COMPOUNDS)
                || is_property(after) && rest.clone().all(follows)
                || is_id(after)
                    && rest.find(|segment| !is_id(segment)).is_some_and(is_property)
                    && rest.next().is_none(),
            ..LockPlace::default()
        }
    }
}

/// Returns the segments of a name, without braces around them.
fn segments_of(name: &[u8]) -> impl Iterator<Item = &[u8]> + Clone {
    let pieces = name.split(|byte| matches!(byte, b':' | b'/' | b'|' | b'#'));
    pieces.map(|piece| piece.strip_prefix(b"{").unwrap_or(piece)).map(|piece| piece.strip_suffix(b"}").unwrap_or(piece))
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
    place.of_lockable
        || place.of_person
        || place.of_thing
        || place.of_place
        || place.of_address
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
