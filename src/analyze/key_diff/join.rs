//! Join of the keys of both sides, part by part.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hashbrown::HashTable;

use super::differing::{Changes, Copies, Differing};
use super::stored::{Side, SideFacts, StoredKey};
use crate::mask::{MaskedName, Masker, Scratch};
use crate::record::Kind;
use crate::record::ModuleName;
use crate::report::key_comparison::{KeyComparisonOptions, KeyDifference};

/// Sums over all keys of a part. Merging commutes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct JoinSums {
    /// Different keys on each side.
    pub keys: [u64; 2],
    /// Their memory.
    pub memory: [u64; 2],
    /// Keys that are the same on both sides.
    pub equal: u64,
    /// Growth of the memory of keys that both sides have.
    pub growth: i128,
}

impl JoinSums {
    /// Adds the sums of another part.
    pub fn merge(&mut self, other: JoinSums) {
        for side in 0..2 {
            self.keys[side] += other.keys[side];
            self.memory[side] = self.memory[side].saturating_add(other.memory[side]);
        }
        self.equal += other.equal;
        self.growth += other.growth;
    }
}

/// Properties that are compared.
#[derive(Debug, Clone, Copy)]
pub struct Comparing<'m> {
    /// Options.
    pub options: KeyComparisonOptions,
    /// Masks the names of keys that differ; `None` keeps them.
    pub masker: Option<&'m Masker<'m>>,
    /// Time of the new snapshot.
    pub taken_after: Option<i64>,
}

/// Join of the keys of a part.
///
/// Records stay as they are stored until all are there: to find the two of a key takes their hashes only.
#[derive(Debug)]
pub struct Join<'a> {
    table: HashTable<usize>,
    keys: Vec<JoinedKey<'a>>,
    /// Keys that a side has more than once, by place in `keys`.
    repeated: BTreeMap<usize, [Option<Copies>; 2]>,
}

/// A key, and its first record on each side.
#[derive(Debug)]
struct JoinedKey<'a> {
    hash: u128,
    sides: [Option<Cow<'a, [u8]>>; 2],
}

/// Usual bytes of a record. Tables grow where records are shorter.
const USUAL_RECORD: usize = 64;

