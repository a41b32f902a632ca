//! Segments that mix names and ids: `order-20260101-77` is `order-{date}-{int}`.
//!
//! A segment is divided into pieces at its punctuation, and each piece is classified by itself, except for the three
//! ids that contain punctuation: UUIDs, dates and base64 tokens. Within a piece of letters and digits, a run of at
//! least [`GLUED`] digits is a number; fewer belong to the name, so that `sha256` and `v2` stay.

use super::kind::{self, BETWEEN, DIGIT, JOIN, LOWER, UPPER};
use super::segment_text::SegmentText;
use super::{SegmentClass, date, token};

/// Minimum number of digits beside a letter that make a number.
pub const GLUED: usize = 4;

/// Minimum number of hexadecimal digits that make an id.
pub const MIN_HEX_LEN: usize = 8;

const UUID: usize = 36;

/// Returns the class of a run of decimal digits.
pub fn number(digits: &[u8]) -> SegmentClass {
    if date::is_unmarked(digits) { SegmentClass::Date } else { SegmentClass::Int }
}

/// Writes `text`, which has no braces, with its ids replaced by classes.
///
/// Takes linear time: every byte is examined once in its piece and once in the run of token characters around it; UUIDs
/// and dates have a bounded length.
pub fn name(text: &str, name: &mut SegmentText<'_>) {
    let bytes = text.as_bytes();
    // INVARIANT: at most `at`, and both are at the start of an ASCII character or after one.
    let mut written = 0;
    let mut at = 0;
    let mut run = TokenRun::default();
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
            // A base64 token may begin with punctuation.
            let begins =
                class == SegmentClass::Token && at <= 2 && bytes[..at].iter().all(|&byte| kind::of(byte) == JOIN);
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

/// Returns the end of the piece that begins at `start`, and the kinds of its bytes.
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

/// Recognises a UUID or a date that begins with the piece from `at` to `end`; returns its class and end.
fn spanning(bytes: &[u8], at: usize, end: usize) -> Option<(SegmentClass, usize)> {
    let rest = &bytes[at..];
    if end - at == 8 && is_uuid(rest) {
        return Some((SegmentClass::Uuid, at + UUID));
    }
    if !rest[0].is_ascii_digit() {
        return None;
    }
    date::prefix(rest).map(|length| (SegmentClass::Date, at + length))
}

/// Run of token characters: pieces with `-_+/` between them.
#[derive(Default)]
struct TokenRun {
    end: usize,
    /// True if the run was tested, which happens once, or is too short to be a token.
    tested: bool,
}

impl TokenRun {
    /// Recognises a token that begins with the piece from `at` to `end` and extends to the end of its run, except for
    /// trailing words and numbers; returns its class and end.
    fn token(&mut self, bytes: &[u8], at: usize, end: usize, seen: u8) -> Option<(SegmentClass, usize)> {
        if at >= self.end {
            let of_tokens = |byte: &&u8| kind::of(**byte) & (DIGIT | LOWER | UPPER | JOIN) != 0;
            self.end = at + bytes[at..].iter().take_while(of_tokens).count();
            self.tested = self.end - at < token::MIN_LEN;
        }
        let named = |piece: &[u8], seen: u8| (seen & DIGIT == 0 || seen == DIGIT) && token::is_named(piece);
        if self.tested || named(&bytes[at..end], seen) {
            return None; // a leading word such as sess_ is not part of the token
        }
        self.tested = true;
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
        token::is_token(token).then_some((SegmentClass::Token, end))
    }
}

/// Returns the class of a piece of hexadecimal digits, after `0x` or with both a decimal digit and a letter among them.
fn hex(piece: &[u8], seen: u8) -> Option<SegmentClass> {
    if seen & DIGIT == 0 || seen == DIGIT || piece.len() < MIN_HEX_LEN {
        return None;
    }
    let digits = piece.strip_prefix(b"0x").or(piece.strip_prefix(b"0X")).unwrap_or(piece);
    (digits.len() >= MIN_HEX_LEN && is_all_hex(digits)).then_some(SegmentClass::Hex)
}

/// Returns the class of a piece that is a number or a token by itself.
fn number_or_token(piece: &[u8], seen: u8) -> Option<SegmentClass> {
    if seen == DIGIT {
        return Some(number(piece));
    }
    let may_be = seen & DIGIT != 0 && seen & !(DIGIT | LOWER | UPPER) == 0 && piece.len() >= token::MIN_LEN;
    (may_be && token::is_token(piece)).then_some(SegmentClass::Token)
}

/// Replaces long runs of digits within `piece` by numbers, and returns the start of the text not written yet.
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

/// Returns whether `bytes` begin with a UUID followed by punctuation or the end.
fn is_uuid(bytes: &[u8]) -> bool {
    let Some(uuid) = bytes.get(..UUID) else { return false };
    [8, 13, 18, 23].iter().all(|&at| uuid[at] == b'-')
        && [0..8, 9..13, 14..18, 19..23, 24..36].into_iter().all(|group| is_all_hex(&uuid[group]))
        && bytes.get(UUID).is_none_or(|&byte| kind::of(byte) & BETWEEN != 0)
}

/// Returns whether all bytes are hexadecimal digits. A table, because digits and letters alternate unpredictably and
/// would cause branch mispredictions.
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
