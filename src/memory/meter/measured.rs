//! Result for one value.

use crate::memory::{Encoding, StreamFacts, TemplateUse};
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
    /// Facts about the content.
    pub value: ValueFacts,
}

/// Facts about a value besides its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ValueFacts {
    /// True for strings whose first byte may be that of a JSON object, of an array of objects, or of a string that holds one.
    pub may_be_json: bool,
    /// Compressed size of a string stored compressed.
    pub compressed: Option<Bytes>,
    /// Payload of a collection that is stored element by element; `None` if it is stored in blobs that have not been read.
    pub payload: Option<Payload>,
    /// Template of a compact hash.
    pub template: Option<TemplateUse>,
}

impl ValueFacts {
    /// No facts.
    pub const NONE: ValueFacts = ValueFacts { may_be_json: false, compressed: None, payload: None, template: None };

    /// Returns the facts of a collection whose elements have this payload; without any it was stored in blobs.
    #[inline]
    pub(super) fn of_elements(payload: Payload) -> ValueFacts {
        ValueFacts { payload: (payload.bytes > 0).then_some(payload), ..ValueFacts::NONE }
    }
}

/// Encoding, length and memory, the fields that all types have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::memory) struct PricedValue {
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
    pub fn measured(self, value: ValueFacts) -> Measured {
        Measured {
            encoding: self.encoding,
            length: Some(self.length),
            memory: Bytes(self.memory),
            allocated: Bytes(self.memory.saturating_add_signed(self.slack)),
            module: None,
            fields_with_ttl: None,
            stream: None,
            value,
        }
    }
}
