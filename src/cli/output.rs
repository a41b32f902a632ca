//! Destination of results: standard output, or a file that is replaced atomically.

use std::fs::{self, File, Metadata, Permissions};
use std::io::{self, BufWriter, IsTerminal, Stdout, Write};
use std::path::{Path, PathBuf};

use anstream::{AutoStream, ColorChoice};

use super::args::{OutputArgs, TextFormat};
use super::destinations::{Destination, Destinations};
use super::pager::Pager;
use super::sources::{Sources, names_stdout};
use super::temporary::TemporaryFile;
use crate::error::{Error, ErrorKind, Result};
use crate::input::object::shown;
use crate::input::{OpenOptions, Stores, Target, as_address, folder_of, shown_path};
use crate::render::escape_filter::{EscapeFilter, Escapes};

/// Destination of a command's results. On a terminal they pass a [filter](EscapeFilter).
#[derive(Debug)]
pub struct Output {
    place: Place,
    filter: Option<EscapeFilter>,
    /// Path of a file, for messages.
    name: Option<String>,
}

/// Kinds of destinations.
#[derive(Debug)]
enum Place {
    /// Standard output, buffered.
    Stdout(BufWriter<Stdout>),
    /// Regular file, complete under its name or not there at all.
    File(BufWriter<TemporaryFile>, Box<Replacement>),
    /// Device or named pipe, written directly.
    Device(BufWriter<File>),
    /// Terminal behind a pager.
    Pager(Pager),
    /// Object in a store, collected in an unnamed temporary file until it is complete.
    Object(BufWriter<Spool>, Box<Target>),
}

/// Unnamed temporary file of limited size.
#[derive(Debug)]
struct Spool {
    file: File,
    /// Maximum size.
    most: u64,
    /// Bytes left up to it.
    left: u64,
}

/// File that an output replaces when it is complete.
#[derive(Debug)]
pub struct Replacement {
    /// Its path, with links followed.
    path: PathBuf,
    /// The file that is there now.
    earlier: Option<Metadata>,
    private: bool,
}

/// Returns how a terminal shows what does not show by itself in a format.
pub fn escapes(format: TextFormat) -> Escapes {
    match format {
        TextFormat::Text => Escapes::Styled,
        TextFormat::Json => Escapes::Json,
    }
}

/// How the outputs of a command may be written.
#[derive(Debug)]
pub struct Outlet {
    sources: Sources,
    destinations: Destinations,
    force: bool,
    private: bool,
    /// Folder and maximum size of temporary files.
    temporary: (PathBuf, u64),
}

impl Outlet {
    /// Returns an outlet that refuses to write over `sources`.
    pub fn new(args: &OutputArgs, sources: Sources) -> Outlet {
        let OutputArgs { force, private, .. } = *args;
        let temporary = (std::env::temp_dir(), u64::MAX);
        Outlet { sources, destinations: Destinations::default(), force, private, temporary }
    }

    /// Has temporary files follow the flags for those of inputs.
    #[must_use]
    pub fn with_temporary(self, options: &OpenOptions) -> Outlet {
        Outlet { temporary: (options.spool_dir.clone(), options.budget.temp), ..self }
    }

    /// Returns an outlet with default flags.
    pub fn of(sources: Sources) -> Outlet {
        Outlet::new(&OutputArgs::default(), sources)
    }

    /// Opens the output of `-o`, or standard output. Nothing is written over a file that the command reads or that another of
    /// its outputs goes to, nor, without `--force`, over any snapshot.
    pub fn open(&self, path: Option<&Path>) -> Result<Output> {
        let Some(path) = path.filter(|path| !names_stdout(path)) else {
            self.sources.refuse_stdout()?;
            self.destinations.add(Destination::of_stdout(), "standard output")?;
            return Ok(Output::new(Place::Stdout(BufWriter::with_capacity(64 << 10, io::stdout()))));
        };
        if let Some(address) = as_address(path) {
            // Refusals name the object themselves.
            return self.open_object(address).map_err(|error| match error.kind() {
                ErrorKind::Usage(_) => error,
                _ => error.in_file(&shown(address)),
            });
        }
        self.sources.refuse(path)?;
        if !self.force {
            super::sources::refuse_snapshot(path)?;
        }
        let destination = followed(path).ok().and_then(|path| Destination::file(&path));
        self.destinations.add(destination, &shown_path(path))?;
        match self.create(path) {
            Ok(output) => Ok(Output { name: Some(shown_path(path)), ..output }),
            Err(error) => Err(unwritable(path, error)),
        }
    }

    /// Opens an object for writing, under the same conditions.
    fn open_object(&self, address: &str) -> Result<Output> {
        let target = Stores::default().target(address)?;
        self.sources.refuse_object(target.address())?;
        if !self.force {
            super::sources::refuse_object_with_snapshot(&target)?;
        }
        let name = target.address().to_string();
        self.destinations.add(Some(Destination::Object(target.address().whole())), &name)?;
        let file = BufWriter::with_capacity(64 << 10, self.spool()?);
        Ok(Output { name: Some(name), ..Output::new(Place::Object(file, Box::new(target))) })
    }

