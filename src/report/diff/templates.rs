//! Hash templates of two snapshots: how many, the keys on them, and what they save.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::Report;
use super::growth::difference;
use crate::report::HashTemplates;
use crate::units::Bytes;

/// Hash templates of one snapshot.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TemplateSums {
    /// Templates that the keys use.
    pub templates: u64,
    /// Compact hashes.
    pub keys: u64,
    /// Their memory, with their shares of the templates.
    pub memory: Bytes,
    /// Memory of the templates.
    pub bytes: Bytes,
    /// Memory of ordinary hashes with the same pairs, less `memory`; negative if templates cost more.
    pub saved: i64,
}

/// Difference between the templates of two snapshots; negative if there is less.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TemplateDifference {
    /// Change in the number of templates.
    pub templates: i64,
    /// Change in the number of compact hashes.
    pub keys: i64,
    /// Change of their memory in bytes.
    pub memory: i64,
    /// Change of what the templates take.
    pub bytes: i64,
    /// Change of what they save.
    pub saved: i64,
}

/// Change of the hash templates from one snapshot to another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TemplateChange {
    /// Before.
    pub before: TemplateSums,
    /// After.
    pub after: TemplateSums,
    /// The difference.
    pub difference: TemplateDifference,
}

impl TemplateSums {
    fn of(report: &Report) -> Option<TemplateSums> {
        let HashTemplates { templates, keys, memory, bytes, saved, list: _ } = *report.hash_templates.as_ref()?;
        Some(TemplateSums { templates, keys, memory, bytes, saved })
    }
}

impl TemplateChange {
    /// Compares two reports; `None` if neither has templates.
    pub(super) fn between(before: &Report, after: &Report) -> Option<TemplateChange> {
        let [before, after] = [before, after].map(TemplateSums::of);
        if before.is_none() && after.is_none() {
            return None;
        }
        let (before, after) = (before.unwrap_or_default(), after.unwrap_or_default());
        let difference = TemplateDifference {
            templates: difference(before.templates, after.templates),
            keys: difference(before.keys, after.keys),
            memory: difference(before.memory.0, after.memory.0),
            bytes: difference(before.bytes.0, after.bytes.0),
            saved: after.saved.saturating_sub(before.saved),
        };
        Some(TemplateChange { before, after, difference })
    }
}
