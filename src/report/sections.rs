//! The first sections of a report: where the figures come from, how much there is, how it divides.

use std::collections::BTreeSet;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Container, ContainerForm, FileError, FileServer, Salvage, Text, Wording, file, share};
use crate::record::Kind;
use crate::units::{Bytes, Millis};

/// Keys and their weight: the common columns of most tables.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Weight {
    /// Number of keys.
    pub keys: u64,
    /// Their memory on the server.
    pub memory: Bytes,
}

impl Weight {
    /// Counts one key.
    #[inline]
    pub fn add(&mut self, memory: Bytes) {
        self.keys += 1;
        self.memory += memory;
    }

    /// Adds the keys of `other`. Sums saturate, so they do not depend on their order.
    #[inline]
    pub fn merge(&mut self, other: Weight) {
        self.keys = self.keys.saturating_add(other.keys);
        self.memory += other.memory;
    }

    /// Returns whether no key was counted.
    pub fn is_none(&self) -> bool {
        self.keys == 0
    }

    /// Adds `others` class by class. Both sides have the same classes.
    pub fn merge_all(weights: &mut [Weight], others: &[Weight]) {
        debug_assert_eq!(weights.len(), others.len(), "both sides are of one plan");
        weights.iter_mut().zip(others).for_each(|(weight, other)| weight.merge(*other));
    }
}

impl std::iter::Sum for Weight {
    fn sum<I: Iterator<Item = Weight>>(weights: I) -> Weight {
        weights.fold(Weight::default(), |mut sum, weight| {
            sum.merge(weight);
            sum
        })
    }
}

/// Keys whose memory is unknown, as of modules whose formula is not known. No sum of memory includes them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Unknown {
    /// Number of keys.
    pub keys: u64,
    /// Their bytes in the file.
    pub stored_bytes: Bytes,
}

impl Unknown {
    /// Counts one key of `disk` bytes in the file if its memory, which is then 0, is unknown.
    #[inline]
    pub fn note(&mut self, memory: Bytes, disk: Bytes) {
        if memory == Bytes(0) {
            self.merge(Unknown { keys: 1, stored_bytes: disk });
        }
    }

    /// Adds the keys of `other`.
    pub fn merge(&mut self, other: Unknown) {
        self.keys = self.keys.saturating_add(other.keys);
        self.stored_bytes += other.stored_bytes;
    }

    /// Adds `others` class by class. Both sides have the same classes.
    pub(crate) fn merge_all(unknown: &mut [Unknown], others: &[Unknown]) {
        debug_assert_eq!(unknown.len(), others.len(), "both sides are of one plan");
        unknown.iter_mut().zip(others).for_each(|(sum, other)| sum.merge(*other));
    }

    /// Returns whether there are none.
    pub fn is_none(&self) -> bool {
        self.keys == 0
    }

    /// Returns their number, or `None` if there are none.
    #[cfg(feature = "cli")]
    pub(crate) fn keys_if_any(&self) -> Option<u64> {
        Some(self.keys).filter(|&keys| keys > 0)
    }

    /// Returns a figure on the memory of `keys` keys that include these; `None` if it is unknown for all of them.
    pub fn known<T>(&self, keys: u64, figure: T) -> Option<T> {
        (keys > self.keys || keys == 0).then_some(figure)
    }
}

/// The options that the figures depend on, so that a report can be made again.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Options {
    /// The policy as given: a preset or a file; empty in reports of earlier versions.
    pub policy: String,
    /// The arguments as given, if they name others than the files: directories, patterns; else absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<String>,
    /// Selection flags as given, in words (`--db 0`, `--match user:*`); empty when all keys count.
    pub selection: Vec<String>,
    /// Reference time for expiry: `--at`, or the last millisecond of the latest `ctime`. Without `--at`, the expiries of
    /// each file are compared with its own `ctime`.
    pub reference_time: Option<Millis>,
    /// Limits of the server that were not its defaults, as `name value`.
    pub server_config: Vec<String>,
    /// Bytes that divide a name into segments.
    pub separators: Vec<String>,
    /// True if inputs were added up whatever they are (`--allow-same`); else absent.
    #[serde(skip_serializing_if = "is_false")]
    pub allow_same: bool,
    /// Other flags that change figures, in words (`--server redis-7.2`); absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
    /// Maximum number of rows per list.
    pub top: usize,
    /// Maximum number of rows per list in formats for people: the value of `--top`, else 10.
    pub rows: usize,
}