    fn spool(&self) -> io::Result<Spool> {
        let (folder, most) = &self.temporary;
        Ok(Spool { file: crate::input::whole::temporary_file(folder)?, most: *most, left: *most })
    }

    fn create(&self, path: &Path) -> io::Result<Output> {
        let earlier = match path.metadata() {
            // Renaming the complete file would fail only after the others have their names.
            Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return Err(error),
            earlier => earlier.ok(),
        };
        if earlier.as_ref().is_some_and(|earlier| !earlier.is_file()) {
            return Ok(Output::new(Place::Device(BufWriter::new(File::options().write(true).open(path)?))));
        }
        let path = followed(path)?;
        let file = TemporaryFile::new_in(folder_of(&path), permissions(earlier.is_some() || self.private))?;
        let replacement = Box::new(Replacement { path, earlier, private: self.private });
        Ok(Output::new(Place::File(BufWriter::with_capacity(64 << 10, file), replacement)))
    }
}

/// Names the output that cannot be written, and its folder if that is missing. The system names the temporary file instead.
fn unwritable(path: &Path, error: io::Error) -> Error {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.exists());
    let hint = match folder {
        Some(folder) => format!("cannot write the output file: there is no directory {}", shown_path(folder)),
        None => "cannot write the output file".to_owned(),
    };
    let (said, kind) = (error.to_string(), error.kind());
    let error = match said.rsplit_once(" at path ") {
        // With its number it is worded as any other.
        Some((reason, _)) => match reason.rsplit_once("(os error ").map(|(_, code)| code.trim_end_matches(')').parse())
        {
            Some(Ok(code)) => io::Error::from_raw_os_error(code),
            _ => io::Error::new(kind, reason.to_owned()),
        },
        None => error,
    };
    Error::from(error).in_file(&shown_path(path)).with_hint(hint)
}

/// Names the file that an error is about, unless the write is repeated. Whoever closes standard output wants no more of it; a named
/// pipe that is closed has not got its output.
fn named(name: Option<&str>, error: io::Error) -> io::Error {
    match (name, error.kind()) {
        (None, _) | (_, io::ErrorKind::Interrupted) => error,
        (Some(name), io::ErrorKind::BrokenPipe) => io::Error::other(format!("{name}: its reader has closed the pipe")),
        (Some(name), kind) => io::Error::new(kind, format!("{name}: {error}")),
    }
}

/// Returns the permissions of a new file: those of the owner only, or those that the umask leaves.
#[cfg(unix)]
fn permissions(private: bool) -> Option<Permissions> {
    use std::os::unix::fs::PermissionsExt;
    Some(Permissions::from_mode(if private { 0o600 } else { 0o666 }))
}

#[cfg(not(unix))]
fn permissions(_: bool) -> Option<Permissions> {
    None
}

/// Follows links to the file at their end, which need not exist.
fn followed(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MAX_LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        if !path.is_symlink() {
            return Ok(path);
        }
        let target = fs::read_link(&path)?;
        path = match path.parent() {
            Some(folder) => folder.join(target),
            None => target,
        };
    }
    Err(io::Error::other("too many levels of symbolic links"))
}

impl Replacement {
    /// Gives a complete file its final name.
    fn finish(self, file: TemporaryFile) -> io::Result<()> {
        if let Some(earlier) = &self.earlier {
            keep_mode(file.file()?, earlier, self.private)?;
        }
        file.persist(&self.path)
    }
}

