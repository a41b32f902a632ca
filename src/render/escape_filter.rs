//! Filter for text on its way to people: whatever a name of a stranger holds, nothing that passed the filter acts on a terminal, turns the
//! direction of a line or stays out of sight.
//!
//! Names are made visible where they are read (see [`key_text`]). The filter comes after that, for a name that was forgotten and for
//! formats of programs that somebody prints on a terminal.

use std::io::{self, Write};

use super::key_text;

/// How the filter writes a character that does not show.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Escapes {
    /// As `\x1b` or `\u{202e}`, but colours and bold type pass.
    #[default]
    Styled,
    /// As `\x1b` or `\u{202e}`.
    Text,
    /// As `\x1b` or `\u{202e}`, but the spaces and marks that pages put around names pass: they cannot hide or turn anything.
    Page,
    /// As `\u202e`, which stands for the character itself in JSON.
    Json,
}

/// Bytes of the longest style; no more are held back until it is known what they are.
const MAX_STYLE_LEN: usize = 32;

/// Makes text visible, piece by piece.
#[derive(Debug, Default)]
pub struct EscapeFilter {
    escapes: Escapes,
    pending: Vec<u8>,
}

impl EscapeFilter {
    /// Returns a filter with nothing held back.
    pub fn new(escapes: Escapes) -> EscapeFilter {
        EscapeFilter { escapes, pending: Vec::new() }
    }

    /// Sets how characters are written from here on.
    pub fn set(&mut self, escapes: Escapes) {
        self.escapes = escapes;
    }

    /// Writes the next piece of a text.
    pub fn pass(&mut self, bytes: &[u8], out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        if self.pending.is_empty() && bytes.iter().all(|&byte| is_plain(byte)) {
            return out.write_all(bytes);
        }
        self.pending.extend_from_slice(bytes);
        let bytes = std::mem::take(&mut self.pending);
        let mut shown = String::with_capacity(bytes.len() + 16);
        let rest = self.show(&bytes, &mut shown);
        self.pending = rest.to_vec();
        out.write_all(shown.as_bytes())
    }

    /// Writes what is held back, at the end of a text.
    pub fn finish(&mut self, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
        let mut shown = String::new();
        let bytes = std::mem::take(&mut self.pending);
        // Nothing follows that would make a style of it.
        let escapes = if self.escapes == Escapes::Styled { Escapes::Text } else { self.escapes };
        for &byte in EscapeFilter::new(escapes).show(&bytes, &mut shown) {
            self.escape_byte(byte, &mut shown);
        }
        out.write_all(shown.as_bytes())
    }

