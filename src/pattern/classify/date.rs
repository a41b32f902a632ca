//! Dates: days, months and hours of the calendar.
//!
//! ```text
//! 202601  20260101  2026010112  202601011230  20260101123045  20260101T1230Z
//! 2026-01  2026-01-01  2026.01.01  2026-01-01T12  2026-01-01T12:30:45.123+08:00
//! ```
//!
//! Digits alone are far more often numbers, so only the years 2000 to 2099 count; with marks between, 1900 to 2099.

use std::ops::RangeInclusive;

use super::kind;

const UNMARKED_YEARS: RangeInclusive<u32> = 2000..=2099;
const MARKED_YEARS: RangeInclusive<u32> = 1900..=2099;

/// Returns whether `digits`, all of which are decimal digits, are a date.
pub fn is_unmarked(digits: &[u8]) -> bool {
    if !matches!(digits.len(), 6 | 8 | 10 | 12 | 14) || digits[0] != b'2' {
        return false; // the common case
    }
    let field = |at: usize| number(digits.get(at..at + 2));
    let Some(year) = number(digits.get(..4)) else { return false };
    let Some(month) = field(4) else { return false };
    UNMARKED_YEARS.contains(&year)
        && (1..=12).contains(&month)
        && field(6).is_none_or(|day| is_day(year, month, day))
        && field(8).is_none_or(|hour| hour < 24)
        && field(10).is_none_or(|minute| minute < 60)
        && field(12).is_none_or(|second| second < 60)
}

/// Returns the length of a date at the start of `bytes`. It must be followed by punctuation or the end.
pub fn prefix(bytes: &[u8]) -> Option<usize> {
    let digits = bytes.iter().take(15).take_while(|byte| byte.is_ascii_digit()).count();
    let (day, time) = match digits {
        4 => marked(bytes)?,
        _ if is_unmarked(&bytes[..digits]) => (digits, (digits == 8).then_some(digits)),
        _ => return None,
    };
    let ends = |&at: &usize| bytes.get(at).is_none_or(|&byte| kind::of(byte) & kind::BETWEEN != 0);
    time.and_then(|at| after_time(bytes, at)).filter(ends).or(Some(day).filter(ends))
}

/// Recognises `2026-01` and `2026-01-01`; returns the end, and where a time may begin.
fn marked(bytes: &[u8]) -> Option<(usize, Option<usize>)> {
    let year = number(bytes.get(..4)).filter(|year| MARKED_YEARS.contains(year))?;
    let mark = *bytes.get(4).filter(|mark| matches!(mark, b'-' | b'.' | b'/' | b'_'))?;
    let month = number(bytes.get(5..7)).filter(|month| (1..=12).contains(month))?;
    if bytes.get(7) == Some(&mark) && bytes.get(8).is_some_and(u8::is_ascii_digit) {
        let day = number(bytes.get(8..10))?;
        return is_day(year, month, day).then_some((10, Some(10)));
    }
    (mark == b'-').then_some((7, None)) // 2026.01 is a version, 2026/01 a path
}

/// Returns the end of a time such as `T12:30:45.123Z` that begins at `at`.
fn after_time(bytes: &[u8], at: usize) -> Option<usize> {
    let field = |at: usize, below: u32| number(bytes.get(at..at + 2)).is_some_and(|number| number < below);
    if !matches!(bytes.get(at)?, b'T' | b't' | b' ') || !field(at + 1, 24) {
        return None;
    }
    let mut end = at + 3;
    for _ in 0..2 {
        let colon = usize::from(bytes.get(end) == Some(&b':'));
        if field(end + colon, 60) {
            end += colon + 2;
        }
    }
    if matches!(bytes.get(end), Some(b'.' | b',')) {
        let fraction = bytes[end + 1..].iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
        end += if fraction > 0 { fraction + 1 } else { 0 };
    }
    match bytes.get(end) {
        Some(b'Z' | b'z') => end += 1,
        Some(b'+' | b'-') if field(end + 1, 15) => {
            end += 3;
            let colon = usize::from(bytes.get(end) == Some(&b':'));
            end += if field(end + colon, 60) { colon + 2 } else { 0 };
        }
        _ => (),
    }
    Some(end)
}

/// Parses two or four digits; returns `None` for other bytes, or none.
fn number(digits: Option<&[u8]>) -> Option<u32> {
    digits?.iter().try_fold(0, |number, &byte| byte.is_ascii_digit().then(|| number * 10 + u32::from(byte - b'0')))
}

fn is_day(year: u32, month: u32, day: u32) -> bool {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=days).contains(&day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_are_a_date_when_all_their_fields_are_in_range() {
        for yes in ["202601", "20260101", "20240229", "2026123123", "202601012359", "20260101235959"] {
            assert!(is_unmarked(yes.as_bytes()), "{yes}");
        }
        for no in [
            "",
            "2026",
            "202613",
            "202600",
            "199912",
            "210001",
            "20260132",
            "20260431",
            "20250229",
            "21000229",
            "2026010124",
            "202601010060",
            "20260101000060",
            "2026010",
            "1700000000",
        ] {
            assert!(!is_unmarked(no.as_bytes()), "{no}");
        }
    }

    #[test]
    fn a_date_ends_where_its_piece_ends() {
        for (text, date) in [
            ("2026-01-01", "2026-01-01"),
            ("2026-01", "2026-01"),
            ("1985-03-12", "1985-03-12"),
            ("2026_01_01_x", "2026_01_01"),
            ("2026-01-x", "2026-01"),
            ("2026-01-01T12", "2026-01-01T12"),
            ("2026-01-01T12:30:45.123+08:00", "2026-01-01T12:30:45.123+08:00"),
            ("2026-01-01 12:30", "2026-01-01 12:30"),
            ("2026-01-01T1230Z-x", "2026-01-01T1230Z"),
            ("2026-01-01 noon", "2026-01-01"),
            ("20260101T120000Z", "20260101T120000Z"),
            ("20260101-77", "20260101"),
        ] {
            assert_eq!(prefix(text.as_bytes()), Some(date.len()), "{text}");
        }
        for no in [
            "2026",
            "2026-1",
            "2026-13",
            "2026-01-77",
            "2026-02-30",
            "2026-01-01x",
            "2026.01",
            "1899-01-01",
            "2026-01-01Tx",
            "20260101x",
            "2026-01-0",
            "2026-",
            "x",
        ] {
            assert_eq!(prefix(no.as_bytes()), None, "{no}");
        }
    }
}
