//! The rules, one a file; the path is the id.

pub mod big;
pub mod key;
pub mod value;
