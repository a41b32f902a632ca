//! Rules that were not evaluated: never reported as kept, named by the gate.

use std::collections::BTreeSet;
use std::fs;

use serde_json::Value;
use tempfile::TempDir;

use crate::common::dump::Dump;
use crate::common::program::run_args;

const SHOP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/testdata/dumps/shop.rdb");

fn analyze(args: &[&str]) -> (i32, String, String) {
    let output = run_args(&[&["analyze", SHOP], args].concat());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn report(args: &[&str]) -> Value {
    serde_json::from_str(&analyze(&[&["--format", "json"], args].concat()).1).unwrap()
}

fn ids(list: &Value) -> BTreeSet<&str> {
    let id = |entry: &'_ Value| entry.as_str().or(entry["rule"].as_str()).map(str::to_owned);
    assert!(list.as_array().unwrap().iter().all(|entry| id(entry).is_some()));
    list.as_array().unwrap().iter().filter_map(|entry| entry.as_str().or(entry["rule"].as_str())).collect()
}

/// Returns rule and flag of each rule that was not evaluated.
fn open(report: &Value) -> Vec<(&str, Option<&str>)> {
    let list = report["findings"]["not_evaluated"].as_array().unwrap();
    list.iter().map(|entry| (entry["rule"].as_str().unwrap(), entry["flag"].as_str())).collect()
}

#[test]
fn what_a_run_lacks_is_listed_and_never_kept() {
    let report = report(&["--policy", "platform"]);
    let open = open(&report);
    for lacking in [
        ("backup.age", Some("--now")),
        ("key.registered", None),
        ("memory.growth", Some("--baseline")),
        ("memory.headroom", Some("--maxmemory")),
        ("memory.limit", Some("--maxmemory")),
        ("memory.volatile-policy", Some("--maxmemory-policy")),
        ("value.sensitive", Some("--inspect-values")),
    ] {
        assert!(open.contains(&lacking), "{lacking:?} in {open:?}");
    }
    assert!(open.is_sorted());
    let findings = &report["findings"];
    assert!(ids(&findings["checked"]).is_disjoint(&ids(&findings["not_evaluated"])));
    assert!(ids(&findings["list"]).is_disjoint(&ids(&findings["not_evaluated"])));
    let metrics = analyze(&["--policy", "platform", "--format", "prometheus"]).1;
    for (rule, _) in open {
        assert!(!metrics.contains(rule), "{rule}");
    }
    assert!(metrics.contains("rdblens_rule_broken{rule=\"backup.integrity\"} 0"));
}

#[test]
fn a_policy_without_rules_does_not_pass_unnoticed() {
    let folder = TempDir::new().unwrap();
    let policy = folder.path().join("team.toml");
    fs::write(&policy, "name = \"team\"\n").unwrap();
    for policy in [policy.to_str().unwrap(), "none"] {
        for (strict, status) in [(None, 0), (Some("--strict-gate"), 1)] {
            let args = ["--policy", policy, "--fail-on", "must"].into_iter().chain(strict).collect::<Vec<_>>();
            let (code, _, stderr) = analyze(&args);
            assert_eq!(code, status, "{args:?}: {stderr}");
            assert!(stderr.contains("has no rules in force"), "{stderr}");
        }
        let (code, _, stderr) = analyze(&["--policy", policy]);
        assert_eq!((code, stderr.as_str()), (0, ""));
    }
    let stderr = analyze(&["--policy", "hzero", "--fail-on", "must"]).2;
    assert!(!stderr.contains("has no rules in force"), "{stderr}");
}

#[test]
fn a_rule_is_evaluated_with_what_it_needs() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (earlier, policy) = (path("earlier.json"), path("team.toml"));
    let mut night_before = report(&["--policy", "platform", "--top", "10000"]);
    night_before["server"]["ctime"] = (night_before["server"]["ctime"].as_i64().unwrap() - 86_400).into();
    fs::write(&earlier, night_before.to_string()).unwrap();
    let dictionary = "extends = \"platform\"\n[[dictionary]]\npattern = \"user:**\"\nowner = \"accounts\"\n";
    fs::write(&policy, dictionary).unwrap();
    let given =
        ["--policy", &policy, "--maxmemory", "1GB", "--maxmemory-policy", "volatile-lru", "--baseline", &earlier];
    let rest = ["--inspect-values", "--now", "2026-11-22T00:00:00Z"];
    let report = report(&[&given[..], &rest].concat());
    // One server outside a cluster has no shards, and nobody agreed on a budget.
    let is_open = |(rule, _): &(&str, _)| !matches!(*rule, "slot.skew" | "memory.budget");
    let open = open(&report).into_iter().filter(is_open).collect::<Vec<_>>();
    assert_eq!(open, []);
    let findings = &report["findings"];
    for rule in ["backup.age", "key.registered", "memory.growth", "memory.headroom", "value.sensitive"] {
        assert!(ids(&findings["checked"]).contains(rule), "{rule}");
    }
    let first = ids(&findings["baseline"]["first_evaluated"]);
    assert!(first.contains("key.registered") && !first.contains("key.prefix"), "{first:?}");
    assert_eq!(findings["baseline"]["new"], Value::Array(vec![]));
}

