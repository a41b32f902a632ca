//! Target `salvage`: what is saved of any file is a sound snapshot of as many keys as are announced.

use std::sync::LazyLock;

use rdblens::report::CheckVerdict;
use rdblens::{ReadPlan, Unwatched, check as check_files, salvage};

use super::InputFile;

static PLAN: LazyLock<ReadPlan> = LazyLock::new(|| ReadPlan { threads: 1, ..ReadPlan::new(std::env::temp_dir()) });

/// Saves what is sound, checks it, and saves that again.
pub fn check(input: &[u8]) {
    let plan = &*PLAN;
    let file = InputFile::new(input);
    let mut saved = Vec::new();
    let Ok(first) = salvage(file.path(), plan, Some(&mut saved)) else { return };
    assert_eq!(first.written.0, saved.len() as u64);
    if saved.is_empty() {
        assert!(first.salvage.keys == 0 && !first.sound, "{first:?}");
        return;
    }
    let file = InputFile::new(&saved);
    let checks = check_files(&[file.path()], plan, &Unwatched).expect("the file is there");
    assert_eq!((checks[0].verdict, checks[0].keys), (CheckVerdict::Ok, first.salvage.keys), "{checks:?}");
    let mut again = Vec::new();
    let second = salvage(file.path(), plan, Some(&mut again)).expect("a saved file is a snapshot");
    assert!(second.sound && again == saved, "a saved file is not sound: {second:?}");
}
