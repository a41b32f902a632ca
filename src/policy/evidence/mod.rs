//! What is collected about the keys of one pattern for rules about patterns: bounded samples, each a commutative monoid, so
//! that they can be kept by workers and merged.

mod bottom_k;
mod expiries;
mod secrets;

pub use expiries::{Expiries, MOST_EXPIRIES};
pub use secrets::Secrets;