#[test]
fn a_flag_with_a_wrong_value_is_not_asked_for_again() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("part.json");
    let baseline = path.to_str().unwrap();
    fs::write(&path, report(&["--limit", "100"]).to_string()).unwrap();
    let args = ["--policy", "platform", "--now", "2020-01-01T00:00:00Z", "--baseline", baseline, "--maxmemory", "0"];
    let table = analyze(&[&args[..], &["--full"]].concat()).1;
    for flag in ["--now", "--baseline", "--maxmemory)"] {
        assert!(!table.contains(&format!("needs {flag}")), "{table}");
    }
    let report = report(&args);
    let not_evaluated = report["findings"]["not_evaluated"].as_array().unwrap();
    let reason = |rule: &str| not_evaluated.iter().find(|it| it["rule"] == rule).unwrap()["reason"].as_str().unwrap();
    assert_eq!(reason("backup.age"), "the given time is before a snapshot");
    let incomparable = "the report given as baseline is incomplete, or of other keys or separators";
    assert_eq!(reason("memory.growth"), incomparable);
    let given = open(&report).into_iter().filter(|(_, flag)| flag.is_some_and(|flag| args.contains(&flag)));
    assert_eq!(given.collect::<Vec<_>>(), []);
}

#[test]
fn a_gate_over_a_selection_without_keys_says_so() {
    let gate = |args: &[&str]| analyze(&[&["--fail-on", "must", "--format", "json"], args].concat());
    let (status, _, said) = gate(&["--match", "ordr:*"]);
    assert_eq!(
        (status, said.as_str()),
        (0, "rdblens: gate: no key was selected by --match ordr:*: nothing can fail\n")
    );
    assert_eq!(gate(&["--match", "ordr:*", "--strict-gate"]).0, 1);
    assert!(!gate(&[]).2.contains("no key was selected"));
}

#[test]
fn every_form_names_the_rules_that_were_not_evaluated() {
    for form in ["table", "markdown", "html", "json"] {
        for lang in ["en", "zh"] {
            let shown = analyze(&["--policy", "platform", "--full", "--format", form, "--lang", lang]).1;
            assert!(shown.contains("memory.headroom") && shown.contains("--maxmemory"), "{form} {lang}");
        }
    }
    let csv = analyze(&["--policy", "platform", "--format", "csv", "--section", "not-evaluated"]).1;
    assert!(csv.contains("\nmemory.headroom,must,") && csv.contains(",'--maxmemory\n"), "{csv}");
}

#[test]
fn the_gate_names_what_it_could_not_evaluate_and_fails_if_it_is_strict() {
    let policy = TempDir::new().unwrap();
    let path = policy.path().join("team.toml");
    let path = path.to_str().unwrap();
    fs::write(path, "[rules]\n\"memory.headroom\" = \"must\"\n\"backup.age\" = \"hint\"\n").unwrap();
    let gate = |args: &[&str]| {
        let (status, _, said) = analyze(&[&["--policy", path][..], args].concat());
        (status, said)
    };
    assert_eq!(gate(&[]), (0, String::new()));
    let (status, said) = gate(&["--fail-on", "must"]);
    assert_eq!(status, 0);
    assert!(said.contains("not evaluated: memory.headroom (must)") && said.contains("--maxmemory"), "{said}");
    assert!(!said.contains("backup.age"), "{said}");
    assert_eq!(gate(&["--fail-on", "must", "--strict-gate"]).0, 1);
    assert_eq!(gate(&["--fail-on", "must", "--strict-gate", "--maxmemory", "1GB"]), (0, String::new()));
    assert_eq!(gate(&["--fail-on", "hint", "--strict-gate", "--maxmemory", "1GB"]).0, 1);
    assert_eq!(gate(&["--strict-gate"]).0, 2);
}

