//! Comparison of two snapshots key by key, as plain data.

use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::Serialize;

use super::known_memory;
use super::{Key, SourceFile, Warning, WarningKind};
use crate::record::Kind;
use crate::units::{Bytes, Millis};

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.compare-keys/1";

/// Comparison of two snapshots key by key.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeyComparison {
    /// Always `rdblens.compare-keys/1`.
    #[cfg_attr(feature = "internals", schemars(extend("const" = SCHEMA)))]
    pub schema: &'static str,
    /// The program's version.
    pub rdblens: &'static str,
    /// Properties whose change counts as a difference.
    pub options: KeyComparisonOptions,
    /// The old side.
    pub before: KeySide,
    /// The new side.
    pub after: KeySide,
    /// Keys by what became of them.
    pub sums: KeySums,
    /// Differing keys by type, as the new side has it; the most first.
    pub types: Vec<TypeDifferences>,
    /// Differing keys by pattern, the most first.
    pub patterns: Vec<PatternDifferences>,
    /// Number of patterns with differing keys. At most 100,000 are told apart; keys of others are only in the sums.
    pub distinct_patterns: u64,
    /// The largest differing keys, by the memory of their larger side.
    pub examples: Vec<KeyChange>,
    /// Circumstances that the reader should know.
    pub warnings: Vec<Warning>,
}

/// Properties whose change counts as a difference.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeyComparisonOptions {
    /// True if expiries of keys and of hash fields are not compared.
    pub ignore_expiry: bool,
    /// Milliseconds by which the expiries of a key may differ.
    pub expiry_tolerance: u64,
}

/// One side of the comparison.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeySide {
    /// The input, or the number of inputs.
    pub name: String,
    /// When the snapshot was taken, in milliseconds.
    pub taken: Option<Millis>,
    /// Different keys that had not expired when it was taken.
    pub keys: u64,
    /// Their memory; 0 if it is unknown for all of them.
    pub memory: Bytes,
    /// Keys that had expired when the snapshot was taken, which are not compared.
    pub expired: u64,
    /// Keys that are there more than once, such as in two shards.
    pub duplicates: u64,
    /// Keys whose value is damaged inside, or too large to be decompressed within `--max-memory`.
    pub unreadable: u64,
    /// False if a file could not be read completely: keys may be missing.
    pub complete: bool,
    /// The files.
    pub files: Vec<SourceFile>,
}

/// Size, number of keys and RDB version of a file.
type FileIdentity = (u64, u64, u32);

impl KeySide {
    /// Returns what tells one snapshot from another: time, and size and number of keys of each file. `None` without a time.
    fn identity(&self) -> Option<(Millis, Vec<FileIdentity>)> {
        let mut files: Vec<_> =
            self.files.iter().map(|file| (file.bytes.0, file.keys_read, file.rdb_version)).collect();
        files.sort_unstable();
        Some((self.taken?, files))
    }
}

/// Notes on the order and the identity of two sides, given the memory models of each and the number of keys that differ.
pub(crate) fn warnings(sides: [&KeySide; 2], models: [BTreeSet<String>; 2], differing: u64) -> Vec<Warning> {
    let [before, after] = sides;
    let mut warnings = Vec::new();
    if before.taken.zip(after.taken).is_some_and(|(before, after)| before > after) {
        warnings.push(Warning::new(WarningKind::NotInOrder));
    }
    if differing == 0 && before.identity().is_some_and(|identity| after.identity() == Some(identity)) {
        warnings.push(Warning::about(&after.name, WarningKind::SameSnapshot { of: before.name.clone() }));
    }
    let [old, new] = &models;
    if old != new {
        let models = old.union(new).cloned().collect();
        warnings.push(Warning::new(WarningKind::ModelsDiffer { models }));
    }
    warnings
}

/// Keys by what became of them. A key may have changed in several ways.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeySums {
    /// Keys that are the same on both sides.
    pub equal: u64,
    /// Keys that differ in any way, `expired` left out.
    pub differing: u64,
    /// Keys that only the new side has.
    pub added: KeyWeight,
    /// Keys that only the old side has, and that had not expired when the new snapshot was taken.
    pub removed: KeyWeight,
    /// Keys that only the old side has, and that expired before the new snapshot was taken.
    pub expired: KeyWeight,
    /// Keys of another type.
    pub retyped: u64,
    /// Keys of the same type with another value.
    pub changed: u64,
    /// Keys with another expiry.
    pub reexpired: u64,
    /// Keys that a side has more than once.
    pub duplicate: u64,
    /// Keys whose values could not be compared, because one is damaged or too large to be decompressed.
    pub unreadable: u64,
    /// Growth of the memory of keys that both sides have.
    pub growth: i64,
}

