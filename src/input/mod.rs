//! Where the bytes of snapshots come from: [`resolve()`] turns what the user named into [`Input`]s, [`Input::open`] makes
//! the bytes of one readable, in a map or through a sliding window.
//!
//! Nothing here knows the snapshot format beyond its magic.

pub mod block;
pub mod body;
pub mod container;
pub mod decompress;
mod lz4;
mod manifest;
pub mod mmap;
pub mod resolve;
pub mod source;
mod spill;
pub mod stream;

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

pub use block::Block;
pub use body::{Body, Mapped};
pub use container::Container;
pub use decompress::Compression;
pub use mmap::Map;
pub use resolve::{Resolved, resolve, resolve_each};
pub use stream::Window;

use crate::error::{Error, ErrorKind, Result};
use container::ContainerStep;
use decompress::Decompressed;
use source::{Counted, Plain, Source, read_some};

/// One snapshot to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// What users call it: the path as they gave it, or `<stdin>`.
    pub name: String,
    /// Where its bytes are.
    pub location: Location,
    /// For the base of a multi-part append-only file: bytes of the commands that follow in other files.
    pub following_bytes: Option<u64>,
    /// Whether it is the base file of a multi-part append-only file.
    pub multi_part: bool,
}

/// Where the bytes of an input are.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Location {
    /// The standard input.
    Stdin,
    /// A file, a pipe or a device with a name.
    File(PathBuf),
}

/// How to open an input.
#[derive(Debug, Clone)]
pub struct OpenOptions {
    /// Whether a regular file that is not compressed may be mapped.
    pub mmap: bool,
    /// Where records that do not fit the window go. On a disk, best not on one kept in memory.
    pub spool_dir: PathBuf,
    /// How many bytes a window may keep in memory: [`Window::DEFAULT_LIMIT`] unless there is a reason.
    pub window: usize,
}

/// An input whose bytes can be read, and what is known of it so far.
pub struct Opened {
    /// The bytes.
    pub body: Body,
    /// What the snapshot is wrapped in.
    pub container: Container,
    /// Bytes of the file as it lies on disk; unknown for a pipe.
    pub size: Option<u64>,
    /// What was taken off.
    pub compression: Option<Compression>,
    /// How many of these bytes have been read so far, whichever thread reads them. Stays 0 for a map: there the offset
    /// of the reader says it.
    pub consumed: Arc<AtomicU64>,
}

impl Input {
    /// The standard input.
    pub fn stdin() -> Input {
        Input { name: "<stdin>".to_owned(), location: Location::Stdin, following_bytes: None, multi_part: false }
    }

    /// The file at `path`.
    pub fn file(path: PathBuf) -> Input {
        let name = path.display().to_string();
        Input { name, location: Location::File(path), following_bytes: None, multi_part: false }
    }

    /// Whether it can be opened a second time and gives the same bytes: a regular file, no pipe.
    pub fn is_reopenable(&self) -> bool {
        matches!(&self.location, Location::File(path) if path.is_file())
    }

    /// Makes the bytes readable and looks at the first of them. Errors name the input.
    pub fn open(&self, options: &OpenOptions) -> Result<Opened> {
        let opened = match &self.location {
            Location::Stdin => open_reader(io::stdin(), None, options),
            Location::File(path) => open_file(path, options),
        };
        opened.map_err(|error| error.in_file(&self.name))
    }
}

fn open_file(path: &PathBuf, options: &OpenOptions) -> Result<Opened> {
    let file = File::open(path)?;
    let metadata = file.metadata()?;
    if metadata.is_dir() {
        return Err(Error::usage("a directory where a file is expected"));
    }
    if !metadata.is_file() {
        return open_reader(file, None, options);
    }
    let size = Some(metadata.len());
    // What cannot be mapped (too long for the address space, a file system without maps) is read instead. So is what
    // claims to be empty: some of these have bytes all the same.
    let len = usize::try_from(metadata.len()).unwrap_or(0);
    let Some(bytes) = Some(len).filter(|&len| options.mmap && len > 0).and_then(|len| Map::new(&file, len).ok()) else {
        return open_reader(file, size, options);
    };
    if Compression::recognise(&bytes)?.is_some() {
        drop(bytes);
        return open_reader(file, size, options);
    }
    match container::recognise(&bytes, true)? {
        ContainerStep::Found { container, start } => {
            let body = Body::Mapped(Mapped::new(bytes, start));
            Ok(Opened { body, container, size, compression: None, consumed: Arc::default() })
        }
        ContainerStep::Needs(_) => Err(undecided()),
    }
}

fn open_reader(reader: impl Read + Send + 'static, size: Option<u64>, options: &OpenOptions) -> Result<Opened> {
    let consumed = Arc::new(AtomicU64::new(0));
    let mut reader = Counted { reader, count: Arc::clone(&consumed) };
    let head = read_head(&mut reader).map_err(|error| Error::at(0, ErrorKind::Io(error)))?;
    let compression = Compression::recognise(&head)?;
    let whole = Cursor::new(head).chain(reader);
    let source: Box<dyn Source> = match compression {
        Some(compression) => Box::new(Decompressed::start(compression, whole)?),
        None => Box::new(Plain(whole)),
    };
    let mut window = Window::new(source, options.window, options.spool_dir.clone());
    let (container, start) = loop {
        match container::recognise(window.bytes(), window.ended())? {
            ContainerStep::Found { container, start } => break (container, start),
            ContainerStep::Needs(_) if window.ended() => return Err(undecided()),
            ContainerStep::Needs(needed) => window.fill(u64::try_from(needed).unwrap_or(u64::MAX))?,
        };
    };
    window.skip(start);
    Ok(Opened { body: Body::Stream(window), container, size, compression, consumed })
}

/// The first bytes, as many as it takes to tell a compression: fewer only at the end.
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

/// Whole files are always decided upon; this keeps a mistake there from becoming an endless loop.
fn undecided() -> Error {
    Error::at(0, ErrorKind::NotASnapshot("not a snapshot".to_owned()))
}

#[cfg(test)]
#[path = "open_tests.rs"]
mod tests;
