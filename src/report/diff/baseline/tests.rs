//! Findings that are new, worse, fixed, and those that cannot be told.

use super::*;
use crate::report::NotEvaluated;

/// A row by pattern, keys, memory, measured; 10 is allowed.
type Row = (&'static str, u64, u64, u64);

fn finding(severity: Severity, distinct: u64, rows: &[Row]) -> Finding {
    let row = |&(pattern, keys, memory, measured): &Row| FindingPattern {
        pattern: Some(pattern.to_owned()),
        keys,
        memory: Bytes(memory),
        measured: Some(measured),
        allowed: Some(10),
        ..FindingPattern::default()
    };
    Finding {
        rule: "key.length".into(),
        severity,
        problem: Default::default(),
        demand: Default::default(),
        fix: Default::default(),
        source: None,
        unit: None,
        keys: rows.iter().map(|row| row.1).sum(),
        memory: Bytes(rows.iter().map(|row| row.2).sum()),
        saves: None,
        distinct_patterns: distinct,
        worst: None,
        patterns: rows.iter().map(row).collect(),
    }
}

fn findings(list: Vec<Finding>) -> Findings {
    Findings { checked: vec!["key.length".into()], list, ..Findings::default() }
}

fn report(findings: Findings) -> Report {
    Report { findings, ..Report::default() }
}

fn compared(old: Finding, now: Vec<Finding>) -> Baseline {
    compared_lists(vec![old], now)
}

fn compared_lists(old: Vec<Finding>, now: Vec<Finding>) -> Baseline {
    against(&earlier(old), &report(findings(now)))
}

fn earlier(old: Vec<Finding>) -> NamedReport {
    let list = serde_json::to_value(&old).unwrap();
    let json = serde_json::json!({
        "schema": "rdblens.report/1", "options": {}, "totals": {}, "patterns": { "distinct": 0, "list": [] },
        "findings": { "list": list }
    });
    NamedReport::read(json.to_string().as_bytes(), "old.json").unwrap()
}

#[test]
fn another_policy_and_other_separators_are_told() {
    let told = |separator: &str, digest: &str| {
        let mut old = earlier(Vec::new());
        old.report.findings = findings(Vec::new());
        let mut now = Report { findings: findings(Vec::new()), ..Report::default() };
        for (report, separator, digest) in [(&mut old.report, ":", "a"), (&mut now, separator, digest)] {
            report.options.separators = vec![separator.to_owned()];
            report.findings.settings = [("key.length".into(), digest.to_owned())].into();
        }
        let is_asked =
            |kind: &_| matches!(kind, WarningKind::PoliciesDiffer { .. } | WarningKind::SeparatorsDiffer { .. });
        let warnings = warnings(&old, &now).into_iter().filter(|warning| is_asked(&warning.kind));
        warnings.map(|warning| warning.wording.en.chars().take(52).collect::<String>()).collect::<Vec<_>>()
    };
    assert!(told(":", "a").is_empty());
    assert_eq!(told("/", "a"), ["baseline old.json: names are divided at different se"]);
    assert_eq!(told(":", "b"), ["baseline old.json: the reports were checked against "]);
}

fn patterns(rows: &[BaselineRow]) -> Vec<&str> {
    rows.iter().map(|row| row.pattern.as_deref().unwrap_or("-")).collect()
}

fn told(baseline: &Baseline) -> (Vec<&str>, Vec<&str>, Vec<&str>) {
    (patterns(&baseline.new), patterns(&baseline.worse), patterns(&baseline.fixed))
}

#[test]
fn what_has_not_changed_is_neither_new_nor_worse_nor_fixed() {
    let old = || finding(Severity::Must, 2, &[("a", 5, 50, 12), ("b", 1, 10, 20)]);
    assert_eq!(told(&compared(old(), vec![old()])), (vec![], vec![], vec![]));
    let less = finding(Severity::Must, 2, &[("a", 4, 40, 11), ("b", 1, 10, 20)]);
    assert_eq!(told(&compared(old(), vec![less])), (vec![], vec![], vec![]));
}

#[test]
fn more_keys_more_memory_or_a_greater_distance_is_worse() {
    let old = || finding(Severity::Must, 1, &[("a", 5, 50, 12)]);
    for worse in [("a", 6, 50, 12), ("a", 5, 51, 12), ("a", 5, 50, 13), ("a", 5, 50, 7)] {
        let baseline = compared(old(), vec![finding(Severity::Must, 1, &[worse])]);
        assert_eq!(told(&baseline), (vec![], vec!["a"], vec![]), "{worse:?}");
        assert_eq!(baseline.worse[0].before.unwrap().keys, 5);
    }
}

#[test]
fn a_pattern_or_a_rule_that_was_not_there_is_new_and_one_that_is_gone_is_fixed() {
    let old = || finding(Severity::Must, 1, &[("a", 5, 50, 12)]);
    let now = finding(Severity::Must, 1, &[("b", 1, 1, 11)]);
    assert_eq!(told(&compared(old(), vec![now])), (vec!["b"], vec![], vec!["a"]));
    assert_eq!(told(&compared(old(), vec![])), (vec![], vec![], vec!["a"]));
    assert_eq!(told(&compared_lists(vec![], vec![old()])), (vec!["a"], vec![], vec![]));
}

#[test]
fn what_has_become_graver_is_new_and_what_has_become_milder_is_not() {
    let must = || finding(Severity::Must, 1, &[("a", 5, 50, 12)]);
    let should = || finding(Severity::Should, 1, &[("a", 5, 50, 12)]);
    assert_eq!(told(&compared(should(), vec![must()])), (vec!["a"], vec![], vec![]));
    assert_eq!(told(&compared(must(), vec![should()])), (vec![], vec![], vec![]));
}

#[test]
fn of_a_list_that_was_cut_only_what_is_certain_is_said() {
    let old = || finding(Severity::Must, 9, &[("a", 5, 50, 12), ("b", 5, 40, 12)]);
    let heavier = finding(Severity::Must, 9, &[("a", 5, 50, 12), ("c", 5, 41, 12)]);
    assert_eq!(told(&compared(old(), vec![heavier])), (vec![], vec!["c"], vec![]));
    let lighter = finding(Severity::Must, 9, &[("a", 5, 50, 12), ("c", 5, 39, 12)]);
    assert_eq!(told(&compared(old(), vec![lighter])), (vec![], vec![], vec![]));
    let more = Finding { keys: 1_000, ..finding(Severity::Must, 9, &[("a", 5, 50, 12), ("c", 5, 39, 12)]) };
    assert_eq!(told(&compared(old(), vec![more])), (vec![], vec!["-"], vec![]));
}

#[test]
fn a_rule_that_is_no_longer_in_force_is_not_fixed() {
    let old = finding(Severity::Must, 1, &[("a", 5, 50, 12)]);
    let off = Finding { rule: "key.prefix".into(), ..old };
    assert_eq!(told(&compared(off, vec![])), (vec![], vec![], vec![]));
}

#[test]
fn findings_of_a_rule_that_was_not_evaluated_are_neither_new_nor_fixed() {
    let open = |rule: &str| NotEvaluated {
        rule: rule.to_owned().into(),
        severity: Severity::Must,
        reason: Default::default(),
        remedy: Default::default(),
        flag: None,
        applies: true,
    };
    let broken = finding(Severity::Must, 1, &[("a", 5, 50, 12)]);
    let now = report(findings(vec![broken.clone()]));
    let earlier = |list, not_evaluated| {
        let mut earlier = earlier(list);
        earlier.report.findings.not_evaluated = not_evaluated;
        earlier
    };
    let first = against(&earlier(vec![], vec![open("key.length")]), &now);
    assert_eq!((first.first_evaluated.len(), first.new.len(), first.worse.len()), (1, 0, 0));
    let new = against(&earlier(vec![], vec![open("key.levels")]), &now);
    assert_eq!((new.first_evaluated.len(), new.new.len()), (0, 1));
    let unknown = report(Findings { not_evaluated: vec![open("key.length")], ..Findings::default() });
    assert_eq!(against(&earlier(vec![broken.clone()], vec![]), &unknown).fixed, []);
    // Evaluated for some of the files, then and now.
    let mut partly = earlier(vec![broken.clone()], vec![open("key.length")]);
    partly.report.findings.checked = vec!["key.length".into()];
    let same = against(&partly, &now);
    assert_eq!((same.first_evaluated.len(), same.new.len(), same.fixed.len()), (0, 0, 0));
    let partly_now = report(Findings { not_evaluated: vec![open("key.length")], ..findings(vec![]) });
    assert_eq!(against(&earlier(vec![broken], vec![]), &partly_now).fixed, []);
}

fn compared_sets(old: &[Row], now: &[Row]) -> (Vec<String>, Vec<String>, Vec<String>) {
    let of = |rows: &[Row]| finding(Severity::Must, rows.len() as u64, rows);
    let baseline = compared(of(old), vec![of(now)]);
    let (new, worse, fixed) = told(&baseline);
    let owned = |list: Vec<&str>| list.into_iter().map(str::to_owned).collect();
    (owned(new), owned(worse), owned(fixed))
}

#[test]
fn patterns_that_one_report_has_collapsed_are_neither_new_nor_fixed() {
    let names = [("shop:{int}", 5, 50, 12), ("user:{int}", 5, 40, 30), ("{int}", 1, 10, 11)];
    let collapsed = |keys, memory| [("{*}:{int}", keys, memory, 14), ("{int}", 1, 10, 11)];
    let nothing = (vec![], vec![], vec![]);
    assert_eq!(compared_sets(&names, &collapsed(10, 90)), nothing);
    assert_eq!(compared_sets(&collapsed(10, 90), &names), nothing);
    let worse = |patterns: &[&str]| (vec![], patterns.iter().map(|&it| it.to_owned()).collect(), vec![]);
    assert_eq!(compared_sets(&names, &collapsed(11, 90)), worse(&["{*}:{int}"]));
    assert_eq!(compared_sets(&collapsed(9, 90), &names), worse(&["{*}:{int}"]));
    assert_eq!(compared_sets(&collapsed(10, 90), &[("{int}", 1, 10, 11)]).2, ["{*}:{int}"]);
}

#[test]
fn a_collapsed_pattern_may_have_been_below_the_end_of_a_list_that_was_cut() {
    let cut = || Finding { keys: 20, memory: Bytes(200), ..finding(Severity::Must, 9, &[("shop:{int}", 5, 50, 12)]) };
    let collapsed = |keys, memory| finding(Severity::Must, 1, &[("{*}:{int}", keys, memory, 12)]);
    assert_eq!(told(&compared(cut(), vec![collapsed(20, 200)])), (vec![], vec![], vec![]));
    assert_eq!(told(&compared(cut(), vec![collapsed(21, 200)])), (vec![], vec!["{*}:{int}"], vec![]));
    // None of the listed rows belongs to it.
    let other = |keys, memory| finding(Severity::Must, 1, &[("x:{*}", keys, memory, 12)]);
    assert_eq!(told(&compared(cut(), vec![other(15, 150)])).1, Vec::<&str>::new());
    assert_eq!(told(&compared(cut(), vec![other(16, 150)])).1, ["x:{*}"]);
}

#[test]
fn very_many_findings_are_compared_at_once() {
    let start = std::time::Instant::now();
    let rule = |at: usize| format!("team.rule-{at}");
    let many = |from: usize| -> Vec<Finding> {
        let of = |at| Finding { rule: rule(at).into(), ..finding(Severity::Must, 1, &[("a:{n}", 1, 1, 20)]) };
        (from..from + 60_000).map(of).collect()
    };
    let old = earlier(many(0));
    let now = Findings {
        checked: (0..70_000).map(|at| rule(at).into()).collect(),
        list: many(10_000),
        ..Findings::default()
    };
    let Baseline { new, worse, fixed, .. } = against(&old, &report(now));
    assert_eq!((new.len(), worse.len(), fixed.len()), (10_000, 0, 10_000));
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
}

#[test]
fn rules_whose_lists_do_not_tell_are_undecided() {
    let undecided = |old, now| {
        let baseline = compared(old, vec![now]);
        assert_eq!((baseline.new.len(), baseline.worse.len()), (0, 0));
        assert_eq!(baseline.undecided_warning().is_some(), !baseline.undecided.is_empty());
        baseline.undecided.into_iter().map(|it| (it.rule, it.severity)).collect::<Vec<_>>()
    };
    let all: [Row; 3] = [("a", 5, 50, 12), ("b", 1, 10, 11), ("c", 1, 5, 11)];
    let whole = || finding(Severity::Must, 3, &all);
    // Lists only the heaviest; the totals are those of all.
    let cut = || Finding { patterns: whole().patterns[..1].to_vec(), ..whole() };
    let open = vec![("key.length".to_owned(), Severity::Must)];
    assert_eq!(undecided(whole(), whole()), []);
    // c may have replaced another light one.
    assert_eq!(undecided(cut(), whole()), open);
    assert_eq!(undecided(whole(), cut()), open);
    assert_eq!(undecided(cut(), cut()), open);
    let without_rows = || Finding { patterns: Vec::new(), distinct_patterns: 0, ..whole() };
    assert_eq!(undecided(without_rows(), without_rows()), [], "totals are exact");
    // What is found new or worse decides.
    let more = finding(Severity::Must, 4, &[("a", 5, 50, 12), ("n", 1, 49, 11), ("b", 1, 10, 11), ("c", 1, 5, 11)]);
    let baseline = compared(whole(), vec![more]);
    assert_eq!((told(&baseline), baseline.undecided.len()), ((vec!["n"], vec![], vec![]), 0));
}
