//! Offline analysis of Redis and Valkey snapshots.
pub mod aggregate;
pub mod analyze;
pub mod error;
pub mod policy;
pub mod record;
pub mod units;
pub mod report;
