//! One key and its value: found in file order, decoded whole.
//!
//! The `rdb` crate decodes what it can; streams, field expiries, modules and arrays are decoded here, by a visitor over
//! the same walk that measures them.

mod decode;
mod find;
mod stream;
mod value;

pub use decode::decode;
pub use find::{Found, Looked, find};
pub use value::{Consumer, Entry, Group, HashField, Item, Pending, Stream, Value};
