//! Redis' glob patterns as regular expressions.
//!
//! A pattern means what it means to `KEYS` and `SCAN … MATCH` (`stringmatchlen` in `util.c`, the same from Redis 2.8
//! to 8 and in Valkey): it works on bytes, spans the whole name, and every pattern is valid.
//!
//! - `*` any bytes, separators among them; `?` one byte; `\c` the byte `c`; a backslash at the end is itself.
//! - `[abc]`, `[a-z]` (in either order), `[^a]`, `[\]]`. The first `]` that is not escaped ends it, so `[]` matches
//!   nothing and `[^]` any byte. A class that is not closed ends with the pattern. A `-` makes a range whenever two
//!   more bytes follow the one in front of it, whatever they are: `[a-]` reaches from `]` to `a` and is not closed.
//!
//! Two differences, where the servers disagree among themselves: bytes in ranges are unsigned (as on ARM), and
//! `*` matches the empty name (as `KEYS *` does). One addition: `\xNN` is the byte with that hexadecimal number, so that
//! names can be copied from a report; a server takes it for `xNN`.

use std::fmt::Write;

use regex::bytes::{Regex, RegexBuilder};

use crate::error::{Error, Result};

/// Longest pattern accepted, since compiling takes many times its size. No real name is that long.
const MAX_LEN: usize = 4_096;

/// A compiled pattern. Matching takes time linear in the name, whatever the pattern.
#[derive(Debug, Clone)]
pub struct Glob {
    source: String,
    regex: Regex,
}

impl Glob {
    /// Compiles a pattern. Fails only if it is too large.
    pub fn new(pattern: &str) -> Result<Self> {
        let too_large = |why: String| Error::usage(format!("--match: the pattern is too large: {why}"));
        if pattern.len() > MAX_LEN {
            return Err(too_large(format!("byte {MAX_LEN} of {} is the last one allowed", pattern.len())));
        }
        let regex = RegexBuilder::new(&translate(pattern.as_bytes()))
            .unicode(false)
            .dot_matches_new_line(true)
            .build()
            .map_err(|error| too_large(error.to_string()))?;
        Ok(Glob { source: pattern.to_owned(), regex })
    }

    /// Returns the pattern as given.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Returns whether the pattern matches the whole name.
    #[inline]
    pub fn matches(&self, name: &[u8]) -> bool {
        self.regex.is_match(name)
    }
}

fn translate(pattern: &[u8]) -> String {
    let mut regex = String::from(r"\A");
    let mut rest = pattern;
    while let Some((&byte, tail)) = rest.split_first() {
        rest = tail;
        match (byte, tail) {
            // Adjacent stars mean one; thousands of them would only make the regex large.
            (b'*', [b'*', ..]) => {}
            (b'*', _) => regex.push_str(".*"),
            (b'?', _) => regex.push('.'),
            (b'[', _) => rest = translate_class(tail, &mut regex),
            (b'\\', [_, ..]) => {
                let (byte, behind) = escaped(tail);
                push_byte(&mut regex, byte);
                rest = behind;
            }
            (literal, _) => push_byte(&mut regex, literal),
        }
    }
    regex.push_str(r"\z");
    regex
}

/// Translates a class, from after its opening bracket; returns the rest of the pattern.
fn translate_class<'p>(class: &'p [u8], regex: &mut String) -> &'p [u8] {
    let (negated, mut rest) = match class {
        [b'^', tail @ ..] => (true, tail),
        _ => (false, class),
    };
    let mut members = [false; 256];
    loop {
        rest = match rest {
            [] => break,
            [b'\\', behind @ ..] if !behind.is_empty() => {
                let (byte, tail) = escaped(behind);
                members[usize::from(byte)] = true;
                tail
            }
            [b']', tail @ ..] => {
                rest = tail;
                break;
            }
            [from, b'-', to, tail @ ..] => {
                members[usize::from(*from.min(to))..=usize::from(*from.max(to))].fill(true);
                tail
            }
            [member, tail @ ..] => {
                members[usize::from(*member)] = true;
                tail
            }
        };
    }
    push_class(regex, &members.map(|member| member != negated));
    rest
}

/// Returns the byte that an escape stands for, from after its backslash, and the rest of the pattern. An empty escape cannot be.
fn escaped(escape: &[u8]) -> (u8, &[u8]) {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match escape {
        [b'x', high, low, rest @ ..] if digit(*high).is_some() && digit(*low).is_some() => {
            (digit(*high).unwrap_or(0) << 4 | digit(*low).unwrap_or(0), rest)
        }
        [byte, rest @ ..] => (*byte, rest),
        [] => (b'\\', escape),
    }
}

