//! The policies that come with the program: one for each of the published standards, and what all of them agree on.

use super::file::{self, PatternSyntax};
use super::settings::Policy;
use crate::error::{Error, Result};
use crate::near;
use crate::pattern::classify::Classifier;

/// A policy that comes with the program.
#[derive(Debug, Clone, Copy)]
pub struct Preset {
    /// Its name.
    pub name: &'static str,
    /// The policy, as a file would have it.
    pub text: &'static str,
}

/// All of them.
pub static PRESETS: &[Preset] = &[
    Preset { name: "default", text: include_str!("presets/default.toml") },
    Preset { name: "service", text: include_str!("presets/service.toml") },
    Preset { name: "hzero", text: include_str!("presets/hzero.toml") },
    Preset { name: "platform", text: include_str!("presets/platform.toml") },
    Preset { name: "strict", text: include_str!("presets/strict.toml") },
    Preset { name: "aliyun", text: include_str!("presets/aliyun.toml") },
    Preset { name: "none", text: "name = \"none\"\n" },
];

/// The preset of this name.
pub fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.iter().find(|preset| preset.name == name)
}

/// All names.
pub fn names() -> impl Iterator<Item = &'static str> {
    PRESETS.iter().map(|preset| preset.name)
}

/// What divides the patterns in presets, whatever divides the keys: a pattern matches by its segments.
const SEPARATOR: &[u8] = b":";

/// What the patterns of presets are read with.
pub(super) fn preset_syntax<'a>(syntax: PatternSyntax<'a>) -> PatternSyntax<'a> {
    PatternSyntax { separators: SEPARATOR, ..syntax }
}

/// Reads a preset.
pub fn load(name: &str, syntax: PatternSyntax<'_>) -> Result<Policy> {
    let preset = find(name).ok_or_else(|| {
        let (near, all) = (near::did_you_mean(&near::names(name, names())), names().collect::<Vec<_>>().join(", "));
        Error::usage(format!("there is no policy {name:?}"))
            .with_hint(format!("{near}a preset ({all}) or a file that ends in .toml"))
    })?;
    file::parse(preset.text, preset.name, preset_syntax(syntax))
}

/// The standards' presets and `default`, read, in the order of [`PRESETS`]: all but `none`.
pub fn standards() -> Result<Vec<Policy>> {
    let classifier = Classifier::default();
    let syntax = PatternSyntax { separators: b":", classifier: &classifier };
    PRESETS.iter().filter(|preset| preset.name != "none").map(|preset| load(preset.name, syntax)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_preset_reads_and_calls_itself_by_its_name() {
        for preset in PRESETS {
            for separators in [b":", b"|"] {
                let policy =
                    load(preset.name, PatternSyntax { separators, classifier: &Classifier::default() }).unwrap();
                assert_eq!(policy.name, preset.name);
            }
        }
    }
}
