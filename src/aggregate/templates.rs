//! Compact hashes by their hash template.

use serde::{Deserialize, Serialize};

use super::Aggregate;
use crate::memory::TemplateUse;
use crate::record::Record;
use crate::report::Weight;
use crate::units::Bytes;

/// Keys of a template.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TemplateWeight {
    /// The keys and their memory, their shares of the template included.
    pub keys: Weight,
    /// Memory of ordinary hashes with the same pairs.
    pub ordinary: Bytes,
}

/// Compact hashes of each file by set of field names: see
/// [`HeldTemplates::names`](crate::memory::HeldTemplates::names).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct TemplateStats {
    /// By file, then by set.
    files: Vec<Vec<TemplateWeight>>,
}

impl TemplateWeight {
    /// Adds other keys.
    pub fn merge(&mut self, other: TemplateWeight) {
        self.keys.merge(other.keys);
        self.ordinary += other.ordinary;
    }
}

impl TemplateStats {
    /// Returns the weights of templates that have keys, with their file and set.
    pub fn finish(self) -> impl Iterator<Item = (usize, usize, TemplateWeight)> {
        let of_file = |(file, sets): (usize, Vec<TemplateWeight>)| {
            sets.into_iter().enumerate().map(move |(set, weight)| (file, set, weight))
        };
        self.files.into_iter().enumerate().flat_map(of_file).filter(|(_, _, weight)| weight.keys.keys > 0)
    }

    /// Estimates the heap bytes held.
    pub fn heap_bytes(&self) -> usize {
        let of_files = self.files.capacity() * size_of::<Vec<TemplateWeight>>();
        self.files.iter().map(|sets| sets.capacity() * size_of::<TemplateWeight>()).sum::<usize>() + of_files
    }

    #[inline(never)] // few files have compact hashes
    fn add(&mut self, record: &Record<'_>, template: &TemplateUse) {
        if let Some(weight) = self.at(record.file, template.set) {
            weight.keys.add(record.memory);
            weight.ordinary += template.ordinary;
        }
    }

    #[inline(always)]
    fn at(&mut self, file: usize, set: usize) -> Option<&mut TemplateWeight> {
        if self.files.get(file).is_none_or(|sets| sets.len() <= set) {
            self.grow(file, set);
        }
        self.files.get_mut(file)?.get_mut(set)
    }

    #[cold]
    fn grow(&mut self, file: usize, set: usize) {
        let files = self.files.len().max(file + 1);
        self.files.resize(files, Vec::new());
        let sets = &mut self.files[file];
        sets.resize(sets.len().max(set + 1), TemplateWeight::default());
    }
}

impl Aggregate for TemplateStats {
    #[inline(always)]
    fn observe(&mut self, record: &Record<'_>) {
        if let Some(template) = &record.value.template {
            self.add(record, template);
        }
    }

    fn merge(&mut self, other: Self) {
        for (file, sets) in other.files.into_iter().enumerate() {
            for (set, weight) in sets.into_iter().enumerate().filter(|(_, weight)| weight.keys.keys > 0) {
                if let Some(mine) = self.at(file, set) {
                    mine.merge(weight);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;
    use crate::record::{Encoding, Kind};

    fn compact(file: usize, set: usize, memory: u64, ordinary: u64) -> OwnedRecord {
        let mut record = OwnedRecord::of("k", Kind::Hash, Encoding::TemplateListpack, 1, memory);
        record.rest.file = file;
        record.value.template = Some(TemplateUse { set, ordinary: Bytes(ordinary) });
        record
    }

    #[test]
    fn keys_are_counted_by_file_and_set() {
        let plain = OwnedRecord::of("k", Kind::Hash, Encoding::Listpack, 1, 1000);
        let records = [compact(1, 3, 10, 30), compact(0, 3, 11, 31), plain, compact(1, 3, 12, 32)];
        let rows: Vec<_> = observe_all(TemplateStats::default(), &records).finish().collect();
        let weight = |keys, memory, ordinary| TemplateWeight {
            keys: Weight { keys, memory: Bytes(memory) },
            ordinary: Bytes(ordinary),
        };
        assert_eq!(rows, [(0, 3, weight(1, 11, 31)), (1, 3, weight(2, 22, 62))]);
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, TemplateStats::default, |all| {
                all.finish().map(|(file, set, weight)| (file, set, weight.keys, weight.ordinary)).collect::<Vec<_>>()
            });
        }
    }
}
