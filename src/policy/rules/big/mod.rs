//! Rules about values that are too big.

pub mod collection_hard;
pub mod elements;
pub mod expiring;
pub mod hash_fields;
pub mod string;
pub mod total;
