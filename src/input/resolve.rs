//! Resolves arguments to inputs: files, `-`, globs, directories, and addresses of objects.
//!
//! Inputs keep the order of the arguments; files of a glob or directory are sorted by name, so the order is stable. A file
//! named twice is read once. Temporary files of an interrupted save (`temp-…`) in a directory are skipped.

pub mod globs;
pub mod multi_part;
pub mod shards;

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

pub use self::globs::{glob_paths, is_glob};
use self::multi_part::{base_of, push_manifests};
use self::shards::shards_of;
use super::object::{Address, StoreSettings, Stores, as_address};
use super::{FileId, Input, Location, folder_of, shown_path};
use crate::error::{Error, ErrorKind, Result};
use crate::near;
use crate::wording::{Wording, wording};

/// Endings of snapshot files in a directory.
pub(super) const ENDINGS: [&str; 6] = [".rdb", ".rdb.gz", ".rdb.zst", ".rdb.lz4", ".aof", ".dfs"];

/// Resolves `arguments` to distinct inputs in a stable order; fails if there are none.
pub fn resolve<P: AsRef<Path>>(arguments: &[P]) -> Result<Vec<Input>> {
    resolve_with(arguments, &StoreSettings::default())
}

/// Like [`resolve`], with settings of stores.
pub fn resolve_with<P: AsRef<Path>>(arguments: &[P], stores: &StoreSettings) -> Result<Vec<Input>> {
    let resolved = resolve_each_with(arguments, stores);
    match resolved.failed.into_iter().next() {
        Some((_, error)) => Err(error),
        None if resolved.inputs.is_empty() => Err(Error::usage("no input given")),
        None => Ok(resolved.inputs),
    }
}

/// Inputs named by several arguments, and the arguments that name none.
#[derive(Debug)]
pub struct Resolved {
    /// The inputs, each once, in a stable order.
    pub inputs: Vec<Input>,
    /// Arguments that could not be resolved, with the reason.
    pub failed: Vec<(String, Error)>,
    /// Special files in directories and among the matches of globs, which are skipped.
    pub passed_over: Vec<(String, SpecialFile)>,
}

/// Named pipe, socket or device. Opening one may block forever, so it is opened only if the user named it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has them in directories"))]
pub enum SpecialFile {
    /// A named pipe (FIFO).
    NamedPipe,
    /// A socket.
    Socket,
    /// A device.
    Device,
}

impl SpecialFile {
    /// Returns the kind of special file at `path`; `None` if it is none.
    #[cfg(unix)]
    pub(super) fn at(path: &Path) -> Option<SpecialFile> {
        use std::os::unix::fs::FileTypeExt;
        let kind = fs::metadata(path).ok()?.file_type();
        if kind.is_fifo() {
            Some(SpecialFile::NamedPipe)
        } else if kind.is_socket() {
            Some(SpecialFile::Socket)
        } else {
            (kind.is_char_device() || kind.is_block_device()).then_some(SpecialFile::Device)
        }
    }

    #[cfg(not(unix))]
    pub(super) fn at(_: &Path) -> Option<SpecialFile> {
        None
    }
}

/// Inputs found so far.
#[derive(Default)]
pub(super) struct Inputs {
    pub(super) inputs: Vec<Input>,
    passed_over: Vec<(String, SpecialFile)>,
    /// Clients that all arguments share.
    stores: Stores,
}

impl Inputs {
    pub(super) fn push(&mut self, input: Input) {
        self.inputs.push(input);
    }

    fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Returns whether what is at `path`, which the user has not named, is to be passed over.
    pub(super) fn passes_over(&mut self, path: &Path) -> bool {
        let what = SpecialFile::at(path);
        self.passed_over.extend(what.map(|what| (shown_path(path), what)));
        what.is_some()
    }
}

/// Resolves each argument by itself: one missing shard does not keep the others from being read.
pub fn resolve_each<P: AsRef<Path>>(arguments: &[P]) -> Resolved {
    resolve_each_with(arguments, &StoreSettings::default())
}

