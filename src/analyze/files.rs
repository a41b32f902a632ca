//! Policies and stored reports that are given as files. Each is read up to a limit: a name may lead to a device without an end.

use std::io;
use std::path::Path;

use super::PolicySource;
use crate::error::{Error, Result};
use crate::input::limited::read_at_most;
use crate::input::resolve::missing;
use crate::input::{as_address, shown_path};
use crate::limits::{MAX_REPORT_BYTES, MAX_TEXT_BYTES};
use crate::report::NamedReport;

impl PolicySource {
    /// Returns the policy that an argument names: a file that ends in `.toml`, which is read, or a preset.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is larger than 16 MiB, or is in an object store.
    pub fn open(policy: impl AsRef<Path>) -> Result<PolicySource> {
        let policy = policy.as_ref();
        let name = shown_path(policy);
        if as_address(policy).is_some() {
            return Err(of_store(&name, "policies"));
        }
        if !policy.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
            return Ok(PolicySource::Preset(name));
        }
        let text = short_text(policy).map_err(|error| Error::from(error).in_file(&name))?;
        Ok(PolicySource::File { name, text })
    }
}

impl NamedReport {
    /// Reads a stored report, which goes by the last part of its path.
    ///
    /// # Errors
    ///
    /// Fails if the file cannot be read, is larger than 1 GiB, holds no report, or is in an object store.
    pub fn open(path: impl AsRef<Path>) -> Result<NamedReport> {
        let path = path.as_ref();
        // The last part of an address may hold a signature.
        let whole = shown_path(path);
        let name = Path::new(&whole).file_name().map_or_else(|| whole.clone(), |name| shown_path(Path::new(name)));
        NamedReport::open_as(path, &name)
    }

    /// Reads a stored report; `name` identifies it in other reports.
    pub(crate) fn open_as(path: &Path, name: &str) -> Result<NamedReport> {
        let shown = shown_path(path);
        let json = read_at_most(path, MAX_REPORT_BYTES).map_err(|error| unreadable_report(path, &shown, error))?;
        Ok(NamedReport { name: name.to_owned(), ..NamedReport::read(&json, &shown)? })
    }
}

/// Builds the error for a report that cannot be read, with "did you mean" suggestions.
pub(crate) fn unreadable_report(path: &Path, name: &str, error: io::Error) -> Error {
    if as_address(path).is_some() {
        return of_store(name, "stored reports");
    }
    match error.kind() {
        io::ErrorKind::NotFound => missing(path, error).in_file(name),
        _ => Error::from(error).in_file(name).with_hint("give a report written by `rdblens analyze --format json`"),
    }
}

/// Returns the error for an address where only a file of this kind is read.
fn of_store(name: &str, what: &str) -> Error {
    Error::usage(format!("{name}: {what} are read from files, not from stores")).with_hint("copy it to a file first")
}

/// Reads a file written by hand.
pub(crate) fn short_text(path: &Path) -> io::Result<String> {
    let text = String::from_utf8(read_at_most(path, MAX_TEXT_BYTES)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "stream did not contain valid UTF-8"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::ErrorKind;

    /// Makes a file of a tebibyte without content.
    fn endless(folder: &Path, name: &str) -> std::path::PathBuf {
        let path = folder.join(name);
        std::fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
        path
    }

    #[test]
    fn files_are_read_up_to_a_limit() {
        let folder = tempfile::tempdir().unwrap();
        let policy = PolicySource::open(endless(folder.path(), "team.TOML")).unwrap_err();
        assert!(policy.to_string().ends_with("team.TOML: larger than 16 MiB"), "{policy}");
        let report = NamedReport::open(endless(folder.path(), "old.json")).unwrap_err();
        assert!(report.to_string().contains("old.json: larger than 1024 MiB"), "{report}");
        #[cfg(unix)]
        {
            let device = folder.path().join("device.toml");
            std::os::unix::fs::symlink("/dev/zero", &device).unwrap();
            assert!(PolicySource::open(device).unwrap_err().to_string().contains("larger than 16 MiB"));
        }
    }

    #[test]
    fn addresses_are_refused_and_other_names_are_presets() {
        let policy = PolicySource::open("s3://b/x.toml").unwrap_err().to_string();
        assert!(policy.contains("policies are read from files"), "{policy}");
        let report = NamedReport::open("s3://b/x.json").unwrap_err().to_string();
        assert!(report.contains("stored reports are read from files"), "{report}");
        assert!(matches!(PolicySource::open("platform"), Ok(PolicySource::Preset(name)) if name == "platform"));
        let missing = PolicySource::open("missing.toml").unwrap_err();
        assert!(matches!(missing.kind(), ErrorKind::Io(_)) && missing.file() == Some("missing.toml"), "{missing}");
    }
}
