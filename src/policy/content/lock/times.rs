//! Recognition of times and dates in the notations in which programs write them.

use super::{is_number, is_time};
use crate::policy::content::is_one_of;
use crate::units::Millis;

/// Digits of a date and time without marks, `20261128030000`, and with milliseconds.
const STAMP_DIGITS: usize = 14;
const STAMP_MILLIS_DIGITS: usize = 17;
/// Milliseconds between the time in a lock and its expiry, at most.
const TWO_DAYS: u64 = 2 * 24 * 60 * 60 * 1000;
/// Most pieces of a written date, and most digits of one of them, a fraction of a second.
const MAX_PIECES: usize = 16;
const MAX_DIGITS: usize = 9;

/// Names of months, of which the first three letters may stand for the whole.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Other words in written dates: days, halves of the day, zones, and signs between numbers.
const WORDS: [&[u8]; 33] = [
    b"mon",
    b"tue",
    b"wed",
    b"thu",
    b"fri",
    b"sat",
    b"sun",
    b"monday",
    b"tuesday",
    b"wednesday",
    b"thursday",
    b"friday",
    b"saturday",
    b"sunday",
    b"am",
    b"pm",
    b"t",
    b"z",
    b"utc",
    b"gmt",
    b"cst",
    b"est",
    b"edt",
    b"pst",
    b"pdt",
    b"cet",
    b"cest",
    b"bst",
    b"ist",
    b"jst",
    b"kst",
    b"hkt",
    b"sgt",
];

/// Signs behind the numbers of a date in Chinese.
const CHINESE: [&str; 11] = ["年", "月", "日", "号", "时", "点", "分", "秒", "上午", "下午", "星期"];

/// Returns whether two times are less than two days apart, which hardly any number is from an expiry by chance.
pub fn is_near(millis: u64, expires_at: Option<Millis>) -> bool {
    expires_at.is_some_and(|Millis(end)| end.unsigned_abs().abs_diff(millis) <= TWO_DAYS)
}

/// Returns whether a value is a date and time in digits, perhaps with milliseconds, near the expiry: `20261128030000123`. Others may be
/// numbers of orders.
pub fn is_stamp(value: &[u8], expires_at: Option<Millis>) -> bool {
    if !matches!(value.len(), STAMP_DIGITS | STAMP_MILLIS_DIGITS) || !is_number(value) {
        return false;
    }
    let number = |from: usize, to: usize| {
        let digits = value.get(from..to).unwrap_or_default();
        digits.iter().fold(0u64, |sum, digit| sum * 10 + u64::from(digit - b'0'))
    };
    let [year, month, day] = [number(0, 4), number(4, 6), number(6, 8)];
    let [hour, minute, second] = [number(8, 10), number(10, 12), number(12, 14)];
    let is_valid = (2014..2034).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    // In time zones ahead of or behind UTC it is off by less than a day.
    is_valid
        && is_near(
            (days_since_1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second) * 1000,
            expires_at,
        )
}

/// Returns the days from 1970 to a date of this century.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // Years begin in March, so that leap days are last.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year / 4 - year / 100 + year / 400;
    of_years + (153 * month + 2) / 5 + day - 719_469
}

/// Returns whether a value is a time of the day: `11:20:30`, perhaps with a fraction of a second.
pub fn is_clock(value: &[u8]) -> bool {
    let Some(([h1, h2, b':', m1, m2, b':', s1, s2], rest)) = value.split_first_chunk::<8>() else { return false };
    let is_below = |tens: u8, ones: u8, most: u8| {
        tens.is_ascii_digit() && ones.is_ascii_digit() && (tens - b'0') * 10 + (ones - b'0') < most
    };
    let is_fraction = match rest {
        [] => true,
        [b'.' | b',', digits @ ..] => is_number(digits) && digits.len() <= MAX_DIGITS,
        _ => false,
    };
    is_below(*h1, *h2, 24) && is_below(*m1, *m2, 60) && is_below(*s1, *s2, 60) && is_fraction
}

