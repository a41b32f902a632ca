//! Findings compared with those of an earlier report: new, worse, fixed.
//!
//! A finding is identified by its rule, severity and pattern. Lists are cut in both reports, so three facts decide:
//! a row that the earlier report lists is compared with it; a row heavier than the lightest row of a list that was cut has
//! grown or is new; where rows are inconclusive, the totals of the whole finding decide, which are exact. Patterns that only one
//! report has collapsed to `{*}` are compared with the sum of those of the other report that they stand for.

use std::collections::{BTreeMap, BTreeSet, HashSet};

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::nights::{files_of, other_shards};
use super::policy_change::PolicyChange;
use super::row_groups::{self, RowGroup, RowMatching};
use super::{NamedReport, Report};
use crate::report::{Finding, FindingPattern, Findings, Severity, Warning, WarningKind, Weight};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Findings compared with those of an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Baseline {
    /// The earlier report's file, without its directory.
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
    /// Rules whose violations may be new or worse: a report lists only the heaviest patterns that break them. Absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub undecided: Vec<UndecidedRule>,
}

/// A rule of which it cannot be told whether violations are new or worse.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct UndecidedRule {
    /// The rule.
    pub rule: String,
    /// Severity of the violations.
    pub severity: Severity,
}

/// Change of a finding since the earlier report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BaselineChange {
    New,
    FirstEvaluated,
    Worse,
    Fixed,
    OtherPolicy,
}

impl BaselineChange {
    /// Returns the word in CSV and metrics.
    pub const fn name(self) -> &'static str {
        match self {
            BaselineChange::New => "new",
            BaselineChange::FirstEvaluated => "first-evaluated",
            BaselineChange::Worse => "worse",
            BaselineChange::Fixed => "fixed",
            BaselineChange::OtherPolicy => "other-policy",
        }
    }
}

impl Baseline {
    /// Returns all lists, each with the change of its findings.
    pub(crate) fn lists(&self) -> [(BaselineChange, &[BaselineRow]); 5] {
        [
            (BaselineChange::New, &self.new),
            (BaselineChange::FirstEvaluated, &self.first_evaluated),
            (BaselineChange::Worse, &self.worse),
            (BaselineChange::Fixed, &self.fixed),
            (BaselineChange::OtherPolicy, &self.other_policy),
        ]
    }

    /// Returns the findings that may be new or worse: those that a gate counts.
    pub(crate) fn failing(&self) -> impl Iterator<Item = &BaselineRow> {
        self.new.iter().chain(&self.worse).chain(&self.first_evaluated)
    }

    /// Returns a warning if it cannot be told of some rules whether violations are new or worse.
    pub(crate) fn undecided_warning(&self) -> Option<WarningKind> {
        let rules = self.undecided_from(Severity::Hint);
        (!rules.is_empty()).then_some(WarningKind::ListsCut { rules })
    }