impl Options {
    /// Default maximum number of rows per list in formats for people.
    pub const USUAL_ROWS: usize = 10;

    /// Default maximum number of rows per list.
    pub(crate) const USUAL_TOP: usize = 20;

    /// Greatest maximum number of rows per list.
    pub(crate) const MAX_TOP: u32 = 10_000;

    /// Returns the separators sorted: their order means nothing. Empty in reports of the first versions, which do not name them.
    pub(crate) fn separators_in_order(&self) -> Vec<String> {
        self.separators.iter().collect::<BTreeSet<_>>().into_iter().cloned().collect()
    }
}

impl Default for Options {
    fn default() -> Self {
        Options {
            policy: String::new(),
            inputs: Vec::new(),
            selection: Vec::new(),
            reference_time: None,
            server_config: Vec::new(),
            separators: Vec::new(),
            allow_same: false,
            flags: Vec::new(),
            top: 0,
            rows: Options::USUAL_ROWS,
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The input files.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Source {
    /// Each file, in the order given.
    pub files: Vec<SourceFile>,
    /// Bytes of all snapshots, decompressed.
    pub bytes: Bytes,
}

/// One input file.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct SourceFile {
    /// As given on the command line (a directory's files: joined to it), or `<stdin>`.
    pub name: String,
    /// Container and compression.
    #[serde(deserialize_with = "file::read_container")]
    pub container: Container,
    /// Bytes of the snapshot, decompressed, from the magic to the end of the checksum; 0 if `--limit` ended reading before.
    pub bytes: Bytes,
    /// Bytes after the snapshot: commands of an append-only file.
    pub trailing_bytes: Option<Bytes>,
    /// RDB version in the file's header.
    pub rdb_version: u32,
    /// State of the checksum: `ok`, `mismatch`, `not computed` (all zero), `absent` (RDB < 5), `skipped`, `not reached`.
    pub checksum: Checksum,
    /// Keys that count: those selected, with an intact value.
    pub keys: u64,
    /// Keys read, whether selected or not.
    #[serde(default)]
    pub keys_read: u64,
    /// Memory of the selected keys.
    pub memory: Bytes,
    /// Memory of keys and tables of its server, for rules, as in the section on the whole server. `None` in stored reports, and for
    /// all files of a server but the first with keys.
    #[serde(skip)]
    pub total: Option<Bytes>,
    /// Keys of unknown memory; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
    /// When the server wrote it, seconds since the epoch.
    pub ctime: Option<i64>,
    /// `used-mem` of the server at that moment; null if the file does not say.
    #[serde(default)]
    pub used_mem: Option<Bytes>,
    /// Server that wrote this file; null if the file could not be read.
    #[serde(default, deserialize_with = "file::read_server")]
    pub server: Option<FileServer>,
    /// Why reading stopped, or the first values that could not be read.
    #[serde(deserialize_with = "super::wording::read_list")]
    pub errors: Vec<FileError>,
    /// Keys whose value is damaged inside intact framing; counted in `keys_read` only.
    pub damaged_keys: u64,
    /// Sound and damaged ranges of a damaged file read with `--salvage`: the figures cover all sound ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub salvage: Option<Salvage>,
}

impl SourceFile {
    /// Returns whether at least the head of a snapshot could be read.
    pub(crate) fn is_snapshot(&self) -> bool {
        self.container.form != ContainerForm::Unreadable
    }
}

impl SourceFile {
    /// Returns what two snapshots hardly have in common: time, size and number of keys; `None` without a time.
    #[cfg(feature = "cli")]
    pub(crate) fn identity(&self) -> Option<(i64, Bytes, u64, u32)> {
        Some((self.ctime?, self.bytes, self.keys_read.max(self.keys), self.rdb_version))
    }
}

/// State of a file's checksum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub enum Checksum {
    #[serde(rename = "ok")]
    Ok,
    #[serde(rename = "mismatch")]
    Mismatch,
    #[serde(rename = "not computed")]
    NotComputed,
    #[serde(rename = "absent")]
    Absent,
    #[serde(rename = "skipped")]
    Skipped,
    #[serde(rename = "not reached")]
    NotReached,
}

impl Checksum {
    /// The word in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Checksum::Ok => "ok",
            Checksum::Mismatch => "mismatch",
            Checksum::NotComputed => "not computed",
            Checksum::Absent => "absent",
            Checksum::Skipped => "skipped",
            Checksum::NotReached => "not reached",
        }
    }

    /// Returns the name in both languages.
    pub const fn text(self) -> Text {
        let zh = match self {
            Checksum::Ok => "正确",
            Checksum::Mismatch => "不符",
            Checksum::NotComputed => "未计算",
            Checksum::Absent => "无",
            Checksum::Skipped => "未校验",
            Checksum::NotReached => "未读到",
        };
        Text { en: self.name(), zh }
    }
}

