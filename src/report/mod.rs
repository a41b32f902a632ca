//! The report: plain, serialisable data with raw numbers. Renderers add nothing but form.
//!
//! The JSON form is this module's serde form, under the name [`SCHEMA`]. Within one schema version fields are only
//! ever added. Memory and disk are bytes, times are milliseconds since the epoch, shares are fractions of 1.

mod access;
pub(crate) mod capacity;
mod check;
mod detail;
pub mod diff;
mod file;
mod file_error;
mod findings;
pub mod fleet;
mod instance;
mod key;
pub(crate) mod key_comparison;
mod keys;
mod policy;
mod salvage;
mod sections;
pub(crate) mod servers;
mod slots;
mod terms;
mod warning;
mod what_if;
mod wording;

pub use access::*;
pub use capacity::*;
pub use check::{CheckVerdict, Difference, DifferenceKind, FileCheck, NotCompared, SecondReading};
pub use detail::{Detail, DetailField, DetailPart, DetailValue, Details};
pub use diff::*;
pub use file::{Compression, Container, ContainerForm, FileServer};
pub use file_error::{FileError, FileErrorKind};
pub use findings::*;
pub use instance::*;
pub use key::{Key, base64};
pub use policy::*;
pub use salvage::{DamageExtent, DamagedRange, RestoredBytes, Salvage, SalvagedDatabase, SalvagedFile, Unverified};
pub use sections::*;
pub use slots::*;
pub use terms::*;
pub use warning::{NoFile, Warning, WarningKind};
pub use what_if::*;
use wording::{demand, fix, problem, reason, remedy};

use std::borrow::Cow;

#[cfg(feature = "internals")]
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::Error;
use crate::units::Bytes;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.report/1";

/// Name and version of the JSON form of some sections of a report.
pub(crate) const SECTIONS_SCHEMA: &str = "rdblens.sections/1";

/// A word of this program's own, such as a rule's id; text where the report was read back.
pub type Word = Cow<'static, str>;

/// Everything `rdblens analyze` has to say about a snapshot. Sections without an answer are null or empty.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "internals", derive(JsonSchema))]
pub struct Report {
    /// Always `rdblens.report/1`.
    #[cfg_attr(feature = "internals", schemars(extend("const" = SCHEMA)))]
    pub schema: Word,
    /// The program's version that made the report.
    #[serde(default)]
    pub rdblens: Word,
    /// False when a file was damaged or cut short: the figures cover what was read before.
    #[serde(default = "yes")]
    pub complete: bool,
    /// The options that the figures depend on.
    pub options: Options,
    /// The input files, in the order given.
    #[serde(default)]
    pub source: Source,
    /// Server that wrote the snapshot, from the first file; files that differ name theirs.
    #[serde(default)]
    pub server: Server,
    /// Memory of the whole server; absent if keys were filtered.
    pub instance: Option<Instance>,
    /// Totals over all keys.
    pub totals: Totals,
    /// Per database, by number.
    #[serde(default)]
    pub databases: Vec<Database>,
    /// Per type and encoding, heaviest first.
    #[serde(default)]
    pub types: Vec<TypeRow>,
    /// Strings and collections over the limits.
    #[serde(default)]
    pub big_keys: BigKeys,
    /// The heaviest and longest keys.
    #[serde(default)]
    pub top: Top,
    /// Keys that never expire.
    #[serde(default)]
    pub no_ttl: NoTtl,
    /// Distribution of the time to live.
    #[serde(default)]
    pub expiry: Expiry,
    /// Keys whose names break the default rules.
    #[serde(default)]
    pub naming: Naming,
    /// Violations of the policy.
    #[serde(default)]
    pub findings: Findings,
    /// Growth since the baseline, if one is given.
    pub growth: Option<Since>,
    /// Sizes of earlier snapshots, oldest first: of the baseline, of other earlier reports, and what those knew.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<EarlierSnapshot>,
    /// The tree of name segments.
    #[serde(default)]
    pub prefixes: Prefixes,
    /// Names with their ids collapsed, heaviest first.
    pub patterns: Patterns,
    /// Time since the last access, if the dump records it.
    pub idle: Option<Idle>,
    /// Access counters, if the dump records them.
    pub freq: Option<Freq>,
    /// Memory over cluster slots, when keys carry hash tags or the dump is of a cluster.
    pub slots: Option<Slots>,
    /// Streams with their groups and pending entries.
    pub streams: Option<Streams>,
    /// Field names that compact hashes share, and what that saves.
    #[serde(default)]
    pub hash_templates: Option<HashTemplates>,
    /// Memory on other servers or with other settings, if requested.
    pub what_if: Option<WhatIf>,
    /// Warnings about the figures.
    #[serde(default, deserialize_with = "wording::read_list")]
    pub warnings: Vec<Warning>,
}

