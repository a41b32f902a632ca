//! The section of a report that holds the snapshot against a policy.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Baseline, Details, Example, Severity, Unit, Weight, Word, Wording, demand, fix, problem};
use crate::units::Bytes;

/// What breaks the policy.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Findings {
    /// The policy's name.
    pub policy: String,
    /// The preset that it extends.
    pub extends: Option<String>,
    /// Ids of the rules in force, sorted.
    pub checked: Vec<Word>,
    /// By severity, the gravest first: `must`, `should`, `hint`.
    pub severities: Vec<SeverityRow>,
    /// By rule, the gravest severity first, then the heaviest. Rules that nothing breaks are not here.
    pub list: Vec<Finding>,
    /// By pattern: the patterns whose keys break most, the gravest first, then the heaviest.
    pub by_pattern: Vec<PatternFindings>,
    /// By owner of the data dictionary, heaviest first; keys without an owner under null. Empty without a dictionary.
    pub by_owner: Vec<OwnerFindings>,
    /// What the policy's exemptions cover.
    pub exempted: Vec<Exempted>,
    /// How the data dictionary fits, if the policy has one.
    pub dictionary: Option<DictionaryFit>,
    /// Budgets with what their keys take.
    pub budgets: Vec<BudgetRow>,
    /// How this compares with an earlier report, if there is one (`--baseline`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
}

/// Findings of one severity.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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

/// What breaks one rule with one severity.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// Such as `key.prefix`.
    pub rule: Word,
    /// Severity.
    pub severity: Severity,
    /// Names the problem, with the numbers in force.
    #[serde(flatten, with = "problem")]
    #[schemars(with = "problem::Form")]
    pub problem: Wording,
    /// What the rule demands, in a line, with the numbers in force.
    #[serde(flatten, with = "demand")]
    #[schemars(with = "demand::Form")]
    pub demand: Wording,
    /// What to do about it, likewise.
    #[serde(flatten, with = "fix")]
    #[schemars(with = "fix::Form")]
    pub fix: Wording,
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
    /// What is farthest from what is allowed, of all patterns, shown or not; null where nothing is measured.
    #[serde(default)]
    pub worst: Option<Worst>,
    /// Where, heaviest first.
    #[serde(default)]
    pub patterns: Vec<FindingPattern>,
}

impl Finding {
    /// Returns the headline: the problem, or what is demanded where the report has no more.
    pub fn headline(&self) -> &Wording {
        if self.problem.en.is_empty() { &self.demand } else { &self.problem }
    }
}

/// What is farthest from what is allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Worst {
    /// What was measured.
    pub measured: u64,
    /// What is allowed there.
    pub allowed: Option<u64>,
}

impl Worst {
    /// Of rows, the heaviest first: of equals the first counts.
    pub fn of(rows: &[FindingPattern]) -> Option<Worst> {
        let measured = |row: &FindingPattern| Some(Worst { measured: row.measured?, allowed: row.allowed });
        rows.iter().rev().filter_map(measured).max_by_key(Worst::distance)
    }

    /// How far over what is allowed, or below it where less is worse.
    fn distance(&self) -> Option<u64> {
        self.allowed.map(|allowed| self.measured.abs_diff(allowed))
    }
}

/// What one pattern, or another part of the snapshot, contributes to a finding.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FindingPattern {
    /// Such as `user:{int}:name`; for rules about the snapshot a file, a database or null.
    pub pattern: Option<String>,
    /// Who answers for it, by the data dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// Keys, exactly.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// The worst that was measured.
    pub measured: Option<u64>,
    /// What is allowed there.
    pub allowed: Option<u64>,
    /// Memory that the remedy would save.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub saves: Option<Bytes>,
    /// What else is to be known, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(with = "BTreeMap<String, super::detail::DetailForm>")]
    pub details: Details,
    /// The heaviest keys; ties go to the lower database, then the smaller name.
    pub examples: Vec<Example>,
}

/// What the keys of one pattern break.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct PatternFindings {
    /// The pattern.
    pub pattern: String,
    /// Who answers for it, by the data dictionary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<String>,
    /// All its keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// What they break, the gravest first.
    pub rules: Vec<RuleWeight>,
}

/// Keys that break a rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// What the keys of one owner take and break.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct OwnerFindings {
    /// The owner; null for keys that nobody is entered for.
    pub owner: Option<String>,
    /// How to reach the owner.
    pub contact: Option<String>,
    /// All keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Those that never expire; null for keys without an entry.
    pub without_ttl: Option<Weight>,
    /// Keys that break a rule.
    pub broken: Weight,
    /// What they break, the gravest first.
    pub rules: Vec<RuleWeight>,
}

/// What an exemption covers of a rule.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
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

/// How the data dictionary fits the snapshot.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct DictionaryFit {
    /// Its entries, heaviest first; of equals in the policy's order.
    pub entries: Vec<EntryRow>,
    /// Keys that match none of them.
    pub unregistered: Weight,
    /// Patterns of entries that match no key.
    pub unused: Vec<String>,
}

/// One entry of the data dictionary.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct EntryRow {
    /// Its pattern.
    pub pattern: String,
    /// Who answers for it.
    pub owner: Option<String>,
    /// How to reach the owner.
    pub contact: Option<String>,
    /// What it is for.
    pub note: Option<String>,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Those that never expire.
    pub without_ttl: Weight,
}

/// A budget.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct BudgetRow {
    /// The pattern or class that it is for.
    pub pattern: String,
    /// What its keys may take.
    pub allowed: Bytes,
    /// Keys.
    pub keys: u64,
    /// What they take.
    pub memory: Bytes,
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