/// Returns whether a value is a date of this century, with or without a time, as programs write it: `2026-11-27 22:13:20`,
/// `Fri Nov 27 22:13:20 UTC 2026`, `11/27/2026`, `2026年11月27日`, `2026-11-27T22:13:20+08:00[Asia/Shanghai]`.
pub fn is_date(value: &[u8]) -> bool {
    let Some(pieces) = pieces(without_zone(without_clock_of_go(value))) else { return false };
    let numbers: Vec<&[u8]> = pieces.iter().filter_map(|piece| piece.number()).collect();
    let has_month = pieces.iter().any(|piece| matches!(piece, Piece::Month));
    let is_year = |number: &&[u8]| matches!(number, [b'2', b'0', _, _]);
    let is_in = |number: &[u8], most: u8| match number {
        [one] => (b'1'..=b'9').contains(one),
        [tens, ones] => (1..=most).contains(&((tens - b'0') * 10 + (ones - b'0'))),
        _ => false,
    };
    match (has_month, &numbers[..]) {
        (true, numbers) => numbers.iter().any(is_year) && numbers.iter().any(|number| is_in(number, 31)),
        (false, [year, month, day, ..]) if is_year(year) => is_in(month, 12) && is_in(day, 31) && is_joined(value),
        (false, [one, other, year, ..]) if is_year(year) => {
            value.contains(&b'/') && is_in(one, 31) && is_in(other, 31) && (is_in(one, 12) || is_in(other, 12))
        }
        _ => false,
    }
}

/// Returns whether the numbers of a date that begins with its year are joined as in dates: `2026-11-27`, `2026年11月27日`.
fn is_joined(value: &[u8]) -> bool {
    let is_digit = |byte: &u8| byte.is_ascii_digit();
    let mut marks = value.split(is_digit).filter(|mark| !mark.is_empty());
    match (marks.next(), marks.next()) {
        (Some(one), Some(other)) => {
            one == other && matches!(one, b"-" | b"/" | b".") || one == "年".as_bytes() && other == "月".as_bytes()
        }
        _ => false,
    }
}

/// Piece of a written date.
enum Piece<'v> {
    Number(&'v [u8]),
    Month,
    Word,
}

impl<'v> Piece<'v> {
    fn number(&self) -> Option<&'v [u8]> {
        match self {
            Piece::Number(number) => Some(number),
            Piece::Month | Piece::Word => None,
        }
    }
}

/// Divides a value into numbers and words; `None` if it has other words or marks than dates have.
fn pieces(value: &[u8]) -> Option<Vec<Piece<'_>>> {
    if !value.first().is_some_and(u8::is_ascii_alphanumeric) {
        return None;
    }
    let class = |byte: &u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' | b'A'..=b'Z' => 1,
        0x80.. => 2,
        _ => 3,
    };
    let mut pieces = Vec::new();
    for run in value.chunk_by(|one, other| class(one) == class(other)) {
        pieces.push(match class(run.first()?) {
            0 if run.len() <= MAX_DIGITS => Piece::Number(run),
            1 if is_month(run) => Piece::Month,
            1 if is_one_of(run, &WORDS) => Piece::Word,
            2 if CHINESE.iter().any(|sign| sign.as_bytes() == run) => Piece::Word,
            3 if run.iter().all(|byte| b" ,:/-.+".contains(byte)) && run.len() <= 2 => continue,
            _ => return None,
        });
        if pieces.len() > MAX_PIECES {
            return None;
        }
    }
    Some(pieces)
}

fn is_month(word: &[u8]) -> bool {
    let is_name = |name: &str| {
        let short = name.as_bytes().get(..3).unwrap_or_default();
        word.eq_ignore_ascii_case(name.as_bytes()) || word.eq_ignore_ascii_case(short)
    };
    MONTHS.into_iter().any(is_name)
}

/// Returns a time of Java without the name of its zone behind it: `[Asia/Shanghai]`.
fn without_zone(value: &[u8]) -> &[u8] {
    let Some(zoned) = value.strip_suffix(b"]") else { return value };
    let Some(start) = zoned.iter().rposition(|&byte| byte == b'[') else { return value };
    let (time, zone) = zoned.split_at(start);
    let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"/_+-".contains(byte);
    if zone.get(1..).is_some_and(|zone| zone.iter().all(is_name)) { time } else { value }
}

