//! Detection of mobile numbers, identity card numbers and bank card numbers.
//!
//! A number is a run of digits without letters, digits or a decimal point with digits beside it: digits of tokens, hashes, decimals and
//! file names (`13812345678.jpg`) do not count. A byte that gives the length of a number, as protobuf writes strings, also ends it.
//!
//! Numbers may be written in groups:
//! - mobile numbers 3-4-4 with blanks, hyphens or dots, or 3-8 with a hyphen, also after `+86` or `0086` (ungrouped also after `86`);
//! - card numbers in fours, with blanks or hyphens;
//! - identity cards 6-8-4, with blanks or hyphens.
//!
//! A number after the name of an amount (`"size":`) or after the code of another country (`+14155552671`) is no phone number.
//!
//! Numbers of the right length that do not match are reported as near misses ([`MatchStrength::Near`]). They tell chance
//! matches apart: of sequential ids, one in three looks like a mobile number, and one in ten passes the checksum of cards.

use std::cell::OnceCell;
use std::ops::Range;

use super::{MatchStrength, SensitiveKind, SensitiveKinds, amount, called};

/// Digits of a mainland mobile number.
const PHONE: usize = 11;
/// Characters of an identity card's number.
const ID_CARD: usize = 18;
/// Digits of the shortest card's number, that of American Express.
const MIN_CARD_LEN: usize = 15;
/// Digits of the longest card's number.
const MAX_CARD_LEN: usize = 19;

/// Most digits of a group, and most groups of a number.
const MAX_GROUP_LEN: usize = 8;
const MAX_GROUPS: usize = 5;
/// Words right before a number that make it that of a phone.
const CALLS: [&[u8]; 3] = [b"tel", b"phone", b"mobile"];

/// Domains of the ids that WeChat and WhatsApp give to groups, whose digits are those of no phone: `19812345678@chatroom`.
const CHATS: [&[u8]; 2] = [b"chatroom", b"g.us"];

/// Kinds of numbers to search for, and the name of the text.
#[derive(Debug)]
pub(super) struct Wanted<'n> {
    kinds: SensitiveKinds,
    name: &'n [u8],
    /// Kinds that the name says, once a number asked for them.
    named: OnceCell<SensitiveKinds>,
}

impl<'n> Wanted<'n> {
    /// Creates it from the kinds and the name of the field or key that holds the text, which may be empty.
    pub fn new(kinds: SensitiveKinds, name: &'n [u8]) -> Self {
        Wanted { kinds, name, named: OnceCell::new() }
    }

    fn has(&self, kind: SensitiveKind) -> bool {
        self.kinds.has(kind)
    }

    /// Returns whether the name of the text, or one right before the number, says that a number is of this kind.
    fn is_named(&self, kind: SensitiveKind, before: &[u8]) -> bool {
        self.named.get_or_init(|| called::kinds(self.name)).has(kind) || called::kinds_before(before).has(kind)
    }
}

/// Reports all phone, identity card and bank card numbers in a text.
pub(super) fn scan(text: &[u8], wanted: &Wanted<'_>, see: &mut dyn FnMut(MatchStrength, SensitiveKind, Range<usize>)) {
    let mut at = 0;
    while let Some(start) = digit_from(text, at) {
        let end = run_end(text, start);
        if let Some(end) = prefixed_end(text, start, end) {
            NumberScan { text: text.get(..end).unwrap_or(text), wanted, see }.ungrouped(start, end);
            at = end;
            continue;
        }
        at = end;
        if continues_before(text, start)
            && !(end - start == PHONE && ends_with_call(text.get(..start).unwrap_or_default()))
        {
            continue;
        }
        let mut scan = NumberScan { text, wanted, see };
        match scan.grouped(start, end) {
            Some(grouped) => at = grouped,
            None => scan.ungrouped(start, end),
        }
    }
}

/// Returns the end of a number whose length is in the byte before it, as protobuf writes strings. The next byte may be a digit, too,
/// which is no part of the number. These lengths are control characters, which text does not contain.
fn prefixed_end(text: &[u8], start: usize, end: usize) -> Option<usize> {
    let length = usize::from(*text.get(start.checked_sub(1)?)?);
    let is_length = length == PHONE || (MIN_CARD_LEN..=MAX_CARD_LEN).contains(&length);
    (is_length && length <= end - start).then_some(start + length)
}

fn digit_from(text: &[u8], at: usize) -> Option<usize> {
    text.get(at..)?.iter().position(u8::is_ascii_digit).map(|found| at + found)
}

fn run_end(text: &[u8], start: usize) -> usize {
    let rest = text.get(start..).unwrap_or_default();
    rest.iter().position(|byte| !byte.is_ascii_digit()).map_or(text.len(), |len| start + len)
}

