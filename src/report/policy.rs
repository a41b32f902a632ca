//! The section of a report that holds the snapshot against a policy.

use std::collections::BTreeMap;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    Baseline, Details, Example, Severity, Unit, Unknown, Weight, Word, Wording, demand, fix, problem, reason, remedy,
};
use crate::units::Bytes;

/// Violations of the policy.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Findings {
    /// The policy's name.
    pub policy: String,
    /// The preset that it extends.
    pub extends: Option<String>,
    /// Digest of each rule in force, evaluated or not: of its severities, limits and exemptions, and of what else in the policy it
    /// depends on. Equal digests in two reports mean equal settings. Absent if there are no rules, and in reports of earlier versions.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<Word, String>,
    /// Ids of the rules in force that were evaluated, sorted.
    pub checked: Vec<Word>,
    /// Rules in force that were not evaluated, sorted: whether they are kept is unknown.
    pub not_evaluated: Vec<NotEvaluated>,
    /// By severity, the gravest first: `must`, `should`, `hint`.
    pub severities: Vec<SeverityRow>,
    /// By rule, the gravest severity first, then the heaviest. Rules that nothing breaks are not here.
    pub list: Vec<Finding>,
    /// By pattern: the patterns whose keys break most, the gravest first, then the heaviest.
    pub by_pattern: Vec<PatternFindings>,
    /// By owner of the data dictionary, heaviest first; keys without an owner under null. Empty without a dictionary.
    pub by_owner: Vec<OwnerFindings>,
    /// Keys covered by exemptions of the policy.
    pub exempted: Vec<Exempted>,
    /// Coverage of the data dictionary, if the policy has one.
    pub dictionary: Option<DictionaryFit>,
    /// Budgets with what their keys take.
    pub budgets: Vec<BudgetRow>,
    /// Comparison with an earlier report (`--baseline`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
}

/// Findings of one severity.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SeverityRow {
    /// Severity.
    pub severity: Severity,
    /// Entries of [`Findings::list`].
    pub findings: u64,
    /// Keys that break a rule about keys, each under its gravest severity.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

/// Rule in force that lacked something to be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct NotEvaluated {
    /// Its id.
    pub rule: Word,
    /// Its severity, the highest if it has several limits.
    pub severity: Severity,
    /// Missing fact.
    #[serde(flatten, with = "reason")]
    #[cfg_attr(feature = "internals", schemars(with = "reason::Form"))]
    pub reason: Wording,
    /// What to give so that the rule is evaluated.
    #[serde(flatten, with = "remedy")]
    #[cfg_attr(feature = "internals", schemars(with = "remedy::Form"))]
    pub remedy: Wording,
    /// Flag that provides what is missing; null if none does.
    pub flag: Option<Word>,
    /// False if neither the policy nor the snapshot has anything that the rule is about, such as budgets or shards.
    #[serde(default = "applies")]
    pub applies: bool,
}

/// Default of reports that do not say.
fn applies() -> bool {
    true
}

/// Passage of a document that demands a rule, in the words of the document.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Passage {
    /// Title of the document.
    pub document: Option<String>,
    /// Heading of the chapter; levels are divided by ` / `.
    pub chapter: Option<String>,
    /// The sentence.
    pub quote: Option<String>,
}

/// Violations of one rule with one severity.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Finding {
    /// Such as `key.prefix`.
    pub rule: Word,
    /// Severity.
    pub severity: Severity,
    /// Names the problem, with the numbers in force.
    #[serde(flatten, with = "problem")]
    #[cfg_attr(feature = "internals", schemars(with = "problem::Form"))]
    pub problem: Wording,
    /// Requirement of the rule with its limits, in one line.
    #[serde(flatten, with = "demand")]
    #[cfg_attr(feature = "internals", schemars(with = "demand::Form"))]
    pub demand: Wording,
    /// Recommended fix, in one line.
    #[serde(flatten, with = "fix")]
    #[cfg_attr(feature = "internals", schemars(with = "fix::Form"))]
    pub fix: Wording,
    /// Passage of a document that demands it, in the words of the document; null where the policy cites none.
    #[serde(default)]
    pub source: Option<Passage>,
    /// Unit of `measured` and `allowed`; null where nothing is measured.
    pub unit: Option<Unit>,
    /// Keys, exactly.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Memory that the remedy would save, where that can be told.
    pub saves: Option<Bytes>,
    /// Patterns that break it; `patterns` shows the heaviest of them.
    #[serde(default)]
    pub distinct_patterns: u64,
    /// Value furthest from its limit over all patterns, listed or not; null if nothing is measured.
    #[serde(default)]
    pub worst: Option<Worst>,
    /// Patterns with violations, heaviest first.
    #[serde(default)]
    pub patterns: Vec<FindingPattern>,
}

