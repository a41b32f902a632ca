//! JSON form of a report: its serde form, indented, in UTF-8, with a line feed at the end.
//!
//! JSON is often viewed on a terminal, so characters that a terminal acts on or that hide others are written as `\u….`,
//! which every JSON reader turns back into the original text.

pub(super) mod sections;

use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::Serializer;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

use super::{Renderer, key_text};
use crate::report::Report;
pub use sections::{JsonSectionsRenderer, field_of};

/// Writes reports as JSON.
#[derive(Debug, Clone, Copy, Default)]
pub struct JsonRenderer;

impl Renderer for JsonRenderer {
    fn render(&self, report: &Report, out: &mut dyn Write) -> io::Result<()> {
        write_pretty(report, out)
    }
}

/// Writes any value in the layout of a report.
pub fn write_pretty<T: Serialize + ?Sized>(value: &T, out: &mut dyn Write) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    value.serialize(&mut Serializer::with_formatter(&mut out, VisibleText(PrettyFormatter::new())))?;
    out.write_all(b"\n")?;
    out.flush()
}

/// Writes one value on one line, without the line feed: a row of NDJSON.
pub fn write_line<T: Serialize + ?Sized>(value: &T, out: &mut (impl Write + ?Sized)) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(out, VisibleText(CompactFormatter)))?;
    Ok(())
}

/// Lays out JSON like `F`, and escapes what [`key_text::is_hidden`] besides what JSON demands.
struct VisibleText<F>(F);

impl<F: Formatter> Formatter for VisibleText<F> {
    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        // Fast path for printable ASCII, which nearly every fragment is: scanning bytes is several times faster than decoding.
        if fragment.bytes().all(|byte| (b' '..=b'~').contains(&byte)) {
            return out.write_all(fragment.as_bytes());
        }
        let mut plain_from = 0;
        for (at, c) in fragment.char_indices().filter(|&(_, c)| key_text::is_hidden(c)) {
            out.write_all(&fragment.as_bytes()[plain_from..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}")?;
            }
            plain_from = at + c.len_utf8();
        }
        out.write_all(&fragment.as_bytes()[plain_from..])
    }

    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_array(out)
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array(out)
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(out, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_array_value(out)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object(out)
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object(out)
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(out, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.begin_object_value(out)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.0.end_object_value(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_escaped_and_come_back() {
        let name = "a\u{9b}31m\u{202e}b\x7f\u{e0041}\u{3000}\x1b\"你";
        let mut line = Vec::new();
        write_line(name, &mut line).unwrap();
        let line = String::from_utf8(line).unwrap();
        assert_eq!(line, r#""a\u009b31m\u202eb\u007f\udb40\udc41\u3000\u001b\"你""#);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), name);
    }

    #[test]
    fn a_closed_pipe_is_told_as_such() {
        struct Closed;
        impl Write for Closed {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::BrokenPipe.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let error = write_line("x", &mut Closed).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
    }
}
