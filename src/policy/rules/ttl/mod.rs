//! Rules about how long keys live.

pub mod expired_present;
pub mod idle_forever;
pub mod lock_missing;
pub mod missing;
pub mod storm;
pub mod too_long;
