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

/// Findings of a policy without those of `key.registered`, as rule, severity, keys and memory; and whether it has those.
fn findings(policy: &str, dump: &str) -> (Vec<[String; 4]>, bool) {
    let report = stdout_of(&["analyze", dump, "--policy", policy, "--format", "json"]);
    let report: Value = serde_json::from_str(&report).unwrap();
    let list = report["findings"]["list"].as_array().unwrap().clone();
    let row = |finding: &Value| ["rule", "severity", "keys", "memory"].map(|field| finding[field].to_string());
    let mut rows: Vec<_> = list.iter().map(row).collect();
    let all = rows.len();
    rows.retain(|[rule, ..]| rule != "\"key.registered\"");
    rows.sort();
    let registered = rows.len() < all;
    (rows, registered)
}

#[test]
fn a_draft_that_nobody_edited_hides_no_finding() {
    let folder = tempfile::tempdir().unwrap();
    let (draft, shop) = (folder.path().join("draft.toml"), format!("{DATA}/dumps/shop.rdb"));
    let text = stdout_of(&["dictionary", &shop, "--top", "10000"]);
    assert!(!text.contains("ttl = \"forever\"") && text.contains("ttl = \"\" # fits: \"days\""), "{text}");
    for preset in ["default", "service", "hzero", "platform", "strict", "aliyun"] {
        fs::write(&draft, text.replace("extends = \"default\"", &format!("extends = \"{preset}\""))).unwrap();
        let (with, incomplete) = findings(draft.to_str().unwrap(), &shop);
        let (without, _) = findings(preset, &shop);
        assert_eq!(with, without, "{preset}");
        assert!(incomplete, "{preset}: the entries of the draft name no owner");
    }
    let fit = fit(&draft, &shop);
    assert_eq!(fit["incomplete"].as_array().unwrap().len(), fit["entries"].as_array().unwrap().len());
    let shown = stdout_of(&["analyze", &shop, "--full", "--policy", draft.to_str().unwrap()]);
    assert!(shown.contains("of the entries name no owner") && shown.contains("no owner: "), "{shown}");
}

#[test]
fn entries_are_not_drafted_for_keys_that_a_pattern_at_any_level_covers() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, shop) = (folder.path().join("team.toml"), format!("{DATA}/dumps/shop.rdb"));
    fs::write(&policy, "[[dictionary]]\npattern = \"**:product:**\"\nowner = \"\"\n").unwrap();
    let more = stdout_of(&["dictionary", &shop, "--policy", policy.to_str().unwrap()]);
    assert!(more.contains("# Its entry \"**:product:**\" names no owner."), "{more}");
    assert!(!more.contains("pattern = \"cache:product:") && more.contains("pattern = \"leaderboard:"), "{more}");
}

/// Returns the patterns that a draft has entries for.
fn patterns(draft: &str) -> Vec<&str> {
    draft.lines().filter_map(|line| line.strip_prefix("pattern = ")).collect()
}

#[test]
fn top_counts_missing_entries_until_none_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let (policy, shop) = (folder.path().join("team.toml"), format!("{DATA}/dumps/shop.rdb"));
    let all = stdout_of(&["dictionary", &shop]);
    let all = patterns(&all);
    let mut text = "name = \"team\"\nextends = \"strict\"\n".to_owned();
    let mut drafted = Vec::new();
    loop {
        fs::write(&policy, &text).unwrap();
        let more = stdout_of(&["dictionary", &shop, "--policy", policy.to_str().unwrap(), "--top", "7"]);
        assert!(!more.contains("extends") && !more.contains("[[ttl_class]]"), "{more}");
        let new: Vec<String> = patterns(&more).into_iter().map(str::to_owned).collect();
        let left = all.len() - drafted.len() - new.len();
        assert_eq!(more.contains(&format!("# {left} lighter patterns are left out")), left > 0, "{more}");
        if new.is_empty() {
            break;
        }
        assert!(new.len() <= 7);
        drafted.extend(new);
        text += &more.replace("owner = \"\"", "owner = \"web\"");
    }
    assert_eq!(drafted, all);
    let fit = fit(&policy, &shop);
    assert_eq!((&fit["unregistered"]["keys"], &fit["incomplete"]), (&Value::from(0), &Value::Array(Vec::new())));
}

#[test]
fn a_draft_for_a_preset_is_a_policy_that_extends_it() {
    let folder = tempfile::tempdir().unwrap();
    let (draft, shop) = (folder.path().join("draft.toml"), format!("{DATA}/dumps/shop.rdb"));
    for preset in ["default", "strict", "platform"] {
        let text = stdout_of(&["dictionary", &shop, "--policy", preset]);
        assert!(text.contains(&format!("extends = \"{preset}\"\n")), "{text}");
        fs::write(&draft, text).unwrap();
        let fit = fit(&draft, &shop);
        assert!(fit["entries"].as_array().is_some_and(|entries| entries.len() > 10), "{fit}");
    }
}
