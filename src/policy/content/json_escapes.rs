//! Escapes in JSON: PHP writes `/` as `\/`, and PHP and Python write other letters than ASCII as `\u5b66`.

/// Maximum number of backslashes before an escaped character: those of a document in a document in a document.
const MAX_BACKSLASHES: usize = 4;
/// Stands for half of a surrogate pair.
const HALF: char = char::REPLACEMENT_CHARACTER;

/// Returns a JSON document with its escapes replaced by the characters; `None` for a text without escapes, or one that is no document.
///
/// Quotes and backslashes stay as they are, so that strings end where they ended.
pub fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let is_document = matches!(text.trim_ascii_start().first(), Some(b'{' | b'[' | b'"'));
    if !is_document || memchr::memchr(b'\\', text).is_none() {
        return None;
    }
    let (mut plain, mut rest) = (Vec::with_capacity(text.len()), text);
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let (before, from) = rest.split_at(at);
        plain.extend_from_slice(before);
        let backslashes = from.iter().take_while(|byte| **byte == b'\\').count();
        let (escape, behind) = from.split_at(backslashes);
        rest = match character(behind).filter(|_| backslashes <= MAX_BACKSLASHES) {
            Some((character, behind)) => {
                plain.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                behind
            }
            None => {
                plain.extend_from_slice(escape);
                behind
            }
        };
    }
    plain.extend_from_slice(rest);
    Some(plain)
}

/// Returns the character that follows backslashes, and what is behind it; `None` for quotes, backslashes and what is no escape.
fn character(text: &[u8]) -> Option<(char, &[u8])> {
    let (first, behind) = text.split_first()?;
    match first {
        b'/' => Some(('/', behind)),
        b'n' | b'r' => Some(('\n', behind)),
        b't' => Some((' ', behind)),
        b'u' => {
            let (code, behind) = code_unit(behind)?;
            match char::from_u32(code).unwrap_or(HALF) {
                '"' | '\\' => None,
                control if control.is_control() => Some((' ', behind)),
                character => Some((character, behind)),
            }
        }
        _ => None,
    }
}

/// Splits off the code unit that a text begins with, which four hexadecimal digits behind `\u` give.
pub fn code_unit(text: &[u8]) -> Option<(u32, &[u8])> {
    let (digits, behind) = text.split_first_chunk::<4>()?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then_some(digits)?;
    Some((u32::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?, behind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(text: &str) -> Option<String> {
        unescaped(text.as_bytes()).map(|plain| String::from_utf8(plain).unwrap())
    }

    #[test]
    fn escapes_become_characters() {
        for (text, expected) in [
            (r#"{"a":"redis:\/\/10.0.0.1"}"#, r#"{"a":"redis://10.0.0.1"}"#),
            (r#"{"\u5b66\u53f7":"1"}"#, r#"{"学号":"1"}"#),
            (r#"{"a":"x\n1\t2\r\n3"}"#, "{\"a\":\"x\n1 2\n\n3\"}"),
            (r#"{"a":"{\"b\":\"\\u5b66\\\/\"}"}"#, r#"{"a":"{\"b\":\"学/\"}"}"#),
            (r#"{"a":"\u0026\u0040\u0000"}"#, r#"{"a":"&@ "}"#),
            (r#"["\ud83d\ude00"]"#, "[\"\u{fffd}\u{fffd}\"]"),
        ] {
            assert_eq!(plain(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn quotes_and_backslashes_stay() {
        for text in [r#"{"a":"\"b\" \\ \u0022 \u005c \\\\\\u5b66 \d \u5b6"}"#, r#"["\"#, r#"["\u"#] {
            assert_eq!(plain(text).as_deref(), Some(text));
        }
        for text in [r"C:\new\u5b66", r#"{"a":1}"#, "", r#"O:3:"A\\n":0:{}"#] {
            assert_eq!(plain(text), None, "{text}");
        }
    }
}
