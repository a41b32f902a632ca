//! Recognition of distributed locks among keys that have `lock` in their names.
//!
//! The word alone does not make a lock: `iot:device:lock:7` describes the lock of a door, `user:login:lock:7` says that an account is
//! locked, `stock:lock:sku:7` counts reserved goods. The value and the segments around the word decide. A value that is random, or that
//! cannot be read, is never a reason against a lock.
//!
//! A **hash** is a lock if its fields name a holder:
//!
//! - one field `uuid:thread` with a count, as Redisson writes it, or several with a `mode`;
//! - or only fields whose names consist of words such as `owner`, `token`, `expire`, `at`. A part of the key's name is no holder, nor is an
//!   amount.
//!
//! A **string** is a lock unless it is one of the following:
//!
//! - data, whatever the name is: JSON that names no holder, a number with decimals, a version, numbers or ids with commas between them, a
//!   URL, more than 512 bytes;
//! - something kept beside locks, named behind the word: `lock:order:fencing:7` is 33, `lock:switch:order` is `on`, `lock:7:battery` is 77,
//!   a property such as `lock:status` or `lock:screen`;
//! - a whole number of up to six digits other than 1 whose subject stands before the word, since it is an amount, a version or a count:
//!   `ad:budget:lock:7`. In `shop:lock:order:7` the subject follows, and the number may be that of a process or thread. Longer numbers may
//!   be times;
//! - a state of what stands before the word, which only [`LockPosition::Inner`] has: a flag that says no; a flag or number beside `login`,
//!   `device` or `user`; a number behind `stock`, `seat` or `wallet`; the person who has reserved something (`house:lock:7` is `u8812`), or
//!   its state (`contract:lock:7` is `signed`); without an expiry, a flag of somebody who is blocked or something that is closed
//!   (`driver:lock:7`, `hr:payroll:lock:202611`), and words that name no holder (`shop:lock:theme` is `dark`); a flag or word before an
//!   address (`gw:lock:10.0.0.9` is `blocked`); a text of several words.
//!
//! `mutex` and `dlock` have other meanings, too: behind them, short numbers and properties are no locks either. All other names of
//! locks mean nothing else.
//!
//! As the **last** segment (`order:7:lock`) the word is mostly a property of the segment before it, and as a [part](parts) of a segment
//! (`order_lock:7`, `订单锁:7`) it has many meanings. There, only two values are [proof] of a lock: a string with a UUID or another token as
//! libraries write them, and a hash with a random holder and its count. A string in a name with a thing that can be locked (`room:12:lock`) is
//! none. Names that mean nothing else (`job:7:distlock`) need no proof as the last segment, but flags and numbers there may be settings and
//! counters of the locks.

mod constant;
mod parts;
mod place;
mod predictable;
mod proof;
mod subjects;
mod times;
mod words;

pub use constant::is_constant;
pub use parts::{has_lock_part, may_have_lock_part, may_have_lock_word};
pub use place::is_lock_name;
pub use predictable::is_predictable;
pub use times::is_stamp;
pub use words::NAMES;

use place::{Beside, Hints, LockPlace, LockPosition, may_be_blocked, names_attribute};
use proof::{is_proof, is_redisson_holder};
use subjects::STATES;
use times::is_date;
use words::{
    BUSY, CHINESE_PROGRAMS, DETAILS, FIELD_ADDITIONS, FIELD_WORDS, HELD, HOLDERS, HOLDING, NO, PERSONS, PROGRAMS, SHUT,
    YES,
};

use super::random::has_random;
use super::serialized::unwrapped;
use super::{is_hump, is_one_of};
use crate::rdb::peek::{PeekBuffers, RawValue, ValuePart};
use crate::record::{Kind, Record};

