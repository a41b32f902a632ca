//! Runs of keys of one database of one file.
//!
//! Several aggregates need the same sums of each key: they are added up once per run (sums, expiries by the time left, slots)
//! and handed to these aggregates where the run ends.

use super::Aggregate;
use super::slot_counts::{SLOTTED_DATABASES, SlotCounts};
use super::time_left::TimeLeft;
use super::usual::UsualKeys;
use crate::record::{Kind, Record};
use crate::report::Weight;
use crate::units::{Bytes, Millis};

/// Databases from this number on share the row of this number.
pub const SHARED_FROM: u64 = 65_536;

/// Sums over consecutive keys of one database of one file.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Position of the file among the inputs.
    pub file: usize,
    /// The database; those from [`SHARED_FROM`] on count as one.
    pub db: u64,
    /// Bytes in the file.
    pub disk: Bytes,
    /// Bytes of the names.
    pub name_bytes: Bytes,
    /// Bytes allocated.
    pub allocated: Bytes,
    /// Elements of all.
    pub elements: u64,
    /// Keys and memory by the time left.
    pub left: TimeLeft,
    /// Keys and expiries by slot, where they are counted.
    pub slots: SlotCounts,
}

impl Run {
    /// Returns all keys.
    pub fn all(&self) -> Weight {
        let mut all = Weight::default();
        self.left.classes.iter().for_each(|class| all.merge(*class));
        all
    }

    /// Returns the number of keys with an expiry.
    pub fn expiring(&self) -> u64 {
        self.all().keys - self.left.without_ttl().keys
    }
}

/// Elements of a collection; a string is one element, a module that does not tell has none.
#[inline]
pub fn elements(record: &Record<'_>) -> u64 {
    match record.kind {
        Kind::String => 1,
        Kind::List | Kind::Set | Kind::Zset | Kind::Hash | Kind::Stream | Kind::Module | Kind::Array => {
            record.length.unwrap_or(0)
        }
    }
}

/// An aggregate over runs.
pub trait ByRun: Sized {
    /// Adds a run; may take the slots out of it.
    fn add(&mut self, run: &mut Run);

    /// Adds everything that `other` was given.
    fn merge(&mut self, other: Self);

    /// Assigns all runs so far to database `db`.
    fn settle_database(&mut self, db: u64) {
        let _ = db;
    }
}

/// Cuts records into runs for an aggregate over runs.
#[derive(Debug, Clone)]
pub struct Runs<A> {
    reference: Option<Millis>,
    slotted: bool,
    run: Run,
    answer: A,
}

impl<A: ByRun> Runs<A> {
    /// Creates an empty aggregate. Expiries are compared with `reference`; `slotted` tells whether slots are counted.
    pub fn new(reference: Option<Millis>, slotted: bool, answer: A) -> Self {
        Runs { reference, slotted, run: Run::default(), answer }
    }

    /// Ends the last run and returns the aggregate over runs.
    pub fn finish(mut self) -> A {
        self.end_run();
        self.answer
    }

    /// Returns the heap bytes of the current run, and the aggregate over the runs before.
    pub fn heap_bytes(&self) -> (usize, &A) {
        (self.run.slots.heap_bytes(), &self.answer)
    }

    /// Counts the slot of the key observed last, where slots are counted.
    #[inline]
    pub fn count_slot(&mut self, record: &Record<'_>, slot: u16) {
        // Also under a provisional database: whether slots are of use is decided when it is known.
        if self.slotted && self.run.db < SLOTTED_DATABASES {
            self.run.slots.add(slot, record.expires_at.is_some());
        }
    }

    /// Returns whether a key belongs to the current run.
    #[inline]
    pub fn go_on(&self, record: &Record<'_>) -> bool {
        record.db.min(SHARED_FROM) == self.run.db && record.file == self.run.file
    }

    /// Adds the expiry of a usual key, if it has one; [`Runs::add_usual`] adds the rest later.
    #[inline]
    pub fn time(&mut self, record: &Record<'_>) {
        debug_assert!(self.go_on(record));
        if record.expires_at.is_some() {
            self.run.left.add(record.expires_at, self.reference, record.memory);
        }
    }

    /// Adds usual keys of this run.
    pub fn add_usual(&mut self, keys: &UsualKeys) {
        let (run, sums) = (&mut self.run, &keys.sums);
        run.disk += sums.disk;
        run.name_bytes += sums.name_bytes;
        run.allocated += sums.allocated;
        run.elements = run.elements.saturating_add(keys.elements());
        if !keys.expires {
            run.left.add_without_ttl(sums.keys);
        }
    }

    #[cold]
    fn start_run(&mut self, file: usize, db: u64) {
        self.end_run();
        (self.run.file, self.run.db) = (file, db);
    }

    fn end_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        if run.all().keys > 0 {
            self.answer.add(&mut run);
        }
    }
}

impl<A: ByRun> Aggregate for Runs<A> {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        if !self.go_on(record) {
            self.start_run(record.file, record.db.min(SHARED_FROM));
        }
        let run = &mut self.run;
        run.disk += record.disk;
        run.name_bytes += Bytes(record.key.len() as u64);
        run.allocated += record.allocated;
        run.elements = run.elements.saturating_add(elements(record));
        run.left.add(record.expires_at, self.reference, record.memory);
    }

    fn merge(&mut self, other: Self) {
        self.answer.merge(other.finish());
    }

    fn settle_database(&mut self, db: u64) {
        self.end_run();
        self.answer.settle_database(db);
    }
}
