//! Recognises the container of a snapshot by its first bytes.
//!
//! ```text
//! REDIS0011 …                              a snapshot; commands of an append-only file may follow its checksum
//! \n* $EOF: <40 bytes> \r\n REDIS… <the same 40 bytes>      a captured replication stream, sent without a file
//! \n* $ <length> \r\n REDIS…                                the same, sent from a file
//! * … or #TS: …                            an append-only file of commands alone: no snapshot in it
//! VKCS …                                   an early draft of Valkey's compressed envelope: not read
//! ```

use super::decompress::Compression;
use super::foreign;
use crate::error::{Error, ErrorKind, Reading, Result, Within};
use crate::wording::{Wording, wording};

/// Container of a snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Container {
    /// None; commands of an append-only file may follow the snapshot.
    Plain,
    /// Payload of a replication stream, without its first line.
    Replication {
        /// Bytes after the snapshot that mark its end, for diskless replication.
        mark: Option<[u8; 40]>,
        /// Length of the snapshot, for replication from a file.
        length: Option<u64>,
    },
}

/// Result of examining the first bytes.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ContainerStep {
    /// Undecided: this many bytes are needed, or all if there are fewer.
    Needs(usize),
    /// A snapshot begins at byte `start`.
    Found { container: Container, start: usize },
}

/// Maximum number of newlines before the payload; a primary sends about one per second while it prepares the snapshot.
const KEEP_ALIVES: usize = 64 << 10;
/// Length of the longest first line of a replication stream: `$EOF:`, 40 bytes, CR and LF.
const FIRST_LINE: usize = 47;
/// Length of the longer magic, `VALKEY`.
const MAGIC: usize = 6;

/// Recognises the container from `head`, the first bytes of a file; `ended` is true if `head` is the whole file.
pub(super) fn recognise(head: &[u8], ended: bool) -> Result<ContainerStep> {
    let newlines = head.iter().take_while(|&&byte| byte == b'\n').count();
    let rest = &head[newlines..];
    if rest.is_empty() && !ended && newlines < KEEP_ALIVES {
        return Ok(ContainerStep::Needs(newlines + MAGIC));
    }
    let (container, line) = match rest {
        [b'$', ..] => match first_line(rest, ended).map_err(|what| not_a_snapshot(newlines, what))? {
            FirstLine::Needs(len) => return Ok(ContainerStep::Needs(newlines + len)),
            FirstLine::Read(container, len) => (container, len),
        },
        _ if newlines > 0 => return Err(not_a_snapshot(0, first_bytes(head))),
        _ => (Container::Plain, 0),
    };
    let start = newlines + line;
    let magic = &head[start..];
    if magic.len() < MAGIC && !ended {
        return Ok(ContainerStep::Needs(start + MAGIC));
    }
    if let Some(needed) = foreign::needed(magic).filter(|needed| magic.len() < *needed && !ended) {
        return Ok(ContainerStep::Needs(start + needed));
    }
    check_magic(magic, start).within(Reading::Magic)?;
    Ok(ContainerStep::Found { container, start })
}

enum FirstLine {
    Needs(usize),
    Read(Container, usize),
}

fn first_line(rest: &[u8], ended: bool) -> std::result::Result<FirstLine, Wording> {
    let wrong = || first_bytes(rest);
    if rest.starts_with(b"$EOF:") {
        // The mark may contain any bytes, including line ends.
        return match rest.get(5..FIRST_LINE).map(<[u8]>::split_last_chunk::<2>) {
            Some(Some((mark, b"\r\n"))) => {
                let mark = mark.try_into().map_err(|_| wrong())?;
                Ok(FirstLine::Read(Container::Replication { mark: Some(mark), length: None }, FIRST_LINE))
            }
            None if !ended => Ok(FirstLine::Needs(FIRST_LINE)),
            _ => Err(wrong()),
        };
    }
    let line = &rest[..rest.len().min(FIRST_LINE)];
    let Some(end) = line.windows(2).position(|pair| pair == b"\r\n") else {
        return if line.len() < FIRST_LINE && !ended { Ok(FirstLine::Needs(FIRST_LINE)) } else { Err(wrong()) };
    };
    let digits = std::str::from_utf8(&line[1..end]).map_err(|_| wrong())?;
    let length = digits.bytes().all(|byte| byte.is_ascii_digit()).then(|| digits.parse().ok()).flatten();
    let length = Some(length.ok_or_else(wrong)?);
    Ok(FirstLine::Read(Container::Replication { mark: None, length }, end + 2))
}

fn check_magic(magic: &[u8], start: usize) -> Result<()> {
    let place = u64::try_from(start).unwrap_or(u64::MAX);
    if magic.starts_with(b"REDIS") || magic.starts_with(b"VALKEY") {
        return Ok(());
    }
    if magic.starts_with(b"VKCS") {
        return Err(Error::unsupported(
            place,
            wording!(
                "a snapshot in an early draft of Valkey's compressed envelope (VKCS), which no release writes",
                "快照采用 Valkey 压缩封装的早期草案格式（VKCS），没有任何发布版本会写出这种格式"
            ),
        )
        .with_remedy(wording!(
            "save it with `rdbcompression yes`, or with Valkey 9.2",
            "请以 `rdbcompression yes` 重新保存，或用 Valkey 9.2 保存"
        )));
    }
    if magic.starts_with(b"*") || magic.starts_with(b"#TS:") {
        let what = wording!("append-only file contains only commands, no snapshot", "AOF 文件中只有命令，没有快照");
        return Err(Error::unsupported(place, what).with_remedy(wording!(
            "only append-only files with an RDB preamble are read: BGREWRITEAOF under `aof-use-rdb-preamble yes` writes \
             one",
            "只支持混合持久化的 AOF 文件（RDB 前导）：在 `aof-use-rdb-preamble yes` 下执行 BGREWRITEAOF 即可生成"
        )));
    }
    if magic.is_empty() && start == 0 {
        return Err(not_a_snapshot(0, wording!("the file is empty", "文件为空")));
    }
    if b"REDIS0".starts_with(magic) || b"VALKEY".starts_with(magic) {
        return Err(Error::truncated(place, 9, u64::try_from(magic.len()).unwrap_or(u64::MAX)));
    }
    if let Some(error) = foreign::error(magic, place) {
        return Err(error);
    }
    let error = not_a_snapshot(start, first_bytes(magic));
    Err(match Compression::recognise(magic) {
        Ok(None) => {
            error.with_remedy(wording!("an RDB file starts with REDIS or VALKEY", "RDB 文件以 REDIS 或 VALKEY 开头"))
        }
        Ok(Some(_)) | Err(_) => error.with_remedy(wording!(
            "compressed twice? only one layer is decompressed; decompress the other first",
            "是否压缩了两次？只会解压一层，请先解压外层"
        )),
    })
}

