//! The nine bytes in front: `REDIS0011` or `VALKEY080`.

use super::cursor::Cursor;
use crate::error::{Error, ErrorKind, Result};

/// Which table of opcodes and types a file uses.
///
/// Bytes 22 and up mean different things in the two; the magic decides, never the byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Redis, KeyDB, and Valkey up to 8.1.
    Redis,
    /// Valkey from 9.0 on.
    Valkey,
}

/// What the header says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RdbHeader {
    /// Whose format it is.
    pub family: Family,
    /// The version of the format.
    pub version: u32,
}

/// The highest version of Redis' format whose types are known here.
pub const NEWEST_REDIS: u32 = 14;
/// The highest version of Valkey's format whose types are known here.
pub const NEWEST_VALKEY: u32 = 80;
/// Versions above this belong to Valkey, below or at it to Redis (`rdbIsVersionAccepted` in Valkey's `rdb.c`).
const LAST_REDIS_VERSION: u32 = 79;
/// First version with a checksum behind the last opcode.
const FIRST_WITH_CHECKSUM: u32 = 5;

impl RdbHeader {
    /// Bytes that a header takes.
    pub const LEN: usize = 9;

    /// Reads the header.
    pub fn read(input: &mut Cursor<'_>) -> Result<RdbHeader> {
        let start = input.offset();
        let magic = input.array::<9>()?;
        let (family, digits) = match magic {
            [b'R', b'E', b'D', b'I', b'S', digits @ ..] => (Family::Redis, &digits[..]),
            [b'V', b'A', b'L', b'K', b'E', b'Y', digits @ ..] => (Family::Valkey, &digits[..]),
            _ => {
                return Err(Error::at(start, ErrorKind::NotASnapshot("no RDB magic".to_owned()))
                    .with_hint("a snapshot begins with REDIS or VALKEY and a version"));
            }
        };
        let version = digits
            .iter()
            .try_fold(0u32, |version, &digit| digit.is_ascii_digit().then(|| version * 10 + u32::from(digit - b'0')));
        let Some(version) = version else {
            return Err(Error::corrupt(start, "the version in the header is no number"));
        };
        let header = RdbHeader { family, version };
        let fits = match family {
            Family::Redis => (1..=LAST_REDIS_VERSION).contains(&version),
            Family::Valkey => version > LAST_REDIS_VERSION,
        };
        if fits {
            return Ok(header);
        }
        Err(Error::unsupported(start, format!("no server writes {} version {version}", header.magic()))
            .with_hint("its header is damaged, or a later server wrote it: look for a newer rdblens"))
    }

    /// True if a checksum follows the last opcode.
    pub fn has_checksum(&self) -> bool {
        self.version >= FIRST_WITH_CHECKSUM
    }

    /// True if the version is above those that were known when this program was written.
    pub fn is_from_the_future(&self) -> bool {
        match self.family {
            Family::Redis => self.version > NEWEST_REDIS,
            Family::Valkey => self.version > NEWEST_VALKEY,
        }
    }

    /// The letters that the file begins with.
    pub fn magic(&self) -> &'static str {
        match self.family {
            Family::Redis => "REDIS",
            Family::Valkey => "VALKEY",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<RdbHeader> {
        RdbHeader::read(&mut Cursor::new(bytes, 0))
    }

    #[test]
    fn the_magic_decides_the_family() {
        assert_eq!(read(b"REDIS0011").unwrap(), RdbHeader { family: Family::Redis, version: 11 });
        assert_eq!(read(b"VALKEY080").unwrap(), RdbHeader { family: Family::Valkey, version: 80 });
    }

    #[test]
    fn impossible_versions_are_refused() {
        for bytes in [b"REDIS0000", b"REDIS0080", b"REDIS00x1", b"VALKEY079", b"GIF89abcd"] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(b"REDIS0015").unwrap().is_from_the_future());
    }
}
