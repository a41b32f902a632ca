//! Offline analysis of Redis and Valkey snapshots.
//!
//! One pass from bytes to facts per key, and from these to a report.
//!
//! # Stages
//!
//! Data flows one way: a stage imports only stages above it in this list. `tests/it/architecture.rs` reads the list and checks
//! all of `src` against it.
//!
//! ```text
//! units      bytes and milliseconds
//! limits     every cap on what a file may ask for, with its reason
//! error      absolute offset, what was being read, what was wrong
//! near       "did you mean" suggestions
//! input      files, pipes, compression, containers
//! rdb        record boundaries and a walk over values
//! pattern    key names with their ids collapsed, and the tree of patterns
//! mask       key names for reports that leave the machine
//! memory     the price of a value on a given server
//! record     the facts of one key
//! report     plain, serialisable data, and the comparison of several
//! policy     rules, presets, policy files
//! aggregate  one question per file, collected over all records
//! analyze    plan, threads, assembling of the report
//! show       one key with its value
//! render     reports, rows and values as text; never imports input, aggregate or analyze
//! cli        flags, output, exit status
//! ```
//!
//! [`analyze()`] makes a report of dump files, [`records()`] iterates over the facts of each key, [`for_each_record`] shows
//! them without a copy, and [`rdb::scan::Scanner`] reads the format itself.
#![cfg_attr(
    test,
    allow(
        clippy::cast_possible_truncation,
        clippy::cast_possible_wrap,
        clippy::cast_sign_loss,
        clippy::print_stdout,
        clippy::unwrap_used,
        reason = "tests use small numbers and panic on purpose"
    )
)]

pub mod aggregate;
pub mod analyze;
pub mod cli;
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
