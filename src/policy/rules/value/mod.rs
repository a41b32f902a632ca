//! Rules about the content of values.

pub mod compressible;
pub mod sensitive;
