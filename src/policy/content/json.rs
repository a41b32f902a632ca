//! Recognition of JSON that holds objects: an object with members, an array of objects, also within arrays, or a JSON string that holds one of
//! these, as clients that encode twice write it. An object or array may have the name of its Java class in front, as Jackson
//! writes it: `["com.shop.User",{"id":1}]`, `["java.util.ArrayList",[{"id":1}]]`. Values may be as Fastjson writes them with
//! the names of classes: numbers with a letter for their type (`1001L`) and sets (`Set["a"]`).
//!
//! The beginning of the text must follow the grammar of JSON, and its last character must be the one that ends such a value.
//! Texts up to [`EXAMINED`] bytes are parsed completely. Templates, log lines and configuration files that begin with a brace
//! or bracket break the grammar within their first bytes.

use super::{beginning, stored};
use crate::rdb::peek::MAX_EXPANDED_BYTES;
use crate::rdb::scratch::Scratch;
use crate::rdb::string::StringForm;
use crate::record::Record;

/// Maximum number of bytes parsed. Also bounds the depth of nested values.
const EXAMINED: usize = 128;
/// Maximum number of white space characters skipped at the end.
const BLANKS_AT_END: usize = 16;
/// Maximum number of times that a value is encoded as a string.
const ENCODINGS: u8 = 3;

/// Returns whether a string holds JSON with objects.
pub fn holds_objects(record: &Record<'_>) -> bool {
    beginning(record, EXAMINED, |text, whole| {
        let examined = text.get(..EXAMINED).unwrap_or(text);
        let end = match examined.iter().find(|byte| !is_blank(**byte))? {
            b'{' => b'}',
            b'[' => b']',
            quote => *quote,
        };
        is_objects(examined, whole && examined.len() == text.len(), ENCODINGS).then_some(end)
    })
    .flatten()
    .is_some_and(|end| ends_with(record, end))
}

/// Returns whether a string ends with this byte, apart from white space.
///
/// The block of a compressed string mostly ends with literals, so that its last byte is that of the text. Where it is another byte,
/// the block may end with a copy, and is expanded.
fn ends_with(record: &Record<'_>, end: u8) -> bool {
    let Some(string) = stored(record) else { return false };
    let ends = |text: &[u8]| text.iter().rev().take(BLANKS_AT_END).find(|byte| !is_blank(**byte)) == Some(&end);
    match string.form {
        StringForm::Plain(text) => ends(text),
        StringForm::Lzf { block, .. } => {
            block.last() == Some(&end) || string.decode(&mut Scratch::new(MAX_EXPANDED_BYTES)).is_ok_and(ends)
        }
        StringForm::Int(_) => false,
    }
}

/// Returns whether a text, or the beginning of one, is JSON with objects.
fn is_objects(text: &[u8], whole: bool, encodings: u8) -> bool {
    let mut json = Json { rest: text, members: false };
    let parsed = match json.blank().split_first() {
        Some((b'{', _)) => json.value(),
        Some((b'[', _)) => json.array_of_objects(),
        Some((b'"', inner)) if encodings > 0 => return is_encoded(inner, whole, encodings - 1),
        _ => return false,
    };
    let is_complete = parsed.is_ok() && json.blank().is_empty() && whole;
    let is_cut = !whole && (parsed == Err(Stop::Cut) || parsed.is_ok() && json.blank().is_empty());
    json.members && (is_complete || is_cut)
}

/// Returns whether a JSON string, given from the byte after its quote, holds JSON with objects.
fn is_encoded(text: &[u8], whole: bool, encodings: u8) -> bool {
    let starts = text.iter().find(|byte| !is_blank(**byte));
    if !matches!(starts, Some(b'{' | b'[' | b'\\')) {
        return false; // mostly a string without JSON
    }
    let mut inner = Vec::with_capacity(text.len());
    match unescape(text, &mut inner) {
        Ok(rest) => {
            let ends = rest.iter().all(|&byte| is_blank(byte));
            ends && is_objects(&inner, true, encodings)
        }
        Err(Stop::Cut) => !whole && is_objects(&inner, false, encodings),
        Err(Stop::Malformed) => false,
    }
}

