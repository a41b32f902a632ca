//! All that a later stage may know about one key.

pub use crate::memory::{Encoding, StreamFacts};
pub use crate::rdb::kind::{Kind, ModuleName};
use crate::rdb::peek::RawValue;
use crate::units::{Bytes, Millis};

/// One key of a snapshot: borrowed from the batch it was read from, seen once by every aggregate.
#[derive(Debug, Clone)]
pub struct Record<'a> {
    /// Position of its file among the inputs.
    pub file: usize,
    /// Number of the database.
    pub db: u64,
    /// The key's bytes, decompressed.
    pub key: &'a [u8],
    /// The type that `TYPE` answers.
    pub kind: Kind,
    /// The module's type name, for [`Kind::Module`].
    pub module: Option<ModuleName>,
    /// What `OBJECT ENCODING` answers on the server that wrote the dump, after loading it.
    pub encoding: Encoding,
    /// Bytes of a string, elements of a collection; `None` for modules that do not tell.
    pub length: Option<u64>,
    /// What `MEMORY USAGE key SAMPLES 0` would answer.
    pub memory: Bytes,
    /// The same under each alternative that was asked about, in the order asked.
    pub alternatives: &'a [Bytes],
    /// What the allocator gives under each of them.
    pub allocated_elsewhere: &'a [Bytes],
    /// What the allocator gives for key and value, without the entries of the database's tables.
    pub allocated: Bytes,
    /// Bytes of the record in the (decompressed) file, from its first prefix opcode to its last byte.
    pub disk: Bytes,
    /// When the key expires.
    pub expires_at: Option<Millis>,
    /// Seconds since the last access, where the dump holds it (LRU policies).
    pub idle: Option<u64>,
    /// The logarithmic access counter, where the dump holds it (LFU policies).
    pub freq: Option<u8>,
    /// For hashes whose form on disk carries field expiries: how many fields have one.
    pub fields_with_ttl: Option<u64>,
    /// For streams: consumer groups and pending entries.
    pub stream: Option<&'a StreamFacts>,
    /// What rules about values look at.
    pub value: ValueFacts,
    /// The value as it stands in the file, for those who look into it; `None` for records that are from no file.
    pub raw: Option<RawValue<'a>>,
}

/// What is seen of a value besides its size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ValueFacts {
    /// For strings: it begins as a JSON object does, with a brace and a quoted name.
    pub json_object: bool,
    /// For strings that the dump holds compressed: the bytes that are left. `None` for HyperLogLogs, which the server has
    /// to understand.
    pub compressed: Option<Bytes>,
    /// For collections somewhat above a limit of their compact form: what they would be below it. Only where somebody asks.
    pub compact: Option<Compact>,
}

/// What a collection would be if the limits of its compact form were higher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compact {
    /// Its encoding.
    pub encoding: Encoding,
    /// Its memory.
    pub memory: Bytes,
}
