//! Join of the keys of both sides, part by part.

use std::borrow::Cow;

use hashbrown::HashTable;

use super::differing::{Changes, Copies, Differing};
use super::stored::{Side, SideFacts, StoredKey};
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

/// What comparing a key takes into account.
#[derive(Debug, Clone, Copy)]
pub struct Comparing {
    /// Options.
    pub options: KeyComparisonOptions,
    /// Time of the new snapshot.
    pub taken_after: Option<i64>,
}

/// Keys of a part that have been met so far.
#[derive(Debug, Default)]
pub struct Join<'a> {
    table: HashTable<usize>,
    met: Vec<Met<'a>>,
}

#[derive(Debug)]
struct Met<'a> {
    hash: u128,
    db: u64,
    name: Cow<'a, [u8]>,
    sides: [Option<Copies>; 2],
}

impl<'a> Join<'a> {
    /// Adds a key, whose name `keep` makes last.
    pub fn add<'s>(&mut self, key: StoredKey<'s>, keep: impl FnOnce(&'s [u8]) -> Cow<'a, [u8]>) {
        // The hash is keyed at random and wide enough to stand for the name.
        let short = |hash: u128| u64::try_from(hash >> 64).unwrap_or_default();
        let Join { table, met } = self;
        let found = table.find(short(key.hash), |&at| met.get(at).is_some_and(|known| known.hash == key.hash)).copied();
        let at = found.unwrap_or_else(|| {
            let at = met.len();
            met.push(Met { hash: key.hash, db: key.db, name: keep(key.name), sides: [None; 2] });
            table.insert_unique(short(key.hash), at, |&at| met.get(at).map_or(0, |known| short(known.hash)));
            at
        });
        let side = usize::from(key.side == Side::After);
        if let Some(copies) = met.get_mut(at).and_then(|known| known.sides.get_mut(side)) {
            match copies {
                None => *copies = Some(Copies::new(key.facts)),
                Some(copies) => copies.add(key.facts),
            }
        }
    }

    /// Returns the sums of all keys, and the keys that differ.
    pub fn finish(self, comparing: &Comparing) -> (JoinSums, Vec<Differing>) {
        let (mut sums, mut differing) = (JoinSums::default(), Vec::new());
        for Met { db, name, sides, .. } in self.met {
            for (side, copies) in sides.iter().enumerate() {
                if let Some(copies) = copies {
                    sums.keys[side] += 1;
                    sums.memory[side] = sums.memory[side].saturating_add(copies.facts.memory);
                }
            }
            let [before, after] = sides;
            if let (Some(before), Some(after)) = (before, after) {
                sums.growth += i128::from(after.facts.memory) - i128::from(before.facts.memory);
            }
            let changes = changes(before.as_ref(), after.as_ref(), comparing);
            if changes.is_empty() {
                sums.equal += 1;
            } else {
                differing.push(Differing { db, name: name.into(), changes, before, after });
            }
        }
        (sums, differing)
    }
}

/// Compares the two sides of a key.
fn changes(before: Option<&Copies>, after: Option<&Copies>, comparing: &Comparing) -> Changes {
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
            let expired =
                matches!((before.facts.expires_at, comparing.taken_after), (Some(at), Some(taken)) if at < taken);
            changes.set(if expired { KeyDifference::Expired } else { KeyDifference::Removed }, true);
        }
        (None, _) => changes.set(KeyDifference::Added, true),
    }
    let duplicate = [before, after].into_iter().flatten().any(|copies| copies.count > 1);
    changes.set(KeyDifference::Duplicate, duplicate);
    changes
}

fn type_of(facts: &SideFacts) -> (Kind, Option<ModuleName>) {
    (facts.kind, facts.module)
}

/// Returns whether two expiries differ by no more than the tolerance.
fn near(old: Option<i64>, new: Option<i64>, tolerance: u64) -> bool {
    matches!((old, new), (Some(old), Some(new)) if old.abs_diff(new) <= tolerance)
}
