//! Rules, one per file; the path of a file is the id of its rule.

pub mod backup;
pub mod big;
pub mod db;
pub mod instance;
pub mod key;
pub mod memory;
pub mod slot;
pub mod stream;
pub mod ttl;
pub mod type_;
pub mod value;
