//! From what the user named to the snapshots to read: files, `-`, globs, directories.
//!
//! The order is the user's, within a glob or a directory that of the names, so two runs read the same files in the same
//! order. A file that is named twice is read once. Left-overs of an interrupted save (`temp-…`) are passed over when a
//! directory is listed: they are half a copy of what stands beside them.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::manifest::Manifest;
use super::{Input, Location};
use crate::error::{Error, ErrorKind, Result};
use crate::near;

/// Endings of the files in a directory that are taken for snapshots.
const ENDINGS: [&str; 5] = [".rdb", ".rdb.gz", ".rdb.zst", ".rdb.lz4", ".aof"];

/// A manifest is some lines; more is not one.
const LARGEST_MANIFEST: u64 = 1 << 20;

/// Returns the inputs that `arguments` name, each once, in a stable order; never none without an error.
pub fn resolve<P: AsRef<Path>>(arguments: &[P]) -> Result<Vec<Input>> {
    let resolved = resolve_each(arguments);
    match resolved.failed.into_iter().next() {
        Some((_, error)) => Err(error),
        None if resolved.inputs.is_empty() => Err(Error::usage("no input named")),
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
}

/// Resolves each argument by itself: one missing shard does not keep the others from being read.
pub fn resolve_each<P: AsRef<Path>>(arguments: &[P]) -> Resolved {
    let (mut inputs, mut failed) = (Vec::new(), Vec::new());
    for argument in arguments {
        let (argument, before) = (argument.as_ref(), inputs.len());
        if let Err(error) = resolve_one(argument, &mut inputs) {
            // An argument fails as a whole, even if some of the files that it names are there.
            inputs.truncate(before);
            let name = argument.display().to_string();
            failed.push((name.clone(), error.in_file(&name)));
        }
    }
    // Only asked for membership: its order never shows.
    let mut seen = HashSet::new();
    inputs.retain(|input| seen.insert(identity(&input.location)));
    Resolved { inputs, failed }
}

/// What two names of one file have in common.
fn identity(location: &Location) -> Location {
    match location {
        Location::Stdin => Location::Stdin,
        Location::File(path) => Location::File(fs::canonicalize(path).unwrap_or_else(|_| path.clone())),
    }
}

fn resolve_one(argument: &Path, inputs: &mut Vec<Input>) -> Result<()> {
    if argument.as_os_str() == "-" {
        inputs.push(Input::stdin());
        return Ok(());
    }
    match fs::metadata(argument) {
        Ok(_) => resolve_path(argument, inputs),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match argument.to_str().filter(|text| is_glob(text)) {
            Some(pattern) => resolve_glob(pattern, inputs),
            None => {
                let near = did_you_mean(argument);
                Err(Error::from(error).with_hint(format!("{near}no such file; a glob may contain *, ? and [...]")))
            }
        },
        Err(error) => Err(error.into()),
    }
}

/// For a file that there is not: a question for a hint, with a blank behind it; nothing where no name is near.
pub fn did_you_mean(path: &Path) -> String {
    near::did_you_mean(&near_files(path).iter().map(String::as_str).collect::<Vec<_>>())
}

/// Files in the same folder whose name may have been meant.
fn near_files(path: &Path) -> Vec<String> {
    const MOST: usize = 10_000;
    let Some(name) = path.file_name().and_then(|name| name.to_str()) else { return Vec::new() };
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.take(MOST).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    // A name can be anything, and this one goes to a terminal.
    let plain: Vec<String> = names.filter(|name| !name.chars().any(char::is_control)).collect();
    let near = near::names(name, plain.iter().map(String::as_str));
    near.into_iter().map(|near| path.with_file_name(near).display().to_string()).collect()
}

fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

fn resolve_glob(pattern: &str, inputs: &mut Vec<Input>) -> Result<()> {
    let paths = glob::glob(pattern).map_err(|error| Error::usage(format!("not a valid glob: {error}")))?;
    let mut paths = paths
        .collect::<std::result::Result<Vec<_>, _>>()
        .map_err(|error| Error::from(io::Error::new(error.error().kind(), error.to_string())))?;
    if paths.is_empty() {
        let nothing = io::Error::new(io::ErrorKind::NotFound, "no file matches");
        return Err(Error::from(nothing).with_hint("the glob matches nothing; is the directory right?"));
    }
    paths.sort();
    paths
        .iter()
        .try_for_each(|path| resolve_path(path, inputs).map_err(|error| error.in_file(&path.display().to_string())))
}

/// A path that exists.
fn resolve_path(path: &Path, inputs: &mut Vec<Input>) -> Result<()> {
    if path.is_dir() {
        return resolve_directory(path, inputs);
    }
    inputs.push(if has_ending(path, ".manifest") { multi_part(path)? } else { Input::file(path.to_owned()) });
    Ok(())
}

fn resolve_directory(directory: &Path, inputs: &mut Vec<Input>) -> Result<()> {
    let entries = entries(directory)?;
    if push_manifests(&entries, inputs)? {
        return Ok(());
    }
    let before = inputs.len();
    for entry in &entries {
        if entry.is_dir() {
            // A directory that is none of our business may well be unreadable.
            let children = self::entries(entry).unwrap_or_default();
            push_manifests(&children, inputs)?;
        } else if ENDINGS.iter().any(|ending| has_ending(entry, ending)) {
            inputs.push(Input::file(entry.clone()));
        }
    }
    if inputs.len() == before {
        let what = ErrorKind::NotASnapshot("no snapshot in this directory".to_owned());
        return Err(Error::new(what).with_hint(format!("looked for *{} and *.manifest", ENDINGS.join(", *"))));
    }
    Ok(())
}

/// Adds what the manifests among `entries` name; false when there are none.
fn push_manifests(entries: &[PathBuf], inputs: &mut Vec<Input>) -> Result<bool> {
    let before = inputs.len();
    for manifest in entries.iter().filter(|entry| has_ending(entry, ".manifest") && entry.is_file()) {
        inputs.push(multi_part(manifest)?);
    }
    Ok(inputs.len() > before)
}

/// What a directory holds, by name.
fn entries(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut entries =
        fs::read_dir(directory)?.map(|entry| entry.map(|entry| entry.path())).collect::<io::Result<Vec<_>>>()?;
    entries.retain(|entry| !is_left_over(entry));
    entries.sort();
    Ok(entries)
}

fn is_left_over(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"temp-"))
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.file_name().is_some_and(|name| {
        let name = name.as_encoded_bytes();
        name.len() > ending.len() && name.ends_with(ending.as_bytes())
    })
}

