//! Numbers as people read them: 1.4 GiB, 12 days, 7.3 %. Integer arithmetic wherever the input is an integer, so that
//! rounding (half up, to one decimal) is the same on every machine.

use std::cmp::Ordering;

use super::Lang;
use super::words::nouns::{self, Noun};
use super::words::say;
use crate::report::Unit;
use crate::units::{self, Millis};
use crate::wording::grouped;

/// Text for a figure that does not exist.
pub const ABSENT: &str = "–";

/// Names of the binary units; the n-th is 1024ⁿ bytes.
const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

const SECOND: u64 = units::SECOND.unsigned_abs();
const MINUTE: u64 = units::MINUTE.unsigned_abs();
const HOUR: u64 = units::HOUR.unsigned_abs();
const DAY: u64 = units::DAY.unsigned_abs();
const YEAR: u64 = 365 * DAY;

/// Units of time, the longest first.
const STEPS: [(u64, Noun); 5] =
    [(YEAR, nouns::YEAR), (DAY, nouns::DAY), (HOUR, nouns::HOUR), (MINUTE, nouns::MINUTE), (SECOND, nouns::SECOND)];

/// Returns an integer with its digits in groups: `1,234,567`.
pub fn count(n: u64) -> String {
    grouped(n)
}

/// Returns an integer with its noun: `1 key`, `1,234 keys`, `1,234 个 key`.
pub fn counted(n: u64, noun: Noun, lang: Lang) -> String {
    format!("{} {}", count(n), lang.of(if n == 1 { noun.one } else { noun.many }, noun.zh))
}

/// Returns bytes in the largest unit of which there is one: `512 B`, `1.4 GiB`.
pub fn bytes(n: u64) -> String {
    let mut unit = ByteUnit::largest_with(n, 1);
    // 1,048,575 bytes are 1024.0 KiB after rounding: say 1.0 MiB.
    if unit.0 + 1 < UNITS.len() && unit.tenths(n) >= 10_240 {
        unit = ByteUnit(unit.0 + 1);
    }
    format!("{} {}", unit.format(n), unit.name())
}

/// Unit of a whole column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ByteUnit(usize);

impl ByteUnit {
    /// Returns the largest unit of which `n` has at least `least`.
    pub fn largest_with(n: u64, least: u64) -> ByteUnit {
        let fits = |unit: &usize| n >> (10 * unit) >= least;
        ByteUnit((1..UNITS.len()).rev().find(fits).unwrap_or(0))
    }

    /// Returns the name of the unit.
    pub fn name(self) -> &'static str {
        UNITS[self.0]
    }

    /// Returns `n` bytes in this unit with one decimal, or none for bytes themselves: `1,433.6`. Too little to show is `<0.1`.
    pub fn format(self, n: u64) -> String {
        if self.0 == 0 {
            return count(n);
        }
        match self.tenths(n) {
            0 if n > 0 => "<0.1".to_owned(),
            tenths => format!("{}.{}", count(tenths / 10), tenths % 10),
        }
    }

    /// Returns `n` bytes in tenths of this unit, rounded half up.
    fn tenths(self, n: u64) -> u64 {
        let shift = 10 * self.0;
        let half = 1_u128 << shift >> 1;
        let tenths = (u128::from(n) * 10 + half) >> shift;
        u64::try_from(tenths).unwrap_or(u64::MAX)
    }
}

/// Returns a fraction of 1 as `7.3 %`. Something is never shown as nothing, nor less than all as all.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
pub fn share(fraction: f64) -> String {
    let thousandths = (fraction * 1000.0).round();
    if !(0.0..=1e15).contains(&thousandths) {
        return ABSENT.to_owned();
    }
    // In range by the check above; a float in it that is an integer converts exactly.
    percent(thousandths as u64, fraction > 0.0, fraction < 1.0)
}

/// Returns one number as a share of another: `7.3 %`, [`ABSENT`] of nothing.
pub fn share_of(part: u64, whole: u64) -> String {
    if whole == 0 {
        return ABSENT.to_owned();
    }
    let thousandths = (u128::from(part) * 1000 + u128::from(whole) / 2) / u128::from(whole);
    percent(u64::try_from(thousandths).unwrap_or(u64::MAX), part > 0, part < whole)
}

