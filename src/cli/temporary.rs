//! Temporary files with a name, none of which is left behind: not after an error, and not after a signal that ends the program.

use std::collections::BTreeSet;
use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{NamedTempFile, TempDir};

use crate::input::whole::in_temporary;

/// Temporary files and folders that exist now. Held while one is created or renamed, so that a signal finds all or none of it.
static NAMED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn named() -> MutexGuard<'static, BTreeSet<PathBuf>> {
    NAMED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Temporary file that becomes an output when it is complete.
#[derive(Debug)]
pub struct TemporaryFile(Option<NamedTempFile>);

impl TemporaryFile {
    /// Creates a file in `folder` with these permissions, less those that the umask takes away.
    pub fn new_in(folder: &Path, permissions: Option<Permissions>) -> io::Result<TemporaryFile> {
        signals::watch();
        let mut builder = tempfile::Builder::new();
        if let Some(permissions) = permissions {
            builder.permissions(permissions);
        }
        let mut named = named();
        let file = builder.prefix(".rdblens-").tempfile_in(folder)?;
        named.insert(file.path().to_owned());
        Ok(TemporaryFile(Some(file)))
    }

    /// Returns the open file.
    pub fn file(&self) -> io::Result<&File> {
        self.0.as_ref().map(NamedTempFile::as_file).ok_or_else(gone)
    }

    /// Renames the file to its final name, replacing what is there.
    pub fn persist(mut self, path: &Path) -> io::Result<()> {
        let file = self.0.take().ok_or_else(gone)?;
        let mut named = named();
        let temporary = file.path().to_owned();
        let renamed = file.persist(path);
        named.remove(&temporary);
        renamed.map(|_| ()).map_err(|error| error.error)
    }
}

/// Error for a file that has got its final name. Never returned: that takes the file.
fn gone() -> io::Error {
    io::ErrorKind::NotFound.into()
}

impl Write for TemporaryFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.as_mut().ok_or_else(gone)?.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.as_mut().ok_or_else(gone)?.flush()
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(file) = self.0.take() {
            let mut named = named();
            let path = file.path().to_owned();
            drop(file);
            named.remove(&path);
        }
    }
}

/// Temporary folder that is removed with all that is in it.
#[derive(Debug)]
pub struct TemporaryFolder(Option<TempDir>);

impl TemporaryFolder {
    /// Creates a folder in `folder`.
    pub fn new_in(folder: &Path) -> io::Result<TemporaryFolder> {
        signals::watch();
        let mut named = named();
        let created = tempfile::Builder::new().prefix(".rdblens-").tempdir_in(folder);
        let created = created.map_err(|error| in_temporary(folder, &error))?;
        named.insert(created.path().to_owned());
        Ok(TemporaryFolder(Some(created)))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        self.0.as_ref().map_or(Path::new(""), TempDir::path)
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(folder) = self.0.take() {
            let mut named = named();
            let path = folder.path().to_owned();
            drop(folder);
            named.remove(&path);
        }
    }
}

/// Removes all temporary files and folders. None is created before the guard is dropped.
#[cfg(unix)]
pub fn remove_all() -> impl Drop {
    let named = named();
    for path in &*named {
        if std::fs::remove_file(path).is_err() {
            let _ = std::fs::remove_dir_all(path);
        }
    }
    named
}

#[cfg(unix)]
pub use signals::report_large_files;

/// Does nothing: only Unix has the signal.
#[cfg(not(unix))]
pub fn report_large_files() {}

#[cfg(not(unix))]
mod signals {
    pub fn watch() {}
}

#[cfg(unix)]
mod signals {
    use std::ffi::c_int;
    use std::sync::atomic::AtomicBool;
    use std::sync::{Arc, Once, mpsc};
    use std::{fs, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::emulate_default_handler;

    /// Lets a write beyond the limit of file sizes fail with an error instead of ending the program.
    pub fn report_large_files() {
        // Without the handler, the signal ends the program as before.
        let _ = signal_hook::flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false)));
    }

    /// Starts the thread that removes the temporary files when a signal ends the program, unless it runs already.
    pub fn watch() {
        static WATCHED: Once = Once::new();
        WATCHED.call_once(|| {
            let (ready, is_ready) = mpsc::channel();
            let watcher = move || {
                let signals = Signals::new(unignored());
                // The receiver waits for it.
                let _ = ready.send(());
                if let Ok(mut signals) = signals {
                    signals.forever().for_each(end);
                }
            };
            // Without the thread, no handler is in place and signals end the program as before.
            if thread::Builder::new().name("signals".to_owned()).spawn(watcher).is_ok() {
                let _ = is_ready.recv();
            }
        });
    }

    /// Removes the temporary files and ends the program as the signal would have.
    fn end(signal: c_int) {
        // Held to the end, so that no file is created in between.
        let _none = super::remove_all();
        // Does not return for these signals.
        let _ = emulate_default_handler(signal);
    }

    /// Returns the signals that end the program. Those that were ignored when it was started, as under `nohup`, stay ignored.
    fn unignored() -> Vec<c_int> {
        let ignored = fs::read_to_string("/proc/self/status").ok().and_then(|status| ignored(&status));
        let signals: &[c_int] = match ignored {
            Some(_) => &[SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU],
            // Only Linux tells whether `nohup` is in force.
            None => &[SIGINT, SIGTERM],
        };
        let ignored = ignored.unwrap_or_default();
        signals.iter().copied().filter(|signal| ignored >> (signal - 1) & 1 == 0).collect()
    }

    /// Returns the ignored signals, one bit each, from the text of `/proc/self/status`.
    fn ignored(status: &str) -> Option<u64> {
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(mask.trim(), 16).ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn ignored_signals_are_read_from_the_status() {
            let status = "Name:\trdblens\nSigIgn:\t0000000000001001\nSigCgt:\t0000000000000000\n";
            assert_eq!(ignored(status), Some(0x1001));
            assert_eq!(ignored("Name:\tx\n"), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_file_is_removed_and_a_persisted_one_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let (kept, dropped) = [(); 2].map(|()| TemporaryFile::new_in(folder.path(), None).unwrap()).into();
        let paths = || std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).collect::<Vec<_>>();
        assert!(paths().iter().all(|path| named().contains(path)) && paths().len() == 2);
        drop(dropped);
        let target = folder.path().join("report");
        kept.persist(&target).unwrap();
        assert_eq!(paths(), [target]);
        assert!(!named().iter().any(|path| path.starts_with(folder.path())));
    }
}
