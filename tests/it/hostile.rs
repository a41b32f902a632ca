//! Damaged and odd files: each gets the verdict listed for it, quickly, and never causes a panic.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

use rdblens::internals::analyze::Unwatched;
use rdblens::internals::analyze::check::check;
use rdblens::internals::analyze::plan::ReadPlan;
use rdblens::report::CheckVerdict;
use serde::Deserialize;

use crate::common::program::{rdblens, run_within, testdata, text};

/// Result that `testdata/make_hostile.py` expects for a file.
#[derive(Debug, Deserialize)]
struct Expected {
    /// Accepted words, divided by `|`.
    verdict: String,
    exit: Statuses,
    /// Keys read before the fault, where it matters.
    keys: Option<u64>,
    note: String,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Statuses {
    One(i32),
    Several(Vec<i32>),
}

impl Statuses {
    fn accept(&self, status: Option<i32>) -> bool {
        match self {
            Statuses::One(one) => status == Some(*one),
            Statuses::Several(several) => status.is_some_and(|status| several.contains(&status)),
        }
    }
}

/// Time limit for reading a small file: anything slower trusted a forged length.
const LIMIT: Duration = Duration::from_secs(2);
/// On a busy machine one run may be slow for no fault of the file: what is slow so often is.
const ATTEMPTS: usize = 3;

/// Files up to this size are cut at every byte; of larger ones, the first bytes up to [`HEAD`].
const SMALL: usize = 4096;
const HEAD: usize = 2048;

/// Returns the dumps in a folder of testdata, by name.
fn dumps(folder: &str) -> Vec<PathBuf> {
    let path = testdata().join(folder);
    let entries = fs::read_dir(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("the folder is readable").path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "rdb"));
    files.sort();
    files
}

fn name(file: &Path) -> String {
    file.file_stem().expect("it is a file").to_string_lossy().into_owned()
}

/// Returns whether the output of `rdblens check` reports a verdict.
fn reports_verdict(output: &str, verdict: &str) -> bool {
    let output = output.to_lowercase();
    match verdict {
        "ok" => output.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word == "ok"),
        "checksum" => output.contains("checksum mismatch"),
        other => output.contains(other) || output.contains(&other.replace('-', " ")),
    }
}

/// Returns whether the output counts this number of keys: `2 keys`, `keys read: 2`, `keys 2`.
fn counts(output: &str, keys: u64) -> bool {
    let lower = output.to_lowercase().replace(',', "");
    let words: Vec<&str> = lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let number = keys.to_string();
    let is_key = |word: &&str| *word == "key" || *word == "keys";
    words.windows(2).any(|pair| pair[0] == number && is_key(&pair[1]) || is_key(&pair[0]) && pair[1] == number)
        || words.windows(3).any(|three| is_key(&three[0]) && three[1] == "read" && three[2] == number)
}

/// Runs a command on a file; `None` if that takes long each time.
fn run_quickly(command: &str, file: &Path) -> Option<Output> {
    (0..ATTEMPTS).find_map(|_| run_within(rdblens().arg(command).arg(file), LIMIT))
}

/// Returns the difference between the actual and the expected result for a file.
fn fault(file: &Path, expected: &Expected) -> Option<String> {
    let Some(output) = run_quickly("check", file) else {
        return Some(format!("took longer than {LIMIT:?}"));
    };
    let said = text(&output);
    let status = output.status.code();
    let verdict = expected.verdict.split('|').any(|verdict| reports_verdict(&said, verdict));
    let counted = expected.keys.is_none_or(|keys| counts(&said, keys));
    let sound = status.is_some() && !said.contains("panicked");
    if sound && verdict && counted && expected.exit.accept(status) {
        return None;
    }
    let Expected { verdict, exit, keys, note } = expected;
    let said = said.trim_end();
    Some(format!("{note}: expected {verdict}, {exit:?}, keys {keys:?}; got status {status:?} and {said:?}"))
}

#[test]
fn every_damaged_file_ends_in_its_verdict() {
    let files = dumps("hostile");
    assert!(files.len() > 100, "testdata/hostile has its files");
    let mut faults = Vec::new();
    for file in &files {
        let json = fs::read(file.with_extension("json")).unwrap_or_else(|error| panic!("{}: {error}", name(file)));
        let expected: Expected =
            serde_json::from_slice(&json).unwrap_or_else(|error| panic!("{}: {error}", name(file)));
        faults.extend(fault(file, &expected).map(|fault| format!("{}: {fault}", name(file))));
    }
    assert!(faults.is_empty(), "{} of {} files:\n{}", faults.len(), files.len(), faults.join("\n"));
}

