//! Sums, patterns and examples of the keys that differ.

use std::cmp::Reverse;
use std::collections::HashMap;

use super::differing::{Copies, Differing};
use super::join::JoinSums;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::record::{Kind, ModuleName};
use crate::report::Key;
use crate::report::key_comparison::{
    DifferenceCounts, KeyChange, KeyComparison, KeyComparisonOptions, KeyDifference, KeyFacts, KeySide, KeySums,
    KeyWeight, PatternDifferences, SCHEMA, TypeDifferences,
};
use crate::sorting::CompactSort;
use crate::units::{Bytes, Millis};

/// Maximum number of patterns that are told apart. Keys come by database and name, so that which ones are is always the same.
const MAX_PATTERNS: usize = if cfg!(test) { 3 } else { 100_000 };

/// Longest name among the examples.
const MAX_NAME_LEN: usize = crate::limits::MAX_NAME_LEN;

/// Sums over the differing keys so far.
pub struct Summary<'s> {
    classifier: &'s Classifier,
    pattern: PatternBuf,
    /// Names of the files of each side with several.
    sources: [Vec<String>; 2],
    complete: [bool; 2],
    top: usize,
    sums: KeySums,
    duplicates: [u64; 2],
    types: HashMap<Kind, DifferenceCounts>,
    patterns: HashMap<String, DifferenceCounts>,
    examples: Vec<KeyChange>,
}

