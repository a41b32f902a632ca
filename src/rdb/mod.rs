//! Parser for the RDB format: turns bytes into records, independent of what the records are used for.
//!
//! ```text
//! header ─ { auxiliary field | function | module data | database | slot }* ─ { prefix* type key value }* ─ EOF ─ checksum
//! ```
//!
//! [`scan::Scanner`] iterates over the items of a file; [`walk::walk`] walks one value and reports its parts to a
//! [`walk::Visit`]. Skipping and measuring share this code and differ only in the visitor, so they always agree on where
//! a value ends.

pub mod batch;
pub mod boundary;
pub mod crc64;
pub mod cursor;
pub mod file_info;
pub mod header;
pub mod kind;
pub mod lzf;
pub mod opcode;
pub mod packed;
pub mod peek;
pub mod scan;
pub mod string;
pub mod value_type;
pub mod verify;
pub mod walk;