/// Longest value of a lock, in bytes.
const MAX_VALUE_LEN: usize = 512;
/// Bytes of a value that are searched for something random.
const EXAMINED: usize = 256;
/// Most fields of a lock, and most members of an object that names the holder of one.
const MAX_FIELDS: u64 = 8;
/// Digits of the shortest time, in seconds.
const TIME_DIGITS: usize = 10;
/// Digits of a time in milliseconds.
const MILLIS_DIGITS: usize = 13;
/// Digits of the id of a person, and most letters before them.
const MIN_ID_LEN: usize = 3;
const MAX_ID_LEN: usize = 20;
const MAX_LETTERS: usize = 3;
/// Longest name of a field of a lock, in bytes.
const MAX_FIELD_LEN: usize = 48;
/// Most digits of a number that is no holder's, whatever it counts. Longer ones may be times or random.
const FIGURE_DIGITS: usize = 6;

/// Form in which a name says that its key may be a lock.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum LockName {
    /// A word of the policy as a segment: what the key holds must not show something else.
    #[default]
    Segment,
    /// `lock` as a part of a segment: what the key holds must prove it.
    Part,
}

impl LockName {
    /// Returns whether a key with such a name may be a lock.
    pub fn may_be_lock(self, record: &Record<'_>) -> bool {
        match self {
            LockName::Segment => may_be_lock(record),
            LockName::Part => may_be_lock_at(record, LockPlace::of_part(record.key)),
        }
    }
}

/// Returns whether a key named like a lock may be one, by its type and value.
///
/// Helpers of Redisson are none: the key of each reader of a read-write lock (`{lock:7}:uuid:31:rwlock_timeout:1`), which always holds 1,
/// the counter of a fenced lock (`redisson_lock_token:{lock:7}`), and the result of each unlocking (`redisson_unlock_latch:{lock:7}:…`).
pub fn may_be_lock(record: &Record<'_>) -> bool {
    may_be_lock_at(record, LockPlace::of(record.key))
}

fn may_be_lock_at(record: &Record<'_>, place: LockPlace) -> bool {
    let may_hold_lock = match (record.kind, record.raw) {
        (Kind::String, Some(raw)) => string_may_be_lock(record, raw, place),
        (Kind::Hash, Some(raw)) => hash_may_be_lock(record, raw, place),
        (kind, _) => !place.needs_proof() && matches!(kind, Kind::String | Kind::Hash),
    };
    // The counter of a fenced lock never expires: its numbers may only grow.
    let is_helper = memchr::memmem::find(record.key, b":rwlock_timeout:").is_some()
        || [&b"redisson_lock_token:"[..], b"redisson_unlock_latch:"]
            .iter()
            .any(|helper| record.key.starts_with(helper));
    may_hold_lock && !is_helper
}

fn hash_may_be_lock(record: &Record<'_>, raw: RawValue<'_>, place: LockPlace) -> bool {
    let is_settings = place.position == LockPosition::SureLast && place.has(Hints::PROPERTY);
    if is_settings || record.length.is_some_and(|length| length > MAX_FIELDS) {
        return false;
    }
    let (mut pairs, mut suits, mut names_holder) = (0, true, false);
    let (mut counted, mut has_mode) = (0, false);
    raw.peek(&mut PeekBuffers::default(), |part| {
        let ValuePart::Pair(field, value) = part else { return };
        pairs += 1;
        let counts = is_number(value)
            && match place.position {
                LockPosition::Part => is_redisson_holder(field),
                LockPosition::Last => has_random(examined(field)),
                LockPosition::Prefix | LockPosition::Inner | LockPosition::Exclusion | LockPosition::SureLast => {
                    is_holder(field, record.key)
                }
            };
        counted += usize::from(counts);
        has_mode |= field == b"mode";
        let holds = counts || !place.needs_proof() && says_holder(field, value, record.key);
        names_holder |= holds;
        suits &= holds || is_of_lock(field);
    });
    // Only the readers of a lock are several.
    pairs == 0 && !place.needs_proof() || suits && names_holder && (counted <= 1 || has_mode)
}

