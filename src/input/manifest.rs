//! Parser for the manifest of a multi-part append-only file, which names its base and incremental files.
//!
//! ```text
//! # a comment
//! file appendonly.aof.2.base.rdb seq 2 type b
//! file "with blank.2.incr.aof" seq 2 type i startoffset 19233
//! ```
//!
//! Each line has pairs of words for one file: type `b` is the base (at most one), `i` an incremental file in ascending
//! order, `h` history that the server has yet to delete. Unknown pairs are skipped. Names must be plain file names in the
//! same directory; other manifests are rejected, because following them would read files that the user did not name.

use crate::error::{Error, Reading, Result, Within};
use crate::wording::{Wording, wording};
use crate::words::{self, Unbalanced};

/// Files that make up the current state.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    /// The snapshot, if there is one.
    pub base: Option<String>,
    /// The incremental files, in order.
    pub increments: Vec<String>,
}

/// Maximum line length that servers accept.
const LINE: usize = 1024;

impl Manifest {
    /// Parses the text of a manifest.
    pub fn parse(text: &[u8]) -> Result<Manifest> {
        let mut manifest = Manifest::default();
        let (mut offset, mut last_increment) = (0u64, None);
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            manifest
                .line(line, &mut last_increment)
                .map_err(|what| Error::corrupt(offset, what))
                .within(Reading::Manifest)?;
            offset = offset.saturating_add(line.len() as u64);
        }
        Ok(manifest)
    }

    fn line(&mut self, line: &[u8], last_increment: &mut Option<u64>) -> std::result::Result<(), Wording> {
        if line.len() > LINE {
            return Err(wording!(
                "line of {} bytes exceeds the limit of {LINE}",
                "该行长 {} 字节，超过上限 {LINE}",
                line.len()
            ));
        }
        if line.starts_with(b"#") {
            return Ok(());
        }
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(wording!(
                "the last line has no end: is the copy complete?",
                "最后一行没有换行符：拷贝是否完整？"
            ));
        };
        if line.trim_ascii().is_empty() {
            return Err(wording!("an empty line", "空行"));
        }
        let entry = ManifestEntry::parse(&words::split(line).map_err(|error| match error {
            Unbalanced::Open => wording!("an open quote", "引号未闭合"),
            Unbalanced::Inside => wording!("a closing quote inside a word", "单词中间出现右引号"),
        })?)?;
        match entry.kind {
            FileKind::Base if self.base.is_some() => return Err(wording!("a second base file", "出现第二个基础文件")),
            FileKind::Base => self.base = Some(entry.file),
            FileKind::Increment if last_increment.is_some_and(|last| last >= entry.sequence) => {
                return Err(wording!("command files are not in ascending order", "命令文件未按序号递增"));
            }
            FileKind::Increment => {
                *last_increment = Some(entry.sequence);
                self.increments.push(entry.file);
            }
            FileKind::History => {}
        }
        Ok(())
    }
}

struct ManifestEntry {
    file: String,
    sequence: u64,
    kind: FileKind,
}

enum FileKind {
    Base,
    Increment,
    History,
}

impl ManifestEntry {
    fn parse(words: &[Vec<u8>]) -> std::result::Result<ManifestEntry, Wording> {
        let (pairs, odd) = words.as_chunks::<2>();
        if !odd.is_empty() {
            return Err(wording!("an odd number of words", "单词数为奇数"));
        }
        let (mut file, mut sequence, mut kind) = (None, None, None);
        for [key, value] in pairs {
            match key.to_ascii_lowercase().as_slice() {
                b"file" => file = Some(plain_name(value)?),
                b"seq" => sequence = std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok()),
                b"type" => kind = Some(kind_of(value)?),
                _ => {}
            }
        }
        match (file, sequence, kind) {
            (_, Some(0), _) => Err(wording!("sequence number 0", "序号为 0")),
            (Some(file), Some(sequence), Some(kind)) => Ok(ManifestEntry { file, sequence, kind }),
            _ => Err(wording!("a line without file, seq or type", "该行缺少 file、seq 或 type")),
        }
    }
}

fn kind_of(value: &[u8]) -> std::result::Result<FileKind, Wording> {
    match value {
        b"b" => Ok(FileKind::Base),
        b"i" => Ok(FileKind::Increment),
        b"h" => Ok(FileKind::History),
        other => Err(wording!("unknown file type \"{}\"", "未知的文件类型 \"{}\"", other.escape_ascii())),
    }
}

