//! Plans and partial reports that a command reads: files, folders, globs, and objects in stores.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::input::resolve::{entries, glob_paths, is_glob};
use crate::input::{Input, Location, as_address, resolve, shown_path};

/// Ending of partial reports in a folder, or below a prefix of a store.
const ENDING: &str = ".part";

/// Returns arguments with globs in place of folders and prefixes: `parts/` is `parts/*.part`.
pub fn with_globs(arguments: &[PathBuf]) -> Vec<PathBuf> {
    let glob = |argument: &PathBuf| match as_address(argument) {
        Some(address) if address.ends_with('/') => PathBuf::from(format!("{address}*{ENDING}")),
        _ => argument.clone(),
    };
    arguments.iter().map(glob).collect()
}

/// Finds the partial reports that arguments name, in the order of the arguments and of their names.
pub fn find(arguments: &[PathBuf]) -> Result<Vec<Input>> {
    let mut parts = Vec::new();
    for argument in with_globs(arguments) {
        if as_address(&argument).is_some() {
            parts.extend(resolve(&[&argument])?);
        } else if argument.is_dir() {
            parts.extend(of_folder(&argument)?);
        } else if !argument.exists()
            && let Some(pattern) = argument.to_str().filter(|text| is_glob(text))
        {
            parts.extend(of_glob(pattern)?);
        } else {
            parts.push(Input::file(argument));
        }
    }
    Ok(parts)
}

/// Returns the files that a glob matches, and the partial reports of the folders that it matches.
fn of_glob(pattern: &str) -> Result<Vec<Input>> {
    let mut found = Vec::new();
    for path in glob_paths(pattern).map_err(|error| error.in_file(&shown_path(Path::new(pattern))))? {
        if path.is_dir() {
            found.extend(of_folder(&path)?);
        } else if path.is_file() {
            found.push(Input::file(path));
        }
    }
    Ok(found)
}

fn of_folder(folder: &Path) -> Result<Vec<Input>> {
    let name = shown_path(folder);
    let mut files = entries(folder).map_err(|error| error.in_file(&name))?;
    files.retain(|file| file.as_os_str().as_encoded_bytes().ends_with(ENDING.as_bytes()));
    if files.is_empty() {
        return Err(Error::usage(format!("{name}: no partial report in this directory"))
            .with_hint(format!("looked for *{ENDING}; write them with -o {name}/NUMBER{ENDING}")));
    }
    Ok(files.into_iter().map(Input::file).collect())
}

/// Returns the files among the partial reports that arguments name, as far as they are there.
pub fn find_local(arguments: &[PathBuf]) -> Vec<PathBuf> {
    let local = arguments.iter().filter(|argument| as_address(argument).is_none());
    let found = local.flat_map(|argument| find(std::slice::from_ref(argument)).unwrap_or_default());
    let path = |input: Input| match input.location {
        Location::File(path) => Some(path),
        Location::Stdin | Location::Object(_) => None,
    };
    found.filter_map(path).collect()
}

/// Finds the plan at a path or an address.
pub fn plan(path: &Path) -> Result<Input> {
    if as_address(path).is_none() {
        return Ok(Input::file(path.to_owned()));
    }
    let mut found = resolve(&[path])?;
    match (found.pop(), found.is_empty()) {
        (Some(plan), true) => Ok(plan),
        _ => Err(Error::usage(format!("{}: names several objects", shown_path(path))).with_hint("give one plan")),
    }
}
