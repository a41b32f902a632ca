//! Detection of files that change while they are read.
//!
//! A file that is written in place while it is read gives a mixture of old and new bytes, which may parse. Its size and the time
//! of its last write are compared before and after. The time of its last change (`ctime` of the inode) is not: links, renames and
//! permissions change it, and replacing a file by renaming another one onto it does so for the old one, which is read to its end.

use std::fs::{self, File, Metadata};
use std::path::Path;
use std::time::SystemTime;

use super::{FileId, Location};
use crate::error::{Error, ErrorKind, Result};
use crate::wording::wording;

/// Identity, size and time of the last write of a regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    id: Option<FileId>,
    len: u64,
    written: Option<SystemTime>,
}

impl FileState {
    /// Returns the state from the metadata of an open file; `None` if it is no regular file or one that the system makes up, as
    /// in `/proc`.
    pub fn new(location: &Location, metadata: &Metadata) -> Option<FileState> {
        let path = match location {
            Location::Stdin => Path::new("/dev/stdin"),
            Location::File(path) => path,
            // Every range of an object is asked for by its tag.
            Location::Object(_) => return None,
        };
        (metadata.is_file() && metadata.len() > 0).then(|| FileState {
            id: FileId::new(path, metadata),
            len: metadata.len(),
            written: metadata.modified().ok(),
        })
    }
}

/// File that was opened, and its state then.
#[derive(Debug, Clone)]
pub struct OpenedFile {
    location: Location,
    state: FileState,
    /// True if all bytes come from one map: a file renamed onto it is never read.
    mapped: bool,
    /// True if commands may be appended at any time: the snapshot before them stays as it is.
    grows: bool,
}

impl OpenedFile {
    /// Creates the description of a file that was just opened.
    pub fn new(location: &Location, file: &File, mapped: bool) -> Option<OpenedFile> {
        let state = FileState::new(location, &file.metadata().ok()?)?;
        Some(OpenedFile { location: location.clone(), state, mapped, grows: false })
    }

    /// Sets whether commands may be appended to the file at any time.
    #[must_use]
    pub fn that_grows(self, grows: bool) -> OpenedFile {
        OpenedFile { grows, ..self }
    }

    /// Fails if the file was opened again, and is not the same any more.
    pub fn same_as(&self, again: Option<&OpenedFile>) -> Result<()> {
        again.map_or(Ok(()), |again| self.compare(Some(&again.state)))
    }

    /// Fails if the file was written to since it was opened, or is another one where it had to be opened again.
    pub fn check(&self) -> Result<()> {
        let metadata = match &self.location {
            Location::Stdin => super::redirected_metadata(),
            Location::File(path) => fs::metadata(path).ok(),
            Location::Object(_) => return Ok(()),
        };
        let now = metadata.and_then(|metadata| FileState::new(&self.location, &metadata));
        if self.mapped && now.as_ref().is_none_or(|now| now.id != self.state.id) {
            return Ok(());
        }
        self.compare(now.as_ref())
    }

    fn compare(&self, now: Option<&FileState>) -> Result<()> {
        let Some(now) = now.filter(|now| now.id == self.state.id) else {
            return Err(changed(wording!("another file took its place while it was read", "读取期间被另一个文件取代")));
        };
        let (before, after) = (self.state.len, now.len);
        if before == after && self.state.written == now.written || self.grows && after > before {
            return Ok(());
        }
        Err(changed(if before == after {
            wording!("was written to while it was read", "读取期间被写入")
        } else {
            wording!(
                "was written to while it was read: {before} bytes before, {after} now",
                "读取期间被写入：之前 {before} 字节，现在 {after} 字节"
            )
        }))
    }
}

fn changed(what: crate::wording::Wording) -> Error {
    Error::new(ErrorKind::Unreadable(what)).with_remedy(wording!(
        "what was read may be a mixture: read it when nothing writes to it, or read a copy",
        "读到的可能是新旧混合的内容：请在没有程序写入时读取，或读取副本"
    ))
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::time::Duration;

    use super::*;

    fn opened(path: &Path, mapped: bool) -> OpenedFile {
        OpenedFile::new(&Location::File(path.to_owned()), &File::open(path).unwrap(), mapped).unwrap()
    }

    fn set_time(path: &Path, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn file_written_at_the_same_size_has_changed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.rdb");
        fs::write(&path, b"12345").unwrap();
        set_time(&path, 1_000_000_000);
        let before = opened(&path, true);
        assert!(before.check().is_ok() && before.same_as(Some(&opened(&path, true))).is_ok());
        fs::write(&path, b"54321").unwrap();
        let error = before.check().unwrap_err();
        assert!(error.to_string().contains("was written to while it was read"), "{error}");
        assert!(error.hint().unwrap().contains("read a copy"));
        assert!(before.same_as(Some(&opened(&path, true))).is_err());
    }

    #[test]
    fn commands_may_be_appended_to_an_append_only_file_and_to_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("appendonly.aof");
        fs::write(&path, b"12345").unwrap();
        let before = opened(&path, true);
        File::options().append(true).open(&path).unwrap().write_all(b"6").unwrap();
        let said = before.check().unwrap_err().to_string();
        assert!(said.contains("5 bytes before, 6 now"), "{said}");
        assert!(before.clone().that_grows(true).check().is_ok());
        fs::write(&path, b"1").unwrap();
        assert!(before.that_grows(true).check().is_err());
    }

    #[test]
    fn file_that_takes_the_place_of_a_mapped_one_is_never_read() {
        let folder = tempfile::tempdir().unwrap();
        let (path, next) = (folder.path().join("dump.rdb"), folder.path().join("next.rdb"));
        fs::write(&path, b"12345").unwrap();
        let (mapped, streamed) = (opened(&path, true), opened(&path, false));
        fs::write(&next, b"54321").unwrap();
        fs::rename(&next, &path).unwrap();
        // Windows knows files by their paths.
        assert!(cfg!(windows) || mapped.check().is_ok());
        assert!(streamed.check().is_err());
        fs::remove_file(&path).unwrap();
        assert!(mapped.check().is_ok() && streamed.check().is_err());
    }

    #[test]
    fn pipes_and_folders_have_no_state() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(folder.path()).unwrap();
        assert_eq!(FileState::new(&Location::File(folder.path().to_owned()), &metadata), None);
    }
}