impl<'s> Summary<'s> {
    /// Creates empty sums. Lists get `top` rows.
    pub fn new(classifier: &'s Classifier, sides: &[KeySide; 2], top: usize) -> Summary<'s> {
        let sources = |side: &KeySide| match side.files.as_slice() {
            [_] => Vec::new(),
            files => files.iter().map(|file| file.name.clone()).collect(),
        };
        Summary {
            classifier,
            pattern: PatternBuf::default(),
            sources: [sources(&sides[0]), sources(&sides[1])],
            complete: [sides[0].complete, sides[1].complete],
            top,
            sums: KeySums::default(),
            duplicates: [0; 2],
            types: HashMap::new(),
            patterns: HashMap::new(),
            examples: Vec::new(),
        }
    }

    /// Adds a key, and returns its row.
    pub fn add(&mut self, key: &Differing) -> KeyChange {
        match &key.pattern {
            Some(pattern) => pattern.as_ref().clone_into(&mut self.pattern.text),
            None => self.classifier.classify(&key.name, &mut self.pattern),
        }
        let change = KeyChange {
            change: key.changes.list(),
            certain: self.is_certain(key),
            db: key.db,
            key: Key::from(key.name.as_ref()),
            pattern: self.pattern.text.clone(),
            before: key.before.map(|copies| self.facts(0, &copies)),
            after: key.after.map(|copies| self.facts(1, &copies)),
        };
        self.count(key);
        // Keys that expired by themselves are no surprise.
        if key.name.len() <= MAX_NAME_LEN && !key.changes.has(KeyDifference::Expired) {
            self.examples.push(change.clone());
            if self.examples.len() >= 2 * self.top.max(16) {
                self.trim();
            }
        }
        change
    }

    /// Returns whether a key that one side lacks cannot be in a part of it that was not read.
    fn is_certain(&self, key: &Differing) -> bool {
        match (&key.before, &key.after) {
            (Some(_), Some(_)) => true,
            (None, _) => self.complete[0],
            (_, None) => self.complete[1],
        }
    }

    fn facts(&self, side: usize, copies: &Copies) -> KeyFacts {
        let facts = &copies.facts;
        let source = usize::try_from(facts.file).ok().and_then(|file| self.sources[side].get(file));
        KeyFacts {
            kind: facts.kind,
            module: facts.module.as_ref().map(ModuleName::to_string),
            length: facts.length,
            memory: Bytes(facts.memory).known(),
            expires_at: facts.expires_at.map(Millis),
            source: source.cloned(),
            copies: copies.count,
        }
    }

    fn count(&mut self, key: &Differing) {
        let has = |difference| u64::from(key.changes.has(difference));
        let expired = key.changes.has(KeyDifference::Expired);
        let changed = [KeyDifference::Type, KeyDifference::Value, KeyDifference::Expiry];
        let counts = DifferenceCounts {
            differing: u64::from(!expired),
            added: has(KeyDifference::Added),
            removed: has(KeyDifference::Removed),
            expired: u64::from(expired),
            changed: u64::from(changed.into_iter().any(|difference| key.changes.has(difference))),
        };
        let memory = key.after.or(key.before).map_or(0, |copies| copies.facts.memory);
        let sums = &mut self.sums;
        sums.differing += counts.differing;
        add_weight(&mut sums.added, counts.added, memory);
        add_weight(&mut sums.removed, counts.removed, memory);
        add_weight(&mut sums.expired, counts.expired, memory);
        sums.retyped += has(KeyDifference::Type);
        sums.changed += has(KeyDifference::Value);
        sums.reexpired += has(KeyDifference::Expiry);
        sums.duplicate += has(KeyDifference::Duplicate);
        sums.unreadable += has(KeyDifference::Unreadable);
        for (duplicates, copies) in self.duplicates.iter_mut().zip([key.before, key.after]) {
            *duplicates += u64::from(copies.is_some_and(|copies| copies.count > 1));
        }
        if let Some(copies) = key.after.or(key.before) {
            add_counts(self.types.entry(copies.facts.kind).or_default(), counts);
        }
        let is_full = self.patterns.len() >= MAX_PATTERNS;
        match self.patterns.get_mut(&self.pattern.text) {
            Some(known) => add_counts(known, counts),
            None if is_full => {}
            None => _ = self.patterns.insert(self.pattern.text.clone(), counts),
        }
    }

    fn trim(&mut self) {
        let memory = |facts: &Option<KeyFacts>| facts.as_ref().and_then(|facts| facts.memory).unwrap_or_default();
        let weight = |change: &KeyChange| memory(&change.before).max(memory(&change.after));
        // The sort is stable, and the keys are in order already.
        self.examples.compact_sort_by_key(|change| Reverse(weight(change)));
        self.examples.truncate(self.top);
    }

    /// Returns the comparison.
    pub fn finish(mut self, joined: JoinSums, sides: [KeySide; 2], options: KeyComparisonOptions) -> KeyComparison {
        self.trim();
        let [mut before, mut after] = sides;
        for (number, side) in [&mut before, &mut after].into_iter().enumerate() {
            side.keys = joined.keys[number];
            side.memory = Bytes(joined.memory[number]);
            side.duplicates = self.duplicates[number];
        }
        let growth = joined.growth.clamp(i64::MIN.into(), i64::MAX.into());
        let by_count = |counts: &DifferenceCounts| Reverse((counts.differing, counts.expired));
        let mut types: Vec<TypeDifferences> =
            self.types.into_iter().map(|(kind, counts)| TypeDifferences { kind, counts }).collect();
        types.compact_sort_by_key(|row| (by_count(&row.counts), row.kind));
        let distinct_patterns = self.patterns.len() as u64;
        let mut patterns: Vec<PatternDifferences> =
            self.patterns.into_iter().map(|(pattern, counts)| PatternDifferences { pattern, counts }).collect();
        patterns.compact_sort_by(|one, other| {
            (by_count(&one.counts), &one.pattern).cmp(&(by_count(&other.counts), &other.pattern))
        });
        patterns.truncate(self.top);
        KeyComparison {
            schema: SCHEMA,
            rdblens: env!("CARGO_PKG_VERSION"),
            options,
            before,
            after,
            sums: KeySums { equal: joined.equal, growth: i64::try_from(growth).unwrap_or_default(), ..self.sums },
            types,
            patterns,
            distinct_patterns,
            examples: self.examples,
            warnings: Vec::new(),
        }
    }
}

fn add_weight(weight: &mut KeyWeight, keys: u64, memory: u64) {
    weight.keys += keys;
    weight.memory += Bytes(memory.saturating_mul(keys));
}

fn add_counts(into: &mut DifferenceCounts, counts: DifferenceCounts) {
    into.differing += counts.differing;
    into.added += counts.added;
    into.removed += counts.removed;
    into.expired += counts.expired;
    into.changed += counts.changed;
}
