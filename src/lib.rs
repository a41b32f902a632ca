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
//! | read rows of keys as columns | [`rows`], with the feature `cli` |
//! | verify backups | [`check()`] |
//! | save what is sound in a damaged one | [`salvage()`] |
//! | compute a report in parts | [`fleet`] |
//! | compare reports | [`compare()`] |
//! | parse the format itself | [`rdb::Scanner`] |
//!
//! # Features
//!
//! - `cli` (default): the command line and the renderers for tables, HTML, Markdown, CSV and Prometheus.
//! - `parquet` (default): `keys --format parquet`.
//! - `remote`: inputs in object stores and on web servers, `s3://bucket/dump.rdb`.
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
//! wording    texts in English and Chinese
//! error      absolute offset, what was being read, what was wrong
//! near       "did you mean" suggestions
//! words      lines divided as servers do
//! sorting    lists of a report, in little code
//! input      files, pipes, object stores, compression, containers
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
//! rows       rows of keys from the inputs, in chunks
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
pub mod rows;
#[cfg(feature = "cli")]
mod show;
mod sorting;
mod units;
mod wording;
mod words;

/// Reports over many files, computed in parts by several processes.
///
/// [`plan`](fleet::plan) fixes what depends on the whole, [`partial`](fleet::partial) reads some of the files, and a
/// [`PartialMerger`](fleet::PartialMerger) makes one report of the parts: byte for byte that of [`analyze()`] over all files.
pub mod fleet {
    pub use crate::analyze::fleet::{MergeChoices, PartialMerger, PartialReport, partial, plan, read_plan};
    pub use crate::report::fleet::{FirstHead, FleetOptions, FleetPlan, PlannedFile};
}

/// Reports in the forms that the command line writes.
#[cfg(feature = "cli")]
pub mod forms {
    pub use crate::render::json::{write_line, write_pretty};
    pub use crate::render::{Extent, HtmlRenderer, JsonRenderer, Lang, PageNames, Renderer};
}

pub use analyze::check::check;
pub use analyze::records::{OwnedRecord, Records, for_each_record, records};
pub use analyze::salvage::salvage;
pub use analyze::select::{Glob, parse_regex};
pub use analyze::{
    AtDamage, BigLimits, InputCheck, MaskKey, Plan, PolicySource, Progress, ReadPlan, Selection, SlotCounts, Unwatched,
    analyze,
};
pub use error::{Error, ErrorKind, Result};
pub use input::{OpenOptions, StoreSettings};
pub use limits::Budget;
pub use mask::Secret;
pub use memory::{Allocator, Server, ServerConfig, WhatIf};
pub use record::{Encoding, Kind, ModuleFacts, ModuleName, Quantization, Record, StreamFacts};
pub use report::Report;
pub use report::diff::{ComparePlan, Comparison, NamedReport, compare};
pub use units::{Bytes, Millis};

/// Every stage, for the crate's own integration tests and benchmarks. Not part of the API: it changes at any time.
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals {
    macro_rules! expose {
        (rdb: $($name:ident)*) => {
            $(pub mod $name {
                pub use crate::rdb::$name::*;
            })*
        };
        ($($name:ident)*) => {
            $(pub mod $name {
                pub use crate::$name::*;
            })*
        };
    }

    expose!(aggregate analyze error input limits mask memory near pattern policy record units);
    #[cfg(feature = "cli")]
    expose!(cli render show);

    /// Readers of stored reports that commands reach with files only.
    pub mod stored {
        pub use crate::report::diff::baseline::against;
        pub use crate::report::diff::history::history;
    }

    /// Modules of `rdb`, whose own façade is public.
    pub mod rdb {
        expose!(rdb: batch boundary content crc64 cursor file_info header kind lzf opcode packed payload peek resync salvage scan string template value_type verify walk writer);
    }
}