/// Decodes a JSON string up to its closing quote and returns the bytes after it. Characters beyond ASCII become `?`.
fn unescape<'t>(mut text: &'t [u8], inner: &mut Vec<u8>) -> Result<&'t [u8], Stop> {
    loop {
        let (&byte, rest) = text.split_first().ok_or(Stop::Cut)?;
        text = rest;
        match byte {
            b'"' => return Ok(rest),
            0..0x20 => return Err(Stop::Malformed),
            b'\\' => {
                let (&escaped, rest) = rest.split_first().ok_or(Stop::Cut)?;
                text = rest;
                match escaped {
                    b'"' | b'\\' | b'/' => inner.push(escaped),
                    b'n' | b'r' | b't' | b'b' | b'f' => inner.push(b' '),
                    b'u' => {
                        let (digits, rest) = rest.split_at_checked(4).ok_or(Stop::Cut)?;
                        text = rest;
                        inner.push(code_unit(digits)?);
                    }
                    _ => return Err(Stop::Malformed),
                }
            }
            _ => inner.push(byte),
        }
    }
}

/// Returns the character of four hexadecimal digits, or `?` beyond ASCII.
fn code_unit(digits: &[u8]) -> Result<u8, Stop> {
    let hex = |sum: u32, digit: &u8| Some(sum << 4 | char::from(*digit).to_digit(16)?);
    let code = digits.iter().try_fold(0, hex).ok_or(Stop::Malformed)?;
    Ok(u8::try_from(code).ok().filter(u8::is_ascii).unwrap_or(b'?'))
}

const fn is_blank(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Reason why parsing stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// The text ends inside the value.
    Cut,
    /// The text is not JSON.
    Malformed,
}

/// Parser of the beginning of a JSON text.
struct Json<'t> {
    rest: &'t [u8],
    /// True once an object has a member: a name with a colon.
    members: bool,
}

