//! Section that compares the figures with those of other servers, allocators and settings.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Unknown, Warning, share};
use crate::record::Kind;
use crate::units::Bytes;

/// Memory of the keys on other servers or with other settings.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct WhatIf {
    /// Figures of the rest of the report, with which the alternatives are compared.
    pub base: WhatIfBase,
    /// Alternatives, in the order requested.
    pub alternatives: Vec<Alternative>,
    /// By type, heaviest first.
    pub types: Vec<WhatIfType>,
    /// Number of patterns that could be listed; 0 in reports of earlier versions.
    #[serde(default)]
    pub distinct_patterns: u64,
    /// The patterns with the largest difference under any of the alternatives; of equal ones the heaviest first.
    pub patterns: Vec<WhatIfPattern>,
    /// Keys whose memory is unknown under one of the models: no sum of this section includes them, not even those of the
    /// base. Absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

impl WhatIf {
    /// Returns a figure on the memory of keys; `None` if it is unknown for all of them.
    pub(crate) fn known(&self, memory: Bytes) -> Option<Bytes> {
        if self.unknown.is_none() { Some(memory) } else { memory.known() }
    }
}

/// The model of the rest of the report.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct WhatIfBase {
    /// Server, allocator and settings, those of the first file.
    pub model: String,
    /// Memory of the keys.
    pub memory: Bytes,
    /// Memory that the allocator gives for keys and values beyond `memory`, where it is known; negative if less.
    #[serde(default)]
    pub correction: Option<i64>,
    /// Memory of the tables that hold them, where it is known.
    pub tables: Option<Bytes>,
    /// Keys, correction and tables together.
    pub total: Option<Bytes>,
}

/// One alternative.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Alternative {
    /// As given on the command line.
    pub ask: String,
    /// Server, allocator and settings, those of the first file.
    pub model: String,
    /// Warnings about the figures of this alternative.
    #[serde(deserialize_with = "super::wording::read_list")]
    pub caveats: Vec<Warning>,
    /// Memory of the keys.
    pub memory: Bytes,
    /// Difference from the base; negative if less.
    pub difference: i64,
    /// The difference as a part of the memory now.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// Memory that the allocator gives for keys and values beyond `memory`, where it is known; negative if less.
    #[serde(default)]
    pub correction: Option<i64>,
    /// Memory of the tables that hold the keys, where it is known.
    pub tables: Option<Bytes>,
    /// Keys, correction and tables together.
    pub total: Option<Bytes>,
    /// Difference from the base; negative if less.
    pub total_difference: Option<i64>,
    /// Hashes that share their field names, if there are any.
    #[serde(default)]
    pub compact_hashes: Option<TemplateCount>,
}

/// Hash templates of an alternative.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TemplateCount {
    /// Templates.
    pub templates: u64,
    /// Live keys that use them.
    pub keys: u64,
    /// Memory of the templates.
    pub bytes: Bytes,
}

/// Keys of one type.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct WhatIfType {
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Keys.
    pub keys: u64,
    /// Their memory now.
    pub memory: Bytes,
    /// Their memory under each alternative, in the order asked.
    pub alternatives: Vec<Bytes>,
}

/// Keys of one pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct WhatIfPattern {
    /// The pattern.
    pub pattern: String,
    /// Keys.
    pub keys: u64,
    /// Their memory now.
    pub memory: Bytes,
    /// Their memory under each alternative, in the order asked.
    pub alternatives: Vec<Bytes>,
}
