//! Classifier that replaces the ids in a key name: the pattern of `user:1001:name` is `user:{int}:name`.
//!
//! A key is read once, from left to right. Its bytes are looked up in a table of kinds, and the kinds that occur in a
//! segment determine how closely the segment is examined: letters alone are a name, digits alone a number or a date;
//! only mixtures are split (`pieces`). `docs/patterns.md` states the rules for users; the tests check its examples.
//!
//! A pattern is UTF-8 whatever the key is. The braces of a hash tag, and other pairs of braces, are left out; an
//! unpaired brace is doubled (`{{`), so that `{int}` is always a class. A segment takes at most [`MAX_NAME_LEN`] bytes, and
//! a pattern has at most [`MAX_SEGMENTS`] of them.

mod address;
mod date;
mod pieces;
mod segment_text;
pub mod token;

use std::ops::Range;

pub(super) use date::{is_unmarked as is_date, prefix as date_prefix};
pub(super) use pieces::GLUED;
pub(crate) use pieces::MIN_HEX_LEN;
use segment_text::SegmentText;

use super::name::KeyName;
use super::plain::{self, PlainName, PlainReader};
use super::segment::Separators;
use super::{PartKind, PatternBuf, PatternPart, slot};

/// Maximum number of segments in a pattern. The last one stands for the whole rest of a deeper key.
pub const MAX_SEGMENTS: usize = 16;

/// Maximum length of a segment in a pattern; a longer one is `{long}`.
pub const MAX_NAME_LEN: usize = 64;

/// Class that replaces a segment, or a piece of it, that is not a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SegmentClass {
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

impl SegmentClass {
    /// Every class.
    pub const ALL: [SegmentClass; 10] = [
        SegmentClass::Int,
        SegmentClass::Uuid,
        SegmentClass::Hex,
        SegmentClass::Date,
        SegmentClass::Email,
        SegmentClass::Ip,
        SegmentClass::Token,
        SegmentClass::Bin,
        SegmentClass::Long,
        SegmentClass::Deeper,
    ];

    /// Returns the class as written in patterns.
    pub const fn text(self) -> &'static str {
        match self {
            SegmentClass::Int => "{int}",
            SegmentClass::Uuid => "{uuid}",
            SegmentClass::Hex => "{hex}",
            SegmentClass::Date => "{date}",
            SegmentClass::Email => "{email}",
            SegmentClass::Ip => "{ip}",
            SegmentClass::Token => "{token}",
            SegmentClass::Bin => "{bin}",
            SegmentClass::Long => "{long}",
            SegmentClass::Deeper => "{deeper}",
        }
    }
}

/// Kinds of bytes, one bit each, so that the kinds in a segment are combined with `|`.
mod kind {
    pub const DIGIT: u8 = 1;
    pub const LOWER: u8 = 2;
    pub const UPPER: u8 = 4;
    /// Punctuation that may also occur inside random tokens: `-`, `_`, `+`, `/`.
    pub const JOIN: u8 = 8;
    pub const AT: u8 = 16;
    /// Other printable punctuation, and the space.
    pub const MARK: u8 = 32;
    /// Braces, control characters, and bytes beyond ASCII.
    pub const RARE: u8 = 64;
    pub const SEPARATOR: u8 = 128;

    /// Kinds of which a segment needs at least one to be anything but a name.
    pub const TELLING: u8 = DIGIT | AT | RARE;

    /// Kinds that separate the pieces of a segment.
    pub const BETWEEN: u8 = JOIN | AT | MARK;

    /// Kind of every byte, before separators are entered.
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

/// Converts keys to patterns.
#[derive(Debug, Clone)]
pub struct Classifier {
    kinds: [u8; 256],
    plain: PlainReader,
}

impl Classifier {
    /// Creates a classifier for keys whose segments are divided by `separators`.
    pub fn new(separators: Separators) -> Self {
        let mut kinds = kind::OF;
        for &byte in separators.as_bytes() {
            kinds[usize::from(byte)] = kind::SEPARATOR;
        }
        Classifier { kinds, plain: PlainReader::new(&separators) }
    }

