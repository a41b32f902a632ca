//! docs/reliability.md lists what the sources hold.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use regex::Regex;

use crate::architecture::code;

/// Row of the table of unsafe blocks.
struct Listed {
    file: String,
    blocks: usize,
    test: String,
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> = entries
        .flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] })
        .filter(|path| path.extension().is_some_and(|end| end == "rs"))
        .collect();
    found.sort();
    found
}

/// Returns the rows below the heading "Unsafe code": file, number of blocks, reason, test.
fn listed() -> Vec<Listed> {
    let page = fs::read_to_string(root().join("docs/reliability.md")).unwrap();
    let section = page.split("\n## ").find(|section| section.starts_with("Unsafe code")).expect("the section is there");
    let rows = section.lines().filter(|line| line.starts_with("| `src/"));
    let cell = |row: &str, at: usize| row.split('|').nth(at).unwrap().trim().trim_matches('`').to_owned();
    rows.map(|row| Listed { file: cell(row, 1), blocks: cell(row, 2).parse().unwrap(), test: cell(row, 4) }).collect()
}

#[test]
fn every_unsafe_block_is_listed_with_a_test() {
    let unsafe_code = Regex::new(r"\bunsafe\b\s*(\{|fn\b|impl\b|trait\b|extern\b)").unwrap();
    let mut found = BTreeMap::new();
    for path in sources(&root().join("src")) {
        let text = fs::read_to_string(&path).unwrap();
        let blocks = unsafe_code.find_iter(&code(&text)).count();
        if blocks > 0 {
            found.insert(path.strip_prefix(root()).unwrap().to_string_lossy().into_owned(), blocks);
        }
    }
    let mut expected = BTreeMap::new();
    for Listed { file, blocks, test } in listed() {
        let text = fs::read_to_string(root().join(&file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(text.contains(&format!("fn {test}()")), "{file} has no test {test}");
        *expected.entry(file).or_default() += blocks;
    }
    assert_eq!(found, expected, "left: unsafe blocks of the sources, right: those of docs/reliability.md");
    assert!(found.values().sum::<usize>() >= 2);
}

#[test]
fn policy_of_security_names_what_is_promised() {
    let security = fs::read_to_string(root().join("SECURITY.md")).unwrap();
    assert!(security.contains("docs/reliability.md") && security.contains("private"), "{security}");
    assert!(!security.contains('@'), "no address is invented");
}
