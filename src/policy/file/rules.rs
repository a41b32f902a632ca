//! Parser of `[rules]`: severities and parameters.
//!
//! A table modifies the setting of the preset; an array of tables (`[[rules."big.string"]]`) replaces it, with one limit
//! per table. Both keep the passage and the remedy of the preset unless they give their own.

use toml::de::DeValue;

use super::reader::{self, PolicyFault, PolicyReader, TomlTable, TomlValue, question, suggestion};
use crate::policy::checks::MAX_KEY_CHECKS;
use crate::policy::dictionary::TtlClass;
use crate::policy::params::{ParamDefault, ParamSpec, ParamValue};
use crate::policy::registry;
use crate::policy::rule::{BuiltRule, Rule, RuleMeta, Severity};
use crate::policy::rules::memory::budget;
use crate::policy::rules::ttl::too_long;
use crate::policy::rules::type_::expected;
use crate::policy::settings::{Policy, RuleSetting};
use crate::report::{Passage, Wording};

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
        check_number(policy, line)?;
    }
    Ok(())
}

/// Enables the rules that evaluate the declarations of a document, at their usual severity, unless its `[rules]` name them: a limit
/// that no rule looks at would be mistaken for one that is kept.
pub fn enable_declared(root: &TomlTable<'_>, policy: &mut Policy) -> Result<(), PolicyFault> {
    let own = policy.classes.iter().filter(|class| class.line > 0);
    let class = |has: fn(&TtlClass) -> bool| own.clone().find(|class| has(class)).map(|class| class.line);
    let budget = policy.budgets.first().map(|budget| budget.line);
    let entry = policy.entries.iter().find(|entry| entry.budget.is_some()).map(|entry| entry.line);
    let expected = policy.expected.iter().find(|expected| expected.line > 0).map(|expected| expected.line);
    let declared = [
        (&budget::RULE, budget.or_else(|| class(|class| class.budget.is_some())).or(entry)),
        (&too_long::RULE, class(|class| class.max.is_some())),
        (&expected::RULE, expected),
    ];
    let named = root.get("rules").and_then(|rules| rules.get_ref().as_table());
    for (rule, line) in declared {
        let Some(line) = line else { continue };
        let id = rule.meta.id;
        let is_named = named.is_some_and(|rules| rules.contains_key(id));
        if !is_named && policy.settings.iter().all(|setting| setting.rule.meta.id != id) {
            policy.settings.push(RuleSetting::of(rule));
            check_number(policy, line)?;
        }
    }
    Ok(())
}

fn check_number(policy: &Policy, line: usize) -> Result<(), PolicyFault> {
    if policy.settings.iter().filter(|setting| asks_about_keys(setting)).count() > MAX_KEY_CHECKS {
        let what = format!("a policy has at most {MAX_KEY_CHECKS} limits about keys");
        return Err(PolicyFault::at(line, what, "remove this limit or an earlier one"));
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
    let hint = question(&registry::suggestions(id));
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
pub const COMMON: [&str; 6] = ["severity", "document", "source", "quote", "fix", "fix_zh"];

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
            let mut made: Vec<(usize, RuleSetting)> = Vec::new();
            for item in list {
                let line = reader.reader.line(&item.span());
                let table = item.get_ref().as_table().ok_or_else(|| wrong(id, line))?;
                let Some(limit) = reader.limit(&before, table, line)? else { continue };
                // More than this many limits are refused later.
                let mut others = made.iter().take(MAX_KEY_CHECKS);
                if let Some(fault) =
                    others.find_map(|(other, of_other)| conflict(id, (line, &limit), (*other, of_other)))
                {
                    return Err(fault);
                }
                made.push((line, limit));
            }
            Ok(made.into_iter().map(|(_, limit)| limit).collect())
        }
        _ => Err(wrong(id, line)),
    }
}

/// Returns whether every key that breaks the second limit breaks the first, which is at least as severe, so that none counts under
/// the second. Upper limits are compared, but for 0, which may have a meaning of its own.
fn hides(first: &RuleSetting, second: &RuleSetting) -> bool {
    const UPPER: &str = "max";
    let implies = |((name, one), (_, other)): ((&str, &ParamValue), (&str, &ParamValue))| match (one, other) {
        (ParamValue::Number(one @ 1..), ParamValue::Number(other)) if name == UPPER => one <= other,
        _ => one == other,
    };
    first.severity >= second.severity && first.params.iter().zip(second.params.iter()).all(implies)
}

/// Returns the error of two limits, each with its line, if one hides the other.
fn conflict(id: &str, one: (usize, &RuleSetting), other: (usize, &RuleSetting)) -> Option<PolicyFault> {
    let (hidden, by) = match (hides(other.1, one.1), hides(one.1, other.1)) {
        (true, _) => (one.0, other.0),
        (false, true) => (other.0, one.0),
        (false, false) => return None,
    };
    Some(PolicyFault::at(
        hidden,
        format!(
            "nothing counts under this limit of {id}: what breaks it also breaks the one on line {by}, which is as severe"
        ),
        "remove one of them, or give the higher limit the higher severity",
    ))
}

fn wrong(id: &str, line: usize) -> PolicyFault {
    let remedy = format!("write {id:?} = \"off\", or [rules.\"{id}\"] with severity and parameters below");
    PolicyFault::at(line, format!("{id:?} must be a severity or a table"), remedy)
}

/// Keys that cite a passage.
const CITES: [&str; 3] = ["document", "source", "quote"];

/// Keys that give a remedy.
const FIXES: [&str; 2] = ["fix", "fix_zh"];

