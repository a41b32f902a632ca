//! Scores stored as text, read as servers read them.

/// What servers make of a text that stands for a score.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreText {
    /// A number, and nothing else.
    Number,
    /// A number is at the start, which servers read; the rest is ignored.
    Prefix,
    /// Not a number.
    NotANumber,
    /// No number at the start.
    Text,
}

/// Classifies a score as C's `strtod` reads it: blanks, a sign, decimal or hexadecimal digits, `inf` or `nan`.
pub fn classify(text: &[u8]) -> ScoreText {
    let blanks = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    let text = &text[blanks..];
    let signed = usize::from(matches!(text.first(), Some(b'+' | b'-')));
    let number = &text[signed..];
    if starts_with(number, b"nan") {
        return ScoreText::NotANumber;
    }
    let len = match () {
        () if starts_with(number, b"infinity") => 8,
        () if starts_with(number, b"inf") => 3,
        () if starts_with(number, b"0x") && hexadecimal(&number[2..]) > 0 => 2 + hexadecimal(&number[2..]),
        () => decimal(number),
    };
    match len {
        0 => ScoreText::Text,
        len if len == number.len() && blanks == 0 => ScoreText::Number,
        _ => ScoreText::Prefix,
    }
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
            assert_eq!(classify(text.as_bytes()), ScoreText::Number, "{text}");
        }
        for text in ["1.5x", " 1", "1 ", "1e", "1e+", "0x", "infx", "1_0", "3\0", "1.2.3"] {
            assert_eq!(classify(text.as_bytes()), ScoreText::Prefix, "{text}");
        }
        for text in ["nan", "-NaN", "nan(7)"] {
            assert_eq!(classify(text.as_bytes()), ScoreText::NotANumber, "{text}");
        }
        for text in ["", "-", "abc", ".", "e5", "-.", " ", "x1", "in"] {
            assert_eq!(classify(text.as_bytes()), ScoreText::Text, "{text}");
        }
    }
}
