//! Inputs to start from, made of the test data: files as they are, and excerpts of real dumps.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use rdblens::rdb::{Cursor, Family, FileItem, RdbHeader, ScanState, Scanner};

/// Size of the largest file that is a seed as it is.
const MAX_BYTES: u64 = 8 << 10;
/// Size of the largest record in an excerpt.
const MAX_RECORD: usize = 600;
/// Size of the head of a dump that fits an excerpt: version and auxiliary fields.
const MAX_HEAD: usize = 2 << 10;
/// Records of each type in an excerpt.
const OF_EACH_TYPE: usize = 2;

/// Returns the seeds of a target.
pub fn of_target(target: &str) -> Vec<Vec<u8>> {
    let prefixed = |kind: u8, bytes: Vec<u8>| [vec![kind], bytes].concat();
    let seeds = match target {
        "whole" | "salvage" => snapshots(),
        "containers" => {
            let kinds = snapshots().into_iter().zip((0..6).cycle());
            kinds.map(|(bytes, kind)| prefixed(kind, bytes)).collect()
        }
        "price" | "show" => dumps().iter().flat_map(|dump| excerpt(dump).1).collect(),
        "partial" => super::partial::seeds(),
        "policy" => texts(&["testdata/policy", "src/policy/presets"], "toml"),
        "stored" => texts(&["testdata/reports", "testdata/golden"], "json"),
        other => panic!("no target {other}"),
    };
    let unique: BTreeSet<Vec<u8>> = seeds.into_iter().collect();
    unique.into_iter().collect()
}

/// Writes the seeds of a target to a folder, if there is one.
pub fn write(target: &str, folder: Option<OsString>) {
    let Some(folder) = folder.map(PathBuf::from) else { return };
    for (at, seed) in of_target(target).into_iter().enumerate() {
        let file = folder.join(format!("seed-{at:04}"));
        fs::write(&file, seed).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    }
}

/// Returns small files of the test data and excerpts of large ones.
fn snapshots() -> Vec<Vec<u8>> {
    let is_small = |file: &PathBuf| fs::metadata(file).is_ok_and(|about| about.len() <= MAX_BYTES);
    let small = |folder: &str| {
        files(folder).into_iter().filter(is_small).filter(|file| is_snapshot(file)).map(|file| read(&file))
    };
    let excerpts = dumps().into_iter().map(|dump| excerpt(&dump).0).filter(|bytes| !bytes.is_empty());
    small("testdata/hostile").chain(small("testdata/servers")).chain(excerpts).collect()
}

fn is_snapshot(file: &Path) -> bool {
    // Minutes of work for a few bytes: one fuzz run of it would be many others.
    let is_bomb = file.file_stem().is_some_and(|name| name.to_string_lossy().contains("bomb"));
    !is_bomb && file.extension().is_some_and(|end| end != "json" && end != "py")
}

fn dumps() -> Vec<Vec<u8>> {
    let is_dump = |file: &PathBuf| file.extension().is_some_and(|end| end == "rdb" || end == "aof");
    let folders = ["testdata/dumps", "testdata/corpus", "testdata/servers"];
    folders.iter().flat_map(|folder| files(folder)).filter(is_dump).map(|file| read(&file)).collect()
}

fn texts(folders: &[&str], end: &str) -> Vec<Vec<u8>> {
    let files = folders.iter().flat_map(|folder| files(folder));
    files.filter(|file| file.extension().is_some_and(|found| found == end)).map(|file| read(&file)).collect()
}

/// Returns a snapshot of a few small records of each type, and each of their values as [`ValueInput`](super::value::ValueInput)
/// takes it. What follows a record that cannot be read is left out.
fn excerpt(dump: &[u8]) -> (Vec<u8>, Vec<Vec<u8>>) {
    let mut cursor = Cursor::new(dump, 0);
    let Ok(header) = RdbHeader::read(&mut cursor) else { return Default::default() };
    let mut scanner = Scanner::new(cursor, ScanState { family: header.family, db: None });
    let (mut file, mut values, mut types) = (Vec::new(), Vec::new(), Vec::new());
    while let Ok(item) = scanner.next_item() {
        let entry = match item {
            FileItem::Key(entry) => entry,
            FileItem::End => break,
            _ => continue,
        };
        if file.is_empty() && entry.start <= MAX_HEAD {
            file.extend_from_slice(&dump[..entry.start]);
        }
        let start = scanner.cursor().consumed();
        if scanner.skip_value(&entry).is_err() {
            break;
        }
        let end = scanner.cursor().consumed();
        let of_type = types.iter().filter(|seen| **seen == entry.value_type).count();
        if end - entry.start > MAX_RECORD || of_type >= OF_EACH_TYPE {
            continue;
        }
        types.push(entry.value_type);
        if !file.is_empty() {
            file.extend_from_slice(&dump[entry.start..end]);
        }
        values.extend(value_input(header.family, entry.value_type, &dump[start..end]));
    }
    if !file.is_empty() {
        // No checksum was computed: all that is changed later is read.
        file.extend_from_slice(b"\xff\0\0\0\0\0\0\0\0");
    }
    (file, values)
}

fn value_input(family: Family, value_type: rdblens::rdb::ValueType, bytes: &[u8]) -> Option<Vec<u8>> {
    let byte = (0..=u8::MAX).find(|&byte| rdblens::rdb::ValueType::from_byte(family, byte) == Some(value_type))?;
    let head = [family as u8, byte, byte];
    Some([&head, bytes].concat())
}

/// Returns the files below a folder of the crate, by name.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for path in entries.map(|entry| entry.expect("the folder is readable").path()) {
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Returns the folder of the crate under test.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().find(|folder| folder.join("testdata").is_dir()).expect("the test data are beside the sources")
}

fn read(file: &Path) -> Vec<u8> {
    fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}