/// Returns whether a field and its value say who holds a lock: `owner`, `lockedByClientId`. A part of the name of the key is no holder, nor
/// is an amount a value that one left.
fn says_holder(field: &[u8], value: &[u8], key: &[u8]) -> bool {
    if !has_any(field, &HOLDERS) || is_segment(value, key) {
        return false;
    }
    let is_amount = has_any(field, &[b"value"]) && (is_figure(value) || is_decimal(value) || value == b"1");
    has_random(examined(value)) || is_of_lock(field) && !is_amount
}

/// Returns whether the name of a field consists of words that say something about a lock: `expireAt`, `lock_owner`, not `lock_reason`.
fn is_of_lock(field: &[u8]) -> bool {
    let letters: Vec<u8> = field
        .iter()
        .take(MAX_FIELD_LEN + 1)
        .filter(|byte| !b"_-. ".contains(byte))
        .map(u8::to_ascii_lowercase)
        .collect();
    field.len() <= MAX_FIELD_LEN && consists_of_words(&letters, false)
}

/// Returns whether a text is words of the fields of a lock, one after the other, of which not all are additions.
fn consists_of_words(text: &[u8], says_something: bool) -> bool {
    let goes_on = |word: &&[u8], says| text.strip_prefix(*word).is_some_and(|rest| consists_of_words(rest, says));
    let mut meaningful = HOLDERS.iter().chain(&DETAILS).chain(&FIELD_WORDS);
    text.is_empty() && says_something
        || meaningful.any(|word| goes_on(word, true))
        || FIELD_ADDITIONS.iter().any(|word| goes_on(word, says_something))
}

/// Returns whether a text is a segment of the name of a key.
fn is_segment(text: &[u8], key: &[u8]) -> bool {
    key.split(|byte| matches!(byte, b':' | b'/' | b'|' | b'#' | b'{' | b'}')).any(|segment| segment == text)
}

/// Returns whether a field is that of a reentrant lock: something random, or a name and the number of a thread, which no time is, nor the
/// id of what the key is about.
fn is_holder(field: &[u8], key: &[u8]) -> bool {
    let colon = field.iter().rposition(|&byte| byte == b':');
    let (name, thread) = colon.map_or((&b""[..], &b""[..]), |at| (&field[..at], &field[at + 1..]));
    let names_thread = is_number(thread) && name.iter().any(u8::is_ascii_alphabetic) && !is_segment(name, key);
    names_thread || has_random(examined(field))
}

fn string_may_be_lock(record: &Record<'_>, raw: RawValue<'_>, place: LockPlace) -> bool {
    if record.length.is_some_and(|length| length > MAX_VALUE_LEN as u64) {
        return false;
    }
    let Some(value) = raw.short_string(MAX_VALUE_LEN) else { return !place.needs_proof() };
    let scalar = unwrapped(&value);
    let value = LockText::of(scalar.trim_ascii(), record);
    if place.needs_proof() && (place.has(Hints::THING) || !is_proof(value.text)) {
        return false;
    }
    match value.text {
        [b'{', members @ .., b'}'] if members.contains(&b':') => return names_holder(members),
        [b'[', .., b']'] => return has_random(examined(value.text)),
        _ => {}
    }
    // A long id without an expiry is that of the person who has the place, `seat:lock:7` = `20261101001`, and no token.
    if place.has(Hints::PLACE) && !value.expires && is_long_id(value.text) {
        return false;
    }
    has_random(examined(value.text))
        || !(looks_like_data(value.text)
            || is_beside_locks(&value, record.key, place)
            || is_state(&value, record.key, place))
}

/// Text of a string that may be a lock.
struct LockText<'v> {
    text: &'v [u8],
    /// True if the key expires.
    expires: bool,
    /// True if the text is a word for no, such as `0` or `open`.
    says_no: bool,
    /// True if it is a word for yes or no.
    is_flag: bool,
    /// True if it is a whole number that is too short for a time.
    is_small: bool,
}

