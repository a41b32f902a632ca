//! Conditions of `compare --fail-on`: growth that a cron job has to report, and findings that are new or worse.

use std::collections::BTreeSet;
use std::str::FromStr;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::growth::{PatternPair, Unlisted, pairs};
use super::trend::DAY;
use super::{Baseline, BaselineRow, Comparison, NamedReport, Report};
use crate::report::{Severity, SnapshotRow, Warning, WarningKind};
use crate::sorting::CompactSort;
use crate::wording::{Wording, wording};

/// Growth of a pattern below this does not count: small patterns double every day.
pub const MIN_PATTERN_GROWTH: u64 = 1 << 20;

/// Least time between the snapshots for a rate, in days: an hour says little of a week.
const MIN_SPAN: f64 = 0.5;

/// Condition under which the gate fails.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition {
    /// As given.
    text: String,
    kind: ConditionKind,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum ConditionKind {
    Findings(Severity),
    Share { of: Measure, allowed: f64, days: Option<f64> },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Measure {
    Growth,
    Pattern,
    Keys,
}

impl FromStr for Condition {
    type Err = String;

    fn from_str(text: &str) -> Result<Condition, String> {
        let text = text.trim();
        let kind = Severity::parse(text).map(ConditionKind::Findings).or_else(|| share(text));
        let kind = kind.ok_or(
            "expected must, should or hint, or growth=20%/week, pattern=50% or keys=30%, each with or without /day, /week or \
             /month",
        )?;
        Ok(Condition { text: text.to_owned(), kind })
    }
}

fn share(text: &str) -> Option<ConditionKind> {
    let (of, limit) = text.split_once('=')?;
    let of = match of.trim() {
        "growth" => Measure::Growth,
        "pattern" => Measure::Pattern,
        "keys" => Measure::Keys,
        _ => return None,
    };
    let (percent, period) = limit.split_once('/').map_or((limit, None), |(percent, period)| (percent, Some(period)));
    let days = match period.map(str::trim) {
        None => None,
        Some("day") => Some(1.0),
        Some("week") => Some(7.0),
        Some("month") => Some(30.0),
        Some(_) => return None,
    };
    let percent: f64 = percent.trim().strip_suffix('%')?.trim().parse().ok()?;
    (percent.is_finite() && percent >= 0.0).then_some(ConditionKind::Share { of, allowed: percent / 100.0, days })
}

/// Result of one condition.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct GateRow {
    /// The condition as given.
    pub condition: String,
    /// Verdict on it.
    pub verdict: GateVerdict,
    /// The greatest growth as a fraction, per period if the condition names one; for findings, their number.
    pub measured: Option<f64>,
    /// The greatest growth that is allowed; for findings, 0.
    pub allowed: f64,
    /// Patterns or rules that break it, the worst first, at most ten.
    pub by: Vec<String>,
    /// Why it was not evaluated, or not in full.
    pub reason: Option<GateGap>,
    /// Rules that the reason is about; empty if it is not about rules.
    pub rules: Vec<String>,
}

/// Verdict on a condition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GateVerdict {
    /// Nothing breaks it.
    Kept,
    /// Something breaks it.
    Failed,
    /// It cannot be told.
    NotEvaluated,
}

/// Facts that an evaluation lacks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum GateGap {
    /// A rate needs the times of the first and the last snapshot.
    TimesMissing,
    /// The snapshots are too close for a rate.
    TooClose,
    /// There was nothing before, so that no share can be told.
    NothingBefore,
    /// The memory of all keys of a snapshot is unknown.
    MemoryUnknown,
    /// A snapshot is incomplete.
    Incomplete,
    /// The reports have different selections of keys.
    OtherKeys,
    /// A report lists only its heaviest patterns, and heavy ones may be missing.
    ListsCut,
    /// The reports divide names at different separators, so that they have different patterns.
    OtherSeparators,
    /// A snapshot was not checked against a policy.
    NoFindings,
    /// Findings are of rules that only one of the policies has, or that have other settings.
    PoliciesDiffer,
    /// The reports do not say which rules of their policies have the same settings.
    PoliciesUnknown,
    /// Rules of that severity were not evaluated.
    RulesNotEvaluated,
}

impl GateVerdict {
    /// Returns the word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            GateVerdict::Kept => "kept",
            GateVerdict::Failed => "failed",
            GateVerdict::NotEvaluated => "not-evaluated",
        }
    }
}

