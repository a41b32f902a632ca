//! A drafted dictionary fits the snapshot that it was drafted from, and reports what a later snapshot has in addition.

use crate::common::program::stdout_of;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn dumps() -> Vec<PathBuf> {
    let folders = fs::read_dir(Path::new(DATA).join("corpus")).unwrap().map(|entry| entry.unwrap().path());
    let dumps = folders.map(|folder| folder.join("dump.rdb")).filter(|dump| dump.is_file());
    let mut dumps: Vec<_> = dumps.chain([Path::new(DATA).join("dumps/shop.rdb")]).collect();
    dumps.sort();
    dumps
}

/// Checks a snapshot against the dictionary in `draft`; returns the fit.
fn fit(draft: &Path, dump: &str) -> Value {
    let report = stdout_of(&["analyze", dump, "--policy", draft.to_str().unwrap(), "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    report["findings"]["dictionary"].clone()
}

#[test]
fn a_draft_is_a_policy_that_registers_every_key_of_its_snapshot() {
    let folder = tempfile::tempdir().unwrap();
    let draft = folder.path().join("draft.toml");
    let dumps = dumps();
    assert!(dumps.len() > 10);
    for dump in dumps {
        let dump = dump.to_str().unwrap();
        fs::write(&draft, stdout_of(&["dictionary", dump, "--top", "10000"])).unwrap();
        let text = fs::read_to_string(&draft).unwrap();
        let fit = fit(&draft, dump);
        assert_eq!(fit["unused"], Value::Array(Vec::new()), "{dump}");
        // Keys for which no entry can be written are listed in the draft as a comment.
        if !text.contains("has no entry") {
            assert_eq!(fit["unregistered"]["keys"], 0, "{dump}");
        }
    }
}

#[test]
fn a_dictionary_reports_additional_and_missing_patterns() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, shop) = (folder.path().join("team.toml"), format!("{DATA}/dumps/shop.rdb"));
    let known = "[[dictionary]]\npattern = \"cache:**\"\nowner = \"web\"\n[[dictionary]]\npattern = \"gone:{int}\"\nowner = \"ops\"\n";
    fs::write(&policy, known).unwrap();
    let fit = fit(&policy, &shop);
    assert_eq!(fit["unused"], serde_json::json!(["gone:{int}"]));
    let keys = stdout_of(&["keys", &shop]);
    let cached = keys.lines().filter(|row| row.contains("\"key\":\"cache:")).count();
    assert_eq!(fit["entries"][0]["keys"], cached);

    let more = stdout_of(&["dictionary", &shop, "--policy", policy.to_str().unwrap()]);
    assert!(more.contains("# No key matches its entry \"gone:{int}\"."), "{more}");
    assert!(!more.contains("pattern = \"cache:") && more.contains("pattern = \"leaderboard:"), "{more}");
    fs::write(&policy, format!("{known}{more}")).unwrap();
    let fit = self::fit(&policy, &shop);
    assert_eq!(fit["unregistered"]["keys"], 0);
}
