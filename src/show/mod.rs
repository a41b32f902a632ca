//! One key and its value: found in file order, decoded whole.
//!
//! Values are decoded by visitors over the same walk that measures them. `docs/show.md` describes the output.

mod cbor;
mod collect;
mod decode;
mod decode_budget;
mod document;
mod find;
mod near;
mod series;
mod stream;
mod value;
mod vectors;

pub use crate::analyze::one_key::KeyFacts;
pub use decode::{Decoded, decode};
pub use decode_budget::Extent;
pub use find::{Found, Looked, find};
pub use series::{CompactionRule, Sample, Series};
pub use value::{Consumer, Entry, Group, HashField, Item, Pending, Producer, Stream, Value};
pub use vectors::{VectorElement, VectorSet};
#[cfg(feature = "internals")]
pub use {collect::collect, decode::decode_value, decode_budget::DecodeBudget, find::ValueBytes};
