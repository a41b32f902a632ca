//! Rules about slots.

pub mod skew;
