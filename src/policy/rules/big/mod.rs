//! Rules about values that are too big.

pub mod elements;
pub mod string;
