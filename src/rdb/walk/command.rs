//! Commands inlined by Valkey's fork-less save, in RESP: `*2 CRLF ($3 CRLF foo CRLF)[2]`.

use crate::error::{Error, Reading, Result, Within};
use crate::rdb::cursor::Cursor;
use crate::wording::wording;

/// Maximum number of digits in a count.
const MAX_DIGITS: usize = 19;

/// Skips one command.
pub fn skip(input: &mut Cursor<'_>) -> Result<()> {
    for _ in 0..number(input, b'*').within(Reading::InlinedCommand)? {
        let len = number(input, b'$').within(Reading::InlinedArgument)?;
        input.take(len).within(Reading::InlinedArgument)?;
        line_end(input).within(Reading::InlinedArgument)?;
    }
    Ok(())
}

fn number(input: &mut Cursor<'_>, mark: u8) -> Result<u64> {
    let offset = input.offset();
    if input.byte()? != mark {
        return Err(Error::corrupt(offset, wording!("expected {:?}", "应为 {:?}", char::from(mark))));
    }
    let mut number: u64 = 0;
    for _ in 0..MAX_DIGITS {
        match input.byte()? {
            digit @ b'0'..=b'9' => number = number.saturating_mul(10).saturating_add(u64::from(digit - b'0')),
            b'\r' => {
                let end = input.offset();
                return match input.byte()? {
                    b'\n' => Ok(number),
                    _ => Err(Error::corrupt(end, wording!("expected CRLF", "应为 CRLF"))),
                };
            }
            _ => break,
        }
    }
    Err(Error::corrupt(offset, wording!("expected a number and CRLF", "应为数字和 CRLF")))
}

fn line_end(input: &mut Cursor<'_>) -> Result<()> {
    let offset = input.offset();
    match input.array::<2>()? {
        b"\r\n" => Ok(()),
        _ => Err(Error::corrupt(offset, wording!("expected CRLF", "应为 CRLF"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursor_is_after_the_command() {
        let mut cursor = Cursor::new(b"*2\r\n$3\r\nfoo\r\n$0\r\n\r\nrest", 0);
        skip(&mut cursor).unwrap();
        assert_eq!(cursor.rest(), b"rest");
    }

    #[test]
    fn malformed_commands_are_rejected() {
        for bytes in [&b"+OK\r\n"[..], b"*x\r\n", b"*1\r\n$1\r\nab\r\n", b"*99999999999999999999\r\n"] {
            assert!(skip(&mut Cursor::new(bytes, 0)).is_err());
        }
    }
}