fn push_class(regex: &mut String, members: &[bool; 256]) {
    if !members.contains(&true) {
        regex.push_str(r"[^\x00-\xff]"); // an empty class matches nothing
        return;
    }
    regex.push('[');
    let bytes: Vec<u8> = (0..=u8::MAX).filter(|&byte| members[usize::from(byte)]).collect();
    for run in bytes.chunk_by(|a, b| b - a == 1) {
        if let [first, .., last] = run {
            push_byte(regex, *first);
            regex.push('-');
            push_byte(regex, *last);
        } else {
            run.iter().for_each(|&byte| push_byte(regex, byte));
        }
    }
    regex.push(']');
}

/// Appends a literal byte.
fn push_byte(regex: &mut String, byte: u8) {
    write!(regex, r"\x{byte:02x}").expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pattern, names that match, names that do not.
    const CASES: &[(&str, &[&str], &[&str])] = &[
        ("", &[""], &["a"]),
        ("user", &["user"], &["user:1", "User", "auser", ""]),
        ("*", &["", "a", "a:b/c\n"], &[]),
        ("**", &["", "a:b"], &[]),
        ("user:*", &["user:", "user:1", "user:1:name/x\n"], &["user", "xuser:1"]),
        ("*:name", &[":name", "a:b:name"], &["a:name:x", "name"]),
        ("a*b*c", &["abc", "axbxc", "abbcc"], &["acb", "ab"]),
        ("?", &["a", "\n"], &["", "ab", "\u{e9}"]),
        ("??", &["\u{e9}", "ab"], &["a"]),
        ("h?llo", &["hello", "h:llo"], &["hllo", "heello"]),
        ("h[ae]llo", &["hello", "hallo"], &["hillo", "hllo"]),
        ("h[^e]llo", &["hallo", "h^llo"], &["hello", "hllo"]),
        ("h[a-c]llo", &["hallo", "hcllo"], &["hdllo", "h-llo"]),
        ("h[c-a]llo", &["hallo", "hbllo"], &["hdllo"]),
        ("[a-cx-z]", &["b", "y"], &["d", "-"]),
        ("[^a-c]", &["d", "-"], &["a", "b", ""]),
        // Escapes
        (r"a\*b", &["a*b"], &["axb", r"a\*b"]),
        (r"a\bc", &["abc"], &[r"a\bc"]),
        (r"\[a]", &["[a]"], &["a"]),
        (r"a\\", &[r"a\"], &["a", r"a\\"]),
        (r"a\", &[r"a\"], &["a"]),
        (r"*\", &[r"\", r"a\"], &["a"]),
        (r"a\x3ab", &["a:b"], &["ax3ab", r"a\x3ab"]),
        (r"a\x3", &["ax3"], &["a\u{3}"]),
        (r"\xzz", &["xzz"], &[]),
        (r"[\x41\x42]", &["A", "B"], &["x", "4"]),
        // Classes that end early, late or never
        ("[]", &[], &["", "]", "a"]),
        ("[]a]", &[], &["a]", "]", "]a]"]),
        ("[^]", &["a", "]"], &["", "ab"]),
        ("[^]a", &["xa"], &["a", "x"]),
        ("[abc", &["a", "c"], &["[abc", "d", "ab"]),
        ("x[", &[], &["x", "x[", "xa"]),
        ("x[^", &["xa", "x^"], &["x", "xab"]),
        ("[a-", &["a", "-"], &["b", "]"]),
        ("[a-z", &["m"], &["-", "["]),
        ("[a-]", &["]", "^", "_", "`", "a"], &["-", "b", "\\"]),
        ("[a-]x", &["]", "a", "x"], &["ax", "-x", "-"]),
        (r"[\]]", &["]"], &[r"\", r"\]"]),
        (r"[\]", &["]"], &[r"\", "["]),
        (r"[\", &[r"\"], &["["]),
        (r"[a\-c]", &["a", "-", "c"], &["b", r"\"]),
        (r"[Z-\]]", &["Z]", "[]", r"\]"], &["Z", "]]", "a]"]),
        ("[*]", &["*"], &["a", ""]),
        ("[?.+]", &["?", ".", "+"], &["a"]),
        ("[-a]", &["-", "a"], &["b"]),
        ("[--a]", &["-", "A", "a"], &["b", "+"]),
        ("[a^]", &["a", "^"], &["b"]),
        ("[&&a]", &["&", "a"], &["b"]),
        // Nothing else is special
        ("a.c", &["a.c"], &["abc"]),
        ("(a|b)+{1}$^", &["(a|b)+{1}$^"], &["a"]),
        ("{a,b}", &["{a,b}"], &["a"]),
        ("\u{4e2d}*", &["\u{4e2d}:1"], &["\u{4e2e}"]),
    ];

    #[test]
    fn patterns_match_like_those_of_the_server() {
        for (pattern, matching, others) in CASES {
            let glob = Glob::new(pattern).unwrap();
            matching.iter().for_each(|name| assert!(glob.matches(name.as_bytes()), "{pattern} must match {name}"));
            others.iter().for_each(|name| assert!(!glob.matches(name.as_bytes()), "{pattern} must not match {name}"));
        }
    }

    #[test]
    fn names_need_not_be_text() {
        assert!(Glob::new("a?b*").unwrap().matches(b"a\xffb\0\xfe"));
        assert!(Glob::new("[^a]").unwrap().matches(b"\xff"));
    }

    #[test]
    fn a_pattern_too_large_is_a_usage_error() {
        let error = Glob::new(&"a".repeat(MAX_LEN + 1)).unwrap_err();
        assert!(matches!(error.kind(), crate::error::ErrorKind::Usage(_)), "{error}");
        assert!(Glob::new(&"?*".repeat(MAX_LEN / 2)).is_ok());
    }

    #[test]
    fn hostile_patterns_are_harmless() {
        let glob = Glob::new(&("a*".repeat(30) + "b")).unwrap();
        assert!(!glob.matches(&b"a".repeat(20_000)));
        assert!(Glob::new(&"*".repeat(MAX_LEN)).unwrap().matches(b"x"));
        assert!(Glob::new(&"[^a]*".repeat(MAX_LEN / 5)).is_ok());
    }

    /// Replaces the two numbers that the test makes, unless their backslash is escaped itself.
    fn without_numbers(pattern: &str) -> Vec<u8> {
        let mut plain = String::new();
        let mut rest = pattern;
        while let Some(c) = rest.chars().next() {
            let (len, text) = match rest.get(..2) {
                Some(r"\x") if rest.starts_with(r"\x61") => (4, r"\a"),
                Some(r"\x") => (4, r"\b"),
                Some(escape) if c == '\\' => (2, escape),
                _ => (c.len_utf8(), &rest[..c.len_utf8()]),
            };
            plain.push_str(text);
            rest = &rest[len..];
        }
        plain.into_bytes()
    }

    /// Slow twin of the regex: the definition, byte by byte with backtracking.
    fn matches_slowly(pattern: &[u8], name: &[u8]) -> bool {
        match (pattern, name) {
            ([], name) => name.is_empty(),
            ([b'*', rest @ ..], name) => (0..=name.len()).any(|skip| matches_slowly(rest, &name[skip..])),
            (_, []) => false,
            ([b'?', rest @ ..], [_, name @ ..]) => matches_slowly(rest, name),
            ([b'[', class @ ..], [byte, name @ ..]) => {
                let (is_in, rest) = class_slowly(class, *byte);
                is_in && matches_slowly(rest, name)
            }
            ([b'\\', literal, rest @ ..], [byte, name @ ..]) | ([literal, rest @ ..], [byte, name @ ..]) => {
                literal == byte && matches_slowly(rest, name)
            }
        }
    }

    fn class_slowly(class: &[u8], byte: u8) -> (bool, &[u8]) {
        let negated = class.first() == Some(&b'^');
        let mut at = usize::from(negated);
        let mut found = false;
        while at < class.len() && class[at] != b']' {
            let left = class.len() - at;
            if class[at] == b'\\' && left >= 2 {
                found |= class[at + 1] == byte;
                at += 2;
            } else if left >= 3 && class[at + 1] == b'-' {
                let ends = [class[at], class[at + 2]];
                found |= (ends[0].min(ends[1])..=ends[0].max(ends[1])).contains(&byte);
                at += 3;
            } else {
                found |= class[at] == byte;
                at += 1;
            }
        }
        (found != negated, &class[(at + 1).min(class.len())..])
    }

    proptest::proptest! {
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(1_000))]
        #[test]
        fn the_regex_and_the_definition_agree(pattern in r"([ab\]\[^\\*?-]|\\x6[12]){0,8}", name in r"[ab\]\[^\\*?-]{0,5}") {
            // As the end of a range, a backslash is itself, and no number follows.
            proptest::prop_assume!(!pattern.contains(r"-\x"));
            let found = Glob::new(&pattern).unwrap().matches(name.as_bytes());
            proptest::prop_assert_eq!(found, matches_slowly(&without_numbers(&pattern), name.as_bytes()));
        }
    }
}
