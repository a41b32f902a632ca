//! Facts about a file after it was read: all that a report says about it, besides its keys.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::assemble::templates::FileTemplates;
use super::verdict::FileVerdict;
use crate::rdb::file_info::FileInfo;
use crate::report::{SourceFile, Warning};

/// Result of reading one file. It can be stored, so that another process makes the report.
#[derive(Debug, Serialize, Deserialize)]
pub struct FileOutcome {
    /// Position among the inputs.
    pub position: usize,
    /// Row of the report.
    #[serde(with = "as_json")]
    pub row: SourceFile,
    /// True if everything was read and nothing is wrong.
    pub sound: bool,
    /// Warnings about the file.
    #[serde(with = "as_json")]
    pub warnings: Vec<Warning>,
    /// Header and metadata before the first key, from which its memory models follow.
    pub head: Option<FileInfo>,
    /// Information found outside the keys, if the end of the snapshot, or damage before it, was reached.
    pub about: Option<FileInfo>,
    /// Checksum computed over the snapshot.
    pub checksum: Option<u64>,
    /// Templates of its compact hashes.
    pub templates: FileTemplates,
}

impl FileOutcome {
    /// Returns the outcome of a file with this verdict.
    pub fn new(position: usize, verdict: FileVerdict) -> FileOutcome {
        FileOutcome {
            position,
            sound: verdict.is_sound(),
            row: verdict.row,
            warnings: verdict.warnings,
            head: None,
            about: verdict.ending.map(|ending| ending.about),
            checksum: None,
            templates: FileTemplates::default(),
        }
    }
}

/// Parts of a report as JSON: their form there leaves fields out, which only a format that names fields can express.
mod as_json {
    use serde::de::DeserializeOwned;

    use super::*;

    pub fn serialize<T: Serialize, S: Serializer>(value: &T, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&serde_json::to_string(value).map_err(serde::ser::Error::custom)?)
    }

    pub fn deserialize<'de, T: DeserializeOwned, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
        // From bytes, as all else is read: each form of input is compiled for all types.
        serde_json::from_slice(String::deserialize(deserializer)?.as_bytes()).map_err(serde::de::Error::custom)
    }
}
