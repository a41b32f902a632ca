//! The small mergeable pieces that aggregates are made of.

pub mod histogram;
pub mod tally;
pub mod top;

pub use histogram::Histogram;
pub use tally::{Tally, share};
pub use top::{Ranked, Top};
