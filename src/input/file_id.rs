//! Identity of files, whatever their names.

use std::fs::{self, Metadata};
use std::path::Path;

/// Identity of a file: equal for all its links, hard and symbolic.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FileId(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] std::path::PathBuf);

impl FileId {
    /// Returns the identity of the file at `path`, whose metadata these are.
    #[cfg(unix)]
    pub fn new(_: &Path, metadata: &Metadata) -> Option<FileId> {
        use std::os::unix::fs::MetadataExt;
        Some(FileId((metadata.dev(), metadata.ino())))
    }

    /// Returns the identity of the file at `path`, whose metadata these are.
    #[cfg(not(unix))]
    pub fn new(path: &Path, _: &Metadata) -> Option<FileId> {
        fs::canonicalize(path).ok().map(FileId)
    }

    /// Returns the identity of the file at `path`, or `None` if there is none.
    pub fn of(path: &Path) -> Option<FileId> {
        FileId::new(path, &fs::metadata(path).ok()?)
    }
}
