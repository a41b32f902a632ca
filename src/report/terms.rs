//! Terms that findings share: severities, units of measurement, and texts in both languages.

use std::fmt;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::wording::{Text, Wording};

/// Severity of a violation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth knowing (建议).
    #[default]
    #[cfg_attr(feature = "cli", value(help = "All findings"))]
    Hint,
    /// Recommended, with a stated number (推荐).
    #[cfg_attr(feature = "cli", value(help = "Recommendations and mandatory rules"))]
    Should,
    /// Mandatory (强制, 禁止, 必须).
    #[cfg_attr(feature = "cli", value(help = "Mandatory rules only"))]
    Must,
}

impl Severity {
    /// All severities, the gravest first.
    pub const ALL: [Severity; 3] = [Severity::Must, Severity::Should, Severity::Hint];

    /// Returns the word that reports and policies use.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Hint => "hint",
            Severity::Should => "should",
            Severity::Must => "must",
        }
    }

    /// Returns the severity of this name.
    pub fn parse(name: &str) -> Option<Severity> {
        Severity::ALL.into_iter().find(|severity| severity.name() == name)
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Unit of the measured and the allowed value of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// Bytes.
    Bytes,
    /// Elements, fields, members, entries.
    Elements,
    /// Segments of a name.
    Segments,
    /// Milliseconds.
    #[serde(rename = "milliseconds")]
    Millis,
    /// Thousandths of a whole.
    Permille,
    /// Anything else that can be counted.
    Count,
}

impl Unit {
    /// Returns the word that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Bytes => "bytes",
            Unit::Elements => "elements",
            Unit::Segments => "segments",
            Unit::Millis => "milliseconds",
            Unit::Permille => "permille",
            Unit::Count => "count",
        }
    }
}

impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_uses_the_names() {
        for severity in Severity::ALL {
            assert_eq!(serde_json::to_value(severity).unwrap(), severity.name());
            assert_eq!(Severity::parse(severity.name()), Some(severity));
        }
        for unit in [Unit::Bytes, Unit::Elements, Unit::Segments, Unit::Millis, Unit::Permille, Unit::Count] {
            assert_eq!(serde_json::to_value(unit).unwrap(), unit.name());
        }
    }
}
