//! Patterns that are new, vanished, grown and uncertain; warnings; the order of inputs is the order of time.

use super::*;
use crate::report::PatternChange;

/// A pattern, its keys and memory.
type Row = (&'static str, u64, u64);

/// A report with its frame and patterns only.
pub(in crate::report::diff) fn named(name: &str, ctime: i64, memory: u64, patterns: &[Row]) -> NamedReport {
    let pattern =
        |&(pattern, keys, memory): &Row| serde_json::json!({"pattern": pattern, "keys": keys, "memory": memory});
    let list: Vec<_> = patterns.iter().map(pattern).collect();
    let keys = patterns.iter().map(|row| row.1).sum::<u64>();
    let json = serde_json::json!({
        "schema": "rdblens.report/1",
        "options": {},
        "server": {"ctime": ctime, "model": "redis 7.2"},
        "totals": {"keys": keys, "memory": memory},
        "patterns": {"distinct": list.len(), "list": list},
    });
    NamedReport::read(json.to_string().as_bytes(), name).unwrap()
}

fn names(list: &[PatternChange]) -> Vec<&str> {
    list.iter().map(|change| change.pattern.as_str()).collect()
}

const PLAN: ComparePlan = ComparePlan { top: 10, maxmemory: None };

#[test]
fn patterns_grow_shrink_come_and_go() {
    let old = named("old", 1, 100, &[("a", 1, 10), ("b", 2, 20), ("c", 3, 30), ("d", 4, 40)]);
    let new = named("new", 2, 150, &[("a", 1, 10), ("b", 2, 25), ("c", 1, 5), ("e", 9, 110)]);
    let changes = compare([old, new], &PLAN).unwrap();
    assert_eq!(changes.growth, Growth { keys: 3, memory: 50, share: Some(0.5) });
    let patterns = changes.patterns;
    assert_eq!((names(&patterns.grown), names(&patterns.shrunk)), (vec!["b"], vec!["c"]));
    assert_eq!((names(&patterns.new), names(&patterns.vanished)), (vec!["e"], vec!["d"]));
    assert_eq!((patterns.counts.unchanged, patterns.counts.uncertain), (1, 0));
    assert_eq!(patterns.new[0].before, None);
}

#[test]
fn what_a_cut_list_does_not_show_is_uncertain() {
    let mut old = named("old", 1, 100, &[("a", 1, 10)]);
    old.report.patterns.distinct = 5;
    let new = named("new", 2, 150, &[("b", 2, 25)]);
    let patterns = compare([old.clone(), new.clone()], &PLAN).unwrap().patterns;
    assert_eq!((names(&patterns.vanished), names(&patterns.uncertain)), (vec!["a"], vec!["b"]));
    // All that is known of `b` is that it took between nothing and the memory of `a`, the lightest row.
    let row = &patterns.uncertain[0];
    assert_eq!((row.growth, row.memory_range), (None, Some([15, 25])));
    let json = serde_json::to_value(row).unwrap();
    assert_eq!((json.get("memory"), &json["memory_range"]), (None, &serde_json::json!([15, 25])));
    assert_eq!(serde_json::from_value::<PatternChange>(json).unwrap(), *row);
    let patterns = compare([new, old], &PLAN).unwrap().patterns;
    assert_eq!((names(&patterns.new), names(&patterns.uncertain)), (vec!["a"], vec!["b"]));
    assert_eq!(patterns.uncertain[0].memory_range, Some([-25, -15]));
    assert_eq!(patterns.new[0].growth.map(|growth| growth.memory), Some(10));
}

#[test]
fn patterns_that_one_side_has_collapsed_are_one_row() {
    let single = named("old", 1, 100, &[("shop:{int}", 2, 30), ("user:{int}", 3, 20), ("{int}", 1, 5)]);
    let collapsed = named("new", 2, 150, &[("{*}:{int}", 7, 90), ("{int}", 1, 5)]);
    let patterns = compare([single.clone(), collapsed.clone()], &PLAN).unwrap().patterns;
    assert_eq!(
        (names(&patterns.grown), patterns.counts.unchanged, patterns.counts.certain()),
        (vec!["{*}:{int}"], 1, 1)
    );
    let weight = |keys, memory| Some(Weight { keys, memory: Bytes(memory) });
    assert_eq!((patterns.grown[0].before, patterns.grown[0].after), (weight(5, 50), weight(7, 90)));
    let patterns = compare([collapsed.clone(), single.clone()], &PLAN).unwrap().patterns;
    assert_eq!((names(&patterns.shrunk), patterns.counts.certain()), (vec!["{*}:{int}"], 1));
    // A list that was cut may lack a part.
    let mut cut = single;
    cut.report.patterns.distinct = 9;
    let patterns = compare([cut, collapsed], &PLAN).unwrap().patterns;
    assert_eq!((names(&patterns.uncertain), patterns.counts.certain()), (vec!["{*}:{int}"], 0));
}

#[test]
fn lists_are_cut_and_counts_are_not() {
    let old = named("old", 1, 0, &[]);
    let new = named("new", 2, 60, &[("a", 1, 10), ("b", 1, 30), ("c", 1, 20)]);
    let patterns = compare([old, new], &ComparePlan { top: 2, maxmemory: None }).unwrap().patterns;
    assert_eq!((names(&patterns.new), patterns.counts.new), (vec!["b", "c"], 3));
}

#[test]
fn one_snapshot_is_no_comparison() {
    assert!(compare([named("a", 1, 1, &[])], &PLAN).is_none());
    let same = named("a", 1, 1, &[("x", 1, 1)]);
    let comparison = compare([same.clone(), same], &PLAN).unwrap();
    assert_eq!((comparison.growth.memory, comparison.patterns.counts.unchanged), (0, 1));
    assert!(comparison.trend.is_none());
}

#[test]
fn what_makes_figures_differ_by_itself_is_said() {
    let mut other = named("b", 1, 1, &[]);
    other.report.server.model = "valkey 8.1".to_owned();
    other.report.complete = false;
    let comparison = compare([named("a", 2, 1, &[]), other], &PLAN).unwrap();
    let warnings: Vec<_> = comparison.warnings.into_iter().map(|warning| warning.wording.en).collect();
    let warnings = warnings.join("\n");
    for word in ["different servers", "read completely", "order of their times"] {
        assert!(warnings.contains(word), "{warnings}");
    }
}
