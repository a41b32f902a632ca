//! A policy: which rules are in force, with what severity and parameters, and what a team says about its patterns.

use super::dictionary::{DictionaryEntry, Exemption, MemoryBudget, TtlClass};
use super::params::{ParamValue, Params};
use super::registry;
use super::rule::{Rule, Severity};
use super::rules::value::sensitive;

/// A policy, whole: what a preset says and what a file lays over it.
#[derive(Debug, Clone)]
pub struct Policy {
    /// Its name: a preset's, or what the file calls itself.
    pub name: String,
    /// The preset that it extends.
    pub extends: Option<String>,
    /// The rules in force, in order of id; one rule may be there several times with different severities.
    pub settings: Vec<RuleSetting>,
    /// Classes of lifetimes.
    pub classes: Vec<TtlClass>,
    /// The data dictionary.
    pub entries: Vec<DictionaryEntry>,
    /// Limits on memory.
    pub budgets: Vec<MemoryBudget>,
    /// Keys that may break rules.
    pub exemptions: Vec<Exemption>,
}

/// One rule in force.
#[derive(Debug, Clone)]
pub struct RuleSetting {
    /// The rule.
    pub rule: &'static Rule,
    /// How much a violation matters.
    pub severity: Severity,
    /// What is allowed.
    pub params: Params,
}

impl Policy {
    /// No rules at all.
    pub fn empty(name: &str) -> Policy {
        Policy {
            name: name.to_owned(),
            extends: None,
            settings: Vec::new(),
            classes: Vec::new(),
            entries: Vec::new(),
            budgets: Vec::new(),
            exemptions: Vec::new(),
        }
    }

    /// What a rule in force allows: the gravest of its limits. `None` when the rule is not in force.
    ///
    /// # Panics
    ///
    /// When the rule declares no number of this name.
    pub fn limit(&self, rule: &str, param: &str) -> Option<u64> {
        let setting = self.settings.iter().find(|setting| setting.rule.meta.id == rule)?;
        Some(setting.params.number(param))
    }

    /// Makes this the only limit of a rule in force, with the gravest of its severities. A rule that is not in force stays
    /// so.
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

    /// Puts the rule that looks into values in force, or takes it out. Looking into values is the user's own decision: who
    /// takes it wants to know, whatever the policy, and a policy alone does not. Returns the rule's id if the policy
    /// demands it and it was taken out.
    pub fn look_into_values(&mut self, look: bool) -> Option<&'static str> {
        let rule = &sensitive::RULE;
        let demanded = self.settings.iter().any(|setting| setting.rule.meta.id == rule.meta.id);
        if look && !demanded {
            let params = Params::defaults(rule.meta.params);
            self.settings.push(RuleSetting { rule, severity: rule.meta.severity, params });
            self.sort();
        }
        if !look {
            self.settings.retain(|setting| setting.rule.meta.id != rule.meta.id);
        }
        (demanded && !look).then_some(rule.meta.id)
    }

    /// Rules in the registry's order, the gravest limit of a rule first.
    pub(super) fn sort(&mut self) {
        let place = |rule: &Rule| registry::RULES.iter().position(|known| known.meta.id == rule.meta.id);
        self.settings.sort_by_key(|setting| (place(setting.rule), std::cmp::Reverse(setting.severity)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::checks;

    const SERVICE: &str = "extends = \"service\"\n";

    #[test]
    fn the_gravest_limit_is_the_policys() {
        let policy = checks(SERVICE).policy;
        assert_eq!(policy.limit("big.string", "max"), Some(1 << 20));
        assert_eq!(policy.limit("big.hash-fields", "max"), None);
    }

    #[test]
    fn a_limit_from_outside_is_the_only_one() {
        let mut policy = checks(SERVICE).policy;
        policy.set_limit("big.string", "max", 500);
        policy.set_limit("big.hash-fields", "max", 500);
        let strings = policy.settings.iter().filter(|setting| setting.rule.meta.id == "big.string");
        let limits: Vec<_> = strings.map(|setting| (setting.severity, setting.params.number("max"))).collect();
        assert_eq!(limits, [(Severity::Must, 500)]);
        assert_eq!(policy.limit("big.hash-fields", "max"), None);
    }
}
