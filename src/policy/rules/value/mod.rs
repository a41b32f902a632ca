//! Rules about what values hold.

pub mod compressible;
pub mod sensitive;