fn first_bytes(bytes: &[u8]) -> Wording {
    // Show only the bytes that decide, so that the message does not depend on how much was read.
    wording!(
        "not a snapshot: starts with \"{}\"",
        "不是快照：开头为 \"{}\"",
        bytes[..bytes.len().min(MAGIC)].escape_ascii()
    )
}

fn not_a_snapshot(start: usize, what: Wording) -> Error {
    Error::at(u64::try_from(start).unwrap_or(u64::MAX), ErrorKind::NotASnapshot(what))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: [u8; 40] = *b"0123456789abcdef0123456789abcdef01234567";

    fn captured(newlines: usize) -> Vec<u8> {
        let mut head = vec![b'\n'; newlines];
        head.extend_from_slice(b"$EOF:");
        head.extend_from_slice(&MARK);
        head.extend_from_slice(b"\r\nREDIS0011");
        head
    }

    /// Decompresses bytes that arrive one by one, without knowing the end.
    fn one_by_one(head: &[u8]) -> Result<ContainerStep> {
        let mut len = 0;
        loop {
            match recognise(&head[..len], len == head.len())? {
                ContainerStep::Needs(more) => {
                    assert!(more > len, "asks for what it has");
                    len += 1;
                }
                found @ ContainerStep::Found { .. } => return Ok(found),
            }
        }
    }

    #[test]
    fn snapshots_of_both_families_are_plain() {
        for head in [&b"REDIS0011"[..], b"VALKEY080"] {
            assert_eq!(one_by_one(head).unwrap(), ContainerStep::Found { container: Container::Plain, start: 0 });
        }
    }

    #[test]
    fn replication_payload_gives_its_mark_or_length() {
        let container = Container::Replication { mark: Some(MARK), length: None };
        assert_eq!(one_by_one(&captured(0)).unwrap(), ContainerStep::Found { container, start: 47 });
        assert_eq!(one_by_one(&captured(300)).unwrap(), ContainerStep::Found { container, start: 347 });
        let container = Container::Replication { mark: None, length: Some(1234) };
        assert_eq!(one_by_one(b"\n$1234\r\nVALKEY080").unwrap(), ContainerStep::Found { container, start: 8 });
    }

    #[test]
    fn broken_replication_line_is_not_a_snapshot() {
        let mut late = captured(0);
        late[45] = b'x';
        let long = [&b"$"[..], &[b'1'; 100], b"\r\nREDIS0011"].concat();
        let large = b"$99999999999999999999999\r\nREDIS0011".to_vec();
        for head in [
            late,
            long,
            large,
            b"$\r\nREDIS".to_vec(),
            b"$-1\r\nREDIS".to_vec(),
            b"$+1\r\nREDIS".to_vec(),
            b"$".to_vec(),
        ] {
            let error = one_by_one(&head).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::NotASnapshot(_)), "{error}");
        }
    }

    #[test]
    fn newlines_are_limited() {
        let error = recognise(&[b'\n'; KEEP_ALIVES], false).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::NotASnapshot(_)));
    }

    #[test]
    fn commands_without_a_snapshot_are_unsupported() {
        for head in [&b"*2\r\n$6\r\nSELECT\r\n"[..], b"#TS:1700000000\r\n", b"*"] {
            let error = one_by_one(head).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
            assert!(error.hint().unwrap().contains("preamble"));
        }
    }

    #[test]
    fn compressed_envelope_of_valkey_is_unsupported() {
        let error = one_by_one(b"VKCS\x01\x01\x00\x00").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
        assert_eq!(error.offset(), Some(0));
    }

    #[test]
    fn unknown_file_is_reported_by_its_first_bytes() {
        let error = one_by_one(b"\x1b[31mhello, world").unwrap_err();
        assert_eq!(
            error.to_string(),
            "byte 0x0: magic: not a snapshot: starts with \"\\x1b[31mh\" (an RDB file starts with REDIS or VALKEY)",
        );
        assert!(one_by_one(b"\nREDIS0011").is_err());
        assert!(one_by_one(b"\x1f\x8b\x08\0\0\0").unwrap_err().hint().unwrap().contains("twice"));
    }

    #[test]
    fn empty_file_and_truncated_magic_are_reported() {
        assert!(one_by_one(b"").unwrap_err().to_string().contains("empty"));
        assert!(matches!(one_by_one(b"REDI").unwrap_err().kind(), ErrorKind::Truncated { needed: 9, left: 4 }));
        let cut = captured(1);
        let error = one_by_one(&cut[..cut.len() - 9]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { needed: 9, left: 0 }));
        assert_eq!(error.offset(), Some(48));
    }
}
