//! Result for one value.

use std::num::NonZeroU64;

use crate::memory::templates::TemplateUse;
use crate::memory::{Encoding, StreamFacts};
use crate::rdb::kind::ModuleName;
use crate::rdb::payload::Payload;
use crate::units::Bytes;

/// Value as a given server would hold it after loading.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measured {
    /// Encoding as reported by `OBJECT ENCODING`.
    pub encoding: Encoding,
    /// Bytes of a string, elements of a collection; `None` if unknown.
    pub length: Option<u64>,
    /// Memory as reported by `MEMORY USAGE key SAMPLES 0`; 0 if unknown, which no key's memory is.
    pub memory: Bytes,
    /// Allocated bytes of key and value, without entries in the database tables; 0 if unknown.
    pub allocated: Bytes,
    /// Module type name, for module values.
    pub module: Option<ModuleName>,
    /// Number of fields with an expiry, for hash layouts that store field expiries.
    pub fields_with_ttl: Option<u64>,
    /// Facts about consumer groups and ids, for streams.
    pub stream: Option<StreamFacts>,
    /// Facts about the contents of a string.
    pub text: TextFacts,
    /// Payload of a collection stored element by element; empty if unknown.
    pub payload: Payload,
    /// Template of a compact hash.
    pub template: Option<TemplateUse>,
}

/// Facts about the contents of a string: see [`crate::record::ValueFacts`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextFacts {
    /// True if the first byte may be that of a JSON object, an array, or a string that holds one.
    pub may_be_json: bool,
    /// Compressed size, if the string is stored compressed.
    pub compressed: Option<NonZeroU64>,
}

/// Encoding, length and memory, the fields that all types have in common.
#[derive(Debug, Clone, Copy)]
pub(super) struct PricedValue {
    pub encoding: Encoding,
    pub length: u64,
    pub memory: u64,
    /// Allocated bytes beyond `memory`; negative if `memory` overestimates.
    pub slack: i64,
}

impl PricedValue {
    #[inline]
    pub fn new(encoding: Encoding, length: u64, memory: u64, slack: i64) -> PricedValue {
        PricedValue { encoding, length, memory, slack }
    }

    #[inline]
    pub fn measured(self, text: TextFacts) -> Measured {
        Measured {
            encoding: self.encoding,
            length: Some(self.length),
            memory: Bytes(self.memory),
            allocated: Bytes(self.memory.saturating_add_signed(self.slack)),
            module: None,
            fields_with_ttl: None,
            stream: None,
            text,
            payload: Payload { bytes: 0, longest: 0 },
            template: None,
        }
    }
}
