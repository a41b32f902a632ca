//! Which segments of a key are names and which are ids: `user:1001:name` is `user:{int}:name`.
//!
//! A key is read once, left to right. Its bytes are looked up in a table of kinds, and what was seen between two
//! separators decides how much has to be asked of that segment: letters alone are a name, digits alone a number or a
//! date; only a mixture is taken apart (`pieces`). `docs/patterns.md` states the rules for users, with examples
//! that the tests below hold against this code.
//!
//! A pattern is UTF-8 whatever the key is. The braces of a hash tag, and other pairs of braces, are left out of it; a
//! brace without partner is doubled (`{{`), so that `{int}` is always a class. A segment takes at most [`MAX_NAME`] bytes, a pattern has at most
//! [`MAX_SEGMENTS`] of them.

mod address;
mod date;
mod pieces;
mod segment_text;
mod token;

use std::ops::Range;

pub(super) use date::is_unmarked as is_date;
pub(super) use pieces::GLUED;
use segment_text::SegmentText;

use super::name::KeyName;
use super::plain::{self, PlainName, PlainReader};
use super::segment::Separators;
use super::{PartKind, PatternBuf, PatternPart, slot};

/// Segments of a pattern. The last of them stands for all the rest of a deeper key.
pub const MAX_SEGMENTS: usize = 16;

/// Bytes of a segment in a pattern; one that would be longer is `{long}`.
pub const MAX_NAME: usize = 64;

/// What a segment, or a piece of it, is when it is not a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// A decimal number.
    Int,
    /// A UUID in its usual form with dashes.
    Uuid,
    /// Hexadecimal digits.
    Hex,
    /// A day, month or hour of the calendar.
    Date,
    /// An e-mail address.
    Email,
    /// An IP address.
    Ip,
    /// Characters that look random: session ids, base64.
    Token,
    /// Not text: invalid UTF-8 or control characters.
    Bin,
    /// A name that is too long to be one.
    Long,
    /// All that lies below the deepest segment of a pattern.
    Deeper,
}

impl Class {
    /// Every class.
    pub const ALL: [Class; 10] = [
        Class::Int,
        Class::Uuid,
        Class::Hex,
        Class::Date,
        Class::Email,
        Class::Ip,
        Class::Token,
        Class::Bin,
        Class::Long,
        Class::Deeper,
    ];

    /// How it prints.
    pub const fn text(self) -> &'static str {
        match self {
            Class::Int => "{int}",
            Class::Uuid => "{uuid}",
            Class::Hex => "{hex}",
            Class::Date => "{date}",
            Class::Email => "{email}",
            Class::Ip => "{ip}",
            Class::Token => "{token}",
            Class::Bin => "{bin}",
            Class::Long => "{long}",
            Class::Deeper => "{deeper}",
        }
    }
}

/// Kinds of bytes, one bit each, so that a segment's are joined with `|`.
mod kind {
    pub const DIGIT: u8 = 1;
    pub const LOWER: u8 = 2;
    pub const UPPER: u8 = 4;
    /// Punctuation that random tokens contain too: `-`, `_`, `+`, `/`.
    pub const JOIN: u8 = 8;
    pub const AT: u8 = 16;
    /// Other printable punctuation, and the space.
    pub const MARK: u8 = 32;
    /// Braces, control characters, and what is not ASCII.
    pub const RARE: u8 = 64;
    pub const SEPARATOR: u8 = 128;

    /// A segment without any of these is a name as it stands.
    pub const TELLING: u8 = DIGIT | AT | RARE;

    /// What stands between the pieces of a segment.
    pub const BETWEEN: u8 = JOIN | AT | MARK;

    /// The kind of every byte, before any is made a separator.
    pub const OF: [u8; 256] = {
        let mut of = [RARE; 256];
        let mut byte: u8 = b' ';
        while byte < 0x7f {
            of[byte as usize] = match byte {
                b'0'..=b'9' => DIGIT,
                b'a'..=b'z' => LOWER,
                b'A'..=b'Z' => UPPER,
                b'-' | b'_' | b'+' | b'/' => JOIN,
                b'@' => AT,
                b'{' | b'}' => RARE,
                _ => MARK,
            };
            byte += 1;
        }
        of
    };

    pub static TABLE: [u8; 256] = OF;

    #[inline]
    pub fn of(byte: u8) -> u8 {
        TABLE[usize::from(byte)]
    }