    /// Returns the key as a plain name, if it is its own pattern.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "a small constant")]
    pub fn plain<'k>(&self, key: &'k [u8]) -> Option<PlainName<'k>> {
        const { assert!(plain::MAX_LEN <= MAX_NAME_LEN) };
        self.plain.read(key, MAX_SEGMENTS as u32, |byte| self.kinds[usize::from(byte)] & kind::TELLING != 0)
    }

    /// Reads a key name, writing its pattern into `buffer` unless the name is plain.
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

    /// Writes the pattern of `key` into `out`, replacing its content.
    ///
    /// Takes time linear in the key. Allocates only while `out` grows, to about one kilobyte.
    pub fn classify(&self, key: &[u8], out: &mut PatternBuf) {
        out.clear();
        let text = std::str::from_utf8(key).ok();
        let mut tag = None;
        let mut start = 0;
        // Adjacent bytes that the pattern shares with the key are copied at once.
        let mut copied = 0;
        loop {
            let (end, seen) = self.segment_end(key, start);
            let separator = key.get(end).filter(|_| out.parts.len() + 1 < MAX_SEGMENTS);
            let is_last = separator.is_none();
            if seen & kind::TELLING == 0 && end - start <= MAX_NAME_LEN && (!is_last || end == key.len()) {
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
                _ if is_last && end < key.len() => name.class(SegmentClass::Deeper),
                Some(segment) if seen & kind::RARE == 0 => plain(segment, seen, &mut name),
                Some(segment) => {
                    let tag = tag.get_or_insert_with(|| slot::tag(key)).as_ref();
                    rare(segment, start, tag, &mut name);
                }
                None => name.class(SegmentClass::Bin),
            }
            let kind = name.finish();
            out.parts.push(PatternPart { start: offset(from), end: offset(out.text.len()), kind });
            if is_last {
                return;
            }
            (start, copied) = (end + 1, end); // the separator is copied with what follows
        }
    }

    /// Parses the text of a pattern made by [`Classifier::classify`] or joined by the tree of patterns.
    pub fn read_pattern(&self, text: &str, out: &mut PatternBuf) {
        out.clear();
        out.text.push_str(text);
        let mut start = 0;
        for (end, _) in
            text.bytes().enumerate().filter(|(_, byte)| kind_is_separator(&self.kinds, *byte)).chain([(text.len(), 0)])
        {
            let name = text.get(start..end).unwrap_or_default();
            let is_class = SegmentClass::ALL.into_iter().any(|class| class.text() == name);
            let kind = if is_class { PartKind::Class } else { PartKind::Literal };
            out.parts.push(PatternPart { start: offset(start), end: offset(end), kind });
            start = end + 1;
        }
    }

    /// Returns the pattern of `key` as text.
    pub fn pattern_text(&self, key: &[u8]) -> String {
        let mut out = PatternBuf::default();
        self.classify(key, &mut out);
        out.text
    }

    /// Returns the end of the segment that begins at `start`, and the kinds of its bytes.
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

/// Returns the class of a segment without braces that is one id as a whole.
pub fn class_of(segment: &str) -> Option<SegmentClass> {
    let mut text = String::new();
    let mut name = SegmentText::new(&mut text);
    plain(segment, kind::all(segment.as_bytes()), &mut name);
    match name.finish() {
        PartKind::Class => SegmentClass::ALL.into_iter().find(|class| class.text() == text),
        PartKind::Literal => None,
    }
}

fn kind_is_separator(kinds: &[u8; 256], byte: u8) -> bool {
    kinds[usize::from(byte)] == kind::SEPARATOR
}

/// Appends an ASCII range of a key; `text` is the whole key if it is valid UTF-8.
#[inline]
fn copy(key: &[u8], text: Option<&str>, ascii: Range<usize>, out: &mut String) {
    let more = match text {
        Some(text) => text.get(ascii),
        None => key.get(ascii).and_then(|bytes| std::str::from_utf8(bytes).ok()),
    };
    out.push_str(more.unwrap_or_default());
}

/// Converts an offset, which always fits: at most [`MAX_SEGMENTS`] names of at most [`MAX_NAME_LEN`] bytes precede it.
fn offset(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// Writes a segment without braces and control characters, given the kinds of its bytes.
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

/// Returns the class of a segment, among those that only whole segments can have.
fn whole(segment: &str, seen: u8) -> Option<SegmentClass> {
    let bytes = segment.as_bytes();
    if seen == kind::DIGIT | kind::JOIN
        && let [b'-' | b'+', number @ ..] = bytes
        && number.iter().all(u8::is_ascii_digit)
    {
        return Some(SegmentClass::Int);
    }
    if seen & kind::AT != 0 && address::is_email(bytes) {
        return Some(SegmentClass::Email);
    }
    if seen & kind::MARK != 0 && address::is_ip(segment) {
        return Some(SegmentClass::Ip);
    }
    None
}

/// Writes a segment with braces, control characters or characters beyond ASCII. It begins at offset `start` of a key
/// whose hash tag is at `tag`.
#[cold]
fn rare(segment: &str, mut start: usize, tag: Option<&Range<usize>>, name: &mut SegmentText<'_>) {
    if segment.chars().any(char::is_control) {
        return name.class(SegmentClass::Bin);
    }
    let open = tag.map(|tag| tag.start - 1); // the brace before the tag
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
    // The remaining braces divide the segment, and each piece between them is classified by itself.
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

/// Returns the length of the content if `text` begins with a pair of braces around something without braces.
fn pair(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('{')?;
    let length = memchr::memchr2(b'{', b'}', inside.as_bytes())?;
    (length > 0 && inside.as_bytes()[length] == b'}').then_some(length)
}

#[cfg(test)]
mod tests;