impl<'v> LockText<'v> {
    fn of(text: &'v [u8], record: &Record<'_>) -> Self {
        let says_no = is_one_of(text, &NO);
        LockText {
            text,
            expires: record.expires_at.is_some(),
            says_no,
            is_flag: says_no || is_one_of(text, &YES),
            is_small: is_number(text) && text.len() < TIME_DIGITS,
        }
    }
}

/// Returns whether a text is data that no holder leaves, whatever the name of the key is.
fn looks_like_data(text: &[u8]) -> bool {
    is_decimal(text)
        || is_version(text)
        || are_numbers(text)
        || are_ids(text)
        || memchr::memmem::find(text, b"://").is_some()
}

/// Returns whether a value is kept beside locks: a property, an amount, a setting or a counter.
fn is_beside_locks(value: &LockText<'_>, name: &[u8], place: LockPlace) -> bool {
    let &LockText { text, expires, is_flag, .. } = value;
    let is_property = place.has(Hints::PROPERTY) && !(is_flag && expires);
    let is_switch_or_counter = || is_flag || text.is_empty() || is_number(text) && !is_time(text);
    is_property
        || place.has(Hints::SUBJECT) && is_figure(text)
        || is_kept_beside(text, name, expires)
        || place.position == LockPosition::SureLast && is_switch_or_counter()
        || place.position == LockPosition::Prefix && !expires && names_attribute(name)
}

/// Returns whether a value is the state of what stands before the word: reserved, closed, counted, blocked.
fn is_state(value: &LockText<'_>, name: &[u8], place: LockPlace) -> bool {
    if !matches!(place.position, LockPosition::Inner | LockPosition::SureLast) {
        return false;
    }
    let &LockText { text, expires, says_no, is_flag, is_small } = value;
    let is_figure = is_small && !is_flag;
    let names_none = || is_setting(text);
    is_prose(text)
        || says_no
        || place.has(Hints::LOCKABLE | Hints::PERSON) && (is_small || is_flag)
        || place.has(Hints::STOCK) && is_figure
        || place.has(Hints::ADDRESS) && (is_flag || is_number(text) || names_none())
        || place.has(Hints::BOOKABLE) && (is_figure || is_one_of(text, &STATES))
        || place.has(Hints::PLACE) && is_person(text)
        || !expires && (is_lasting_state(value, name, place) || !is_flag && names_none())
}

/// Returns whether a value without an expiry is a state that lasts until somebody changes it.
fn is_lasting_state(value: &LockText<'_>, name: &[u8], place: LockPlace) -> bool {
    let &LockText { text, is_flag, is_small, .. } = value;
    let may_last = is_flag || is_one_of(text, &BUSY);
    let can_be_locked = || place.has(Hints::LOCKABLE | Hints::PERSON | Hints::THING);
    place.has(Hints::THING) && (is_small || is_flag)
        || place.has(Hints::COUNTED) && is_small && !is_flag
        || place.has(Hints::FUNDS) && is_amount(text)
        || place.has(Hints::RESERVED) && is_flag
        || place.has(Hints::SUBJECT) && is_one_of(text, &SHUT)
        || may_last && (can_be_locked() || may_be_blocked(name))
}

/// Returns whether a value is what the words behind `lock` say that is kept beside a lock: a number of it, whether something is on, a
/// setting. A flag with an expiry may be the lock of whatever they name.
fn is_kept_beside(value: &[u8], name: &[u8], expires: bool) -> bool {
    let is_number = is_number(value) && value != b"1";
    let says_no = is_one_of(value, &NO);
    let is_flag = says_no || is_one_of(value, &YES);
    let is_measure = is_number || is_date(value);
    let says_something = is_measure || says_no || !expires && (is_one_of(value, &SHUT) || is_setting(value));
    if !says_something && (expires || !is_flag) {
        return false; // common case: any holder of the lock
    }
    let beside = Beside::of(name);
    beside.measure && is_measure
        || beside.detail && (says_something || beside.measure && !expires)
        || beside.login && is_number && value.len() < TIME_DIGITS && !is_flag
}

