//! Offline analysis of Redis and Valkey snapshots.
//!
//! A snapshot (RDB file) is read in one pass. [`analyze()`] makes a [`Report`] of it: what takes the memory, which keys are
//! big, which never expire, which break a naming standard. The report is plain data and serialises with serde.
//!
//! ```
//! use rdblens::{Plan, ReadPlan, Unwatched, analyze};
//!
//! let plan = Plan::new(ReadPlan::new(std::env::temp_dir()));
//! let report = analyze(&["testdata/dumps/shop.rdb"], &plan, &Unwatched)?;
//! let heaviest = &report.top.by_memory[0];
//! assert_eq!(report.totals.keys, 5257);
//! assert_eq!(heaviest.key.as_text(), Some("leaderboard:spending:all-time"));
//! # Ok::<(), rdblens::Error>(())
//! ```
//!
//! | to do | use |
//! |---|---|
//! | report on snapshots | [`analyze()`] with a [`Plan`] |
//! | read the facts of each key | [`records()`], or [`for_each_record`] without copies, with a [`ReadPlan`] |
//! | verify backups | [`check()`] |
//! | compare reports | [`compare()`] |
//! | parse the format itself | [`rdb::Scanner`] |
//!
//! # Features
//!
//! - `cli` (default): the command line and the renderers for tables, HTML, Markdown, CSV and Prometheus.
//! - `parquet` (default): `keys --format parquet`.
//!
//! Programs that only want figures set `default-features = false`.
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
#![cfg_attr(not(feature = "cli"), allow(dead_code, unused_imports, reason = "some items serve the command line only"))]
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

mod aggregate;
mod analyze;
#[cfg(feature = "cli")]
#[doc(hidden)]
pub mod cli;
mod error;
mod input;
mod limits;
mod mask;
mod memory;
mod near;
mod pattern;
mod policy;
pub mod rdb;
mod record;
#[cfg(feature = "cli")]
mod render;
pub mod report;
#[cfg(feature = "cli")]
mod show;
mod units;

pub use analyze::check::check;
pub use analyze::records::{OwnedRecord, Records, for_each_record, records};
pub use analyze::select::Glob;
pub use analyze::{BigLimits, MaskKey, Plan, PolicySource, Progress, ReadPlan, Selection, Unwatched, analyze};
pub use error::{Error, ErrorKind, Result};
pub use input::OpenOptions;
pub use mask::Secret;
pub use memory::{Allocator, Server, ServerConfig, WhatIf};
pub use record::{Encoding, Kind, ModuleName, Record, StreamFacts};
pub use report::Report;
pub use report::diff::{ComparePlan, Comparison, NamedReport, compare};
pub use units::{Bytes, Millis};

/// Every stage, for the crate's own integration tests and benchmarks. Not part of the API: it changes at any time.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    pub mod aggregate {
        pub use crate::aggregate::*;
    }
    pub mod analyze {
        pub use crate::analyze::*;
    }
    #[cfg(feature = "cli")]
    pub mod cli {
        pub use crate::cli::*;
    }
    pub mod error {
        pub use crate::error::*;
    }
    pub mod input {
        pub use crate::input::*;
    }
    pub mod limits {
        pub use crate::limits::*;
    }
    pub mod mask {
        pub use crate::mask::*;
    }
    pub mod memory {
        pub use crate::memory::*;
    }
    pub mod near {
        pub use crate::near::*;
    }
    pub mod pattern {
        pub use crate::pattern::*;
    }
    pub mod policy {
        pub use crate::policy::*;
    }
    pub mod rdb {
        pub mod batch {
            pub use crate::rdb::batch::*;
        }
        pub mod boundary {
            pub use crate::rdb::boundary::*;
        }
        pub mod crc64 {
            pub use crate::rdb::crc64::*;
        }
        pub mod cursor {
            pub use crate::rdb::cursor::*;
        }
        pub mod file_info {
            pub use crate::rdb::file_info::*;
        }
        pub mod header {
            pub use crate::rdb::header::*;
        }
        pub mod kind {
            pub use crate::rdb::kind::*;
        }
        pub mod lzf {
            pub use crate::rdb::lzf::*;
        }
        pub mod opcode {
            pub use crate::rdb::opcode::*;
        }
        pub mod packed {
            pub use crate::rdb::packed::*;
        }
        pub mod peek {
            pub use crate::rdb::peek::*;
        }
        pub mod scan {
            pub use crate::rdb::scan::*;
        }
        pub mod string {
            pub use crate::rdb::string::*;
        }
        pub mod value_type {
            pub use crate::rdb::value_type::*;
        }
        pub mod verify {
            pub use crate::rdb::verify::*;
        }
        pub mod walk {
            pub use crate::rdb::walk::*;
        }
    }
    pub mod record {
        pub use crate::record::*;
    }
    #[cfg(feature = "cli")]
    pub mod render {
        pub use crate::render::*;
    }
    #[cfg(feature = "cli")]
    pub mod show {
        pub use crate::show::*;
    }
    pub mod units {
        pub use crate::units::*;
    }
}
