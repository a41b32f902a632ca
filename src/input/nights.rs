//! Files of several nights: dumps and stored reports, by themselves or in folders of folders.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::resolve::globs::{Matches, is_lost_and_found};
use super::resolve::multi_part::{base_of, manifests};
use super::resolve::{ENDINGS, Inputs, SpecialFile, entries, has_ending, is_glob, resolve_each};
use super::{FileId, Input, Location, shown_path};
use crate::error::{Error, ErrorKind, Result};
use crate::wording::wording;

/// Levels of folders below an argument: `nights/2026/11/2026-11-17/node-1/appendonlydir` and some more.
const MAX_DEPTH: usize = 8;

/// Bytes at the start of a file in which a report names its schema.
const REPORT_HEAD: u64 = 512;

/// Endings of the files that a manifest names.
const PARTS: [&str; 3] = [".base.rdb", ".base.aof", ".incr.aof"];

/// A file of a night.
#[derive(Debug)]
pub struct NightFile {
    /// The dump, unless it is a stored report.
    pub dump: Option<Input>,
    /// Path to read: the file, or the manifest of a multi-part append-only file; a folder that cannot be read.
    pub path: PathBuf,
    /// Why it cannot be read, if that is known: a part that a manifest names is missing, or the folder cannot be listed.
    pub error: Option<Error>,
    /// Position of the argument that names it.
    pub argument: usize,
    /// Its path below the folder that the argument names, or its name.
    pub inside: PathBuf,
    /// True if it was found in a folder.
    pub in_folder: bool,
}

impl NightFile {
    /// Returns the path in messages and reports.
    pub fn name(&self) -> String {
        self.dump
            .as_ref()
            .filter(|input| !input.multi_part)
            .map_or_else(|| shown_path(&self.path), |it| it.name.clone())
    }
}

/// Returns whether an input is a stored report, by its name.
pub fn is_report(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"))
}

/// Finds the files that the arguments name, those of folders at any depth, in a stable order; each file once, unless it is
/// named by itself more than once.
pub fn files<P: AsRef<Path>>(arguments: &[P]) -> Result<Vec<NightFile>> {
    let mut found: Vec<NightFile> = Vec::new();
    // Used only for membership tests, so hash order does not matter.
    let mut visited = HashSet::new();
    for (argument, path) in arguments.iter().enumerate() {
        let Matches { paths, unreadable } = matching(path.as_ref());
        for path in paths {
            let before = found.len();
            if path.is_dir() {
                let folder = path.clone();
                let walked = walk(&path, 0, &mut visited, &mut |Found { path, dump, error }| {
                    let inside = path.strip_prefix(&folder).unwrap_or(&path).to_owned();
                    found.push(NightFile { dump, path, error, argument, inside, in_folder: true });
                });
                walked.map_err(|error| error.in_file(&shown_path(&path)))?;
                if found.len() == before && !holds_any(&path)? {
                    return Err(nothing_in(&path));
                }
            } else if is_report(&path) {
                found.push(alone(None, path, argument));
            } else {
                let resolved = resolve_each(&[&path]);
                if let Some((_, error)) = resolved.failed.into_iter().next() {
                    return Err(error);
                }
                found.extend(resolved.inputs.into_iter().map(|input| {
                    let path = read_path(&input);
                    alone(Some(input), path, argument)
                }));
            }
        }
        found.extend(unreadable.into_iter().map(|(path, error)| {
            let Found { path, dump, error } = Found::unreadable(&path, error);
            NightFile { error, ..alone(dump, path, argument) }
        }));
    }
    let mut seen = HashSet::new();
    // A link such as `latest` names a file once more.
    found.retain(|file| FileId::of(&file.path).is_none_or(|id| seen.insert(id)) || !file.in_folder);
    Ok(found)
}

fn alone(dump: Option<Input>, path: PathBuf, argument: usize) -> NightFile {
    let inside = path.file_name().map_or_else(|| path.clone(), PathBuf::from);
    NightFile { dump, path, error: None, argument, inside, in_folder: false }
}

/// Returns what a glob matches, without special files and links that lead nowhere, or the argument itself.
pub fn matching(argument: &Path) -> Matches {
    let itself = || Matches { paths: vec![argument.to_owned()], ..Matches::default() };
    let pattern = argument.to_str().filter(|text| is_glob(text) && !argument.exists());
    // Resolving a glob that is not valid or matches nothing says so.
    let Some(mut found) = pattern.and_then(|pattern| Matches::of(pattern).ok()) else { return itself() };
    found.paths.retain(|path| SpecialFile::at(path).is_none() && path.try_exists().unwrap_or(true));
    if found.paths.is_empty() && found.unreadable.is_empty() { itself() } else { found }
}

/// Returns the path that stands for an input on a command line.
fn read_path(input: &Input) -> PathBuf {
    match (&input.location, input.beside.first()) {
        (Location::File(_), Some(manifest)) if input.multi_part => manifest.clone(),
        (Location::File(path), _) => path.clone(),
        (Location::Stdin, _) => PathBuf::from("-"),
        (Location::Object(object), _) => PathBuf::from(object.address().whole()),
    }
}

