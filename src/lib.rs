//! Offline analysis of Redis and Valkey snapshots.
#![deny(unsafe_code)]
pub mod aggregate;
pub mod error;
pub mod input;
pub mod rdb;
pub mod record;
pub mod units;
pub mod report;
