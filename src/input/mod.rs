//! Inputs: [`resolve()`] turns command line arguments into [`Input`]s, and [`Input::open`] makes the bytes of one readable,
//! memory-mapped or through a sliding window.
//!
//! Only the magic of the RDB format is known here.

pub mod archive;
pub mod block;
pub mod body;
pub mod container;
mod dated;
pub mod decompress;
mod file_id;
mod foreign;
mod gzip;
pub mod limited;
mod lz4;
mod manifest;
pub mod mmap;
mod network;
pub mod nights;
pub mod object;
pub mod resolve;
pub mod source;
mod spill;
mod state;
pub mod stream;
mod vcs;
pub mod whole;
mod zstd_frames;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
#[cfg(unix)]
use std::{io::Seek, os::fd::AsFd};

pub use block::Block;
pub use body::{Body, Mapped};
pub use container::Container;
pub use dated::undated;
pub use decompress::Compression;
pub use file_id::FileId;
pub use mmap::Map;
pub use object::{Object, StoreSettings, Stores, Target, as_address};
pub(crate) use resolve::shards::dragonfly_snapshot;
#[cfg(feature = "cli")]
pub use resolve::shards::drop_shards_of_summaries;
pub use resolve::{Resolved, SpecialFile, read_once, resolve, resolve_each, resolve_each_with, resolve_with};
pub use state::OpenedFile;
pub use stream::Window;

use crate::error::{Error, ErrorKind, Result};
use crate::limits::Budget;
use crate::wording::wording;
use container::ContainerStep;
use decompress::{DecoderLimits, Decompressed};
use source::{Counted, Peeked, Plain, Source, SourceReader, failure, read_some};

/// Snapshot to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Display name: the path as given (see [`shown_path`]), or `<stdin>`.
    pub name: String,
    /// Location of its bytes.
    pub location: Location,
    /// Size of the commands in the incremental files, for the base of a multi-part append-only file.
    pub following_bytes: Option<u64>,
    /// True if it is the base file of a multi-part append-only file.
    pub multi_part: bool,
    /// Files that belong to it, but are not read as snapshots: its manifest and the incremental files.
    pub beside: Vec<PathBuf>,
}

/// Location of the bytes of an input.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// Standard input.
    Stdin,
    /// A file, a pipe or a device with a name.
    File(PathBuf),
    /// An object in a store.
    Object(Box<Object>),
}

/// Options for opening an input.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// True if an uncompressed regular file may be memory-mapped.
    pub mmap: bool,
    /// Directory for records that do not fit the window; should be on disk, not on tmpfs.
    pub spool_dir: PathBuf,
    /// Number of bytes that a window may keep in memory, normally 64 MiB.
    pub window: usize,
    /// Memory and temporary space that may be taken.
    pub budget: Budget,
    /// Pieces of one gzip file that are inflated at a time, each by a thread, if it has many members.
    pub inflaters: usize,
}

/// Opened input and its properties.
pub struct Opened {
    /// The bytes.
    pub body: Body,
    /// Container of the snapshot.
    pub container: Container,
    /// Size of the file on disk; unknown for a pipe.
    pub size: Option<u64>,
    /// Compression of the file, if any.
    pub compression: Option<Compression>,
    /// Number of bytes of the file read so far, by any thread; stays 0 for a map, where the reader's offset tells it.
    pub consumed: Arc<AtomicU64>,
    /// The file as it was when it was opened; `None` for pipes.
    pub file: Option<OpenedFile>,
}

impl Input {
    /// Returns the input for standard input.
    pub fn stdin() -> Input {
        Input::new("<stdin>".to_owned(), Location::Stdin)
    }

    /// Returns the input for the file at `path`.
    pub fn file(path: PathBuf) -> Input {
        Input::new(shown_path(&path), Location::File(path))
    }

    fn new(name: String, location: Location) -> Input {
        Input { name, location, following_bytes: None, multi_part: false, beside: Vec::new() }
    }

