//! Commands of an append-only file behind a snapshot: no record lies among them, whatever they look like.

use crate::rdb::cursor::Cursor;

/// Most places behind what may be an end mark that are tried as the start of commands.
const MAX_STARTS: usize = 64;
/// Part of the bytes from the first command on that may be damaged.
const DAMAGED_PART: usize = 16;
/// Bytes of the longest first line of a command.
const FIRST_LINE: usize = 13;
/// Digits of the largest number of arguments, and of the largest length of one.
const DIGITS: std::ops::RangeInclusive<usize> = 1..=10;

/// Result of reading a command.
enum Command {
    /// It ends at this offset.
    Whole(usize),
    /// It would end behind the file; the first byte that was not read is at this offset.
    Cut(usize),
    /// The first byte that was not read is at this offset.
    Broken(usize),
}

/// Returns where the commands of an append-only file begin that follow a snapshot and its checksum of `checksum_len` bytes; the
/// snapshot begins before `from`.
///
/// They go on to the end of the file. One that is cut off may follow them, or zeros. Damage between them is passed if an end mark
/// precedes them; if that is damaged, the first of them must be the `SELECT` that servers write there.
/// No byte is looked at more than twice.
pub(super) fn start_of_commands(bytes: &[u8], from: usize, checksum_len: usize) -> Option<usize> {
    let mut at = from;
    // Starts behind end marks, with the bytes of the commands before them.
    let mut marked: Vec<(usize, usize)> = Vec::new();
    // The last sequence without gaps: its start and end. Bytes of all commands.
    let (mut last, mut commands) = (None::<(usize, usize)>, 0);
    let mut cut = None;
    while let Some(found) = memchr::memchr2(b'*', b'#', bytes.get(at..)?) {
        let start = at + found;
        at = match command(bytes, start) {
            Command::Whole(end) => {
                match &mut last {
                    Some((_, before)) if *before == start => *before = end,
                    _ => {
                        if marked.len() < MAX_STARTS && follows_end_mark(bytes, start, checksum_len) {
                            marked.push((start, commands));
                        }
                        last = Some((start, end));
                    }
                }
                commands += end - start;
                end
            }
            Command::Cut(read_to) => {
                cut = Some(start);
                read_to.max(start + 1)
            }
            Command::Broken(read_to) => read_to.max(start + 1),
        };
    }
    let (start, end) = last?;
    let rest = bytes.get(end..)?;
    let is_cut_off = cut == Some(end) || rest.len() < FIRST_LINE && rest.starts_with(b"*");
    if !is_cut_off && rest.iter().any(|byte| *byte != 0) {
        return None;
    }
    let is_mostly_commands = |&&(start, before): &&(usize, usize)| {
        let (len, read) = (end - start, commands - before);
        len - read <= len / DAMAGED_PART
    };
    match marked.iter().find(is_mostly_commands) {
        Some((start, _)) => Some(*start),
        None => selects(bytes, start).then_some(start),
    }
}

fn follows_end_mark(bytes: &[u8], start: usize, checksum_len: usize) -> bool {
    let mark = start.checked_sub(checksum_len + 1).and_then(|at| bytes.get(at));
    mark == Some(&crate::rdb::opcode::byte::EOF)
}

/// Returns whether a `SELECT` begins at `start`, behind annotations.
fn selects(bytes: &[u8], mut start: usize) -> bool {
    while let Some(end) = annotation(bytes, start) {
        start = end;
    }
    let name = bytes.get(start..).and_then(|rest| rest.strip_prefix(b"*2\r\n$6\r\n")).and_then(|rest| rest.get(..6));
    name.is_some_and(|name| name.eq_ignore_ascii_case(b"select"))
}

