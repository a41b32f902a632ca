//! Findings compared with those of an earlier report: new, worse, fixed.
//!
//! A finding is identified by its rule, severity and pattern. Lists are cut in both reports, so three facts decide:
//! a row that the earlier report lists is compared with it; a row heavier than the lightest row of a list that was cut has
//! grown or is new; where rows are inconclusive, the totals of the whole finding decide, which are exact.

use std::collections::HashSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::policy_change::PolicyChange;
use super::{NamedReport, Report};
use crate::report::{Finding, FindingPattern, Findings, Severity, Warning, WarningKind};
use crate::units::Bytes;

/// Findings compared with those of an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Baseline {
    /// The earlier report's file, without its folder.
    pub report: String,
    /// Violations that the earlier report did not have.
    pub new: Vec<BaselineRow>,
    /// Violations of rules that the earlier report did not evaluate: whether they are new is unknown.
    pub first_evaluated: Vec<BaselineRow>,
    /// Violations with more keys, more memory or a greater distance from the limit than before.
    pub worse: Vec<BaselineRow>,
    /// Violations that are gone, of rules that are still checked. The figures are the earlier ones.
    pub fixed: Vec<BaselineRow>,
    /// Violations of rules that only one of the policies has or that have other settings: the policy makes the difference, so that no
    /// gate counts them. Only in a comparison, and absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub other_policy: Vec<BaselineRow>,
}

/// A part of a finding that changed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct BaselineRow {
    /// The rule.
    pub rule: String,
    /// Severity.
    pub severity: Severity,
    /// The pattern or other part; null for a finding as a whole.
    pub pattern: Option<String>,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// The measured value.
    pub measured: Option<u64>,
    /// The limit.
    pub allowed: Option<u64>,
    /// Corresponding row of the earlier report, if it lists one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub before: Option<BeforeRow>,
}

/// A row of a finding in the earlier report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct BeforeRow {
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// The measured value.
    pub measured: Option<u64>,
    /// The limit.
    pub allowed: Option<u64>,
}

impl From<&FindingPattern> for BeforeRow {
    fn from(row: &FindingPattern) -> Self {
        BeforeRow { keys: row.keys, memory: row.memory, measured: row.measured, allowed: row.allowed }
    }
}

impl BaselineRow {
    fn of(finding: &Finding, row: &FindingPattern, before: Option<&FindingPattern>) -> BaselineRow {
        BaselineRow {
            rule: finding.rule.to_string(),
            severity: finding.severity,
            pattern: row.pattern.clone(),
            keys: row.keys,
            memory: row.memory,
            measured: row.measured,
            allowed: row.allowed,
            before: before.map(BeforeRow::from),
        }
    }

    fn of_whole(finding: &Finding, before: Option<&Finding>) -> BaselineRow {
        let before =
            before.map(|finding| BeforeRow { keys: finding.keys, memory: finding.memory, ..BeforeRow::default() });
        BaselineRow {
            rule: finding.rule.to_string(),
            severity: finding.severity,
            keys: finding.keys,
            memory: finding.memory,
            before,
            ..BaselineRow::default()
        }
    }
}

/// Returns warnings about circumstances that change figures without any change in the data.
pub fn warnings(earlier: &NamedReport, report: &Report) -> Vec<Warning> {
    let mut warnings = Vec::new();
    let mut warn = |kind| warnings.push(Warning::about(&earlier.name, kind));
    let before = &earlier.report;
    if !before.complete {
        warn(WarningKind::BaselineIncomplete);
    }
    if before.server.model != report.server.model {
        warn(WarningKind::BaselineOtherServer);
    }
    if !before.totals.unknown.is_none() {
        warn(WarningKind::BaselineUnknownMemory { keys: before.totals.unknown.keys });
    }
    if before.options.selection != report.options.selection {
        warn(WarningKind::BaselineOtherSelection);
    }
    if !before.has_findings() {
        warn(WarningKind::BaselineWithoutFindings);
    }
    let policies = PolicyChange::of_reports(before, report);
    policies.as_ref().and_then(PolicyChange::warning).into_iter().for_each(&mut warn);
    let separators = [before, report].map(|report| report.options.separators_in_order());
    WarningKind::separators_differ(separators.iter().map(|it| &it[..])).into_iter().for_each(&mut warn);
    warnings
}

/// Compares findings with those of an earlier report.
pub fn against(earlier: &NamedReport, now: &Findings) -> Baseline {
    let Findings { list: old, not_evaluated, .. } = &earlier.report.findings;
    let mut baseline = Baseline { report: earlier.name.clone(), ..Baseline::default() };
    let (open, judged): (Vec<&Finding>, Vec<&Finding>) =
        now.list.iter().partition(|finding| not_evaluated.iter().any(|other| other.rule == finding.rule));
    baseline.first_evaluated = open.into_iter().flat_map(rows).collect();
    for finding in judged {
        baseline.add(finding, old);
    }
    baseline.fixed = fixed(old, now);
    baseline
}

/// Compares the findings of two reports of which one may have been checked against another policy.
pub(super) fn across_policies(earlier: &NamedReport, now: &Findings, policies: &PolicyChange) -> Baseline {
    let mut baseline = against(earlier, now);
    let Baseline { new, first_evaluated, worse, fixed, other_policy, .. } = &mut baseline;
    for list in [new, first_evaluated, worse] {
        other_policy.extend(list.extract_if(.., |row| policies.concerns(&row.rule)));
    }
    fixed.retain(|row| !policies.concerns(&row.rule));
    baseline
}