impl<'t> Json<'t> {
    /// Skips white space and returns the rest.
    fn blank(&mut self) -> &'t [u8] {
        while let Some((&byte, rest)) = self.rest.split_first()
            && is_blank(byte)
        {
            self.rest = rest;
        }
        self.rest
    }

    /// Skips white space and returns the next byte, which is consumed.
    fn next(&mut self) -> Result<u8, Stop> {
        let (&byte, rest) = self.blank().split_first().ok_or(Stop::Cut)?;
        self.rest = rest;
        Ok(byte)
    }

    /// Parses an array of objects, or a pair of a class name and an object or array.
    fn array_of_objects(&mut self) -> Result<(), Stop> {
        self.next()?;
        self.objects()
    }

    /// Parses an array of objects, of arrays of them or of pairs, or a pair, from the byte after its bracket.
    fn objects(&mut self) -> Result<(), Stop> {
        if self.blank().first() == Some(&b'"') {
            return self.typed();
        }
        loop {
            match self.next()? {
                b'{' => self.members()?,
                b'[' => self.objects()?,
                _ => return Err(Stop::Malformed),
            }
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses a pair from the byte after its bracket: a class name, and an object or an array of objects.
    fn typed(&mut self) -> Result<(), Stop> {
        self.class_name()?;
        match *self.blank().first().ok_or(Stop::Cut)? {
            b'{' => self.value()?,
            b'[' => self.array_of_objects()?,
            _ => return Err(Stop::Malformed),
        }
        if self.next()? == b']' { Ok(()) } else { Err(Stop::Malformed) }
    }

    /// Parses the name of a Java class and the comma behind it: words joined by dots, the last of which begins with a capital.
    fn class_name(&mut self) -> Result<(), Stop> {
        if self.next()? != b'"' {
            return Err(Stop::Malformed);
        }
        let name = self.rest;
        self.string()?;
        let name = name.get(..name.len() - self.rest.len() - 1).unwrap_or_default();
        let package = name.iter().rposition(|&byte| byte == b'.').ok_or(Stop::Malformed)?;
        let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'$');
        let is_class =
            package > 0 && name.get(package + 1).is_some_and(u8::is_ascii_uppercase) && name.iter().all(in_name);
        if is_class && self.next()? == b',' { Ok(()) } else { Err(Stop::Malformed) }
    }

    /// Parses a value of any type.
    fn value(&mut self) -> Result<(), Stop> {
        match self.next()? {
            b'{' => self.members(),
            b'[' => self.elements(),
            b'"' => self.string(),
            b'-' if self.rest.first() == Some(&b'I') => self.word(b"Infinity"),
            digit @ (b'-' | b'0'..=b'9') => self.number(digit),
            b't' => self.word(b"rue"),
            b'f' => self.word(b"alse"),
            b'n' => self.word(b"ull"),
            // Written by Python.
            b'N' => self.word(b"aN"),
            b'I' => self.word(b"nfinity"),
            // Written by Fastjson.
            b'S' => self.word(b"et[").and_then(|()| self.elements()),
            b'T' => self.word(b"reeSet[").and_then(|()| self.elements()),
            _ => Err(Stop::Malformed),
        }
    }

    /// Parses an object from the byte after its brace.
    fn members(&mut self) -> Result<(), Stop> {
        if *self.blank().first().ok_or(Stop::Cut)? == b'}' {
            self.next()?;
            return Ok(());
        }
        loop {
            if self.next()? != b'"' {
                return Err(Stop::Malformed);
            }
            self.string()?;
            if self.next()? != b':' {
                return Err(Stop::Malformed);
            }
            self.members = true;
            self.value()?;
            match self.next()? {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses an array from the byte after its bracket.
    fn elements(&mut self) -> Result<(), Stop> {
        if *self.blank().first().ok_or(Stop::Cut)? == b']' {
            self.next()?;
            return Ok(());
        }
        loop {
            self.value()?;
            match self.next()? {
                b',' => {}
                b']' => return Ok(()),
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses a string from the byte after its quote.
    fn string(&mut self) -> Result<(), Stop> {
        loop {
            let end =
                self.rest.iter().position(|&byte| byte < 0x20 || matches!(byte, b'"' | b'\\')).ok_or(Stop::Cut)?;
            let (&byte, rest) = self.rest.get(end..).and_then(<[u8]>::split_first).ok_or(Stop::Cut)?;
            self.rest = rest;
            match byte {
                b'"' => return Ok(()),
                b'\\' => match rest.split_first().ok_or(Stop::Cut)? {
                    (b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' | b'u', rest) => self.rest = rest,
                    _ => return Err(Stop::Malformed),
                },
                _ => return Err(Stop::Malformed),
            }
        }
    }

    /// Parses the rest of a number, and the letter of its type in Java.
    fn number(&mut self, first: u8) -> Result<(), Stop> {
        let belongs = |byte: &u8| matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-');
        let end = self.rest.iter().position(|byte| !belongs(byte)).ok_or(Stop::Cut)?;
        let (number, rest) = self.rest.split_at_checked(end).ok_or(Stop::Cut)?;
        self.rest = match rest {
            [b'B' | b'S' | b'L' | b'F' | b'D', rest @ ..] if number.last().unwrap_or(&first).is_ascii_digit() => rest,
            rest => rest,
        };
        Ok(())
    }

    /// Parses the rest of a literal.
    fn word(&mut self, word: &[u8]) -> Result<(), Stop> {
        match self.rest.strip_prefix(word) {
            Some(rest) => self.rest = rest,
            None if word.starts_with(self.rest) => return Err(Stop::Cut),
            None => return Err(Stop::Malformed),
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
