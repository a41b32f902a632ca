//! A report that was written earlier, read back from its JSON form as far as a later one is held against it.
//!
//! Only what is used is read, and what an older program did not write yet may be missing.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Report, Severity, Weight, read_form, yes};
use crate::error::{Error, Result};
use crate::units::{Bytes, Millis};

/// A stored report.
#[derive(Debug, Clone)]
pub struct Stored {
    /// What it is called: the last part of its file's name.
    pub name: String,
    /// False when the snapshot could not be read whole.
    pub complete: bool,
    /// The flags that selected keys.
    pub selection: Vec<String>,
    /// When the snapshot was taken, in seconds.
    pub ctime: Option<i64>,
    /// Whose memory the figures are.
    pub model: String,
    /// The policy that it was held against.
    pub policy: Option<String>,
    /// Ids of the rules in force.
    pub checked: Vec<String>,
    /// All keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Memory of keys and tables, if the report has it.
    pub total: Option<Bytes>,
    /// By type.
    pub types: Vec<(String, Weight)>,
    /// Different patterns that there were.
    pub distinct_patterns: u64,
    /// The patterns that it lists: all, or the heaviest.
    pub patterns: Vec<StoredPattern>,
    /// What broke its policy; `None` when it was not held against one.
    pub findings: Option<Vec<StoredFinding>>,
}

/// A pattern of a stored report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredPattern {
    /// Its text.
    pub pattern: String,
    /// Its keys and their memory.
    #[serde(flatten)]
    pub weight: Weight,
}

/// A finding of a stored report.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredFinding {
    /// The rule.
    pub rule: String,
    /// Severity.
    pub severity: Severity,
    /// All keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Patterns that broke it; `patterns` may list fewer.
    #[serde(default)]
    pub distinct_patterns: u64,
    /// Where, heaviest first.
    #[serde(default)]
    pub patterns: Vec<StoredRow>,
}

/// A row of such a finding.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct StoredRow {
    /// The pattern or other part.
    pub pattern: Option<String>,
    /// Keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// What was measured.
    pub measured: Option<u64>,
    /// What was allowed.
    pub allowed: Option<u64>,
}

/// The JSON form, as far as it is read.
#[derive(Debug, Deserialize)]
struct Form {
    #[serde(default = "yes")]
    complete: bool,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    server: Server,
    #[serde(default)]
    totals: Weight,
    instance: Option<Instance>,
    #[serde(default)]
    types: Vec<OfType>,
    patterns: Patterns,
    findings: Option<Findings>,
}

#[derive(Debug, Default, Deserialize)]
struct Server {
    ctime: Option<i64>,
    #[serde(default)]
    model: String,
}

#[derive(Debug, Deserialize)]
struct Instance {
    total: Bytes,
}

#[derive(Debug, Deserialize)]
struct OfType {
    #[serde(rename = "type")]
    kind: String,
    #[serde(flatten)]
    weight: Weight,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    #[serde(default)]
    selection: Vec<String>,
}

#[derive(Debug, Deserialize)]
struct Patterns {
    distinct: u64,
    list: Vec<StoredPattern>,
}

#[derive(Debug, Deserialize)]
struct Findings {
    policy: Option<String>,
    #[serde(default)]
    checked: Vec<String>,
    list: Vec<StoredFinding>,
}

impl Stored {
    /// Reads the JSON form of a report. `name` is what messages and reports call it. What is no report is wrong usage.
    pub fn read(json: &[u8], name: &str) -> Result<Stored> {
        let form: Form = read_form(json, name)?;
        Ok(Stored {
            name: name.to_owned(),
            complete: form.complete,
            selection: form.options.selection,
            ctime: form.server.ctime,
            model: form.server.model,
            policy: form.findings.as_ref().and_then(|findings| findings.policy.clone()),
            checked: form.findings.as_ref().map(|findings| findings.checked.clone()).unwrap_or_default(),
            keys: form.totals.keys,
            memory: form.totals.memory,
            total: form.instance.map(|instance| instance.total),
            types: by_type(form.types),
            distinct_patterns: form.patterns.distinct,
            patterns: form.patterns.list,
            findings: form.findings.map(|findings| findings.list),
        })
    }
}

impl Stored {
    /// A report that was made just now, as if it had been stored. `name` is what reports call it.
    pub fn of(report: &Report, name: &str) -> Result<Stored> {
        let json = serde_json::to_vec(report).map_err(|error| Error::usage(format!("{name}: {error}")))?;
        Stored::read(&json, name)
    }

    /// All keys and their memory.
    pub fn whole(&self) -> Weight {
        Weight { keys: self.keys, memory: self.memory }
    }

    /// When the snapshot was taken.
    pub fn taken(&self) -> Option<Millis> {
        self.ctime.map(|seconds| Millis(seconds.saturating_mul(1000)))
    }
}

/// Sums over the encodings of each type.
fn by_type(rows: Vec<OfType>) -> Vec<(String, Weight)> {
    let mut types: BTreeMap<String, Weight> = BTreeMap::new();
    for row in rows {
        let sum = types.entry(row.kind).or_default();
        sum.keys = sum.keys.saturating_add(row.weight.keys);
        sum.memory += row.weight.memory;
    }
    types.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = r#"{"schema": "rdblens.report/1", "new_field": {}, "patterns": {"distinct": 3, "list":
        [{"pattern": "a:{int}", "keys": 2, "memory": 18446744073709551615, "share": 1.0}]}}"#;

    #[test]
    fn a_report_that_was_held_against_nothing_has_no_findings() {
        let stored = Stored::read(OLD.as_bytes(), "old.json").unwrap();
        assert!(stored.findings.is_none() && stored.complete);
        assert_eq!((stored.distinct_patterns, stored.patterns[0].weight.memory), (3, Bytes(u64::MAX)));
    }

    #[test]
    fn what_is_no_report_is_named_with_the_remedy() {
        let version_2 = OLD.replace("report/1", "report/2");
        let cut = OLD.replace("\"distinct\": 3, ", "");
        let cases = ["", "[]", "{}", "\u{0}REDIS0011", &version_2, &cut, "{\"schema\": 5}"];
        for text in cases {
            let message = Stored::read(text.as_bytes(), "old.json").unwrap_err().to_string();
            assert!(message.contains("old.json") && message.contains("analyze --format json"), "{message}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_report_or_wrong_usage(text in ".{0,200}") {
            let _ = Stored::read(text.as_bytes(), "old.json");
        }
    }
}
