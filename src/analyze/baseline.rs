//! This report's findings against those of an earlier one: what is new, what is worse, what was fixed.
//!
//! A finding is known by its rule, its severity and its pattern. Lists are cut, in both reports, so that three facts decide:
//! a row that the earlier report lists is compared with it; a row that is heavier than the lightest of a list that was cut has
//! grown or is new; and where rows cannot tell, the sums of the whole finding do, which are exact.

use std::collections::HashSet;

use crate::policy::earlier::Earlier;
use crate::report::{
    Baseline, BaselineRow, BeforeRow, Finding, FindingPattern, Findings, Report, Stored, StoredFinding, StoredRow,
};
use crate::units::Bytes;

/// The patterns of an earlier report, unless they are of a part of its snapshot only.
pub fn earlier(stored: &Stored) -> Option<Earlier> {
    let patterns = stored.patterns.iter().map(|row| (row.pattern.clone(), row.weight)).collect();
    let complete = stored.patterns.len() as u64 >= stored.distinct_patterns;
    stored.complete.then(|| Earlier { name: stored.name.clone(), patterns, complete })
}

/// What should be known about the comparison.
pub fn warnings(stored: &Stored, report: &Report) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut warn = |what: &str| warnings.push(format!("baseline {}: {what}", stored.name));
    if !stored.complete {
        warn("its snapshot could not be read whole, so growth is not judged");
    }
    if stored.model != report.server.model {
        warn("its figures are of another server, which changes them by itself");
    }
    if stored.selection != report.options.selection {
        warn("it was made with another selection of keys");
    }
    if stored.findings.is_none() {
        warn("it has no findings, so that all of this report count as new");
    }
    warnings
}

/// Compares.
pub fn against(stored: &Stored, now: &Findings) -> Baseline {
    let old = stored.findings.as_deref().unwrap_or_default();
    let mut baseline = Baseline { report: stored.name.clone(), ..Baseline::default() };
    for finding in &now.list {
        compare(finding, old, &mut baseline);
    }
    baseline.fixed = fixed(old, now);
    baseline
}

/// What an earlier report knows of a row.
enum Known<'a> {
    /// It lists it.
    Listed(&'a StoredRow),
    /// There was none such.
    Not,
    /// It was at most this heavy, if it was there.
    Below(Bytes),
}

fn compare(finding: &Finding, old: &[StoredFinding], baseline: &mut Baseline) {
    let same = old.iter().find(|other| other.rule == finding.rule && other.severity == finding.severity);
    let (news, worse) = (baseline.new.len(), baseline.worse.len());
    let mut undecided = is_cut(finding.patterns.len(), finding.distinct_patterns) || finding.patterns.is_empty();
    for row in &finding.patterns {
        match known(finding, row, old) {
            Known::Listed(before) if grew(row, before) => baseline.worse.push(now_row(finding, row, Some(before))),
            Known::Listed(_) => {}
            Known::Not => baseline.new.push(now_row(finding, row, None)),
            Known::Below(bound) if row.memory > bound => baseline.worse.push(now_row(finding, row, None)),
            Known::Below(_) => undecided = true,
        }
    }
    if !undecided || baseline.new.len() > news || baseline.worse.len() > worse {
        return;
    }
    let whole = BaselineRow {
        rule: finding.rule.to_string(),
        severity: finding.severity,
        keys: finding.keys,
        memory: finding.memory,
        ..BaselineRow::default()
    };
    match same {
        None => baseline.new.push(whole),
        Some(before) if finding.keys > before.keys || finding.memory > before.memory => {
            let before = BeforeRow { keys: before.keys, memory: before.memory, measured: None, allowed: None };
            baseline.worse.push(BaselineRow { before: Some(before), ..whole });
        }
        Some(_) => {}
    }
}

