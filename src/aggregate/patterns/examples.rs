//! Example keys of a pattern: the few heaviest, stored compactly, each name copied once.

use serde::{Deserialize, Serialize};

use crate::aggregate::parts::RankedKey;
use crate::pattern::kept_name::{self, MAX_EXAMPLE_LEN};
use crate::record::Record;
use crate::report::{Example, Key};
use crate::units::Bytes;

/// Examples shown for keys without expiry and for each rule.
const EXAMPLES: usize = 3;

/// The few heaviest of all keys offered, heaviest first: a [`TopList`](crate::aggregate::parts::TopList) in less
/// memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Examples(Vec<RankedKey<()>>);

impl Examples {
    #[inline]
    pub fn offer(&mut self, candidate: &mut Candidate<'_>) {
        if self.takes(candidate) {
            self.insert(candidate.ranked());
        }
    }

    /// Returns whether the key may enter the list; errs on the side of true.
    #[inline]
    pub fn takes(&self, candidate: &mut Candidate<'_>) -> bool {
        self.0.len() < EXAMPLES || self.0.last().is_none_or(|last| candidate.is_before(last))
    }

    /// Returns the last example of a full list.
    pub fn last(&self) -> Option<&RankedKey<()>> {
        self.0.get(EXAMPLES - 1)
    }

    fn insert(&mut self, entry: RankedKey<()>) {
        let at = self.0.partition_point(|kept| *kept > entry);
        if at >= EXAMPLES {
            return;
        }
        self.0.truncate(EXAMPLES - 1);
        // Hundreds of thousands of these lists exist, so they never get spare capacity.
        self.0.reserve_exact(1);
        self.0.insert(at, entry);
    }

    pub fn merge(&mut self, other: Examples) {
        for entry in other.0 {
            self.insert(entry);
        }
    }

    /// Assigns all examples to database `db`. They all had the same provisional one before, so their order stays.
    pub fn settle_database(&mut self, db: u64) {
        self.0.iter_mut().for_each(|entry| entry.db = db);
    }

    pub fn show(&self) -> Vec<Example> {
        self.0.iter().map(example).collect()
    }
}

/// A key offered to several lists, whose name is copied at most once for all of them.
///
/// Caches the last comparison: lists of rules that are broken by the same keys often end with the same example.
pub(super) struct Candidate<'a> {
    pub record: &'a Record<'a>,
    ranked: Option<RankedKey<()>>,
    /// Name of the last comparison, by its address, and the result.
    compared: Option<(*const u8, bool)>,
}

impl<'a> Candidate<'a> {
    pub fn new(record: &'a Record<'a>) -> Self {
        Candidate { record, ranked: None, compared: None }
    }

    /// Returns whether the key is listed before an example.
    #[inline]
    pub fn is_before(&mut self, entry: &RankedKey<()>) -> bool {
        if self.record.memory.0 < entry.weight {
            return false; // the common case
        }
        let place = entry.key.as_ptr();
        match self.compared {
            Some((compared, before)) if compared == place => before,
            _ => {
                let before = is_before(self.record, entry);
                self.compared = Some((place, before));
                before
            }
        }
    }

    /// Returns the key as an example.
    pub fn ranked(&mut self) -> RankedKey<()> {
        self.ranked.get_or_insert_with(|| ranked(self.record)).clone()
    }
}

/// Returns the first eight bytes of a name as a big-endian number, which orders names as their bytes do.
#[inline]
fn beginning(name: &[u8]) -> u64 {
    let first = name.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded.iter_mut().zip(name).for_each(|(byte, of_name)| *byte = *of_name);
        padded
    });
    u64::from_be_bytes(first)
}

fn ranked(record: &Record<'_>) -> RankedKey<()> {
    let key = kept_name::stored(record.key, MAX_EXAMPLE_LEN).as_ref().into();
    RankedKey { weight: record.memory.0, db: record.db, key, facts: () }
}

/// Returns whether a key is listed before an example, without copying its name; always true for a cut name of no lower
/// weight.
#[inline]
fn is_before(record: &Record<'_>, entry: &RankedKey<()>) -> bool {
    let order = record.memory.0.cmp(&entry.weight).then(entry.db.cmp(&record.db));
    order.then_with(|| entry.key.as_ref().cmp(kept_name::beginning(record.key, MAX_EXAMPLE_LEN))).is_gt()
        || record.key.len() > MAX_EXAMPLE_LEN
}

pub(super) fn example(entry: &RankedKey<()>) -> Example {
    Example { db: entry.db, key: Key::kept(&entry.key, MAX_EXAMPLE_LEN), memory: Bytes(entry.weight).known() }
}

/// Threshold for new examples among keys that break no other rules than `rules`.
///
/// A lighter key than `shown` is no example, nor is one of the same weight and database `db` whose name sorts after
/// `beginning`.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExampleThreshold {
    /// Rules that the keys may break.
    rules: u64,
    /// Lowest weight in the full lists; no lighter key becomes an example.
    shown: u64,
    /// Database of the entry with that weight.
    db: u64,
    /// First bytes of its name, big-endian; `u64::MAX` if several databases have that weight.
    beginning: u64,
}

impl Default for ExampleThreshold {
    /// Creates a threshold that any key may pass.
    fn default() -> Self {
        ExampleThreshold { rules: 0, shown: 0, db: 0, beginning: u64::MAX }
    }
}

impl ExampleThreshold {
    /// Creates a threshold that no key passes which breaks only these rules, to be [lowered](ExampleThreshold::lower_to).
    pub fn above_all(rules: u64) -> ExampleThreshold {
        ExampleThreshold { rules, shown: u64::MAX, ..ExampleThreshold::default() }
    }

    /// Returns true if a key is certainly no example.
    #[inline]
    pub fn excludes(&self, record: &Record<'_>, rules: u64) -> bool {
        let comes_behind = || record.db == self.db && beginning(record.key) > self.beginning;
        let memory = record.memory.0;
        // A key that breaks fewer rules is offered to fewer lists.
        rules & !self.rules == 0 && (memory < self.shown || memory == self.shown && comes_behind())
    }

    /// Lowers the threshold to the last entry of a full list.
    #[inline]
    pub fn lower_to(&mut self, last: &RankedKey<()>) {
        if last.weight < self.shown {
            (self.shown, self.db, self.beginning) = (last.weight, last.db, beginning(&last.key));
        } else if last.weight == self.shown {
            let same = last.db == self.db;
            self.beginning = if same { self.beginning.max(beginning(&last.key)) } else { u64::MAX };
        }
    }
}
