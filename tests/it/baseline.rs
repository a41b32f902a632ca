//! Reports compared with those of the nights before: shards that only one of them has, files that have other names every night, gates, and
//! nights that were read in part.

use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::common::dump::Dump;
use crate::common::program::{rdblens, run, text};

const DAY: i64 = 86_400_000;

/// Writes a dump of a shard with `keys` carts of 2 KB each, taken this many days after the first night.
fn shard(root: &Path, night: i64, shard: u64, keys: u64) {
    let mut dump = Dump::taken(crate::common::dump::CTIME + night * DAY);
    (0..keys).for_each(|i| _ = dump.string(format!("cart:v:{}", shard * 100_000 + i), "x".repeat(2_000)));
    let folder = root.join(format!("2026-11-0{}", 1 + night));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("shard-{shard}.rdb")), dump.bytes()).unwrap();
}

fn rdblens_in(root: &Path, line: &str) -> Output {
    run(rdblens().current_dir(root).args(line.split(' ')))
}

fn json(root: &Path, line: &str) -> Value {
    let output = rdblens_in(root, &format!("{line} --format json"));
    assert_eq!(output.status.code(), Some(0), "{line}: {}", text(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Returns the reason why growth was not judged, and the kinds of the warnings.
fn growth(report: &Value) -> (Option<&str>, Vec<&str>) {
    let found = |list: &str| report["findings"][list].as_array().unwrap().iter();
    let open = found("not_evaluated").find(|it| it["rule"] == "memory.growth");
    let is_found = found("list").any(|it| it["rule"] == "memory.growth");
    assert!(!(open.is_some() && is_found), "a rule that is not evaluated finds nothing");
    let kinds = report["warnings"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap());
    (open.map(|it| it["reason"].as_str().unwrap()), kinds.collect())
}

#[test]
fn growth_is_not_judged_against_other_shards() {
    let root = tempfile::tempdir().unwrap();
    for night in [0, 1] {
        (1..=3).for_each(|number| shard(root.path(), night, number, 1_000));
    }
    for (inputs, name) in [("2026-11-01", "all"), ("2026-11-01/shard-1.rdb", "one"), ("2026-11-02", "later")] {
        assert_eq!(
            rdblens_in(root.path(), &format!("analyze {inputs} --policy platform -o {name}.json")).status.code(),
            Some(0)
        );
    }
    let against = |inputs: &str, baseline: &str| {
        json(root.path(), &format!("analyze {inputs} --policy platform --baseline {baseline}.json"))
    };
    let other = Some("the earlier report is about other shards");
    assert_eq!(growth(&against("2026-11-02", "all")), (None, vec![]));
    assert_eq!(growth(&against("2026-11-02", "one")), (other, vec!["baseline-other-shards"]));
    assert_eq!(growth(&against("2026-11-02/shard-1.rdb", "one")), (None, vec![]));
    let lacks = against("2026-11-02/shard-[12].rdb", "all");
    assert_eq!(growth(&lacks), (other, vec!["baseline-other-shards"]));
    assert_eq!(lacks["warnings"][0]["shards"], serde_json::json!(["shard-3"]));
    let not_earlier = Some("the report given as baseline is not of an earlier snapshot");
    assert_eq!(growth(&against("2026-11-01", "later")), (not_earlier, vec!["baseline-later"]));
    assert_eq!(growth(&against("2026-11-01", "all")), (not_earlier, vec![]), "the same snapshot");
}

#[test]
fn rows_about_files_are_compared_by_shard() {
    let root = tempfile::tempdir().unwrap();
    for night in [0, 1] {
        shard(root.path(), night, 1, 1_000);
        shard(root.path(), night, 2, if night == 0 { 1_000 } else { 1_500 });
        let line = format!("analyze 2026-11-0{} --policy platform --maxmemory 1MB -o {night}.json", 1 + night);
        assert_eq!(rdblens_in(root.path(), &line).status.code(), Some(0));
    }
    let comparison = json(root.path(), "compare 0.json 1.json");
    let rows = |list: &str| {
        let rows = comparison["findings"][list].as_array().unwrap().iter();
        let rows = rows.filter(|it| it["rule"] == "memory.headroom");
        rows.map(|it| it["pattern"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!((rows("new"), rows("fixed")), (vec![], vec![]));
    assert_eq!(rows("worse"), ["2026-11-02/shard-2.rdb"]);
}

#[test]
fn the_limit_of_a_comparison_is_checked_for_dumps_and_changes_no_figure() {
    let root = tempfile::tempdir().unwrap();
    for night in [0, 1] {
        shard(root.path(), night, 1, 1_000);
    }
    let first = "analyze 2026-11-01/shard-1.rdb --policy platform --maxmemory 2MB -o first.json";
    assert_eq!(rdblens_in(root.path(), first).status.code(), Some(0));
    let comparison = json(root.path(), "compare first.json 2026-11-02/shard-1.rdb --policy platform --maxmemory 1MB");
    let kinds: Vec<&str> =
        comparison["warnings"].as_array().unwrap().iter().map(|it| it["kind"].as_str().unwrap()).collect();
    assert!(!kinds.contains(&"models-differ"), "{kinds:?}");
    let worse = comparison["findings"]["worse"].as_array().unwrap();
    assert!(worse.iter().any(|row| row["rule"] == "memory.headroom"), "{worse:?}");
    assert_eq!(comparison["trend"]["reached"]["already"], true);
}

/// Writes a dump whose names have blanks, a pattern for each letter but one, and the light pattern `new`.
fn blanks(root: &Path, name: &str, without: char, new: Option<&str>) {
    let mut dump = Dump::new();
    for letter in ('a'..='y').filter(|letter| *letter != without) {
        (0..20).for_each(|i| _ = dump.string(format!("shop:{letter} old:{i}"), "x".repeat(200)));
    }
    new.iter().for_each(|name| _ = dump.string(name, "x"));
    std::fs::write(root.join(name), dump.bytes()).unwrap();
}

#[test]
fn a_gate_with_a_baseline_sees_patterns_beyond_the_lists_of_its_report() {
    let root = tempfile::tempdir().unwrap();
    let root = root.path();
    blanks(root, "monday.rdb", 'z', None);
    blanks(root, "tuesday.rdb", 'c', Some("shop:light new:x"));
    for top in ["--top 10000 -o monday.json", "-o cut.json"] {
        assert!(rdblens_in(root, &format!("analyze monday.rdb {top}")).status.success());
    }
    let gate = |line: &str| {
        let output = rdblens_in(root, &format!("{line} --fail-on must"));
        (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    // However short the lists are: the new pattern is found, and only its keys are counted.
    for top in ["", " --top 1", " --top 10000"] {
        let (status, said) = gate(&format!("analyze tuesday.rdb --baseline monday.json -o now.json{top}"));
        assert_eq!((status, said.contains("gate failed: must: key.special-chars (1 key)")), (1, true), "{top}: {said}");
    }
    let report = json(root, "analyze tuesday.rdb --baseline monday.json");
    let baseline = &report["findings"]["baseline"];
    let rows = |list: &str| {
        let rows = baseline[list].as_array().unwrap().iter().filter(|it| it["rule"] == "key.special-chars");
        rows.map(|it| it["pattern"].clone()).collect::<Vec<_>>()
    };
    assert_eq!((rows("new"), rows("fixed")), (vec!["shop:light new:x".into()], vec!["shop:c old:{int}".into()]));
    // The lists of the report are as long as without a baseline.
    let alone = json(root, "analyze tuesday.rdb");
    for list in [&["patterns"][..], &["findings", "list"], &["naming"]] {
        let of = |report: &Value| list.iter().fold(report.clone(), |part, field| part[field].clone());
        assert_eq!(of(&report), of(&alone), "{list:?}");
    }
    let undecided = serde_json::json!([
        { "rule": "key.special-chars", "severity": "must" },
        { "rule": "ttl.missing", "severity": "should" }
    ]);
    assert!(baseline["undecided"].is_null(), "nothing is left open");

    // Cut lists do not tell; that never passes as kept.
    let cut = "analyze tuesday.rdb --baseline cut.json -o now.json";
    let (status, said) = gate(cut);
    assert_eq!((status, said.contains("new or worse: key.special-chars; make the baseline")), (0, true), "{said}");
    assert_eq!(gate(&format!("{cut} --strict-gate")).0, 1);
    let report = json(root, "analyze tuesday.rdb --baseline cut.json");
    assert_eq!(report["findings"]["baseline"]["undecided"], undecided);
    assert!(growth(&report).1.contains(&"lists-cut"));
    let output = rdblens_in(root, "analyze tuesday.rdb --baseline cut.json --section baseline --format csv");
    assert!(text(&output).contains("\nundecided,key.special-chars,must,,,,"), "{}", text(&output));
    assert!(rdblens_in(root, "analyze tuesday.rdb -o tuesday.json").status.success());
    let (status, said) = gate("compare monday.json tuesday.json -o c.md");
    assert_eq!((status, said.contains("key.special-chars")), (0, true), "{said}");
    let output = rdblens_in(root, "compare monday.json tuesday.json --fail-on must --strict-gate --format json");
    let comparison: Value = serde_json::from_slice(&output.stdout).unwrap();
    let row = &comparison["gate"][0];
    assert_eq!(
        (output.status.code(), &row["verdict"], &row["reason"]),
        (Some(1), &"not-evaluated".into(), &"lists-cut".into())
    );
    assert_eq!((&row["rules"][0], &comparison["findings"]["undecided"]), (&"key.special-chars".into(), &undecided));
}

#[test]
fn the_fill_level_of_a_damaged_night_is_that_of_the_servers_read() {
    let root = tempfile::tempdir().unwrap();
    (1..=4).for_each(|number| shard(root.path(), 0, number, 1_000));
    let night = root.path().join("2026-11-01");
    let limit = |servers: u64| ((servers * 10) << 20).into();
    let maxmemory = |report: &Value| report["instance"]["maxmemory"].clone();
    let whole = json(root.path(), "analyze 2026-11-01 --maxmemory 10MB");
    assert_eq!(maxmemory(&whole), limit(4));
    std::fs::write(night.join("shard-1.rdb"), "").unwrap();
    std::fs::write(night.join("shard-2.rdb"), "<html>gateway timeout</html>").unwrap();
    let dump = std::fs::read(night.join("shard-3.rdb")).unwrap();
    std::fs::write(night.join("shard-3.rdb"), &dump[..dump.len() / 2]).unwrap();
    let output = rdblens_in(root.path(), "analyze 2026-11-01 --maxmemory 10MB --format json");
    assert_eq!(
        (output.status.code(), maxmemory(&serde_json::from_slice(&output.stdout).unwrap())),
        (Some(4), limit(2))
    );
    let table = |lang: &str| {
        text(&rdblens_in(root.path(), &format!("analyze 2026-11-01 --maxmemory 10MB --full --lang {lang}")))
    };
    let said = table("en");
    assert!(said.contains("memory of what was read is ") && said.contains(" on 2 servers"), "{said}");
    assert!(table("zh").contains("已读部分的内存为 maxmemory（20.0 MiB）"), "{}", table("zh"));
}
