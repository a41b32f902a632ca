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
use std::path::PathBuf;

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
