//! Descriptions of rules: all of them, those of a policy, or one in full; for people in one language, for programs in both.

mod citations;
mod classes;
mod explain;
mod json;
mod list;
mod sample;

use crate::policy::Policy;
use crate::policy::settings::RuleSetting;

#[cfg(feature = "internals")]
pub use citations::{citations, own_fixes};
pub use explain::explain;
pub use json::json;
pub use list::{all, in_force};
#[cfg(feature = "internals")]
pub use sample::lines as sample_lines;

/// Returns the settings of a policy for a rule, one for each limit.
fn settings_of<'p>(policy: &'p Policy, id: &str) -> impl Iterator<Item = &'p RuleSetting> {
    policy.settings.iter().filter(move |setting| setting.rule.meta.id == id)
}

/// Returns the severities of a policy's limits for a rule: `must`, or `must should` where there are two.
pub fn severities(policy: &Policy, id: &str) -> Option<String> {
    let words: Vec<_> = settings_of(policy, id).map(|setting| setting.severity.name()).collect();
    (!words.is_empty()).then(|| words.join(" "))
}