/// Reads the command or the annotation at `start`.
fn command(bytes: &[u8], start: usize) -> Command {
    if let Some(end) = annotation(bytes, start) {
        return Command::Whole(end);
    }
    let mut cursor = Cursor::new(bytes.get(start..).unwrap_or_default(), 0);
    let Some(arguments) = number(&mut cursor, b'*').filter(|arguments| *arguments > 0) else {
        return Command::Broken(start + 1);
    };
    for _ in 0..arguments {
        let Some(len) = number(&mut cursor, b'$') else {
            let read_to = start + cursor.consumed();
            return if cursor.left() == 0 { Command::Cut(read_to) } else { Command::Broken(read_to) };
        };
        // A length that is damaged passes nothing.
        let read_to = start + cursor.consumed();
        if cursor.take(len).is_err() || cursor.left() < 2 {
            return Command::Cut(read_to);
        }
        if cursor.take(2).is_ok_and(|end| end != b"\r\n") {
            return Command::Broken(read_to);
        }
    }
    Command::Whole(start + cursor.consumed())
}

/// Returns the end of the annotation at `start`, a line such as `#TS:1700000000`.
fn annotation(bytes: &[u8], start: usize) -> Option<usize> {
    let mut cursor = Cursor::new(bytes.get(start..)?.strip_prefix(b"#TS")?, 0);
    number(&mut cursor, b':')?;
    Some(start + b"#TS".len() + cursor.consumed())
}

/// Reads a line of `first` and a number; reads nothing if there is none.
fn number(cursor: &mut Cursor<'_>, first: u8) -> Option<u64> {
    let line = cursor.rest().strip_prefix(&[first])?;
    let digits = line.iter().take(*DIGITS.end() + 1).take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = line.split_at_checked(digits).filter(|_| DIGITS.contains(&digits))?;
    let number = std::str::from_utf8(number).ok()?.parse().ok()?;
    rest.starts_with(b"\r\n").then_some(())?;
    cursor.take(1 + digits as u64 + 2).ok()?;
    Some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SELECT: &[u8] = b"*2\r\n$6\r\nSELECT\r\n$1\r\n0\r\n";
    const SET: &[u8] = b"*3\r\n$3\r\nSET\r\n$1\r\na\r\n$2\r\n\r\n\r\n";

    fn found(parts: &[&[u8]]) -> Option<usize> {
        start_of_commands(&parts.concat(), 0, 8)
    }

    #[test]
    fn commands_begin_behind_the_end_mark_or_with_select() {
        let end = &[&b"snapshot\xff"[..], b"checksum"].concat();
        let damaged = &[&b"snapshot\xfe"[..], b"checksum"].concat();
        assert_eq!(found(&[end, SET, SET]), Some(17));
        assert_eq!(found(&[end, SELECT, SET, b"*3\r\n$3\r\nSE"]), Some(17), "cut off");
        assert_eq!(found(&[end, SELECT, SET, b"*3"]), Some(17), "cut off within the first line");
        assert_eq!(found(&[end, SELECT, SET, b"\x2aabcdefghijklmnop"]), None, "no command");
        assert_eq!(found(&[end, SELECT, SET, &[0; 100]]), Some(17), "zeros of a lost block");
        assert_eq!(found(&[end, b"#TS:1700000000\r\n", SET]), Some(17));
        assert_eq!(found(&[damaged, SELECT, SET]), Some(17));
        assert_eq!(found(&[damaged, SET, SET]), None);
        let many = SET.repeat(20);
        assert_eq!(found(&[end, &many, b"\xeedamage*3\r\n$9999\r\n", &many, SET]), Some(17));
        assert_eq!(found(&[end, SET, &[b'x'; 60], SET]), None, "mostly other bytes");
    }

    #[test]
    fn commands_in_a_value_are_part_of_it() {
        let value = [&b"\xffchecksum"[..], SELECT, SET].concat();
        assert_eq!(found(&[b"snapshot", &value, b"\xff", &[0; 8]]), None);
        let end = &[&b"\xff"[..], b"checksum"].concat();
        assert_eq!(
            found(&[b"snapshot", SELECT, SET, b"more of it", end, SELECT, SET]),
            Some(8 + SELECT.len() + SET.len() + 19)
        );
    }
}