/// Gives `file` the owner and the mode of the file that it replaces, as far as this user may.
#[cfg(unix)]
fn keep_mode(file: &File, earlier: &Metadata, private: bool) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let (owner, group) = (earlier.uid(), earlier.gid());
    let own = file.metadata()?;
    let has_group = own.gid() == group || fchown(file, None, Some(group)).is_ok();
    if own.uid() != owner {
        // Only the administrator may give a file away.
        let _ = fchown(file, Some(owner), None);
    }
    let mut mode = earlier.permissions().mode() & 0o777;
    if !has_group {
        // The new group gets no more than everybody.
        mode &= !0o070 | (mode & 0o007) << 3;
    }
    if private {
        mode &= 0o700;
    }
    file.set_permissions(Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn keep_mode(file: &File, earlier: &Metadata, _: bool) -> io::Result<()> {
    file.set_permissions(earlier.permissions())
}

impl Output {
    fn new(place: Place) -> Output {
        let filter = place.is_terminal().then(EscapeFilter::default);
        Output { place, filter, name: None }
    }

    /// Sets how a terminal shows what does not show by itself.
    pub fn set_escapes(&mut self, escapes: Escapes) {
        self.filter.iter_mut().for_each(|filter| filter.set(escapes));
    }

    /// Writes a byte order mark, which tells spreadsheet programs that the text is UTF-8. A terminal needs none.
    pub fn write_bom(&mut self) -> io::Result<()> {
        if self.is_terminal() { Ok(()) } else { self.write_all("\u{feff}".as_bytes()) }
    }

    /// Flushes the output and renames a file to its final name.
    pub fn finish(mut self) -> io::Result<()> {
        let name = self.name.take();
        self.complete().map_err(|error| named(name.as_deref(), error))
    }

    fn complete(mut self) -> io::Result<()> {
        if let Some(filter) = &mut self.filter {
            filter.finish(&mut self.place)?;
        }
        match self.place {
            Place::Stdout(mut out) => out.flush(),
            Place::Device(mut out) => out.flush(),
            Place::Pager(out) => out.finish(),
            Place::File(out, replacement) => {
                replacement.finish(out.into_inner().map_err(io::IntoInnerError::into_error)?)
            }
            Place::Object(out, target) => {
                let mut spool = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                target.put(&mut spool.file).map_err(|error| io::Error::other(error.message()))
            }
        }
    }

    /// Lets a pager show what standard output gets, if it is a terminal and a pager can be started.
    pub fn start_pager(&mut self) {
        if matches!(self.place, Place::Stdout(_))
            && self.is_terminal()
            && let Some(pager) = Pager::start()
        {
            self.place = Place::Pager(pager);
        }
    }

    /// Returns true if the output is a named pipe or a device, which gets bytes as they are written.
    pub fn is_stream(&self) -> bool {
        matches!(self.place, Place::Device(_))
    }

    /// Returns true if the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        self.filter.is_some()
    }

    /// Returns true for standard output, behind a pager or not.
    pub fn is_stdout(&self) -> bool {
        matches!(self.place, Place::Stdout(_) | Place::Pager(_))
    }

    /// Returns true if colours suit the output, by the environment and by what it is.
    pub fn suits_colour(&self) -> bool {
        let choice = match &self.place {
            Place::Stdout(_) | Place::Pager(_) => AutoStream::choice(&io::stdout()),
            Place::Device(out) => AutoStream::choice(out.get_ref()),
            Place::File(..) | Place::Object(..) => ColorChoice::Never,
        };
        let is = |name: &str, value: &str| std::env::var_os(name).is_some_and(|set| set == value);
        // The crate forces colour by any value of the variable, by 0, too.
        let is_unforced = is("CLICOLOR_FORCE", "0");
        let suits = || self.place.is_terminal() && !is("CLICOLOR", "0") && !is("TERM", "dumb");
        choice != ColorChoice::Never && (!is_unforced || suits())
    }
}

impl Write for Spool {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.len() as u64 > self.left {
            let what = format!("needs a temporary file of more than {} bytes: give a larger --max-temp", self.most);
            return Err(io::Error::new(io::ErrorKind::StorageFull, what));
        }
        let written = self.file.write(bytes)?;
        self.left = self.left.saturating_sub(written as u64);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.filter {
            Some(filter) => filter.pass(bytes, &mut self.place).map(|()| bytes.len()),
            None => self.place.write(bytes),
        }
        .map_err(|error| named(self.name.as_deref(), error))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.place.flush().map_err(|error| named(self.name.as_deref(), error))
    }
}

impl Place {
    fn is_terminal(&self) -> bool {
        match self {
            Place::Stdout(_) => io::stdout().is_terminal(),
            Place::Device(out) => out.get_ref().is_terminal(),
            Place::Pager(_) => true,
            Place::File(..) | Place::Object(..) => false,
        }
    }
}

impl Write for Place {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Place::Stdout(out) => out.write(bytes),
            Place::File(out, _) => out.write(bytes),
            Place::Device(out) => out.write(bytes),
            Place::Pager(out) => out.write(bytes),
            Place::Object(out, _) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Place::Stdout(out) => out.flush(),
            Place::File(out, _) => out.flush(),
            Place::Device(out) => out.flush(),
            Place::Pager(out) => out.flush(),
            Place::Object(out, _) => out.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn temporary_files_of_objects_follow_the_flags_for_them() {
        let folder = tempfile::tempdir().unwrap();
        let outlet = |spool_dir: PathBuf, temp: u64| {
            let budget = crate::limits::Budget { temp, ..crate::limits::Budget::default() };
            let options = OpenOptions { mmap: false, spool_dir, window: 1 << 20, budget, inflaters: 1 };
            Outlet::of(Sources::default()).with_temporary(&options)
        };
        assert!(outlet(folder.path().join("missing"), 4).spool().is_err());
        let mut spool = outlet(folder.path().to_owned(), 4).spool().unwrap();
        spool.write_all(b"four").unwrap();
        let error = spool.write_all(b"!").unwrap_err();
        assert!(error.to_string().contains("more than 4 bytes: give a larger --max-temp"), "{error}");
        assert_eq!(spool.file.metadata().unwrap().len(), 4);
    }
}