#[test]
fn the_other_commands_survive_every_damaged_file() {
    for file in dumps("hostile") {
        for command in ["keys", "analyze"] {
            let output = run_quickly(command, &file);
            let output = output.unwrap_or_else(|| panic!("{command} {}: took longer than {LIMIT:?}", name(&file)));
            assert!(!text(&output).contains("panicked"), "{command} {}: {}", name(&file), text(&output));
            let status = output.status.code();
            assert!(matches!(status, Some(0 | 3 | 4)), "{command} {}: exit {status:?}: {}", name(&file), text(&output));
        }
    }
}

/// Checks many versions of a file through the library: a process for each would take minutes.
struct Checker {
    folder: tempfile::TempDir,
    plan: ReadPlan,
}

impl Checker {
    fn new() -> Checker {
        let folder = tempfile::tempdir().expect("a folder for temporary files");
        let plan = ReadPlan { threads: 1, ..ReadPlan::new(folder.path().to_owned()) };
        Checker { folder, plan }
    }

    /// Checks a file of these bytes; returns why it is not sound.
    fn check(&self, bytes: &[u8]) -> Result<(), String> {
        let path = self.folder.path().join("cut.rdb");
        fs::write(&path, bytes).expect("the folder takes files");
        let checks = check(&[&path], &self.plan, &Unwatched).map_err(|error| error.to_string())?;
        if checks.iter().all(|file| file.verdict == CheckVerdict::Ok) {
            Ok(())
        } else {
            Err(checks.into_iter().flat_map(|file| file.errors).map(|error| error.wording.en).collect())
        }
    }
}

/// Truncates `bytes` before every byte below `end`: part of a sound file is never sound, and no truncation panics or
/// takes long.
fn cut_everywhere(checker: &Checker, file: &str, bytes: &[u8], end: usize, sound: bool) {
    for at in 0..end {
        let outcome = (0..ATTEMPTS).find_map(|_| {
            let start = Instant::now();
            let outcome = checker.check(&bytes[..at]);
            (start.elapsed() < LIMIT).then_some(outcome)
        });
        let outcome = outcome.unwrap_or_else(|| panic!("{file} cut at {at}: took longer than {LIMIT:?}"));
        assert!(!sound || outcome.is_err(), "{file} cut at {at} passes for whole");
        assert!(outcome.is_ok() || outcome.is_err_and(|error| !error.is_empty()), "{file} cut at {at}: no message");
    }
}

#[test]
fn a_cut_at_any_byte_is_a_clear_error() {
    let checker = Checker::new();
    let mut cuts = 0;
    for file in dumps("hostile").into_iter().chain(dumps("dumps")) {
        let bytes = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let end = if bytes.len() < SMALL { bytes.len() } else { HEAD };
        let name = name(&file);
        if name == "gzip-bomb" {
            continue; // each truncation of it is megabytes of zeros again
        }
        // Bytes after the checksum are not part of the snapshot, nor is padding.
        let goes_on = ["valid-junk-behind-checksum", "valid-dragonfly-padding"].contains(&name.as_str());
        let sound = name.starts_with("valid-") && !goes_on || name == "shop";
        cut_everywhere(&checker, &name, &bytes, end, sound);
        cuts += end;
    }
    assert!(cuts > 10_000, "{cuts} cuts were made");
}

#[test]
fn every_error_is_worded_in_both_languages() {
    let checker = Checker::new();
    let is_chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
    let mut seen = 0;
    for file in dumps("hostile") {
        let Ok(checks) = check(&[&file], &checker.plan, &Unwatched) else { continue };
        for error in checks.into_iter().flat_map(|check| check.errors) {
            let (en, zh) = (&error.wording.en, &error.wording.zh);
            assert!(is_chinese(zh) && !is_chinese(en), "{}: {en} / {zh}", name(&file));
            assert!(!zh.contains(": ") || zh.contains("：\"") || zh.contains('`'), "{}: {zh}", name(&file));
            seen += 1;
        }
    }
    assert!(seen > 50, "{seen}");
}