/// What was known of a row with the same severity, or a graver one: what has become milder is not new.
fn known<'a>(finding: &Finding, row: &FindingPattern, old: &'a [StoredFinding]) -> Known<'a> {
    let of_rule = || {
        let grave = |other: &&StoredFinding| other.severity >= finding.severity;
        old.iter().filter(|other| other.rule == finding.rule).filter(grave)
    };
    let own = of_rule().filter(|other| other.severity == finding.severity);
    let graver = of_rule().filter(|other| other.severity != finding.severity);
    if let Some(before) = own.chain(graver).flat_map(|other| &other.patterns).find(|old| old.pattern == row.pattern) {
        return Known::Listed(before);
    }
    let cut = of_rule().filter(|other| is_cut(other.patterns.len(), other.distinct_patterns));
    let lightest = |other: &StoredFinding| other.patterns.iter().map(|row| row.memory).min().unwrap_or(Bytes(u64::MAX));
    cut.map(lightest).max().map_or(Known::Not, Known::Below)
}

fn is_cut(listed: usize, distinct: u64) -> bool {
    (listed as u64) < distinct
}

/// More keys, more memory, or further from what is allowed.
fn grew(now: &FindingPattern, before: &StoredRow) -> bool {
    let distance = |measured: Option<u64>, allowed: Option<u64>| Some(measured?.abs_diff(allowed?));
    let further = distance(now.measured, now.allowed).zip(distance(before.measured, before.allowed));
    now.keys > before.keys || now.memory > before.memory || further.is_some_and(|(now, before)| now > before)
}

fn now_row(finding: &Finding, row: &FindingPattern, before: Option<&StoredRow>) -> BaselineRow {
    BaselineRow {
        rule: finding.rule.to_string(),
        severity: finding.severity,
        pattern: row.pattern.clone(),
        keys: row.keys,
        memory: row.memory,
        measured: row.measured,
        allowed: row.allowed,
        before: before.map(|row| BeforeRow {
            keys: row.keys,
            memory: row.memory,
            measured: row.measured,
            allowed: row.allowed,
        }),
    }
}

/// What broke a rule that is still in force, and breaks it no more. Where this report's list is cut nobody can tell.
fn fixed(old: &[StoredFinding], now: &Findings) -> Vec<BaselineRow> {
    let mut broken: HashSet<(&str, Option<&str>)> = HashSet::new();
    let mut cut: HashSet<&str> = HashSet::new();
    for finding in &now.list {
        broken.extend(finding.patterns.iter().map(|row| (&*finding.rule, row.pattern.as_deref())));
        if is_cut(finding.patterns.len(), finding.distinct_patterns) {
            cut.insert(&finding.rule);
        }
    }
    let judged = |finding: &&StoredFinding| {
        let rule = finding.rule.as_str();
        now.checked.iter().any(|id| id == rule) && !cut.contains(rule)
    };
    let rows = old.iter().filter(judged).flat_map(|finding| finding.patterns.iter().map(move |row| (finding, row)));
    rows.filter(|(finding, row)| !broken.contains(&(finding.rule.as_str(), row.pattern.as_deref())))
        .map(|(finding, row)| BaselineRow {
            rule: finding.rule.clone(),
            severity: finding.severity,
            pattern: row.pattern.clone(),
            keys: row.keys,
            memory: row.memory,
            measured: row.measured,
            allowed: row.allowed,
            before: None,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Severity;

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
            demand: Default::default(),
            fix: Default::default(),
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

    fn compared(old: Finding, now: Vec<Finding>) -> Baseline {
        compared_lists(vec![old], now)
    }

    fn compared_lists(old: Vec<Finding>, now: Vec<Finding>) -> Baseline {
        let list = serde_json::to_value(&old).unwrap();
        let json = serde_json::json!({
            "schema": "rdblens.report/1", "patterns": { "distinct": 0, "list": [] }, "findings": { "list": list }
        });
        let stored = Stored::read(json.to_string().as_bytes(), "old.json").unwrap();
        against(&stored, &findings(now))
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
}
