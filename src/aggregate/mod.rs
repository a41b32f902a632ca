//! Aggregates: one question about all keys per file, and the state that answers it.
//!
//! Every aggregate is a commutative monoid, so a report cannot depend on the number of threads. All state is integers;
//! shares and means are computed when the report is made.
//!
//! To add an aggregate, write its file, a `mod` line here, and a line in the list of `analyze/aggregates/list.rs` that
//! names the field of the report it fills in.

pub mod breakdown;
pub mod databases;
pub mod expiry;
pub mod freq;
pub mod idle;
pub mod instance;
mod key_row;
pub mod parts;
pub mod patterns;
pub mod runs;
pub mod sizes;
pub mod slot_counts;
pub mod slots;
pub mod streams;
pub mod strings;
pub mod sums;
pub mod templates;
#[cfg(test)]
pub mod testing;
pub mod time_left;
pub mod top_keys;
pub mod totals;
pub mod usual;
pub mod violations;
pub mod what_if;

use crate::record::Record;

/// State that answers one question about all keys.
///
/// Two laws hold for every implementation: splitting the records in any way and merging gives the same value, and so
/// does merging in either order.
pub trait Aggregate: Sized {
    /// Adds one key.
    fn observe(&mut self, record: &Record<'_>);

    /// Adds everything that `other` has observed.
    fn merge(&mut self, other: Self);

    /// Assigns all keys observed so far to database `db`.
    ///
    /// A part of a file that was read before its database was known gives its records the provisional number 0; this is
    /// called when the part before it is merged.
    fn settle_database(&mut self, db: u64) {
        let _ = db;
    }
}
