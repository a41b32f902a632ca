//! Multi-part append-only files: the manifest names the base file, which is the snapshot, and files of commands.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use super::{Inputs, SpecialFile, has_ending};
use crate::error::{Error, ErrorKind, Result};
use crate::input::manifest::Manifest;
use crate::input::source::failure;
use crate::input::{Input, shown_path};
use crate::wording::{Wording, wording};

/// Maximum size of a manifest, which normally has a few lines.
const MAX_MANIFEST: u64 = 1 << 20;

/// Adds the inputs named by manifests among `entries`; returns false if there are none.
pub(super) fn push_manifests(entries: &[PathBuf], inputs: &mut Inputs) -> Result<bool> {
    let before = inputs.len();
    for manifest in manifests(entries) {
        inputs.push(base_of(manifest)?);
    }
    Ok(inputs.len() > before)
}

/// Returns the manifests among the entries of a directory.
pub fn manifests(entries: &[PathBuf]) -> impl Iterator<Item = &PathBuf> {
    entries.iter().filter(|entry| has_ending(entry, ".manifest") && entry.is_file())
}

/// Returns the base file named by `manifest`, with the total size of the incremental files.
pub fn base_of(manifest: &Path) -> Result<Input> {
    let name = shown_path(manifest);
    let parsed = read_manifest(manifest).map_err(|error| error.in_file(&name))?;
    let Some(base) = parsed.base else {
        return Err(commands_only(wording!(
            "no base file: only commands, no snapshot",
            "没有基础文件：只有命令，没有快照"
        ))
        .in_file(&name));
    };
    let base = manifest.with_file_name(base);
    if has_ending(&base, ".base.aof") {
        return Err(commands_only(wording!(
            "the base file holds commands, not a snapshot",
            "基础文件中是命令，不是快照"
        ))
        .in_file(&shown_path(&base)));
    }
    // Check it now, so that the error for a missing base names the base.
    size_of(&base)?;
    check_regular(&base)?;
    let (mut following, mut beside) = (0u64, vec![manifest.to_owned()]);
    for increment in parsed.increments {
        let increment = manifest.with_file_name(increment);
        following = following.saturating_add(size_of(&increment).map_err(|error| {
            error.with_remedy(wording!(
                "name {} itself to read the snapshot without its commands",
                "如只需快照而不要其后的命令，请直接指定 {}",
                shown_path(&base)
            ))
        })?);
        check_regular(&increment)?;
        beside.push(increment);
    }
    Ok(Input { following_bytes: Some(following), multi_part: true, beside, ..Input::file(base) })
}

/// Fails if a manifest names something that is no file, such as a named pipe, which would be waited for.
fn check_regular(path: &Path) -> Result<()> {
    if SpecialFile::at(path).is_none() {
        return Ok(());
    }
    let what = ErrorKind::Unreadable(wording!("expected a file", "应为普通文件"));
    Err(Error::new(what).in_file(&shown_path(path)))
}

/// Builds the error for an append-only file without a snapshot.
pub fn commands_only(what: Wording) -> Error {
    Error::new(ErrorKind::Unsupported(what)).with_remedy(wording!(
        "BGREWRITEAOF under `aof-use-rdb-preamble yes` writes a base file that is a snapshot",
        "在 `aof-use-rdb-preamble yes` 下执行 BGREWRITEAOF，会写出内容为快照的基础文件"
    ))
}

fn read_manifest(path: &Path) -> Result<Manifest> {
    parse_manifest(File::open(path)?)
}

/// Reads and parses a manifest.
pub(in crate::input) fn parse_manifest(reader: impl Read) -> Result<Manifest> {
    let mut text = Vec::new();
    reader.take(MAX_MANIFEST + 1).read_to_end(&mut text).map_err(|error| failure(error, 0))?;
    if u64::try_from(text.len()).is_ok_and(|len| len > MAX_MANIFEST) {
        return Err(Error::new(ErrorKind::Limit(wording!(
            "manifest exceeds {MAX_MANIFEST} bytes",
            "清单文件超过 {MAX_MANIFEST} 字节"
        ))));
    }
    Manifest::parse(&text)
}

fn size_of(path: &Path) -> Result<u64> {
    let metadata = fs::metadata(path).map_err(|error| {
        Error::from(error).in_file(&shown_path(path)).with_remedy(wording!(
            "the manifest names it: is the copy complete?",
            "清单文件中列有该文件：拷贝是否完整？"
        ))
    })?;
    Ok(metadata.len())
}
