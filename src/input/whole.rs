//! A snapshot as one memory map, however it is stored: for salvage, which reads back and forth.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Write};
use std::path::Path;

use super::stream::Window;
use super::{Body, Compression, Container, Input, Map, Mapped, OpenOptions, Opened, OpenedFile, shown_path};
use crate::error::{Error, ErrorKind, Result};
use crate::wording::wording;

/// Size of one read from a stream.
const STEP: u64 = 1 << 20;

/// Opened input whose bytes are all available.
#[derive(Debug)]
pub struct Whole {
    /// The bytes, positioned at the magic.
    pub map: Mapped,
    /// Container of the snapshot.
    pub container: Container,
    /// Size of the file on disk; unknown for a pipe.
    pub size: Option<u64>,
    /// Compression of the file, if any.
    pub compression: Option<Compression>,
    /// Read error that cut the bytes short, such as damage in a compressed file.
    pub failure: Option<Error>,
    /// The file as it was when it was opened; `None` for pipes.
    pub file: Option<OpenedFile>,
}

impl Input {
    /// Opens the input; what cannot be mapped is copied to an unnamed temporary file in the spool directory.
    pub fn open_whole(&self, options: &OpenOptions) -> Result<Whole> {
        let Opened { body, container, size, compression, consumed: _, file } = self.open(options)?;
        let (map, failure) = match body {
            Body::Mapped(map) => (map, None),
            Body::Stream(mut window) => spool(&mut window, options).map_err(|error| error.in_file(&self.name))?,
        };
        Ok(Whole { map, container, size, compression, failure, file })
    }
}

/// Creates an unnamed temporary file. Errors name the folder, and the flag that names another.
pub fn temporary_file(dir: &Path) -> io::Result<File> {
    tempfile::tempfile_in(dir).map_err(|error| in_temporary(dir, &error))
}

/// Says that nothing can be created in the folder of temporary files, and which flag names another.
pub fn in_temporary(dir: &Path, error: &io::Error) -> io::Error {
    let (kind, said) = (error.kind(), error.to_string());
    // The system names a file that the user has not asked for.
    let said = said.rsplit_once(" at path ").map_or(said.as_str(), |(reason, _)| reason);
    let dir = shown_path(dir);
    io::Error::new(kind, format!("cannot create a temporary file in {dir}: {said}; --temp-dir names another directory"))
}

/// Copies a stream to a temporary file, at the same offsets. A failing source ends the copy.
pub(super) fn spool(window: &mut Window, options: &OpenOptions) -> Result<(Mapped, Option<Error>)> {
    let (start, most) = (window.offset(), options.budget.temporary_file());
    let mut out = BufWriter::new(temporary_file(&options.spool_dir)?);
    out.seek(SeekFrom::Start(start))?;
    let failure = loop {
        let more = window.fill(STEP);
        let ahead = u64::try_from(window.bytes().len()).unwrap_or(u64::MAX);
        if window.offset().saturating_add(ahead) > most {
            break Some(over_budget(window.offset(), most));
        }
        out.write_all(window.bytes())?;
        window.skip(window.bytes().len());
        match more {
            Ok(true) => {}
            Ok(false) => break None,
            Err(error) => break Some(error),
        }
    };
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    Ok((map_all(&file, start, window.offset())?, failure))
}

/// Error for an input whose copy would be larger than allowed; what was copied before is read.
fn over_budget(offset: u64, most: u64) -> Error {
    let what =
        wording!("the input needs a temporary copy of more than {most} bytes", "该输入需要超过 {most} 字节的临时副本");
    Error::at(offset, ErrorKind::OverBudget(what))
        .with_remedy(wording!("give a larger --max-temp", "请调大 --max-temp"))
}

fn map_all(file: &File, start: u64, end: u64) -> io::Result<Mapped> {
    file.set_len(end)?;
    let size = |bytes| usize::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
    Ok(Mapped::new(Map::new(file, size(end)?)?, size(start)?))
}

impl Mapped {
    /// Returns a copy in a temporary file with `change` xored onto the bytes from `at` on.
    pub fn changed(&self, at: usize, change: &[u8], dir: &Path) -> io::Result<Mapped> {
        let mut file = temporary_file(dir)?;
        file.write_all(&self.bytes)?;
        let end = at.saturating_add(change.len()).min(self.bytes.len());
        let old = self.bytes.get(at..end).unwrap_or_default();
        let new: Vec<u8> = old.iter().zip(change).map(|(old, change)| old ^ change).collect();
        file.seek(SeekFrom::Start(at as u64))?;
        file.write_all(&new)?;
        map_all(&file, self.start() as u64, self.bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits::Budget;
    use std::io::Read;

    #[test]
    fn missing_folder_of_temporary_files_is_named_with_its_flag() {
        let said = temporary_file(Path::new("no/such/folder")).unwrap_err().to_string();
        assert!(said.starts_with("cannot create a temporary file in no/such/folder: "), "{said}");
        assert!(said.ends_with("; --temp-dir names another directory") && !said.contains("/.tmp"), "{said}");
    }

    fn options(mmap: bool) -> OpenOptions {
        OpenOptions { mmap, spool_dir: std::env::temp_dir(), window: 1 << 20, budget: Budget::default(), inflaters: 1 }
    }

    #[test]
    fn streamed_file_equals_mapped_one() {
        let input = Input::file("testdata/dumps/shop.rdb".into());
        let (mapped, streamed) =
            (input.open_whole(&options(true)).unwrap(), input.open_whole(&options(false)).unwrap());
        assert!(*mapped.map.bytes == *streamed.map.bytes && streamed.failure.is_none());
        assert_eq!((mapped.map.start(), streamed.map.start()), (0, 0));
    }

    #[test]
    fn damaged_compression_keeps_what_was_read() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("cut.rdb.gz");
        let mut gzip = Vec::new();
        let dump = std::fs::read("testdata/dumps/shop.rdb").unwrap();
        flate2::read::GzEncoder::new(&dump[..], flate2::Compression::fast()).read_to_end(&mut gzip).unwrap();
        std::fs::write(&path, &gzip[..gzip.len() / 2]).unwrap();
        let whole = Input::file(path).open_whole(&options(true)).unwrap();
        assert!(whole.failure.is_some());
        assert!(whole.map.bytes.len() > dump.len() / 4 && dump.starts_with(&whole.map.bytes));
    }

    #[test]
    fn changed_copy_differs_in_one_place() {
        let mapped = Input::file("testdata/dumps/shop.rdb".into()).open_whole(&options(true)).unwrap().map;
        let changed = mapped.changed(3, &[1, 2], &std::env::temp_dir()).unwrap();
        assert_eq!(&changed.bytes[..6], b"REDHQ0");
        assert!(changed.bytes[6..] == mapped.bytes[6..]);
    }
}
