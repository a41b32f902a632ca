//! Escaping of untrusted names: the only way from bytes of a snapshot to text on a screen or in a spreadsheet.
//!
//! On a terminal a key is shown by [`key`], so that no two keys look the same and none can act on the terminal:
//!
//! ```text
//! \\  \"  \n  \r  \t      backslash, quote, line feed, carriage return, tab
//! \x1b                    every other ASCII control character, and a space at either end
//! \u{202e}                characters that move, hide or imitate others: C1 controls, bidi, zero width, odd spaces
//! \xff                    each byte that is not part of valid UTF-8 (always 80 or above)
//! ""                      the empty key
//! …                       only where a text was shortened: an ellipsis of the key's own is \u{2026}
//! ```

use std::borrow::Cow;
use std::fmt::Write;

use crate::error::{Error, Result};
use crate::pattern::kept_name;
use crate::report::Key;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Mark for the omitted middle of a text.
const ELLIPSIS: char = '…';

/// Bytes of a long key that are read at either end: no screen is that wide, and a key may
/// have 512 MiB.
const END_BYTES: usize = 1024;

/// Combining characters on one base that are shown as such; a tower of more spills over the lines above and below.
const MAX_COMBINING: usize = 3;

/// Returns a key as text, without loss unless it is longer than 2 KiB: then its middle is left out.
pub fn key(bytes: &[u8]) -> String {
    if bytes.is_empty() {
        return "\"\"".to_owned();
    }
    if bytes.len() <= 2 * END_BYTES {
        return escaped(bytes);
    }
    let (head, tail) = ends(bytes);
    format!("{}{ELLIPSIS}{}", escaped(head), escaped(tail))
}

/// Returns a name of a report in the form of [`key`]; one of which the report has only the beginning ends with the mark for what
/// is omitted.
pub fn shown(name: &Key) -> String {
    match name.whole_bytes() {
        None => key(&name.0),
        Some(_) => {
            let head = kept_name::beginning(&name.0, END_BYTES);
            format!("{}{ELLIPSIS}", escaped(head))
        }
    }
}

/// Returns bytes as text in the form of [`key`], never shortened.
pub fn whole(bytes: &[u8]) -> String {
    if bytes.is_empty() { "\"\"".to_owned() } else { escaped(bytes) }
}

/// Returns the bytes that [`whole`] shows as `text`. Characters that need no escape may stand as they are.
pub fn unescape(text: &str) -> Result<Vec<u8>> {
    if text == "\"\"" {
        return Ok(Vec::new());
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        rest = unescape_one(escape, &mut bytes).ok_or_else(|| {
            let at = text.len() - escape.len();
            Error::usage(format!("{text:?}: no such escape at character {at}"))
                .with_hint("\\\\ stands for a backslash, \\xff for a byte, \\u{202e} for a character; \\n, \\r, \\t and \\\" are known, too")
        })?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Ok(bytes)
}

/// Appends the bytes of the leading escape, and returns the text after it.
fn unescape_one<'t>(escape: &'t str, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let mut rest = escape.chars();
    let plain = match rest.next()? {
        'n' => b'\n',
        'r' => b'\r',
        't' => b'\t',
        '\\' => b'\\',
        '"' => b'"',
        'x' => {
            let (digits, rest) = rest.as_str().split_at_checked(2)?;
            bytes.push(u8::try_from(hexadecimal(digits)?).ok()?);
            return Some(rest);
        }
        'u' => {
            let (digits, rest) = rest.as_str().strip_prefix('{')?.split_once('}')?;
            let character = char::from_u32(hexadecimal(digits)?)?;
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(rest);
        }
        _ => return None,
    };
    bytes.push(plain);
    Some(rest.as_str())
}

/// Parses hexadecimal digits. The standard parser would accept a sign, too.
fn hexadecimal(digits: &str) -> Option<u32> {
    let only_digits = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    u32::from_str_radix(digits, 16).ok().filter(|_| only_digits)
}

/// Returns a message, a file's name or a pattern with invisible characters escaped as in [`key`].
pub fn text(text: &str) -> Cow<'_, str> {
    if text.chars().all(|c| !is_hidden(c) && c.width() != Some(0)) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 8);
    let mut tower = Tower::at_start();
    for c in text.chars() {
        let spills = tower.spills(c);
        if spills || is_hidden(c) { escape(c, &mut shown) } else { shown.push(c) }
    }
    Cow::Owned(shown)
}

