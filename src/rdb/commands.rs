//! Framing of the commands behind the snapshot of an append-only file: from one to the next, as servers read them. Salvage looks for
//! commands among damaged bytes, and is stricter, to tell them from other bytes ([`salvage`](super::salvage)).
//!
//! ```text
//! #TS:1700000000\r\n                          an annotation
//! *2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n           a command of two arguments
//! ```

use crate::error::{Error, Reading, Result};
use crate::wording::{Wording, wording};

/// Bytes of the longest line that servers read.
const MAX_LINE: usize = 127;

/// Follows commands whose bytes arrive in pieces. Looks at their framing only: every byte at most twice.
#[derive(Debug)]
pub struct CommandReader {
    /// Offset of the next byte.
    offset: u64,
    /// Where the command begins that is being read.
    command: u64,
    next: Next,
    /// The start of a line that goes on in the next piece.
    line: Vec<u8>,
}

/// What comes next. Arguments are those of the command that are still to come.
#[derive(Debug, Clone, Copy)]
enum Next {
    /// A line with the number of arguments, or an annotation.
    Command,
    /// A line with the length of an argument.
    Length { arguments: u64 },
    /// Bytes of an argument.
    Bytes { left: u64, arguments: u64 },
    /// The line end behind an argument. Servers do not look at it.
    End { left: usize, arguments: u64 },
}

/// Bytes of a line end.
const LINE_END_LEN: usize = 2;

impl CommandReader {
    /// Creates a reader of commands whose first byte is at this offset.
    pub fn new(offset: u64) -> CommandReader {
        CommandReader { offset, command: offset, next: Next::Command, line: Vec::new() }
    }

    /// Reads the next bytes. Fails where servers cannot go on.
    pub fn feed(mut self, mut bytes: &[u8]) -> Result<CommandReader> {
        while !bytes.is_empty() {
            let read = match self.next {
                Next::Command => self.line(bytes, b"*#", Self::command_line)?,
                Next::Length { arguments } => self.line(bytes, b"$", |this, line| {
                    let left = number(line);
                    let left = left.ok_or_else(|| wording!("an argument of impossible length", "参数长度无效"))?;
                    this.next = Next::Bytes { left, arguments };
                    Ok(())
                })?,
                Next::Bytes { left, arguments } => {
                    let read = usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len());
                    let left = left - read as u64;
                    self.next = if left > 0 {
                        Next::Bytes { left, arguments }
                    } else {
                        Next::End { left: LINE_END_LEN, arguments }
                    };
                    read
                }
                Next::End { left, arguments } => {
                    let read = left.min(bytes.len());
                    self.next = match arguments.checked_sub(1) {
                        _ if read < left => Next::End { left: left - read, arguments },
                        None | Some(0) => Next::Command,
                        Some(arguments) => Next::Length { arguments },
                    };
                    read
                }
            };
            self.offset += read as u64;
            bytes = bytes.get(read..).unwrap_or_default();
            if matches!(self.next, Next::Command) && self.line.is_empty() {
                self.command = self.offset;
            }
        }
        Ok(self)
    }

    /// Returns where the last command begins if it is cut off. Servers pass over half an annotation.
    pub fn cut_off(&self) -> Option<u64> {
        let is_between = matches!(self.next, Next::Command) && (self.line.is_empty() || self.line.starts_with(b"#"));
        (!is_between).then_some(self.command)
    }

    /// Reads a line that begins with one of `first`, or the part of it that is there. Returns the number of bytes.
    fn line(
        &mut self,
        bytes: &[u8],
        first: &[u8],
        whole: impl FnOnce(&mut Self, &[u8]) -> std::result::Result<(), Wording>,
    ) -> Result<usize> {
        if let (true, Some(byte)) = (self.line.is_empty(), bytes.first().filter(|byte| !first.contains(byte))) {
            let what = match self.next {
                Next::Command => wording!(
                    "a command begins with byte {byte:#04x}, not with `*`",
                    "命令以字节 {byte:#04x} 开头，而不是 `*`"
                ),
                _ => wording!(
                    "an argument begins with byte {byte:#04x}, not with `$`",
                    "参数以字节 {byte:#04x} 开头，而不是 `$`"
                ),
            };
            return Err(fault(self.offset, what));
        }
        let begin = self.offset - self.line.len() as u64;
        let part = bytes.get(..MAX_LINE + 1 - self.line.len()).unwrap_or(bytes);
        let end = memchr::memchr(b'\n', part).map(|at| at + 1);
        let part = part.get(..end.unwrap_or(part.len())).unwrap_or_default();
        self.line.extend_from_slice(part);
        if end.is_some() {
            let line = std::mem::take(&mut self.line);
            whole(self, &line).map_err(|what| fault(begin, what))?;
            // Keeps what was allocated.
            self.line = line;
            self.line.clear();
        } else if self.line.len() > MAX_LINE {
            return Err(fault(begin, wording!("a line of more than {MAX_LINE} bytes", "一行超过 {MAX_LINE} 字节")));
        }
        Ok(part.len())
    }

    fn command_line(&mut self, line: &[u8]) -> std::result::Result<(), Wording> {
        if line.starts_with(b"*") {
            let arguments = number(line).filter(|arguments| *arguments > 0);
            let arguments = arguments.ok_or_else(|| wording!("a command without arguments", "命令没有参数"))?;
            self.next = Next::Length { arguments };
        }
        Ok(())
    }
}

