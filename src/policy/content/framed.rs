//! Texts in values of binary formats: objects that Java serialized, pickles of Python, igbinary of PHP, msgpack and protobuf.
//!
//! These formats write the length of a text before it and the code of the next value behind it. Either may be the byte of a letter
//! or a digit, which then seems to belong to the text: a text of 48 bytes has a `0` before it. Here each text gets lines of its own.
//!
//! Msgpack and protobuf have no mark of their own: a value is one of theirs if all its lengths add up to its end. Values that are
//! read in part may end within a text. Every format takes linear time, protobuf for each of at most [`MAX_DEPTH`] levels.

use super::binary::IGBINARY;
use super::serialized::JAVA;
use crate::rdb::peek::MAX_TEXT_BYTES;

/// Bytes from which on a value may be the beginning of a longer one. Digits at its end may have been left out.
const PERHAPS_CUT: usize = MAX_TEXT_BYTES - 96;

/// Levels of messages in messages of protobuf that are read.
const MAX_DEPTH: u8 = 6;

/// Returns the texts of a value in one of these formats, each on a line of its own; `None` for any other value.
pub fn texts(value: &[u8]) -> Option<Vec<u8>> {
    let mut texts = Texts::default();
    let input = |at: usize| Input { rest: value.get(at..).unwrap_or_default(), may_end: value.len() >= PERHAPS_CUT };
    match *value {
        [0xAC, 0xED, ..] if value.starts_with(JAVA) => java(value, &mut texts),
        [0x80, 2..=5, ..] => pickle(&mut input(2), &mut texts)?,
        [0, ..] if value.starts_with(IGBINARY) => igbinary(&mut input(IGBINARY.len()), &mut texts)?,
        // A string alone is a scalar.
        [0x81..=0x9F | 0xDA..=0xDF, ..] => msgpack(&mut input(0), &mut texts)?,
        // Fields 1 to 3, one of which nearly every message begins with. Few texts begin with such a byte.
        [0x08..=0x1F, ..] => protobuf(&mut input(0), MAX_DEPTH, &mut texts)?,
        _ => return None,
    }
    Some(texts.lines).filter(|lines| !lines.is_empty())
}

/// Collector of texts.
#[derive(Debug, Default)]
struct Texts {
    lines: Vec<u8>,
}

impl Texts {
    fn add(&mut self, text: &[u8]) {
        if !text.is_empty() {
            if !self.lines.is_empty() {
                self.lines.push(b'\n');
            }
            self.lines.extend_from_slice(text);
        }
    }
}

/// Rest of a value.
#[derive(Debug, Clone)]
struct Input<'t> {
    rest: &'t [u8],
    /// True if the value may be the beginning of a longer one.
    may_end: bool,
}

impl<'t> Input<'t> {
    /// Splits off this many bytes; fewer at the end of a value that is cut, and then nothing is left.
    fn take(&mut self, length: usize) -> Option<&'t [u8]> {
        let (taken, rest) = match self.rest.split_at_checked(length) {
            Some(split) => split,
            None if self.may_end => (self.rest, &[][..]),
            None => return None,
        };
        self.rest = rest;
        Some(taken)
    }

    fn skip(&mut self, length: usize) -> Option<()> {
        self.take(length).map(|_| ())
    }

    fn byte(&mut self) -> Option<u8> {
        let (byte, rest) = self.rest.split_first()?;
        self.rest = rest;
        Some(*byte)
    }

    /// Reads a length of this many bytes, the highest first.
    fn big_endian(&mut self, width: usize) -> Option<usize> {
        self.take(width)?.iter().try_fold(0usize, |sum, byte| Some(sum.checked_mul(256)? + usize::from(*byte)))
    }

    /// Reads a length of this many bytes, the lowest first.
    fn little_endian(&mut self, width: usize) -> Option<usize> {
        self.take(width)?.iter().rev().try_fold(0usize, |sum, byte| Some(sum.checked_mul(256)? + usize::from(*byte)))
    }

    /// Reads a number of protobuf.
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let Some(byte) = self.byte() else { return self.may_end.then_some(number) };
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// Splits off a line.
    fn line(&mut self) -> Option<&'t [u8]> {
        let line = self.take(memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len()))?;
        self.byte();
        Some(line)
    }
}

