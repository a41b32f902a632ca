//! One key and its value: found in file order, decoded whole.
//!
//! Values are decoded by visitors over the same walk that measures them. `docs/show.md` describes the output.

mod collect;
mod decode;
mod find;
mod stream;
mod value;

pub use collect::collect;
pub use decode::{decode, decode_value};
pub use find::{Found, Looked, find};
pub use value::{Consumer, Entry, Group, HashField, Item, Pending, Producer, Stream, Value};
