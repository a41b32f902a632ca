//! Offline analysis of Redis and Valkey snapshots.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod aggregate;
pub mod analyze;
pub mod error;
pub mod input;
pub mod limits;
pub mod pattern;
pub mod rdb;
pub mod record;
pub mod report;
pub mod units;
