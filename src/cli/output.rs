//! Destination of results: standard output, or a file that is replaced atomically.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Destination of a command's results.
#[derive(Debug)]
pub enum Output {
    /// Standard output, buffered.
    Stdout(BufWriter<Stdout>),
    /// Regular file, written to a temporary file in the same directory and renamed when complete, so that readers never see a
    /// partial report.
    File(BufWriter<NamedTempFile>, PathBuf),
    /// Device or named pipe, written directly.
    Device(BufWriter<File>),
}

impl Output {
    /// Opens the output of `-o`, or standard output.
    pub fn open(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return Ok(Output::Stdout(BufWriter::with_capacity(64 << 10, io::stdout())));
        };
        Output::create(path).map_err(|error| {
            Error::from(error).in_file(&path.display().to_string()).with_hint("cannot write the output file")
        })
    }

    fn create(path: &Path) -> io::Result<Output> {
        if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
            return Ok(Output::Device(BufWriter::new(File::options().write(true).open(path)?)));
        }
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            // Temporary files default to 0600. Use the usual mode of new files; the umask still applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.prefix(".rdblens-").tempfile_in(folder)?;
        Ok(Output::File(BufWriter::with_capacity(64 << 10, file), path.to_owned()))
    }

    /// Flushes the output and renames a file to its final name.
    pub fn finish(self) -> io::Result<()> {
        match self {
            Output::Stdout(mut out) => out.flush(),
            Output::Device(mut out) => out.flush(),
            Output::File(out, path) => {
                let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(path).map(|_| ()).map_err(|error| error.error)
            }
        }
    }

    /// Returns true if the output is a terminal.
    pub fn is_terminal(&self) -> bool {
        match self {
            Output::Stdout(_) => io::IsTerminal::is_terminal(&io::stdout()),
            Output::Device(out) => io::IsTerminal::is_terminal(out.get_ref()),
            Output::File(..) => false,
        }
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Output::Stdout(out) => out.write(bytes),
            Output::File(out, _) => out.write(bytes),
            Output::Device(out) => out.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Output::Stdout(out) => out.flush(),
            Output::File(out, _) => out.flush(),
            Output::Device(out) => out.flush(),
        }
    }
}
