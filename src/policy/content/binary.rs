//! Scalars as serializers of Python (pickle), of PHP (igbinary) and msgpack store them: strings, numbers and flags in binary form.

use std::borrow::Cow;

/// Header of igbinary, version 2.
pub(super) const IGBINARY: &[u8] = b"\0\0\0\x02";

/// Returns the text of a scalar that one of these serializers wrote; `None` for any other value.
pub(super) fn scalar(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    match value.first()? {
        0x80 => pickled(value),
        0 => igbinary(value.strip_prefix(IGBINARY)?),
        0xA0.. => msgpack(value),
        _ => None,
    }
}

/// Reads the object of a pickle of protocol 2 to 5, which is perhaps in a frame and perhaps numbered for later use.
fn pickled(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    let [0x80, 2..=5, object @ .., b'.'] = value else { return None };
    let object = match object {
        [0x95, frame @ ..] => frame.get(8..)?,
        _ => object,
    };
    match object {
        [0x88] => Some(Cow::Borrowed(b"true")),
        [0x89] => Some(Cow::Borrowed(b"false")),
        [b'K', number] => number_text(*number),
        [b'M', low, high] => number_text(u16::from_le_bytes([*low, *high])),
        [b'J', a, b, c, d] => number_text(i32::from_le_bytes([*a, *b, *c, *d])),
        [b'G', digits @ ..] => number_text(f64::from_be_bytes(digits.try_into().ok()?)),
        [0x8C, length, string @ ..] => numbered(string, usize::from(*length)),
        [b'X', a, b, c, d, string @ ..] => {
            numbered(string, usize::try_from(u32::from_le_bytes([*a, *b, *c, *d])).ok()?)
        }
        _ => None,
    }
}

/// Returns the first `length` bytes if they are text, and nothing but the number of the object follows.
fn numbered(string: &[u8], length: usize) -> Option<Cow<'_, [u8]>> {
    let (string, number) = string.split_at_checked(length)?;
    let is_text = std::str::from_utf8(string).is_ok();
    (is_text && matches!(number, [] | [0x94] | [b'q', _])).then_some(Cow::Borrowed(string))
}

fn msgpack(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    let (length, string) = match value {
        [0xC2] => return Some(Cow::Borrowed(b"false")),
        [0xC3] => return Some(Cow::Borrowed(b"true")),
        [head @ 0xA0..=0xBF, string @ ..] => (head & 0x1F, string),
        [0xD9, length, string @ ..] => (*length, string),
        _ => return None,
    };
    whole_text(string, length)
}

fn igbinary(value: &[u8]) -> Option<Cow<'_, [u8]>> {
    match value {
        [0x04] => Some(Cow::Borrowed(b"false")),
        [0x05] => Some(Cow::Borrowed(b"true")),
        [0x06, number] => number_text(*number),
        [0x08, high, low] => number_text(u16::from_be_bytes([*high, *low])),
        [0x11, length, string @ ..] => whole_text(string, *length),
        _ => None,
    }
}

/// Returns the string if it has this length and is text: a random value might begin with the byte of a string.
fn whole_text(string: &[u8], length: u8) -> Option<Cow<'_, [u8]>> {
    (string.len() == usize::from(length) && std::str::from_utf8(string).is_ok()).then_some(Cow::Borrowed(string))
}

fn number_text(number: impl ToString) -> Option<Cow<'static, [u8]>> {
    Some(Cow::Owned(number.to_string().into_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars_are_read() {
        for (value, text) in [
            (&b"\x80\x04\x89."[..], "false"),
            (b"\x80\x02\x88.", "true"),
            (b"\x80\x04\x95\x0a\0\0\0\0\0\0\0\x8c\x06locked\x94.", "locked"),
            (b"\x80\x03X\x06\0\0\0lockedq\0.", "locked"),
            (b"\x80\x04K\x07.", "7"),
            (b"\x80\x04M\xe8\x03.", "1000"),
            (b"\x80\x04J\xfb\xff\xff\xff.", "-5"),
            (b"\x80\x04\x95\x0a\0\0\0\0\0\0\0G@)\0\0\0\0\0\0.", "12.5"),
            (b"\xc2", "false"),
            (b"\xc3", "true"),
            (b"\xa6locked", "locked"),
            (b"\xd9\x24b0a5c7f0-0d3b-4d52-9a3c-0a8f0f9c1e11", "b0a5c7f0-0d3b-4d52-9a3c-0a8f0f9c1e11"),
            (b"\0\0\0\x02\x04", "false"),
            (b"\0\0\0\x02\x11\x06locked", "locked"),
            (b"\0\0\0\x02\x06\x07", "7"),
        ] {
            assert_eq!(scalar(value).as_deref(), Some(text.as_bytes()), "{}", value.escape_ascii());
        }
    }

    #[test]
    fn other_values_are_none() {
        for value in [
            &b""[..],
            b"locked",
            b"\x80",
            b"\x80\x04.",
            b"\x80\x04\x95\0.",
            b"\x80\x04\x8c\x07locked\x94.",
            b"\x80\x04\x8c\x06lockedx.",
            b"\x80\x04]\x94.",
            b"\xa7locked",
            b"\xa2\xff\xff",
            b"\xd9",
            b"\0\0\0\x02\x14\0",
            "锁".as_bytes(),
        ] {
            assert_eq!(scalar(value), None, "{}", value.escape_ascii());
        }
    }
}