impl KeySums {
    /// Returns the number of keys that differ in this way, and their memory where only one side has them and it is known.
    pub const fn of(&self, difference: KeyDifference) -> (u64, Option<Bytes>) {
        let alone = match difference {
            KeyDifference::Added => self.added,
            KeyDifference::Removed => self.removed,
            KeyDifference::Expired => self.expired,
            KeyDifference::Type => return (self.retyped, None),
            KeyDifference::Value => return (self.changed, None),
            KeyDifference::Expiry => return (self.reexpired, None),
            KeyDifference::Duplicate => return (self.duplicate, None),
            KeyDifference::Unreadable => return (self.unreadable, None),
        };
        (alone.keys, known_memory(alone.keys, alone.memory))
    }
}

/// A number of keys and their memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeyWeight {
    /// Keys.
    pub keys: u64,
    /// Their memory; 0 if it is unknown for all of them.
    pub memory: Bytes,
}

/// Differing keys of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TypeDifferences {
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The keys.
    #[serde(flatten)]
    pub counts: DifferenceCounts,
}

/// Differing keys of one pattern.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct PatternDifferences {
    /// The pattern.
    pub pattern: String,
    /// The keys.
    #[serde(flatten)]
    pub counts: DifferenceCounts,
}

/// Numbers of differing keys.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct DifferenceCounts {
    /// Keys that differ in any way, `expired` left out.
    pub differing: u64,
    /// Keys that only the new side has.
    pub added: u64,
    /// Keys that only the old side has.
    pub removed: u64,
    /// Keys that only the old side has because they expired.
    pub expired: u64,
    /// Keys whose type, value or expiry changed.
    pub changed: u64,
}

/// A way in which a key differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeyDifference {
    /// Only the new side has it.
    Added,
    /// Only the old side has it.
    Removed,
    /// Only the old side has it, and it expired before the new snapshot was taken.
    Expired,
    /// It has another type.
    Type,
    /// It has another value of the same type.
    Value,
    /// It has another expiry.
    Expiry,
    /// A side has it more than once.
    Duplicate,
    /// A value is damaged or too large to be decompressed, so that the two cannot be compared.
    Unreadable,
}

impl KeyDifference {
    /// All, in the order of rows.
    pub const ALL: [KeyDifference; 8] = [
        KeyDifference::Added,
        KeyDifference::Removed,
        KeyDifference::Expired,
        KeyDifference::Type,
        KeyDifference::Value,
        KeyDifference::Expiry,
        KeyDifference::Duplicate,
        KeyDifference::Unreadable,
    ];

    /// Returns the name in rows.
    pub const fn name(self) -> &'static str {
        match self {
            KeyDifference::Added => "added",
            KeyDifference::Removed => "removed",
            KeyDifference::Expired => "expired",
            KeyDifference::Type => "type",
            KeyDifference::Value => "value",
            KeyDifference::Expiry => "expiry",
            KeyDifference::Duplicate => "duplicate",
            KeyDifference::Unreadable => "unreadable",
        }
    }
}

/// A key that differs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeyChange {
    /// How it differs.
    pub change: Vec<KeyDifference>,
    /// False if it may be on the other side, too, in a part that could not be read.
    pub certain: bool,
    /// Database.
    pub db: u64,
    /// Its name.
    #[serde(flatten)]
    pub key: Key,
    /// Its pattern.
    pub pattern: String,
    /// The key on the old side.
    pub before: Option<KeyFacts>,
    /// The key on the new side.
    pub after: Option<KeyFacts>,
}

/// A key on one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeyFacts {
    /// Type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The module's name of the type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Bytes of a string, elements of a collection.
    pub length: Option<u64>,
    /// Memory; null if unknown.
    pub memory: Option<Bytes>,
    /// Expiry.
    pub expires_at: Option<Millis>,
    /// File, if the side has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// How often the side has the key.
    pub copies: u64,
}
