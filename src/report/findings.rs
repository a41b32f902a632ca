//! The other sections of a report, in the order in which they are shown: which keys, which names, which patterns.

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Key, Severity, Unknown, Weight, Word, Wording, demand, share};
use crate::record::{Encoding, Kind};
use crate::units::{Bytes, Millis};

/// Keys over the limits.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct BigKeys {
    /// The limits.
    pub rules: BigRules,
    /// Exact number of keys over at least one limit.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Number of collections among them with an expiry, which blocks the server when it is due.
    pub expiring: u64,
    /// The heaviest of them.
    pub list: Vec<KeyRow>,
}

/// Limits for big keys.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct BigRules {
    /// Strings longer than this.
    pub string_bytes: u64,
    /// Collections with more elements than this.
    pub elements: u64,
    /// Values with more bytes of content than this, without overhead of the server.
    pub payload: Option<Bytes>,
    /// Keys of any type that take more memory than this.
    pub memory: Option<Bytes>,
}

impl BigRules {
    /// Default of `string_bytes`.
    pub(crate) const STRING_BYTES: u64 = 10_240;

    /// Default of `elements`.
    pub(crate) const ELEMENTS: u64 = 5_000;
}

impl Default for BigRules {
    /// 10 KB and 5000 elements: the numbers that the published standards agree on.
    fn default() -> Self {
        BigRules { string_bytes: BigRules::STRING_BYTES, elements: BigRules::ELEMENTS, payload: None, memory: None }
    }
}

/// One key in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct KeyRow {
    /// Its database.
    pub db: u64,
    /// Its name.
    #[serde(flatten)]
    pub key: Key,
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its encoding.
    pub encoding: Encoding,
    /// Bytes of a string, elements of a collection.
    pub length: Option<u64>,
    /// Memory on the server; null if unknown.
    pub memory: Option<Bytes>,
    /// When it expires.
    pub expires_at: Option<Millis>,
    /// The file it is in, when there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Bytes of its longest element, if it is a collection: of a hash, a field and its value together; of a stream, the
    /// fields and values of an entry; of a sorted set, a member without its score.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub longest_element: Option<Bytes>,
    /// Bytes of its mean element, rounded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_element: Option<Bytes>,
    /// Position of that file among the inputs.
    #[serde(skip)]
    pub file: usize,
}

/// The heaviest and longest keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Top {
    /// By memory.
    pub by_memory: Vec<KeyRow>,
    /// Collections by number of elements.
    pub by_length: Vec<KeyRow>,
    /// By memory within each type, in the order of [`Kind::ALL`]; types without keys are left out.
    pub by_type: Vec<TopOfType>,
}

/// The heaviest keys of one type.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TopOfType {
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Its heaviest keys.
    pub list: Vec<KeyRow>,
}

/// Keys that never expire.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct NoTtl {
    /// Exactly.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Part of all keys.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// Number of patterns that have such keys, listed or not; 0 in reports of earlier versions.
    pub distinct_patterns: u64,
    /// The patterns with most such memory; those of unknown memory by their keys.
    pub patterns: Vec<PatternWeight>,
}

/// Share of one pattern in a total.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct PatternWeight {
    /// Such as `user:{int}:name`.
    pub pattern: String,
    /// Keys that count.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// The heaviest of them; ties go to the lower database, then the smaller name.
    pub examples: Vec<Example>,
}

/// A key that shows what is meant.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Example {
    /// Its database.
    pub db: u64,
    /// Its name.
    #[serde(flatten)]
    pub key: Key,
    /// Its memory; null if unknown.
    pub memory: Option<Bytes>,
}

/// Distribution of the time to live at the reference time of each file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Expiry {
    /// Reference time; without one, all keys with an expiry are in `unknown`.
    pub reference_time: Option<Millis>,
    /// In order of time: `expired`, `< 1 min`, …, `> 1 year`, `unknown`, `none`. Empty classes are kept.
    pub classes: Vec<ExpiryClass>,
    /// The earliest expiry that is still to come at `reference_time`.
    pub next: Option<Millis>,
    /// The latest expiry.
    pub last: Option<Millis>,
}

/// One class of time left.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct ExpiryClass {
    /// Its name.
    pub left: Word,
    /// Milliseconds below which a key falls into this or an earlier class; null for the open ones.
    pub below_ms: Option<i64>,
    /// Keys.
    pub keys: u64,
    /// Memory.
    pub memory: Bytes,
    /// Keys of unknown memory.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

/// Names that break the default rules.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Naming {
    /// Keys that break at least one rule.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Every rule, broken or not, in order of id.
    pub rules: Vec<NamingRule>,
}

/// One naming rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct NamingRule {
    /// Such as `key.prefix`.
    pub rule: Word,
    /// Severity.
    pub severity: Severity,
    /// Requirement, in one line.
    #[serde(flatten, with = "demand")]
    #[cfg_attr(feature = "internals", schemars(with = "demand::Form"))]
    pub demand: Wording,
    /// Keys that break it, exactly.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// The patterns with most such keys.
    pub patterns: Vec<PatternWeight>,
}

