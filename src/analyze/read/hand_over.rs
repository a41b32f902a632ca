//! Merges aggregates that exceeded their worker's share of memory.
//!
//! A worker that hands over its aggregates starts afresh, and if names repeat it builds the same nodes again. Where most of
//! what it hands over was already known, this would repeat until the end. So that worker takes everything back and goes on
//! with it, and others that exceed their share wait meanwhile. One worker with a large tree is faster than many that rebuild
//! theirs, and there is no memory for several large ones.

use std::mem;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

use super::found::Collected;
use super::schedule::Schedule;

/// Everything that was handed over.
#[derive(Debug)]
pub struct HandOver<A> {
    state: Mutex<HandOverState<A>>,
    /// Signals that no worker holds it any more.
    released: Condvar,
}

#[derive(Debug)]
struct HandOverState<A> {
    all: Collected<A>,
    /// True if a worker currently holds everything.
    kept: bool,
}

/// Lets a worker exceed its share while it lives.
#[derive(Debug)]
pub struct KeepGuard<'h, A>(&'h HandOver<A>);

impl<A> Drop for KeepGuard<'_, A> {
    fn drop(&mut self) {
        self.0.state().kept = false;
        self.0.released.notify_all();
    }
}

impl<A> HandOver<A> {
    fn state(&self) -> MutexGuard<'_, HandOverState<A>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<A: Schedule> HandOver<A> {
    /// Creates an empty hand-over.
    pub fn new(empty: A) -> Self {
        HandOver {
            state: Mutex::new(HandOverState { all: Collected::new(empty), kept: false }),
            released: Condvar::new(),
        }
    }

    /// Returns everything, after all workers are done.
    pub fn into_all(self) -> Collected<A> {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).all
    }

    /// Takes what a worker collected and leaves it nothing, or gives it everything with the right to keep that. Blocks while
    /// another worker has that right.
    pub fn take(
        &self,
        found: &mut Collected<A>,
        empty: impl Fn() -> A,
        wanted: impl Fn(u64) -> bool,
    ) -> Option<KeepGuard<'_, A>> {
        let mut state = self.state();
        while state.kept {
            state = self.released.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
        let full = mem::replace(found, Collected::new(empty()));
        let before = mem::replace(&mut state.all, Collected::new(empty()));
        let (known, added) = (before.part.heap_bytes(), full.part.heap_bytes());
        let mut all = before.merge(full, wanted);
        // Less than half of what was added is new: a fresh tree would rebuild the same nodes.
        if all.part.heap_bytes() < known.saturating_add(added / 2) {
            *found = all;
            state.kept = true;
            return Some(KeepGuard(self));
        }
        // The worker that starts afresh should have the hints that follow from everything.
        all.part.exchange_hints(true);
        found.part.exchange_hints(true);
        state.all = all;
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::Duration;

    use super::super::part::FilePart;
    use super::*;
    use crate::aggregate::Aggregate;
    use crate::record::Record;

    /// Set of numbers, one byte each.
    #[derive(Debug, Default)]
    struct NumberSet(BTreeSet<usize>);

    impl Aggregate for NumberSet {
        fn observe(&mut self, _: &Record<'_>) {}

        fn merge(&mut self, other: Self) {
            self.0.extend(other.0);
        }
    }

    impl Schedule for NumberSet {
        fn heap_bytes(&self) -> usize {
            self.0.len()
        }
    }

    fn found(numbers: Range<usize>) -> Collected<NumberSet> {
        Collected { part: FilePart::new(NumberSet(numbers.collect())), ..Collected::new(NumberSet::default()) }
    }

    /// Returns the number of entries left to a worker that has handed over, and the guard if it keeps everything.
    fn take<'h>(all: &'h HandOver<NumberSet>, numbers: Range<usize>) -> (usize, Option<KeepGuard<'h, NumberSet>>) {
        let mut found = found(numbers);
        let keeping = all.take(&mut found, NumberSet::default, |_| true);
        (found.part.heap_bytes(), keeping)
    }

    #[test]
    fn a_worker_that_hands_over_known_names_keeps_everything() {
        let all = HandOver::new(NumberSet::default());
        assert!(matches!(take(&all, 0..10), (0, None)));
        assert!(matches!(take(&all, 5..15), (0, None)));
        let (left, keeping) = take(&all, 2..14);
        assert!(left == 15 && keeping.is_some());
        drop(keeping);
        // A kept aggregate is handed over again at the end, or never.
        assert!(matches!(take(&all, 2..14), (0, None)));
        assert_eq!(all.into_all().part.heap_bytes(), 12);
    }

    #[test]
    fn other_workers_wait_for_the_one_that_keeps_everything() {
        let all = HandOver::new(NumberSet::default());
        take(&all, 0..10);
        let (_, keeping) = take(&all, 0..10);
        let released = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let other = scope.spawn(|| {
                take(&all, 0..10);
                released.load(Ordering::SeqCst)
            });
            std::thread::sleep(Duration::from_millis(20));
            released.store(true, Ordering::SeqCst);
            drop(keeping);
            assert!(other.join().unwrap());
        });
    }
}
