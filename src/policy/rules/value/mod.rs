//! Rules about the content of values.

pub mod compressible;
pub mod lock_token;
pub mod sensitive;
