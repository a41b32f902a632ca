//! Policies: the enabled rules with their severities and parameters, and what a team declares about its patterns.

use super::dictionary::{DictionaryEntry, Exemption, ExpectedTypes, MemoryBudget, TtlClass};
use super::params::{ParamValue, Params};
use super::registry;
use super::rule::{Rule, Severity};
use super::rules::value::sensitive;
use crate::report::{Passage, Wording};
use crate::sorting::CompactSort;

/// Complete policy: a preset with the changes of a policy file applied.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Name of the preset, or the name given in the file.
    pub name: String,
    /// Name of the preset that it extends.
    pub extends: Option<String>,
    /// Enabled rules, sorted by id; a rule may occur several times, with different severities.
    pub settings: Vec<RuleSetting>,
    /// TTL classes.
    pub classes: Vec<TtlClass>,
    /// Entries of the data dictionary.
    pub entries: Vec<DictionaryEntry>,
    /// Memory budgets.
    pub budgets: Vec<MemoryBudget>,
    /// Types that keys are to have.
    pub expected: Vec<ExpectedTypes>,
    /// Keys that are exempt from rules.
    pub exemptions: Vec<Exemption>,
}

/// Enabled rule with its severity and parameters.
#[derive(Debug, Clone)]
pub struct RuleSetting {
    /// The rule.
    pub rule: &'static Rule,
    /// Severity of a violation.
    pub severity: Severity,
    /// Values of its parameters.
    pub params: Params,
    /// Passage of a standard that demands it; `None` if the policy names none.
    pub source: Option<Passage>,
    /// Remedy that replaces that of the rule; names of parameters in braces stand for their values.
    pub fix: Option<Wording>,
}

impl RuleSetting {
    /// Creates the setting of a rule that no policy has changed.
    pub fn of(rule: &'static Rule) -> RuleSetting {
        RuleSetting {
            rule,
            severity: rule.meta.severity,
            params: Params::defaults(rule.meta.params),
            source: None,
            fix: None,
        }
    }
}

impl Policy {
    /// Creates a policy without rules.
    pub fn empty(name: &str) -> Policy {
        Policy {
            name: name.to_owned(),
            extends: None,
            settings: Vec::new(),
            classes: Vec::new(),
            entries: Vec::new(),
            budgets: Vec::new(),
            expected: Vec::new(),
            exemptions: Vec::new(),
        }
    }

    /// Returns the lowest limit of a rule, whatever its severity: what exceeds it is in the findings. `None` if the rule is not
    /// enabled.
    ///
    /// # Panics
    ///
    /// If the rule declares no number of this name.
    pub fn limit(&self, rule: &str, param: &str) -> Option<u64> {
        let own = self.settings.iter().filter(|setting| setting.rule.meta.id == rule);
        own.map(|setting| setting.params.number(param)).min()
    }

    /// Replaces all limits of a rule with this one, at the highest severity that the rule had.
    ///
    /// Does nothing if the rule is not enabled.
    pub fn set_limit(&mut self, rule: &str, param: &str, limit: u64) {
        let mut found = false;
        self.settings.retain_mut(|setting| {
            if setting.rule.meta.id != rule {
                return true;
            }
            setting.params.set(param, ParamValue::Number(limit));
            !std::mem::replace(&mut found, true)
        });
    }

    /// Enables or disables the rule that inspects values.
    ///
    /// Only the user decides on that (`--inspect-values`): `look` enables the rule whatever the policy says, and without it
    /// the rule is disabled even if the policy demands it. Returns the rule and its severity in that last case.
    pub fn look_into_values(&mut self, look: bool) -> Option<(&'static str, Severity)> {
        let rule = &sensitive::RULE;
        let own = self.settings.iter().filter(|setting| setting.rule.meta.id == rule.meta.id);
        let demanded = own.map(|setting| setting.severity).max();
        if look && demanded.is_none() {
            self.settings.push(RuleSetting::of(rule));
            self.sort();
        }
        if !look {
            self.settings.retain(|setting| setting.rule.meta.id != rule.meta.id);
        }
        demanded.filter(|_| !look).map(|severity| (rule.meta.id, severity))
    }

    /// Sorts rules as in the registry, and limits of the same rule by severity, the highest first.
    pub(super) fn sort(&mut self) {
        let place = |rule: &Rule| registry::RULES.iter().position(|known| known.meta.id == rule.meta.id);
        self.settings.compact_sort_by_key(|setting| (place(setting.rule), std::cmp::Reverse(setting.severity)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::checks;

    const SERVICE: &str = "extends = \"service\"\n";

    #[test]
    fn the_limit_of_a_rule_is_its_lowest() {
        let policy = checks(SERVICE).policy;
        assert_eq!(policy.limit("big.string", "max"), Some(10_240));
        assert_eq!(policy.limit("big.hash-fields", "max"), None);
    }

    #[test]
    fn a_limit_that_is_set_replaces_all_others() {
        let mut policy = checks(SERVICE).policy;
        policy.set_limit("big.string", "max", 500);
        policy.set_limit("big.hash-fields", "max", 500);
        let strings = policy.settings.iter().filter(|setting| setting.rule.meta.id == "big.string");
        let limits: Vec<_> = strings.map(|setting| (setting.severity, setting.params.number("max"))).collect();
        assert_eq!(limits, [(Severity::Must, 500)]);
        assert_eq!(policy.limit("big.hash-fields", "max"), None);
    }
}
