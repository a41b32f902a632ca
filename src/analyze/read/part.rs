//! Aggregates over one part of a file whose first database may be unknown.
//!
//! Keys before the first database switch of a part belong to the database in which the part before ends. They are
//! collected separately, and settled when the two parts are joined in file order.

use super::schedule::Schedule;
use super::tally::KnownDatabase;
use crate::record::Record;

/// Aggregates of a part of a file, or of many parts.
#[derive(Debug, Clone)]
pub struct FilePart<A> {
    /// Keys whose database is not known yet, observed with the provisional number 0.
    leading: Option<Box<A>>,
    /// All other keys.
    settled: A,
    /// True if rarely needed work is currently deferred.
    defers: bool,
    /// The database in force at the end, if the part itself switches to one.
    db_at_end: Option<u64>,
}

impl<A: Schedule> FilePart<A> {
    /// Creates a part without keys.
    pub fn new(empty: A) -> Self {
        FilePart { leading: None, settled: empty, defers: false, db_at_end: None }
    }

    /// Observes a key; `empty` makes aggregates for keys whose database is not known.
    #[inline]
    pub fn take(&mut self, record: &Record<'_>, known: KnownDatabase, empty: impl FnOnce() -> A) {
        match known {
            KnownDatabase::Yes => self.observe(record),
            KnownDatabase::No => {
                let defers = self.defers;
                let leading = self.leading.get_or_insert_with(|| {
                    let mut leading = Box::new(empty());
                    leading.defer(defers);
                    leading
                });
                leading.observe(record);
            }
        }
    }

    /// Observes a key of a known database.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>) {
        self.settled.observe(record);
    }

    /// Sets the database in force at the end of the part.
    pub fn ends_in(&mut self, db: Option<u64>) {
        self.db_at_end = db.or(self.db_at_end);
    }

    /// Returns the database in force at the end of the part, if known.
    pub fn ends_in_database(&self) -> Option<u64> {
        self.db_at_end
    }

    /// Exchanges hints with other workers; leading keys never count as confirmed. See [`Schedule::exchange_hints`].
    pub fn exchange_hints(&mut self, confirmed: bool) {
        self.settled.exchange_hints(confirmed);
        self.leading.iter_mut().for_each(|leading| leading.exchange_hints(false));
    }

    /// Returns whether look-ahead at names would pay off: see [`Schedule::wants_look_ahead`].
    pub fn wants_look_ahead(&self) -> bool {
        self.settled.wants_look_ahead() || self.leading.as_ref().is_some_and(|leading| leading.wants_look_ahead())
    }

    /// Notes the name of a key that will be observed later: see [`Schedule::look_ahead`].
    pub fn look_ahead(&mut self, record: &Record<'_>, known: KnownDatabase) -> bool {
        match known {
            KnownDatabase::Yes => self.settled.look_ahead(record),
            KnownDatabase::No => self.leading.as_mut().is_some_and(|leading| leading.look_ahead(record)),
        }
    }

    /// Ends the current look-ahead.
    pub fn end_look_ahead(&mut self) {
        self.settled.end_look_ahead();
        self.leading.iter_mut().for_each(|leading| leading.end_look_ahead());
    }

    /// Returns whether rarely needed work can be deferred now: see [`Schedule::can_defer`].
    pub fn can_defer(&self) -> bool {
        self.settled.can_defer()
    }

    /// Starts or stops deferring that work for the keys that follow.
    pub fn defer(&mut self, on: bool) {
        self.defers = on;
        self.settled.defer(on);
        if let Some(leading) = &mut self.leading {
            leading.defer(on);
        }
    }

    /// Estimates the heap bytes of the aggregates.
    pub fn heap_bytes(&self) -> usize {
        self.settled.heap_bytes() + self.leading.as_ref().map_or(0, |leading| leading.heap_bytes())
    }

    /// Joins the part that follows in the file. `wanted` returns whether keys of a database count at all.
    #[must_use]
    pub fn join(mut self, next: Self, wanted: impl Fn(u64) -> bool) -> Self {
        if let Some(mut leading) = next.leading {
            match (self.db_at_end, &mut self.leading) {
                (Some(db), _) if wanted(db) => {
                    leading.settle_database(db);
                    self.settled.merge(*leading);
                }
                (Some(_), _) => {}
                (None, Some(mine)) => mine.merge(*leading),
                (None, None) => self.leading = Some(leading),
            }
        }
        let mut settled = next.settled;
        // Merging commutes, so the small one is added to the large one.
        if settled.heap_bytes() > self.settled.heap_bytes() {
            std::mem::swap(&mut self.settled, &mut settled);
        }
        self.settled.merge(settled);
        self.db_at_end = next.db_at_end.or(self.db_at_end);
        self
    }

    /// Returns the aggregates of the whole file, which begins in database `first`.
    pub fn finish(self, first: u64, empty: impl FnOnce() -> A, wanted: impl Fn(u64) -> bool) -> A {
        let start = FilePart { db_at_end: Some(first), ..FilePart::new(empty()) };
        start.join(self, wanted).settled
    }
}
