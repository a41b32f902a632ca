//! The report: plain, serialisable data with raw numbers. Renderers add nothing but form.
//!
//! The JSON form is this module's serde form, under the name [`SCHEMA`]. Within one schema version fields are only
//! ever added. Memory and disk are bytes, times are milliseconds since the epoch, shares are fractions of 1.

mod findings;
mod instance;
mod key;
mod keys;
mod policy;
mod sections;
mod stored;
mod what_if;

pub use findings::*;
pub use instance::*;
pub use key::{Key, base64};
pub use policy::*;
pub use sections::*;
pub use stored::*;
pub use what_if::*;

use serde::Serialize;

/// Name and version of the JSON form.
pub const SCHEMA: &str = "rdblens.report/1";

/// Everything `rdblens analyze` has to say about a snapshot. Sections without an answer are `None` or empty.
#[derive(Debug, Clone, Serialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The program's version that made the report.
    pub rdblens: &'static str,
    /// False when a file was damaged or cut short: the figures cover what was read before.
    pub complete: bool,
    /// The options that the figures depend on.
    pub options: Options,
    /// The input files, in the order given.
    pub source: Source,
    /// Who wrote the snapshot. The first file's; files that differ say so themselves.
    pub server: Server,
    /// What the whole server takes, if all its keys count.
    pub instance: Option<Instance>,
    /// How much there is.
    pub totals: Totals,
    /// Per database, by number.
    pub databases: Vec<Database>,
    /// Per type and encoding, heaviest first.
    pub types: Vec<TypeRow>,
    /// Strings and collections over the limits.
    pub big_keys: BigKeys,
    /// The heaviest and longest keys.
    pub top: Top,
    /// Keys that never expire.
    pub no_ttl: NoTtl,
    /// How long keys have left.
    pub expiry: Expiry,
    /// Keys whose names break the default rules.
    pub naming: Naming,
    /// What breaks the policy.
    pub findings: Findings,
    /// The tree of name segments.
    pub prefixes: Prefixes,
    /// Names with their ids collapsed, heaviest first.
    pub patterns: Patterns,
    /// How long keys have been idle, where the dump tells.
    pub idle: Option<Idle>,
    /// How often keys are used, where the dump tells.
    pub freq: Option<Freq>,
    /// Memory over cluster slots, when keys carry hash tags or the dump is of a cluster.
    pub slots: Option<Slots>,
    /// Streams with their groups and pending entries.
    pub streams: Option<Streams>,
    /// What the keys would take elsewhere, when that was asked.
    pub what_if: Option<WhatIf>,
    /// What the reader should know about the figures.
    pub warnings: Vec<String>,
}