/// Like [`resolve_each`], with settings of stores.
pub fn resolve_each_with<P: AsRef<Path>>(arguments: &[P], stores: &StoreSettings) -> Resolved {
    let mut inputs = Inputs { stores: Stores::new(stores), ..Inputs::default() };
    let mut failed = Vec::new();
    for argument in arguments {
        let (argument, before) = (argument.as_ref(), inputs.len());
        if let Err(error) = resolve_one(argument, &mut inputs) {
            // An argument fails as a whole, even if some of the files that it names are there.
            inputs.inputs.truncate(before);
            let name = shown_path(argument);
            failed.push((name.clone(), error.in_file(&name)));
        }
    }
    // Used only for membership tests, so hash order does not matter.
    let mut seen = HashSet::new();
    let Inputs { mut inputs, passed_over, stores: _ } = inputs;
    inputs.retain(|input| seen.insert(identity(&input.location)));
    Resolved { inputs, failed, passed_over }
}

/// Returns the name of the first input that can be read only once: standard input, a named pipe, `<(zcat …)`.
pub fn read_once<P: AsRef<Path>>(arguments: &[P]) -> Option<String> {
    // Objects can be read again: stores need not be asked.
    let local: Vec<&Path> = local(arguments).collect();
    resolve_each(&local).inputs.into_iter().find(|input| !input.is_reopenable()).map(|input| input.name)
}

/// Returns the arguments that are not addresses of objects.
pub fn local<P: AsRef<Path>>(arguments: &[P]) -> impl Iterator<Item = &Path> {
    arguments.iter().map(AsRef::as_ref).filter(|argument| as_address(argument).is_none())
}

/// Identity of an input: equal for different names of one file.
#[derive(PartialEq, Eq, Hash)]
enum Identity {
    Stdin,
    File(FileId),
    Missing(PathBuf),
    Object(Address),
}

fn identity(location: &Location) -> Identity {
    match location {
        Location::Stdin => Identity::Stdin,
        Location::File(path) => FileId::of(path).map_or_else(|| Identity::Missing(path.clone()), Identity::File),
        Location::Object(object) => Identity::Object(object.address().clone()),
    }
}

fn resolve_one(argument: &Path, inputs: &mut Inputs) -> Result<()> {
    if argument.as_os_str() == "-" {
        inputs.push(Input::stdin());
        return Ok(());
    }
    if let Some(address) = as_address(argument) {
        let found = inputs.stores.resolve(address)?;
        inputs.inputs.extend(found);
        return Ok(());
    }
    match fs::metadata(argument) {
        Ok(_) => resolve_path(argument, inputs),
        Err(error) if error.kind() == io::ErrorKind::NotFound => no_such_path(argument, error, inputs),
        Err(error) => Err(error.into()),
    }
}

/// Resolves an argument that is no path: a glob, or a mistake.
fn no_such_path(argument: &Path, error: io::Error, inputs: &mut Inputs) -> Result<()> {
    if is_server(argument) {
        return Err(Error::new(ErrorKind::Unreadable(wording!(
            "this is the address of a server, and rdblens reads snapshots",
            "这是服务器的地址，rdblens 只能读取快照"
        )))
        .with_remedy(wording!(
            "save one with `redis-cli -u URL --rdb dump.rdb` (or -h HOST -p PORT), then give dump.rdb",
            "请用 `redis-cli -u URL --rdb dump.rdb`（或 -h HOST -p PORT）保存快照，再指定 dump.rdb"
        )));
    }
    if let Some(pattern) = argument.to_str().filter(|text| is_glob(text)) {
        return resolve_glob(pattern, inputs);
    }
    let error = missing(argument, error);
    if argument.to_str().is_some_and(|text| text.contains("://")) {
        Err(error.with_remedy(wording!(
            "addresses of stores begin with s3://, gs://, az://, oss://, cos:// or https://",
            "对象存储的地址以 s3://、gs://、az://、oss://、cos:// 或 https:// 开头"
        )))
    } else {
        Err(error)
    }
}

/// Builds the error for a path that does not exist, with a question about similar names.
pub fn missing(path: &Path, error: io::Error) -> Error {
    let (error, Wording { en, zh }) = (Error::from(error), question(path));
    if en.is_empty() {
        return error;
    }
    error.with_remedy(Wording { en: en.trim_end().to_owned(), zh })
}

