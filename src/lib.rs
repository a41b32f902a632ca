//! Offline analysis of Redis and Valkey snapshots.
//!
//! One pass from bytes to facts per key, and from these to a report. Data flows one way, and no stage knows a later one:
//!
//! ```text
//! input ─ rdb ─ memory ─ record ─ aggregate ─ report ─ render ─ cli
//!                           └─ pattern, policy ┘
//! ```
//!
//! [`analyze()`] makes a report of dump files, [`records()`] iterates over the facts of each key, [`for_each_record`] shows
//! them without a copy, and [`rdb::scan::Scanner`] reads the format itself.
#![deny(unsafe_code)]
#![warn(missing_docs)]

pub mod aggregate;
pub mod analyze;
pub mod cli;
pub mod compare;
pub mod error;
pub mod input;
pub mod limits;
pub mod mask;
pub mod memory;
pub mod near;
pub mod pattern;
pub mod policy;
pub mod rdb;
pub mod record;
pub mod render;
pub mod report;
pub mod show;
pub mod units;

pub use analyze::records::records;
pub use analyze::{Plan, ReadPlan, Unwatched, analyze, for_each_record};