fn continues_before(text: &[u8], start: usize) -> bool {
    let before = text.get(..start).unwrap_or_default();
    match before {
        [.., digit, b'.'] => digit.is_ascii_digit(),
        [.., byte] => byte.is_ascii_alphanumeric(),
        [] => false,
    }
}

/// Returns whether a text ends with a word for phones: `tel13812345678`.
fn ends_with_call(text: &[u8]) -> bool {
    CALLS.iter().any(|word| {
        let at = text.len().checked_sub(word.len());
        let ends = at.is_some_and(|at| text[at..].eq_ignore_ascii_case(word));
        ends && at.is_some_and(|at| at == 0 || !text[at - 1].is_ascii_alphanumeric())
    })
}

/// Returns whether a number behind these bytes has a minus sign: a hyphen with a value's beginning before it, not a word or digits.
fn is_negative(before: &[u8]) -> bool {
    match before {
        [b'-'] => true,
        [.., byte, b'-'] => matches!(byte, b'[' | b',' | b':' | b'=' | b'('),
        _ => false,
    }
}

/// Returns whether a number behind these bytes begins with the code of a country: behind a plus sign that neither adds nor is a blank of a URL.
fn has_country_code(before: &[u8]) -> bool {
    match before {
        [b'+'] => true,
        [.., byte, b'+'] => !byte.is_ascii_alphanumeric() && *byte != b'=',
        _ => false,
    }
}

fn continues_behind(text: &[u8], end: usize) -> bool {
    match text.get(end..).unwrap_or_default() {
        [b'.', byte, ..] => byte.is_ascii_digit() || byte.is_ascii_lowercase(),
        // The id of a group chat.
        [b'@', rest @ ..] => CHATS.iter().any(|chat| rest.starts_with(chat)),
        [byte, ..] => byte.is_ascii_alphanumeric(),
        [] => false,
    }
}

/// Search of one text for numbers.
struct NumberScan<'s> {
    text: &'s [u8],
    wanted: &'s Wanted<'s>,
    see: &'s mut dyn FnMut(MatchStrength, SensitiveKind, Range<usize>),
}

