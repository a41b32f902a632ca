//! Lines divided into words as servers do it (`sdssplitargs` in `sds.c`), for configuration files, manifests and function libraries.

/// Reason why a line cannot be divided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unbalanced {
    /// A quote is not closed.
    Open,
    /// A word goes on behind a closing quote.
    Inside,
}

/// Divides a line into words at blanks: quotes keep blanks together, anywhere in a word, and escapes count within double ones.
pub fn split(line: &[u8]) -> Result<Vec<Vec<u8>>, Unbalanced> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = &rest[rest.iter().take_while(|byte| is_space(**byte)).count()..];
        if rest.is_empty() {
            return Ok(words);
        }
        let mut word = Vec::new();
        while let [byte, behind @ ..] = rest {
            rest = behind;
            match byte {
                b' ' | b'\n' | b'\r' | b'\t' | 0 => break,
                b'"' | b'\'' => {
                    rest = quoted(*byte, rest, &mut word)?;
                    break;
                }
                byte => word.push(*byte),
            }
        }
        words.push(word);
    }
}

/// Reads a quoted text behind its first quote, and returns what follows, which is nothing or begins with a blank.
fn quoted<'a>(quote: u8, mut rest: &'a [u8], word: &mut Vec<u8>) -> Result<&'a [u8], Unbalanced> {
    loop {
        let (byte, behind) = match rest {
            [b'\\', b'x', high, low, behind @ ..]
                if quote == b'"' && high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (nibble(*high) << 4 | nibble(*low), behind)
            }
            [b'\\', escaped, behind @ ..] if quote == b'"' => {
                let byte = match escaped {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                };
                (byte, behind)
            }
            [b'\\', b'\'', behind @ ..] if quote == b'\'' => (b'\'', behind),
            [byte, behind @ ..] if *byte == quote => {
                let ends = behind.first().is_none_or(|byte| is_space(*byte));
                return if ends { Ok(behind) } else { Err(Unbalanced::Inside) };
            }
            [byte, behind @ ..] => (*byte, behind),
            [] => return Err(Unbalanced::Open),
        };
        word.push(byte);
        rest = behind;
    }
}

/// Returns the value of a hexadecimal digit, which the caller has checked.
fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20).wrapping_sub(b'a').wrapping_add(10),
    }
}

/// Returns whether a byte is a blank to `isspace` of C.
fn is_space(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == 0x0b
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_and_escapes_are_those_of_servers() {
        for (line, expected) in [
            (&b""[..], &[][..]),
            (b" \t\r\n", &[]),
            (b"a  b\tc", &["a", "b", "c"]),
            (b"\"a b\" 'c d' e\"f g\"", &["a b", "c d", "ef g"]),
            (b"\"12\\x38\" \"\\x4a\\xZ\"", &["128", "JxZ"]),
            (b"\"\\n\\\"\\q\" '\\n\\''", &["\n\"q", "\\n'"]),
            (b"\"\" a\\ b", &["", "a\\", "b"]),
        ] {
            let words: Vec<Vec<u8>> = expected.iter().map(|word| word.as_bytes().to_vec()).collect();
            assert_eq!(split(line), Ok(words), "{}", line.escape_ascii());
        }
        for line in [&b"\"a"[..], b"'a\\'", b"a \"", b"\"a\\\""] {
            assert_eq!(split(line), Err(Unbalanced::Open), "{}", line.escape_ascii());
        }
        assert_eq!(split(b"\"6\"4"), Err(Unbalanced::Inside));
        assert_eq!(split(b"'a''b'"), Err(Unbalanced::Inside));
    }
}