    /// Returns whether it can be opened again and gives the same bytes, that is, it is a regular file or an object, which is
    /// asked for by its tag.
    pub fn is_reopenable(&self) -> bool {
        match &self.location {
            Location::Stdin => false,
            Location::File(path) => path.is_file(),
            Location::Object(_) => true,
        }
    }

    /// Returns the object, if it is in a store.
    pub fn object(&self) -> Option<&Object> {
        match &self.location {
            Location::Object(object) => Some(object.as_ref()),
            Location::Stdin | Location::File(_) => None,
        }
    }

    /// Opens the input and recognises compression and container by its first bytes. Errors name the input.
    pub fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let opened = match &self.location {
            Location::Stdin => match redirected() {
                Some(file) => open_file(file, &self.location, options),
                None => {
                    widen_pipe();
                    open_reader(io::stdin(), None, options)
                }
            },
            Location::File(path) => {
                File::open(path).map_err(Error::from).and_then(|file| open_file(file, &self.location, options))
            }
            Location::Object(object) => open_reader(object.reader(), Some(object.size()), options),
        };
        opened.map_err(|error| error.in_file(&self.name))
    }

    /// Returns a reader of the bytes as they are stored. Those of an object are fetched before, so that what fails is the store and not
    /// what reads them. Fails for files and objects of more than `limit` bytes.
    pub fn stored(&self, limit: u64) -> Result<Box<dyn Read>> {
        let open = || -> Result<Box<dyn Read>> {
            match &self.location {
                Location::Stdin => Ok(Box::new(io::stdin())),
                Location::File(path) => Ok(Box::new(BufReader::new(limited::open_at_most(path, limit)?))),
                Location::Object(object) => {
                    let bytes = limited::read_to_end_at_most(object.reader(), limit);
                    Ok(Box::new(Cursor::new(bytes.map_err(|error| failure(error, 0))?)))
                }
            }
        };
        open().map_err(|error| error.in_file(&self.name))
    }
}

/// Returns a path for messages and reports: as it is if it is UTF-8, otherwise with each byte that is not as `\xff`. An address is
/// without secrets: see [`object::shown`].
pub fn shown_path(path: &Path) -> String {
    let mut shown = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        shown.push_str(chunk.valid());
        shown.extend(chunk.invalid().iter().map(|byte| format!("\\x{byte:02x}")));
    }
    object::shown(&shown)
}

/// Returns the directory that a file is in: `.` if its path has only a name.
pub fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Returns the regular file that standard input is redirected to: it can be mapped, unless another process has read its start.
#[cfg(unix)]
fn redirected() -> Option<File> {
    let mut file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    let is_unread = file.metadata().is_ok_and(|it| it.is_file()) && file.stream_position().is_ok_and(|at| at == 0);
    is_unread.then_some(file)
}

#[cfg(not(unix))]
fn redirected() -> Option<File> {
    None
}

/// Lets a pipe hold more bytes, so that the program that writes them and this one wait for each other less often. Does nothing if
/// standard input is no pipe, or where the system allows no more.
fn widen_pipe() {
    #[cfg(target_os = "linux")]
    let _ = rustix::pipe::fcntl_setpipe_size(io::stdin(), crate::limits::PIPE_BYTES);
}

/// Returns the metadata of the regular file that standard input is redirected to.
fn redirected_metadata() -> Option<std::fs::Metadata> {
    #[cfg(unix)]
    return File::from(io::stdin().as_fd().try_clone_to_owned().ok()?).metadata().ok();
    #[cfg(not(unix))]
    None
}