/// Returns how much more `to` is than `from`, as a signed share: `+7.3 %`, `-0.4 %`, `>-0.1 %`; [`ABSENT`] of nothing.
pub fn change(from: u64, to: u64) -> String {
    let share = share_of(from.abs_diff(to), from);
    let sign = match to.cmp(&from) {
        _ if from == 0 => return share,
        Ordering::Equal => return share,
        Ordering::Less => '-',
        Ordering::Greater => '+',
    };
    // A decrease of less than 0.1 % is a change above -0.1 %: the sign turns `<` into `>`.
    match (share.strip_prefix('<'), share.strip_prefix('>')) {
        (Some(most), _) if sign == '-' => format!(">-{most}"),
        (Some(most), _) => format!("<+{most}"),
        (_, Some(least)) if sign == '-' => format!("<-{least}"),
        (_, Some(least)) => format!(">+{least}"),
        (None, None) => format!("{sign}{share}"),
    }
}

fn percent(thousandths: u64, some: bool, not_all: bool) -> String {
    match thousandths {
        0 if some => "<0.1 %".to_owned(),
        1000 if not_all => ">99.9 %".to_owned(),
        _ => format!("{}.{} %", count(thousandths / 10), thousandths % 10),
    }
}

/// Returns a difference of bytes with its sign: `+1.5 MiB`.
pub fn signed(difference: i64) -> String {
    let size = bytes(difference.unsigned_abs());
    match difference.signum() {
        0 => size,
        1 => format!("+{size}"),
        _ => format!("-{size}"),
    }
}

/// Returns a point in time, given in milliseconds since the epoch: `2026-11-21 03:27:48Z`.
pub fn time(millis: i64) -> String {
    time_of_seconds(millis.div_euclid(1000))
}

/// Returns a point in time, given in seconds since the epoch. Outside of the years -9999 to 9999 it is `@` and the seconds.
pub fn time_of_seconds(seconds: i64) -> String {
    match jiff::Timestamp::from_second(seconds) {
        Ok(time) => time.strftime("%Y-%m-%d %H:%M:%SZ").to_string(),
        Err(_) => format!("@{seconds}"),
    }
}

/// Returns a length of time, given in milliseconds, in the largest unit of which there are two: `36 hours`, `12 天`. Rounded down.
pub fn duration(millis: u64, lang: Lang) -> String {
    let step = STEPS[..4].iter().find(|(size, _)| millis / size >= 2);
    match step {
        Some(&(size, noun)) => counted(millis / size, noun, lang),
        None if millis >= SECOND || millis == 0 => counted(millis / SECOND, nouns::SECOND, lang),
        None => say!(lang, "{millis} ms", "{millis} 毫秒"),
    }
}

/// Returns the distance of `time` from `now`, both in milliseconds since the epoch: `in 12 days`, `3 minutes ago`.
pub fn distance(time: i64, now: i64, lang: Lang) -> String {
    let apart = duration(time.abs_diff(now), lang);
    if time >= now { say!(lang, "in {apart}", "{apart}后") } else { say!(lang, "{apart} ago", "{apart}前") }
}

/// Returns a measured value of a rule for people, with as many digits as it takes to tell it from its limit.
pub fn measured(number: u64, limit: Option<u64>, unit: Option<Unit>, lang: Lang) -> String {
    match (unit, limit) {
        (Some(Unit::Bytes), Some(limit)) if alike(number, limit) => exact_bytes(number),
        (Some(Unit::Millis), Some(limit)) => {
            let differs = |shown: u64| shown.cmp(&limit) == number.cmp(&limit);
            let steps = STEPS.iter().filter(|(size, _)| number / size > 0).count().max(1);
            let told = (1..=steps).map(|parts| span(number, parts, lang)).find(|(_, shown)| differs(*shown));
            told.map_or_else(|| span(number, usize::MAX, lang).0, |(text, _)| text)
        }
        _ => in_unit(number, unit, lang),
    }
}

/// Returns the limit of a rule for people: times to the millisecond, bytes if it takes them to tell it from the measured value.
pub fn limit(number: u64, measured: Option<u64>, unit: Option<Unit>, lang: Lang) -> String {
    match (unit, measured) {
        (Some(Unit::Millis), _) => span(number, usize::MAX, lang).0,
        (Some(Unit::Bytes), Some(measured)) if alike(number, measured) => exact_bytes(number),
        _ => in_unit(number, unit, lang),
    }
}

/// Returns whether two different sizes look the same.
fn alike(one: u64, other: u64) -> bool {
    one != other && bytes(one) == bytes(other)
}

fn exact_bytes(n: u64) -> String {
    format!("{} B", count(n))
}

fn in_unit(number: u64, unit: Option<Unit>, lang: Lang) -> String {
    match unit {
        Some(Unit::Bytes) => bytes(number),
        Some(Unit::Millis) => duration(number, lang),
        Some(Unit::Permille) => share_of(number, 1000),
        Some(Unit::Elements | Unit::Segments | Unit::Count) | None => count(number),
    }
}

