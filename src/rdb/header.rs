//! The nine-byte file header: `REDIS0011` or `VALKEY080`.

use serde::{Deserialize, Serialize};

use super::cursor::Cursor;
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::wording::wording;

/// Format family of a file, which selects the table of opcodes and types.
///
/// Types from 22 up differ between the families, so only the magic can tell them apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Family {
    /// Redis, KeyDB, and Valkey up to 8.1.
    Redis,
    /// Valkey from 9.0 on.
    Valkey,
    /// Dragonfly, whose files have the magic of Redis; an auxiliary field tells them apart.
    Dragonfly,
}

/// Parsed header: format family and version.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RdbHeader {
    /// Format family, from the magic.
    pub family: Family,
    /// Format version.
    pub version: u32,
}

/// Newest Redis format version supported.
pub const NEWEST_REDIS: u32 = 15;
/// Newest Valkey format version supported.
pub const NEWEST_VALKEY: u32 = 81;
/// Last version with the magic `REDIS`; greater ones are Valkey's (`rdbIsVersionAccepted` in Valkey's `rdb.c`).
const LAST_REDIS_VERSION: u32 = 79;
/// First version with a checksum after the EOF opcode.
const FIRST_WITH_CHECKSUM: u32 = 5;
/// Size of the checksum.
pub(crate) const CHECKSUM_BYTES: usize = 8;

impl RdbHeader {
    /// Size in bytes.
    pub const LEN: usize = 9;

    /// Reads the header.
    pub fn read(input: &mut Cursor<'_>) -> Result<RdbHeader> {
        let start = input.offset();
        let magic = input.array::<9>()?;
        let (family, digits) = match magic {
            [b'R', b'E', b'D', b'I', b'S', digits @ ..] => (Family::Redis, &digits[..]),
            [b'V', b'A', b'L', b'K', b'E', b'Y', digits @ ..] => (Family::Valkey, &digits[..]),
            _ => {
                return Err(Error::at(start, ErrorKind::NotASnapshot(wording!("no RDB magic", "没有 RDB 魔数")))
                    .with_remedy(wording!(
                        "an RDB file starts with REDIS or VALKEY and a version",
                        "RDB 文件以 REDIS 或 VALKEY 加版本号开头"
                    )));
            }
        };
        let Some(version) = number(digits) else {
            return Err(Error::corrupt(
                start,
                wording!("version in the header is not a number", "文件头中的版本不是数字"),
            ));
        };
        let header = RdbHeader { family, version };
        let fits = match family {
            Family::Redis => (1..=LAST_REDIS_VERSION).contains(&version),
            Family::Valkey => version > LAST_REDIS_VERSION,
            Family::Dragonfly => false,
        };
        if fits {
            return Ok(header);
        }
        let newest = match family {
            Family::Redis | Family::Dragonfly => NEWEST_REDIS,
            Family::Valkey => NEWEST_VALKEY,
        };
        Err(Error::unsupported(
            start,
            wording!(
                "unknown RDB version {version}, the newest known of {} is {newest}",
                "未知的 RDB 版本 {version}，{} 的已知最新版本为 {newest}",
                header.magic()
            ),
        )
        .with_remedy(wording!(
            "the header is damaged, or a newer server wrote it: try a newer rdblens",
            "文件头已损坏，或由更高版本的服务器写入：请尝试更新 rdblens"
        )))
    }

    /// Returns whether a checksum follows the EOF opcode.
    pub fn has_checksum(&self) -> bool {
        self.version >= FIRST_WITH_CHECKSUM
    }

    /// Returns the number of bytes of the checksum after the EOF opcode.
    pub(crate) fn checksum_len(&self) -> usize {
        if self.has_checksum() { CHECKSUM_BYTES } else { 0 }
    }

    /// Returns whether the version is newer than any supported one.
    pub fn is_from_the_future(&self) -> bool {
        match self.family {
            Family::Redis | Family::Dragonfly => self.version > NEWEST_REDIS,
            Family::Valkey => self.version > NEWEST_VALKEY,
        }
    }

    /// Fails for a type or opcode of version `first` in a file of an earlier one, whose servers do not know it.
    pub(crate) fn check_knows(&self, first: u32, offset: u64) -> Result<()> {
        // Dragonfly writes newer types under version 9.
        if self.version >= first || self.family == Family::Dragonfly {
            return Ok(());
        }
        let version = self.version;
        Err(Error::corrupt(
            offset,
            wording!(
                "a type or opcode of RDB {first} in a file of RDB {version}",
                "RDB {version} 的文件中出现 RDB {first} 才有的类型或操作码"
            ),
        )
        .with_remedy(wording!("servers of that version do not load it", "该版本的服务器无法加载")))
        .within(Reading::Record)
    }

    /// Returns the magic without the version.
    pub fn magic(&self) -> &'static str {
        match self.family {
            Family::Redis | Family::Dragonfly => "REDIS",
            Family::Valkey => "VALKEY",
        }
    }
}

/// Reads a version as `atoi` does, which servers call: spaces and a sign may precede the digits, anything may follow.
fn number(text: &[u8]) -> Option<u32> {
    let spaces = text.iter().take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r')).count();
    let text = text.get(spaces..)?;
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    let count = digits.iter().take_while(|byte| byte.is_ascii_digit()).count();
    std::str::from_utf8(digits.get(..count)?).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> Result<RdbHeader> {
        RdbHeader::read(&mut Cursor::new(bytes, 0))
    }

    #[test]
    fn magic_selects_family() {
        assert_eq!(read(b"REDIS0011").unwrap(), RdbHeader { family: Family::Redis, version: 11 });
        assert_eq!(read(b"VALKEY080").unwrap(), RdbHeader { family: Family::Valkey, version: 80 });
    }

    #[test]
    fn versions_are_read_as_servers_read_them() {
        for (bytes, version) in [(b"REDIS009a", 9), (b"REDIS 010", 10), (b"REDIS\x0b+7\0", 7), (b"REDIS10\r\n", 10)] {
            assert_eq!(read(bytes).unwrap().version, version, "{bytes:?}");
        }
        for bytes in [b"REDIS-010", b"REDISx010", b"REDIS++10", b"REDIS\0\0\0\0"] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
    }

    #[test]
    fn impossible_versions_are_rejected() {
        for bytes in [b"REDIS0000", b"REDIS0080", b"REDIS00x1", b"VALKEY079", b"GIF89abcd"] {
            assert!(read(bytes).is_err(), "{bytes:?}");
        }
        assert!(read(b"REDIS0016").unwrap().is_from_the_future());
    }

    #[test]
    fn parts_of_later_versions_are_damage_but_in_files_of_dragonfly() {
        let header = |family| RdbHeader { family, version: 9 };
        assert!(header(Family::Redis).check_knows(9, 0).is_ok());
        assert_eq!(header(Family::Redis).check_knows(10, 42).unwrap_err().offset(), Some(42));
        assert!(header(Family::Dragonfly).check_knows(10, 0).is_ok());
    }
}