/// Returns the error at a place from which servers cannot go on.
fn fault(offset: u64, what: Wording) -> Error {
    let remedy = wording!(
        "servers do not load the file; redis-check-aof --fix cuts it off there",
        "服务器无法加载该文件；redis-check-aof --fix 可在此处截断"
    );
    Error::corrupt(offset, what).with_remedy(remedy).while_reading(Reading::Commands)
}

/// Returns the number in a line behind its first byte as servers read it: what is no digit ends it, and none is 0. `None` if it is below 0
/// or too large.
fn number(line: &[u8]) -> Option<u64> {
    let text = line.get(1..)?.trim_ascii_start();
    let text = text.strip_prefix(b"+").unwrap_or(text);
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    match text.split_at(digits) {
        (b"", rest) => (!rest.starts_with(b"-")).then_some(0),
        (digits, _) => std::str::from_utf8(digits).ok()?.parse().ok().filter(|number| *number <= i64::MAX as u64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECT: &[u8] = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";
    const SET: &[u8] = b"#TS:1700000000\r\n*3\r\n$3\r\nSET\r\n$0\r\n\r\n$4\r\n\r\n*1\r\n";

    /// Reads pieces of this size; returns where the last command is cut off, or where the error is.
    fn read(bytes: &[u8], piece: usize) -> std::result::Result<Option<u64>, u64> {
        let mut reader = CommandReader::new(100);
        for piece in bytes.chunks(piece) {
            reader = reader.feed(piece).map_err(|error| error.offset().unwrap())?;
        }
        Ok(reader.cut_off())
    }

    #[test]
    fn whole_commands_are_sound_and_a_cut_one_is_told_however_the_bytes_arrive() {
        let all = [SELECT, SET, SELECT].concat();
        let whole = [0, SELECT.len(), SELECT.len() + 16, SELECT.len() + SET.len(), all.len()];
        for piece in [1, 2, 3, 7, all.len()] {
            for end in 0..=all.len() {
                let begin = whole.iter().rfind(|at| **at <= end).unwrap();
                let is_annotation = (SELECT.len()..SELECT.len() + 16).contains(&end);
                let expected = if *begin == end || is_annotation { None } else { Some(100 + *begin as u64) };
                assert_eq!(read(&all[..end], piece), Ok(expected), "{end} by {piece}");
            }
        }
    }

    /// Servers take the number of a line up to the first other byte, and skip two bytes behind an argument.
    #[test]
    fn line_ends_are_read_as_servers_read_them() {
        let file = b"*2 \n$6x\nSELECT\0\0$+1\r\n0\r\r*1\r\n$4\r\nPINGxx";
        for piece in [1, 3, 100] {
            assert_eq!(read(file, piece), Ok(None));
        }
    }

    #[test]
    fn what_no_server_reads_is_an_error_where_it_stands() {
        let long = [b"#".as_slice(), &[b'x'; 200]].concat();
        for (wrong, at) in [
            (&b"\0\0\0\0"[..], 0),
            (b"junk", 0),
            (b"*0\r\n", 0),
            (b"*\r\n", 0),
            (b"*1\r\n*1\r\n", 4),
            (b"*1\r\n$-1\r\n", 4),
            (b"*1\r\n$x\r\n\r\njunk", 10),
            (b"*1\r\n$99999999999999999999\r\n", 4),
            (b"*1\r\n$1\r\nabc\r\n", 11),
            (b"*1\r\n\0\0\0", 4),
            (&long, 0),
        ] {
            for piece in [1, 5, 1000] {
                let file = [SELECT, wrong].concat();
                let error = read(&file, piece).unwrap_err();
                assert_eq!(error, 100 + SELECT.len() as u64 + at, "{} by {piece}", wrong.escape_ascii());
            }
        }
    }
}
