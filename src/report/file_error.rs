//! Errors of input files as reports quote them: each is a kind with its data, worded in both languages.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::wording::text;
use super::{Word, Wording};
use crate::error::{Error, ErrorKind};

/// Error found while a file was read.
///
/// In JSON `kind`, `offset`, `reading` and the data are for programs, `text` and `text_zh` for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct FileError {
    /// Kind of the error, with its data.
    #[serde(flatten)]
    pub kind: FileErrorKind,
    /// Position in the decompressed file, in bytes; absent if the error is about the whole file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offset: Option<u64>,
    /// Part of the format that was being read, such as `hash field`; absent if the error is about none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Word>,
    /// Wording, with offset, part and what to do about it.
    #[serde(flatten, with = "text")]
    #[cfg_attr(feature = "internals", schemars(with = "text::Form"))]
    pub wording: Wording,
}

/// Kind of an error in a file. Later versions of the program may add kinds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FileErrorKind {
    /// The file ends early.
    Truncated {
        /// Bytes needed from the offset on.
        needed: u64,
        /// Bytes left.
        left: u64,
    },
    /// The bytes contradict the format.
    Corrupt,
    /// The file holds something that this program does not support.
    Unsupported,
    /// The file is not a snapshot.
    NotASnapshot,
    /// A value of the file exceeds a limit of this program.
    Limit,
    /// The file needs more memory or temporary space than the run was allowed to take (`--max-memory`, `--max-temp`).
    OverBudget,
    /// The checksum over the file differs from the one stored at its end.
    Checksum {
        /// Checksum stored in the file, in hexadecimal.
        stored: String,
        /// Checksum computed from its bytes, in hexadecimal.
        computed: String,
    },
    /// The file could not be read.
    Unreadable,
    /// A kind that this version of the program does not know; its wording says what is wrong.
    #[serde(other)]
    Other,
}

impl From<&Error> for FileError {
    fn from(error: &Error) -> FileError {
        let kind = match error.kind() {
            &ErrorKind::Truncated { needed, left } => FileErrorKind::Truncated { needed, left },
            ErrorKind::Corrupt(_) => FileErrorKind::Corrupt,
            ErrorKind::Unsupported(_) => FileErrorKind::Unsupported,
            ErrorKind::NotASnapshot(_) => FileErrorKind::NotASnapshot,
            ErrorKind::Limit(_) => FileErrorKind::Limit,
            ErrorKind::OverBudget(_) => FileErrorKind::OverBudget,
            ErrorKind::Checksum { stored, computed } => {
                FileErrorKind::Checksum { stored: format!("{stored:016x}"), computed: format!("{computed:016x}") }
            }
            ErrorKind::Io(_) | ErrorKind::Cancelled | ErrorKind::Unreadable(_) | ErrorKind::Usage(_) => {
                FileErrorKind::Unreadable
            }
        };
        FileError { kind, offset: error.offset(), reading: error.within().map(Word::from), wording: error.wording() }
    }
}

impl From<String> for FileError {
    /// Returns an error that has words only, the same in both languages: how the first reports had them.
    fn from(en: String) -> FileError {
        let wording = Wording { zh: en.clone(), en };
        FileError { kind: FileErrorKind::Other, offset: None, reading: None, wording }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::{Reading, Within};
    use serde_json::json;

    #[test]
    fn an_error_is_kind_data_and_text() {
        let error = Err::<(), _>(Error::truncated(0x1f3a, 512, 37)).within(Reading::HashField).unwrap_err();
        let quoted = FileError::from(&error);
        let json = serde_json::to_value(&quoted).unwrap();
        let expected = json!({
            "kind": "truncated", "needed": 512, "left": 37, "offset": 0x1f3a, "reading": "hash field",
            "text": "byte 0x1f3a: hash field: needs 512 bytes, 37 left",
            "text_zh": "字节 0x1f3a：hash 字段：需要 512 字节，只剩 37 字节",
        });
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<FileError>(json).unwrap(), quoted);
        let mismatch = FileError::from(&Error::new(ErrorKind::Checksum { stored: u64::MAX, computed: 1 }));
        let json = serde_json::to_value(mismatch).unwrap();
        assert_eq!((&json["stored"], &json["computed"]), (&"ffffffffffffffff".into(), &"0000000000000001".into()));
        assert_eq!(json.get("offset"), None);
    }

    #[test]
    fn kinds_of_later_versions_and_plain_texts_keep_their_words() {
        let json = r#"[{"kind": "moon-phase", "phase": 3, "text": "full moon", "text_zh": "满月"}, "a text"]"#;
        let read: Vec<FileError> =
            crate::report::wording::read_list(&mut serde_json::Deserializer::from_str(json)).unwrap();
        let words: Vec<_> = read.iter().map(|it| (&it.kind, it.wording.en.as_str(), it.wording.zh.as_str())).collect();
        let other = &FileErrorKind::Other;
        assert_eq!(words, [(other, "full moon", "满月"), (other, "a text", "a text")]);
    }
}