    pub fn all(bytes: &[u8]) -> u8 {
        bytes.iter().fold(0, |seen, &byte| seen | of(byte))
    }
}

/// Turns keys into patterns.
#[derive(Debug, Clone)]
pub struct Classifier {
    kinds: [u8; 256],
    plain: PlainReader,
}

impl Classifier {
    /// A classifier of keys whose segments are divided by `separators`.
    pub fn new(separators: Separators) -> Self {
        let mut kinds = kind::OF;
        for &byte in separators.as_bytes() {
            kinds[usize::from(byte)] = kind::SEPARATOR;
        }
        Classifier { kinds, plain: PlainReader::new(&separators) }
    }

    /// The key, if it is plain: then its pattern is the key itself.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a small constant")]
    pub fn plain<'k>(&self, key: &'k [u8]) -> Option<PlainName<'k>> {
        const { assert!(plain::LONGEST <= MAX_NAME) };
        self.plain.read(key, MAX_SEGMENTS as u32, |byte| self.kinds[usize::from(byte)] & kind::TELLING != 0)
    }

    /// Reads a key name; the pattern of one that is not plain is written into `buffer`.
    #[inline]
    pub fn read<'n>(&self, key: &'n [u8], buffer: &'n mut PatternBuf) -> KeyName<'n> {
        match self.plain(key) {
            Some(plain) => KeyName::Plain(plain),
            None => {
                self.classify(key, buffer);
                KeyName::Classified(key, buffer)
            }
        }
    }

    /// Writes the pattern of `key` into `out`, replacing what it held.
    ///
    /// Takes time linear in the key; allocates only while `out` grows, which ends at about a kilobyte.
    pub fn classify(&self, key: &[u8], out: &mut PatternBuf) {
        out.clear();
        let text = std::str::from_utf8(key).ok();
        let mut tag = None;
        let mut start = 0;
        // What stands in the pattern as it stands in the key is copied together.
        let mut copied = 0;
        loop {
            let (end, seen) = self.segment_end(key, start);
            let separator = key.get(end).filter(|_| out.parts.len() + 1 < MAX_SEGMENTS);
            let is_last = separator.is_none();
            if seen & kind::TELLING == 0 && end - start <= MAX_NAME && (!is_last || end == key.len()) {
                let from = out.text.len() + (start - copied);
                out.parts.push(PatternPart {
                    start: offset(from),
                    end: offset(from + (end - start)),
                    kind: PartKind::Literal,
                });
                if is_last {
                    return copy(key, text, copied..end, &mut out.text);
                }
                start = end + 1;
                continue;
            }
            copy(key, text, copied..start, &mut out.text);
            let segment = match text {
                Some(text) => text.get(start..end), // separators are ASCII: both ends are between characters
                None => std::str::from_utf8(&key[start..end]).ok(),
            };
            let from = out.text.len();
            let mut name = SegmentText::new(&mut out.text);
            match segment {
                _ if is_last && end < key.len() => name.class(Class::Deeper),
                Some(segment) if seen & kind::RARE == 0 => plain(segment, seen, &mut name),
                Some(segment) => {
                    let tag = tag.get_or_insert_with(|| slot::tag(key)).as_ref();
                    rare(segment, start, tag, &mut name);
                }
                None => name.class(Class::Bin),
            }
            let kind = name.finish();
            out.parts.push(PatternPart { start: offset(from), end: offset(out.text.len()), kind });
            if is_last {
                return;
            }
            (start, copied) = (end + 1, end); // the separator is copied with what follows
        }
    }

    /// Takes the text of a pattern apart again, as [`Classifier::classify`] made it or the tree of patterns joined it.
    pub fn read_pattern(&self, text: &str, out: &mut PatternBuf) {
        out.clear();
        out.text.push_str(text);
        let mut start = 0;
        for (end, _) in
            text.bytes().enumerate().filter(|(_, byte)| kind_is_separator(&self.kinds, *byte)).chain([(text.len(), 0)])
        {
            let name = text.get(start..end).unwrap_or_default();
            let is_class = Class::ALL.into_iter().any(|class| class.text() == name);
            let kind = if is_class { PartKind::Class } else { PartKind::Literal };
            out.parts.push(PatternPart { start: offset(start), end: offset(end), kind });
            start = end + 1;
        }
    }

    /// The pattern of `key` as text.
    pub fn pattern_text(&self, key: &[u8]) -> String {
        let mut out = PatternBuf::default();
        self.classify(key, &mut out);
        out.text
    }

    /// Where the segment that begins at `start` ends, and the kinds of its bytes.
    #[inline]
    fn segment_end(&self, key: &[u8], start: usize) -> (usize, u8) {
        let mut seen = 0;
        for (i, &byte) in key[start..].iter().enumerate() {
            let kind = self.kinds[usize::from(byte)];
            if kind == kind::SEPARATOR {
                return (start + i, seen);
            }
            seen |= kind;
        }
        (key.len(), seen)
    }
}