/// Returns a pattern or a prefix in the form of [`key`], as the keys beside it. Only a backslash that begins one of the bytes that are no
/// UTF-8 stays single: patterns hold those as `\xff`.
pub fn pattern(pattern: &str) -> Cow<'_, str> {
    let is_bare = |c: char| c.is_ascii_graphic() && !matches!(c, '\\' | '"');
    if !pattern.is_empty() && pattern.chars().all(is_bare) {
        return Cow::Borrowed(pattern);
    }
    let is_byte = |rest: &str| {
        let digits = rest.strip_prefix('x').and_then(|rest| rest.get(..2));
        digits.and_then(hexadecimal).is_some_and(|byte| byte >= 0x80)
    };
    if !pattern.match_indices('\\').any(|(at, _)| is_byte(&pattern[at + 1..])) {
        return Cow::Owned(whole(pattern.as_bytes()));
    }
    // Decode the escapes to bytes, so that they are escaped as in keys.
    let (mut bytes, mut rest) = (Vec::with_capacity(pattern.len()), pattern);
    while let Some((plain, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(plain.as_bytes());
        rest = match is_byte(escape).then(|| unescape_one(escape, &mut bytes)).flatten() {
            Some(rest) => rest,
            None => {
                bytes.push(b'\\');
                escape
            }
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    Cow::Owned(whole(&bytes))
}

/// Returns a text for a field of a CSV file, quoting aside. Spreadsheets take a field that begins with `=`, `+`, `-`, `@`, a tab
/// or a line break for a formula, spaces before it or not: such a field is prefixed with `'`. So is one that begins
/// with `'` already. A reader undoes it by dropping one leading `'`.
pub fn csv(text: &str) -> Cow<'_, str> {
    let first = text.trim_start_matches(' ').chars().next();
    let formula = matches!(first, Some('=' | '+' | '-' | '@' | '\t' | '\r' | '\n' | '＝' | '＋' | '－' | '＠'));
    if formula || text.starts_with('\'') { Cow::Owned(format!("'{text}")) } else { Cow::Borrowed(text) }
}

/// Returns whether a reader cannot see the character as itself: controls, direction marks, zero-width characters,
/// spaces other than U+0020, fillers, tags.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || (c.is_whitespace() && c != ' ')
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{13430}'..='\u{1343f}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns the columns that the text takes on a terminal.
pub fn width(text: &str) -> usize {
    text.width()
}

/// Returns the text in at most `limit` columns, its middle left out if necessary.
pub fn fit(text: &str, limit: usize) -> Cow<'_, str> {
    if text.width() <= limit {
        return Cow::Borrowed(text);
    }
    let Some(room) = limit.checked_sub(1) else {
        return Cow::Borrowed("");
    };
    let head_end = columns_from(text.char_indices(), room.div_ceil(2)).map_or(0, |(at, c)| at + c.len_utf8());
    let (head, rest) = text.split_at(head_end);
    let left = room.saturating_sub(head.width());
    let tail_start = columns_from(rest.char_indices().rev(), left).map_or(rest.len(), |(at, _)| at);
    Cow::Owned(format!("{}{ELLIPSIS}{}", head, &rest[tail_start..]))
}

/// Returns the last character that `room` columns reach.
fn columns_from(characters: impl Iterator<Item = (usize, char)>, mut room: usize) -> Option<(usize, char)> {
    let mut last = None;
    for (at, c) in characters {
        let Some(left) = room.checked_sub(c.width().unwrap_or(0)) else { break };
        room = left;
        last = Some((at, c));
    }
    last
}

/// Returns the first and last bytes of a long key, cut between characters where it is UTF-8.
fn ends(bytes: &[u8]) -> (&[u8], &[u8]) {
    let continues = |at: usize| bytes[at] & 0xC0 == 0x80;
    // A character has at most three continuation bytes: in anything else the cut is as good as any other.
    let near = |at: usize| (at - 3..=at).rev().find(|&at| !continues(at)).unwrap_or(at);
    (&bytes[..near(END_BYTES)], &bytes[near(bytes.len() - END_BYTES)..])
}

/// Counts the combining characters on one base.
struct Tower(usize);