#[test]
fn the_gate_names_what_fails_it_where_no_report_does() {
    let folder = TempDir::new().unwrap();
    let (page, json) = (folder.path().join("gate.md"), folder.path().join("gate.json"));
    let (page, json) = (page.to_str().unwrap(), json.to_str().unwrap());
    let (status, _, said) = analyze(&["--fail-on", "must", "-o", page]);
    assert!(status == 1 && said.contains("gate failed: must: "), "{said}");
    let finding = &report(&[])["findings"]["list"][0];
    let named = format!("{} ({} key", finding["rule"].as_str().unwrap(), finding["keys"]);
    assert!(finding["severity"] == "must" && said.contains(&named), "{said}");
    // Standard output shows the findings.
    assert!(!analyze(&["--fail-on", "must"]).2.contains("gate failed"));
    assert!(analyze(&["--fail-on", "must", "--format", "prometheus"]).2.contains("gate failed"));
    assert!(!analyze(&["--policy", "none", "--fail-on", "must", "-o", page]).2.contains("gate failed"));
    // With a baseline, only what is new counts.
    assert_eq!(analyze(&["-o", json]).0, 0);
    let (status, _, said) = analyze(&["--baseline", json, "--fail-on", "must", "-o", page]);
    assert!(status == 0 && !said.contains("gate failed"), "{said}");
}

#[test]
fn a_stored_report_passes_the_same_gate() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("report.json");
    let path = path.to_str().unwrap();
    fs::write(path, analyze(&["--policy", "platform", "--format", "json"]).1).unwrap();
    let render = |args: &[&str]| run_args(&[&["render", path, "--fail-on", "must"], args].concat());
    let said = String::from_utf8(render(&[]).stderr).unwrap();
    assert!(said.contains("not evaluated: memory.headroom (must)"), "{said}");
    assert_eq!(render(&["--strict-gate"]).status.code(), Some(1));
}

#[test]
fn a_part_of_the_keys_proves_nothing_about_the_instance() {
    let args = ["--policy", "aliyun", "--match", "session:*", "--maxmemory-policy", "volatile-lru"];
    let selected = report(&args);
    let of_instance = ["db.multiple", "instance.mixed"];
    assert!(of_instance.iter().all(|rule| open(&selected).contains(&(rule, None))), "{:?}", open(&selected));
    assert!(open(&report(&["--policy", "aliyun"])).iter().all(|(rule, _)| !of_instance.contains(rule)));
}

