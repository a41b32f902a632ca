//! Parser of policy files: TOML in, a [`Policy`] out. Presets have the same format.
//!
//! The document is walked by hand instead of being deserialised, so that every error states its line and a remedy.

mod lists;
mod reader;
mod rules;

use super::presets;
use super::settings::Policy;
use crate::error::{Error, Result};
use crate::near;
use crate::pattern::classify::Classifier;
use reader::{PolicyFault, PolicyReader, TomlTable};

/// Syntax of patterns in a policy.
#[derive(Debug, Clone, Copy)]
pub struct PatternSyntax<'a> {
    /// Bytes that divide names into segments.
    pub separators: &'a [u8],
    /// Classifier of segments, which replaces ids by classes.
    pub classifier: &'a Classifier,
}

/// Parses a policy file. `file` is its name in error messages.
pub fn parse(text: &str, file: &str, syntax: PatternSyntax<'_>) -> Result<Policy> {
    read(text, syntax, &[]).map_err(|fault| {
        let line = fault.line.map_or(String::new(), |line| format!(":{line}"));
        let error = Error::usage(format!("{file}{line}: {}", fault.what));
        if fault.remedy.is_empty() { error } else { error.with_hint(fault.remedy) }
    })
}

/// Parses a policy. `below` lists the presets that extend each other down to this one, to detect cycles.
pub(super) fn read(text: &str, syntax: PatternSyntax<'_>, below: &[&str]) -> std::result::Result<Policy, PolicyFault> {
    let line_ends: Vec<usize> = memchr::memchr_iter(b'\n', text.as_bytes()).collect();
    let reader = PolicyReader { text, line_ends: &line_ends, syntax };
    let root = reader.root()?;
    reader.only(
        &root,
        &["name", "document", "extends", "rules", "ttl_class", "dictionary", "budget", "expected", "exempt"],
    )?;
    let mut policy = match reader.text(&root, "extends")? {
        None => Policy::empty("policy"),
        Some(base) => extended(&reader, &root, base, below)?,
    };
    if let Some(name) = reader.filled(&root, "name", "reports show it: write one, or leave it out")? {
        policy.name = name.to_owned();
    }
    reader.text(&root, "document")?; // wrong types are told without [rules], too
    rules::lay_over(&reader, &root, &mut policy)?;
    lists::lay_over(&reader, &root, &mut policy)?;
    rules::enable_declared(&root, &mut policy)?;
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
    // These lines refer to the text of the preset.
    policy.classes.iter_mut().for_each(|class| class.line = 0);
    policy.expected.iter_mut().for_each(|expected| expected.line = 0);
    policy.name = "policy".to_owned();
    policy.extends = Some(base.to_owned());
    Ok(policy)
}

#[cfg(test)]
mod tests;
