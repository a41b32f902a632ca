//! Keys come in runs of one database of one file. What several questions ask of each key is added up once, a run at a
//! time, and handed to them where the run ends: sums, expiries by the time left, slots.

use super::Aggregate;
use super::databases::{Databases, SHARED_FROM};
use super::expiry::{Expiry, Left};
use super::instance::{Instance, SLOTTED_DATABASES, SlotCounts};
use super::parts::Tally;
use super::totals::{Totals, elements};
use super::usual::UsualKeys;
use crate::record::Record;
use crate::units::{Bytes, Millis};

/// Keys of one database of one file, one after the other.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Position of the file among the inputs.
    pub file: usize,
    /// The database; those from [`SHARED_FROM`] on are one.
    pub db: u64,
    /// Bytes in the file.
    pub disk: Bytes,
    /// Bytes of the names.
    pub name_bytes: Bytes,
    /// What the allocator gives.
    pub allocated: Bytes,
    /// Elements of all.
    pub elements: u64,
    /// Keys and memory by the time they have left.
    pub left: Left,
    /// Keys and expiries by slot, where they are counted.
    pub slots: SlotCounts,
}

impl Run {
    /// Keys, and their memory.
    pub fn all(&self) -> Tally {
        let mut all = Tally::default();
        self.left.classes.iter().for_each(|class| all.merge(*class));
        all
    }

    /// Keys that have an expiry.
    pub fn expiring(&self) -> u64 {
        self.all().keys - self.left.without_ttl().keys
    }
}

/// A question that is answered from runs.
pub trait ByRun: Sized {
    /// Takes a run into account, and what it likes out of it.
    fn add(&mut self, run: &mut Run);

    /// Takes everything into account that `other` has been given.
    fn merge(&mut self, other: Self);

    /// Says that all runs so far were of database `db`.
    fn settle_database(&mut self, db: u64) {
        let _ = db;
    }
}

/// Collects runs for a question.
#[derive(Debug, Clone)]
pub struct Runs<A> {
    reference: Option<Millis>,
    slotted: bool,
    run: Run,
    answer: A,
}

impl<A: ByRun> Runs<A> {
    /// Nothing yet. Expiries will be held against `reference`; `slotted` says whether slots are counted.
    pub fn new(reference: Option<Millis>, slotted: bool, answer: A) -> Self {
        Runs { reference, slotted, run: Run::default(), answer }
    }

    /// What was asked.
    pub fn finish(mut self) -> A {
        self.end_run();
        self.answer
    }

    /// About how many bytes of memory the run has grown to, and what has been answered.
    pub fn heap_bytes(&self) -> (usize, &A) {
        (self.run.slots.heap_bytes(), &self.answer)
    }

    /// Counts the slot of the key that was observed last, where slots are counted.
    #[inline]
    pub fn count_slot(&mut self, record: &Record<'_>, slot: u16) {
        // Slots of a database that is known late are counted, too: whether they are of use is seen when it is known.
        if self.slotted && self.run.db < SLOTTED_DATABASES {
            self.run.slots.add(slot, record.expires_at.is_some());
        }
    }

    /// Whether a key is of the same database of the same file as the last one.
    #[inline]
    pub fn go_on(&self, record: &Record<'_>) -> bool {
        record.db.min(SHARED_FROM) == self.run.db && record.file == self.run.file
    }

    /// Takes the expiry of a usual key into account, if it has one, and leaves the rest to [`Runs::add_usual`].
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

/// All that is answered from runs.
#[derive(Debug, Clone)]
pub struct Sums {
    /// How much there is.
    pub totals: Totals,
    /// How much each database holds.
    pub databases: Databases,
    /// How long keys have left.
    pub expiry: Expiry,
    /// What the tables of the servers are computed from.
    pub instance: Instance,
}

impl Sums {
    /// Nothing yet.
    pub fn new(reference: Option<Millis>) -> Self {
        Sums {
            totals: Totals::default(),
            databases: Databases::default(),
            expiry: Expiry::new(reference),
            instance: Instance::default(),
        }
    }
}

impl ByRun for Sums {
    fn add(&mut self, run: &mut Run) {
        self.totals.add(run);
        self.databases.add(run);
        self.expiry.add(run);
        self.instance.add(run);
    }

    fn merge(&mut self, other: Self) {
        self.totals.merge(other.totals);
        self.databases.merge(other.databases);
        self.expiry.merge(other.expiry);
        self.instance.merge(other.instance);
    }

    fn settle_database(&mut self, db: u64) {
        self.databases.settle_database(db);
        self.instance.settle_database(db);
    }
}