impl Tower {
    /// Starts with a full tower, so that nothing at the start combines with the character before the text.
    fn at_start() -> Tower {
        Tower(MAX_COMBINING)
    }

    /// Takes the next character, and returns whether it is a combining one too many.
    fn spills(&mut self, c: char) -> bool {
        self.0 = if c.width() == Some(0) { self.0 + 1 } else { 0 };
        self.0 > MAX_COMBINING
    }
}

fn escaped(bytes: &[u8]) -> String {
    let mut shown = String::with_capacity(bytes.len() + 8);
    let mut tower = Tower::at_start();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let spills = tower.spills(c);
            match c {
                '\\' => shown.push_str("\\\\"),
                '"' => shown.push_str("\\\""),
                _ if spills || c == ELLIPSIS || is_hidden(c) => escape(c, &mut shown),
                _ => shown.push(c),
            }
        }
        for byte in chunk.invalid() {
            push(&mut shown, format_args!("\\x{byte:02x}"));
            tower = Tower::at_start();
        }
    }
    show_outer_spaces(shown)
}

pub(in crate::render) fn escape(c: char, shown: &mut String) {
    match c {
        '\n' => shown.push_str("\\n"),
        '\r' => shown.push_str("\\r"),
        '\t' => shown.push_str("\\t"),
        _ if c.is_ascii() => push(shown, format_args!("\\x{:02x}", u32::from(c))),
        _ => push(shown, format_args!("\\u{{{:x}}}", u32::from(c))),
    }
}

fn push(shown: &mut String, text: std::fmt::Arguments<'_>) {
    shown.write_fmt(text).expect("writing to a String does not fail");
}

