//! Globs: what they match, and what on their way cannot be read.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, ErrorKind, Result};
use crate::input::shown_path;
use crate::wording::wording;

const LOST_AND_FOUND: &str = "lost+found";

/// Returns whether a folder is the one that `fsck` makes and only the administrator may read: no backup puts a snapshot there.
pub fn is_lost_and_found(folder: &Path) -> bool {
    folder.file_name().is_some_and(|name| name == LOST_AND_FOUND)
}

/// Matches of a glob.
#[derive(Debug, Default)]
pub struct Matches {
    /// Matching paths, sorted by name.
    pub paths: Vec<PathBuf>,
    /// Folders that cannot be listed and files that cannot be looked up, sorted by name, each with the reason.
    pub unreadable: Vec<(PathBuf, Error)>,
}

impl Matches {
    /// Finds what a glob matches.
    pub fn of(pattern: &str) -> Result<Matches> {
        let invalid =
            |error| Error::new(ErrorKind::Unreadable(wording!("not a valid glob: {error}", "通配符有误：{error}")));
        let mut found = Matches::default();
        let is_passed_over = |folder: &Path| is_lost_and_found(folder) && !pattern.contains(LOST_AND_FOUND);
        for path in glob::glob(pattern).map_err(invalid)? {
            match path {
                Ok(path) => found.paths.push(path),
                Err(error) if is_passed_over(error.path()) => {}
                Err(error) => {
                    let path = error.path().to_owned();
                    found.refuse(path, io::Error::from(error));
                }
            }
        }
        let closed: Vec<PathBuf> = found.unreadable.iter().map(|(path, _)| path.clone()).collect();
        for (folder, path, error) in unknown(pattern) {
            if !is_passed_over(&folder) && !closed.contains(&folder) {
                found.refuse(path, error);
            }
        }
        found.paths.sort();
        found.unreadable.sort_by(|(one, _), (other, _)| one.cmp(other));
        Ok(found)
    }

    fn refuse(&mut self, path: PathBuf, error: io::Error) {
        let error = Error::from(error).in_file(&shown_path(&path));
        self.unreadable.push((path, error));
    }
}

/// Returns paths that a glob would match and that cannot be looked up, each with the folder that matches the last wildcard before.
///
/// A literal name behind a wildcard is looked up, not listed, and the walk takes any failure for a missing file.
fn unknown(pattern: &str) -> Vec<(PathBuf, PathBuf, io::Error)> {
    let mut unknown = Vec::new();
    let (mut before, mut literal) = (PathBuf::new(), PathBuf::new());
    let mut probe = |before: &Path, literal: &Path| {
        let before = before.to_str().filter(|before| !before.is_empty() && !literal.as_os_str().is_empty());
        let Some(before) = before else { return };
        // The whole walk has met the failures of its part, too.
        let folders = glob::glob(before).into_iter().flatten().filter_map(|folder| folder.ok());
        for folder in folders.filter(|folder| folder.is_dir()) {
            let path = folder.join(literal);
            if let Err(error) = fs::symlink_metadata(&path)
                && !matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
            {
                unknown.push((folder, path, error));
            }
        }
    };
    for component in Path::new(pattern).components() {
        if !component.as_os_str().to_str().is_some_and(is_glob) {
            literal.push(component);
            continue;
        }
        probe(&before, &literal);
        before.push(std::mem::take(&mut literal));
        before.push(component);
    }
    probe(&before, &literal);
    unknown
}

/// Returns whether a text may be a glob.
pub fn is_glob(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// Returns what a glob matches, sorted by name; fails if that is nothing, or if something on the way cannot be read.
pub fn glob_paths(pattern: &str) -> Result<Vec<PathBuf>> {
    let Matches { paths, unreadable } = Matches::of(pattern)?;
    if let Some((_, error)) = unreadable.into_iter().next() {
        return Err(error);
    }
    if paths.is_empty() {
        let nothing = ErrorKind::Unreadable(wording!("no matching file", "没有匹配的文件"));
        return Err(Error::new(nothing)
            .with_remedy(wording!("check the directory part of the glob", "请检查通配符中的目录部分")));
    }
    Ok(paths)
}
