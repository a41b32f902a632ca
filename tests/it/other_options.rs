//! Reports that were made with other options: what can be compared of them is, the rest is named. Flags that have no effect on stored
//! reports are refused.

use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, run_args, run_with_input, stdout_of, text};

const DATA: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata");

fn shop() -> String {
    format!("{DATA}/dumps/shop.rdb")
}

fn later() -> String {
    format!("{DATA}/dumps/shop-later.rdb")
}

/// Writes the report on a dump, and returns its path.
fn report(folder: &Path, name: &str, dump: &str, flags: &[&str]) -> String {
    let path = folder.join(name).display().to_string();
    stdout_of(&[&["analyze", dump, "--format", "json", "--top", "10000", "-o", &path], flags].concat());
    path
}

fn write(folder: &Path, name: &str, text: &str) -> String {
    let path = folder.join(name);
    fs::write(&path, text).unwrap();
    path.display().to_string()
}

/// Runs `compare` with a gate; returns its exit status, the row of the gate, and what is said on standard error.
fn gate(args: &[&str], condition: &str) -> (Option<i32>, Value, String) {
    let done = run_args(&[&["compare"], args, &["--fail-on", condition, "--format", "json"]].concat());
    let comparison: Value = serde_json::from_slice(&done.stdout).unwrap();
    (done.status.code(), comparison["gate"][0].clone(), String::from_utf8(done.stderr).unwrap())
}

