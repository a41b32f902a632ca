//! Files that a command reads, so that no output is written over one of them.

#[cfg(unix)]
use std::fs::Metadata;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::args::{
    AnalyzeArgs, CapacityArgs, CheckArgs, CompareArgs, DictionaryArgs, KeysArgs, MergeArgs, PlanArgs, RenderArgs,
    RulesArgs, SalvageArgs, ShowArgs,
};
use super::parts;
use crate::error::{Error, ErrorKind, Result};
use crate::input::decompress::Compression;
use crate::input::object::Address;
use crate::input::resolve::local;
use crate::input::{FileId, Input, Location, OpenOptions, Target, as_address, nights, resolve_each, shown_path};
use crate::limits::Budget;

/// Files that a command reads.
#[derive(Debug, Default)]
pub struct Sources {
    files: Vec<Source>,
    /// Addresses of objects, prefixes and patterns, as given.
    addresses: Vec<String>,
}

#[derive(Debug)]
struct Source {
    id: FileId,
    name: String,
}

/// Returns the identity of a file that writing could destroy; terminals and other such devices have none.
pub(super) fn identity(path: &Path) -> Option<FileId> {
    let metadata = fs::metadata(path).ok()?;
    #[cfg(unix)]
    if std::os::unix::fs::FileTypeExt::is_char_device(&metadata.file_type()) {
        return None;
    }
    FileId::new(path, &metadata)
}

/// Returns the file that standard input or standard output is redirected to.
#[cfg(unix)]
fn redirected(stream: &impl std::os::fd::AsFd) -> Option<FileId> {
    let file = File::from(stream.as_fd().try_clone_to_owned().ok()?);
    FileId::new(Path::new(""), &file.metadata().ok().filter(Metadata::is_file)?)
}

/// Returns the file that standard output is redirected to.
#[cfg(unix)]
pub(super) fn stdout_file() -> Option<FileId> {
    redirected(&std::io::stdout())
}

/// Returns nothing: only Unix tells.
#[cfg(not(unix))]
pub(super) fn stdout_file() -> Option<FileId> {
    None
}

/// Returns true for the names of standard output.
pub fn names_stdout(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path.as_os_str() == *name)
}

impl Sources {
    /// Adds dumps, with the manifests and commands that belong to them.
    fn inputs<P: AsRef<Path>>(mut self, arguments: &[P]) -> Sources {
        self = self.addresses(arguments);
        let local: Vec<&Path> = local(arguments).collect();
        resolve_each(&local).inputs.iter().for_each(|input| self.add_input(input));
        self
    }

    /// Adds dumps and stored reports of several nights, which folders hold at any depth.
    fn nights<P: AsRef<Path>>(mut self, arguments: &[P]) -> Sources {
        for argument in arguments {
            // One by one, since archives are no nights before they are unpacked. What names no file is said when it is read.
            for night in nights::files(&[argument]).unwrap_or_default() {
                night.dump.iter().for_each(|input| self.add_input(input));
                self.add(&night.path);
            }
        }
        self.inputs(arguments)
    }

    fn add_input(&mut self, input: &Input) {
        match &input.location {
            Location::File(path) => self.add(path),
            #[cfg(unix)]
            Location::Stdin => {
                self.files.extend(redirected(&std::io::stdin()).map(|id| Source { id, name: input.name.clone() }));
            }
            #[cfg(not(unix))]
            Location::Stdin => {}
            Location::Object(_) => {}
        }
        input.beside.iter().for_each(|path| self.add(path));
    }

    /// Adds addresses of objects; other arguments are skipped.
    pub(super) fn addresses<P: AsRef<Path>>(mut self, arguments: &[P]) -> Sources {
        self.addresses.extend(arguments.iter().filter_map(|it| as_address(it.as_ref())).map(str::to_owned));
        self
    }

    /// Adds single files, such as policies; what is no file is skipped.
    pub(super) fn files<P: AsRef<Path>>(mut self, paths: impl IntoIterator<Item = P>) -> Sources {
        paths.into_iter().for_each(|path| self.add(path.as_ref()));
        self
    }