/// Returns the rows of a finding, or the finding as a whole if it has none.
fn rows(finding: &Finding) -> Vec<BaselineRow> {
    let rows = finding.patterns.iter().map(|row| BaselineRow::of(finding, row, None)).collect::<Vec<_>>();
    if rows.is_empty() { vec![BaselineRow::of_whole(finding, None)] } else { rows }
}

/// An earlier report's knowledge of a row.
enum Known<'a> {
    /// It lists the row.
    Listed(&'a FindingPattern),
    /// It had no such row.
    Absent,
    /// It does not list the row, which weighed at most this much if it was there.
    Below(Bytes),
}

impl Baseline {
    /// Adds the rows of a finding that are new or worse; the whole finding if no row is conclusive but its totals are.
    fn add(&mut self, finding: &Finding, old: &[Finding]) {
        let so_far = self.new.len() + self.worse.len();
        let mut undecided = is_cut(finding) || finding.patterns.is_empty();
        for row in &finding.patterns {
            match known(finding, row, old) {
                Known::Listed(before) if grew(row, before) => {
                    self.worse.push(BaselineRow::of(finding, row, Some(before)));
                }
                Known::Listed(_) => {}
                Known::Absent => self.new.push(BaselineRow::of(finding, row, None)),
                Known::Below(bound) if row.memory > bound => self.worse.push(BaselineRow::of(finding, row, None)),
                Known::Below(_) => undecided = true,
            }
        }
        if undecided && self.new.len() + self.worse.len() == so_far {
            self.add_whole(finding, old);
        }
    }

    fn add_whole(&mut self, finding: &Finding, old: &[Finding]) {
        match old.iter().find(|other| other.rule == finding.rule && other.severity == finding.severity) {
            None => self.new.push(BaselineRow::of_whole(finding, None)),
            Some(before) if finding.keys > before.keys || finding.memory > before.memory => {
                self.worse.push(BaselineRow::of_whole(finding, Some(before)));
            }
            Some(_) => {}
        }
    }
}

/// Looks a row up under the same or a higher severity: a violation that became milder is not new.
fn known<'a>(finding: &Finding, row: &FindingPattern, old: &'a [Finding]) -> Known<'a> {
    let of_rule = || {
        let as_grave = |other: &&Finding| other.severity >= finding.severity;
        old.iter().filter(|other| other.rule == finding.rule).filter(as_grave)
    };
    let own = of_rule().filter(|other| other.severity == finding.severity);
    let graver = of_rule().filter(|other| other.severity != finding.severity);
    if let Some(before) = own.chain(graver).flat_map(|other| &other.patterns).find(|old| old.pattern == row.pattern) {
        return Known::Listed(before);
    }
    let lightest = |other: &Finding| other.patterns.iter().map(|row| row.memory).min().unwrap_or(Bytes(u64::MAX));
    of_rule().filter(|other| is_cut(other)).map(lightest).max().map_or(Known::Absent, Known::Below)
}

/// Returns true if the finding lists only its heaviest patterns.
fn is_cut(finding: &Finding) -> bool {
    (finding.patterns.len() as u64) < finding.distinct_patterns
}

/// Returns true if a row has more keys, more memory, or is further from its limit.
fn grew(now: &FindingPattern, before: &FindingPattern) -> bool {
    let distance = |row: &FindingPattern| Some(row.measured?.abs_diff(row.allowed?));
    let further = distance(now).zip(distance(before)).is_some_and(|(now, before)| now > before);
    now.keys > before.keys || now.memory > before.memory || further
}

/// Returns earlier rows that are gone, of rules that are still checked and whose list was not cut now.
fn fixed(old: &[Finding], now: &Findings) -> Vec<BaselineRow> {
    let mut broken: HashSet<(&str, Option<&str>)> = HashSet::new();
    let mut cut: HashSet<&str> = HashSet::new();
    for finding in &now.list {
        broken.extend(finding.patterns.iter().map(|row| (&*finding.rule, row.pattern.as_deref())));
        if is_cut(finding) {
            cut.insert(&finding.rule);
        }
    }
    let judged = |finding: &&Finding| now.checked.contains(&finding.rule) && !cut.contains(&*finding.rule);
    let rows = old.iter().filter(judged).flat_map(|finding| finding.patterns.iter().map(move |row| (finding, row)));
    rows.filter(|(finding, row)| !broken.contains(&(&*finding.rule, row.pattern.as_deref())))
        .map(|(finding, row)| BaselineRow::of(finding, row, None))
        .collect()
}

#[cfg(test)]
mod tests {
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

    fn compared(old: Finding, now: Vec<Finding>) -> Baseline {
        compared_lists(vec![old], now)
    }

    fn compared_lists(old: Vec<Finding>, now: Vec<Finding>) -> Baseline {
        against(&earlier(old), &findings(now))
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
        let now = findings(vec![broken.clone()]);
        let earlier = |list, not_evaluated| {
            let mut earlier = earlier(list);
            earlier.report.findings.not_evaluated = not_evaluated;
            earlier
        };
        let first = against(&earlier(vec![], vec![open("key.length")]), &now);
        assert_eq!((first.first_evaluated.len(), first.new.len(), first.worse.len()), (1, 0, 0));
        let new = against(&earlier(vec![], vec![open("key.levels")]), &now);
        assert_eq!((new.first_evaluated.len(), new.new.len()), (0, 1));
        let unknown = Findings { not_evaluated: vec![open("key.length")], ..Findings::default() };
        assert_eq!(against(&earlier(vec![broken], vec![]), &unknown).fixed, []);
    }
}
