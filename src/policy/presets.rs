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
        let (near, all) = (near::did_you_mean(&near::names(name, names())), names().collect::<Vec<_>>().join(", "));
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
    use crate::report::Passage;

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
