//! Parser for the RDB format: turns bytes into records, independent of what the records are used for.
//!
//! ```text
//! header ─ { auxiliary field | function | module data | database | slot }* ─ { prefix* type key value }* ─ EOF ─ checksum
//! ```
//!
//! [`Scanner`] iterates over the items of a file; `walk::walk` walks one value and reports its parts to a
//! `walk::Visit`. Skipping and measuring share this code and differ only in the visitor, so they always agree on where
//! a value ends.

pub(crate) mod batch;
pub(crate) mod boundary;
pub(crate) mod cbor;
pub(crate) mod commands;
pub(crate) mod content;
pub(crate) mod crc64;
pub(crate) mod cursor;
pub(crate) mod dragonfly;
pub(crate) mod file_info;
pub(crate) mod header;
pub(crate) mod hyperloglog;
pub(crate) mod kind;
pub(crate) mod library;
pub(crate) mod lzf;
pub(crate) mod opcode;
pub(crate) mod opcode_check;
pub(crate) mod packed;
pub(crate) mod payload;
pub(crate) mod peek;
pub(crate) mod resync;
pub(crate) mod salvage;
pub(crate) mod scan;
pub(crate) mod score;
pub(crate) mod scratch;
pub(crate) mod slot_info;
pub(crate) mod string;
pub(crate) mod template;
pub(crate) mod value_type;
pub(crate) mod verify;
pub(crate) mod walk;
pub(crate) mod writer;

pub use cursor::Cursor;
pub use header::{Family, RdbHeader};
pub use scan::{FileItem, KeyEntry, ScanState, Scanner};
pub use scratch::Scratch;
pub use string::RawString;
pub use value_type::{DragonflyModule, ValueType};