impl Finding {
    /// Returns the headline: the problem, or what is demanded where the report has no more.
    pub fn headline(&self) -> &Wording {
        if self.problem.en.is_empty() { &self.demand } else { &self.problem }
    }
}

/// Value furthest from its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Worst {
    /// Measured value.
    pub measured: u64,
    /// Limit.
    pub allowed: Option<u64>,
}

impl Worst {
    /// Of rows, the heaviest first: of equals the first counts.
    pub fn of(rows: &[FindingPattern]) -> Option<Worst> {
        let measured = |row: &FindingPattern| Some(Worst { measured: row.measured?, allowed: row.allowed });
        rows.iter().rev().filter_map(measured).max_by_key(Worst::distance)
    }

    /// Returns the distance from the limit, in the direction that is worse.
    fn distance(&self) -> Option<u64> {
        self.allowed.map(|allowed| self.measured.abs_diff(allowed))
    }
}

/// Share of one pattern, or of another part of the snapshot, in a finding.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct FindingPattern {
    /// Such as `user:{int}:name`; for rules about the snapshot a file, a database or null.
    pub pattern: Option<String>,
    /// Owner according to the data dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Keys, exactly.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// The worst that was measured.
    pub measured: Option<u64>,
    /// Limit.
    pub allowed: Option<u64>,
    /// Memory that the remedy would save.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<Bytes>,
    /// Further facts, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "internals", schemars(with = "BTreeMap<String, super::detail::DetailForm>"))]
    pub details: Details,
    /// The heaviest keys; ties go to the lower database, then the smaller name.
    pub examples: Vec<Example>,
}

/// Violations by the keys of one pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct PatternFindings {
    /// The pattern.
    pub pattern: String,
    /// Owner according to the data dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// All its keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Violated rules, most severe first.
    pub rules: Vec<RuleWeight>,
}

/// Keys that break a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct RuleWeight {
    /// The rule.
    pub rule: Word,
    /// Severity.
    pub severity: Severity,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

/// Memory and violations of the keys of one owner.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct OwnerFindings {
    /// Owner; null for keys without an owner.
    pub owner: Option<String>,
    /// Contact of the owner.
    pub contact: Option<String>,
    /// All keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Keys without an expiry; null for keys without an entry.
    pub without_ttl: Option<Weight>,
    /// Keys that break a rule.
    pub broken: Weight,
    /// Violated rules, most severe first.
    pub rules: Vec<RuleWeight>,
}

/// Keys of a rule that an exemption covers.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Exempted {
    /// The rule.
    pub rule: Word,
    /// The exemption's pattern.
    pub pattern: String,
    /// Its reason.
    pub reason: String,
    /// Keys that break the rule and are exempt.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

/// Coverage of the snapshot by the data dictionary.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct DictionaryFit {
    /// Its entries, heaviest first; of equals in the policy's order.
    pub entries: Vec<EntryRow>,
    /// Keys that match none of them.
    pub unregistered: Weight,
    /// Patterns of entries that match no key.
    pub unused: Vec<String>,
    /// Patterns of entries that name no owner; they register nothing.
    #[serde(default)]
    pub incomplete: Vec<String>,
}

/// One entry of the data dictionary.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct EntryRow {
    /// Its pattern.
    pub pattern: String,
    /// Owner.
    pub owner: Option<String>,
    /// Contact of the owner.
    pub contact: Option<String>,
    /// Purpose of the keys.
    pub note: Option<String>,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Keys without an expiry.
    pub without_ttl: Weight,
}

/// A budget.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct BudgetRow {
    /// The pattern or class that it is for.
    pub pattern: String,
    /// Memory budget.
    pub allowed: Bytes,
    /// Keys.
    pub keys: u64,
    /// Memory used.
    pub memory: Bytes,
    /// Keys of unknown memory; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_is_the_farthest_from_what_is_allowed_and_of_equals_the_heaviest() {
        let row = |(measured, allowed)| FindingPattern { measured, allowed, ..FindingPattern::default() };
        let worst = |rows: &[(Option<u64>, Option<u64>)]| {
            let rows: Vec<FindingPattern> = rows.iter().copied().map(row).collect();
            Worst::of(&rows).map(|worst| (worst.measured, worst.allowed))
        };
        assert_eq!(worst(&[(Some(2), Some(3)), (Some(1), Some(3)), (Some(5), Some(3))]), Some((1, Some(3))));
        assert_eq!(worst(&[(None, Some(3)), (Some(9), None)]), Some((9, None)));
        assert_eq!(worst(&[(None, None)]), None);
    }
}