    /// Appends the text in visible form, and returns the bytes at its end that may be part of something.
    fn show<'b>(&self, bytes: &'b [u8], shown: &mut String) -> &'b [u8] {
        let mut rest = bytes;
        while !rest.is_empty() {
            let (valid, invalid) = match std::str::from_utf8(rest) {
                Ok(valid) => (valid, 0),
                Err(error) => {
                    let valid = std::str::from_utf8(&rest[..error.valid_up_to()]).unwrap_or_default();
                    match error.error_len() {
                        Some(len) => (valid, len),
                        None => return self.show_valid(valid, rest, shown).unwrap_or(&rest[valid.len()..]),
                    }
                }
            };
            if let Some(pending) = self.show_valid(valid, rest, shown) {
                return pending;
            }
            for &byte in &rest[valid.len()..valid.len() + invalid] {
                self.escape_byte(byte, shown);
            }
            rest = &rest[valid.len() + invalid..];
        }
        rest
    }

    /// Appends `valid`, the start of `bytes`. Returns all from a style on that does not end in it.
    fn show_valid<'b>(&self, valid: &str, bytes: &'b [u8], shown: &mut String) -> Option<&'b [u8]> {
        let mut at = 0;
        while let Some(c) = valid[at..].chars().next() {
            if c == '\x1b' && self.escapes == Escapes::Styled {
                match style(&valid[at..]) {
                    Style::Whole(len) => {
                        shown.push_str(&valid[at..at + len]);
                        at += len;
                        continue;
                    }
                    Style::Begun if valid.len() == bytes.len() => return Some(&bytes[at..]),
                    Style::Begun | Style::None => {}
                }
            }
            match c {
                '\n' | '\t' => shown.push(c),
                '\u{a0}' | '\u{2068}' | '\u{2069}' if self.escapes == Escapes::Page => shown.push(c),
                c if key_text::is_hidden(c) => self.escape(c, shown),
                c => shown.push(c),
            }
            at += c.len_utf8();
        }
        None
    }

    fn escape(&self, c: char, shown: &mut String) {
        match self.escapes {
            Escapes::Styled | Escapes::Text | Escapes::Page => key_text::escape(c, shown),
            Escapes::Json => {
                shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }

    /// Appends a byte that is not part of a character.
    fn escape_byte(&self, byte: u8, shown: &mut String) {
        match self.escapes {
            // Only a broken writer puts such a byte into JSON.
            Escapes::Json => shown.push('\u{fffd}'),
            Escapes::Styled | Escapes::Text | Escapes::Page => shown.push_str(&format!("\\x{byte:02x}")),
        }
    }
}

fn is_plain(byte: u8) -> bool {
    matches!(byte, b' '..=b'~' | b'\n' | b'\t')
}

/// Sequence that an escape character begins.
enum Style {
    /// A style of this length, such as `ESC [ 1 ; 31 m`.
    Whole(usize),
    /// Perhaps a style: the text ends in it.
    Begun,
    None,
}

fn style(text: &str) -> Style {
    let mut bytes = text.bytes().enumerate().skip(1);
    match bytes.next() {
        None => return Style::Begun,
        Some((_, b'[')) => {}
        Some(_) => return Style::None,
    }
    for (at, byte) in bytes {
        match byte {
            _ if at >= MAX_STYLE_LEN => return Style::None,
            b'0'..=b'9' | b';' => {}
            b'm' => return Style::Whole(at + 1),
            _ => return Style::None,
        }
    }
    Style::Begun
}

/// Writer through a filter.
#[derive(Debug)]
pub struct EscapeWriter<W: Write> {
    filter: EscapeFilter,
    out: W,
}

impl<W: Write> EscapeWriter<W> {
    /// Returns a writer to `out`.
    pub fn new(escapes: Escapes, out: W) -> EscapeWriter<W> {
        EscapeWriter { filter: EscapeFilter::new(escapes), out }
    }

    /// Writes what is held back.
    pub fn finish(mut self) -> io::Result<()> {
        self.filter.finish(&mut self.out)
    }
}

impl<W: Write> Write for EscapeWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.filter.pass(bytes, &mut self.out).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn through(escapes: Escapes, pieces: &[&[u8]]) -> String {
        let mut out = Vec::new();
        let mut filtered = EscapeWriter::new(escapes, &mut out);
        pieces.iter().for_each(|piece| filtered.write_all(piece).unwrap());
        filtered.finish().unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn what_does_not_show_is_escaped() {
        let text = "a\u{1b}[2J\u{9b}1m\u{202e}b\r\n\tc\u{7f}é快\u{feff}".as_bytes();
        assert_eq!(through(Escapes::Text, &[text]), "a\\x1b[2J\\u{9b}1m\\u{202e}b\\r\n\tc\\x7fé快\\u{feff}");
        assert_eq!(through(Escapes::Json, &["\"\u{202e}\u{e0001}\"".as_bytes()]), r#""\u202e\udb40\udc01""#);
        assert_eq!(through(Escapes::Text, &[b"a\xffb\xe5\xbf"]), "a\\xffb\\xe5\\xbf");
    }

    #[test]
    fn styles_pass_where_the_program_writes_them() {
        let text = "\u{1b}[1;31mred\u{1b}[0m \u{1b}[2J \u{1b}]0;x\u{7} \u{1b}[".as_bytes();
        assert_eq!(through(Escapes::Styled, &[text]), "\u{1b}[1;31mred\u{1b}[0m \\x1b[2J \\x1b]0;x\\x07 \\x1b[");
        assert!(!through(Escapes::Text, &[text]).contains('\u{1b}'));
    }

    proptest! {
        #[test]
        fn pieces_make_no_difference(text in "(\\PC|[\u{1b}\u{9b}\u{202e}\n;m0-9]|\u{1b}\\[[0-9;]{0,3}m){0,40}", cuts in prop::collection::vec(0usize..200, 0..6)) {
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            for escapes in [Escapes::Styled, Escapes::Text, Escapes::Json] {
                let whole = through(escapes, &[bytes]);
                prop_assert_eq!(&through(escapes, &pieces), &whole);
                let hidden = |c: char| key_text::is_hidden(c) && c != '\n' && !(c == '\u{1b}' && escapes == Escapes::Styled);
                prop_assert!(!whole.contains(hidden), "{:?}", whole);
            }
        }

        #[test]
        fn bytes_come_out_as_text(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let shown = through(Escapes::Text, &[&bytes]);
            prop_assert!(!shown.contains(|c: char| key_text::is_hidden(c) && !matches!(c, '\n' | '\t')), "{:?}", shown);
        }
    }
}
