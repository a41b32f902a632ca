//! Results of `rdblens check`: one row per file.

use serde::Serialize;

use super::{Checksum, Warning};

/// Check result of one file.
#[derive(Debug, Serialize)]
pub struct FileCheck {
    /// File name, as given.
    pub name: String,
    /// Overall result.
    pub verdict: CheckVerdict,
    /// Keys read.
    pub keys: u64,
    /// Bytes of the snapshot that were read.
    pub bytes: u64,
    /// RDB version; 0 if no header was read.
    pub rdb_version: u32,
    /// Server that wrote the file.
    pub server: String,
    /// Container format of the file.
    pub container: String,
    /// State of the checksum.
    pub checksum: Checksum,
    /// Keys with a damaged value inside intact framing.
    pub damaged_keys: u64,
    /// Errors, in the order of offsets.
    pub errors: Vec<String>,
    /// Warnings that do not make the file invalid.
    pub warnings: Vec<Warning>,
}

impl FileCheck {
    /// Returns true if no header was read, so that there is nothing to report on.
    pub fn is_hopeless(&self) -> bool {
        self.rdb_version == 0
    }
}

/// Overall result of checking one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckVerdict {
    /// Everything was read and nothing is wrong.
    Ok,
    /// The file ends before the snapshot does.
    Truncated,
    /// The bytes were changed after they were written.
    ChecksumMismatch,
    /// The file was written by a later server or another program, with something unknown in it.
    Unsupported,
    /// The bytes contradict the format.
    Corrupt,
    /// The file is no snapshot at all.
    NotASnapshot,
    /// The operating system refused to read the file.
    Unreadable,
}

impl CheckVerdict {
    /// Returns the English text.
    pub const fn text(self) -> &'static str {
        match self {
            CheckVerdict::Ok => "ok",
            CheckVerdict::Truncated => "truncated",
            CheckVerdict::ChecksumMismatch => "checksum mismatch",
            CheckVerdict::Unsupported => "unsupported",
            CheckVerdict::Corrupt => "corrupt",
            CheckVerdict::NotASnapshot => "not a snapshot",
            CheckVerdict::Unreadable => "unreadable",
        }
    }
}