fn open_file(file: File, location: &Location, options: &OpenOptions) -> Result<Opened> {
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::Unreadable(wording!(
            "expected a file, found a directory",
            "应为文件，实际是目录"
        ))));
    }
    if !metadata.is_file() {
        return open_reader(file, None, options);
    }
    let size = Some(metadata.len());
    // Stream files that cannot be mapped (too long for the address space, file system without mmap), and those that
    // report a size of 0, because some, as in /proc, have content all the same. So are files that may become shorter.
    let len = usize::try_from(metadata.len()).unwrap_or(0);
    let mapped = options.mmap && len > 0 && !network::is_remote(&file);
    let as_opened = |mapped| OpenedFile::new(location, &file, mapped);
    let Some(bytes) = Some(len).filter(|_| mapped).and_then(|len| Map::new(&file, len).ok()) else {
        let as_opened = as_opened(false);
        return open_reader(file, size, options).map(|opened| Opened { file: as_opened, ..opened });
    };
    if Compression::recognise(&bytes)?.is_some() {
        drop(bytes);
        let as_opened = as_opened(false);
        return open_reader(file, size, options).map(|opened| Opened { file: as_opened, ..opened });
    }
    match container::recognise(&bytes, true)? {
        ContainerStep::Found { container, start } => {
            let body = Body::Mapped(Mapped::new(bytes, start));
            Ok(Opened { body, container, size, compression: None, consumed: Arc::default(), file: as_opened(true) })
        }
        ContainerStep::Needs(_) => Err(undecided()),
    }
}

fn open_reader(reader: impl Read + Send + 'static, size: Option<u64>, options: &OpenOptions) -> Result<Opened> {
    let consumed = Arc::new(AtomicU64::new(0));
    let mut reader = Counted { reader, count: Arc::clone(&consumed) };
    let head = read_head(&mut reader).map_err(|error| failure(error, 0))?;
    let compression = Compression::recognise(&head)?;
    let whole = Cursor::new(head).chain(reader);
    let (source, compression) = match compression {
        None => (Box::new(Plain(whole)) as Box<dyn Source>, None),
        Some(compression) => {
            let limits = DecoderLimits { budget: options.budget, threads: options.inflaters };
            decompressed(compression, limits, whole)?
        }
    };
    let mut window = Window::new(source, options);
    let (container, start) = loop {
        match container::recognise(window.bytes(), window.ended())? {
            ContainerStep::Found { container, start } => break (container, start),
            ContainerStep::Needs(_) if window.ended() => return Err(undecided()),
            ContainerStep::Needs(needed) => window.fill(u64::try_from(needed).unwrap_or(u64::MAX))?,
        };
    };
    window.skip(start);
    Ok(Opened { body: Body::Stream(window), container, size, compression, consumed, file: None })
}

/// Starts the decompression of a file, and of an envelope of Valkey in it: backups are compressed whatever they are.
fn decompressed(
    compression: Compression,
    limits: DecoderLimits,
    file: impl Read + Send + 'static,
) -> Result<(Box<dyn Source>, Option<Compression>)> {
    let source: Box<dyn Source> = Box::new(Decompressed::start(compression, limits, file)?);
    if compression == Compression::Vcs {
        return Ok((source, Some(compression)));
    }
    let mut source = Peeked::new(source);
    if source.peek(Compression::HEAD)?.starts_with(vcs::MAGIC) && vcs::check(source.peek(Compression::HEAD)?).is_ok() {
        return Ok((
            Box::new(Decompressed::start(Compression::Vcs, limits, SourceReader::new(source))?),
            Some(compression),
        ));
    }
    Ok((Box::new(source), Some(compression)))
}

/// Reads enough bytes to recognise a compression, or fewer at the end of the input.
fn read_head(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = vec![0; Compression::HEAD];
    let mut filled = 0;
    while filled < head.len() {
        match read_some(reader, &mut head[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    head.truncate(filled);
    Ok(head)
}

/// Error for an undecided container. Never returned, since a complete file is always decided; it prevents an endless loop
/// in case of a bug.
fn undecided() -> Error {
    Error::at(0, ErrorKind::NotASnapshot(wording!("not a snapshot", "不是快照")))
}

#[cfg(test)]
mod tests;
