//! Scalars as serializers of other languages store them: a lock of Spring may hold `["java.lang.Long",1]`, one of PHP `s:1:"1";`.

/// Beginning of a string that Java serialized, before two bytes of length.
const JAVA_STRING: &[u8] = b"\xac\xed\0\x05t";

/// Bytes before the text of such a string.
pub const JAVA_HEAD: usize = JAVA_STRING.len() + 2;

/// Returns the scalar that a serializer wrapped, without its quotes; any other value as it is.
pub fn unwrapped(value: &[u8]) -> &[u8] {
    let trimmed = value.trim_ascii();
    java_string(value)
        .or_else(|| jackson(trimmed))
        .or_else(|| php(trimmed))
        .or_else(|| quoted(trimmed))
        .unwrap_or(value)
}

/// Returns the text of a string that Java serialized.
pub fn java_string(value: &[u8]) -> Option<&[u8]> {
    let (length, text) = value.strip_prefix(JAVA_STRING)?.split_first_chunk()?;
    (text.len() == usize::from(u16::from_be_bytes(*length))).then_some(text)
}

/// Returns the scalar of a pair of type and value, as Jackson writes it.
fn jackson(value: &[u8]) -> Option<&[u8]> {
    let pair = value.strip_prefix(b"[\"java.")?.strip_suffix(b"]")?;
    let comma = memchr::memchr(b',', pair)?;
    let (of_type, scalar) = (pair.get(..comma)?.strip_suffix(b"\"")?, pair.get(comma + 1..)?.trim_ascii());
    let is_scalar = of_type.iter().all(|byte| byte.is_ascii_alphanumeric() || *byte == b'.')
        && !matches!(scalar, [b'[' | b'{', ..] | []);
    is_scalar.then(|| quoted(scalar).unwrap_or(scalar))
}

/// Returns a scalar that PHP serialized.
fn php(value: &[u8]) -> Option<&[u8]> {
    let value = value.strip_suffix(b";")?;
    match value.split_first_chunk()? {
        (b"i:" | b"b:" | b"d:", number) => {
            let is_number = number.iter().all(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'.'));
            (is_number && !number.is_empty()).then_some(number)
        }
        (b"s:", string) => {
            let (length, text) = string.split_at_checked(memchr::memchr(b':', string)?)?;
            let text = text.strip_prefix(b":\"")?.strip_suffix(b"\"")?;
            let length: usize = std::str::from_utf8(length).ok()?.parse().ok()?;
            (length == text.len()).then_some(text)
        }
        _ => None,
    }
}

/// Returns the text of a string in JSON, if none of its characters is escaped.
fn quoted(value: &[u8]) -> Option<&[u8]> {
    let text = value.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
    (!text.iter().any(|byte| matches!(byte, b'"' | b'\\'))).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_unwrapped() {
        for (value, scalar) in [
            (&b"\xac\xed\0\x05t\0\x011"[..], &b"1"[..]),
            (b"\xac\xed\0\x05t\0\0", b""),
            (b"[\"java.lang.Long\",1]", b"1"),
            (b"[\"java.math.BigDecimal\", 99.50]", b"99.50"),
            (b"[\"java.lang.String\",\"locked\"]", b"locked"),
            (b"\"NULL\"", b"NULL"),
            (b"s:6:\"locked\";", b"locked"),
            (b"i:1;", b"1"),
            (b"b:1;", b"1"),
        ] {
            assert_eq!(unwrapped(value), scalar, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn other_values_stay() {
        for value in [
            &b""[..],
            b"\"",
            b"1",
            b"\xac\xed\0\x05t\0\x021",
            b"\xac\xed\0\x05sr\0\x01a",
            b"[\"java.util.ArrayList\",[1]]",
            b"[\"java.lang.Long\"]",
            b"[1,2]",
            b"\"a\\nb\"",
            b"s:5:\"locked\";",
            b"i:;",
            b"item;",
        ] {
            assert_eq!(unwrapped(value), value, "{}", value.escape_ascii());
        }
    }
}