/// The base file that `manifest` names, with the size of the commands after it.
fn multi_part(manifest: &Path) -> Result<Input> {
    let name = manifest.display().to_string();
    let parsed = read_manifest(manifest).map_err(|error| error.in_file(&name))?;
    let Some(base) = parsed.base else {
        return Err(commands_only("no base file: commands alone, without a snapshot").in_file(&name));
    };
    let base = manifest.with_file_name(base);
    if has_ending(&base, ".base.aof") {
        return Err(commands_only("the base file holds commands, not a snapshot").in_file(&base.display().to_string()));
    }
    // Asked for now, so that a base that is missing is an error of its own name.
    size_of(&base)?;
    let mut following = 0u64;
    for increment in parsed.increments {
        following = following.saturating_add(size_of(&manifest.with_file_name(increment)).map_err(|error| {
            error.with_hint(format!("name {} itself to read the snapshot without its commands", base.display()))
        })?);
    }
    Ok(Input { following_bytes: Some(following), multi_part: true, ..Input::file(base) })
}

fn commands_only(what: &str) -> Error {
    Error::new(ErrorKind::Unsupported(what.to_owned()))
        .with_hint("BGREWRITEAOF under `aof-use-rdb-preamble yes` writes a base file that is a snapshot")
}

fn read_manifest(path: &Path) -> Result<Manifest> {
    let mut text = Vec::new();
    File::open(path)?.take(LARGEST_MANIFEST + 1).read_to_end(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|len| len > LARGEST_MANIFEST) {
        return Err(Error::new(ErrorKind::Limit(format!("a manifest of more than {LARGEST_MANIFEST} bytes"))));
    }
    Manifest::parse(&text)
}

fn size_of(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).map_err(|error| {
        Error::from(error)
            .in_file(&path.display().to_string())
            .with_hint("the manifest names it: is the copy complete?")
    })?;
    Ok(metadata.len())
}

#[cfg(test)]
#[path = "resolve_tests.rs"]
mod tests;