fn plain_name(name: &[u8]) -> std::result::Result<String, Wording> {
    let text = std::str::from_utf8(name).map_err(|_| {
        wording!("\"{}\" is not a name in UTF-8", "\"{}\" 不是 UTF-8 编码的文件名", name.escape_ascii())
    })?;
    if text.is_empty() || text == "." || text == ".." || text.contains(['/', '\\', '\0', ':']) {
        return Err(wording!("\"{}\" is not a plain file name", "\"{}\" 不是单纯的文件名", name.escape_ascii()));
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(text: &str) -> std::result::Result<(Option<String>, Vec<String>), String> {
        let manifest = Manifest::parse(text.as_bytes()).map_err(|error| error.to_string())?;
        Ok((manifest.base, manifest.increments))
    }

    #[test]
    fn base_and_incremental_files_are_found_but_not_history() {
        let text = "# made by a server\nfile a.1.base.rdb seq 1 type h\nfile a.2.base.rdb seq 2 type b\n\
                    file a.2.incr.aof seq 2 type i startoffset 19233\nfile a.3.incr.aof seq 3 type i\n";
        let (base, increments) = parse(text).unwrap();
        assert_eq!(base.as_deref(), Some("a.2.base.rdb"));
        assert_eq!(increments, ["a.2.incr.aof", "a.3.incr.aof"]);
    }

    #[test]
    fn quoted_names_are_unquoted() {
        let text = r#"file "a b\x41\x2e\"\t.rdb" seq 1 type b
            file 'it\'s \n.aof' seq 1 type i
"#;
        // A backslash that stays one would be a separator elsewhere.
        assert!(parse(text).unwrap_err().contains("plain file name"));
        let (base, increments) = parse(&text.replace(r" \n", "")).unwrap();
        assert_eq!(base.as_deref(), Some("a bA.\"\t.rdb"));
        assert_eq!(increments, ["it's.aof"]);
    }

    #[test]
    fn names_outside_the_directory_are_rejected() {
        for name in ["../a.rdb", "/etc/passwd", "..", ".", "\"\"", "a\\\\b", "\"a\\x00b\"", "\"..\\x2fa\"", "c:a"] {
            let error = parse(&format!("file {name} seq 1 type b\n")).unwrap_err();
            assert!(error.contains("plain file name"), "{name}: {error}");
        }
    }

    #[test]
    fn broken_lines_are_reported_with_their_offset() {
        for (text, what) in [
            ("file a seq 1 type", "odd number"),
            ("file a seq 1", "without file"),
            ("file a seq x type b", "without file"),
            ("file a seq -1 type b", "without file"),
            ("file a seq 99999999999999999999999 type b", "without file"),
            ("file a seq 1 type z", "unknown file type"),
            ("file \"a seq 1 type b", "open quote"),
            ("file \"a\"b seq 1 type b", "closing quote"),
            ("file a seq 1 type b\nfile b seq 1 type b", "second base"),
            ("file a seq 2 type i\nfile b seq 2 type i", "ascending order"),
            ("nonsense", "odd number"),
            ("file a seq 0 type b", "sequence number 0"),
            ("file a seq 1 type b\n \r", "an empty line"),
        ] {
            let error = parse(&format!("#\n{text}\n")).unwrap_err();
            assert!(error.contains(what), "{text}: {error}");
            assert!(error.contains("manifest: "), "{error}");
        }
        assert!(parse("#\nnonsense").unwrap_err().starts_with("byte 0x2: "));
        assert!(parse(&format!("file a{} seq 1 type b", " ".repeat(2000))).unwrap_err().contains("exceeds the limit"));
    }

    #[test]
    fn empty_manifest_names_no_files() {
        assert_eq!(parse("").unwrap(), (None, vec![]));
        assert_eq!(parse("# x\n# y").unwrap(), (None, vec![]));
        assert!(parse("file a seq 1 type b").unwrap_err().contains("the last line has no end"));
        assert_eq!(parse("file a seq 1 type b\r\n").unwrap().0.as_deref(), Some("a"));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(text in prop::collection::vec(
            prop_oneof![Just(b' '), Just(b'"'), Just(b'\\'), Just(b'\n'), Just(b'x'), any::<u8>()], 0..200)) {
            let _ = Manifest::parse(&text);
        }

        #[test]
        fn any_name_survives_quoting(name in "[^/\\\\:\0\n]{3,20}") {
            let quoted: String = name.bytes().map(|byte| format!("\\x{byte:02x}")).collect();
            prop_assert_eq!(parse(&format!("file \"{quoted}\" seq 1 type b\n")).unwrap().0, Some(name));
        }
    }
}
