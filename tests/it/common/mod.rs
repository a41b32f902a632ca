//! Helpers that several test modules share.

pub mod dump;
pub mod golden;
pub mod keys;
pub mod measured;
pub mod page;
pub mod program;
pub mod reports;
pub mod truth;

use std::fs;
use std::path::{Path, PathBuf};

use rdblens::{ReadPlan, Record, for_each_record};

/// Returns every dump of the test data, including damaged ones.
pub fn dumps() -> Vec<PathBuf> {
    let (mut dumps, mut folders) =
        (Vec::new(), ["dumps", "hostile", "corpus"].map(|name| program::testdata().join(name)).to_vec());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            match entry.extension().and_then(|end| end.to_str()) {
                _ if entry.is_dir() => folders.push(entry),
                Some("rdb" | "aof") => dumps.push(entry),
                _ => {}
            }
        }
    }
    dumps.sort();
    dumps
}

/// Passes each record of a dump of [`dumps`] to `see`. Panics if the dump cannot be read to its end, unless it is a damaged
/// one or the commands of an append-only file.
pub fn read_records(dump: &Path, plan: &ReadPlan, mut see: impl FnMut(&Record<'_>)) {
    let may_fail = is_hostile(dump) || dump.to_string_lossy().ends_with(".incr.aof");
    if let Err(error) = for_each_record(&[dump], plan, |record, _| see(record)) {
        assert!(may_fail, "{}: {error}", dump.display());
    }
}

/// Returns whether a dump of [`dumps`] was made to be damaged.
pub fn is_hostile(dump: &Path) -> bool {
    dump.components().any(|part| part.as_os_str() == "hostile")
}
