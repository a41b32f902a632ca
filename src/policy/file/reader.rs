//! The values of a TOML document with the lines that they stand in.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::PatternSyntax;
use crate::policy::matcher::PolicyPattern;
use crate::policy::params;

/// A table of the document.
pub type TomlTable<'t> = DeTable<'t>;
/// A value with its place.
pub type TomlValue<'t> = Spanned<DeValue<'t>>;

/// A mistake in a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFault {
    /// Where.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: String,
    /// What to do about it.
    pub remedy: String,
}

impl PolicyFault {
    /// A mistake in a line.
    pub fn at(line: usize, what: impl Into<String>, remedy: impl Into<String>) -> PolicyFault {
        PolicyFault { line: Some(line), what: what.into(), remedy: remedy.into() }
    }
}

/// Reads values out of one document.
#[derive(Debug, Clone, Copy)]
pub struct PolicyReader<'t> {
    /// The document.
    pub text: &'t str,
    /// What patterns are read with.
    pub syntax: PatternSyntax<'t>,
}

impl<'t> PolicyReader<'t> {
    /// The document as a table.
    pub fn root(&self) -> Result<TomlTable<'t>, PolicyFault> {
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| PolicyFault {
            line: error.span().map(|span| self.line(&span)),
            what: error.message().replace('\n', ", "),
            remedy: "a policy is a TOML document: see docs/policy.md".to_owned(),
        })
    }

    /// The line of a place, from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        let before = self.text.as_bytes().get(..span.start).unwrap_or(self.text.as_bytes());
        memchr::memchr_iter(b'\n', before).count() + 1
    }

    /// The line of a key in a table; of the table's first key where it has none such.
    pub fn line_of(&self, table: &TomlTable<'_>, key: &str) -> usize {
        let own = table.keys().find(|known| known.get_ref() == key);
        own.or_else(|| table.keys().next()).map_or(1, |key| self.line(&key.span()))
    }

    /// Refuses keys that mean nothing here.
    pub fn only(&self, table: &TomlTable<'_>, known: &[&str]) -> Result<(), PolicyFault> {
        match table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => Err(PolicyFault::at(
                self.line(&key.span()),
                format!("{:?} means nothing here", key.get_ref()),
                format!("what can stand here: {}", known.join(", ")),
            )),
        }
    }

    /// A text.
    pub fn text<'a>(&self, table: &'a TomlTable<'_>, key: &str) -> Result<Option<&'a str>, PolicyFault> {
        self.read(table, key, "a text in quotes", |value| value.as_str())
    }

    /// A text that has to be there.
    pub fn needed<'a>(&self, table: &'a TomlTable<'_>, key: &str, line: usize) -> Result<&'a str, PolicyFault> {
        self.text(table, key)?
            .ok_or_else(|| PolicyFault::at(line, format!("{key:?} is missing"), format!("add {key} = \"…\"")))
    }

    /// Yes or no.
    pub fn flag(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<bool>, PolicyFault> {
        self.read(table, key, "true or false", |value| value.as_bool())
    }

    /// A number of bytes.
    pub fn bytes(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<u64>, PolicyFault> {
        self.read(table, key, "a number of bytes such as 10240, \"10KB\" or \"1MB\"", bytes)
    }

    /// A time span in milliseconds.
    pub fn span(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<u64>, PolicyFault> {
        self.read(table, key, "a time span such as \"60s\", \"30min\", \"24h\" or \"7d\"", |value| {
            value.as_str().and_then(params::span)
        })
    }

    /// Texts, or one.
    pub fn texts(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<Vec<String>>, PolicyFault> {
        self.read(table, key, "a list of texts", texts)
    }

    /// A list of tables, each with the line that it begins in.
    pub fn tables<'a>(
        &self,
        root: &'a TomlTable<'t>,
        key: &str,
    ) -> Result<Vec<(usize, &'a TomlTable<'t>)>, PolicyFault> {
        let Some(value) = root.get(key) else { return Ok(Vec::new()) };
        let wrong =
            |line| PolicyFault::at(line, format!("{key:?} is a list of tables"), format!("write [[{key}]] above each"));
        let Some(list) = value.get_ref().as_array() else { return Err(wrong(self.line(&value.span()))) };
        let one = |value: &'a TomlValue<'t>| {
            let line = self.line(&value.span());
            value.get_ref().as_table().map(|table| (line, table)).ok_or_else(|| wrong(line))
        };
        list.iter().map(one).collect()
    }

    /// A pattern.
    pub fn pattern(&self, text: &str, line: usize) -> Result<PolicyPattern, PolicyFault> {
        PolicyPattern::parse(text, self.syntax.separators, self.syntax.classifier).map_err(|what| {
            PolicyFault::at(
                line,
                format!("pattern {text:?}: {what}"),
                "patterns are written as reports print them: see docs/policy.md",
            )
        })
    }

    fn read<'a, T>(
        &self,
        table: &'a TomlTable<'_>,
        key: &str,
        expected: &str,
        read: impl FnOnce(&'a DeValue<'_>) -> Option<T>,
    ) -> Result<Option<T>, PolicyFault> {
        let Some(value) = table.get(key) else { return Ok(None) };
        let wrong = || {
            PolicyFault::at(
                self.line(&value.span()),
                format!("{key:?} has to be {expected}"),
                format!("give {expected}"),
            )
        };
        read(value.get_ref()).map(Some).ok_or_else(wrong)
    }
}

/// A count.
pub fn number(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// A number of bytes, with or without a unit.
pub fn bytes(value: &DeValue<'_>) -> Option<u64> {
    number(value).or_else(|| value.as_str().and_then(params::bytes))
}

/// A part of the whole, in thousandths.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range is checked before")]
pub fn share(value: &DeValue<'_>) -> Option<u64> {
    let whole = match value {
        DeValue::Float(float) => float.as_str().parse::<f64>().ok()?,
        DeValue::Integer(integer) => integer.as_str().parse::<f64>().ok()?,
        DeValue::String(text) => text.strip_suffix('%')?.trim().parse::<f64>().ok()? / 100.0,
        _ => return None,
    };
    (0.0..=1.0).contains(&whole).then(|| (whole * 1000.0).round() as u64)
}

/// A list of texts, or one text.
pub fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(text) => Some(vec![text.clone().into_owned()]),
        DeValue::Array(list) => {
            list.iter().map(|item| item.get_ref().as_str().map(|text| Cow::from(text).into_owned())).collect()
        }
        _ => None,
    }
}
