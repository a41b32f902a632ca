//! What one part of a file adds to the whole, when the part may have begun before its database was known.
//!
//! Keys in front of a part's first database switch belong to the database that the part before ends with. They are
//! collected apart, and settled when the two parts are joined in file order.

use super::reader::KnownDatabase;
use crate::aggregate::Aggregate;
use crate::record::Record;

/// The aggregates of a part of a file, or of many parts.
#[derive(Debug, Clone)]
pub struct Part<A> {
    /// Keys whose database is not known yet; they were observed with the provisional number 0.
    leading: Option<Box<A>>,
    /// Everything else.
    settled: A,
    /// Keys are only skimmed at present.
    skims: bool,
    /// The database in force where the part ends, if the part itself tells.
    db_at_end: Option<u64>,
}

impl<A: Aggregate> Part<A> {
    /// A part without keys.
    pub fn new(empty: A) -> Self {
        Part { leading: None, settled: empty, skims: false, db_at_end: None }
    }

    /// Takes a key into account; `empty` makes aggregates for keys whose database is not known.
    #[inline]
    pub fn take(&mut self, record: &Record<'_>, known: KnownDatabase, empty: impl FnOnce() -> A) {
        match known {
            KnownDatabase::Yes => self.observe(record),
            KnownDatabase::No => {
                let skims = self.skims;
                let leading = self.leading.get_or_insert_with(|| {
                    let mut leading = Box::new(empty());
                    leading.skim(skims);
                    leading
                });
                leading.observe(record);
            }
        }
    }

    /// Takes a key of a known database into account.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>) {
        self.settled.observe(record);
    }

    /// Says which database was in force where the part ended.
    pub fn ends_in(&mut self, db: Option<u64>) {
        self.db_at_end = db.or(self.db_at_end);
    }

    /// The database in force where the part ends, if it tells.
    pub fn ends_in_database(&self) -> Option<u64> {
        self.db_at_end
    }

    /// Tells and hears what others of the run are to know: see [`Aggregate::share`]. Keys whose database is not known may not count.
    pub fn share(&mut self, counts: bool) {
        self.settled.share(counts);
        self.leading.iter_mut().for_each(|leading| leading.share(false));
    }

    /// Whether names are wanted in front of keys: see [`Aggregate::wants_names`].
    pub fn wants_names(&self) -> bool {
        self.settled.wants_names() || self.leading.as_ref().is_some_and(|leading| leading.wants_names())
    }

    /// Takes note of the name of a key that will come: see [`Aggregate::foresee`].
    pub fn foresee(&mut self, record: &Record<'_>, known: KnownDatabase) -> bool {
        match known {
            KnownDatabase::Yes => self.settled.foresee(record),
            KnownDatabase::No => self.leading.as_mut().is_some_and(|leading| leading.foresee(record)),
        }
    }

    /// Says that no more names will be shown for now.
    pub fn has_names(&mut self) {
        self.settled.has_names();
        self.leading.iter_mut().for_each(|leading| leading.has_names());
    }

    /// Has the keys that follow only skimmed, if that is allowed and possible: see [`Aggregate::skim`]. Returns whether they will be.
    pub fn skim(&mut self, allowed: bool) -> bool {
        self.skims = allowed && self.settled.can_skim();
        self.settled.skim(self.skims);
        if let Some(leading) = &mut self.leading {
            leading.skim(self.skims);
        }
        self.skims
    }

    /// About how many bytes of memory the aggregates have grown to.
    pub fn heap_bytes(&self) -> usize {
        self.settled.heap_bytes() + self.leading.as_ref().map_or(0, |leading| leading.heap_bytes())
    }

    /// Joins the part that follows in the file. `wanted` says whether keys of a database count at all.
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
        // Either way is the same: what is small is added to what is large.
        if settled.heap_bytes() > self.settled.heap_bytes() {
            std::mem::swap(&mut self.settled, &mut settled);
        }
        self.settled.merge(settled);
        self.db_at_end = next.db_at_end.or(self.db_at_end);
        self
    }

    /// The aggregates of the whole file, which begins in database `first`.
    pub fn finish(self, first: u64, empty: impl FnOnce() -> A, wanted: impl Fn(u64) -> bool) -> A {
        let start = Part { db_at_end: Some(first), ..Part::new(empty()) };
        start.join(self, wanted).settled
    }
}
