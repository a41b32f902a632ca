//! Runs: consecutive keys of one database of one file.
//!
//! Several aggregates need the same sums (totals, expiries by the time left, slots). They are added up once per run and
//! passed to these aggregates when the run ends.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Aggregate;
use super::slot_counts::{SLOTTED_DATABASES, SlotCounts};
use super::time_left::TimeLeft;
use super::usual::UsualKeys;
use crate::record::{Kind, Record};
use crate::report::Weight;
use crate::units::{Bytes, Millis, ReferenceTimes};

/// First database number that shares a row: all databases from here on are counted under this number.
pub const SHARED_FROM: u64 = 65_536;

/// Sums over consecutive keys of one database of one file.
#[derive(Debug, Clone, Default)]
pub struct KeyRun {
    /// Position of the file among the inputs.
    pub file: usize,
    /// Number of the database; those from [`SHARED_FROM`] on count as one.
    pub db: u64,
    /// Bytes in the file.
    pub disk: Bytes,
    /// Bytes of the key names.
    pub name_bytes: Bytes,
    /// Bytes that the allocator hands out.
    pub allocated: Bytes,
    /// Number of elements.
    pub elements: u64,
    /// Number of hashes with expiring fields.
    pub with_expiring_fields: u64,
    /// Keys and memory by the time left.
    pub left: TimeLeft,
    /// Keys without an expiry that are hashes all of whose fields have one.
    pub fields_expire: Weight,
    /// Keys and expiries by slot, where they are counted.
    pub slots: SlotCounts,
}

impl KeyRun {
    /// Returns the number and memory of all keys.
    pub fn all(&self) -> Weight {
        let mut all = Weight::default();
        self.left.classes.iter().for_each(|class| all.merge(*class));
        all
    }

    /// Counts a hash with fields that expire, and whether it is deleted with the last of them though it has no expiry.
    #[inline]
    fn add_field_expiries(&mut self, record: &Record<'_>) {
        let Some(fields) = record.fields_with_ttl else { return };
        self.with_expiring_fields += u64::from(fields > 0);
        if record.expires_at.is_none() && record.is_to_expire() {
            self.fields_expire.add(record.memory);
        }
    }

    /// Returns the number of keys with an expiry.
    pub fn expiring(&self) -> u64 {
        self.all().keys - self.left.without_ttl().keys
    }
}

/// Returns the number of elements of a value: one for a string, 0 for a module that does not report a length.
#[inline]
pub fn elements(record: &Record<'_>) -> u64 {
    match record.kind {
        Kind::String => 1,
        Kind::List | Kind::Set | Kind::Zset | Kind::Hash | Kind::Stream | Kind::Module | Kind::Array => {
            record.summed_length()
        }
    }
}

/// An aggregate over runs.
pub trait ByRun: Sized {
    /// Adds a run; may take the slot counts out of it.
    fn add(&mut self, run: &mut KeyRun);

    /// Adds all runs of `other`.
    fn merge(&mut self, other: Self);

    /// Assigns all runs added so far to database `db`.
    fn settle_database(&mut self, db: u64) {
        let _ = db;
    }
}

/// Splits records into runs for an aggregate over runs.
#[derive(Debug, Clone)]
pub struct Runs<A> {
    references: ReferenceTimes,
    /// Time of the file of the current run.
    reference: Option<Millis>,
    slotted: bool,
    run: KeyRun,
    answer: A,
}

impl<A: ByRun> Runs<A> {
    /// Creates an empty aggregate. Expiries are compared with `references`; slots are counted if `slotted`.
    pub fn new(references: impl Into<ReferenceTimes>, slotted: bool, answer: A) -> Self {
        let references = references.into();
        let run = KeyRun::default();
        Runs { reference: references.of(run.file), references, slotted, run, answer }
    }

    /// Ends the last run and returns the aggregate over runs.
    pub fn finish(mut self) -> A {
        self.end_run();
        self.answer
    }

    /// Returns the heap bytes of the current run, and the aggregate over the runs before it.
    pub fn heap_bytes(&self) -> (usize, &A) {
        (self.run.slots.heap_bytes(), &self.answer)
    }

    /// Counts the slot of the key observed last, if slots are counted.
    #[inline]
    pub fn count_slot(&mut self, record: &Record<'_>, slot: u16) {
        // A provisional database counts too; whether its slots are needed is decided when the number is known.
        if self.slotted && self.run.db < SLOTTED_DATABASES {
            self.run.slots.add(slot, record.expires_at.is_some());
        }
    }

    /// Returns the position of the file of the current run.
    pub fn file(&self) -> usize {
        self.run.file
    }

    /// Returns whether a key belongs to the current run.
    #[inline]
    pub fn continues_run(&self, record: &Record<'_>) -> bool {
        record.db.min(SHARED_FROM) == self.run.db && record.file == self.run.file
    }

    /// Adds the expiries of a usual key and of its fields, if it has any; [`Runs::add_usual`] adds its sums later.
    #[inline]
    pub fn add_expiry(&mut self, record: &Record<'_>) {
        debug_assert!(self.continues_run(record));
        self.run.add_field_expiries(record);
        if record.expires_at.is_some() {
            self.run.left.add(record.expires_at, (self.reference, self.references.report), record.memory, record.disk);
        }
    }

    /// Adds the sums of usual keys of this run.
    pub fn add_usual(&mut self, keys: &UsualKeys) {
        let (run, sums) = (&mut self.run, &keys.sums);
        run.disk += sums.disk;
        run.name_bytes += sums.name_bytes;
        run.allocated += sums.allocated;
        run.elements = run.elements.saturating_add(keys.elements());
        // Keys with an expiry were counted by `add_expiry`, one by one.
        if !keys.expires {
            run.left.add_without_ttl(sums.keys);
        }
    }

    #[cold]
    fn start_run(&mut self, file: usize, db: u64) {
        self.end_run();
        (self.run.file, self.run.db) = (file, db);
        self.reference = self.references.of(file);
    }

    fn end_run(&mut self) {
        let mut run = std::mem::take(&mut self.run);
        self.reference = self.references.of(self.run.file);
        if run.all().keys > 0 {
            self.answer.add(&mut run);
        }
    }
}

/// Writes the aggregate over runs after the last run has ended.
impl<A: ByRun + Clone + Serialize> Serialize for Runs<A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.clone().finish().serialize(serializer)
    }
}

impl<'de, A: ByRun + Deserialize<'de>> Deserialize<'de> for Runs<A> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Runs::new(None, false, A::deserialize(deserializer)?))
    }
}

impl<A: ByRun> Aggregate for Runs<A> {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        if !self.continues_run(record) {
            self.start_run(record.file, record.db.min(SHARED_FROM));
        }
        let run = &mut self.run;
        run.disk += record.disk;
        run.name_bytes += Bytes(record.key.len() as u64);
        run.allocated += record.allocated;
        run.elements = run.elements.saturating_add(elements(record));
        run.add_field_expiries(record);
        run.left.add(record.expires_at, (self.reference, self.references.report), record.memory, record.disk);
    }

    fn merge(&mut self, other: Self) {
        self.answer.merge(other.finish());
    }

    fn settle_database(&mut self, db: u64) {
        self.end_run();
        self.answer.settle_database(db);
    }
}