fn has_any(table: &TomlTable<'_>, keys: &[&str]) -> bool {
    keys.iter().any(|key| table.contains_key(*key))
}

impl RuleReader<'_, '_> {
    /// Reads one of several limits. Passage and remedy are those of the preset's limit of the same severity, or of its first.
    fn limit(
        &self,
        before: &[RuleSetting],
        table: &TomlTable<'_>,
        line: usize,
    ) -> Result<Option<RuleSetting>, PolicyFault> {
        let id = self.rule.meta.id;
        if !table.contains_key("severity") {
            let remedy =
                format!("add severity = \"must\", \"should\" or \"hint\"; [rules.\"{id}\"] keeps that of the preset");
            return Err(PolicyFault::at(line, format!("[[rules.\"{id}\"]] without \"severity\""), remedy));
        }
        let Some(mut made) = self.setting(RuleSetting::of(self.rule), table, line)? else { return Ok(None) };
        let alike = before.iter().find(|setting| setting.severity == made.severity).or(before.first());
        if !has_any(table, &CITES) {
            made.source = alike.and_then(|setting| setting.source.clone());
        }
        if !has_any(table, &FIXES) {
            made.fix = alike.and_then(|setting| setting.fix.clone());
        }
        Ok(Some(made))
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
        if has_any(table, &CITES) {
            setting.source = self.passage(table)?;
        }
        if has_any(table, &FIXES) {
            setting.fix = self.fix(table)?;
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

    /// Reads the passage that a table cites; `None` if it is blank, which takes back that of the preset.
    fn passage(&self, table: &TomlTable<'_>) -> Result<Option<Passage>, PolicyFault> {
        let [own, chapter, quote] =
            [self.line(table, "document")?, self.line(table, "source")?, self.line(table, "quote")?];
        if own.is_none() && chapter.is_none() && quote.is_none() {
            return Ok(None);
        }
        let document = own.or_else(|| self.document.map(str::to_owned));
        Ok(Some(Passage { document, chapter, quote }))
    }

    /// Reads the remedy that a table gives; `None` if it is blank, which takes back that of the preset.
    ///
    /// A remedy in one language serves for both: it is right, that of the rule might not be.
    fn fix(&self, table: &TomlTable<'_>) -> Result<Option<Wording>, PolicyFault> {
        let (en, zh) = (self.line(table, "fix")?, self.line(table, "fix_zh")?);
        for (key, text) in [("fix", &en), ("fix_zh", &zh)] {
            let unknown = text.as_deref().and_then(|text| unknown_param(text, self.rule.meta));
            if let Some(unknown) = unknown {
                return Err(self.no_param(unknown, key, self.reader.line_of(table, key)));
            }
        }
        let Some(either) = en.as_ref().or(zh.as_ref()).cloned() else { return Ok(None) };
        Ok(Some(Wording { en: en.unwrap_or_else(|| either.clone()), zh: zh.unwrap_or(either) }))
    }

    /// Error on a name in braces that is none of the rule's parameters.
    fn no_param(&self, name: &str, key: &str, line: usize) -> PolicyFault {
        let params: Vec<&str> = self.rule.meta.params.iter().map(|spec| spec.name).collect();
        let known = match params.as_slice() {
            [] => "the rule has no parameters".to_owned(),
            all => format!("parameters are {}", all.join(", ")),
        };
        let what = format!("{key:?}: {{{name}}} is no parameter of {}", self.rule.meta.id);
        let remedy = format!("{}{known}; put patterns of keys in backticks", suggestion(name, &params));
        PolicyFault::at(line, what, remedy)
    }

    /// Reads a text as one line; `None` if it is blank.
    fn line(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<String>, PolicyFault> {
        let words = self.reader.text(table, key)?.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
        Ok(words.filter(|text| !text.is_empty()))
    }
}

/// Returns the first name in braces that is no parameter of the rule, nor part of code in backticks or of the name of a key.
fn unknown_param<'t>(text: &'t str, meta: &RuleMeta) -> Option<&'t str> {
    let is_word = |byte: u8| byte.is_ascii_lowercase() || byte == b'_';
    let in_key = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b":/|_-{}".contains(byte));
    // Every other piece is within backticks; the last is not if its backtick has no counterpart.
    let pieces: Vec<&str> = text.split('`').collect();
    let is_code = |at: usize| at % 2 == 1 && at + 1 < pieces.len();
    let texts = pieces.iter().copied().enumerate().filter(|(at, _)| !is_code(*at)).map(|(_, text)| text);
    let unknown = |text: &'t str| {
        text.match_indices('{').find_map(|(open, _)| {
            let (name, after) = text.get(open + 1..)?.split_once('}')?;
            let before = text.as_bytes().get(..open)?.last();
            let is_param = meta.params.iter().any(|spec| spec.name == name);
            let is_key = in_key(before) || in_key(after.as_bytes().first());
            (!name.is_empty() && name.bytes().all(is_word) && !is_param && !is_key).then_some(name)
        })
    };
    texts.into_iter().find_map(unknown)
}

fn severity(word: &str, line: usize) -> Result<Option<Severity>, PolicyFault> {
    match Severity::parse(word) {
        Some(severity) => Ok(Some(severity)),
        None if word == "off" => Ok(None),
        None => Err(PolicyFault::at(
            line,
            format!("{word:?} is not a severity"),
            format!("{}severities are must, should, hint and off", suggestion(word, ["must", "should", "hint", "off"])),
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
    read.ok_or_else(|| PolicyFault::at(line, format!("{:?} must be {expects}", spec.name), ""))
}