/// Server that wrote the snapshot.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Server {
    /// `redis`, `valkey`, `keydb`, `redis-enterprise`, `dragonfly`.
    pub family: String,
    /// As the dump says (`7.2.6`), or the lines that write its RDB version (`2.6–3.0`).
    pub version: String,
    /// RDB version that the server was guessed from; null if the dump names its server.
    pub guessed_from: Option<u32>,
    /// The memory model that the figures come from.
    pub model: String,
    /// When the server wrote it, seconds since the epoch; the latest of several files.
    pub ctime: Option<i64>,
    /// `used-mem` of the producer at that moment; of all producers together when there are several files.
    pub used_mem: Option<Bytes>,
    /// The dump says that it comes from a cluster node.
    pub cluster: bool,
    /// Auxiliary fields in file order, the repeated ones (`lua`, `slot-info`) left out.
    pub aux: Vec<AuxField>,
    /// Function libraries in the dump.
    pub functions: u64,
    /// Modules that left data outside keys.
    pub module_aux: Vec<String>,
}

impl Server {
    /// Words the server in both languages: `redis 7.0 (guessed from RDB version 10)`.
    pub fn wording(&self) -> Wording {
        let (family, version) = (self.family.clone(), self.version.clone());
        FileServer { family, version, guessed_from: self.guessed_from }.wording()
    }
}

/// One auxiliary field; bytes that are not UTF-8 are replaced.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[allow(missing_docs, reason = "the names say it")]
pub struct AuxField {
    pub name: String,
    pub value: String,
}

/// Totals over all keys.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
#[serde(default)]
pub struct Totals {
    /// Keys selected.
    pub keys: u64,
    /// Their memory on the server.
    pub memory: Bytes,
    /// Their bytes in the file.
    pub disk: Bytes,
    /// Bytes of their names.
    pub name_bytes: Bytes,
    /// Elements of collections; a string counts as one.
    pub elements: u64,
    /// Keys without an expiry.
    pub without_ttl: Weight,
    /// Hashes among them whose fields all have one; absent if there are none.
    #[serde(default, skip_serializing_if = "Weight::is_none")]
    pub fields_expire: Weight,
    /// Keys that had expired at the reference time.
    pub expired: Weight,
    /// Keys whose memory is unknown: not in `memory`, nor in any other sum of memory.
    pub unknown: Unknown,
}

/// One database.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Database {
    /// Its number.
    pub db: u64,
    /// Keys in it.
    pub keys: u64,
    /// Their memory.
    pub memory: Bytes,
    /// Their bytes in the file.
    pub disk: Bytes,
    /// Number of keys with an expiry.
    pub with_ttl: u64,
    /// Keys that had expired at the reference time.
    pub expired: u64,
    /// Keys of unknown memory; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}

/// One type in one encoding.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct TypeRow {
    /// The type.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// The encoding; for modules the module's type name.
    #[serde(default)]
    pub encoding: String,
    /// Keys.
    pub keys: u64,
    /// Elements; a string counts as one.
    #[serde(default)]
    pub elements: u64,
    /// Bytes of strings; null for other types.
    #[serde(default)]
    pub string_bytes: Option<Bytes>,
    /// Memory.
    pub memory: Bytes,
    /// Part of the memory of all keys.
    #[serde(default, deserialize_with = "share")]
    pub share: f64,
    /// Mean memory of a key, rounded down.
    #[serde(default)]
    pub mean: Bytes,
    /// Half of the keys are at most this heavy (upper bound of the histogram's class, at most 3.2 % above).
    #[serde(default)]
    pub p50: Bytes,
    /// 99 % of the keys are at most this heavy (same bound).
    #[serde(default)]
    pub p99: Bytes,
    /// The heaviest key, exactly.
    #[serde(default)]
    pub max: Bytes,
    /// Keys whose memory is unknown, which the figures on memory leave out; absent if there are none.
    #[serde(default, skip_serializing_if = "Unknown::is_none")]
    pub unknown: Unknown,
}