impl GateGap {
    /// Says what is missing.
    pub fn wording(self) -> Wording {
        match self {
            GateGap::TimesMissing => wording!(
                "a rate needs the times of the first and the last snapshot, in this order",
                "计算速率需要首尾快照的时间，且先后有序"
            ),
            GateGap::TooClose => {
                wording!("the snapshots are less than 12 hours apart", "快照间隔不足 12 小时")
            }
            GateGap::NothingBefore => wording!("the earlier value is 0", "此前的数值为 0"),
            GateGap::MemoryUnknown => wording!(
                "the memory of the keys is unknown; make reports with --server",
                "key 的内存未知；生成报告时请加 --server"
            ),
            GateGap::Incomplete => wording!("a snapshot is incomplete", "有快照不完整"),
            GateGap::OtherKeys => {
                wording!("the reports have different selections of keys", "各报告的 key 筛选条件不同")
            }
            GateGap::ListsCut => wording!(
                "a report lists only its heaviest patterns; make reports with --top 10000",
                "报告只列出内存最多的模式；生成报告时请加 --top 10000"
            ),
            GateGap::OtherSeparators => {
                wording!("the reports have different separators of names", "各报告的 key 名分隔符不同")
            }
            GateGap::PoliciesDiffer => wording!(
                "only one of the policies has these rules, or they have other settings",
                "以下规则仅一方策略包含，或设置不同"
            ),
            GateGap::PoliciesUnknown => wording!(
                "the reports do not say whether these rules had the same settings",
                "报告没有记录以下规则的设置是否相同"
            ),
            GateGap::NoFindings => wording!("a snapshot has no findings", "有快照未按策略检查"),
            GateGap::RulesNotEvaluated => wording!("rules were not evaluated", "有规则未评估"),
        }
    }
}

impl GateRow {
    /// Says what is missing, with the rules that it is about.
    pub fn reason_in_words(&self) -> Option<Wording> {
        let Wording { en, zh } = self.reason?.wording();
        Some(match self.rules.as_slice() {
            [] => Wording { en, zh },
            rules => Wording { en: format!("{en}: {}", rules.join(", ")), zh: format!("{zh}：{}", rules.join("、")) },
        })
    }
}

impl Condition {
    /// Evaluates the condition on a comparison of the reports `first` and `last`.
    pub(super) fn evaluate(&self, comparison: &Comparison, first: &NamedReport, last: &NamedReport) -> GateRow {
        let notes = |is: fn(&WarningKind) -> bool| comparison.warnings.iter().any(|warning| is(&warning.kind));
        let judged = match self.kind {
            // Different selections would look like growth, shrinkage or fixed findings.
            _ if notes(|kind| *kind == WarningKind::SelectionsDiffer) => Judged::open(GateGap::OtherKeys),
            // Other patterns would look new.
            ConditionKind::Findings(_) | ConditionKind::Share { of: Measure::Pattern, .. }
                if notes(|kind| matches!(kind, WarningKind::SeparatorsDiffer { .. })) =>
            {
                Judged::open(GateGap::OtherSeparators)
            }
            ConditionKind::Findings(least) => findings(least, comparison, last),
            ConditionKind::Share { of, allowed, days } => {
                shares(of, allowed, days, comparison, [&first.report, &last.report])
            }
        };
        let allowed = match self.kind {
            ConditionKind::Findings(_) => 0.0,
            ConditionKind::Share { allowed, .. } => allowed,
        };
        let Judged { measured, mut by, broken, gap, rules } = judged;
        by.truncate(10);
        // As a share, 13 to 10 is 0.3, not 0.30000000000000004.
        let measured = measured.map(|share| (share * 1e9).round() / 1e9).filter(|share| share.is_finite());
        let verdict = match (broken, gap) {
            (true, _) => GateVerdict::Failed,
            (false, None) => GateVerdict::Kept,
            (false, Some(_)) => GateVerdict::NotEvaluated,
        };
        GateRow { condition: self.text.clone(), verdict, measured, allowed, by, reason: gap, rules }
    }
}

#[derive(Debug, Default)]
struct Judged {
    measured: Option<f64>,
    by: Vec<String>,
    broken: bool,
    gap: Option<GateGap>,
    /// Rules that the gap is about.
    rules: Vec<String>,
}