    fn add(&mut self, path: &Path) {
        self.files.extend(identity(path).map(|id| Source { id, name: shown_path(path) }));
    }

    fn find(&self, id: Option<FileId>) -> Option<&Source> {
        id.and_then(|id| self.files.iter().find(|source| source.id == id))
    }

    /// Refuses to write to a file that the command reads, under whatever name.
    pub fn refuse(&self, path: &Path) -> Result<()> {
        let Some(source) = self.find(identity(path)) else { return Ok(()) };
        let (path, source) = (shown_path(path), &source.name);
        let what = if *source == path { format!("{path} is") } else { format!("{path} is {source},") };
        Err(Error::usage(format!("the output {what} also read by this command"))
            .with_hint("nothing was written; give another file with -o"))
    }

    /// Refuses to write to an object that the command reads, by itself or among those of a prefix or pattern.
    pub fn refuse_object(&self, address: &Address) -> Result<()> {
        if !self.addresses.iter().any(|given| address.is_among(given)) {
            return Ok(());
        }
        Err(Error::usage(format!("the output {address} may also be read by this command"))
            .with_hint("nothing was written; give another address with -o"))
    }

    /// Refuses to write to standard output if it is redirected to a file that the command reads.
    pub fn refuse_stdout(&self) -> Result<()> {
        let Some(source) = self.find(stdout_file()) else { return Ok(()) };
        let what = format!("standard output is redirected to {}, which this command reads", source.name);
        Err(Error::usage(what).with_hint("redirect it to another file"))
    }
}

/// Refuses to write over a file that holds a snapshot or may hold one, compressed or not.
pub fn refuse_snapshot(path: &Path) -> Result<()> {
    let name = shown_path(path);
    if may_hold_snapshot(path) {
        Err(Error::usage(format!("{name} is a snapshot, an append-only file or an archive"))
            .with_hint("nothing was written; give another file with -o, or --force to overwrite it"))
    } else {
        Ok(())
    }
}

/// Refuses to write over an object that holds a snapshot or may hold one, as for files.
pub fn refuse_object_with_snapshot(target: &Target) -> Result<()> {
    let existing = target.existing();
    let existing = existing.map_err(|error| error.with_hint("--force writes without looking what is there"))?;
    match existing
        .is_some_and(|input| input.object().is_some_and(|it| it.size() > 0) && opens_as_snapshot(&input, true))
    {
        false => Ok(()),
        true => Err(Error::usage(format!("{} is a snapshot, an append-only file or an archive", target.address()))
            .with_hint("nothing was written; give another address with -o, or --force to overwrite it")),
    }
}

/// Returns true if a file begins like a snapshot, an append-only file or an archive, or cannot be read.
fn may_hold_snapshot(path: &Path) -> bool {
    if !path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0) {
        return false;
    }
    let mut head = [0; Compression::HEAD];
    let Ok(len) = File::open(path).and_then(|mut file| file.read(&mut head)) else { return true };
    // An asterisk begins the commands of an append-only file, but also a list in a text.
    if let [b'*', next, ..] = head[..len] {
        return next.is_ascii_digit();
    }
    opens_as_snapshot(&Input::file(path.to_owned()), len >= Compression::HEAD)
}

/// Returns true if an input is a snapshot, an append-only file or an archive, or cannot be read; `is_long` if it has the length of
/// a header.
fn opens_as_snapshot(input: &Input, is_long: bool) -> bool {
    let options = OpenOptions {
        mmap: false,
        spool_dir: std::env::temp_dir(),
        window: 1 << 20,
        budget: Budget::default(),
        inflaters: 1,
    };
    match input.open(&options) {
        Ok(_) => true,
        Err(error) => match error.kind() {
            ErrorKind::NotASnapshot(_) => false,
            // Too short for a header.
            ErrorKind::Truncated { .. } => is_long,
            ErrorKind::Corrupt(_)
            | ErrorKind::Unsupported(_)
            | ErrorKind::Limit(_)
            | ErrorKind::OverBudget(_)
            | ErrorKind::Checksum { .. }
            | ErrorKind::Io(_)
            | ErrorKind::Cancelled
            | ErrorKind::Unreadable(_)
            | ErrorKind::Usage(_) => true,
        },
    }
}

