//! Passages that policies cite for a rule and remedies that they give, each once.

use super::settings_of;
use crate::policy::Policy;
use crate::policy::wording::RuleWording;
use crate::report::{Passage, Wording};

/// Preset that combines what the standards agree on. It cites no sentence that they do not, so it is not listed.
const COMBINED: &str = "default";

/// Passage with the policies that cite it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Citation<'p> {
    /// The passage.
    pub passage: &'p Passage,
    /// Names of the policies, in their order.
    pub policies: Vec<&'p str>,
}

/// Returns the passages that policies cite for a rule, in the order of the policies.
pub fn citations<'p>(policies: impl IntoIterator<Item = &'p Policy>, id: &str) -> Vec<Citation<'p>> {
    let mut found: Vec<Citation<'p>> = Vec::new();
    for policy in policies.into_iter().filter(|policy| policy.name != COMBINED) {
        for passage in settings_of(policy, id).filter_map(|setting| setting.source.as_ref()) {
            match found.iter_mut().find(|citation| citation.passage == passage) {
                Some(citation) if citation.policies.last() == Some(&policy.name.as_str()) => {}
                Some(citation) => citation.policies.push(&policy.name),
                None => found.push(Citation { passage, policies: vec![&policy.name] }),
            }
        }
    }
    found
}

/// Returns the remedies that policies put in place of the rule's, each with the names of the policies.
pub fn own_fixes<'p>(policies: impl IntoIterator<Item = &'p Policy>, id: &str) -> Vec<(Vec<&'p str>, Wording)> {
    let mut found: Vec<(Vec<&str>, Wording)> = Vec::new();
    for policy in policies {
        for setting in settings_of(policy, id).filter(|setting| setting.fix.is_some()) {
            let fix = RuleWording::in_force(setting).fix;
            match found.iter_mut().find(|(_, known)| *known == fix) {
                Some((names, _)) if names.last() == Some(&policy.name.as_str()) => {}
                Some((names, _)) => names.push(&policy.name),
                None => found.push((vec![&policy.name], fix)),
            }
        }
    }
    found
}
