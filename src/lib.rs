//! Offline analysis of Redis and Valkey snapshots.
pub mod aggregate;
pub mod error;
pub mod limits;
pub mod memory;
pub mod rdb;
pub mod record;
pub mod report;
pub mod units;
