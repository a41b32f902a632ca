//! Snapshots of Dragonfly: a summary and the shards beside it.

#[cfg(feature = "cli")]
use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::entries;
use crate::input::folder_of;

/// Ending of the summary of a Dragonfly snapshot, which stands for its shards, too.
pub const SUMMARY: &str = "-summary.dfs";

/// Returns the shards of a Dragonfly snapshot beside its summary, `dump-0000.dfs` beside `dump-summary.dfs`, sorted by name.
pub(super) fn shards_of(summary: &Path) -> Vec<PathBuf> {
    let name = summary.file_name().and_then(|name| name.to_str());
    let Some(snapshot) = name.and_then(|name| name.strip_suffix(SUMMARY)) else { return Vec::new() };
    let is_shard = |name: &OsStr| name.to_str().is_some_and(|name| shard_number(name, snapshot).is_some());
    // Give them the folder as in the name of the summary, which may have none.
    let shard =
        |entry: PathBuf| entry.file_name().filter(|name| is_shard(name)).map(|name| summary.with_file_name(name));
    entries(folder_of(summary)).unwrap_or_default().into_iter().filter_map(shard).collect()
}

/// Removes the shards of Dragonfly snapshots whose summary is listed, too: reading a summary by itself reads them.
#[cfg(feature = "cli")]
pub fn drop_shards_of_summaries<T>(list: &mut Vec<T>, path: impl Fn(&T) -> &Path) {
    let snapshot_of = |summary: &Path| {
        let snapshot = summary.file_name()?.to_str()?.strip_suffix(SUMMARY)?;
        Some(summary.with_file_name(snapshot))
    };
    // Used only for membership tests, so hash order does not matter.
    let known: HashSet<PathBuf> = list.iter().filter_map(|it| snapshot_of(path(it))).collect();
    if !known.is_empty() {
        list.retain(|it| snapshot_of_shard(path(it)).is_none_or(|snapshot| !known.contains(&snapshot)));
    }
}

/// Returns the path of the snapshot that a file is a shard of by its name: `a` of `a-0000.dfs`.
#[cfg(feature = "cli")]
fn snapshot_of_shard(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str().filter(|name| !name.ends_with(SUMMARY))?;
    dragonfly_snapshot(name).map(|snapshot| path.with_file_name(snapshot))
}

/// Returns the snapshot that a file of Dragonfly is of by its name: `dir/a` of `dir/a-summary.dfs` and `dir/a-0000.dfs`.
pub fn dragonfly_snapshot(name: &str) -> Option<&str> {
    if let Some(snapshot) = name.strip_suffix(SUMMARY) {
        return Some(snapshot);
    }
    let (snapshot, _) = name.strip_suffix(".dfs")?.rsplit_once('-')?;
    shard_number(name, snapshot).map(|_| snapshot)
}

/// Returns the number of a shard of a Dragonfly snapshot in its name.
pub fn shard_number<'n>(name: &'n str, snapshot: &str) -> Option<&'n str> {
    let number = name.strip_prefix(snapshot)?.strip_prefix('-')?.strip_suffix(".dfs")?;
    (!number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())).then_some(number)
}
