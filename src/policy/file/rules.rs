//! Parser of `[rules]`: severities and parameters.
//!
//! A table modifies the setting of the preset; an array of tables (`[[rules."big.string"]]`) replaces it, with one limit
//! per table. Both keep the passage that the preset cites unless they cite one of their own.

use toml::de::DeValue;

use super::reader::{self, PolicyFault, PolicyReader, TomlTable, TomlValue};
use crate::policy::checks::MOST_KEY_CHECKS;
use crate::policy::params::{ParamDefault, ParamSpec, ParamValue};
use crate::policy::registry;
use crate::policy::rule::{BuiltRule, Rule, Severity};
use crate::policy::settings::{Policy, RuleSetting};
use crate::report::Passage;

/// Applies the rules of a document to those of the preset.
pub fn lay_over(reader: &PolicyReader<'_>, root: &TomlTable<'_>, policy: &mut Policy) -> Result<(), PolicyFault> {
    let Some(value) = root.get("rules") else { return Ok(()) };
    let line = reader.line(&value.span());
    let Some(rules) = value.get_ref().as_table() else {
        return Err(PolicyFault::at(
            line,
            "\"rules\" must be a table",
            "write [rules.\"key.length\"] above the settings of a rule",
        ));
    };
    let document = reader.text(root, "document")?;
    for (id, value) in rules {
        let line = reader.line(&id.span());
        let rule = registry::find(id.get_ref()).ok_or_else(|| unknown(id.get_ref(), line))?;
        let before: Vec<RuleSetting> =
            policy.settings.extract_if(.., |setting| setting.rule.meta.id == rule.meta.id).collect();
        policy.settings.extend(settings(&RuleReader { reader, rule, document }, value, line, before)?);
        if policy.settings.iter().filter(|setting| asks_about_keys(setting)).count() > MOST_KEY_CHECKS {
            let what = format!("a policy has at most {MOST_KEY_CHECKS} limits about keys");
            return Err(PolicyFault::at(line, what, "remove this limit or an earlier one"));
        }
    }
    Ok(())
}

/// Returns whether a setting needs a bit of the key mask. Its parameters have been validated before.
fn asks_about_keys(setting: &RuleSetting) -> bool {
    matches!((setting.rule.build)(&setting.params), Ok(BuiltRule::Key(_)))
}

fn unknown(id: &str, line: usize) -> PolicyFault {
    let what = format!("there is no rule {id:?}");
    if registry::RULES.iter().any(|rule| rule.meta.id.split_once('.').is_some_and(|(group, _)| group == id)) {
        // The dot of an id without quotes separates TOML keys.
        let remedy =
            format!("put the id of a rule in quotes, as in [rules.\"{id}.…\"]; `rdblens rules` lists all rules");
        return PolicyFault::at(line, what, remedy);
    }
    let hint =
        registry::suggestions(id).first().map_or_else(String::new, |nearest| format!("did you mean {nearest:?}? "));
    PolicyFault::at(line, what, format!("{hint}`rdblens rules` lists all rules; put ids in quotes"))
}

/// Reader of the settings of one rule.
struct RuleReader<'r, 't> {
    reader: &'r PolicyReader<'t>,
    rule: &'static Rule,
    /// Title of the document that the file cites.
    document: Option<&'r str>,
}

/// Keys that every rule has besides its parameters.
pub const COMMON: [&str; 4] = ["severity", "document", "source", "quote"];

fn settings(
    reader: &RuleReader<'_, '_>,
    value: &TomlValue<'_>,
    line: usize,
    mut before: Vec<RuleSetting>,
) -> Result<Vec<RuleSetting>, PolicyFault> {
    let id = reader.rule.meta.id;
    let fresh = || RuleSetting::of(reader.rule);
    match value.get_ref() {
        DeValue::String(word) => {
            let Some(severity) = severity(word, line)? else { return Ok(Vec::new()) };
            if before.is_empty() {
                before.push(fresh());
            }
            before.iter_mut().for_each(|setting| setting.severity = severity);
            Ok(before)
        }
        DeValue::Table(table) => {
            if before.len() > 1 {
                return Err(PolicyFault::at(
                    line,
                    format!("the preset has {} limits for {id}", before.len()),
                    format!("write [[rules.\"{id}\"]] for each limit, or {id:?} = \"off\""),
                ));
            }
            let base = before.pop().unwrap_or_else(fresh);
            Ok(reader.setting(base, table, line)?.into_iter().collect())
        }
        DeValue::Array(list) => {
            let mut made = Vec::new();
            for item in list {
                let line = reader.reader.line(&item.span());
                let table = item.get_ref().as_table().ok_or_else(|| wrong(id, line))?;
                made.extend(reader.limit(&before, table, line)?);
            }
            Ok(made)
        }
        _ => Err(wrong(id, line)),
    }
}

