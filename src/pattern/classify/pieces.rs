//! Segments that are neither a plain name nor an id as a whole: `order-20260101-77` is `order-{date}-{int}`.
//!
//! A segment is divided into pieces at its punctuation, and each piece is looked at by itself, with three exceptions
//! that reach over punctuation: a UUID, a date, a base64 token. Within a piece of letters and digits, a run of at
//! least [`GLUED`] digits is a number; fewer are a part of the name, so that `sha256` and `v2` stay.

use super::kind::{self, BETWEEN, DIGIT, JOIN, LOWER, UPPER};
use super::segment_text::SegmentText;
use super::{Class, date, token};

/// Digits beside a letter that make a number.
pub const GLUED: usize = 4;

/// The least hexadecimal digits that are an id.
const SHORTEST_HEX: usize = 8;

const UUID: usize = 36;

/// The class of digits.
pub fn number(digits: &[u8]) -> Class {
    if date::is_unmarked(digits) { Class::Date } else { Class::Int }
}

/// Writes `text`, which has no braces, with its ids collapsed.
///
/// Linear: every byte is looked at once in its piece and once in the run of token characters it belongs to; UUIDs and
/// dates are of bounded length.
pub fn name(text: &str, name: &mut SegmentText<'_>) {
    let bytes = text.as_bytes();
    // INVARIANT: at most `at`, and both stand where an ASCII character begins or one ended.
    let mut written = 0;
    let mut at = 0;
    let mut run = Run::default();
    while at < bytes.len() {
        if kind::of(bytes[at]) & BETWEEN != 0 {
            at += 1;
            continue;
        }
        let (end, seen) = piece_end(bytes, at);
        let found = spanning(bytes, at, end)
            .or_else(|| Some((hex(&bytes[at..end], seen)?, end)))
            .or_else(|| run.token(bytes, at, end, seen))
            .or_else(|| Some((number_or_token(&bytes[at..end], seen)?, end)));
        if let Some((class, end)) = found {
            // A base64 token may begin with one of its marks.
            let begins = class == Class::Token && at <= 2 && bytes[..at].iter().all(|&byte| kind::of(byte) == JOIN);
            if !begins {
                name.literal(&text[written..at]);
            }
            name.class(class);
            (written, at) = (end, end);
        } else {
            if seen & DIGIT != 0 {
                written = glued(text, written, at..end, name);
            }
            at = end;
        }
        if name.is_full() {
            return;
        }
    }
    name.literal(&text[written..]);
}

/// Where the piece that begins at `start` ends, and the kinds of its bytes.
fn piece_end(bytes: &[u8], start: usize) -> (usize, u8) {
    let mut seen = 0;
    for (i, &byte) in bytes[start..].iter().enumerate() {
        let kind = kind::of(byte);
        if kind & BETWEEN != 0 {
            return (start + i, seen);
        }
        seen |= kind;
    }
    (bytes.len(), seen)
}

/// A UUID or a date that begins with the piece from `at` to `end`, and where it ends.
fn spanning(bytes: &[u8], at: usize, end: usize) -> Option<(Class, usize)> {
    let rest = &bytes[at..];
    if end - at == 8 && is_uuid(rest) {
        return Some((Class::Uuid, at + UUID));
    }
    if !rest[0].is_ascii_digit() {
        return None;
    }
    date::prefix(rest).map(|length| (Class::Date, at + length))
}

/// A run of the characters that tokens are made of: pieces with `-_+/` between them.
#[derive(Default)]
struct Run {
    end: usize,
    /// Whether it has been asked, which happens once, or is too short to.
    asked: bool,
}

impl Run {
    /// A token that begins with the piece from `at` to `end` and takes the rest of its run, but for words and numbers
    /// that come last; and where it ends.
    fn token(&mut self, bytes: &[u8], at: usize, end: usize, seen: u8) -> Option<(Class, usize)> {
        if at >= self.end {
            let of_tokens = |byte: &&u8| kind::of(**byte) & (DIGIT | LOWER | UPPER | JOIN) != 0;
            self.end = at + bytes[at..].iter().take_while(of_tokens).count();
            self.asked = self.end - at < token::SHORTEST;
        }
        let named = |piece: &[u8], seen: u8| (seen & DIGIT == 0 || seen == DIGIT) && token::is_named(piece);
        if self.asked || named(&bytes[at..end], seen) {
            return None; // what comes first, such as sess_, is not a part of the token
        }
        self.asked = true;
        let padding = bytes[self.end..].iter().take(2).take_while(|&&byte| byte == b'=').count();
        let mut token = &bytes[at..self.end];
        let mut end = self.end + padding;
        if bytes.get(end).is_some_and(|&byte| kind::of(byte) & BETWEEN == 0) {
            return None;
        }
        while let Some(mark) = token.iter().rposition(|&byte| kind::of(byte) & JOIN != 0)
            && padding == 0
            && named(&token[mark + 1..], kind::all(&token[mark + 1..]))
        {
            token = &token[..mark];
            end = at + mark;
        }
        token::is_token(token).then_some((Class::Token, end))
    }
}

/// The class of a piece that is `0x` and hexadecimal digits, or such digits with a decimal one and a letter among them.
fn hex(piece: &[u8], seen: u8) -> Option<Class> {
    if seen & DIGIT == 0 || seen == DIGIT || piece.len() < SHORTEST_HEX {
        return None;
    }
    let digits = piece.strip_prefix(b"0x").or(piece.strip_prefix(b"0X")).unwrap_or(piece);
    (digits.len() >= SHORTEST_HEX && is_all_hex(digits)).then_some(Class::Hex)
}

/// The class of a piece that is a number or a token by itself.
fn number_or_token(piece: &[u8], seen: u8) -> Option<Class> {
    if seen == DIGIT {
        return Some(number(piece));
    }
    let may_be = seen & DIGIT != 0 && seen & !(DIGIT | LOWER | UPPER) == 0 && piece.len() >= token::SHORTEST;
    (may_be && token::is_token(piece)).then_some(Class::Token)
}

/// Writes what is left up to the last long run of digits in `piece`, and returns where what is now left begins.
fn glued(text: &str, mut written: usize, piece: std::ops::Range<usize>, name: &mut SegmentText<'_>) -> usize {
    let bytes = text.as_bytes();
    let mut at = piece.start;
    while at < piece.end && !name.is_full() {
        let digits = bytes[at..piece.end].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits >= GLUED {
            name.literal(&text[written..at]);
            name.class(number(&bytes[at..at + digits]));
            written = at + digits;
        }
        at += digits.max(1);
    }
    written
}

/// Whether `bytes` begin with a UUID that ends a piece.
fn is_uuid(bytes: &[u8]) -> bool {
    let Some(uuid) = bytes.get(..UUID) else { return false };
    [8, 13, 18, 23].iter().all(|&at| uuid[at] == b'-')
        && [0..8, 9..13, 14..18, 19..23, 24..36].into_iter().all(|group| is_all_hex(&uuid[group]))
        && bytes.get(UUID).is_none_or(|&byte| kind::of(byte) & BETWEEN != 0)
}

/// Whether all of `digits` are hexadecimal. Looked up, because digits and letters come in no predictable order.
fn is_all_hex(digits: &[u8]) -> bool {
    static HEX: [bool; 256] = {
        let mut hex = [false; 256];
        let mut byte: u8 = 0;
        while byte < 128 {
            hex[byte as usize] = byte.is_ascii_hexdigit();
            byte += 1;
        }
        hex
    };
    digits.iter().all(|&byte| HEX[usize::from(byte)])
}