/// Returns whether an argument that names no file is the address of a server: a URL, or a host and a port.
fn is_server(argument: &Path) -> bool {
    const SCHEMES: [&str; 6] = ["redis", "rediss", "valkey", "valkeys", "tcp", "unix"];
    let Some(text) = argument.to_str() else { return false };
    if let Some((scheme, _)) = text.split_once("://") {
        // Clients append a transport or a discovery method: `redis+tls`, `redis-socket`, `redis-sentinel`.
        let scheme = scheme.split(['+', '-']).next().unwrap_or(scheme);
        return SCHEMES.iter().any(|known| known.eq_ignore_ascii_case(scheme));
    }
    let is_local = |host: &str| host.eq_ignore_ascii_case("localhost");
    let of_host = |(host, port): (&str, &str)| is_local(host) && port.parse::<u16>().is_ok();
    text.parse::<SocketAddr>().is_ok() || text.rsplit_once(':').is_some_and(of_host)
}

/// Returns "did you mean …? " for a missing file, or an empty text if no file has a similar name.
fn question(path: &Path) -> Wording {
    near::question(&near_files(path).iter().map(String::as_str).collect::<Vec<_>>())
}

/// Returns files in the same directory with similar names.
fn near_files(path: &Path) -> Vec<String> {
    const MAX_FILES: usize = 10_000;
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let Ok(entries) = fs::read_dir(folder_of(path)) else { return Vec::new() };
    let names = entries.take(MAX_FILES).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // Escape the name: it may contain control characters, and the hint goes to a terminal.
    let plain: Vec<String> = names.filter(|name| !name.chars().any(char::is_control)).collect();
    let near = near::names(name, plain.iter().map(String::as_str));
    near.into_iter().map(|near| shown_path(&path.with_file_name(near))).collect()
}

fn resolve_glob(pattern: &str, inputs: &mut Inputs) -> Result<()> {
    let mut paths = glob_paths(pattern)?;
    paths.retain(|path| !inputs.passes_over(path));
    paths.iter().try_for_each(|path| resolve_path(path, inputs).map_err(|error| error.in_file(&shown_path(path))))
}

/// Resolves an existing path.
fn resolve_path(path: &Path, inputs: &mut Inputs) -> Result<()> {
    if path.is_dir() {
        return resolve_directory(path, inputs);
    }
    inputs.push(if has_ending(path, ".manifest") { base_of(path)? } else { Input::file(path.to_owned()) });
    for shard in shards_of(path) {
        if !inputs.passes_over(&shard) {
            inputs.push(Input::file(shard));
        }
    }
    Ok(())
}

fn resolve_directory(directory: &Path, inputs: &mut Inputs) -> Result<()> {
    let entries = entries(directory)?;
    if push_manifests(&entries, inputs)? {
        return Ok(());
    }
    let before = inputs.len();
    for entry in &entries {
        if entry.is_dir() {
            // Skip unreadable subdirectories: they were not named by the user.
            let children = self::entries(entry).unwrap_or_default();
            push_manifests(&children, inputs)?;
        } else if ENDINGS.iter().any(|ending| has_ending(entry, ending)) && !inputs.passes_over(entry) {
            inputs.push(Input::file(entry.clone()));
        }
    }
    if inputs.len() == before {
        let what = ErrorKind::NotASnapshot(wording!("no snapshot in this directory", "该目录中没有快照"));
        return Err(Error::new(what).with_remedy(wording!(
            "looked for *{} and *.manifest",
            "查找的是 *{} 和 *.manifest",
            ENDINGS.join(", *")
        )));
    }
    Ok(())
}

/// Lists a directory, sorted by name.
pub fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut entries =
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    entries.retain(|entry| !is_left_over(entry));
    entries.sort();
    Ok(entries)
}

pub(super) fn is_left_over(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"temp-"))
}

pub(super) fn has_ending(path: &Path, ending: &str) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.as_encoded_bytes();
        name.len() > ending.len() && name.ends_with(ending.as_bytes())
    })
}

#[cfg(test)]
mod tests;