fn wrong(id: &str, line: usize) -> PolicyFault {
    let remedy = format!("write {id:?} = \"off\", or [rules.\"{id}\"] with severity and parameters below");
    PolicyFault::at(line, format!("{id:?} must be a severity or a table"), remedy)
}

impl RuleReader<'_, '_> {
    /// Reads one of several limits. It cites the passage of the preset's limit of the same severity, or of its first.
    fn limit(
        &self,
        before: &[RuleSetting],
        table: &TomlTable<'_>,
        line: usize,
    ) -> Result<Option<RuleSetting>, PolicyFault> {
        let Some(made) = self.setting(RuleSetting::of(self.rule), table, line)? else { return Ok(None) };
        if made.source.is_some() || self.cites(table) {
            return Ok(Some(made));
        }
        let alike = before.iter().find(|setting| setting.severity == made.severity).or(before.first());
        Ok(Some(RuleSetting { source: alike.and_then(|setting| setting.source.clone()), ..made }))
    }

    /// Applies a table to a setting; `None` if it disables the rule.
    fn setting(
        &self,
        mut setting: RuleSetting,
        table: &TomlTable<'_>,
        line: usize,
    ) -> Result<Option<RuleSetting>, PolicyFault> {
        let (reader, meta) = (self.reader, self.rule.meta);
        let known: Vec<&str> = COMMON.into_iter().chain(meta.params.iter().map(|spec| spec.name)).collect();
        reader.only(table, &known)?;
        if let Some(word) = reader.text(table, "severity")? {
            match severity(word, reader.line_of(table, "severity"))? {
                None => return Ok(None),
                Some(severity) => setting.severity = severity,
            }
        }
        if self.cites(table) {
            setting.source = self.passage(table)?;
        }
        for spec in meta.params {
            if let Some(value) = table.get(spec.name) {
                let line = reader.line(&value.span());
                setting.params.set(spec.name, param(spec, value.get_ref(), line)?);
            }
        }
        (self.rule.build)(&setting.params).map_err(|what| {
            PolicyFault::at(line, format!("{}: {what}", meta.id), format!("`rdblens rules {}` explains it", meta.id))
        })?;
        Ok(Some(setting))
    }

    /// Returns whether a table cites a passage of its own.
    fn cites(&self, table: &TomlTable<'_>) -> bool {
        ["document", "source", "quote"].into_iter().any(|key| table.contains_key(key))
    }

    /// Reads the passage that a table cites; `None` if it is blank, which takes back that of the preset.
    fn passage(&self, table: &TomlTable<'_>) -> Result<Option<Passage>, PolicyFault> {
        let text = |key| Ok(self.reader.text(table, key)?.map(str::trim).filter(|text| !text.is_empty()));
        let (own, chapter, quote) = (text("document")?, text("source")?, text("quote")?);
        if own.or(chapter).or(quote).is_none() {
            return Ok(None);
        }
        let owned = |text: Option<&str>| text.map(str::to_owned);
        Ok(Some(Passage { document: owned(own.or(self.document)), chapter: owned(chapter), quote: owned(quote) }))
    }
}

fn severity(word: &str, line: usize) -> Result<Option<Severity>, PolicyFault> {
    match Severity::parse(word) {
        Some(severity) => Ok(Some(severity)),
        None if word == "off" => Ok(None),
        None => Err(PolicyFault::at(
            line,
            format!("{word:?} is not a severity"),
            "severities are must, should, hint and off",
        )),
    }
}

fn param(spec: &ParamSpec, value: &DeValue<'_>, line: usize) -> Result<ParamValue, PolicyFault> {
    let read = match spec.default {
        ParamDefault::Int(_) => reader::number(value).map(ParamValue::Number),
        ParamDefault::Bytes(_) => reader::bytes(value).map(ParamValue::Number),
        ParamDefault::Span(_) => value.as_str().and_then(crate::policy::params::span).map(ParamValue::Number),
        ParamDefault::Share(_) => reader::share(value).map(ParamValue::Number),
        ParamDefault::Words(_) => reader::texts(value).map(ParamValue::Words),
        ParamDefault::Flag(_) => value.as_bool().map(ParamValue::Flag),
    };
    let expects = spec.default.expects();
    read.ok_or_else(|| PolicyFault::at(line, format!("{:?} must be {expects}", spec.name), format!("write {expects}")))
}