/// Returns a time of Go without the reading of the monotonic clock behind it: ` m=+0.003`.
fn without_clock_of_go(value: &[u8]) -> &[u8] {
    match memchr::memmem::find(value, b" m=") {
        Some(start) => {
            let (time, clock) = value.split_at(start);
            let is_reading = |byte: &u8| byte.is_ascii_digit() || b"+-.".contains(byte);
            if clock.get(3..).is_some_and(|clock| clock.iter().all(is_reading)) { time } else { value }
        }
        None => value,
    }
}

/// Returns whether a text is a time in seconds or, with more digits, in milliseconds between 2014 and 2033, near the expiry if it is in
/// seconds: without one, ten digits may be any number of 32 bits.
pub fn is_epoch(text: &[u8], expires_at: Option<Millis>) -> bool {
    let (seconds, fraction) = text.split_at_checked(super::TIME_DIGITS).unwrap_or((text, &[]));
    match fraction {
        [] => {
            let seconds = std::str::from_utf8(seconds).ok().and_then(|text| text.parse::<u64>().ok());
            is_time(text) && seconds.is_some_and(|at| is_near(at * 1000, expires_at))
        }
        [b'.', digits @ ..] => is_time(seconds) && is_number(digits),
        _ => text.len() == super::MILLIS_DIGITS && is_time(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_known_in_the_notations_of_programs() {
        for value in [
            "2026-11-28",
            "2026/11/28",
            "2026.11.28",
            "2026-11-28 03:00",
            "2026-11-28T03:00:00.123456789+08:00",
            "2026-11-28T03:00:00.123+08:00[Asia/Shanghai]",
            "2026-11-28T03:00:00Z[UTC]",
            "2026-11-28 03:00:00 +0800 CST m=+0.003",
            "2026-11-28 03:00:00.5 +0000 UTC",
            "2026年11月28日",
            "2026年1月8日 03:00:00",
            "2026年11月28日 03时00分00秒",
            "Sat Nov 28 03:00:00 UTC 2026",
            "Sat, 28 Nov 2026 03:00:00 GMT",
            "28/Nov/2026:03:00:00 +0800",
            "Nov 28, 2026 3:00:00 AM",
            "November 28, 2026",
            "11/28/2026",
            "28/11/2026 03:00",
        ] {
            assert!(is_date(value.as_bytes()), "{value}");
        }
        for value in [
            "",
            "2026",
            "2026-11",
            "2026-13-28",
            "2026-11-32",
            "2026-11/28",
            "2026:11:28",
            "2026-11-28-order",
            "2026-11-28-8d9f2c71",
            "20261128",
            "10.0.0.3",
            "10-11-12",
            "host-2026-11-28",
            "may-order-7",
            "1/2/3",
            "31/31/2026",
            "2026年11月28日的订单",
            "2026-11-28T03:00:00[host-7]x",
            "2026-11-28 12345678901",
            "nov-7",
        ] {
            assert!(!is_date(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn digits_are_a_date_only_near_the_expiry() {
        // 2026-11-28 03:00:00 UTC, and ten seconds earlier in Shanghai.
        let expiry = Some(Millis(1_795_834_830_000));
        for value in ["20261128030000", "20261128030000123", "20261128105950", "20261127200000"] {
            assert!(is_stamp(value.as_bytes(), expiry), "{value}");
            assert!(!is_stamp(value.as_bytes(), None) && !is_stamp(value.as_bytes(), Some(Millis(1_700_000_000_000))));
        }
        for value in
            ["20261128030060", "20261128250000", "20261328030000", "2026112803000", "20261120030000", "x0261128030000"]
        {
            assert!(!is_stamp(value.as_bytes(), expiry), "{value}");
        }
        assert_eq!(
            [days_since_1970(2024, 2, 29), days_since_1970(2024, 3, 1), days_since_1970(2026, 11, 28)],
            [19_782, 19_783, 20_785]
        );
    }

    #[test]
    fn a_clock_has_two_digits_each() {
        assert!(is_clock(b"11:20:30") && is_clock(b"00:00:00.123456"));
        for value in ["11:20", "1:20:30", "24:00:00", "11:60:00", "11:20:300", "11:20:30:1", "11:20:30.", "ab:cd:ef"] {
            assert!(!is_clock(value.as_bytes()), "{value}");
        }
    }
}
