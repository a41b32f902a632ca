//! Golden files: the expected output, byte for byte, in `testdata/golden`.
//!
//! `UPDATE_GOLDEN=1 cargo test` renews them; read the diff before committing.

use std::path::Path;

/// Compares `actual` with `testdata/golden/<name>`, or renews that file if `UPDATE_GOLDEN` is set.
#[track_caller]
pub fn check(name: &str, actual: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/golden").join(name);
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("testdata/golden/{name}: {error}; UPDATE_GOLDEN=1 makes it"));
    if let Some(difference) = first_difference(&expected, actual) {
        panic!("testdata/golden/{name} differs {difference}\nUPDATE_GOLDEN=1 renews it");
    }
}

fn first_difference(expected: &str, actual: &str) -> Option<String> {
    if expected == actual {
        return None;
    }
    let (mut old, mut new) = (expected.split('\n'), actual.split('\n'));
    for line in 1.. {
        let (expected, actual) = (old.next(), new.next());
        if expected != actual {
            return Some(format!("in line {line}\n  expected {expected:?}\n       got {actual:?}"));
        }
    }
    None
}
