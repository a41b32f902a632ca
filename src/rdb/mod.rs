//! The RDB format: bytes to records. Nothing here knows what a record is wanted for.
//!
//! ```text
//! header ─ { auxiliary field | function | module data | database | slot }* ─ { prefix* type key value }* ─ EOF ─ checksum
//! ```
//!
//! [`scan::Scanner`] goes over the items of a file; [`walk::walk`] goes over one value and tells a
//! [`walk::Visit`] what it meets. Skipping and measuring are one code with different visitors, so they cannot disagree
//! about where a value ends.

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