/// The tree of name segments, cut by `--depth` and `--min-share`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Prefixes {
    /// Levels shown.
    pub depth: usize,
    /// Nodes with less than this part of the memory are left out, their number is in the parent's `hidden`.
    #[serde(deserialize_with = "share")]
    pub min_share: f64,
    /// The top level, heaviest first.
    pub tree: Vec<PrefixNode>,
    /// Nodes of the top level that are left out.
    pub hidden: Hidden,
    /// First segments of names, for rules and independent of `tree`: only segments with more below them, no placeholders; by name.
    #[serde(skip)]
    pub first: Vec<FirstSegment>,
    /// Keys whose first segments, with more below them, are too many to be told apart: they are counted together as `{*}`.
    #[serde(skip)]
    pub crowded: Weight,
}

/// First segment of names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FirstSegment {
    /// The first segment.
    pub segment: String,
    /// All keys that begin with it and go on.
    pub weight: Weight,
    /// Segments that follow it, under the same conditions.
    pub next: Vec<FirstSegment>,
    /// Keys whose next segments are too many to be told apart.
    pub crowded: Weight,
}

/// Nodes that are left out of a level because they weigh too little.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Hidden {
    /// Number of nodes.
    pub nodes: u64,
    /// Their keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
}

impl Prefixes {
    /// Default depth of the tree.
    pub const USUAL_DEPTH: u8 = 3;
    /// Default minimum share.
    pub const USUAL_MIN_SHARE: f64 = 0.001;
}

/// One prefix.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct PrefixNode {
    /// The whole prefix, such as `user:{int}`; a trailing separator says that keys go on below.
    pub prefix: String,
    /// Its last segment.
    pub segment: String,
    /// Keys at and below.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Part of the memory of all keys.
    #[serde(deserialize_with = "share")]
    pub share: f64,
    /// Their bytes in the file.
    pub disk: Bytes,
    /// Their elements.
    pub elements: u64,
    /// Keys without an expiry.
    pub without_ttl: Weight,
    /// Next level, heaviest first.
    pub children: Vec<PrefixNode>,
    /// Nodes of the next level that are left out.
    pub hidden: Hidden,
    /// Keys of unknown memory; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

/// Names with their ids collapsed.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Patterns {
    /// Different patterns found.
    pub distinct: u64,
    /// A level with more distinct names than this is collapsed to `{*}`.
    #[serde(default)]
    pub level_limit: u64,
    /// The heaviest.
    pub list: Vec<PatternRow>,
}

/// One pattern.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct PatternRow {
    /// Such as `user:{int}:name`.
    pub pattern: String,
    /// Keys.
    pub keys: u64,
    /// Memory.
    pub memory: Bytes,
    /// Part of the memory of all keys.
    #[serde(default, deserialize_with = "share")]
    pub share: f64,
    /// Mean memory of a key, rounded down.
    #[serde(default)]
    pub mean: Bytes,
    /// Bytes in the file.
    #[serde(default)]
    pub disk: Bytes,
    /// Elements; a string counts as one.
    #[serde(default)]
    pub elements: u64,
    /// Keys without an expiry.
    #[serde(default)]
    pub without_ttl: Weight,
    /// When the last of the others expires.
    #[serde(default)]
    pub last_expiry: Option<Millis>,
    /// Keys by type, those with keys only.
    #[serde(default)]
    pub types: Vec<TypeCount>,
    /// The heaviest key.
    #[serde(default)]
    pub example: Example,
    /// Keys of unknown memory; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

/// Keys of one type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TypeCount {
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Keys.
    pub keys: u64,
}

/// Streams.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Streams {
    /// Stream keys.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Their entries.
    pub entries: u64,
    /// Their consumer groups.
    pub groups: u64,
    /// Entries delivered but not acknowledged.
    pub pending: u64,
    /// The streams with most pending entries, then most entries.
    pub list: Vec<StreamRow>,
}

/// One stream.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct StreamRow {
    /// Its database.
    pub db: u64,
    /// Its name.
    #[serde(flatten)]
    pub key: Key,
    /// Entries.
    pub entries: u64,
    /// Consumer groups.
    pub groups: u64,
    /// Entries delivered but not acknowledged.
    pub pending: u64,
    /// Memory.
    pub memory: Bytes,
}

/// Field names that compact hashes share (Redis from 8.10 on).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct HashTemplates {
    /// Templates that the keys use; servers do not share them.
    pub templates: u64,
    /// Compact hashes.
    pub keys: u64,
    /// Their memory, with their shares of the templates.
    pub memory: Bytes,
    /// Memory of the templates.
    pub bytes: Bytes,
    /// Memory of ordinary hashes with the same pairs on the same server, less `memory`; negative if templates cost more.
    pub saved: i64,
    /// The templates with the largest saving or loss; those with equal field names are one.
    pub list: Vec<HashTemplateRow>,
}

/// One set of field names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct HashTemplateRow {
    /// The first 16 field names of at most 256 bytes.
    pub names: Vec<Key>,
    /// Number of fields.
    pub fields: u64,
    /// Compact hashes.
    pub keys: u64,
    /// Their memory, with their shares of the template.
    pub memory: Bytes,
    /// Memory of the template, on all servers that have it.
    pub bytes: Bytes,
    /// Memory of ordinary hashes with the same pairs, less `memory`; negative if the template costs more.
    pub saved: i64,
}
