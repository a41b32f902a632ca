//! The small mergeable pieces that aggregates are made of.

pub mod expiries;
pub mod histogram;
pub mod secrets;
pub mod tally;
pub mod top;

pub use expiries::{Expiries, MOST_EXPIRIES};
pub use histogram::Histogram;
pub use secrets::Secrets;
pub use tally::{Tally, share};
pub use top::{Ranked, Top};