impl NumberScan<'_> {
    /// Classifies an ungrouped run of digits.
    fn ungrouped(&mut self, start: usize, end: usize) {
        let text = self.text;
        let digits = text.get(start..end).unwrap_or_default();
        // The last character of an identity card may be an X, which stands for ten.
        let crossed = digits.len() == ID_CARD - 1 && matches!(text.get(end), Some(b'x' | b'X'));
        let end = if crossed { end + 1 } else { end };
        if continues_behind(text, end) {
            return;
        }
        let before = text.get(..start).unwrap_or_default();
        if is_negative(before) {
            return;
        }
        let abroad = match digits {
            [b'8', b'6', number @ ..] if before.ends_with(b"+") => Some(number),
            [b'0', b'0', b'8', b'6', number @ ..] => Some(number),
            [b'8', b'6', number @ ..] if number.len() == PHONE && is_mobile(number) => Some(number),
            _ => None,
        };
        let phone = abroad.unwrap_or(digits);
        if self.wanted.has(SensitiveKind::Phone) && phone.len() == PHONE {
            if abroad.is_none() && has_country_code(before) {
                return;
            }
            let is_named = || self.wanted.is_named(SensitiveKind::Phone, before);
            let range = end - PHONE..end;
            match phone {
                _ if is_mobile(phone) => {
                    if !amount::follows_amount(before) {
                        (self.see)(MatchStrength::found(is_named()), SensitiveKind::Phone, range);
                    }
                }
                // Numbers of a fixed line, with the code of the area, are none of a series that passes through those of mobile phones.
                [b'0', b'1'..=b'9', ..] => {}
                _ => (self.see)(MatchStrength::near(is_named()), SensitiveKind::Phone, range),
            }
            return;
        }
        let whole = text.get(start..end).unwrap_or_default();
        if self.wanted.has(SensitiveKind::IdCard) && whole.len() == ID_CARD {
            let is_named = self.wanted.is_named(SensitiveKind::IdCard, before);
            if is_id_card(whole) {
                (self.see)(MatchStrength::found(is_named), SensitiveKind::IdCard, start..end);
                return;
            }
            // Of numbers with a date, one in eleven has the right check digit, of others hardly any. A name settles those.
            if !is_named || has_region_and_date(whole) {
                (self.see)(MatchStrength::near(is_named), SensitiveKind::IdCard, start..end);
            }
        }
        if self.wanted.has(SensitiveKind::BankCard) && !crossed && is_of_an_issuer(whole) {
            let seen = if passes_luhn(whole) { MatchStrength::Found } else { MatchStrength::Near };
            (self.see)(seen, SensitiveKind::BankCard, start..end);
        }
    }

    /// Recognises a number written in groups that starts here, and returns its end.
    fn grouped(&mut self, start: usize, end: usize) -> Option<usize> {
        let text = self.text;
        let separator = *text.get(end).filter(|byte| matches!(byte, b' ' | b'-' | b'.'))?;
        let first = end - start;
        let may_begin = if separator == b'.' { first == 3 } else { first <= 6 };
        if !may_begin || follows_group(text, start, separator) {
            return None;
        }
        let number = DigitGroups::read(text, start, separator)?;
        let (digits, groups, last) = (number.digits(), number.lengths(), number.end);
        if let ([6, 8, 3 | 4], b' ' | b'-') = (groups, separator) {
            return self.grouped_id_card(start, last);
        }
        if continues_behind(text, last) {
            return None;
        }
        let before = text.get(..start)?;
        let abroad = match *groups {
            [2, 3, 4, 4] if before.ends_with(b"+") => digits.strip_prefix(b"86"),
            // Behind a hyphen it is a part of a serial number.
            [4, 3, 4, 4] if !before.ends_with(b"-") => digits.strip_prefix(b"0086"),
            _ => None,
        };
        if matches!(groups, [3, 4, 4] | [3, 8]) && has_country_code(before) {
            return None;
        }
        let mut strength = MatchStrength::Found;
        let kind = match *groups {
            [3, 4, 4] if is_mobile(digits) => SensitiveKind::Phone,
            [3, 8] if separator == b'-' && !begins_with_date(&digits[3..]) => {
                match digits {
                    _ if is_mobile(digits) => {}
                    [b'0', ..] => return None, // a fixed line
                    _ => strength = MatchStrength::Near,
                }
                SensitiveKind::Phone
            }
            [_, 3, 4, 4] if separator != b'.' && abroad.is_some_and(is_mobile) => SensitiveKind::Phone,
            [4, 4, 4, 4] | [4, 4, 4, 4, _] if is_of_an_issuer(digits) && passes_luhn(digits) => SensitiveKind::BankCard,
            _ => return None,
        };
        // Without the code of the country and the separator behind it.
        let from = abroad.map_or(start, |_| start + groups[0] + 1);
        if strength == MatchStrength::Found && kind == SensitiveKind::Phone && self.wanted.is_named(kind, before) {
            strength = MatchStrength::Named;
        }
        self.wanted.has(kind).then(|| {
            (self.see)(strength, kind, from..last);
            last
        })
    }

    /// Recognises the number of an identity card in groups of region, date of birth, and the rest, which may end with an X.
    fn grouped_id_card(&mut self, start: usize, last: usize) -> Option<usize> {
        let text = self.text;
        // 18 characters and two separators.
        let end = start + ID_CARD + 2;
        let number: Vec<u8> = text.get(start..end)?.iter().copied().filter(u8::is_ascii_alphanumeric).collect();
        let is_whole = last == end || last + 1 == end && matches!(text.get(last), Some(b'x' | b'X'));
        if !is_whole || continues_behind(text, end) || !is_id_card(&number) || !self.wanted.has(SensitiveKind::IdCard) {
            return None;
        }
        let is_named = self.wanted.is_named(SensitiveKind::IdCard, text.get(..start)?);
        (self.see)(MatchStrength::found(is_named), SensitiveKind::IdCard, start..end);
        Some(end)
    }
}

/// Number written in groups of digits.
struct DigitGroups {
    all: [u8; MAX_GROUP_LEN * MAX_GROUPS],
    lengths: [usize; MAX_GROUPS],
    /// Number of groups.
    count: usize,
    /// Offset behind its last digit.
    end: usize,
}

impl DigitGroups {
    /// Reads the groups from `start` on; returns `None` if there are too many, or one is too long.
    fn read(text: &[u8], start: usize, separator: u8) -> Option<Self> {
        let mut number = DigitGroups { all: [0; _], lengths: [0; _], count: 0, end: run_end(text, start) };
        let (mut from, mut length) = (start, 0);
        loop {
            let group = text.get(from..number.end).filter(|group| group.len() <= MAX_GROUP_LEN)?;
            *number.lengths.get_mut(number.count)? = group.len();
            number.count += 1;
            number.all.get_mut(length..length + group.len())?.copy_from_slice(group);
            length += group.len();
            if text.get(number.end) != Some(&separator) || !text.get(number.end + 1).is_some_and(u8::is_ascii_digit) {
                return Some(number);
            }
            from = number.end + 1;
            number.end = run_end(text, from);
        }
    }