fn rules(row: &Value, field: &str) -> Vec<String> {
    row[field].as_array().unwrap().iter().map(|rule| rule.as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_change_of_the_policy_is_no_new_finding() {
    let folder = TempDir::new().unwrap();
    let loose = report(folder.path(), "loose.json", &shop(), &["--policy", "aliyun"]);
    let strict = report(folder.path(), "strict.json", &shop(), &["--policy", "strict"]);
    let (status, row, said) = gate(&[&loose, &strict], "must");
    assert_eq!((status, &row["verdict"], &row["measured"]), (Some(0), &"not-evaluated".into(), &0.0.into()), "{row}");
    assert_eq!(row["reason"], "policies-differ");
    let told = rules(&row, "rules");
    assert!(told.contains(&"key.lowercase".to_owned()) && row["by"] == Value::Array(vec![]), "{row}");
    assert!(said.contains("not evaluated: must: only one of the policies has these rules"), "{said}");
    assert!(told.iter().all(|rule| said.contains(rule)), "{said}");
    let (status, ..) = gate(&[&loose, &strict, "--strict-gate"], "must");
    assert_eq!(status, Some(1));
    // The other way round nothing is fixed either: most rules are no longer in force.
    let comparison: Value =
        serde_json::from_str(&stdout_of(&["compare", &strict, &loose, "--format", "json"])).unwrap();
    assert_eq!(comparison["findings"]["fixed"], Value::Array(vec![]), "{}", comparison["findings"]["fixed"]);
    for (lang, words) in
        [("en", ["against different policies", "other policy"]), ("zh", ["所用的策略不同", "策略不同"])]
    {
        let text = stdout_of(&["compare", &loose, &strict, "--lang", lang, "--fail-on", "must"]);
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
        assert!(told.iter().all(|rule| text.contains(rule.as_str())), "{text}");
    }
}

#[test]
fn findings_of_rules_with_the_same_settings_still_count() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str, text: &str| write(folder.path(), name, text);
    let first = path("team.toml", "name = \"team\"\nextends = \"default\"\n");
    let old = report(folder.path(), "old.json", &shop(), &["--policy", &first]);
    // The file keeps its name and changes one rule, which is broken now.
    path("team.toml", "name = \"team\"\nextends = \"default\"\n[rules]\n\"key.lowercase\" = \"must\"\n");
    let mut keys = Dump::new();
    keys.string("User:1", "x").string("bare", "x");
    fs::write(folder.path().join("new.rdb"), keys.bytes()).unwrap();
    let dump = folder.path().join("new.rdb").display().to_string();
    let new = report(folder.path(), "new.json", &dump, &["--policy", &first]);
    let (status, row, said) = gate(&[&old, &new], "must");
    assert_eq!((status, &row["verdict"]), (Some(1), &"failed".into()), "{row}");
    assert_eq!(
        (rules(&row, "by"), rules(&row, "rules")),
        (vec!["key.prefix".to_owned()], vec!["key.lowercase".to_owned()])
    );
    assert!(said.contains("gate failed: must: key.prefix") && said.contains("not evaluated in full: must"), "{said}");
    let comparison: Value = serde_json::from_str(&stdout_of(&["compare", &old, &new, "--format", "json"])).unwrap();
    let differing = comparison["warnings"].as_array().unwrap().iter().find(|it| it["kind"] == "policies-differ");
    assert_eq!(differing.unwrap()["rules"], serde_json::json!(["key.lowercase"]));
    assert_eq!(comparison["findings"]["other_policy"][0]["rule"], "key.lowercase");
    // A report and a dump that is read with the same policy do not differ.
    let (status, row, _) = gate(&[&new, &dump, "--policy", &first], "must");
    assert_eq!((status, &row["reason"]), (Some(0), &Value::Null), "{row}");
}

#[test]
fn reports_that_do_not_say_what_their_rules_were_are_not_judged() {
    let folder = TempDir::new().unwrap();
    let without = |name: &str, policy: &str| {
        let path = report(folder.path(), name, &shop(), &["--policy", policy]);
        let mut json: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        json["findings"].as_object_mut().unwrap().remove("settings").unwrap();
        fs::write(&path, json.to_string()).unwrap();
        path
    };
    let [default, strict] = [without("a.json", "default"), without("b.json", "strict")];
    let (status, row, said) = gate(&[&default, &strict], "must");
    assert_eq!(
        (status, &row["verdict"], &row["reason"]),
        (Some(0), &"not-evaluated".into(), &"policies-unknown".into())
    );
    assert!(said.contains("do not say whether these rules had the same settings: "), "{said}");
    // A preset is known by its name.
    let (status, row, _) = gate(&[&default, &later()], "must");
    assert_eq!((status, &row["reason"]), (Some(1), &Value::Null), "{row}");
}

#[test]
fn the_reason_names_the_rules_that_were_not_evaluated() {
    let (_, row, said) = gate(&[&shop(), &later(), "--policy", "platform"], "must");
    assert_eq!(row["reason"], "rules-not-evaluated");
    assert!(rules(&row, "rules").contains(&"memory.headroom".to_owned()), "{row}");
    assert!(said.contains("must: rules were not evaluated: ") && said.contains("memory.headroom"), "{said}");
    let text = stdout_of(&["compare", &shop(), &shop(), "--policy", "platform", "--fail-on", "must", "--lang", "zh"]);
    assert!(text.contains("有规则未评估：") && text.contains("memory.headroom"), "{text}");
}

#[test]
fn other_separators_are_told_and_their_patterns_are_not_judged() {
    let folder = TempDir::new().unwrap();
    let colon = report(folder.path(), "colon.json", &shop(), &[]);
    let both = report(folder.path(), "both.json", &shop(), &["--separator", ":", "--separator", "-"]);
    let turned = report(folder.path(), "turned.json", &shop(), &["--separator", "-", "--separator", ":"]);
    for condition in ["must", "pattern=1%"] {
        let (status, row, _) = gate(&[&colon, &both], condition);
        assert_eq!((status, &row["reason"]), (Some(0), &"other-separators".into()), "{row}");
    }
    let (_, row, _) = gate(&[&colon, &both], "growth=1%");
    assert_eq!((&row["verdict"], &row["reason"]), (&"kept".into(), &Value::Null));
    let text = stdout_of(&["compare", &colon, &both]);
    assert!(text.contains("different separators (\"-:\", \":\")") && text.contains("--separator"), "{text}");
    assert!(stdout_of(&["compare", &colon, &both, "--lang", "zh"]).contains("分隔符不同（\"-:\"、\":\"）"));
    assert!(!stdout_of(&["compare", &both, &turned]).contains("separators"));
    // A dump takes the flag.
    assert!(stdout_of(&["compare", &colon, &later(), "--separator", "-"]).contains("different separators"));
    let plan = stdout_of(&["capacity", &colon, &both, "--allow-same", "--node-memory", "16MB"]);
    assert!(plan.contains("different separators"), "{plan}");
}

#[test]
fn a_flag_without_an_effect_on_stored_reports_is_refused() {
    let folder = TempDir::new().unwrap();
    let nights = folder.path().join("nights");
    fs::create_dir(&nights).unwrap();
    let [old, new] =
        [("old.json", shop()), ("new.json", later())].map(|(name, dump)| report(&nights, name, &dump, &[]));
    let folder_of_reports = nights.display().to_string();
    let reading: [&[&str]; 12] = [
        &["--match", "user:*"],
        &["--regex", "user"],
        &["--db", "0"],
        &["--type", "hash"],
        &["--no-expired"],
        &["--limit", "5"],
        &["--server", "valkey-8.1"],
        &["--allocator", "jemalloc"],
        &["--server-config", "maxmemory=1gb"],
        &["--at", "1700000000"],
        &["--salvage"],
        &["--separator", ":"],
    ];
    let refused = |args: &[&str], flag: &str| {
        let done = run_args(args);
        let said = String::from_utf8(done.stderr).unwrap();
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{args:?}: {said}");
        assert!(
            said.contains(&format!("{flag} has no effect")) && said.contains("give the snapshots instead"),
            "{said}"
        );
    };
    for flag in reading.into_iter().chain([&["--policy", "default"][..], &["--allow-same"]]) {
        refused(&[&["compare", &old, &new], flag].concat(), flag[0]);
        // A dump among them makes use of it.
        if !["--match", "--limit"].contains(&flag[0]) {
            assert!(run_args(&[&["compare", &old, &later()], flag].concat()).status.success(), "{flag:?}");
        }
    }
    refused(&["compare", &folder_of_reports, "--match", "user:*"], "--match");
    let capacity = ["capacity", &new, "--node-memory", "16MB"];
    let selection = ["--match", "--regex", "--db", "--type", "--no-expired", "--limit", "--salvage"];
    for flag in reading.into_iter().filter(|flag| !selection.contains(&flag[0])) {
        refused(&[&capacity[..], flag].concat(), flag[0]);
        let of_inputs = flag[0] == "--separator";
        let dump = shop();
        let with_dump = [&capacity[..], &["--earlier", &dump], flag].concat();
        assert_eq!(run_args(&with_dump).status.success(), !of_inputs, "{flag:?}");
        refused(&[&capacity[..], &["--earlier", &old], flag].concat(), flag[0]);
    }
    let nodes = format!("{DATA}/cluster/nodes.txt");
    refused(&[&capacity[..], &["--policy", "none"]].concat(), "--policy");
    refused(&[&capacity[..], &["--cluster-nodes", &nodes]].concat(), "--cluster-nodes");
    assert_eq!(run_args(&[&capacity[..], &["--allow-missing"]].concat()).status.code(), Some(2));
    let several = run_args(&["compare", &old, &new, "--match", "a", "--type", "set"]);
    assert!(String::from_utf8_lossy(&several.stderr).contains("--type, --match have no effect"), "{several:?}");
    // These change no result.
    for flag in [&["--no-checksum"][..], &["--threads", "2"], &["--max-memory", "1GB"], &["--temp-dir", "/tmp"]] {
        assert!(run_args(&[&["compare", &old, &new], flag].concat()).status.success(), "{flag:?}");
        assert!(run_args(&[&capacity[..], flag].concat()).status.success(), "{flag:?}");
    }
}

#[test]
fn flags_that_do_not_go_with_keys_are_refused() {
    for flags in [&["--policy", "strict"][..], &["--ignore", "expiry", "--expiry-tolerance", "1s"], &["--limit", "3"]] {
        let done = run_args(&[&["compare", "--keys", &shop(), &later()], flags].concat());
        assert_eq!((done.status.code(), done.stdout.len()), (Some(2), 0), "{flags:?}");
    }
}

#[test]
fn a_forecast_that_cannot_be_made_is_told() {
    let text = stdout_of(&["compare", &shop(), &shop(), "--maxmemory", "1GB"]);
    assert!(text.contains("no trend and no forecast") && text.contains("of different times"), "{text}");
    let text = stdout_of(&["compare", &shop(), &shop()]);
    assert!(!text.contains("no trend") && text.contains("is the same snapshot as"), "{text}");
}

#[test]
fn a_comparison_by_key_notes_order_and_identity() {
    let notes = |one: &str, other: &str, more: &[&str]| -> Vec<String> {
        let json = stdout_of(&[&["compare", "--keys", one, other, "--format", "json"], more].concat());
        let comparison: Value = serde_json::from_str(&json).unwrap();
        let warnings = comparison["warnings"].as_array().unwrap().iter();
        warnings.map(|warning| warning["kind"].as_str().unwrap().to_owned()).collect()
    };
    assert!(notes(&shop(), &later(), &[]).is_empty());
    assert_eq!(notes(&later(), &shop(), &[]), ["not-in-order"]);
    assert_eq!(notes(&shop(), &shop(), &[]), ["same-snapshot"]);
    let of = |version: &str| format!("{DATA}/corpus/{version}/dump.rdb");
    let kinds = notes(&of("redis-6.0.20"), &of("valkey-8.1.1-lfu"), &[]);
    assert!(kinds.contains(&"models-differ".to_owned()), "{kinds:?}");
    assert!(
        !notes(&of("redis-6.0.20"), &of("valkey-8.1.1-lfu"), &["--server", "redis-7.0"])
            .contains(&"models-differ".to_owned())
    );
    let text = stdout_of(&["compare", "--keys", &later(), &shop()]);
    assert!(text.contains("not in the order of their times"), "{text}");
    let text = stdout_of(&["compare", "--keys", &shop(), &shop(), "--lang", "zh"]);
    assert!(text.contains("是同一份快照"), "{text}");
}

#[test]
fn flags_that_only_rules_heed_are_refused_for_rows_without_rules() {
    let keys = |flags: &[&str]| run(rdblens().args(["keys", "testdata/dumps/shop.rdb", "--limit", "1"]).args(flags));
    for flags in [&["--big-string", "5"][..], &["--big-elements", "5"], &["--big-memory", "5"], &["--inspect-values"]] {
        let refused = keys(flags);
        assert_eq!(refused.status.code(), Some(2), "{flags:?}");
        assert!(text(&refused).contains(&format!("{} has no effect on rows without rules", flags[0])));
        assert!(keys(&[flags, &["--policy", "default"]].concat()).status.success(), "{flags:?}");
    }
}

#[test]
fn a_missing_folder_for_temporary_files_is_named_with_its_flag() {
    let shop = "testdata/dumps/shop.rdb";
    let input = std::fs::read(shop).unwrap();
    let salvaged = run_with_input(rdblens().args(["salvage", "-", "--temp-dir", "no/such"]), input);
    let said = text(&salvaged);
    assert_eq!(salvaged.status.code(), Some(3), "{said}");
    assert!(
        said.contains("cannot create a temporary file in no/such: ") && said.contains("--temp-dir names"),
        "{said}"
    );
}