/// Arguments of a command that name files.
pub trait Reads {
    /// Returns all files that the command reads.
    fn sources(&self) -> Sources;
}

impl Reads for AnalyzeArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().inputs(&self.read.input.inputs).files(&self.read.server.server_config);
        let sources = sources.files([&self.policy.policy]).files(&self.policy.baseline).files(&self.policy.earlier);
        sources.files(&self.mask.mask_key)
    }
}

impl Reads for PlanArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().inputs(&self.read.input.inputs).files(&self.read.server.server_config);
        sources.files([&self.policy])
    }
}

impl Reads for MergeArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().addresses(&parts::with_globs(&self.parts)).addresses(&[&self.plan]);
        let sources = sources.files(parts::find_local(&self.parts)).files([&self.plan]);
        sources.files(&self.baseline).files(&self.earlier).files(&self.mask.mask_key)
    }
}

impl Reads for KeysArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().inputs(&self.read.input.inputs).files(&self.read.server.server_config);
        sources.files(&self.rows.policy).files(&self.rows.baseline).files(&self.mask.mask_key)
    }
}

impl Reads for CompareArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().nights(&self.read.input.inputs).inputs(&self.by_key.with);
        sources.files(&self.read.server.server_config).files([&self.policy]).files(&self.mask.mask_key)
    }
}

impl Reads for CapacityArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().inputs(&self.input.inputs).nights(&self.earlier);
        sources.files(&self.server.server_config).files(&self.cluster_nodes).files([&self.policy])
    }
}

impl Reads for DictionaryArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().inputs(&self.read.input.inputs).files(&self.read.server.server_config);
        sources.files(&self.policy)
    }
}

impl Reads for RenderArgs {
    fn sources(&self) -> Sources {
        Sources::default().inputs(&[&self.report])
    }
}

impl Reads for CheckArgs {
    fn sources(&self) -> Sources {
        Sources::default().inputs(&self.input.inputs)
    }
}

impl Reads for SalvageArgs {
    fn sources(&self) -> Sources {
        Sources::default().inputs(&[&self.input])
    }
}

impl Reads for ShowArgs {
    fn sources(&self) -> Sources {
        let sources = Sources::default().inputs(&[&self.input]).files(&self.server.server_config);
        sources.files([&self.policy])
    }
}

impl Reads for RulesArgs {
    fn sources(&self) -> Sources {
        Sources::default().files(&self.policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snapshots_and_archives_are_told_from_reports() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        std::io::Write::write_all(&mut gzip, b"REDIS0011\xff\0\0\0\0\0\0\0\0").unwrap();
        let gzip = gzip.finish().unwrap();
        let (whole, cut) = (gzip.as_slice(), &gzip[..12]);
        for kept in [
            &b"REDIS0011"[..],
            b"REDIS0",
            b"VALKEY080",
            b"VKCS\x01\x01\0\0",
            b"*2\r\n$6\r\nSELECT\r\n",
            b"#TS:1700000000\r\n",
            b"$1234\r\nREDIS0011",
            b"\n\n$1234\r\nVALKEY080",
            whole,
            cut,
            b"\xfd7zXZ\0\0\0",
        ] {
            fs::write(&path, kept).unwrap();
            assert!(may_hold_snapshot(&path), "{}", kept.escape_ascii());
        }
        for replaced in [&b""[..], b"RED", b"{\"schema_version\"", b"# Report", b"* a list", b"\nREDIS", b"key,db\r\n"]
        {
            fs::write(&path, replaced).unwrap();
            assert!(!may_hold_snapshot(&path), "{}", replaced.escape_ascii());
        }
        assert!(!may_hold_snapshot(&folder.path().join("missing")) && !may_hold_snapshot(folder.path()));
    }
}