/// Returns a length of time in units from the largest of which there are two (`24 hours 5 minutes`), at most `parts` of them,
/// and the milliseconds that the text stands for.
fn span(millis: u64, parts: usize, lang: Lang) -> (String, u64) {
    let first = STEPS.iter().position(|(size, _)| millis / size >= 2).unwrap_or(STEPS.len() - 1);
    let (mut left, mut texts) = (millis, Vec::new());
    for &(size, noun) in &STEPS[first..] {
        if left >= size && texts.len() < parts {
            texts.push(counted(left / size, noun, lang));
            left %= size;
        }
    }
    if left > 0 && texts.len() < parts {
        texts.push(say!(lang, "{left} ms", "{left} 毫秒"));
        left = 0;
    }
    if texts.is_empty() { (counted(0, nouns::SECOND, lang), 0) } else { (texts.join(" "), millis - left) }
}

/// Returns the time left until an expiry, or the expiry itself if there is no time to compare it with. As on a server, a key is not
/// expired before its time has passed.
pub fn left(at: Option<Millis>, now: Option<Millis>, lang: Lang) -> String {
    match (at, now) {
        (None, _) => lang.of("never", "永不过期").to_owned(),
        (Some(at), None) => time(at.0),
        (Some(at), Some(now)) if at < now => lang.of("expired", "已过期").to_owned(),
        (Some(at), Some(now)) => duration(at.0.abs_diff(now.0), lang),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_measured_value_differs_from_its_limit() {
        let pair = |number, allowed, unit, lang| {
            [measured(number, Some(allowed), Some(unit), lang), limit(allowed, Some(number), Some(unit), lang)]
                .join(" / ")
        };
        let zh = |number, allowed| pair(number, allowed, Unit::Millis, Lang::Zh);
        let en = |number, allowed| pair(number, allowed, Unit::Millis, Lang::En);
        assert_eq!(zh(86_650_000, 86_400_000), "24 小时 4 分钟 / 24 小时");
        assert_eq!(zh(86_701_000, 86_700_000), "24 小时 5 分钟 1 秒 / 24 小时 5 分钟");
        assert_eq!(en(86_700_001, 86_700_000), "24 hours 5 minutes 1 ms / 24 hours 5 minutes");
        assert_eq!(en(172_800_000, 86_700_000), "2 days / 24 hours 5 minutes");
        assert_eq!(en(60_001, 60_000), "60 seconds 1 ms / 60 seconds");
        assert_eq!(en(61_000, 60_000), "61 seconds / 60 seconds");
        assert_eq!(en(30 * DAY, 3_600_000), "30 days / 60 minutes");
        assert_eq!(en(10 * YEAR, 90 * DAY + 300_000), "10 years / 90 days 5 minutes");
        assert_eq!(en(1, 0), "1 ms / 0 seconds");
        assert!(en(u64::MAX, u64::MAX - 1).contains(" / "));
        let bytes = |number, allowed| pair(number, allowed, Unit::Bytes, Lang::En);
        assert_eq!(bytes(10_241, 10_240), "10,241 B / 10,240 B");
        assert_eq!(bytes(20_480, 10_240), "20.0 KiB / 10.0 KiB");
        assert_eq!(measured(10_241, None, Some(Unit::Bytes), Lang::En), "10.0 KiB");
    }

    #[test]
    fn counts_are_grouped_by_thousands() {
        assert_eq!(count(0), "0");
        assert_eq!(count(999), "999");
        assert_eq!(count(1_000), "1,000");
        assert_eq!(count(1_234_567), "1,234,567");
        assert_eq!(count(u64::MAX), "18,446,744,073,709,551,615");
        assert_eq!(counted(1, nouns::KEY, Lang::En), "1 key");
        assert_eq!(counted(0, nouns::KEY, Lang::En), "0 keys");
    }

    #[test]
    fn bytes_take_the_largest_unit_they_fill() {
        assert_eq!(bytes(0), "0 B");
        assert_eq!(bytes(1_023), "1,023 B");
        assert_eq!(bytes(1_024), "1.0 KiB");
        assert_eq!(bytes(1_536), "1.5 KiB");
        assert_eq!(bytes(1_503_238_553), "1.4 GiB");
        assert_eq!(bytes(u64::MAX), "16.0 EiB");
    }

    #[test]
    fn bytes_that_round_up_to_a_thousand_units_move_on_to_the_next() {
        assert_eq!(bytes(1_048_575), "1.0 MiB");
        assert_eq!(bytes(1_048_576 - 52), "1,023.9 KiB");
    }

    #[test]
    fn a_column_has_one_unit_and_hides_nothing_in_it() {
        let unit = ByteUnit::largest_with(1_503_238_553, 10);
        assert_eq!(unit.name(), "MiB");
        assert_eq!(unit.format(1_503_238_553), "1,433.6");
        assert_eq!(unit.format(100), "<0.1");
        assert_eq!(unit.format(0), "0.0");
        assert_eq!(ByteUnit::largest_with(9_000, 10).format(9_000), "9,000");
        assert_eq!(ByteUnit::largest_with(u64::MAX, 10).name(), "EiB");
        assert_eq!(ByteUnit::largest_with(0, 10).name(), "B");
    }

    #[test]
    fn shares_never_round_something_to_nothing_or_less_than_all_to_all() {
        assert_eq!(share(0.073), "7.3 %");
        assert_eq!(share(0.0), "0.0 %");
        assert_eq!(share(1.0), "100.0 %");
        assert_eq!(share(1e-9), "<0.1 %");
        assert_eq!(share(0.999_99), ">99.9 %");
        assert_eq!(share(f64::NAN), ABSENT);
        assert_eq!(share(-1.0), ABSENT);
        assert_eq!(share(f64::INFINITY), ABSENT);
        assert_eq!(share_of(1, 3), "33.3 %");
        assert_eq!(share_of(1, u64::MAX), "<0.1 %");
        assert_eq!(share_of(u64::MAX - 1, u64::MAX), ">99.9 %");
        assert_eq!(share_of(u64::MAX, 1), "1,844,674,407,370,955,161.5 %", "saturates");
        assert_eq!(share_of(0, 0), ABSENT);
    }

    #[test]
    fn changes_too_small_to_show_have_their_sign_and_bound() {
        assert_eq!([change(100, 107), change(100, 93), change(5, 5)], ["+7.0 %", "-7.0 %", "0.0 %"]);
        assert_eq!([change(10_000, 9_999), change(10_000, 10_001)], [">-0.1 %", "<+0.1 %"]);
        assert_eq!([change(10_000, 1), change(10_000, 19_999)], ["<-99.9 %", ">+99.9 %"]);
        assert_eq!((change(0, 5), change(0, 0)), (ABSENT.to_owned(), ABSENT.to_owned()));
    }

    #[test]
    fn times_are_utc_and_reach_before_the_epoch() {
        assert_eq!(time(1_795_231_668_999), "2026-11-21 03:27:48Z");
        assert_eq!(time(-1), "1969-12-31 23:59:59Z");
        assert_eq!(time(i64::MAX), "@9223372036854775");
        assert_eq!(time(i64::MIN), "@-9223372036854776");
        assert_eq!(time_of_seconds(0), "1970-01-01 00:00:00Z");
    }

    #[test]
    fn durations_are_in_the_unit_of_which_there_are_two() {
        assert_eq!(duration(0, Lang::En), "0 seconds");
        assert_eq!(duration(999, Lang::En), "999 ms");
        assert_eq!(duration(1_000, Lang::En), "1 second");
        assert_eq!(duration(119_999, Lang::En), "119 seconds");
        assert_eq!(duration(36 * HOUR, Lang::En), "36 hours");
        assert_eq!(duration(12 * DAY + 5, Lang::En), "12 days");
        assert_eq!(duration(3 * YEAR, Lang::En), "3 years");
        assert_eq!(duration(u64::MAX, Lang::En), "584,942,417 years");
        assert_eq!(distance(5_000, 0, Lang::En), "in 5 seconds");
        assert_eq!(distance(5_000, 5_000, Lang::En), "in 0 seconds");
        let left = |at, now| left(Some(Millis(at)), Some(Millis(now)), Lang::En);
        assert_eq!((left(5_000, 5_000), left(4_999, 5_000)), ("0 seconds".into(), "expired".into()));
        assert_eq!(distance(i64::MIN, i64::MAX, Lang::En), "584,942,417 years ago");
    }

    #[test]
    fn chinese_has_measure_words_and_no_plural() {
        let zh = Lang::Zh;
        assert_eq!(
            (counted(1, nouns::KEY, zh), counted(1_234, nouns::KEY, zh)),
            ("1 个 key".into(), "1,234 个 key".into())
        );
        assert_eq!((duration(36 * HOUR, zh), duration(1, zh)), ("36 小时".into(), "1 毫秒".into()));
        assert_eq!((distance(5_000, 0, zh), distance(0, 12 * DAY as i64, zh)), ("5 秒后".into(), "12 天前".into()));
    }
}
