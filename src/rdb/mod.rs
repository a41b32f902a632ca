//! The snapshot format.
pub mod crc64;
