//! Reports compared with those of the nights before: shards that only one of them has, and files that have other names every night.

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