    /// Returns the undecided rules of this severity or a higher one, each once.
    pub(crate) fn undecided_from(&self, least: Severity) -> Vec<String> {
        let rules = self.undecided.iter().filter(|it| it.severity >= least).map(|it| &it.rule);
        rules.collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }
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
    let shards = other_shards(&files_of([before]), &files_of([report]));
    if !shards.is_empty() {
        warn(WarningKind::BaselineOtherShards { shards });
    }
    if before.taken().zip(report.taken()).is_some_and(|(then, now)| then > now) {
        warn(WarningKind::BaselineLater);
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

/// Compares the findings of a report with those of an earlier one.
pub fn against(earlier: &NamedReport, report: &Report) -> Baseline {
    let Findings { list: old, not_evaluated, checked, .. } = &earlier.report.findings;
    let now = &report.findings;
    // A rule in both lists was evaluated for some of the files.
    let checked: HashSet<&str> = checked.iter().map(|rule| &**rule).collect();
    let not_evaluated = not_evaluated.iter().map(|other| &*other.rule).filter(|rule| !checked.contains(rule));
    let not_evaluated: BTreeSet<&str> = not_evaluated.collect();
    let old_by_rule = by_rule(old);
    let matching = RowMatching::of(&earlier.report, report);
    let mut baseline = Baseline { report: earlier.name.clone(), ..Baseline::default() };
    let (open, judged): (Vec<&Finding>, Vec<&Finding>) =
        now.list.iter().partition(|finding| not_evaluated.contains(&*finding.rule));
    baseline.first_evaluated = open.into_iter().flat_map(rows).collect();
    for finding in judged {
        let old = old_by_rule.get(&*finding.rule).map_or(&[][..], Vec::as_slice);
        baseline.add(finding, old, &matching);
    }
    baseline.fixed = fixed(old, now, &matching);
    baseline
}

/// Puts findings together by rule: stored reports may have very many.
fn by_rule(findings: &[Finding]) -> BTreeMap<&str, Vec<&Finding>> {
    let mut by_rule: BTreeMap<&str, Vec<&Finding>> = BTreeMap::new();
    findings.iter().for_each(|finding| by_rule.entry(&finding.rule).or_default().push(finding));
    by_rule
}

/// Compares the findings of two reports of which one may have been checked against another policy.
pub(super) fn across_policies(earlier: &NamedReport, now: &Report, policies: &PolicyChange) -> Baseline {
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

/// Rows of an earlier report that one finding is compared with: those of its rule under the same or a higher severity, since a
/// violation that became milder is not new.
struct EarlierRows<'a> {
    /// Rows of the same severity come first.
    list: Vec<&'a FindingPattern>,
    /// Memory of the lightest row of a list that was cut: a row that is not listed weighed at most this much.
    lightest: Option<Bytes>,
    /// Keys of all rows that are not listed.
    rest: Weight,
}

impl<'a> EarlierRows<'a> {
    /// Returns the rows for a finding, of the earlier findings of its rule.
    fn of(finding: &Finding, old: &[&'a Finding]) -> EarlierRows<'a> {
        let of_rule = old.iter().copied().filter(|other| other.severity >= finding.severity);
        let (mut of_rule, graver): (Vec<&Finding>, Vec<&Finding>) =
            of_rule.partition(|other| other.severity == finding.severity);
        of_rule.extend(graver);
        let lightest = |other: &&Finding| other.patterns.iter().map(|row| row.memory).min().unwrap_or(Bytes(u64::MAX));
        let cut = || of_rule.iter().copied().filter(|other| is_cut(other));
        let mut rest = Weight::default();
        for other in cut() {
            let listed = row_groups::weight(&other.patterns);
            let memory = Bytes(other.memory.0.saturating_sub(listed.memory.0));
            rest.merge(Weight { keys: other.keys.saturating_sub(listed.keys), memory });
        }
        let lightest = cut().map(|other| lightest(&other)).max();
        EarlierRows { lightest, rest, list: of_rule.iter().flat_map(|other| &other.patterns).collect() }
    }
}

impl Baseline {
    /// Adds the rows of a finding that are new or worse; the whole finding if no row is conclusive but its totals are. Where neither
    /// rows nor totals decide, the rule is undecided. `old` has the earlier findings of its rule.
    fn add(&mut self, finding: &Finding, old: &[&Finding], matching: &RowMatching) {
        let so_far = self.new.len() + self.worse.len();
        let mut undecided = is_cut(finding);
        let before = EarlierRows::of(finding, old);
        let rows: Vec<&FindingPattern> = finding.patterns.iter().collect();
        let mut groups = matching.groups([&before.list, &rows]);
        groups.retain(|group| !group.members[1].is_empty());
        // In the order of the finding.
        groups.compact_sort_by_key(|group| group.members[1].first().copied());
        for group in groups {
            let [then, now] = group.members.each_ref();
            let now: Vec<&FindingPattern> = now.iter().filter_map(|at| rows.get(*at).copied()).collect();
            let then: Vec<&FindingPattern> = then.iter().filter_map(|at| before.list.get(*at).copied()).collect();
            undecided |= match then.first() {
                None => self.add_unlisted(finding, &now, &group, &before),
                Some(then) if group.is_one_pattern && group.is_whole_before => {
                    let worse = now.into_iter().filter(|row| grew(row, then));
                    self.worse.extend(worse.map(|row| BaselineRow::of(finding, row, Some(then))));
                    false
                }
                Some(_) => self.add_joined(finding, [&then, &now], &group, before.rest),
            };
        }
        let adds_none = |baseline: &Baseline| baseline.new.len() + baseline.worse.len() == so_far;
        if (undecided || finding.patterns.is_empty()) && adds_none(self) {
            self.add_whole(finding, old);
        }
        if undecided && adds_none(self) {
            self.undecided.push(UndecidedRule { rule: finding.rule.to_string(), severity: finding.severity });
        }
    }

    /// Adds rows of a pattern that the earlier report does not list. Returns true if they may have been there.
    fn add_unlisted(
        &mut self,
        finding: &Finding,
        now: &[&FindingPattern],
        group: &RowGroup<'_>,
        before: &EarlierRows<'_>,
    ) -> bool {
        let Some(lightest) = before.lightest else {
            self.new.extend(now.iter().map(|row| BaselineRow::of(finding, row, None)));
            return false;
        };
        let rest = before.rest;
        // A collapsed pattern may stand for all that were not listed.
        let exceeds = |row: &FindingPattern| {
            if group.is_collapsed() { row.memory > rest.memory || row.keys > rest.keys } else { row.memory > lightest }
        };
        let (worse, open): (Vec<&FindingPattern>, Vec<&FindingPattern>) = now.iter().partition(|row| exceeds(row));
        self.worse.extend(worse.into_iter().map(|row| BaselineRow::of(finding, row, None)));
        !open.is_empty()
    }

    /// Adds the rows of patterns that only one report has collapsed, as one row, if they have more keys or memory in all. Returns
    /// true if that depends on rows that the earlier report does not list. Limits are compared only pattern by pattern.
    fn add_joined(
        &mut self,
        finding: &Finding,
        [then, now]: [&[&FindingPattern]; 2],
        group: &RowGroup<'_>,
        rest: Weight,
    ) -> bool {
        let [sum, after] = [then, now].map(|rows| row_groups::weight(rows.iter().copied()));
        let exceeds = |weight: Weight| after.keys > weight.keys || after.memory > weight.memory;
        let rest = if group.is_whole_before { Weight::default() } else { rest };
        let mut most = sum;
        most.merge(rest);
        if !exceeds(most) {
            return exceeds(sum);
        }
        let before = BeforeRow { keys: sum.keys, memory: sum.memory, ..BeforeRow::default() };
        self.worse.push(BaselineRow {
            rule: finding.rule.to_string(),
            severity: finding.severity,
            pattern: group.pattern.as_deref().map(str::to_owned),
            keys: after.keys,
            memory: after.memory,
            before: (rest == Weight::default()).then_some(before),
            ..BaselineRow::default()
        });
        false
    }

    fn add_whole(&mut self, finding: &Finding, old: &[&Finding]) {
        match old.iter().find(|other| other.severity == finding.severity) {
            None => self.new.push(BaselineRow::of_whole(finding, None)),
            Some(before) if finding.keys > before.keys || finding.memory > before.memory => {
                self.worse.push(BaselineRow::of_whole(finding, Some(before)));
            }
            Some(_) => {}
        }
    }
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
fn fixed(old: &[Finding], now: &Findings, matching: &RowMatching) -> Vec<BaselineRow> {
    let cut: HashSet<&str> = now.list.iter().filter(|finding| is_cut(finding)).map(|finding| &*finding.rule).collect();
    let open = now.not_evaluated.iter().map(|other| &*other.rule).collect::<HashSet<&str>>();
    let checked: HashSet<&str> = now.checked.iter().map(|rule| &**rule).filter(|rule| !open.contains(rule)).collect();
    let judged = |finding: &&Finding| checked.contains(&*finding.rule) && !cut.contains(&*finding.rule);
    let rows = old.iter().filter(judged).flat_map(|finding| finding.patterns.iter().map(move |row| (finding, row)));
    let rows: Vec<(&Finding, &FindingPattern)> = rows.collect();
    let mut of_rules: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, (finding, _)) in rows.iter().enumerate() {
        of_rules.entry(&finding.rule).or_default().push(at);
    }
    let now_by_rule = by_rule(&now.list);
    let mut gone = Vec::new();
    for (rule, places) in of_rules {
        let before: Vec<&FindingPattern> = places.iter().filter_map(|at| Some(rows.get(*at)?.1)).collect();
        let broken: Vec<&FindingPattern> =
            now_by_rule.get(rule).into_iter().flatten().flat_map(|finding| &finding.patterns).collect();
        let groups = matching.groups([&before, &broken]).into_iter().filter(|group| group.members[1].is_empty());
        gone.extend(groups.flat_map(|group| group.members[0].clone()).filter_map(|at| places.get(at).copied()));
    }
    gone.sort_unstable();
    let gone = gone.into_iter().filter_map(|at| rows.get(at));
    gone.map(|(finding, row)| BaselineRow::of(finding, row, None)).collect()
}

#[cfg(test)]
mod tests;