/// Something found below a folder, with the fields of [`NightFile`].
struct Found {
    path: PathBuf,
    dump: Option<Input>,
    error: Option<Error>,
}

impl Found {
    fn dump(input: Input) -> Found {
        Found { path: read_path(&input), dump: Some(input), error: None }
    }

    /// Returns a file that cannot be read. It counts as a dump, so that its night is reported as unreadable, not as missing.
    fn unreadable(path: &Path, error: Error) -> Found {
        Found { path: path.to_owned(), dump: Some(Input::file(path.to_owned())), error: Some(error) }
    }
}

/// Visits dumps and reports below a folder, and folders below it that cannot be read. Fails if the first cannot be read.
fn walk(folder: &Path, depth: usize, visited: &mut HashSet<PathBuf>, visit: &mut dyn FnMut(Found)) -> Result<()> {
    // Links may lead in circles.
    if depth > 0 && fs::canonicalize(folder).is_ok_and(|real| !visited.insert(real)) {
        return Ok(());
    }
    let entries = match entries(folder) {
        Err(_) if depth > 0 && is_lost_and_found(folder) => return Ok(()),
        Err(error) if depth > 0 => {
            visit(Found::unreadable(folder, error.in_file(&shown_path(folder))));
            return Ok(());
        }
        entries => entries?,
    };
    let mut inputs = Inputs::default();
    let is_dump = |entry: &Path| ENDINGS.iter().any(|ending| has_ending(entry, ending));
    let is_part = |entry: &Path| PARTS.iter().any(|ending| has_ending(entry, ending));
    // Other programs write manifests beside dumps, too.
    let has_other_dumps = || entries.iter().any(|entry| is_dump(entry) && !is_part(entry));
    let mut has_manifest = false;
    for manifest in manifests(&entries) {
        match base_of(manifest) {
            Ok(input) => visit(Found::dump(input)),
            Err(_) if has_other_dumps() => continue,
            // The base by itself would look like a whole night.
            Err(error) => visit(Found::unreadable(manifest, error)),
        }
        has_manifest = true;
    }
    for entry in &entries {
        if entry.is_dir() {
            if depth < MAX_DEPTH {
                walk(entry, depth + 1, visited, visit)?;
            }
        } else if !has_manifest && is_dump(entry) && !inputs.passes_over(entry) {
            visit(Found::dump(Input::file(entry.clone())));
        } else if is_report(entry) && entry.is_file() && holds_report(entry) {
            visit(Found { path: entry.clone(), dump: None, error: None });
        }
    }
    Ok(())
}

/// Returns whether there is a dump or report below a folder, all of which another argument may have named before.
fn holds_any(folder: &Path) -> Result<bool> {
    let mut any = false;
    walk(folder, 0, &mut HashSet::new(), &mut |_| any = true)?;
    Ok(any)
}

/// Returns whether a JSON file begins like a report, unlike other JSON that may be in a folder.
pub fn holds_report(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(REPORT_HEAD).read_to_end(&mut head));
    read.is_ok() && memchr::memmem::find(&head, b"\"rdblens.report/").is_some()
}

fn nothing_in(folder: &Path) -> Error {
    let what = ErrorKind::NotASnapshot(wording!("no snapshot in this directory", "该目录中没有快照"));
    Error::new(what).in_file(&shown_path(folder)).with_remedy(wording!(
        "looked for *{}, *.manifest and stored reports, in subdirectories, too",
        "查找的是 *{}、*.manifest 和已保存的报告（包括各级子目录）",
        ENDINGS.join(", *")
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_folders_are_searched_for_dumps_and_reports() {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in [
            ("2026-11-17/a.rdb", "x"),
            ("2026-11-17/deep/b.rdb.gz", "x"),
            ("2026-11-18/a.rdb", "x"),
            ("2026-11-18/notes.txt", "x"),
            ("2026-11-18/temp-1.rdb", "x"),
            ("reports/17.json", "{\"schema\": \"rdblens.report/1\"}"),
            ("reports/growth.json", "{\"schema\": \"rdblens.compare/1\"}"),
        ] {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let inside = |files: &[NightFile]| files.iter().map(|file| shown_path(&file.inside)).collect::<Vec<_>>();
        let all = ["2026-11-17/a.rdb", "2026-11-17/deep/b.rdb.gz", "2026-11-18/a.rdb", "reports/17.json"];
        assert_eq!(inside(&files(&[root.path()]).unwrap()), all);
        // A folder within another, and a file that a folder holds: once each.
        let again = [root.path().to_owned(), root.path().join("2026-11-17")];
        assert_eq!(files(&again).unwrap().len(), 4);
        let file = root.path().join("2026-11-18/a.rdb");
        assert_eq!(files(&[&file, &file]).unwrap().len(), 2, "named by itself twice");
        fs::create_dir(root.path().join("empty")).unwrap();
        assert!(files(&[root.path().join("empty")]).unwrap_err().to_string().contains("no snapshot"));
    }
}
