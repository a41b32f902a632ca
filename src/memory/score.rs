//! Length of scores as text, as they are stored in packed sorted sets.

mod grisu;

use std::fmt::Write;

use grisu::Decimal;

use super::item::PackedItem;
use super::layout::ScoreText;
use crate::rdb::walk::ScoreValue;

/// Returns a score as a number; invalid text, which servers reject, counts as zero.
pub fn value(score: ScoreValue<'_>) -> f64 {
    match score {
        ScoreValue::Binary(value) => value,
        ScoreValue::Text(text) => {
            std::str::from_utf8(text).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(0.0)
        }
    }
}

/// Returns the score as an element of a packed sorted set.
pub fn item(score: f64, form: ScoreText) -> PackedItem {
    match (integer(score, form), form) {
        (Some(number), _) => PackedItem::Int(number),
        (None, ScoreText::SeventeenDigits | ScoreText::SeventeenDigitsOrInteger) => seventeen_digits(score),
        (None, ScoreText::Shortest) => shortest(score),
    }
}

/// Returns a whole number in the range that servers write as an integer (`d2string` up to 6.2, `double2ll` from 7.0 on,
/// in `util.c`).
#[expect(clippy::cast_possible_truncation, reason = "exact in the trusted range; compared with the score afterwards")]
fn integer(score: f64, form: ScoreText) -> Option<i64> {
    let trusted = match form {
        ScoreText::SeventeenDigits => {
            score > -4_503_599_627_370_495.0
                && score < 4_503_599_627_370_496.0
                && !(score == 0.0 && score.is_sign_negative())
        }
        ScoreText::SeventeenDigitsOrInteger | ScoreText::Shortest => score.abs() <= (i64::MAX / 2) as f64,
    };
    // In that range the cast is exact for whole numbers and truncates others, so comparing back detects fractions.
    let number = score as i64;
    (trusted && number as f64 == score).then_some(number)
}

/// Short text, formatted without allocating.
struct ShortText {
    text: [u8; 40],
    len: usize,
}

impl ShortText {
    fn of(args: std::fmt::Arguments<'_>) -> ShortText {
        let mut short = ShortText { text: [0; 40], len: 0 };
        // Longer text is truncated, but the digits of a double always fit.
        let _ = short.write_fmt(args);
        short
    }

    fn as_str(&self) -> &str {
        std::str::from_utf8(&self.text[..self.len]).unwrap_or_default()
    }
}

impl Write for ShortText {
    fn write_str(&mut self, part: &str) -> std::fmt::Result {
        let end = self.len + part.len();
        let room = self.text.get_mut(self.len..end).ok_or(std::fmt::Error)?;
        room.copy_from_slice(part.as_bytes());
        self.len = end;
        Ok(())
    }
}

/// Splits a finite number in scientific notation into digits and exponent.
fn digits_and_exponent(text: &str) -> (&str, i64) {
    let (mantissa, exponent) = text.split_once('e').unwrap_or((text, "0"));
    (mantissa.trim_start_matches('-'), exponent.parse().unwrap_or(0))
}

fn non_finite(score: f64) -> Option<u64> {
    match score {
        score if score.is_nan() => Some(3),
        score if score.is_infinite() => Some(3 + u64::from(score < 0.0)),
        _ => None,
    }
}

/// Formats like C's `%.17g`.
fn seventeen_digits(score: f64) -> PackedItem {
    if let Some(len) = non_finite(score) {
        return PackedItem::Text(len);
    }
    let sign = u64::from(score.is_sign_negative());
    if score == 0.0 {
        return PackedItem::Text(1 + sign);
    }
    let text = ShortText::of(format_args!("{score:.16e}"));
    let (mantissa, exponent) = digits_and_exponent(text.as_str());
    let digits = mantissa.trim_end_matches('0').bytes().filter(u8::is_ascii_digit).count() as u64;
    let point = u64::from(digits > 1);
    match exponent {
        // A whole number after all, and such text is packed as an integer.
        0..17 if digits <= exponent.unsigned_abs() + 1 => {
            PackedItem::of_text(ShortText::of(format_args!("{score:.0}")).as_str().as_bytes())
        }
        0..17 => PackedItem::Text(sign + digits + 1),
        -4..0 => PackedItem::Text(sign + 1 + exponent.unsigned_abs() + digits),
        _ => PackedItem::Text(sign + digits + point + if exponent.unsigned_abs() > 99 { 5 } else { 4 }),
    }
}

