//! Decoded values.

use std::sync::Arc;

use super::document::JsonDocument;
use super::series::Series;
use super::vectors::VectorSet;
use crate::record::ModuleName;
use crate::units::Millis;

/// Any value, decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A string.
    Text(Vec<u8>),
    /// A list, first element first.
    List(Vec<Vec<u8>>),
    /// A set, in file order.
    Set(Vec<Vec<u8>>),
    /// A sorted set, in file order.
    Zset(Vec<(Vec<u8>, f64)>),
    /// A hash, in file order.
    Hash(Vec<HashField>),
    /// A stream.
    Stream(Stream),
    /// A document of a JSON module.
    Json(JsonDocument),
    /// A time series.
    Series(Box<Series>),
    /// A vector set.
    Vectors(VectorSet),
    /// The parts of another module's value; only the module knows what they mean.
    Module(Option<ModuleName>, Vec<Item>),
    /// An array: the slots in use.
    Array(Vec<(u64, Item)>),
}

impl Value {
    /// Returns the number of elements; a string has none.
    pub fn elements(&self) -> usize {
        match self {
            Value::Text(_) => 0,
            Value::List(elements) | Value::Set(elements) => elements.len(),
            Value::Zset(members) => members.len(),
            Value::Hash(fields) => fields.len(),
            Value::Stream(stream) => stream.entries.len(),
            Value::Json(document) => document.members(),
            Value::Series(series) => series.shown(),
            Value::Vectors(set) => set.elements.len(),
            Value::Module(_, items) => items.len(),
            Value::Array(slots) => slots.len(),
        }
    }

    /// Drops all elements but the first `most`.
    pub fn truncate(&mut self, most: usize) {
        match self {
            Value::Text(_) => {}
            Value::List(elements) | Value::Set(elements) => elements.truncate(most),
            Value::Zset(members) => members.truncate(most),
            Value::Hash(fields) => fields.truncate(most),
            Value::Stream(stream) => stream.entries.truncate(most),
            Value::Json(document) => document.truncate(most),
            Value::Series(series) => series.truncate(most),
            Value::Vectors(set) => set.elements.truncate(most),
            Value::Module(_, items) => items.truncate(most),
            Value::Array(slots) => slots.truncate(most),
        }
    }
}

/// A field of a hash.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HashField {
    /// Its name.
    pub field: Vec<u8>,
    /// Its value.
    pub value: Vec<u8>,
    /// When it expires.
    pub expires_at: Option<Millis>,
}

/// A number or a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    /// A whole number.
    Integer(i64),
    /// A number.
    Float(f64),
    /// A text.
    Text(Vec<u8>),
}

/// A stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stream {
    /// Id of the last entry ever.
    pub last_id: (u64, u64),
    /// Entries ever added, where the layout tells.
    pub entries_added: Option<u64>,
    /// Entries that are not deleted, in order of id.
    pub entries: Vec<Entry>,
    /// Consumer groups, in file order.
    pub groups: Vec<Group>,
    /// Producers that gave idempotency ids, in file order.
    pub producers: Vec<Producer>,
}

/// A producer that gave idempotency ids.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Producer {
    /// Its name.
    pub name: Vec<u8>,
    /// Its ids, and the id of the entry that each stands for.
    pub ids: Vec<(Vec<u8>, (u64, u64))>,
}

/// An entry of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// Its id: milliseconds and sequence number.
    pub id: (u64, u64),
    /// Its fields and their values. Entries of a node share the names: a hostile node has many entries and long names.
    pub fields: Vec<(Arc<[u8]>, Vec<u8>)>,
}

/// A consumer group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its name.
    pub name: Vec<u8>,
    /// Id of the last entry that was delivered.
    pub last_id: (u64, u64),
    /// Entries that the group has read, where that is known.
    pub entries_read: Option<u64>,
    /// Entries delivered but not acknowledged.
    pub pending: Vec<Pending>,
    /// Its consumers.
    pub consumers: Vec<Consumer>,
    /// Ids of entries that consumers gave back, where the layout tells.
    pub returned: Vec<(u64, u64)>,
}

/// An entry delivered but not acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The entry's id.
    pub id: (u64, u64),
    /// When it was delivered last.
    pub delivered_at: Millis,
    /// How many times.
    pub deliveries: u64,
}

/// A consumer of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Consumer {
    /// Its name.
    pub name: Vec<u8>,
    /// When it was last seen.
    pub seen_at: Millis,
    /// When it last got an entry, where the layout tells.
    pub active_at: Option<Millis>,
    /// Ids of its entries that are not acknowledged.
    pub pending: Vec<(u64, u64)>,
}
