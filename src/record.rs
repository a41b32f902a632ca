//! Record of one key, the interface between reading and everything that follows.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

pub use crate::memory::{Encoding, ModuleFacts, Quantization, StreamFacts, ValueFacts};
pub use crate::rdb::kind::{Kind, ModuleName};
use crate::rdb::payload::{PACKED_GAIN, Payload};
use crate::rdb::peek::RawValue;
use crate::units::{Bytes, Millis};

/// Key of a snapshot with its type, size, memory and expiry; borrowed from the batch it was read from.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// Index of its file among the inputs.
    pub file: usize,
    /// Database number.
    pub db: u64,
    /// The key's bytes, decompressed.
    pub key: &'a [u8],
    /// Type as reported by `TYPE`.
    pub kind: Kind,
    /// The module's type name, for [`Kind::Module`].
    pub module: Option<ModuleName>,
    /// Encoding as reported by `OBJECT ENCODING` after the server that wrote the dump has loaded it.
    pub encoding: Encoding,
    /// Bytes of a string, elements of a collection; `None` for some modules.
    pub length: Option<u64>,
    /// Memory as `MEMORY USAGE key SAMPLES 0` would report it; 0 if unknown, so that sums leave it out: see
    /// [`Record::known_memory`].
    pub memory: Bytes,
    /// Memory under each what-if alternative, in the order given; empty if it is unknown under one of them.
    pub alternatives: &'a [Bytes],
    /// Allocated bytes under each what-if alternative; as many as `alternatives`.
    pub allocated_elsewhere: &'a [Bytes],
    /// Allocated bytes of key and value, without entries in the database tables; 0 if unknown.
    pub allocated: Bytes,
    /// Bytes of the record in the (decompressed) file, from its first prefix opcode to its last byte.
    pub disk: Bytes,
    /// Bytes of the value itself: length of a string; of a collection, size of its packed form before compression, or of its elements.
    pub content: Bytes,
    /// Expiry time.
    pub expires_at: Option<Millis>,
    /// Seconds since the last access, if the dump stores it (LRU policies).
    pub idle: Option<u64>,
    /// Logarithmic access counter, if the dump stores it (LFU policies).
    pub freq: Option<u8>,
    /// Number of fields with an expiry, for hash layouts that store field expiries.
    pub fields_with_ttl: Option<u64>,
    /// Consumer groups and pending entries, for streams.
    pub stream: Option<&'a StreamFacts>,
    /// Dimensions, capacities and counts, for modules.
    pub module_facts: Option<&'a ModuleFacts>,
    // Hidden fields serve later stages; users cannot name their types.
    /// Facts about the value that rules check. Borrowed: copying what the meter has just written would stall.
    #[doc(hidden)]
    pub value: &'a ValueFacts,
    /// Packed form of a collection slightly above a packing limit; computed only on request.
    #[doc(hidden)]
    pub compact: Option<Compact>,
    /// Undecoded value; `None` for records that do not come from a file.
    #[doc(hidden)]
    pub raw: Option<RawValue<'a>>,
}

