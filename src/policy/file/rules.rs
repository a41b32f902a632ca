//! `[rules]`: severities and parameters.
//!
//! A table changes what the preset says of a rule; a list of tables (`[[rules."big.string"]]`) replaces it, one limit each.

use toml::de::DeValue;

use super::reader::{self, Fault, Reader, Table, Value};
use crate::policy::checks::MOST_KEY_CHECKS;
use crate::policy::params::{ParamSpec, Params, Usual, Value as Param};
use crate::policy::registry;
use crate::policy::rule::{Question, Rule, Severity};
use crate::policy::settings::{Policy, Setting};

/// Lays the rules of a document over those of the preset.
pub fn lay_over(reader: &Reader<'_>, root: &Table<'_>, policy: &mut Policy) -> Result<(), Fault> {
    let Some(value) = root.get("rules") else { return Ok(()) };
    let line = reader.line(&value.span());
    let Some(rules) = value.get_ref().as_table() else {
        return Err(Fault::at(
            line,
            "\"rules\" has to be a table",
            "write [rules.\"key.length\"] above a rule's settings",
        ));
    };
    for (id, value) in rules {
        let line = reader.line(&id.span());
        let rule = registry::find(id.get_ref()).ok_or_else(|| unknown(id.get_ref(), line))?;
        let before: Vec<Setting> =
            policy.settings.extract_if(.., |setting| setting.rule.meta.id == rule.meta.id).collect();
        policy.settings.extend(settings(reader, rule, value, line, before)?);
        if policy.settings.iter().filter(|setting| asks_about_keys(setting)).count() > MOST_KEY_CHECKS {
            let what = format!("a policy has at most {MOST_KEY_CHECKS} limits about keys");
            return Err(Fault::at(line, what, "leave out limits, from here on back"));
        }
    }
    Ok(())
}

/// Parameters that no rule can be made with have been refused.
fn asks_about_keys(setting: &Setting) -> bool {
    matches!((setting.rule.build)(&setting.params), Ok(Question::Key(_)))
}

fn unknown(id: &str, line: usize) -> Fault {
    let what = format!("there is no rule {id:?}");
    if registry::RULES.iter().any(|rule| rule.meta.id.split_once('.').is_some_and(|(group, _)| group == id)) {
        // The dot of an id that does not stand in quotes divides tables.
        let remedy = format!("the ids of rules stand in quotes, as in [rules.\"{id}.…\"]; `rdblens rules` lists all");
        return Fault::at(line, what, remedy);
    }
    let hint =
        registry::suggestions(id).first().map_or_else(String::new, |nearest| format!("did you mean {nearest:?}? "));
    Fault::at(line, what, format!("{hint}`rdblens rules` lists all; ids stand in quotes"))
}

fn settings(
    reader: &Reader<'_>,
    rule: &'static Rule,
    value: &Value<'_>,
    line: usize,
    mut before: Vec<Setting>,
) -> Result<Vec<Setting>, Fault> {
    let id = rule.meta.id;
    let fresh = || Setting { rule, severity: rule.meta.severity, params: Params::defaults(rule.meta.params) };
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
                return Err(Fault::at(
                    line,
                    format!("the preset has {} limits for {id}", before.len()),
                    format!("write [[rules.\"{id}\"]] for each limit, or {id:?} = \"off\""),
                ));
            }
            let base = before.pop().unwrap_or_else(fresh);
            Ok(setting(reader, base, table, line)?.into_iter().collect())
        }
        DeValue::Array(list) => {
            let mut made = Vec::new();
            for item in list {
                let line = reader.line(&item.span());
                let table = item.get_ref().as_table().ok_or_else(|| wrong(id, line))?;
                made.extend(setting(reader, fresh(), table, line)?);
            }
            Ok(made)
        }
        _ => Err(wrong(id, line)),
    }
}

fn wrong(id: &str, line: usize) -> Fault {
    let remedy = format!("write {id:?} = \"off\", or [rules.\"{id}\"] and below it severity and parameters");
    Fault::at(line, format!("{id:?} has to be a severity or a table"), remedy)
}

/// A setting that is changed as a table says; `None` when it is turned off.
fn setting(
    reader: &Reader<'_>,
    mut setting: Setting,
    table: &Table<'_>,
    line: usize,
) -> Result<Option<Setting>, Fault> {
    let specs = setting.rule.meta.params;
    let known: Vec<&str> = std::iter::once("severity").chain(specs.iter().map(|spec| spec.name)).collect();
    reader.only(table, &known)?;
    if let Some(word) = reader.text(table, "severity")? {
        match severity(word, reader.line_of(table, "severity"))? {
            None => return Ok(None),
            Some(severity) => setting.severity = severity,
        }
    }
    for spec in specs {
        if let Some(value) = table.get(spec.name) {
            let line = reader.line(&value.span());
            setting.params.set(spec.name, param(spec, value.get_ref(), line)?);
        }
    }
    (setting.rule.build)(&setting.params).map_err(|what| {
        Fault::at(
            line,
            format!("{}: {what}", setting.rule.meta.id),
            format!("`rdblens rules {}` explains it", setting.rule.meta.id),
        )
    })?;
    Ok(Some(setting))
}

fn severity(word: &str, line: usize) -> Result<Option<Severity>, Fault> {
    match Severity::parse(word) {
        Some(severity) => Ok(Some(severity)),
        None if word == "off" => Ok(None),
        None => Err(Fault::at(line, format!("{word:?} is no severity"), "severities are must, should, hint and off")),
    }
}

fn param(spec: &ParamSpec, value: &DeValue<'_>, line: usize) -> Result<Param, Fault> {
    let read = match spec.usual {
        Usual::Int(_) => reader::number(value).map(Param::Number),
        Usual::Bytes(_) => reader::bytes(value).map(Param::Number),
        Usual::Span(_) => value.as_str().and_then(crate::policy::params::span).map(Param::Number),
        Usual::Share(_) => reader::share(value).map(Param::Number),
        Usual::Words(_) => reader::texts(value).map(Param::Words),
        Usual::Flag(_) => value.as_bool().map(Param::Flag),
    };
    let expects = spec.usual.expects();
    read.ok_or_else(|| Fault::at(line, format!("{:?} has to be {expects}", spec.name), format!("give {expects}")))
}
