//! One key and its value: found in file order, decoded whole.
//!
//! The `rdb` crate decodes what it reads whole; streams, field expiries, modules, arrays and what that crate misreads are
//! decoded here, by visitors over the same walk that measures them. `docs/show.md` has the form of the output.

mod collect;
mod decode;
mod find;
mod stream;
mod value;

pub use collect::collect;
pub use decode::{decode, decode_value, from_crate};
pub use find::{Found, Looked, find};
pub use value::{Consumer, Entry, Group, HashField, Item, Pending, Producer, Stream, Value};