impl<'a> Join<'a> {
    /// Creates a join with room for the keys of records of `bytes` bytes in total, each of which occurs twice.
    pub fn of_bytes(bytes: usize) -> Join<'a> {
        let most = bytes / USUAL_RECORD / 2;
        Join { table: HashTable::with_capacity(most), keys: Vec::with_capacity(most), repeated: BTreeMap::new() }
    }

    /// Adds the record of a key, which `keep` makes last.
    pub fn add<'s>(&mut self, record: &'s [u8], keep: impl FnOnce(&'s [u8]) -> Cow<'a, [u8]>) {
        let Some((hash, side)) = StoredKey::head(record) else { return };
        // The hash is keyed at random and wide enough to stand for the name.
        let short = |hash: u128| u64::try_from(hash >> 64).unwrap_or_default();
        let Join { table, keys, repeated } = self;
        let side = usize::from(side == Side::After);
        let found = table.find(short(hash), |&at| keys.get(at).is_some_and(|known| known.hash == hash)).copied();
        let Some((at, known)) = found.and_then(|at| Some((at, keys.get_mut(at)?))) else {
            let mut sides = [None, None];
            sides[side] = Some(keep(record));
            table.insert_unique(short(hash), keys.len(), |&at| keys.get(at).map_or(0, |known| short(known.hash)));
            return keys.push(JoinedKey { hash, sides });
        };
        if known.sides[side].is_none() {
            known.sides[side] = Some(keep(record));
            // One that the other side has more than once.
            if let Some(copies) = repeated.get_mut(&at) {
                copies[side] = copies_of(known.sides[side].as_deref());
            }
        } else if let Some(key) = StoredKey::read(record) {
            let copies =
                repeated.entry(at).or_insert_with(|| known.sides.each_ref().map(|it| copies_of(it.as_deref())));
            copies[side].iter_mut().for_each(|copies| copies.add(key.facts));
        }
    }

    /// Returns the sums of all keys, and the keys that differ.
    pub fn finish(self, comparing: &Comparing<'_>) -> (JoinSums, Vec<Differing>) {
        let (mut sums, mut differing) = (JoinSums::default(), Vec::new());
        let mut scratch = Scratch::default();
        for (at, JoinedKey { sides, .. }) in self.keys.into_iter().enumerate() {
            let repeated = if self.repeated.is_empty() { None } else { self.repeated.get(&at) };
            let both = repeated.copied().unwrap_or_else(|| sides.each_ref().map(|it| copies_of(it.as_deref())));
            for (side, copies) in both.iter().enumerate() {
                if let Some(copies) = copies {
                    sums.keys[side] += 1;
                    sums.memory[side] = sums.memory[side].saturating_add(copies.facts.memory);
                }
            }
            let [before, after] = both;
            if let (Some(before), Some(after)) = (before, after) {
                sums.growth += i128::from(after.facts.memory) - i128::from(before.facts.memory);
            }
            let changes = changes(before.as_ref(), after.as_ref(), comparing);
            if changes.is_empty() {
                sums.equal += 1;
            } else if let Some(key) = sides.iter().flatten().find_map(|record| StoredKey::read(record)) {
                // Masked before they are sorted, so that their order says nothing of the names.
                let (name, pattern) = match comparing.masker.map(|masker| masker.mask(key.name, &mut scratch)) {
                    None => (key.name.into(), None),
                    Some(MaskedName { key, pattern }) => (key.into(), Some(pattern.into())),
                };
                differing.push(Differing { db: key.db, name, pattern, changes, before, after });
            }
        }
        (sums, differing)
    }
}

fn copies_of(record: Option<&[u8]>) -> Option<Copies> {
    Some(Copies::new(StoredKey::read(record?)?.facts))
}

/// Compares the two sides of a key.
fn changes(before: Option<&Copies>, after: Option<&Copies>, comparing: &Comparing<'_>) -> Changes {
    let mut changes = Changes::default();
    match (before, after) {
        (Some(before), Some(after)) => {
            let (old, new) = (&before.facts, &after.facts);
            let retyped = type_of(old) != type_of(new) || before.varied_type || after.varied_type;
            changes.set(KeyDifference::Type, retyped);
            match (old.content, new.content) {
                _ if retyped => {}
                (Some(old), Some(new)) => {
                    changes.set(KeyDifference::Value, old != new || before.varied_content || after.varied_content);
                }
                _ => changes.set(KeyDifference::Unreadable, true),
            }
            let moved = old.expires_at != new.expires_at
                && !near(old.expires_at, new.expires_at, comparing.options.expiry_tolerance);
            let reexpired = moved || before.varied_expiry || after.varied_expiry;
            changes.set(KeyDifference::Expiry, reexpired && !comparing.options.ignore_expiry);
        }
        (Some(before), None) => {
            // Copies may have other expiries, or none.
            let expired = !before.varied_expiry
                && matches!((before.facts.expires_at, comparing.taken_after), (Some(at), Some(taken)) if at < taken);
            changes.set(if expired { KeyDifference::Expired } else { KeyDifference::Removed }, true);
        }
        (None, _) => changes.set(KeyDifference::Added, true),
    }
    let duplicate = [before, after].into_iter().flatten().any(|copies| copies.count > 1);
    // A key that has expired is no difference, however often it was there.
    changes.set(KeyDifference::Duplicate, duplicate && !changes.has(KeyDifference::Expired));
    changes
}

fn type_of(facts: &SideFacts) -> (Kind, Option<ModuleName>) {
    (facts.kind, facts.module)
}

/// Returns whether two expiries differ by no more than the tolerance.
fn near(old: Option<i64>, new: Option<i64>, tolerance: u64) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old.abs_diff(new) <= tolerance)
}
