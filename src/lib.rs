//! Offline analysis of Redis and Valkey snapshots.
pub mod aggregate;
pub mod error;
pub mod record;
pub mod render;
pub mod units;
pub mod report;