impl Judged {
    fn open(gap: GateGap) -> Judged {
        Judged { gap: Some(gap), ..Judged::default() }
    }
}

fn findings(least: Severity, comparison: &Comparison, last: &NamedReport) -> Judged {
    let Some(baseline) = &comparison.findings else { return Judged::open(GateGap::NoFindings) };
    // Keys missing in an incomplete first snapshot would look new.
    if comparison.ends().is_some_and(|[first, _]| !first.complete) {
        return Judged::open(GateGap::Incomplete);
    }
    let rows: Vec<_> = baseline.failing().filter(|row| row.severity >= least).collect();
    let by = rules_of(rows.iter().copied());
    let (gap, rules) = gap_of_findings(least, comparison, baseline, last).unzip();
    Judged { measured: Some(rows.len() as f64), broken: !by.is_empty(), by, gap, rules: rules.unwrap_or_default() }
}

/// Returns what keeps findings from being judged in full, and the rules that it is about.
fn gap_of_findings(
    least: Severity,
    comparison: &Comparison,
    baseline: &Baseline,
    last: &NamedReport,
) -> Option<(GateGap, Vec<String>)> {
    if !last.report.complete {
        return Some((GateGap::Incomplete, Vec::new()));
    }
    let is_unknown =
        |warning: &Warning| matches!(&warning.kind, WarningKind::PoliciesDiffer { rules } if rules.is_empty());
    let other = rules_of(baseline.other_policy.iter().filter(|row| row.severity >= least));
    if !other.is_empty() {
        let unknown = comparison.warnings.iter().any(is_unknown);
        return Some((if unknown { GateGap::PoliciesUnknown } else { GateGap::PoliciesDiffer }, other));
    }
    let undecided = baseline.undecided_from(least);
    if !undecided.is_empty() {
        return Some((GateGap::ListsCut, undecided));
    }
    let open = last.report.findings.not_evaluated.iter().filter(|rule| rule.applies && rule.severity >= least);
    let open: Vec<String> = open.map(|open| open.rule.to_string()).collect();
    (!open.is_empty()).then_some((GateGap::RulesNotEvaluated, open))
}

/// Returns the rules of some rows, each once.
fn rules_of<'r>(rows: impl IntoIterator<Item = &'r BaselineRow>) -> Vec<String> {
    let mut seen = BTreeSet::new();
    rows.into_iter().filter(|row| seen.insert(&row.rule)).map(|row| row.rule.clone()).collect()
}

fn shares(of: Measure, allowed: f64, days: Option<f64>, comparison: &Comparison, reports: [&Report; 2]) -> Judged {
    let Some([first, last]) = comparison.ends() else { return Judged::open(GateGap::Incomplete) };
    if !first.complete || !last.complete {
        return Judged::open(GateGap::Incomplete);
    }
    let span = comparison.span().map(|span| span as f64 / DAY);
    let periods = match (days, span) {
        (None, _) => 1.0,
        (Some(_), None) => return Judged::open(GateGap::TimesMissing),
        (Some(_), Some(span)) if span < MIN_SPAN => return Judged::open(GateGap::TooClose),
        (Some(days), Some(span)) => span / days,
    };
    let grown = |before: u64, after: u64| (after as f64 / before as f64 - 1.0) / periods;
    let whole = |before: u64, after: u64| match before {
        0 if after == 0 => Judged { measured: Some(0.0), ..Judged::default() },
        0 => Judged::open(GateGap::NothingBefore),
        before => {
            let share = grown(before, after);
            Judged { measured: Some(share), broken: exceeds(share, allowed), ..Judged::default() }
        }
    };
    let is_known = |row: &SnapshotRow| row.unknown.known(row.keys, ()).is_some();
    match of {
        Measure::Growth | Measure::Pattern if !is_known(first) || !is_known(last) => {
            Judged::open(GateGap::MemoryUnknown)
        }
        Measure::Keys => whole(first.keys, last.keys),
        Measure::Growth => {
            let (before, after) = first.total.zip(last.total).unwrap_or((first.memory, last.memory));
            whole(before.0, after.0)
        }
        Measure::Pattern => patterns(allowed, reports, grown),
    }
}

/// Returns whether a share is above a limit, apart from rounding: 110 is not more than 10 % above 100.
fn exceeds(share: f64, allowed: f64) -> bool {
    const ROUNDING: f64 = 1e-9;
    share > allowed + ROUNDING
}

