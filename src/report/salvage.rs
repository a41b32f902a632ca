//! Result of saving the sound records of a damaged snapshot.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Container, FileError, FileServer, Key};
use crate::units::Bytes;

/// Result of `rdblens salvage`.
#[derive(Debug, Serialize)]
pub struct SalvagedFile {
    /// File name, as given.
    pub name: String,
    /// RDB version.
    pub rdb_version: u32,
    /// Server that wrote the file.
    pub server: FileServer,
    /// Container and compression.
    pub container: Container,
    /// Bytes of the damaged snapshot, decompressed.
    pub bytes: Bytes,
    /// Bytes of the new snapshot.
    pub written: Bytes,
    /// Bytes after the snapshot, such as the commands of an append-only file, which a multi-part one has in files of their own: they
    /// are not part of the new one.
    pub behind: Bytes,
    /// True if nothing is wrong with the file.
    pub sound: bool,
    /// Why reading stopped, or what is wrong with the whole file.
    pub errors: Vec<FileError>,
    /// Records saved and missing.
    pub salvage: Salvage,
    /// What a server checks when it loads the new snapshot, and cannot be verified.
    pub unverified: Unverified,
}

/// Items of a damaged file for which a server refuses the whole file if they are damaged, and which cannot be verified without a
/// right checksum. Empty for other files.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Unverified {
    /// Number of function libraries, whose code a server compiles.
    pub functions: u64,
    /// Names of module types, which a server must have.
    pub modules: Vec<String>,
}

/// Sound and damaged parts of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Salvage {
    /// Sound keys, before and after the damage.
    pub keys: u64,
    /// Keys that the file announces (`RESIZEDB`); null if a database of the file announces none.
    pub announced: Option<u64>,
    /// Bytes in damaged ranges.
    pub bytes_lost: Bytes,
    /// Damaged ranges in file order, at most 100 outside of `rdblens salvage`.
    pub damaged: Vec<DamagedRange>,
    /// Further damaged ranges.
    pub unlisted: u64,
    /// Databases, by number.
    pub databases: Vec<SalvagedDatabase>,
    /// Bytes that were restored by means of the checksum; null if none were.
    pub restored: Option<RestoredBytes>,
    /// True if the checksum proves that the sound keys are as the server wrote them. Otherwise a change inside a value that
    /// left it readable would not be noticed.
    pub proven: bool,
}

/// Damaged range of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct DamagedRange {
    /// Extent of the damage.
    pub damage: DamageExtent,
    /// First byte, as an offset in the decompressed file.
    pub start: u64,
    /// End, exclusive.
    pub end: u64,
    /// Database of the keys before it.
    pub db: u64,
    /// Key whose value is damaged, or that occurs twice; absent if its name is damaged or very long, and for items that are no
    /// keys, such as functions.
    #[serde(flatten)]
    pub key: Option<Key>,
    /// Sound keys before it.
    pub keys_before: u64,
    /// Sound keys behind it.
    pub keys_behind: u64,
    /// The first thing wrong.
    pub error: FileError,
}

/// Extent of damage. Later versions of the program may add some.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DamageExtent {
    /// Records cannot be told apart.
    Framing,
    /// The value of one key, or another item, is damaged inside intact framing.
    Value,
    /// A key occurs more than once in its database.
    Duplicate,
    /// An extent that this version of the program does not know.
    #[serde(other)]
    Other,
}

/// Database of a damaged file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SalvagedDatabase {
    /// Number of the database.
    pub db: u64,
    /// Sound keys.
    pub keys: u64,
    /// Keys that the file announces (`RESIZEDB`); null if that is lost.
    pub announced: Option<u64>,
    /// False if some of these keys may belong to another database, because a `SELECTDB` may be lost.
    pub certain: bool,
}

/// Bytes that were restored by means of the checksum, which differs for every place and every change of up to two bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct RestoredBytes {
    /// Offset of the first one in the decompressed file.
    pub offset: u64,
    /// Bytes in the file, in hexadecimal.
    pub found: String,
    /// Bytes that the server wrote, in hexadecimal.
    pub restored: String,
}

impl Salvage {
    /// Returns the databases whose keys may belong to another one.
    pub fn uncertain(&self) -> impl Iterator<Item = u64> {
        self.databases.iter().filter(|database| !database.certain).map(|database| database.db)
    }
}