/// Adds the strings of a stream of Java, and what stands between them, such as arrays of bytes.
///
/// The high byte of a length is a control character, which no text has: so each byte is looked at for one string at most.
fn java(value: &[u8], texts: &mut Texts) {
    let (mut from, mut at) = (JAVA.len(), JAVA.len());
    while let Some(found) = value.get(at..).and_then(|rest| memchr::memchr(b't', rest)) {
        let head = at + found;
        let Some(end) = java_text_end(value, head) else {
            at = head + 1;
            continue;
        };
        texts.add(&value[from..head]);
        texts.add(&value[head + 3..end]);
        (from, at) = (end, end);
    }
    texts.add(value.get(from..).unwrap_or_default());
}

/// Returns the end of a string of Java whose code is at `head`.
fn java_text_end(value: &[u8], head: usize) -> Option<usize> {
    let &[high @ 0..0x20, low] = value.get(head + 1..head + 3)? else { return None };
    let (start, length) = (head + 3, usize::from(u16::from_be_bytes([high, low])));
    let whole = value.get(start..start + length);
    let text = whole.or_else(|| value.get(start..).filter(|_| value.len() >= PERHAPS_CUT))?;
    (!text.is_empty() && !text.iter().any(|&byte| is_control(byte))).then_some(start + text.len())
}

fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r') || byte == 0x7F
}

/// Adds the strings of a pickle, from the code behind its protocol on.
fn pickle(input: &mut Input<'_>, texts: &mut Texts) -> Option<()> {
    while let Some(code) = input.byte() {
        match code {
            b'.' => return Some(()),
            // Strings and bytes with their length.
            b'U' | b'C' | 0x8C => read_text(input, 1, Input::little_endian, texts)?,
            b'T' | b'B' | b'X' => read_text(input, 4, Input::little_endian, texts)?,
            0x8D | 0x8E | 0x96 => read_text(input, 8, Input::little_endian, texts)?,
            b'S' | b'V' => texts.add(input.line()?),
            b'I' | b'L' | b'F' | b'P' | b'p' | b'g' => drop(input.line()?),
            b'c' | b'i' => drop((input.line()?, input.line()?)),
            // Numbers, places of the memo, frames.
            b'K' | b'h' | b'q' | 0x80 | 0x82 => input.skip(1)?,
            b'M' | 0x83 => input.skip(2)?,
            b'J' | b'j' | b'r' | 0x84 => input.skip(4)?,
            b'G' | 0x95 => input.skip(8)?,
            0x8A => skip_text(input, 1, Input::little_endian)?,
            0x8B => skip_text(input, 4, Input::little_endian)?,
            b'(' | b')' | b'0' | b'1' | b'2' | b'N' | b'Q' | b'R' | b']' | b'a' | b'b' | b'd' | b'e' | b'l' | b'o'
            | b's' | b't' | b'u' | b'}' => {}
            0x81 | 0x85..=0x89 | 0x8F..=0x94 | 0x97 | 0x98 => {}
            _ => return None,
        }
    }
    input.may_end.then_some(())
}

/// Adds the strings of igbinary, from the first value on.
fn igbinary(input: &mut Input<'_>, texts: &mut Texts) -> Option<()> {
    while let Some(code) = input.byte() {
        match code {
            0x00 | 0x04 | 0x05 | 0x0D | 0x25 => {}
            // References, numbers, arrays with their size.
            0x01 | 0x06 | 0x07 | 0x0E | 0x14 | 0x1A | 0x22 => input.skip(1)?,
            0x02 | 0x08 | 0x09 | 0x0F | 0x15 | 0x1B | 0x23 => input.skip(2)?,
            0x03 | 0x0A | 0x0B | 0x10 | 0x16 | 0x1C | 0x24 => input.skip(4)?,
            0x0C | 0x20 | 0x21 => input.skip(8)?,
            0x11 => read_text(input, 1, Input::big_endian, texts)?,
            0x12 => read_text(input, 2, Input::big_endian, texts)?,
            0x13 => read_text(input, 4, Input::big_endian, texts)?,
            // Names of classes.
            0x17 => skip_text(input, 1, Input::big_endian)?,
            0x18 => skip_text(input, 2, Input::big_endian)?,
            0x19 => skip_text(input, 4, Input::big_endian)?,
            _ => return None,
        }
    }
    Some(())
}

