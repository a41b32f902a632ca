//! JSON documents as text: laid out anew, with characters that a terminal acts on escaped.

use std::io::{self, Write};

use crate::render::key_text;

/// Levels that are indented: deeper ones stand like these, so that a document of brackets does not grow with its depth.
const MAX_INDENTED: usize = 32;

/// Layout of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// Everything on one line, without white space.
    Line,
    /// A line for each member.
    Indented,
}

/// Writes a JSON text, which must be valid.
pub fn write(text: &str, layout: Layout, out: &mut dyn Write) -> io::Result<()> {
    let mut out = io::BufWriter::new(out);
    let mut depth = 0usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let (token, next) = rest.split_at(token_len(rest));
        rest = next;
        match first {
            ' ' | '\t' | '\n' | '\r' => {}
            '{' | '[' => {
                let inner = rest.trim_start_matches([' ', '\t', '\n', '\r']);
                out.write_all(token.as_bytes())?;
                if inner.starts_with(['}', ']']) {
                    out.write_all(&inner.as_bytes()[..1])?;
                    rest = &inner[1..];
                } else {
                    depth += 1;
                    break_line(layout, depth, &mut out)?;
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                break_line(layout, depth, &mut out)?;
                out.write_all(token.as_bytes())?;
            }
            ',' => {
                out.write_all(b",")?;
                break_line(layout, depth, &mut out)?;
            }
            ':' => out.write_all(if layout == Layout::Line { b":" } else { b": " })?,
            _ => write_visible(token, &mut out)?,
        }
    }
    out.flush()
}

/// Returns the bytes of the first token: a string, a number or word, or a single character.
fn token_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    match bytes.first() {
        Some(b'"') => {
            let mut at = 1;
            while let Some(&byte) = bytes.get(at) {
                at += 1;
                match byte {
                    b'\\' => at += 1,
                    b'"' => break,
                    _ => {}
                }
            }
            at.min(text.len())
        }
        Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'-' => {
            let more = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'+' | b'.');
            bytes.iter().take_while(more).count()
        }
        _ => text.chars().next().map_or(0, char::len_utf8),
    }
}

fn break_line(layout: Layout, depth: usize, out: &mut dyn Write) -> io::Result<()> {
    match layout {
        Layout::Line => Ok(()),
        Layout::Indented => write!(out, "\n{:1$}", "", 2 * depth.min(MAX_INDENTED)),
    }
}

/// Writes a token with hidden characters escaped as JSON does.
fn write_visible(token: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut plain_from = 0;
    for (at, c) in token.char_indices().filter(|&(_, c)| !c.is_ascii() && key_text::is_hidden(c) || c == '\x7f') {
        out.write_all(&token.as_bytes()[plain_from..at])?;
        for unit in c.encode_utf16(&mut [0; 2]) {
            write!(out, "\\u{unit:04x}")?;
        }
        plain_from = at + c.len_utf8();
    }
    out.write_all(&token.as_bytes()[plain_from..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str, layout: Layout) -> String {
        let mut out = Vec::new();
        write(text, layout, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn documents_are_laid_out_anew() {
        let text = r#"{ "a" : [1, -2.5e+3,true , null], "b": {}, "c,\"": [ ] }"#;
        assert_eq!(written(text, Layout::Line), r#"{"a":[1,-2.5e+3,true,null],"b":{},"c,\"":[]}"#);
        let lines = "{\n  \"a\": [\n    1,\n    -2.5e+3,\n    true,\n    null\n  ],\n  \"b\": {},\n  \"c,\\\"\": []\n}";
        assert_eq!(written(text, Layout::Indented), lines);
    }

    #[test]
    fn hidden_characters_are_escaped_and_depth_costs_little() {
        assert_eq!(written("\"a\u{202e}\u{9b}中\"", Layout::Line), "\"a\\u202e\\u009b中\"");
        let deep = [&"[".repeat(10_000)[..], "1", &"]".repeat(10_000)].concat();
        assert_eq!(written(&deep, Layout::Line), deep);
        assert!(written(&deep, Layout::Indented).len() < 2_000_000);
    }
}