/// Judges patterns that grew by enough, and new ones, whose share is endless and breaks any limit. Patterns that a report may have left
/// out break the limit if they do with the least growth that they can have; otherwise they leave it open if they may break it.
fn patterns(allowed: f64, reports: [&Report; 2], grown: impl Fn(u64, u64) -> f64) -> Judged {
    let share =
        |before: u64, after: u64| (after.saturating_sub(before) >= MIN_PATTERN_GROWTH).then(|| grown(before, after));
    let breaks = |share: Option<f64>| share.is_some_and(|share| exceeds(share, allowed));
    // The later report may have left out a new pattern.
    let mut is_open = breaks(share(0, Unlisted::of(reports[1]).one));
    let mut counted: Vec<(f64, u64, String)> = Vec::new();
    for PatternPair { pattern, before, after } in pairs(reports) {
        let ([before_least, before_most], [after_least, after_most]) = (before.memory, after.memory);
        let least = share(before_most, after_least);
        is_open |= !breaks(least) && breaks(share(before_least, after_most));
        counted.extend(least.map(|share| (share, after_least - before_most, pattern.into_owned())));
    }
    // Stable: of equal growth the smaller name stays first.
    counted.compact_sort_by(|one, other| (other.0.total_cmp(&one.0)).then_with(|| other.1.cmp(&one.1)));
    // Nothing before is an endless share, which JSON has no number for.
    let measured = counted.iter().map(|(share, ..)| *share).find(|share| share.is_finite());
    let breaking = counted.into_iter().filter(|(share, ..)| exceeds(*share, allowed));
    let by: Vec<String> = breaking.map(|(.., pattern)| pattern).collect();
    Judged { measured, broken: !by.is_empty(), by, gap: is_open.then_some(GateGap::ListsCut), rules: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::super::compare::tests::named;
    use super::super::{ComparePlan, Comparer};
    use super::*;

    const MIB: u64 = 1 << 20;

    fn verdict(condition: &str, reports: [NamedReport; 2]) -> (GateVerdict, Vec<String>, Option<GateGap>) {
        let mut comparer = Comparer::default();
        reports.into_iter().for_each(|report| comparer.add(report));
        let plan = ComparePlan { top: 1, maxmemory: None };
        let comparison = comparer.finish_with(&plan, &[condition.parse().unwrap()]).unwrap();
        assert!(comparison.patterns.grown.len() <= 1);
        let GateRow { verdict, by, reason, .. } = comparison.gate[0].clone();
        (verdict, by, reason)
    }

    #[test]
    fn conditions_have_one_grammar() {
        for right in
            ["must", "should", "hint", "growth=20%/week", "pattern=50%", "keys=0%", " growth = 12.5 % / month "]
        {
            assert!(right.parse::<Condition>().is_ok(), "{right}");
        }
        for wrong in [
            "",
            "growth",
            "growth=20",
            "growth=-1%",
            "growth=20%/year",
            "growth=20%/",
            "size=1%",
            "keys=NaN%",
            "MUST",
            "keys=inf%",
        ] {
            assert!(wrong.parse::<Condition>().unwrap_err().contains("growth=20%/week"), "{wrong}");
        }
    }

    #[test]
    fn rates_are_those_of_the_time_between() {
        let day = 86_400;
        let grown = |days: i64| [named("a", day, 100 * MIB, &[]), named("b", (days + 1) * day, 110 * MIB, &[])];
        for (condition, days, expected) in [
            ("growth=10%", 1, GateVerdict::Kept),
            ("growth=9%", 1, GateVerdict::Failed),
            ("growth=10%/week", 7, GateVerdict::Kept),
            ("growth=10%/week", 1, GateVerdict::Failed),
            ("growth=10%/day", 2, GateVerdict::Kept),
            ("growth=4%/month", 90, GateVerdict::Kept),
        ] {
            assert_eq!(verdict(condition, grown(days)).0, expected, "{condition} {days}");
        }
        let (open, _, gap) = verdict("growth=10%/day", grown(0));
        assert_eq!((open, gap), (GateVerdict::NotEvaluated, Some(GateGap::TimesMissing)));
        assert_eq!(
            verdict("growth=20%", [named("a", 1, 0, &[]), named("b", 2, 5, &[])]).2,
            Some(GateGap::NothingBefore)
        );
    }

    #[test]
    fn patterns_count_from_a_mebibyte_on_however_few_rows_are_listed() {
        let old = named("a", 1, 0, &[("big", 1, 100 * MIB), ("mid", 1, 2 * MIB), ("tiny", 1, 10)]);
        let new =
            named("b", 2, 0, &[("big", 1, 140 * MIB), ("mid", 1, 4 * MIB), ("tiny", 1, 1000), ("new", 1, MIB - 1)]);
        assert_eq!(verdict("pattern=50%", [old.clone(), new.clone()]).1, ["mid"]);
        assert_eq!(verdict("pattern=100%", [old.clone(), new]).0, GateVerdict::Kept);
        let newer = named("b", 2, 0, &[("big", 1, 100 * MIB), ("mid", 1, 2 * MIB), ("tiny", 1, 10), ("new", 1, MIB)]);
        assert_eq!(verdict("pattern=1000%", [old.clone(), newer.clone()]).1, ["new"]);
        let mut cut = old;
        cut.report.patterns.distinct = 9;
        let (open, _, gap) = verdict("pattern=1000%", [cut, newer]);
        assert_eq!((open, gap), (GateVerdict::NotEvaluated, Some(GateGap::ListsCut)));
    }

    #[test]
    fn what_is_missing_is_never_kept() {
        let mut damaged = named("a", 1, 100, &[]);
        damaged.report.complete = false;
        for condition in ["growth=1%", "keys=1%", "pattern=1%", "must"] {
            let (open, ..) = verdict(condition, [damaged.clone(), named("b", 2, 1, &[])]);
            assert_eq!(open, GateVerdict::NotEvaluated, "{condition}");
        }
    }

    #[test]
    fn patterns_that_a_cut_list_may_hide_are_never_kept_unless_bounds_decide() {
        let old = named("a", 1, 202 * MIB, &[("big", 1, 200 * MIB), ("small", 1, 2 * MIB)]);
        let cut = |listed: &[(&'static str, u64, u64)], total: u64| {
            let mut report = named("b", 2, total, listed);
            report.report.patterns.distinct = 9;
            report
        };
        let verdict = |old: &NamedReport, new: NamedReport| verdict("pattern=50%", [old.clone(), new]);
        let open = (GateVerdict::NotEvaluated, Vec::new(), Some(GateGap::ListsCut));
        // The small one may have grown, or a new one may be there.
        assert_eq!(verdict(&old, cut(&[("big", 1, 200 * MIB)], 290 * MIB)), open);
        assert_eq!(verdict(&old, cut(&[("big", 1, 200 * MIB), ("small", 1, 2 * MIB)], 203 * MIB)), open);
        // What is not listed takes too little, in total or by the lightest row.
        let kept = (GateVerdict::Kept, Vec::new(), None);
        assert_eq!(verdict(&old, cut(&[("big", 1, 200 * MIB), ("small", 1, 2 * MIB)], 203 * MIB - 1)), kept);
        assert_eq!(verdict(&old, cut(&[("big", 1, 200 * MIB), ("tiny", 1, MIB - 1)], 290 * MIB)), kept);
        // Before it took at most what was not listed.
        let mut hidden = named("a", 1, 202 * MIB, &[("big", 1, 200 * MIB)]);
        hidden.report.patterns.distinct = 2;
        let new = |small| named("b", 2, 300 * MIB, &[("big", 1, 200 * MIB), ("small", 1, small)]);
        let failed = (GateVerdict::Failed, vec!["small".to_owned()], None);
        assert_eq!(verdict(&hidden, new(3 * MIB + 1)), failed);
        assert_eq!(verdict(&hidden, new(3 * MIB)), open);
        assert_eq!(verdict(&hidden, new(MIB - 1)), kept);
    }

    #[test]
    fn shares_are_written_without_rounding_errors() {
        let mut comparer = Comparer::default();
        [named("a", 1, 1000, &[]), named("b", 2, 1299, &[])].into_iter().for_each(|report| comparer.add(report));
        let plan = ComparePlan { top: 1, maxmemory: None };
        let comparison = comparer.finish_with(&plan, &["growth=50%".parse().unwrap()]).unwrap();
        assert_eq!(comparison.gate[0].measured, Some(0.299));
    }
}
