//! Policy files: TOML in, a [`Policy`] out. Presets are written in the same form.
//!
//! The document is walked by hand rather than deserialised, so that every mistake can name its line and its remedy.

mod lists;
mod reader;
mod rules;

use super::presets;
use super::settings::Policy;
use crate::error::{Error, Result};
use crate::near;
use crate::pattern::classify::Classifier;
use reader::{PolicyFault, PolicyReader, TomlTable};

/// What patterns in a policy are read with.
#[derive(Debug, Clone, Copy)]
pub struct PatternSyntax<'a> {
    /// The bytes that divide names.
    pub separators: &'a [u8],
    /// What collapses ids.
    pub classifier: &'a Classifier,
}

/// Reads a policy file. `file` is what messages call it.
pub fn parse(text: &str, file: &str, syntax: PatternSyntax<'_>) -> Result<Policy> {
    read(text, syntax, &[]).map_err(|fault| {
        let line = fault.line.map_or(String::new(), |line| format!(":{line}"));
        Error::usage(format!("{file}{line}: {}", fault.what)).with_hint(fault.remedy)
    })
}

/// Reads a policy; `below` are the presets that are being read already.
pub(super) fn read(text: &str, syntax: PatternSyntax<'_>, below: &[&str]) -> std::result::Result<Policy, PolicyFault> {
    let reader = PolicyReader { text, syntax };
    let root = reader.root()?;
    reader.only(&root, &["name", "extends", "rules", "ttl_class", "dictionary", "budget", "exempt"])?;
    let mut policy = match reader.text(&root, "extends")? {
        None => Policy::empty("policy"),
        Some(base) => extended(&reader, &root, base, below)?,
    };
    if let Some(name) = reader.text(&root, "name")? {
        policy.name = name.to_owned();
    }
    rules::lay_over(&reader, &root, &mut policy)?;
    lists::lay_over(&reader, &root, &mut policy)?;
    policy.sort();
    Ok(policy)
}

fn extended(
    reader: &PolicyReader<'_>,
    root: &TomlTable<'_>,
    base: &str,
    below: &[&str],
) -> std::result::Result<Policy, PolicyFault> {
    let line = reader.line_of(root, "extends");
    if below.contains(&base) {
        return Err(PolicyFault::at(line, format!("preset {base:?} extends itself"), "extend another preset"));
    }
    let Some(preset) = presets::find(base) else {
        let known = presets::names().collect::<Vec<_>>().join(", ");
        let near = near::did_you_mean(&near::names(base, presets::names()));
        return Err(PolicyFault::at(
            line,
            format!("there is no preset {base:?}"),
            format!("{near}the presets are {known}"),
        ));
    };
    let mut policy = read(preset.text, presets::preset_syntax(reader.syntax), &[below, &[base]].concat())?;
    // Lines are those of another text.
    policy.classes.iter_mut().for_each(|class| class.line = 0);
    policy.name = "policy".to_owned();
    policy.extends = Some(base.to_owned());
    Ok(policy)
}

#[cfg(test)]
mod tests;
