//! The heaviest keys of a pattern, as examples: few, in little memory, each name copied once.

use crate::aggregate::parts::Ranked;
use crate::record::Record;
use crate::report::Example;
use crate::units::Bytes;

/// Examples shown for keys without expiry and for each rule.
const EXAMPLES: usize = 3;

/// Longer names are kept as examples only up to here, with `…` behind: the examples are copies, there are many.
pub(super) const LONGEST_EXAMPLE: usize = 1024;

/// The few heaviest of all keys offered, heaviest first: [`Top`](crate::aggregate::parts::Top) in less memory.
#[derive(Debug, Clone, Default)]
pub(super) struct Examples(Vec<Ranked<()>>);

impl Examples {
    #[inline]
    pub fn offer(&mut self, candidate: &mut Candidate<'_>) {
        if self.takes(candidate) {
            self.insert(candidate.ranked());
        }
    }

    /// Whether the key would be one of them. In doubt yes.
    #[inline]
    pub fn takes(&self, candidate: &mut Candidate<'_>) -> bool {
        self.0.len() < EXAMPLES || self.0.last().is_none_or(|last| candidate.is_before(last))
    }

    /// The last one, if there are as many as will be.
    pub fn last(&self) -> Option<&Ranked<()>> {
        self.0.get(EXAMPLES - 1)
    }

    fn insert(&mut self, entry: Ranked<()>) {
        let at = self.0.partition_point(|kept| *kept > entry);
        if at >= EXAMPLES {
            return;
        }
        self.0.truncate(EXAMPLES - 1);
        self.0.reserve_exact(1);
        self.0.insert(at, entry);
    }

    pub fn merge(&mut self, other: Examples) {
        for entry in other.0 {
            self.insert(entry);
        }
    }

    /// All entries had the same database before, so their order stays.
    pub fn settle_database(&mut self, db: u64) {
        self.0.iter_mut().for_each(|entry| entry.db = db);
    }

    pub fn show(&self) -> Vec<Example> {
        self.0.iter().map(example).collect()
    }
}

/// A key that several lists are offered: its name is copied once for all of them, and mostly never. Lists of rules that the
/// same keys break end with the same example, and it is compared with that once.
pub(super) struct Candidate<'a> {
    pub record: &'a Record<'a>,
    ranked: Option<Ranked<()>>,
    /// The name that it was last compared with, by its place in memory, and whether it stands before.
    compared: Option<(*const u8, bool)>,
}

impl<'a> Candidate<'a> {
    pub fn new(record: &'a Record<'a>) -> Self {
        Candidate { record, ranked: None, compared: None }
    }

    /// Whether it stands before an example.
    #[inline]
    pub fn is_before(&mut self, entry: &Ranked<()>) -> bool {
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

    /// Itself as an example.
    pub fn ranked(&mut self) -> Ranked<()> {
        self.ranked.get_or_insert_with(|| ranked(self.record)).clone()
    }
}

/// The part of a name that is kept: all but of the longest. Cut at the end of a character if it is text.
fn kept_name(key: &[u8]) -> &[u8] {
    if key.len() <= LONGEST_EXAMPLE {
        return key;
    }
    let is_boundary = |&end: &usize| key.get(end).is_none_or(|byte| byte & 0xC0 != 0x80);
    let end = (LONGEST_EXAMPLE - 3..=LONGEST_EXAMPLE).rev().find(is_boundary).unwrap_or(LONGEST_EXAMPLE);
    key.get(..end).unwrap_or(key)
}

/// The first bytes of a name as a number: of two names the one with the greater number comes behind.
#[inline]
pub(super) fn beginning(name: &[u8]) -> u64 {
    let first = name.first_chunk().copied().unwrap_or_else(|| {
        let mut padded = [0; 8];
        padded.iter_mut().zip(name).for_each(|(byte, of_name)| *byte = *of_name);
        padded
    });
    u64::from_be_bytes(first)
}

fn ranked(record: &Record<'_>) -> Ranked<()> {
    let name = kept_name(record.key);
    let key = if name.len() == record.key.len() { name.into() } else { [name, "…".as_bytes()].concat().into() };
    Ranked { weight: record.memory.0, db: record.db, key, facts: () }
}

/// Whether a key stands before an example, without copying its name. In doubt about names that are cut it says yes.
fn is_before(record: &Record<'_>, entry: &Ranked<()>) -> bool {
    let order = record.memory.0.cmp(&entry.weight).then(entry.db.cmp(&record.db));
    order.then_with(|| entry.key.as_ref().cmp(kept_name(record.key))).is_gt() || record.key.len() > LONGEST_EXAMPLE
}

pub(super) fn example(entry: &Ranked<()>) -> Example {
    Example { db: entry.db, key: entry.key.as_ref().into(), memory: Bytes(entry.weight) }
}