impl Default for Classifier {
    fn default() -> Self {
        Classifier::new(Separators::default())
    }
}

fn kind_is_separator(kinds: &[u8; 256], byte: u8) -> bool {
    kinds[usize::from(byte)] == kind::SEPARATOR
}

/// Appends bytes of ASCII in a key, of which `text` is all if it is text.
#[inline]
fn copy(key: &[u8], text: Option<&str>, ascii: Range<usize>, out: &mut String) {
    let more = match text {
        Some(text) => text.get(ascii),
        None => key.get(ascii).and_then(|bytes| std::str::from_utf8(bytes).ok()),
    };
    out.push_str(more.unwrap_or_default());
}

/// Offsets fit: [`MAX_SEGMENTS`] names of at most [`MAX_NAME`] bytes stand before any.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Names a segment without braces and control characters, given the kinds of its bytes.
#[inline]
fn plain(segment: &str, seen: u8, name: &mut SegmentText<'_>) {
    if seen & kind::TELLING == 0 {
        return name.literal(segment);
    }
    if seen == kind::DIGIT {
        return name.class(pieces::number(segment.as_bytes()));
    }
    match whole(segment, seen) {
        Some(class) => name.class(class),
        None => pieces::name(segment, name),
    }
}

/// The classes that only a whole segment can be in.
fn whole(segment: &str, seen: u8) -> Option<Class> {
    let bytes = segment.as_bytes();
    if seen == kind::DIGIT | kind::JOIN
        && let [b'-' | b'+', number @ ..] = bytes
        && number.iter().all(u8::is_ascii_digit)
    {
        return Some(Class::Int);
    }
    if seen & kind::AT != 0 && address::is_email(bytes) {
        return Some(Class::Email);
    }
    if seen & kind::MARK != 0 && address::is_ip(segment) {
        return Some(Class::Ip);
    }
    None
}

/// Names a segment that has braces, control characters or characters that are not ASCII, and begins at `start` of a
/// key whose hash tag is `tag`.
#[cold]
fn rare(segment: &str, mut start: usize, tag: Option<&Range<usize>>, name: &mut SegmentText<'_>) {
    if segment.chars().any(char::is_control) {
        return name.class(Class::Bin);
    }
    let open = tag.map(|tag| tag.start - 1); // a tag has its brace before it
    let close = tag.map(|tag| tag.end);
    let mut rest = segment;
    if open == Some(start) {
        rest = &rest[1..];
        start += 1;
    }
    if !rest.is_empty() && close == Some(start + rest.len() - 1) {
        rest = &rest[..rest.len() - 1];
    }
    if let Some(inner) = pair(rest)
        && inner + 2 == rest.len()
    {
        rest = &rest[1..=inner];
    }
    // Braces that are left divide the segment: what is between them is named by itself.
    let mut divided = false;
    let mut partner = None;
    while let Some(at) = memchr::memchr2(b'{', b'}', rest.as_bytes()) {
        divided = true;
        pieces::name(&rest[..at], name);
        let brace = Some(start + at);
        let inner = pair(&rest[at..]).filter(|inner| close != Some(start + at + 1 + inner));
        if brace != open && brace != close && brace != partner {
            match inner {
                Some(inner) => partner = Some(start + at + 1 + inner),
                None => name.literal(if rest.as_bytes()[at] == b'{' { "{{" } else { "}}" }),
            }
        }
        if name.is_full() {
            return;
        }
        rest = &rest[at + 1..];
        start += at + 1;
    }
    if divided {
        pieces::name(rest, name);
    } else {
        plain(rest, kind::all(rest.as_bytes()), name);
    }
}

/// If `text` begins with a pair of braces that has something and no brace in it: how many bytes those are.
fn pair(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('{')?;
    let length = memchr::memchr2(b'{', b'}', inside.as_bytes())?;
    (length > 0 && inside.as_bytes()[length] == b'}').then_some(length)
}

#[cfg(test)]
mod tests;