/// Returns whether a value is a time in seconds or milliseconds between 2014 and 2033.
fn is_time(value: &[u8]) -> bool {
    matches!(value.len(), TIME_DIGITS | MILLIS_DIGITS) && is_number(value) && matches!(value, [b'1', b'4'..=b'9', ..])
}

/// Returns whether a value is an amount of money by its form: a number with decimals, perhaps below zero or with an exponent (`1.5E7`), or
/// one in yuan. A time may have a fraction of a second.
fn is_decimal(value: &[u8]) -> bool {
    const MAX_WHOLE: usize = 15;
    const MAX_DECIMALS: usize = 18;
    let yuan = value.strip_suffix("元".as_bytes());
    let value = yuan.unwrap_or(value);
    let value = value.strip_prefix(b"-").unwrap_or(value);
    let exponent = value.iter().position(|&byte| matches!(byte, b'e' | b'E'));
    let (value, exponent) = value.split_at(exponent.unwrap_or(value.len()));
    let has_exponent = matches!(exponent, [_, digits @ ..] if is_number(digits) && digits.len() <= 2);
    let (whole, decimals) = value.split_at(value.iter().position(|&byte| byte == b'.').unwrap_or(value.len()));
    let has_decimals = decimals.get(1..).is_some_and(|digits| is_number(digits) && digits.len() <= MAX_DECIMALS);
    (has_decimals || decimals.is_empty() && yuan.is_some())
        && (exponent.is_empty() || has_exponent)
        && is_number(whole)
        && whole.len() <= MAX_WHOLE
        && !is_time(whole)
}

/// Returns whether a value is a version of three numbers, such as `v5.2.1`; addresses have four.
fn is_version(value: &[u8]) -> bool {
    let numbers = value.strip_prefix(b"v").unwrap_or(value).split(|byte| *byte == b'.');
    value.len() < TIME_DIGITS && numbers.clone().count() == 3 && numbers.clone().all(is_number)
}

/// Returns whether a value is a short whole number, perhaps below zero, that is not the 1 of a plain lock.
fn is_figure(value: &[u8]) -> bool {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    is_number(digits) && digits.len() <= FIGURE_DIGITS && value != b"1"
}

/// Returns whether a value may be an amount of money: a whole number that is neither the 1 of a plain lock nor a time.
fn is_amount(value: &[u8]) -> bool {
    is_number(value) && value.len() < MILLIS_DIGITS && value != b"1" && !is_time(value)
}

/// Returns whether a value consists of numbers with commas between them, such as coordinates.
fn are_numbers(value: &[u8]) -> bool {
    let is_coordinate = |number: &[u8]| {
        let number = number.trim_ascii();
        let digits = number.strip_prefix(b"-").unwrap_or(number);
        digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.') && !digits.is_empty()
    };
    value.contains(&b',') && value.split(|byte| *byte == b',').all(is_coordinate)
}

/// Returns whether a value is ids with commas between them, which differ in their numbers only: `cs102,cs103`.
fn are_ids(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let of_kind = |id: &[u8]| id.trim_ascii().strip_prefix(&value[..letters]).is_some_and(is_number);
    letters > 0 && value.contains(&b',') && value.split(|byte| *byte == b',').all(of_kind)
}

/// Returns whether a value is words that say nothing of a holder: `dark`, `FROZEN`, `under_review`, `已质押`.
fn is_setting(value: &[u8]) -> bool {
    if is_one_of(value, &HELD) {
        return false;
    }
    if !value.is_ascii() {
        let text = std::str::from_utf8(value).unwrap_or_default();
        let mut words = text.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
        let names_program = words.any(|word| CHINESE_PROGRAMS.iter().any(|end| word.ends_with(end)));
        return text.chars().any(|c| !c.is_ascii() && c.is_alphabetic()) && !names_program;
    }
    let mut rest = value;
    let mut is_first = true;
    while !rest.is_empty() {
        let (before, word) = split_word(rest);
        let names_program = is_first && !before.is_empty() && is_one_of(word, &PROGRAMS);
        if word.len() < 2 || !word.iter().all(u8::is_ascii_alphabetic) || names_program || is_one_of(word, &HOLDING) {
            return false;
        }
        (rest, is_first) = (before, false);
    }
    !value.is_empty()
}

