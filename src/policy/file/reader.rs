//! Access to the values of a TOML document, with line numbers for error messages.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::PatternSyntax;
use crate::near;
use crate::policy::matcher::PolicyPattern;
use crate::policy::params;

/// Table of the document.
pub type TomlTable<'t> = DeTable<'t>;
/// Value with its position in the document.
pub type TomlValue<'t> = Spanned<DeValue<'t>>;

/// Error in a policy file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PolicyFault {
    /// Line number, from 1.
    pub line: Option<usize>,
    /// Description of the error.
    pub what: String,
    /// Remedy; empty if the description says what to write.
    pub remedy: String,
}

impl PolicyFault {
    /// Creates an error at a line.
    pub fn at(line: usize, what: impl Into<String>, remedy: impl Into<String>) -> PolicyFault {
        PolicyFault { line: Some(line), what: what.into(), remedy: remedy.into() }
    }
}

/// Reader of typed values from one document.
#[derive(Debug, Clone, Copy)]
pub struct PolicyReader<'t> {
    /// Text of the document.
    pub text: &'t str,
    /// Where its lines end, in order.
    pub line_ends: &'t [usize],
    /// Syntax of patterns.
    pub syntax: PatternSyntax<'t>,
}

impl<'t> PolicyReader<'t> {
    /// Parses the document.
    pub fn root(&self) -> Result<TomlTable<'t>, PolicyFault> {
        DeTable::parse(self.text).map(Spanned::into_inner).map_err(|error| PolicyFault {
            line: error.span().map(|span| self.line(&span)),
            what: error.message().replace('\n', ", "),
            remedy: "a policy is a TOML document: see docs/policy.md".to_owned(),
        })
    }

    /// Returns the line of a position, from 1.
    pub fn line(&self, span: &Range<usize>) -> usize {
        self.line_ends.partition_point(|end| *end < span.start) + 1
    }

    /// Returns the line of a key in a table, or of the first key of the table if the key is missing.
    pub fn line_of(&self, table: &TomlTable<'_>, key: &str) -> usize {
        let own = table.keys().find(|known| known.get_ref() == key);
        own.or_else(|| table.keys().next()).map_or(1, |key| self.line(&key.span()))
    }

    /// Rejects unknown keys of a table.
    pub fn only(&self, table: &TomlTable<'_>, known: &[&str]) -> Result<(), PolicyFault> {
        match table.keys().find(|key| !known.contains(&key.get_ref().as_ref())) {
            None => Ok(()),
            Some(key) => Err(PolicyFault::at(
                self.line(&key.span()),
                format!("{:?} is not a known key here", key.get_ref()),
                format!("{}known keys are {}", suggestion(key.get_ref(), known), known.join(", ")),
            )),
        }
    }

    /// Returns a string.
    pub fn text<'a>(&self, table: &'a TomlTable<'_>, key: &str) -> Result<Option<&'a str>, PolicyFault> {
        self.read(table, key, "a string in quotes", |value| value.as_str())
    }

    /// Returns a required string.
    pub fn needed<'a>(&self, table: &'a TomlTable<'_>, key: &str, line: usize) -> Result<&'a str, PolicyFault> {
        self.text(table, key)?
            .ok_or_else(|| PolicyFault::at(line, format!("{key:?} is missing"), format!("add {key} = \"…\"")))
    }

    /// Returns a string with more than blanks.
    pub fn filled<'a>(
        &self,
        table: &'a TomlTable<'_>,
        key: &str,
        remedy: &str,
    ) -> Result<Option<&'a str>, PolicyFault> {
        let text = self.text(table, key)?;
        if text.is_some_and(|text| text.trim().is_empty()) {
            return Err(PolicyFault::at(self.line_of(table, key), format!("{key:?} is empty"), remedy));
        }
        Ok(text)
    }

    /// Returns a list of strings, which must not be empty; `remedy` says what to write instead.
    pub fn some_texts(
        &self,
        table: &TomlTable<'_>,
        key: &str,
        remedy: &str,
    ) -> Result<Option<Vec<String>>, PolicyFault> {
        let texts = self.texts(table, key)?;
        if texts.as_ref().is_some_and(Vec::is_empty) {
            return Err(PolicyFault::at(self.line_of(table, key), format!("{key:?} is empty"), remedy));
        }
        Ok(texts)
    }

    /// Returns a boolean.
    pub fn flag(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<bool>, PolicyFault> {
        self.read(table, key, "true or false", |value| value.as_bool())
    }

    /// Returns the bytes of a budget. A budget of nothing would not be one.
    pub fn budget(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<u64>, PolicyFault> {
        let budget = self.read(table, key, "a number of bytes such as 10240, \"10KB\" or \"1MB\"", bytes)?;
        if budget == Some(0) {
            let remedy = "write a size above 0, or remove the budget";
            return Err(PolicyFault::at(self.line_of(table, key), format!("{key:?} is 0"), remedy));
        }
        Ok(budget)
    }

    /// Returns a time span in milliseconds.
    pub fn span(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<u64>, PolicyFault> {
        self.read(table, key, "a time span such as \"60s\", \"30min\", \"24h\" or \"7d\"", |value| {
            value.as_str().and_then(params::span)
        })
    }

    /// Returns a list of strings; a single string counts as a list of one.
    pub fn texts(&self, table: &TomlTable<'_>, key: &str) -> Result<Option<Vec<String>>, PolicyFault> {
        self.read(table, key, "a list of strings", texts)
    }

    /// Returns an array of tables, each with its first line.
    pub fn tables<'a>(
        &self,
        root: &'a TomlTable<'t>,
        key: &str,
    ) -> Result<Vec<(usize, &'a TomlTable<'t>)>, PolicyFault> {
        let Some(value) = root.get(key) else { return Ok(Vec::new()) };
        let wrong = |line| {
            PolicyFault::at(
                line,
                format!("{key:?} must be an array of tables"),
                format!("write [[{key}]] above each entry"),
            )
        };
        let Some(list) = value.get_ref().as_array() else { return Err(wrong(self.line(&value.span()))) };
        let one = |value: &'a TomlValue<'t>| {
            let line = self.line(&value.span());
            value.get_ref().as_table().map(|table| (line, table)).ok_or_else(|| wrong(line))
        };
        list.iter().map(one).collect()
    }

    /// Parses a pattern.
    pub fn pattern(&self, text: &str, line: usize) -> Result<PolicyPattern, PolicyFault> {
        PolicyPattern::parse(text, self.syntax.separators, self.syntax.classifier).map_err(|what| {
            PolicyFault::at(
                line,
                format!("pattern {text:?}: {what}"),
                "write patterns as reports print them: see docs/policy.md",
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
        let wrong = || PolicyFault::at(self.line(&value.span()), format!("{key:?} must be {expected}"), "");
        read(value.get_ref()).map(Some).ok_or_else(wrong)
    }
}

/// Returns the "did you mean" question for a name that is not known, followed by a blank; empty if no known one is near.
pub fn suggestion(name: &str, known: impl IntoIterator<Item = impl AsRef<str> + Copy>) -> String {
    let known: Vec<_> = known.into_iter().collect();
    question(&near::names(name, known.iter().map(AsRef::as_ref)))
}

/// Returns the question about the first of some near names.
pub fn question(near: &[&str]) -> String {
    near.first().map_or_else(String::new, |nearest| format!("did you mean {nearest:?}? "))
}

/// Reads a count.
pub fn number(value: &DeValue<'_>) -> Option<u64> {
    let integer = value.as_integer()?;
    u64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// Reads a number of bytes, with or without a unit.
pub fn bytes(value: &DeValue<'_>) -> Option<u64> {
    number(value).or_else(|| value.as_str().and_then(params::bytes))
}

/// Reads a share in thousandths.
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

/// Reads a list of strings, or a single string.
pub fn texts(value: &DeValue<'_>) -> Option<Vec<String>> {
    match value {
        DeValue::String(text) => Some(vec![text.clone().into_owned()]),
        DeValue::Array(list) => {
            list.iter().map(|item| item.get_ref().as_str().map(|text| Cow::from(text).into_owned())).collect()
        }
        _ => None,
    }
}
