//! Refuses stored reports of a snapshot that is there already, as far as reports tell.

use std::collections::BTreeMap;

use super::{ONE_NAME, given_twice, not_shards};
use crate::error::Result;
use crate::input::undated;
use crate::report::{NamedReport, SourceFile};

/// Returns an error if a stored report is of the same snapshot as another one of `reports`, or of the same shard at another date.
///
/// `is_stored` tells stored reports from those of files that were read, which have been compared already.
pub fn check_stored(reports: &[NamedReport], is_stored: impl Fn(usize) -> bool) -> Result<()> {
    let (mut snapshots, mut shards) = (BTreeMap::new(), BTreeMap::new());
    for (index, report) in reports.iter().enumerate() {
        let counts = |other: usize| other != index && (is_stored(index) || is_stored(other));
        for file in report.report.source.files.iter().filter(|file| file.keys_read.max(file.keys) > 0) {
            if let Some(identity) = identity(file) {
                let first = *snapshots.entry(identity).or_insert(index);
                if counts(first) {
                    return Err(given_twice(&reports[first].name, &report.name));
                }
            }
            let (name, dates) = undated(&file.name);
            if !dates.is_empty() {
                let (earlier, first) = shards.entry(name).or_insert_with(|| (dates.clone(), index));
                if *earlier != dates && counts(*first) {
                    return Err(not_shards(&reports[*first].name, &report.name, ONE_NAME));
                }
            }
        }
    }
    Ok(())
}

/// Returns what two snapshots hardly have in common: time, size and number of keys.
fn identity(file: &SourceFile) -> Option<(i64, u64, u64, u32)> {
    Some((file.ctime?, file.bytes.0, file.keys_read.max(file.keys), file.rdb_version))
}
