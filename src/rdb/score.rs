//! Scores stored as text, read as servers read them.

/// Bytes of a packed score that servers look at.
const MAX_PACKED_LEN: usize = 127;
/// Digits of a hexadecimal number that its value depends on; of what follows, whether it is 0.
const HEX_DIGITS: usize = 15;

/// How servers read the text of a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreText {
    /// A number, and nothing else.
    Number,
    /// A number is at the start, which servers read; the rest is ignored.
    Prefix,
    /// NaN.
    Nan,
    /// No number at the start: 0.
    NoNumber,
}

/// Number that a text begins with.
struct Number<'t> {
    is_negative: bool,
    form: NumberForm,
    /// The number without its sign, empty if there is none.
    digits: &'t [u8],
    /// Text after the number.
    rest: &'t [u8],
    /// True if blanks precede it.
    is_indented: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NumberForm {
    Decimal,
    Hexadecimal,
    Infinity,
    NotANumber,
}

impl<'t> Number<'t> {
    /// Finds the number that C's `strtod` reads: blanks, a sign, decimal or hexadecimal digits, `inf` or `nan`.
    fn of(text: &'t [u8]) -> Number<'t> {
        let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
        let text = &text[blanks..];
        let signed = usize::from(matches!(text.first(), Some(b'+' | b'-')));
        let number = &text[signed..];
        let (form, len) = match () {
            () if starts_with(number, b"nan") => (NumberForm::NotANumber, 3),
            () if starts_with(number, b"infinity") => (NumberForm::Infinity, 8),
            () if starts_with(number, b"inf") => (NumberForm::Infinity, 3),
            () if starts_with(number, b"0x") && hexadecimal(&number[2..]) > 0 => {
                (NumberForm::Hexadecimal, 2 + hexadecimal(&number[2..]))
            }
            () => (NumberForm::Decimal, decimal(number)),
        };
        let (digits, rest) = number.split_at(len);
        Number { is_negative: text.first() == Some(&b'-'), form, digits, rest, is_indented: blanks > 0 }
    }

    fn kind(&self) -> ScoreText {
        match (self.form, self.digits, self.rest) {
            (NumberForm::NotANumber, ..) => ScoreText::Nan,
            (_, [], _) => ScoreText::NoNumber,
            (_, _, []) if !self.is_indented => ScoreText::Number,
            _ => ScoreText::Prefix,
        }
    }

    fn value(&self) -> Option<f64> {
        let value = match (self.form, self.digits) {
            (_, []) => return None,
            (NumberForm::NotANumber, _) => f64::NAN,
            (NumberForm::Infinity, _) => f64::INFINITY,
            (NumberForm::Hexadecimal, digits) => hexadecimal_value(&digits[2..]),
            (NumberForm::Decimal, digits) => std::str::from_utf8(digits).ok()?.parse().ok()?,
        };
        Some(if self.is_negative { -value } else { value })
    }
}

/// Classifies the score of a packed sorted set, which servers read by `strtod`.
pub fn classify_packed(text: &[u8]) -> ScoreText {
    Number::of(text).kind()
}

/// Classifies the score of a sorted set with text scores, which servers read by `sscanf`: it refuses what begins like `0x1` or
/// `infinity` and goes on otherwise.
pub fn classify(text: &[u8]) -> ScoreText {
    let number = Number::of(text);
    let next = number.rest.first().map(u8::to_ascii_lowercase);
    let is_broken_off = match (number.form, number.digits) {
        (NumberForm::Decimal, b"0") => next == Some(b'x'),
        (NumberForm::Infinity, digits) => digits.len() == 3 && next == Some(b'i'),
        _ => false,
    };
    if is_broken_off { ScoreText::NoNumber } else { number.kind() }
}

/// Returns the score of a packed sorted set; a text without a number counts as 0.
pub fn packed_value(text: &[u8]) -> f64 {
    Number::of(text.get(..MAX_PACKED_LEN).unwrap_or(text)).value().unwrap_or(0.0)
}

/// Returns the score that a text begins with; `None` if there is none.
pub fn value(text: &[u8]) -> Option<f64> {
    match classify(text) {
        ScoreText::NoNumber => None,
        ScoreText::Number | ScoreText::Prefix | ScoreText::Nan => Number::of(text).value(),
    }
}

/// Returns the value of hexadecimal digits with an exponent, which [`hexadecimal`] has found.
#[expect(clippy::cast_precision_loss, reason = "rounded as by the conversion of a number")]
fn hexadecimal_value(text: &[u8]) -> f64 {
    let (mut mantissa, mut seen, mut scale, mut behind_point) = (0u64, 0, 0i64, false);
    let mut rest = text;
    while let [byte, next @ ..] = rest {
        rest = next;
        let digit = match byte {
            b'.' => {
                behind_point = true;
                continue;
            }
            b'p' | b'P' => break,
            byte => u64::from(char::from(*byte).to_digit(16).unwrap_or_default()),
        };
        if seen < HEX_DIGITS {
            mantissa = mantissa << 4 | digit;
            seen += usize::from(mantissa != 0);
            scale -= i64::from(behind_point) * 4;
        } else {
            // Decides only ties.
            mantissa |= u64::from(digit != 0);
            scale += i64::from(!behind_point) * 4;
        }
    }
    let exponent: i64 = std::str::from_utf8(rest).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
    let exponent = if rest.is_empty() {
        0
    } else if exponent == 0 && rest.iter().any(|byte| (b'1'..=b'9').contains(byte)) {
        // Too many digits.
        if rest.first() == Some(&b'-') { i64::from(i32::MIN) } else { i64::from(i32::MAX) }
    } else {
        exponent
    };
    let scale = i32::try_from(scale.saturating_add(exponent).clamp(-5000, 5000)).unwrap_or_default();
    // In two steps, each of which has a finite factor.
    mantissa as f64 * 2f64.powi(scale / 2) * 2f64.powi(scale - scale / 2)
}

fn starts_with(text: &[u8], start: &[u8]) -> bool {
    text.get(..start.len()).is_some_and(|text| text.eq_ignore_ascii_case(start))
}

/// Returns the length of a decimal number at the start, 0 if there is none.
fn decimal(text: &[u8]) -> usize {
    let mantissa = digits(text, |byte| byte.is_ascii_digit());
    if mantissa == 0 { 0 } else { mantissa + exponent(&text[mantissa..], b'e') }
}

fn hexadecimal(text: &[u8]) -> usize {
    let mantissa = digits(text, |byte| byte.is_ascii_hexdigit());
    if mantissa == 0 { 0 } else { mantissa + exponent(&text[mantissa..], b'p') }
}

/// Returns the length of digits with at most one point among them, 0 if there is no digit.
fn digits(text: &[u8], is_digit: fn(&u8) -> bool) -> usize {
    let whole = text.iter().take_while(|byte| is_digit(byte)).count();
    let fraction = match text.get(whole) {
        Some(b'.') => 1 + text[whole + 1..].iter().take_while(|byte| is_digit(byte)).count(),
        _ => 0,
    };
    if whole + fraction > usize::from(fraction > 0) { whole + fraction } else { 0 }
}

/// Returns the length of an exponent, 0 if it has no digits.
fn exponent(text: &[u8], mark: u8) -> usize {
    let [first, rest @ ..] = text else { return 0 };
    if !first.eq_ignore_ascii_case(&mark) {
        return 0;
    }
    let sign = usize::from(matches!(rest.first(), Some(b'+' | b'-')));
    match rest[sign..].iter().take_while(|byte| byte.is_ascii_digit()).count() {
        0 => 0,
        digits => 1 + sign + digits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_as_in_c() {
        for text in ["1", "-1.5", "+.5", "5.", "1e10", "1E-7", "0x1F", "0x.8p3", "inf", "-Infinity", "1e999", "0"] {
            assert_eq!(both(text), [ScoreText::Number; 2], "{text}");
        }
        for text in ["1.5x", " 1", "1 ", "1e", "1e+", "infx", "1_0", "3\0", "1.2.3", "00x", "infinityx"] {
            assert_eq!(both(text), [ScoreText::Prefix; 2], "{text}");
        }
        for text in ["nan", "-NaN", "nan(7)"] {
            assert_eq!(both(text), [ScoreText::Nan; 2], "{text}");
        }
        for text in ["", "-", "abc", ".", "e5", "-.", " ", "x1", "in"] {
            assert_eq!(both(text), [ScoreText::NoNumber; 2], "{text}");
        }
        for text in ["0x", "0X", "0xg", "-0x", "0xp1", "infi", "infin", "-infin", "+infi"] {
            assert_eq!(both(text), [ScoreText::Prefix, ScoreText::NoNumber], "{text}");
        }
    }

    fn both(text: &str) -> [ScoreText; 2] {
        [classify_packed(text.as_bytes()), classify(text.as_bytes())]
    }

    #[test]
    fn values_are_those_of_c() {
        for (text, expected) in [
            ("1", 1.0),
            (" -2.5x", -2.5),
            ("5.", 5.0),
            ("+.5", 0.5),
            ("1e", 1.0),
            ("0x10", 16.0),
            ("-0x1F", -31.0),
            ("0x.8p3", 4.0),
            ("0x1.8", 1.5),
            ("0x1p-1074", f64::from_bits(1)),
            ("0x1p99999999999999999999", f64::INFINITY),
            ("0x1p-99999999999999999999", 0.0),
            ("0x00000000000000000000000001", 1.0),
            // Ties go to the even neighbour, unless anything follows.
            ("0x20000000000001", 9_007_199_254_740_992.0),
            ("0x10000000000000800000000", 2f64.powi(88)),
            ("0x10000000000000800000001", 2f64.powi(88) + 2f64.powi(36)),
            ("-inf", f64::NEG_INFINITY),
            ("1e999", f64::INFINITY),
        ] {
            assert_eq!(value(text.as_bytes()), Some(expected), "{text}");
            assert_eq!(packed_value(text.as_bytes()).to_bits(), expected.to_bits(), "{text}");
        }
        assert!(value(b"nan").unwrap().is_nan());
        assert_eq!((value(b"x"), value(b"0x"), packed_value(b"x"), packed_value(b"0x")), (None, None, 0.0, 0.0));
        assert_eq!(packed_value(&[&[b'0'; 126][..], b"12"].concat()), 1.0);
    }
}
