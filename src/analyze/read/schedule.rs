//! Scheduling hooks: how reading adapts to a worker's aggregates.

use crate::aggregate::Aggregate;
use crate::record::Record;

/// Scheduling hooks of the aggregates that a worker fills; none of them changes a result.
///
/// The defaults suit aggregates of bounded size.
pub trait Schedule: Aggregate {
    /// Estimates the heap bytes held; 0 if they are bounded whatever was observed.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// Exchanges hints that save work with the other workers of the run.
    ///
    /// Hints are given only if the keys observed so far are `confirmed` to count; they are always taken.
    fn exchange_hints(&mut self, confirmed: bool) {
        let _ = confirmed;
    }

    /// Returns whether look-ahead at key names would pay off now.
    fn wants_look_ahead(&self) -> bool {
        false
    }

    /// Notes the name of a key that will be observed later. Returns whether it is new.
    fn look_ahead(&mut self, record: &Record<'_>) -> bool {
        let _ = record;
        false
    }

    /// Ends the current look-ahead.
    fn end_look_ahead(&mut self) {}

    /// Returns whether rarely needed work (slots) can be deferred to a second pass now.
    fn can_defer(&self) -> bool {
        false
    }

    /// Starts or stops deferring that work for the keys that follow.
    fn defer(&mut self, on: bool) {
        let _ = on;
    }
}