/// Splits off the last word of a text, behind a mark or in camel case.
fn split_word(text: &[u8]) -> (&[u8], &[u8]) {
    let starts = |pair: &[u8]| matches!(pair[0], b'_' | b'-' | b' ') || is_hump(pair[0], pair[1]);
    let start = text.windows(2).rposition(starts).map_or(0, |at| at + 1);
    let (before, word) = text.split_at(start);
    (before.strip_suffix(b"_").or(before.strip_suffix(b"-")).or(before.strip_suffix(b" ")).unwrap_or(before), word)
}

/// Returns whether a value is the id of whoever has what can be booked, also one of more digits than other numbers: `20261101001`,
/// `A10023`, a mobile number. Times are none.
fn is_long_id(value: &[u8]) -> bool {
    let letters = value.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let (name, rest) = value.split_at(letters);
    let digits = rest.strip_prefix(b"-").or_else(|| rest.strip_prefix(b"_")).filter(|_| letters > 0).unwrap_or(rest);
    let is_time = letters == 0 && is_time(digits);
    let names_none = is_one_of(name, &HELD) || is_one_of(name, &HOLDING) || is_one_of(name, &PROGRAMS);
    (MIN_ID_LEN..=MAX_ID_LEN).contains(&digits.len())
        && is_number(digits)
        && !is_time
        && (letters <= MAX_LETTERS && !names_none || is_one_of(name, &PERSONS))
}

/// Returns whether a value is the id of a person: `u8812`, `user:8812`.
fn is_person(value: &[u8]) -> bool {
    let digits = value.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (name, _) = value.split_at(value.len() - digits);
    let name =
        name.strip_suffix(b":").or_else(|| name.strip_suffix(b"_")).or_else(|| name.strip_suffix(b"-")).unwrap_or(name);
    (1..=2 * FIGURE_DIGITS).contains(&digits) && is_one_of(name, &PERSONS)
}

/// Returns whether an object in JSON has a member that names the holder of a lock, and not many others.
fn names_holder(json: &[u8]) -> bool {
    let names = memchr::memmem::find_iter(json, b"\":");
    let (mut members, mut holds) = (0, false);
    let is_random = has_random(examined(json));
    for end in names {
        let name = json.get(..end).unwrap_or_default();
        let start = name.iter().rposition(|&byte| byte == b'"').map_or(0, |quote| quote + 1);
        let name = name.get(start..).unwrap_or_default();
        members += 1;
        holds |= has_any(name, &HOLDERS) && (is_random || is_of_lock(name));
    }
    holds && members <= MAX_FIELDS
}

/// Returns whether a text has blanks between words: a description.
fn is_prose(value: &[u8]) -> bool {
    let letter = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphabetic() || !byte.is_ascii());
    let blanks = value.windows(3).filter(|three| three[1] == b' ' && letter(three.first()) && letter(three.last()));
    blanks.count() >= 2
}

/// Returns whether a pair of a hash is a number that says more about a lock than who holds it, such as when it expires.
pub fn is_detail(field: &[u8], value: &[u8]) -> bool {
    is_number(value) && has_any(field, &DETAILS) && !has_any(field, &HOLDERS)
}

fn has_any(name: &[u8], words: &[&[u8]]) -> bool {
    let name = name.get(..EXAMINED).unwrap_or(name).to_ascii_lowercase();
    words.iter().any(|word| memchr::memmem::find(&name, word).is_some())
}

fn is_number(value: &[u8]) -> bool {
    !value.is_empty() && value.iter().all(u8::is_ascii_digit)
}

/// Returns the beginning of a text, which is searched for something random.
fn examined(text: &[u8]) -> &[u8] {
    text.get(..EXAMINED).unwrap_or(text)
}

#[cfg(test)]
mod tests;
