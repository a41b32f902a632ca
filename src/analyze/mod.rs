//! From inputs to a report.
//!
//! ```text
//!                        ┌ mapped files ─ chunks ──┬─ records ─ Aggregates ─┬─ join ─ finish ─ Report
//! Snapshot::open ─ Feed ─┤                         ├─ … one line per worker │
//!                        └ others ─────── batches ─┴─ records ─ Aggregates ─┘
//! ```
//!
//! `read` is everything up to the joined aggregates, `assemble` makes the report of them. Each command has one file:
//! `run` (`analyze`), `check`, `records`, `rows` and `row_filter` (`keys`), `one_key` (`show`), `salvage`.

pub mod aggregates;
mod assemble;
pub mod check;
pub mod files;
mod findings;
pub mod first_pass;
pub mod fleet;
pub mod key_diff;
mod key_places;
mod names;
#[cfg(feature = "cli")]
pub mod nights;
pub mod one_key;
mod outcome;
pub mod plan;
mod questions;
pub mod read;
pub mod records;
pub mod row_filter;
pub mod rows;
mod run;
pub mod salvage;
#[cfg(feature = "cli")]
pub mod second_reader;
pub mod select;
pub mod verdict;

#[cfg(test)]
pub(crate) use assemble::examples;
pub use plan::{AtDamage, BigLimits, InputCheck, MaskKey, Plan, PolicySource, ReadPlan, SlotCounts};
#[cfg(feature = "internals")]
pub use questions::questions_of;
pub(crate) use read::parallel::pool;
pub use read::progress::{Progress, Unwatched};
pub use read::snapshot::Snapshot;
pub use run::analyze;
pub use select::Selection;
