//! Which findings of two reports can be compared: those of rules that both policies have with the same settings.

use std::collections::{BTreeMap, BTreeSet};

use super::Report;
use crate::report::{WarningKind, Word};

/// Difference between the policies of two reports.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum PolicyChange {
    /// Only one of the policies has these rules, or they have other settings; none if the policies are the same.
    Rules(BTreeSet<String>),
    /// The reports do not say which rules have the same settings.
    Unknown,
}

impl PolicyChange {
    /// Compares the policies of two reports; returns `None` unless both were checked against one.
    pub fn of_reports(first: &Report, last: &Report) -> Option<PolicyChange> {
        (first.has_findings() && last.has_findings()).then(|| PolicyChange::between(first, last))
    }

    /// Compares two policies.
    pub fn between(first: &Report, last: &Report) -> PolicyChange {
        match (settings(first), settings(last)) {
            (Some(before), Some(after)) => {
                let rules: BTreeSet<&Word> = before.keys().chain(after.keys()).collect();
                let differs = |rule: &&&Word| before.get(**rule) != after.get(**rule);
                PolicyChange::Rules(rules.iter().filter(differs).map(|rule| rule.to_string()).collect())
            }
            _ if is_one_preset(first, last) => PolicyChange::Rules(BTreeSet::new()),
            _ => PolicyChange::Unknown,
        }
    }

    /// Returns whether findings of a rule cannot be compared.
    pub fn concerns(&self, rule: &str) -> bool {
        match self {
            PolicyChange::Rules(rules) => rules.contains(rule),
            PolicyChange::Unknown => true,
        }
    }

    /// Returns the warning about policies that are not known to be the same.
    pub fn warning(&self) -> Option<WarningKind> {
        let rules = match self {
            PolicyChange::Rules(rules) => rules.iter().cloned().collect(),
            PolicyChange::Unknown => Vec::new(),
        };
        (!self.is_none()).then_some(WarningKind::PoliciesDiffer { rules })
    }

    /// Returns whether the policies are known to be the same.
    pub fn is_none(&self) -> bool {
        matches!(self, PolicyChange::Rules(rules) if rules.is_empty())
    }
}

/// Returns the digests of the rules in force; `None` if the report has rules without digests.
fn settings(report: &Report) -> Option<&BTreeMap<Word, String>> {
    let findings = &report.findings;
    let has_rules = !(findings.checked.is_empty() && findings.not_evaluated.is_empty() && findings.list.is_empty());
    Some(&findings.settings).filter(|settings| !settings.is_empty() || !has_rules)
}

/// Returns whether both reports were checked against the same preset. A file may have changed and kept its name.
fn is_one_preset(first: &Report, last: &Report) -> bool {
    let name = |report: &Report| {
        let is_file = report.options.policy.to_ascii_lowercase().ends_with(".toml");
        let is_preset = report.findings.extends.is_none() && !is_file;
        is_preset.then(|| report.findings.policy.clone())
    };
    name(first).is_some_and(|before| name(last) == Some(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A report with these rules and their digests; none for a report of an earlier version.
    fn report(policy: &str, extends: Option<&str>, rules: &[(&'static str, &str)]) -> Report {
        let mut report = Report::default();
        report.findings.policy = policy.to_owned();
        report.findings.extends = extends.map(str::to_owned);
        report.findings.checked = rules.iter().map(|(rule, _)| Word::from(*rule)).collect();
        let digests = rules.iter().filter(|(_, digest)| !digest.is_empty());
        report.findings.settings = digests.map(|(rule, digest)| (Word::from(*rule), (*digest).to_owned())).collect();
        report
    }

    fn differing(rules: &[&str]) -> PolicyChange {
        PolicyChange::Rules(rules.iter().map(|rule| (*rule).to_owned()).collect())
    }

    #[test]
    fn digests_tell_which_rules_differ_whatever_the_names() {
        let old = report("a", None, &[("key.length", "1"), ("key.levels", "2"), ("big.string", "3")]);
        let new = report("b", None, &[("key.length", "1"), ("key.levels", "9"), ("ttl.missing", "4")]);
        assert_eq!(PolicyChange::between(&old, &new), differing(&["big.string", "key.levels", "ttl.missing"]));
        assert_eq!(PolicyChange::between(&new, &new), differing(&[]));
        let none = report("none", None, &[]);
        assert_eq!(PolicyChange::between(&none, &new), differing(&["key.length", "key.levels", "ttl.missing"]));
        assert!(PolicyChange::between(&none, &none).is_none());
    }

    #[test]
    fn without_digests_only_a_preset_is_known_to_be_the_same() {
        let rules = [("key.length", "")];
        let preset = report("default", None, &rules);
        assert!(PolicyChange::between(&preset, &preset).is_none());
        assert_eq!(PolicyChange::between(&preset, &report("strict", None, &rules)), PolicyChange::Unknown);
        let file = report("team", Some("default"), &rules);
        assert_eq!(PolicyChange::between(&file, &file), PolicyChange::Unknown);
        let mut file = report("team", None, &rules);
        file.options.policy = "team.toml".to_owned();
        assert_eq!(PolicyChange::between(&file, &file), PolicyChange::Unknown);
        let digested = report("default", None, &[("key.length", "1")]);
        assert!(
            PolicyChange::between(&preset, &digested).is_none(),
            "one preset, of an earlier version and of this one"
        );
        assert!(PolicyChange::Unknown.concerns("key.length") && !PolicyChange::Unknown.is_none());
    }
}
