//! Where the bytes of snapshots come from.
pub mod block;
pub mod decompress;
mod lz4;
pub mod mmap;
pub mod source;
mod spill;
pub mod stream;
