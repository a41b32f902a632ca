//! Where results go: standard output, or a file that appears whole or not at all.

use std::fs::File;
use std::io::{self, BufWriter, Stdout, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};
use crate::render::{Lang, TableOptions};

/// How a table looks there: as wide as a terminal and with emphasis, or the same everywhere.
pub fn table_options(out: &Output, rows: usize, lang: Lang) -> TableOptions {
    let plain = TableOptions { rows, lang, ..TableOptions::default() };
    if !out.is_terminal() {
        return plain;
    }
    let width = comfy_table::Table::new().width();
    TableOptions { width, ansi: std::env::var_os("NO_COLOR").is_none(), ..plain }
}

/// Where a command writes its results.
#[derive(Debug)]
pub enum Output {
    /// Standard output, buffered.
    Stdout(BufWriter<Stdout>),
    /// A file, written beside its place and renamed once it is whole: a dashboard never reads half a report.
    File(BufWriter<NamedTempFile>, PathBuf),
    /// A device or a pipe with a name, written as it is.
    Device(BufWriter<File>),
}

impl Output {
    /// Opens the output of `-o`, or standard output.
    pub fn open(path: Option<&Path>) -> Result<Output> {
        let Some(path) = path.filter(|path| path.as_os_str() != "-") else {
            return Ok(Output::Stdout(BufWriter::with_capacity(64 << 10, io::stdout())));
        };
        Output::create(path).map_err(|error| {
            Error::from(error).in_file(&path.display().to_string()).with_hint("the output file cannot be written")
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
            // Like any file that a program creates; the umask still applies.
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file = builder.prefix(".rdblens-").tempfile_in(folder)?;
        Ok(Output::File(BufWriter::with_capacity(64 << 10, file), path.to_owned()))
    }

    /// Ends the output: flushes it, and puts a file in its place.
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

    /// True when this is a terminal.
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
