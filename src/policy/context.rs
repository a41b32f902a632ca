//! Facts that rules may use besides the key, patterns or report that they check.

use super::capacity::UpgradeEstimate;
use super::dictionary::{DictionaryEntry, ExpectedTypes, TtlClass};
use super::earlier::EarlierPatterns;
use super::rule::Need;
use std::collections::BTreeMap;
use std::sync::Arc;

use crate::memory::{Model, ServerConfig};
use crate::pattern::segment::Separators;
use crate::report::Weight;
use crate::units::{Bytes, Millis, ReferenceTimes};

/// Facts about the run, the server and the policy: the same for all keys.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// Bytes that divide names into segments.
    pub separators: Separators,
    /// Times that expiries are compared with: those of the files, or one given by the user.
    pub reference: ReferenceTimes,
    /// Time of the run, if given by the user.
    pub now: Option<Millis>,
    /// Known settings of the server.
    pub config: ServerConfig,
    /// Memory model of the server, if known.
    pub model: Option<Arc<Model>>,
    /// `maxmemory` of the server, if known.
    pub maxmemory: Option<Bytes>,
    /// `maxmemory-policy` of the server, if known.
    pub maxmemory_policy: Option<String>,
    /// TTL classes.
    pub classes: Vec<TtlClass>,
    /// Entries of the data dictionary.
    pub entries: Vec<DictionaryEntry>,
    /// Types that keys are to have.
    pub expected: Vec<ExpectedTypes>,
    /// Patterns of an earlier snapshot to compare with, if given, of the same shards, and earlier.
    pub earlier: Option<EarlierPatterns>,
    /// Time, size and number of keys of the earlier snapshot, by which it is recognised.
    pub earlier_snapshot: Option<(Millis, Bytes, u64)>,
    /// Why the earlier snapshot that was given is no measure of growth.
    pub earlier_need: Option<Need>,
    /// Memory of the same keys on other servers, as far as computed.
    pub upgrades: Vec<UpgradeEstimate>,
    /// Keys that lack an expiry by position of the file, for rules about the finished report: those that break `ttl.missing` and hashes whose
    /// fields expire, or without that rule all keys without expiry.
    pub without_ttl: BTreeMap<usize, Weight>,
}