/// Formats like `fpconv_dtoa` (`deps/fpconv`).
fn shortest(score: f64) -> PackedItem {
    if let Some(len) = non_finite(score) {
        return PackedItem::Text(len);
    }
    if score == 0.0 {
        return PackedItem::Int(0);
    }
    let Decimal { digits, count, exponent: last } = grisu::decimal(score.abs());
    let sign = u64::from(score.is_sign_negative());
    let count = u64::from(count);
    // Exponent of the first digit.
    let size = (i64::from(last) + count.cast_signed() - 1).unsigned_abs();
    let behind = u64::from(last.unsigned_abs());
    if last >= 0 && size < count + 7 {
        // Such text is packed as an integer, if it is one of 64 bits.
        let whole = i128::from(digits) * 10i128.pow(last.unsigned_abs());
        let signed = if score < 0.0 { -whole } else { whole };
        return i64::try_from(signed).map_or(PackedItem::Text(sign + count + behind), PackedItem::Int);
    }
    if last < 0 && (last > -7 || size < 4) {
        return PackedItem::Text(sign + if behind >= count { behind + 2 } else { count + 1 });
    }
    let count = count.min(18 - sign);
    let exponent_digits = match size {
        0..10 => 1,
        10..100 => 2,
        _ => 3,
    };
    PackedItem::Text(sign + count + u64::from(count > 1) + 2 + exponent_digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn old(score: f64) -> PackedItem {
        item(score, ScoreText::SeventeenDigits)
    }

    fn of_7_0(score: f64) -> PackedItem {
        item(score, ScoreText::SeventeenDigitsOrInteger)
    }

    fn new(score: f64) -> PackedItem {
        item(score, ScoreText::Shortest)
    }

    #[test]
    fn whole_numbers_are_integers() {
        assert_eq!((old(3.0), new(3.0)), (PackedItem::Int(3), PackedItem::Int(3)));
        assert_eq!((old(-0.0), new(-0.0)), (PackedItem::Text(2), PackedItem::Int(0)));
        assert_eq!(old(1e16), PackedItem::Int(10_000_000_000_000_000));
        assert_eq!(old(1e17), PackedItem::Text("1e+17".len() as u64));
    }

    #[test]
    fn redis_7_0_writes_integers_up_to_half_the_range_and_other_numbers_as_before() {
        // As redis-server 7.0.15 stores them: 2^62 and nanoseconds since 1970 are integers, the next larger score is text.
        for score in [1e17, 1.73e18, -4.5e18, 4.611_686_018_427_388e18] {
            assert_eq!(of_7_0(score), PackedItem::Int(score as i64), "{score}");
        }
        assert_eq!(of_7_0(-0.0), PackedItem::Int(0));
        for score in [4.611_686_018_427_389e18, 4.7e18, 1e19, 0.1, -1e-7] {
            assert_eq!(of_7_0(score), old(score), "{score}");
        }
    }

    #[test]
    fn servers_up_to_6_2_write_seventeen_digits() {
        for (score, text) in [
            (0.1, "0.10000000000000001"),
            (1.5, "1.5"),
            (-2.25, "-2.25"),
            (1e-5, "1.0000000000000001e-05"),
            (0.0001, "0.0001"),
            (1.5e300, "1.5000000000000001e+300"),
            (f64::NEG_INFINITY, "-inf"),
        ] {
            assert_eq!(old(score), PackedItem::Text(text.len() as u64), "{text}");
        }
    }

    #[test]
    fn servers_from_7_2_write_shortest_digits() {
        for (score, text) in [
            (0.1, "0.1"),
            (-1234.5, "-1234.5"),
            (0.000_001, "0.000001"),
            (1e-7, "1e-7"),
            (1.5e-9, "1.5e-9"),
            (1e20, "1e+20"),
            (1.5e300, "1.5e+300"),
            (1.234_567_890_123_456, "1.234567890123456"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(new(score), PackedItem::Text(text.len() as u64), "{text}");
        }
    }

    #[test]
    fn servers_from_7_2_pack_plain_digits_as_integers() {
        // As the listpacks of Redis 8.2 and 8.10 and Valkey 9.1 hold them.
        for (score, number) in [
            (2f64.powi(53), 9_007_199_254_740_992),
            (-2f64.powi(53) - 2.0, -9_007_199_254_740_994),
            (2f64.powi(62), 1 << 62),
            // The next larger number: digits, not the exact value.
            (2f64.powi(62) + 1024.0, 4_611_686_018_427_389_000),
            (-2f64.powi(62) - 1024.0, -4_611_686_018_427_389_000),
            (7_941_853_417_859_329_000.0, 7_941_853_417_859_329_000),
            (2f64.powi(63) - 1024.0, 9_223_372_036_854_775_000),
        ] {
            assert_eq!(new(score), PackedItem::Int(number), "{score}");
        }
        for (score, text) in [
            (2f64.powi(63), "9223372036854776000"),
            (-2f64.powi(63), "-9223372036854776000"),
            (12_345_678_901_234_567_890.0, "12345678901234567000"),
            // With eight zeros or more, an exponent is shorter.
            (5e18, "5e+18"),
            (-9.2e18, "-9.2e+18"),
            (4_611_686_018_500_000_000.0, "4.6116860185e+18"),
            (1e22, "1e+22"),
        ] {
            assert_eq!(new(score), PackedItem::Text(text.len() as u64), "{text}");
        }
    }

    #[test]
    fn some_scores_have_one_digit_more_than_they_need() {
        assert_eq!(new(76.927_049_554_756_6), PackedItem::Text("76.92704955475659".len() as u64));
    }
}