#[test]
fn sizes_of_texts_are_unknown_if_no_string_is_compressed() {
    let rule = "value.compressible";
    let folder = TempDir::new().unwrap();
    let judged = |dump: &Dump| {
        let path = folder.path().join("dump.rdb");
        fs::write(&path, dump.bytes()).unwrap();
        let path = path.to_str().unwrap();
        let output = run_args(&["analyze", path, "--policy", "platform", "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let findings = &report["findings"];
        ["list", "checked", "not_evaluated"].map(|list| ids(&findings[list]).contains(rule))
    };
    let text = "a text that says the same thing again and again. ".repeat(100);
    let bitmap = [0, 0x80].repeat(2_000);
    let mut plain = Dump::new();
    plain.string("cache:page:1:html", &text).string("flag:day:1:users", &bitmap);
    assert_eq!(judged(&plain), [false, false, true]);
    assert_eq!(judged(plain.clone().stored("cache:page:2:html", &text)), [true, true, false]);
    // A short compressed string shows that servers compress what they can, so the text was not worth it.
    assert_eq!(
        judged(plain.compressed("cache:page:2:title", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")),
        [false, true, false]
    );
    assert_eq!(judged(Dump::new().string("flag:day:1:users", &bitmap)), [false, true, false]);
    assert_eq!(judged(Dump::new().string("cache:page:1:html", &text[..1023])), [false, true, false]);
}

#[test]
fn a_finding_in_one_file_does_not_hide_that_another_was_not_evaluated() {
    let folder = TempDir::new().unwrap();
    let judged = |dumps: &[&Dump], rule: &str| {
        let mut args = vec!["analyze".to_owned()];
        for (number, dump) in dumps.iter().enumerate() {
            let path = folder.path().join(format!("{number}.rdb"));
            fs::write(&path, dump.bytes()).unwrap();
            args.push(path.to_str().unwrap().to_owned());
        }
        let rest = ["--policy", "platform", "--format", "json"];
        let output = run_args(&args.iter().map(String::as_str).chain(rest).collect::<Vec<_>>());
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        ["list", "checked", "not_evaluated"].map(|list| ids(&report["findings"][list]).contains(rule))
    };
    let text = "a text that says the same thing again and again. ".repeat(100);
    let (mut compressed, mut plain) = (Dump::new(), Dump::new());
    compressed.stored("cache:page:2:html", &text);
    plain.string("cache:page:1:html", &text);
    assert_eq!(judged(&[&compressed], "value.compressible"), [true, true, false]);
    assert_eq!(judged(&[&plain], "value.compressible"), [false, false, true]);
    assert_eq!(judged(&[&compressed, &plain], "value.compressible"), [true, true, true]);
}

#[test]
fn of_a_cut_file_nothing_is_kept_but_what_is_about_files() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("cut.rdb");
    let bytes = fs::read(SHOP).unwrap();
    fs::write(&path, &bytes[..bytes.len() * 9 / 10]).unwrap();
    let policy = ["--policy", "platform", "--maxmemory", "4GB", "--maxmemory-policy", "volatile-lru"];
    let args = [&["analyze", path.to_str().unwrap(), "--format", "json", "--now", "2026-01-01T00:00:00Z"][..], &policy];
    let report: Value = serde_json::from_slice(&run_args(&args.concat()).stdout).unwrap();
    assert_eq!(report["complete"], false);
    let findings = &report["findings"];
    let (found, checked) = (ids(&findings["list"]), ids(&findings["checked"]));
    assert!(found.contains("backup.integrity"));
    let kept: Vec<_> = checked.difference(&found).collect();
    assert!(kept.iter().all(|rule| rule.starts_with("backup.")), "{kept:?}");
    let list = findings["not_evaluated"].as_array().unwrap();
    let reason =
        |rule: &str| list.iter().find(|open| open["rule"] == rule).map(|open| open["reason"].as_str().unwrap());
    assert_eq!(reason("memory.headroom"), Some("a file could not be read completely"));
    assert_eq!(reason("stream.pending"), Some("a file could not be read completely"));
}

#[test]
fn shares_of_some_keys_are_not_those_of_all() {
    let policy = ["--policy", "platform", "--maxmemory-policy", "volatile-lru"];
    let rule = "memory.volatile-policy";
    let all = report(&policy);
    assert!(ids(&all["findings"]["checked"]).contains(rule));
    let some = report(&[&policy[..], &["--type", "hash"]].concat());
    assert!(some["totals"]["keys"].as_u64() > Some(0));
    assert!(!ids(&some["findings"]["list"]).contains(rule) && ids(&some["findings"]["not_evaluated"]).contains(rule));
}

#[test]
fn no_limit_and_no_checksum_are_told_as_such() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("plain.rdb");
    fs::write(&path, Dump::new().string("shop:order:item:1", "x").bytes()).unwrap();
    let args = ["analyze", path.to_str().unwrap(), "--policy", "platform", "--format", "json", "--maxmemory", "0"];
    let report: Value = serde_json::from_slice(&run_args(&args).stdout).unwrap();
    let entry = |list: &str, rule: &str| {
        let list = report["findings"][list].as_array().unwrap();
        list.iter().find(|entry| entry["rule"] == rule).unwrap_or_else(|| panic!("{rule} is not in {list:?}")).clone()
    };
    assert_eq!(entry("not_evaluated", "backup.integrity")["reason"], "a file has no checksum");
    // The standard demands a limit.
    let limit = entry("list", "memory.limit");
    assert_eq!((&limit["severity"], &limit["keys"]), (&"must".into(), &1.into()));
    assert!(limit["source"]["quote"].as_str().unwrap().starts_with("必须配置 maxmemory 参数"));
    assert_eq!(entry("not_evaluated", "memory.headroom")["reason"], "the server has no memory limit");
}
