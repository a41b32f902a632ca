//! Shards of a Dragonfly snapshot that are missing: its summary tells how many there are.

use std::collections::BTreeSet;

use super::snapshot::FileFacts;
use crate::error::{Error, ErrorKind};
use crate::input::resolve::shards::{SUMMARY, shard_number};
use crate::rdb::file_info::FileInfo;
use crate::rdb::header::Family;
use crate::wording::wording;

/// Missing shards that a message lists.
const LISTED: usize = 8;

/// Returns an unreadable file for each summary among `files` that counts more shards than there are.
pub(super) fn missing(files: &[FileFacts]) -> Vec<FileFacts> {
    files.iter().filter_map(|summary| missing_of(summary, files)).collect()
}

fn missing_of(summary: &FileFacts, files: &[FileFacts]) -> Option<FileFacts> {
    let stem = summary.name.strip_suffix(SUMMARY)?;
    let about = preamble(summary).filter(|about| about.header.family == Family::Dragonfly)?;
    let present: BTreeSet<u64> = files.iter().filter_map(|file| number_of(file, stem, about)).collect();
    let count = match about.number("shard-count").and_then(|count| u64::try_from(count).ok()) {
        Some(count) => count,
        // Older versions do not tell: numbers begin at 0 and have no gaps.
        None => present.last()?.saturating_add(1),
    };
    let here = present.range(..count).count() as u64;
    let absent = count.saturating_sub(here);
    if absent == 0 {
        return None;
    }
    let missing = (0..count).filter(|number| !present.contains(number));
    let mut names: Vec<String> = missing.take(LISTED).map(|number| format!("{number:04}")).collect();
    let name = format!("{stem}-{}.dfs", names.first()?);
    if absent > names.len() as u64 {
        names.push("…".to_owned());
    }
    let (list, list_zh) = (names.join(", "), names.join("、"));
    let error = Error::new(ErrorKind::Unreadable(wording!(
        "the snapshot has {count} shards, {absent} of them missing: {list}",
        "快照共有 {count} 个分片，缺少 {absent} 个：{list_zh}"
    )));
    let error = error.with_remedy(wording!(
        "the figures lack their keys: give all files of the snapshot",
        "统计不含其中的 key：请提供快照的全部文件"
    ));
    let error = error.in_file(&name);
    Some(FileFacts { name, opened: Err(error) })
}

/// Returns the number of a shard of the snapshot of `summary`, by its own field, else by its name.
fn number_of(file: &FileFacts, stem: &str, summary: &FileInfo) -> Option<u64> {
    const ID: &str = "snapshot-id";
    let by_name = || shard_number(&file.name, stem)?.parse().ok();
    let Some(about) = preamble(file) else { return by_name() };
    if about.field(ID) != summary.field(ID) || about.field("shard-count").is_some() {
        return None;
    }
    about.number("shard-id").and_then(|id| u64::try_from(id).ok()).or_else(by_name)
}

fn preamble(file: &FileFacts) -> Option<&FileInfo> {
    file.opened.as_ref().ok().map(|opened| &opened.preamble)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rdb::header::RdbHeader;

    #[test]
    fn shards_are_numbered_by_digits_alone() {
        let summary = FileInfo::new(RdbHeader { family: Family::Dragonfly, version: 9 });
        let number = |name: &str| {
            let file = FileFacts { name: name.to_owned(), opened: Err(Error::usage("not read")) };
            number_of(&file, "dump", &summary)
        };
        assert_eq!(number("dump-0005.dfs"), Some(5));
        for other in ["dump-+5.dfs", "dump-.dfs", "dump-5.rdb", "other-0005.dfs", "dump-99999999999999999999.dfs"] {
            assert_eq!(number(other), None, "{other}");
        }
    }
}
