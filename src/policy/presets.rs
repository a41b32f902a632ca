//! Built-in policies: one for each of the published standards, and a default that combines what they agree on.

use super::file::{self, PatternSyntax};
use super::settings::Policy;
use crate::error::{Error, Result};
use crate::near;
use crate::pattern::classify::Classifier;

/// Built-in policy.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Name of the preset.
    pub name: &'static str,
    /// Text of the policy, in the format of policy files.
    pub text: &'static str,
}

/// All presets.
pub static PRESETS: &[Preset] = &[
    Preset { name: "default", text: include_str!("presets/default.toml") },
    Preset { name: "service", text: include_str!("presets/service.toml") },
    Preset { name: "hzero", text: include_str!("presets/hzero.toml") },
    Preset { name: "platform", text: include_str!("presets/platform.toml") },
    Preset { name: "strict", text: include_str!("presets/strict.toml") },
    Preset { name: "aliyun", text: include_str!("presets/aliyun.toml") },
    Preset { name: "none", text: "name = \"none\"\n" },
];

/// Returns the preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// Returns the names of all presets.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

/// Separator of patterns in presets. Patterns match by segment, so it is independent of the separators of keys.
const SEPARATOR: &[u8] = b":";

/// Returns the syntax for patterns of presets, with the classifier of `syntax`.
pub(super) fn preset_syntax<'a>(syntax: PatternSyntax<'a>) -> PatternSyntax<'a> {
    PatternSyntax { separators: SEPARATOR, ..syntax }
}

/// Loads a preset.
pub fn load(name: &str, syntax: PatternSyntax<'_>) -> Result<Policy> {
    let preset = find(name).ok_or_else(|| {
        // "did you mean none?" reads as "none of them".
        let near = near::names(name, names().filter(|preset| *preset != "none"));
        let (near, all) = (near::did_you_mean(&near), names().collect::<Vec<_>>().join(", "));
        Error::usage(format!("there is no policy {name:?}"))
            .with_hint(format!("{near}use a preset ({all}) or a file that ends in .toml"))
    })?;
    let mut policy = file::parse(preset.text, preset.name, preset_syntax(syntax))?;
    policy.classes.iter_mut().for_each(|class| class.line = 0);
    policy.expected.iter_mut().for_each(|expected| expected.line = 0);
    Ok(policy)
}

/// Loads all presets except `none`, in the order of [`PRESETS`].
pub fn standards() -> Result<Vec<Policy>> {
    let classifier = Classifier::default();
    let syntax = PatternSyntax { separators: b":", classifier: &classifier };
    PRESETS.iter().filter(|preset| preset.name != "none").map(|preset| load(preset.name, syntax)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::PatternBuf;
    use crate::policy::checks::{Checks, Judged};
    use crate::policy::context::Context;
    use crate::policy::testing::record;
    use crate::policy::wording::RuleWording;
    use crate::record::{Kind, Record};
    use crate::report::{Passage, Severity};

    #[test]
    fn every_rule_of_a_preset_cites_a_sentence() {
        for policy in standards().unwrap() {
            for setting in policy.settings {
                let cited =
                    matches!(&setting.source, Some(Passage { document: Some(_), chapter: Some(_), quote: Some(_) }));
                assert!(cited, "{}: {} has no document, source and quote", policy.name, setting.rule.meta.id);
            }
        }
    }

    /// Returns the names that a remedy recommends, and the types of their keys: those that are not replaced by another.
    fn recommended(fix: &str) -> Vec<(Kind, String)> {
        let mut names = Vec::new();
        for (start, _) in fix.match_indices('`').step_by(2) {
            let (name, behind) = fix[start + 1..].split_once('`').unwrap();
            let is_replaced = [" becomes", " to `", " 改为", " 简化为"].iter().any(|it| behind.starts_with(it));
            if name.contains(':') && !name.starts_with("rdblens") && !is_replaced {
                names.push((Kind::String, name.replace("{uid}", "7").replace("{mid}", "8")));
            }
        }
        names.extend(fix.split_once("HSET ").map(|(_, rest)| (Kind::Hash, rest.split(' ').next().unwrap().to_owned())));
        names.retain(|(_, name)| name != "key");
        names
    }

    #[test]
    fn recommended_names_keep_the_rules_of_the_preset() {
        let classifier = Classifier::default();
        let mut tried = 0;
        for policy in standards().unwrap() {
            let rules = policy.settings.clone();
            let name_of_policy = policy.name.clone();
            let checks = Checks::new(policy, Context::default()).unwrap();
            for setting in rules.iter().filter(|setting| !setting.rule.meta.id.starts_with("slot.")) {
                let fix = RuleWording::in_force(setting).fix;
                for (kind, name) in recommended(&fix.en).into_iter().chain(recommended(&fix.zh)) {
                    let (mut judged, mut pattern) = (Judged::default(), PatternBuf::default());
                    classifier.classify(name.as_bytes(), &mut pattern);
                    checks.judge(&Record { kind, ..record(name.as_bytes()) }, &pattern, &mut judged);
                    let is_broken = |bit: &usize| judged.broken >> bit & 1 == 1;
                    let broken = checks.naming_bits().filter(is_broken).map(|bit| &checks.keys[bit]);
                    let broken: Vec<_> =
                        broken.filter(|it| it.severity >= Severity::Should).map(|it| it.meta.id).collect();
                    assert!(
                        broken.is_empty(),
                        "{name_of_policy}: {} recommends {name}, {broken:?}",
                        setting.rule.meta.id
                    );
                    tried += 1;
                }
            }
        }
        assert!(tried > 40, "{tried}");
    }

    #[test]
    fn every_preset_parses_and_bears_its_name() {
        for preset in PRESETS {
            for separators in [b":", b"|"] {
                let policy =
                    load(preset.name, PatternSyntax { separators, classifier: &Classifier::default() }).unwrap();
                assert_eq!(policy.name, preset.name);
            }
        }
    }
}