impl Record<'_> {
    /// Returns the memory, or `None` if it is unknown, as for values of modules whose formula is not known.
    ///
    /// Every key takes some memory, so 0 stands for unknown.
    #[inline]
    pub fn known_memory(&self) -> Option<Bytes> {
        self.memory.known()
    }

    /// Returns whether the key has an expiry, or is a hash all of whose fields have one: the server deletes it with the last of them.
    #[inline]
    pub fn is_to_expire(&self) -> bool {
        self.expires_at.is_some() || self.fields_with_ttl.is_some() && self.fields_with_ttl == self.length
    }

    /// Returns whether the value is a JSON document without an object or array, whose length is that of a text.
    #[inline]
    pub(crate) fn is_json_scalar(&self) -> bool {
        self.module_facts.is_some_and(|facts| facts.levels == Some(0))
    }

    /// Returns the length as sums over keys take it: bytes of a string, elements of anything else; a scalar in JSON counts as one.
    #[inline]
    pub(crate) fn summed_length(&self) -> u64 {
        if self.is_json_scalar() { 1 } else { self.length.unwrap_or(0) }
    }

    /// Returns the payload of a collection. Reads its blobs unless it is known.
    pub(crate) fn collection_payload(&self) -> Option<Payload> {
        match (self.kind, self.value.payload) {
            (Kind::String | Kind::Module, _) => None,
            (_, Some(known)) => Some(known),
            (_, None) => self.raw?.payload(),
        }
    }

    /// Returns the lengths of the elements of a collection whose payload is known. Reads nothing.
    pub(crate) fn element_lengths(&self) -> Option<ElementLengths> {
        self.value.payload.and_then(|payload| self.lengths_of(payload))
    }

    /// Returns the lengths of the elements of a collection. Reads its blobs unless its payload is known.
    pub(crate) fn find_element_lengths(&self) -> Option<ElementLengths> {
        self.collection_payload().and_then(|payload| self.lengths_of(payload))
    }

    fn lengths_of(&self, payload: Payload) -> Option<ElementLengths> {
        if matches!(self.kind, Kind::String | Kind::Module) {
            return None;
        }
        // Only lists have bounds.
        if self.kind == Kind::List && payload.is_bound() {
            return None;
        }
        let mean = payload.mean(self.kind, self.length?)?;
        Some(ElementLengths { longest: Bytes(payload.longest), mean: Bytes(mean) })
    }

    /// Returns the [payload](crate::rdb::payload) in bytes if it exceeds `limit`; `None` if not, and for modules and damaged
    /// values.
    ///
    /// Values stored in blobs are read only if their sizes do not settle the matter.
    pub(crate) fn payload_over(&self, limit: u64) -> Option<u64> {
        let payload = match (self.kind, self.value.payload) {
            (Kind::String, _) => self.length,
            (_, Some(known)) => Some(known.bytes),
            (_, None) => self.packed_payload(limit).map(|payload| payload.bytes),
        };
        payload.filter(|&payload| payload > limit)
    }

    /// Returns an upper bound of the payload of a compact hash whose template is known. Reads nothing.
    fn shared_payload_at_most(&self) -> Option<u64> {
        let Bytes(ordinary) = self.value.template?.ordinary;
        Some(ordinary.saturating_add(self.length?.saturating_mul(2 * PACKED_GAIN)))
    }

    /// Returns the payload of a value stored in blobs, unless their sizes show that it is within `limit`. Reads the blobs.
    pub(crate) fn packed_payload(&self, limit: u64) -> Option<Payload> {
        if self.shared_payload_at_most().is_some_and(|most| most <= limit) {
            return None;
        }
        let raw = self.raw.filter(|raw| raw.payload_at_most(self.length.unwrap_or(u64::MAX)) > limit)?;
        raw.payload()
    }

    /// Returns bounds of the payload of a list stored in blobs. Reads the sizes of the blobs.
    pub(crate) fn payload_bounds(&self) -> Option<RangeInclusive<u64>> {
        let raw = self.raw.filter(|_| self.kind == Kind::List && self.value.payload.is_none())?;
        let elements = self.length?;
        Some(raw.payload_at_least(elements)..=raw.payload_at_most(elements))
    }

    /// Returns whether the value is a HyperLogLog. Reads the value.
    pub(crate) fn is_hyperloglog(&self) -> bool {
        self.raw.is_some_and(|raw| raw.is_hyperloglog())
    }
}

/// Lengths of the elements of a collection: of its strings as clients see them. A hash has one for each field and its value
/// together, a stream for each entry, a sorted set for each member without its score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ElementLengths {
    /// The longest.
    pub longest: Bytes,
    /// The mean, rounded.
    pub mean: Bytes,
}

/// Encoding and memory that a collection would have if packing limits were higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    /// Encoding below the limit.
    pub encoding: Encoding,
    /// Memory below the limit.
    pub memory: Bytes,
}
