//! Rules about expiry.

pub mod expired_present;
pub mod idle;
pub mod idle_forever;
pub mod lock_missing;
pub mod missing;
pub mod null_marker;
pub mod storm;
pub mod too_long;