/// Adds the strings of one value of msgpack, which must be all of the input.
fn msgpack(input: &mut Input<'_>, texts: &mut Texts) -> Option<()> {
    let mut pending = 1usize;
    while pending > 0 {
        let Some(code) = input.byte() else { return input.may_end.then_some(()) };
        let mut within = 0;
        match code {
            0..=0x7F | 0xC0 | 0xC2 | 0xC3 | 0xE0..=0xFF => {}
            0x80..=0x8F => within = usize::from(code & 0x0F) * 2,
            0x90..=0x9F => within = usize::from(code & 0x0F),
            0xA0..=0xBF => texts.add(input.take(usize::from(code & 0x1F))?),
            // Bytes and strings.
            0xC4 | 0xD9 => read_text(input, 1, Input::big_endian, texts)?,
            0xC5 | 0xDA => read_text(input, 2, Input::big_endian, texts)?,
            0xC6 | 0xDB => read_text(input, 4, Input::big_endian, texts)?,
            // Numbers and extensions; these have a type of one byte.
            0xCC | 0xD0 => input.skip(1)?,
            0xCD | 0xD1 => input.skip(2)?,
            0xCA | 0xCE | 0xD2 => input.skip(4)?,
            0xCB | 0xCF | 0xD3 => input.skip(8)?,
            0xD4..=0xD8 => input.skip(1 + (1 << (code - 0xD4)))?,
            0xC7..=0xC9 => {
                let length = input.big_endian(1 << (code - 0xC7))?;
                input.skip(length.checked_add(1)?)?;
            }
            0xDC | 0xDD => within = input.big_endian(2 << (code - 0xDC))?,
            0xDE | 0xDF => within = input.big_endian(2 << (code - 0xDE))?.checked_mul(2)?,
            0xC1 => return None,
        }
        pending = (pending - 1).checked_add(within)?;
    }
    input.rest.is_empty().then_some(())
}

/// Adds the strings of a message of protobuf, which must be all of the input, and of the messages in it.
fn protobuf(input: &mut Input<'_>, levels: u8, texts: &mut Texts) -> Option<()> {
    const MAX_FIELD: u64 = (1 << 29) - 1;
    while !input.rest.is_empty() {
        let tag = input.varint()?;
        if !(1..=MAX_FIELD).contains(&(tag >> 3)) {
            return None;
        }
        match tag & 7 {
            0 => drop(input.varint()?),
            1 => input.skip(8)?,
            5 => input.skip(4)?,
            2 => {
                let length = usize::try_from(input.varint()?).ok()?;
                let is_cut = length > input.rest.len();
                let field = input.take(length)?;
                let known = texts.lines.len();
                let mut inner = Input { rest: field, may_end: is_cut };
                // Bytes that are neither text nor a message stay as they are.
                let is_message = levels > 1
                    && field.iter().any(|&byte| is_control(byte))
                    && protobuf(&mut inner, levels - 1, texts).is_some();
                if !is_message {
                    texts.lines.truncate(known);
                    texts.add(field);
                }
            }
            _ => return None,
        }
    }
    Some(())
}

/// Adds a text behind its length.
fn read_text<'t>(
    input: &mut Input<'t>,
    width: usize,
    length: fn(&mut Input<'t>, usize) -> Option<usize>,
    texts: &mut Texts,
) -> Option<()> {
    let length = length(input, width)?;
    texts.add(input.take(length)?);
    Some(())
}

