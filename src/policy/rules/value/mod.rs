//! Rules about what values hold.

pub mod sensitive;
