//! Answers that are collected over all keys, one question a file.
//!
//! Every aggregate is a commutative monoid, and two laws are tested for each: splitting the records anyhow and
//! merging gives the same value, and merging in either order does too. So a report cannot depend on the number
//! of threads. Inside are integers only; shares and means are computed when the report is made.

pub mod breakdown;
pub mod databases;
pub mod expiry;
pub mod idle;
pub mod instance;
mod key_row;
pub mod parts;
pub mod patterns;
pub mod runs;
pub mod sizes;
pub mod slots;
pub mod streams;
#[cfg(test)]
pub mod testing;
pub mod top_keys;
pub mod totals;
pub mod usual;
pub mod violations;
pub mod what_if;

use crate::record::Record;

/// One question about all keys.
pub trait Aggregate: Sized {
    /// Takes one key into account.
    fn observe(&mut self, record: &Record<'_>);

    /// Takes everything into account that `other` has seen.
    fn merge(&mut self, other: Self);

    /// Tells others of the run what makes their work shorter, if what it has seen `counts` for sure, and hears what they told. Takes no
    /// key into account.
    fn share(&mut self, counts: bool) {
        let _ = counts;
    }

    /// Whether it would be worth its while, at present, to be told the names of keys in front of the keys.
    fn wants_names(&self) -> bool {
        false
    }

    /// Is told the name of a key that will be observed later. Takes no key into account. Returns whether it learnt from it.
    fn foresee(&mut self, record: &Record<'_>) -> bool {
        let _ = record;
        false
    }

    /// Knows that it will not be told more names for now.
    fn has_names(&mut self) {}

    /// Whether there is something, at present, that may be left out of keys: it takes long, is asked for seldom, and can be had by
    /// reading the keys again.
    fn can_skim(&self) -> bool {
        false
    }

    /// Leaves that out of the keys that follow, or no longer.
    fn skim(&mut self, on: bool) {
        let _ = on;
    }

    /// About how many bytes of memory it has grown to; 0 for what is small whatever it has seen.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// Says that every record seen so far was of database `db`: a part of a file that was read before its database
    /// was known gives its records the provisional number 0 and calls this when the part before it is merged.
    fn settle_database(&mut self, db: u64) {
        let _ = db;
    }
}