/// Skips bytes behind their length.
fn skip_text<'t>(
    input: &mut Input<'t>,
    width: usize,
    length: fn(&mut Input<'t>, usize) -> Option<usize>,
) -> Option<()> {
    let length = length(input, width)?;
    input.skip(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the lines that are texts.
    fn lines(value: &[u8]) -> Vec<String> {
        let lines = texts(value).unwrap_or_default();
        lines.split(|byte| *byte == b'\n').map(|line| String::from_utf8_lossy(line).into_owned()).collect()
    }

    fn java_text(text: &str) -> Vec<u8> {
        [&b"t"[..], &u16::try_from(text.len()).unwrap().to_be_bytes(), text.as_bytes()].concat()
    }

    #[test]
    fn texts_whose_length_is_a_letter_stand_alone() {
        for length in [11, 48, 57, 65, 90, 97, 122, 127, 200, 304] {
            let text = "13912345678,".repeat(30)[..length].to_owned();
            let (low, high) = (length as u8, (length >> 8) as u8);
            let two = length.to_be_bytes()[6..].to_vec();
            let varint = if length < 128 { vec![low] } else { vec![low | 0x80, (length >> 7) as u8] };
            let of = |parts: &[&[u8]]| parts.concat();
            let text = text.as_bytes();
            for value in [
                of(&[
                    JAVA,
                    b"sr\0\x04Home\x12xp",
                    &java_text("x"),
                    &java_text(std::str::from_utf8(text).unwrap()),
                    b"p",
                ]),
                of(&[b"\x80\x02}q\0X\x01\0\0\0aq\x01X", &[low, high, 0, 0], text, b"q\x02s."]),
                of(&[b"\x80\x05\x95\0\0\0\0\0\0\0\0}\x94X", &[low, high, 0, 0], text, b"\x94s."]),
                of(&[b"\x93\x07\xda", &two, text, b"1"]),
                of(&[b"\x08\x07\x12", &varint, text, b"2\x02ab"]),
                of(&[b"\0\0\0\x02\x14\x01\x11\x01a\x12", &two, text]),
            ] {
                let lines = lines(&value);
                assert!(lines.iter().any(|line| line.as_bytes() == text), "{} {lines:?}", value.escape_ascii());
            }
        }
    }

    #[test]
    fn messages_in_messages_are_read_and_other_bytes_stay() {
        assert_eq!(lines(b"\x08\x07\x12\x0f\x0a\x0b13912345678\x10\x01"), ["13912345678"]);
        assert_eq!(lines(b"\x0a\x02ab\x12\x04\xff\x01\xff2"), ["ab", "\u{fffd}\u{1}\u{fffd}2"]);
        let array = [JAVA, b"ur\0\x02[Bxp\0\0\0\x09{\"a\":\"t\"}"].concat();
        assert_eq!(texts(&array).as_deref(), array.strip_prefix(JAVA));
    }

    #[test]
    fn the_beginning_of_a_long_value_is_read() {
        let long = "x".repeat(5000);
        for value in [
            [JAVA, b"t\x13\x88", long.as_bytes()].concat(),
            [&b"\x80\x02X\x88\x13\0\0"[..], long.as_bytes()].concat(),
            [&b"\x91\xda\x13\x88"[..], long.as_bytes()].concat(),
            [&b"\x0a\x88\x27"[..], long.as_bytes()].concat(),
        ] {
            let lines = lines(&value[..MAX_TEXT_BYTES]);
            assert!(lines.last().is_some_and(|line| line.len() > 4000 && line.bytes().all(|byte| byte == b'x')));
        }
        assert_eq!(texts(b"\x0a\x0bcut"), None);
    }

    #[test]
    fn other_values_are_none() {
        for value in [
            &b""[..],
            b"text",
            b"\n{\"a\":1}",
            b"\t13912345678",
            b"\x1f\x8b\x08\0\0",
            b"\x80\x04\xff.",
            b"\x81\xa1a",
            b"\x92\x01\x02\x03",
            b"\0\0\0\x02\x7f",
            b"\x08\x01",
            "\u{62f}\u{6af}".as_bytes(),
        ] {
            assert_eq!(texts(value), None, "{}", value.escape_ascii());
        }
    }

    #[test]
    fn hostile_values_take_linear_time() {
        let start = std::time::Instant::now();
        for piece in
            [&b"t\0\x20"[..], b"t\x0f\xff", b"\x0a\x7f", b"\x0a\x80\x80\x01", b"\xdd\xff\xff\xff\xff", b"(", b"I"]
        {
            for head in [JAVA, b"\x80\x02", b"\x91", IGBINARY, b""] {
                let _ = texts(&[head, &piece.repeat((1 << 20) / piece.len())].concat());
            }
        }
        // Quadratic time would take hours.
        assert!(start.elapsed().as_secs() < 60);
    }
}