/// Escapes leading and trailing spaces, which would be lost in the padding of a table.
fn show_outer_spaces(text: String) -> String {
    if !text.starts_with(' ') && !text.ends_with(' ') {
        return text;
    }
    let inner = text.trim_matches(' ');
    let leading = text.len() - text.trim_start_matches(' ').len();
    let trailing = text.len() - leading - inner.len();
    format!("{}{inner}{}", "\\x20".repeat(leading), "\\x20".repeat(trailing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_escaped_like_the_keys_beside_them() {
        assert_eq!(pattern(r"a\b:{int}"), r"a\\b:{int}");
        assert_eq!(pattern(r"s\xff\xfe:\x41\"), r"s\xff\xfe:\\x41\\");
        assert_eq!(pattern("a\u{202e}\\"), r"a\u{202e}\\");
        for name in ["", " ", " a b ", "\"q\"", "a\"b:…", "a\n\\x1b", "用户:\u{3000}", "\u{301}x", "{user}:1"] {
            assert_eq!(pattern(name), key(name.as_bytes()), "{name:?}");
        }
        assert_eq!(pattern(r#" "\xe4\xbd"#), key(b" \"\xe4\xbd"));
    }

    #[test]
    fn plain_names_stay_as_they_are() {
        assert_eq!(key(b"user:1001:name"), "user:1001:name");
        assert_eq!(key("用户:你好".as_bytes()), "用户:你好");
        assert_eq!(key("cafe\u{301}".as_bytes()), "cafe\u{301}");
        assert_eq!(key(b"{a}'b'"), "{a}'b'");
    }

    #[test]
    fn a_key_cannot_command_the_terminal() {
        assert_eq!(key(b"a\x1b[2J\x07"), "a\\x1b[2J\\x07");
        assert_eq!(key(b"two\nlines\r\tx"), "two\\nlines\\r\\tx");
        assert_eq!(key("\u{9b}31m".as_bytes()), "\\u{9b}31m");
        assert_eq!(key(b"\x7f\0"), "\\x7f\\x00");
        assert_eq!(key(b"\x9b31m"), "\\x9b31m");
    }

    #[test]
    fn a_key_cannot_look_like_another() {
        assert_eq!(key("gpj.\u{202e}exe".as_bytes()), "gpj.\\u{202e}exe");
        assert_eq!(key("a\u{200b}b\u{feff}".as_bytes()), "a\\u{200b}b\\u{feff}");
        assert_eq!(key(b"\\x1b"), "\\\\x1b");
        assert_eq!(key(b" a b "), "\\x20a b\\x20");
        assert_eq!(key(b"  "), "\\x20\\x20");
        assert_eq!(key("\u{3000}\u{a0}".as_bytes()), "\\u{3000}\\u{a0}");
        assert_eq!(key("a…b".as_bytes()), "a\\u{2026}b");
        assert_eq!(key(b""), "\"\"");
        assert_eq!(key(b"\"\""), "\\\"\\\"");
        assert_eq!(key("\u{301}x".as_bytes()), "\\u{301}x");
    }

    #[test]
    fn bytes_that_are_not_text_are_shown_one_by_one() {
        assert_eq!(key(b"a\xff\xfe"), "a\\xff\\xfe");
        assert_eq!(key(b"\xe4\xbd"), "\\xe4\\xbd");
        assert_ne!(key(b"\xc2\x9b"), key(b"\x9b"));
    }

    #[test]
    fn towers_of_combining_characters_are_cut_down() {
        let tower = format!("a{}", "\u{301}".repeat(100));
        assert_eq!(key(tower.as_bytes()).matches("\\u{301}").count(), 97);
        assert_eq!(text(&tower), key(tower.as_bytes()));
        assert_eq!(text("cafe\u{301}"), "cafe\u{301}");
    }

    #[test]
    fn of_a_huge_key_only_the_ends_are_shown() {
        let huge = "你".repeat(1_000_000);
        let shown = key(huge.as_bytes());
        assert!(shown.len() <= 2 * END_BYTES + 8);
        assert!(shown.chars().all(|c| c == '你' || c == '…'), "cut between characters");
        key(&vec![0x80; 3 * END_BYTES]);
        let kept = format!("x{}", "你".repeat(20_000));
        let shown = super::shown(&Key::beginning_of(kept.as_bytes(), 1 << 20));
        assert!(shown.ends_with("你…") && !shown.contains('\\'), "cut between characters");
    }

    #[test]
    fn messages_keep_what_is_visible() {
        assert_eq!(text(r#"dump "a\b".rdb"#), r#"dump "a\b".rdb"#);
        assert_eq!(text("a\x1b]0;x\x07"), "a\\x1b]0;x\\x07");
    }

    #[test]
    fn fitting_leaves_out_the_middle_and_measures_wide_characters() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdefgh", 5), "ab…gh");
        assert_eq!(fit("abcdefgh", 4), "ab…h");
        assert_eq!(fit("abc", 1), "…");
        assert_eq!(fit("abc", 0), "");
        let fitted = fit("键值对存储系统", 8);
        assert_eq!(fitted, "键值…统");
        for limit in 0..20 {
            assert!(width(&fit("键a值b对c存储系统", limit)) <= limit);
        }
    }

    #[test]
    fn emoji_take_two_columns_and_fit() {
        assert_eq!((width("😀"), width("用户"), width("👍🏽")), (2, 4, 2));
        for limit in 0..24 {
            let fitted = fit("emoji:😀😀:👍🏽:用户:🇨🇳🇨🇳:1001", limit);
            assert!(width(&fitted) <= limit, "{fitted}");
        }
    }

    #[test]
    fn csv_fields_are_no_formulas() {
        for formula in ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1"] {
            assert_eq!(csv(formula), format!("'{formula}"));
        }
        assert_eq!(csv("user:1"), "user:1");
        assert_eq!(csv("a=b"), "a=b");
        assert_eq!(csv(""), "");
    }

    #[test]
    fn csv_escaping_can_be_undone() {
        assert_ne!(csv("'=1"), csv("=1"));
        for name in ["=1", "'=1", "''", "x"] {
            let field = csv(name);
            assert_eq!(field.strip_prefix('\'').unwrap_or(&field), name);
        }
    }

    #[test]
    fn escapes_that_do_not_exist_are_told() {
        for text in ["a\\", "\\q", "\\x4", "\\xzz", "\\u{110000}", "\\u{1", "\\x+f", "\\u{+1}", "\\u{}"] {
            assert!(unescape(text).is_err(), "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn what_is_shown_names_the_same_bytes(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            proptest::prop_assert_eq!(unescape(&whole(&bytes)).unwrap(), bytes);
        }

        #[test]
        fn texts_come_back_too(text in ".{0,20}") {
            proptest::prop_assert_eq!(unescape(&whole(text.as_bytes())).unwrap(), text.as_bytes());
        }
    }
}