fn yes() -> bool {
    true
}

impl Report {
    /// Reads the JSON form of a report, written by this or an earlier version of the program.
    ///
    /// Missing sections and columns count as empty; only the frame of a report (`schema`, `options`, `totals`, `patterns`)
    /// and what identifies and weighs a row must be there. `name` stands for the file in messages. Anything else is a usage
    /// error.
    pub fn read(json: &[u8], name: &str) -> Result<Report, Error> {
        #[derive(Deserialize)]
        struct Envelope {
            schema: Option<String>,
        }
        let remedy = "give a report that `rdblens analyze --format json` wrote";
        let wrong = |what: String| Error::usage(format!("{name}: {what}")).with_hint(remedy);
        if let Some(what) = not_plain_utf8(json) {
            return Err(wrong(format!("not a JSON report: {what}")));
        }
        let envelope: Envelope =
            serde_json::from_slice(json).map_err(|error| wrong(format!("not a JSON report: {error}")))?;
        match envelope.schema.as_deref() {
            Some(SCHEMA) => {
                serde_json::from_slice(json).map_err(|error| wrong(format!("not a complete report: {error}")))
            }
            Some(SECTIONS_SCHEMA) => {
                let remedy = "give the whole report, which `rdblens analyze --format json` writes without --section";
                Err(Error::usage(format!("{name}: holds only some sections of a report")).with_hint(remedy))
            }
            Some(other) => {
                let what = format!("{name}: the schema is {other:?}, not {SCHEMA:?}");
                let is_report = other.starts_with("rdblens.report/");
                let remedy = if is_report { "another version of rdblens wrote it: update this one" } else { remedy };
                Err(Error::usage(what).with_hint(remedy))
            }
            None => Err(wrong("not a JSON report: it has no schema".to_owned())),
        }
    }
}

/// Lists that were longer for a comparison.
impl Report {
    /// Cuts the list of patterns, and those of patterns that break a rule, to these numbers of rows.
    pub(crate) fn cut_lists(&mut self, top: usize, patterns: usize) {
        self.patterns.list.truncate(patterns);
        // A finding about a file or the whole snapshot keeps its one row.
        self.findings.list.iter_mut().for_each(|finding| finding.patterns.truncate(top.max(1)));
        self.naming.rules.iter_mut().for_each(|rule| rule.patterns.truncate(top));
    }
}

/// Returns the memory of some keys; `None` if it is unknown for all of them.
pub(crate) const fn known_memory(keys: u64, memory: Bytes) -> Option<Bytes> {
    if keys == 0 || memory.0 > 0 { Some(memory) } else { None }
}

/// Returns what precedes the text of a document, or how it is encoded, if readers of JSON refuse it.
fn not_plain_utf8(document: &[u8]) -> Option<&'static str> {
    match document {
        [0xEF, 0xBB, 0xBF, ..] => Some("it begins with a byte order mark; save it as UTF-8 without one"),
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] | [b'{', 0, ..] | [0, b'{', ..] => Some("it is UTF-16; save it as UTF-8"),
        _ => None,
    }
}

/// A share; JSON has null for what is none.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or(f64::NAN))
}