    /// Returns the digits of all groups.
    fn digits(&self) -> &[u8] {
        self.all.get(..self.lengths().iter().sum()).unwrap_or_default()
    }

    /// Returns the number of digits in each group.
    fn lengths(&self) -> &[usize] {
        self.lengths.get(..self.count).unwrap_or_default()
    }
}

/// Returns whether these digits begin with a date of this century or the last.
fn begins_with_date(digits: &[u8]) -> bool {
    let part = |range: Range<usize>| digits.get(range).map_or(0, number);
    (1900..=2099).contains(&part(0..4)) && (1..=12).contains(&part(4..6)) && (1..=31).contains(&part(6..8))
}

/// Returns the number of a few digits, at most those of a phone number.
fn number(digits: &[u8]) -> u64 {
    digits.iter().fold(0, |sum, digit| sum * 10 + u64::from(digit.wrapping_sub(b'0')))
}

/// Returns whether another group precedes, so that this is the end of a longer number.
fn follows_group(text: &[u8], start: usize, separator: u8) -> bool {
    matches!(text.get(..start).unwrap_or_default(), [.., digit, byte] if *byte == separator && digit.is_ascii_digit())
}

/// Returns whether these 11 digits begin with a prefix assigned to mobile phones.
///
/// Numbers that repeat one digit to the end are placeholders and do not count, nor does the one that China writes in examples, nor do whole
/// mebibytes, such as 16 GiB of memory in bytes: one phone number in a million is one.
fn is_mobile(digits: &[u8]) -> bool {
    const EXAMPLE: &[u8] = b"13800138000";
    const MEBIBYTE: u64 = 1 << 20;
    let [b'1', second, third, rest @ ..] = digits else { return false };
    let given = match second {
        b'3' | b'8' => true,
        b'4' => !matches!(third, b'2' | b'3'),
        b'5' => *third != b'4',
        b'6' => matches!(third, b'2' | b'5'..=b'7'),
        b'7' => *third != b'9',
        b'9' => *third != b'4',
        _ => false,
    };
    given
        && digits != EXAMPLE
        && rest.windows(2).any(|pair| pair[0] != pair[1])
        && !number(digits).is_multiple_of(MEBIBYTE)
}

/// Checks an identity card number by GB 11643: region, date of birth, and checksum modulo 11.
fn is_id_card(card: &[u8]) -> bool {
    const WEIGHTS: [u32; 17] = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    const CHECKS: &[u8; 11] = b"10X98765432";
    let Some((&last, digits)) = card.split_last() else { return false };
    if digits.len() != WEIGHTS.len() || !digits.iter().all(u8::is_ascii_digit) {
        return false;
    }
    let sum: u32 = digits.iter().zip(WEIGHTS).map(|(digit, weight)| u32::from(digit - b'0') * weight).sum();
    let check = CHECKS[(sum % 11) as usize];
    has_region_and_date(card) && last.to_ascii_uppercase() == check
}

/// Returns whether a number of 17 digits or more begins with a region and a date of birth.
fn has_region_and_date(digits: &[u8]) -> bool {
    let part = |range: Range<usize>| digits.get(range).map_or(0, number);
    let region = matches!(part(0..2), 11..=15 | 21..=23 | 31..=37 | 41..=46 | 50..=54 | 61..=65 | 71 | 81..=83 | 91);
    let (year, month, day) = (part(6..10), part(10..12), part(12..14));
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u64::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    region && (1900..=2099).contains(&year) && (1..=days).contains(&day)
}

/// Returns whether prefix and length are those of a card issuer: UnionPay, Visa, Mastercard, American Express, JCB,
/// Discover, and older cards of a large Chinese bank.
fn is_of_an_issuer(digits: &[u8]) -> bool {
    let Some(head) = digits.get(..4) else { return false };
    if digits.len() > MAX_CARD_LEN || head.iter().any(|digit| !digit.is_ascii_digit()) {
        return false;
    }
    match number(head) {
        6200..=6299 => (16..=MAX_CARD_LEN).contains(&digits.len()),
        4000..=4999 | 5100..=5599 | 2221..=2720 | 3528..=3589 | 6011 | 6440..=6599 => digits.len() == 16,
        3400..=3499 | 3700..=3799 => digits.len() == 15,
        9558 => digits.len() == MAX_CARD_LEN,
        _ => false,
    }
}

/// Checks the Luhn checksum of a card number. The text must hold digits only; zeros alone pass, too.
fn passes_luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let value = u32::from(digit.wrapping_sub(b'0'));
            let doubled = if place % 2 == 1 { value * 2 } else { value };
            if doubled > 9 { doubled - 9 } else { doubled }
        })
        .sum();
    sum.is_multiple_of(10)
}

#[cfg(test)]
mod tests;
