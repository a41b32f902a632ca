//! Results of `rdblens check`: one row per file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::wording::{ours, theirs};
use super::{Checksum, Container, FileError, FileServer, Key, Salvage, Warning, Wording};

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
    /// Server that wrote the file; null if the file could not be read.
    pub server: Option<FileServer>,
    /// Container and compression.
    pub container: Container,
    /// State of the checksum.
    pub checksum: Checksum,
    /// Keys with a damaged value inside intact framing.
    pub damaged_keys: u64,
    /// Errors, in the order of offsets.
    pub errors: Vec<FileError>,
    /// Warnings that do not make the file invalid.
    pub warnings: Vec<Warning>,
    /// Sound and damaged ranges of a damaged file; absent if it is sound, or could be read only once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub salvage: Option<Salvage>,
    /// Comparison with a second, independent reader; absent unless asked for and the file is sound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_reader: Option<SecondReading>,
}

impl FileCheck {
    /// Returns true if no header was read, so no report is possible.
    pub fn is_hopeless(&self) -> bool {
        self.rdb_version == 0
    }

    /// Returns true if nothing is wrong and the second reader, if it ran, found the same.
    pub fn is_sound(&self) -> bool {
        let agrees = |reading: &SecondReading| reading.different == 0 && !reading.is_incomplete();
        self.verdict == CheckVerdict::Ok && self.second_reader.as_ref().is_none_or(agrees)
    }
}

/// Result of reading a file by a second, independent reader.
#[derive(Debug, Default, Serialize)]
pub struct SecondReading {
    /// Keys that both readers read.
    pub compared: u64,
    /// Keys among them in which the readers differ.
    pub different: u64,
    /// The first of these, in file order.
    pub differences: Vec<Difference>,
    /// Keys that the second reader cannot read, by reason.
    pub not_compared: BTreeMap<NotCompared, u64>,
}

impl SecondReading {
    /// Returns true if the file changed before it was read to its end for the second time.
    pub fn is_incomplete(&self) -> bool {
        self.not_compared.contains_key(&NotCompared::Changed)
    }
}

/// Key in which two readers differ.
#[derive(Debug, Serialize, Deserialize)]
pub struct Difference {
    /// Database number.
    pub db: u64,
    /// Name of the key.
    #[serde(flatten)]
    pub key: Key,
    /// The fact in which they differ.
    pub what: DifferenceKind,
    /// Value by this program.
    #[serde(flatten, with = "ours")]
    pub ours: Wording,
    /// Value by the second reader.
    #[serde(flatten, with = "theirs")]
    pub theirs: Wording,
}

/// Fact in which two readers differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// The database.
    Db,
    /// The name.
    Key,
    /// The type.
    Type,
    /// Bytes of a string, elements of a collection.
    Length,
    /// Expiry time, in milliseconds.
    Expiry,
    /// The second reader cannot read the record.
    Unread,
}

/// Reason why a key is not compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotCompared {
    /// Streams are skipped by the second reader.
    Stream,
    /// Module values are skipped by the second reader.
    Module,
    /// Arrays are unknown to the second reader.
    Array,
    /// Hashes with shared field names are unknown to the second reader.
    CompactHash,
    /// Zipmaps are misread by the second reader.
    Zipmap,
    /// Valkey's hashes with field expiries are unknown to the second reader.
    ValkeyHash,
    /// Types of Dragonfly are unknown to the second reader.
    Dragonfly,
    /// KeyDB's cron jobs are unknown to the second reader.
    CronJob,
    /// Metadata before the key is unknown to the second reader: that of Redis Enterprise, Dragonfly and Redis 8.
    KeyMetadata,
    /// Ziplists with too many entries for the count in their header are refused by the second reader.
    LongZiplist,
    /// Database numbers above 32 bits are refused by the second reader.
    Database,
    /// Values of more than 1 GiB are not handed to the second reader, which holds them whole.
    Large,
    /// The file changed between the check and the second reading.
    Changed,
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
    /// Checking all of it needs more memory or temporary space than was allowed; what was checked is sound.
    OverBudget,
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
            CheckVerdict::OverBudget => "not fully checked",
        }
    }
}
