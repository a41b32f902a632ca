//! Rules about hash slots.

pub mod skew;
