//! What rules may know besides the key, the patterns or the report that they are asked about.

use super::capacity::UpgradeEstimate;
use super::dictionary::{DictionaryEntry, TtlClass};
use super::earlier::EarlierPatterns;
use std::sync::Arc;

use crate::memory::{Model, ServerConfig};
use crate::pattern::segment::Separators;
use crate::units::{Bytes, Millis};

/// The surroundings of a question: the same for all keys of a run.
#[derive(Debug, Clone, Default)]
pub struct Context {
    /// What divides names.
    pub separators: Separators,
    /// What expiries are held against: the time of the snapshot, or what the user says.
    pub reference: Option<Millis>,
    /// The time of the run, if the user tells it.
    pub now: Option<Millis>,
    /// The server's settings as far as they are known.
    pub config: ServerConfig,
    /// What the server makes of values, if it is known.
    pub model: Option<Arc<Model>>,
    /// The server's `maxmemory`, if it is known.
    pub maxmemory: Option<Bytes>,
    /// Its `maxmemory-policy`, if it is known.
    pub maxmemory_policy: Option<String>,
    /// Classes of lifetimes.
    pub classes: Vec<TtlClass>,
    /// The data dictionary.
    pub entries: Vec<DictionaryEntry>,
    /// An earlier snapshot, if there is one to compare with.
    pub earlier: Option<EarlierPatterns>,
    /// What the same keys would take on other servers, as far as that was computed.
    pub upgrades: Vec<UpgradeEstimate>,
}
