//! Memory of the keys under alternative servers or settings, by type.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};

use super::Aggregate;
use super::usual::UsualKeys;
use crate::record::{Kind, Record};
use crate::report::{Unknown, Weight, WhatIfType};
use crate::sorting::CompactSort;
use crate::units::Bytes;

const KINDS: usize = Kind::ALL.len();

/// Memory by type, under the base model and under each alternative.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WhatIfStats {
    /// In the order of [`Kind::ALL`].
    base: [Weight; KINDS],
    /// By alternative; empty if none was requested.
    others: Vec<[Bytes; KINDS]>,
    /// Bytes that the allocator hands out, by alternative.
    allocated: Vec<Bytes>,
    /// Bytes that the allocator hands out now.
    allocated_now: Bytes,
    /// Keys that the sums leave out.
    unknown: Unknown,
}

/// Sums over all keys.
#[derive(Debug, Clone)]
pub struct WhatIfSums {
    /// Memory under the base model.
    pub memory: Bytes,
    /// Memory under each alternative.
    pub alternatives: Vec<Bytes>,
    /// Bytes that the allocator hands out under each alternative.
    pub allocated: Vec<Bytes>,
    /// Bytes that the allocator hands out now.
    pub allocated_now: Bytes,
    /// Keys whose memory is unknown under one of the models, which all sums leave out.
    pub unknown: Unknown,
    /// Memory by type, heaviest first.
    pub types: Vec<WhatIfType>,
}

impl WhatIfStats {
    /// Creates an empty aggregate. All records must have this number of alternatives.
    pub fn new(alternatives: usize) -> Self {
        WhatIfStats {
            base: [Weight::default(); KINDS],
            others: vec![[Bytes(0); KINDS]; alternatives],
            allocated: vec![Bytes(0); alternatives],
            allocated_now: Bytes(0),
            unknown: Unknown::default(),
        }
    }

    /// Adds usual keys under the first alternative. Under the others, each is added by [`WhatIfStats::observe_others`].
    pub fn add_usual(&mut self, keys: &UsualKeys) {
        let (Some(by_kind), Some(allocated)) = (self.others.first_mut(), self.allocated.first_mut()) else { return };
        let (kind, sums) = (keys.kind as usize, &keys.sums);
        if !keys.has_alternatives {
            return self.unknown.merge(Unknown { keys: sums.keys.keys, stored_bytes: sums.disk });
        }
        self.base[kind].merge(sums.keys);
        self.allocated_now += sums.allocated;
        by_kind[kind] += sums.alternative;
        *allocated += sums.allocated_elsewhere;
    }

    /// Adds a usual key under the alternatives after the first.
    #[inline]
    pub fn observe_others(&mut self, record: &Record<'_>) {
        if self.others.len() > 1 {
            self.add_from(1, record);
        }
    }

    /// Adds a key under the alternatives from number `first` on.
    #[inline(never)]
    fn add_from(&mut self, first: usize, record: &Record<'_>) {
        let kind = record.kind as usize;
        let sums = self.others.iter_mut().zip(&mut self.allocated);
        let sizes = record.alternatives.iter().zip(record.allocated_elsewhere);
        for ((by_kind, allocated), (memory, bytes)) in sums.zip(sizes).skip(first) {
            by_kind[kind] += *memory;
            *allocated += *bytes;
        }
    }

    /// Returns the sums, or `None` if no alternative was requested.
    pub fn finish(self) -> Option<WhatIfSums> {
        if self.others.is_empty() {
            return None;
        }
        let row = |(&kind, tally): (&Kind, &Weight)| WhatIfType {
            kind,
            keys: tally.keys,
            memory: tally.memory,
            alternatives: self.others.iter().map(|by_kind| by_kind[kind as usize]).collect(),
        };
        let kinds = Kind::ALL.iter().zip(&self.base).filter(|(_, tally)| tally.keys > 0);
        let mut types: Vec<WhatIfType> = kinds.map(row).collect();
        // The sort is stable: equal types stay in the order of `Kind::ALL`.
        types.compact_sort_by_key(|row| Reverse(row.memory));
        Some(WhatIfSums {
            memory: self.base.iter().map(|tally| tally.memory).sum(),
            alternatives: self.others.iter().map(|by_kind| by_kind.iter().copied().sum()).collect(),
            types,
            allocated: self.allocated,
            allocated_now: self.allocated_now,
            unknown: self.unknown,
        })
    }
}

impl Aggregate for WhatIfStats {
    fn observe(&mut self, record: &Record<'_>) {
        if self.others.is_empty() {
            return; // the common case
        }
        if record.alternatives.is_empty() {
            return self.unknown.merge(Unknown { keys: 1, stored_bytes: record.disk });
        }
        let kind = record.kind as usize;
        self.allocated_now += record.allocated;
        self.base[kind].add(record.memory);
        self.add_from(0, record);
    }

    fn merge(&mut self, other: Self) {
        Weight::merge_all(&mut self.base, &other.base);
        self.allocated_now += other.allocated_now;
        self.unknown.merge(other.unknown);
        self.allocated.iter_mut().zip(other.allocated).for_each(|(sum, more)| *sum += more);
        for (sums, more) in self.others.iter_mut().zip(other.others) {
            sums.iter_mut().zip(more).for_each(|(sum, more)| *sum += more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::record::Encoding;

    fn priced(kind: Kind, memory: u64, alternatives: &'static [Bytes]) -> OwnedRecord {
        let mut record = OwnedRecord::of("k", kind, Encoding::Raw, 1, memory);
        (record.rest.alternatives, record.rest.allocated_elsewhere) = (alternatives, alternatives);
        record
    }

    #[test]
    fn sums_are_by_type_and_alternative() {
        let records = [
            priced(Kind::String, 10, &[Bytes(1), Bytes(20)]),
            priced(Kind::Hash, 100, &[Bytes(2), Bytes(30)]),
            priced(Kind::String, 10, &[Bytes(3), Bytes(40)]),
        ];
        let sums = observe_all(WhatIfStats::new(2), &records).finish().unwrap();
        assert_eq!((sums.memory, sums.alternatives), (Bytes(120), vec![Bytes(6), Bytes(90)]));
        assert_eq!((sums.allocated_now, sums.allocated), (Bytes(120), vec![Bytes(6), Bytes(90)]));
        let types: Vec<_> = sums.types.into_iter().map(|row| (row.kind, row.keys, row.alternatives)).collect();
        assert_eq!(types, [(Kind::Hash, 1, vec![Bytes(2), Bytes(30)]), (Kind::String, 2, vec![Bytes(4), Bytes(60)])]);
    }

    #[test]
    fn nothing_asked_is_no_answer() {
        assert!(observe_all(WhatIfStats::new(0), &[priced(Kind::Set, 1, &[])]).finish().is_none());
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, || WhatIfStats::new(2), |all| {
                all.finish().map(|sums| (sums.memory, sums.alternatives, sums.types))
            });
        }
    }
}
