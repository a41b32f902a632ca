//! Scalars as serializers of other languages store them: a lock of Spring may hold `["java.lang.Long",1]`, or an `Integer` as Java
//! serializes it, one of PHP `s:1:"1";`, one of Python a pickled string.

use std::borrow::Cow;

use super::binary;

/// Beginning of whatever Java serialized.
pub(super) const JAVA: &[u8] = b"\xac\xed\0\x05";

/// Beginning of a string that Java serialized, before two bytes of length.
const JAVA_STRING: &[u8] = b"\xac\xed\0\x05t";

/// Bytes before the text of such a string.
pub const JAVA_HEAD: usize = JAVA_STRING.len() + 2;

/// Beginning of an object that Java serialized, before the name of its class, which is shorter than 256 bytes.
pub const JAVA_OBJECT: &[u8] = b"\xac\xed\0\x05sr\0";

/// Description of `java.lang.Boolean`, before its byte.
const JAVA_BOOLEAN: &[u8] = b"\x11java.lang.Boolean\xcd r\x80\xd5\x9c\xfa\xee\x02\0\x01Z\0\x05valuexp";

/// Descriptions of the classes of whole numbers in Java, each with the bytes of its value.
const JAVA_INTEGERS: [(&[u8], usize); 4] = [
    (b"\x11java.lang.Integer\x12\xe2\xa0\xa4\xf7\x81\x878\x02\0\x01I\0\x05valuex", 4),
    (b"\x0ejava.lang.Long;\x8b\xe4\x90\xcc\x8f#\xdf\x02\0\x01J\0\x05valuex", 8),
    (b"\x0fjava.lang.ShorthM7\x134`\xdaR\x02\0\x01S\0\x05valuex", 2),
    (b"\x0ejava.lang.Byte\x9cN`\x84\xeeP\xf5\x1c\x02\0\x01B\0\x05valuex", 1),
];

/// Description of `java.lang.Number`, which these classes extend, before the value.
const JAVA_NUMBER: &[u8] = b"r\0\x10java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\0\0xp";

/// Returns the scalar that a serializer wrapped, without its quotes; any other value as it is. Only numbers in binary form are copied,
/// as text.
pub fn unwrapped(value: &[u8]) -> Cow<'_, [u8]> {
    if let Some(object) = value.strip_prefix(JAVA_OBJECT) {
        return java_scalar(object).unwrap_or(Cow::Borrowed(value));
    }
    if let Some(scalar) = binary::scalar(value) {
        return scalar;
    }
    let trimmed = value.trim_ascii();
    let scalar = java_string(value).or_else(|| jackson(trimmed)).or_else(|| php(trimmed)).or_else(|| quoted(trimmed));
    Cow::Borrowed(scalar.unwrap_or(value))
}

/// Returns the text of a scalar in binary form, but for the strings of Java, which are readable as they are; any other value as it is.
pub fn unboxed(value: &[u8]) -> Cow<'_, [u8]> {
    let java = || value.strip_prefix(JAVA_OBJECT).and_then(java_scalar);
    binary::scalar(value).or_else(java).unwrap_or(Cow::Borrowed(value))
}

/// Returns the text of a number or flag, given the object from the length of its class name on.
fn java_scalar(object: &[u8]) -> Option<Cow<'static, [u8]>> {
    if let Some(flag) = object.strip_prefix(JAVA_BOOLEAN) {
        return match flag {
            [0] => Some(Cow::Borrowed(b"false")),
            [1] => Some(Cow::Borrowed(b"true")),
            _ => None,
        };
    }
    let (number, width) =
        JAVA_INTEGERS.iter().find_map(|(class, width)| Some((object.strip_prefix(*class)?, *width)))?;
    let digits = number.strip_prefix(JAVA_NUMBER).filter(|digits| digits.len() == width)?;
    let sign = if digits.first()? & 0x80 == 0 { 0 } else { -1i64 };
    let number = digits.iter().fold(sign, |number, &byte| number << 8 | i64::from(byte));
    Some(Cow::Owned(number.to_string().into_bytes()))
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
            assert_eq!(*unwrapped(value), *scalar, "{}", value.escape_ascii());
        }
    }

    /// Returns a number as Java serializes it.
    fn boxed(class: usize, digits: &[u8]) -> Vec<u8> {
        [JAVA_OBJECT, JAVA_INTEGERS[class].0, JAVA_NUMBER, digits].concat()
    }

    #[test]
    fn numbers_and_flags_of_java_are_unwrapped() {
        // As a JVM writes them.
        let written =
            b"\xac\xed\0\x05sr\0\x11java.lang.Integer\x12\xe2\xa0\xa4\xf7\x81\x878\x02\0\x01I\0\x05valuexr\0\x10\
            java.lang.Number\x86\xac\x95\x1d\x0b\x94\xe0\x8b\x02\0\0xp\xff\xff\xff\xfb";
        assert_eq!(boxed(0, b"\xff\xff\xff\xfb"), written);
        for (class, digits, text) in [
            (0, &b"\0\0\0\x01"[..], "1"),
            (0, b"\xff\xff\xff\xfb", "-5"),
            (1, b"\x03\x36\x5d\x41\x08\x96\x80\0", "231474964754497536"),
            (1, b"\x80\0\0\0\0\0\0\0", "-9223372036854775808"),
            (1, b"\x7f\xff\xff\xff\xff\xff\xff\xff", "9223372036854775807"),
            (2, b"\x01\0", "256"),
            (3, b"\x80", "-128"),
        ] {
            let value = boxed(class, digits);
            assert_eq!((&*unwrapped(&value), &*unboxed(&value)), (text.as_bytes(), text.as_bytes()));
            // Damage, and another value behind it.
            for other in (0..value.len()).map(|end| value[..end].to_vec()).chain([[&value[..], b"\0"].concat()]) {
                assert_eq!((&*unwrapped(&other), &*unboxed(&other)), (&other[..], &other[..]));
            }
        }
        let flag = |byte: &[u8]| [JAVA_OBJECT, JAVA_BOOLEAN, byte].concat();
        assert_eq!((&*unwrapped(&flag(b"\0")), &*unwrapped(&flag(b"\x01"))), (&b"false"[..], &b"true"[..]));
        assert!([&b""[..], b"\x02", b"\0\0"].into_iter().all(|byte| *unwrapped(&flag(byte)) == flag(byte)));
        assert_eq!(*unboxed(b"\"1\""), *b"\"1\"");
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
            assert_eq!(*unwrapped(value), *value, "{}", value.escape_ascii());
        }
    }
}
