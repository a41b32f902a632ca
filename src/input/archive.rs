//! Archives of nights: their snapshots and stored reports are unpacked into a folder, and then read as folders are.
//!
//! Names and sizes are claims: only what ends like a snapshot or report is written, below the folder, and no more than the
//! temporary space that a run may take. Links are never made, so none can lead out of the folder.

mod tar;

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufReader, Cursor, Read, Write};
use std::path::{Path, PathBuf};

use super::decompress::{Compression, DecoderLimits, Decompressed};
use super::nights::is_report;
use super::resolve::{ENDINGS, has_ending};
use super::source::SourceReader;
use super::{read_head, shown_path};
use crate::error::{Error, ErrorKind, Result};
use crate::limits::Budget;
use crate::wording::{Wording, wording};
use tar::{TarEntry, TarKind, TarReader};

/// Endings of archives.
pub const ARCHIVES: [&str; 6] = [".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.lz4"];

/// Maximum number of files that are unpacked.
const MAX_FILES: usize = if cfg!(test) { 20 } else { 100_000 };

/// Most folders above a file that is unpacked: they take space that no entry announces.
const MAX_FOLDERS: usize = 10;

/// Bytes that are read of an uncompressed archive at a time.
const BUFFER: usize = 256 << 10;

/// Number of entries passed over that are named.
const NAMED: usize = 10;

/// Result of unpacking an archive.
#[derive(Debug, Default)]
pub struct Unpacked {
    /// Bytes of the files that were written.
    pub bytes: u64,
    /// The first entries that look like snapshots and were not unpacked, and why.
    pub passed_over: Vec<(String, Wording)>,
}

/// Returns whether a path names an archive, by its ending.
pub fn is_archive(path: &Path) -> bool {
    ARCHIVES.iter().any(|ending| has_ending(path, ending))
}

/// Unpacks the snapshots and stored reports of an archive into `folder`. Errors name the archive.
pub fn unpack(archive: &Path, folder: &Path, budget: Budget) -> Result<Unpacked> {
    let unpacked = open(archive, budget).and_then(|reader| Unpacker::new(folder, budget.temp).run(reader));
    unpacked.map_err(|error| error.in_file(&shown_path(archive)))
}

/// Opens the bytes of an archive, decompressed.
fn open(archive: &Path, budget: Budget) -> Result<Box<dyn Read>> {
    let mut file = File::open(archive)?;
    let head = read_head(&mut file)?;
    let compression = Compression::recognise(&head)?;
    let whole = Cursor::new(head).chain(file);
    Ok(match compression {
        None => Box::new(BufReader::with_capacity(BUFFER, whole)),
        Some(compression) => {
            let limits = DecoderLimits { budget, threads: 1 };
            Box::new(SourceReader::new(Decompressed::start(compression, limits, whole)?))
        }
    })
}

struct Unpacker<'f> {
    folder: &'f Path,
    /// Bytes that may be written.
    room: u64,
    files: usize,
    done: Unpacked,
}

impl<'f> Unpacker<'f> {
    fn new(folder: &'f Path, room: u64) -> Self {
        Unpacker { folder, room, files: 0, done: Unpacked::default() }
    }

    fn run(mut self, reader: impl Read) -> Result<Unpacked> {
        let mut reader = TarReader::new(reader);
        while let Some(entry) = reader.next_entry()? {
            if entry.kind == TarKind::Directory || !is_wanted(&entry.path) {
                continue;
            }
            match place_of(&entry) {
                Err(reason) => self.pass_over(&entry, reason),
                Ok(path) => self.write(&entry, &path, &mut reader)?,
            }
        }
        if self.files == 0 {
            let what = ErrorKind::NotASnapshot(wording!("no snapshot in this archive", "该归档中没有快照"));
            return Err(Error::new(what).with_remedy(wording!(
                "looked for *{} and stored reports (*.json)",
                "查找的是 *{} 和已保存的报告（*.json）",
                ENDINGS.join(", *")
            )));
        }
        Ok(self.done)
    }

    fn pass_over(&mut self, entry: &TarEntry, reason: Wording) {
        if self.done.passed_over.len() < NAMED {
            self.done.passed_over.push((shown_path(&path_from(&entry.path)), reason));
        }
    }

    fn write<R: Read>(&mut self, entry: &TarEntry, path: &Path, reader: &mut TarReader<R>) -> Result<()> {
        let start = reader.offset();
        self.room = self.room.checked_sub(entry.size).ok_or_else(|| {
            let what = wording!("its files need more temporary space than allowed", "其中的文件超出允许的临时空间");
            Error::at(start, ErrorKind::OverBudget(what))
                .with_remedy(wording!("give a larger --max-temp", "请调大 --max-temp"))
        })?;
        self.done.bytes += entry.size;
        self.files += 1;
        if self.files > MAX_FILES {
            let what =
                wording!("more than {MAX_FILES} snapshots in one archive", "一个归档中的快照超过 {MAX_FILES} 个");
            return Err(Error::unsupported(start, what));
        }
        let path = self.folder.join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| {
            // A later entry of the same name replaces an earlier one, as in every archiver.
            let mut file = File::create(&path)?;
            io::copy(reader, &mut file)?;
            file.flush()
        });
        written.map_err(|error| match error.downcast::<Error>() {
            Ok(error) => error,
            Err(error) => Error::at(start, ErrorKind::Io(error)),
        })
    }
}

/// Returns whether an entry is named like a snapshot, the manifest of one, or a report.
fn is_wanted(path: &[u8]) -> bool {
    let path = path_from(path);
    // Attributes of a file, which macOS stores beside it.
    if path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"._")) {
        return false;
    }
    is_report(&path) || [".manifest"].iter().chain(&ENDINGS).any(|ending| has_ending(&path, ending))
}

/// Returns the path of an entry below the folder, or why it has none.
fn place_of(entry: &TarEntry) -> std::result::Result<PathBuf, Wording> {
    match entry.kind {
        TarKind::File => {}
        TarKind::Sparse => return Err(wording!("stored with holes", "以稀疏文件形式存储")),
        TarKind::Directory | TarKind::Other => return Err(wording!("a link or device", "链接或设备")),
    }
    let outside = || wording!("its path leads out of the archive", "其路径指向归档之外");
    let mut path = PathBuf::new();
    for part in entry.path.split(|&byte| byte == b'/') {
        let name = path_from(part);
        let is_plain = name.components().eq([std::path::Component::Normal(name.as_os_str())]);
        match part {
            b"." => {}
            // An empty first part is an absolute path.
            b"" if !path.as_os_str().is_empty() => {}
            _ if is_plain => path.push(name),
            _ => return Err(outside()),
        }
    }
    match path.components().count() {
        0 => Err(outside()),
        parts if parts > MAX_FOLDERS + 1 => Err(wording!("nested in too many directories", "目录层级过多")),
        _ => Ok(path),
    }
}

#[cfg(unix)]
fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(<OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_from(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::new(String::from_utf8_lossy(bytes).as_ref()))
}

#[cfg(test)]
mod tests;
