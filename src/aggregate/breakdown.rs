//! Keys, memory and sizes by type and encoding; modules by name.
//!
//! A file may carry a different module name for every key. The [`MODULES`] names that sort first are kept, and all
//! others share one row. "At least N names sort before this one" can only become true, so the result does not depend
//! on which worker sees a name first. With histograms of at most 15 KiB each, all rows stay below 4 MiB.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Aggregate;
use super::parts::{CELLS, Histogram, cell_of, share};
use super::usual::UsualKeys;
use crate::record::{Encoding, Kind, ModuleName, Record};
use crate::report::{TypeRow, Unknown};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Module names with a row of their own.
pub const MODULES: usize = 64;

/// Row shared by the modules without a row of their own. No module has this name: module names have nine characters.
pub const OTHER_MODULES: &str = "other modules";

/// Sums and a histogram of sizes for each type in each encoding.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TypeStats {
    /// By kind, then encoding; allocated with the first key.
    #[serde(with = "sparse")]
    cells: Box<[Option<Box<TypeCell>>; CELLS]>,
    /// INVARIANT: at most [`MODULES`], and every name in `others` is greater than all of these.
    modules: BTreeMap<ModuleName, TypeCell>,
    others: Option<Box<TypeCell>>,
}

/// Stores the rows that have keys, each with the number of its cell.
mod sparse {
    use serde::de::Error;
    use serde::{Deserializer, Serializer};

    use super::*;

    type Cells = Box<[Option<Box<TypeCell>>; CELLS]>;

    pub fn serialize<S: Serializer>(cells: &Cells, serializer: S) -> Result<S::Ok, S::Error> {
        let used: Vec<_> = cells.iter().enumerate().filter_map(|(at, cell)| Some((at, cell.as_ref()?))).collect();
        used.serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cells, D::Error> {
        let mut cells = Box::new([const { None }; CELLS]);
        for (at, cell) in Vec::<(usize, Box<TypeCell>)>::deserialize(deserializer)? {
            *cells.get_mut(at).ok_or_else(|| D::Error::custom("no type and encoding has this number"))? = Some(cell);
        }
        Ok(cells)
    }
}

/// Sums over the keys of one row; the histogram holds the number of those with known memory.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct TypeCell {
    /// Bytes of strings, elements of collections.
    length: u64,
    memory: Bytes,
    spread: Histogram,
    /// Keys whose memory is unknown; they are not in the histogram.
    unknown: Unknown,
}

impl TypeCell {
    #[inline]
    fn add(&mut self, record: &Record<'_>) {
        self.length = self.length.saturating_add(record.summed_length());
        match record.known_memory() {
            Some(memory) => {
                self.memory += memory;
                self.spread.add(memory.0);
            }
            None => self.unknown.note(record.memory, record.disk),
        }
    }

    fn merge(&mut self, other: &TypeCell) {
        self.length = self.length.saturating_add(other.length);
        self.memory += other.memory;
        self.spread.merge(&other.spread);
        self.unknown.merge(other.unknown);
    }

    fn row(&self, kind: Kind, encoding: &str, total: Bytes) -> TypeRow {
        let known = self.spread.numbers();
        let keys = known.saturating_add(self.unknown.keys);
        let is_string = kind == Kind::String;
        TypeRow {
            kind,
            encoding: encoding.to_owned(),
            keys,
            elements: if is_string { keys } else { self.length },
            string_bytes: is_string.then_some(Bytes(self.length)),
            memory: self.memory,
            share: share(self.memory, total),
            mean: Bytes(self.memory.0 / known.max(1)),
            p50: Bytes(self.spread.quantile(50)),
            p99: Bytes(self.spread.quantile(99)),
            max: Bytes(self.spread.max()),
            unknown: self.unknown,
        }
    }
}

impl Default for TypeStats {
    fn default() -> Self {
        TypeStats::new()
    }
}

impl TypeStats {
    /// Creates an empty aggregate.
    pub fn new() -> Self {
        TypeStats { cells: Box::new([const { None }; CELLS]), modules: BTreeMap::new(), others: None }
    }

    /// Returns the report's section, heaviest row first, then by type and encoding.
    pub fn finish(self) -> Vec<TypeRow> {
        let plain = || {
            let names = Kind::ALL.iter().flat_map(|&kind| Encoding::ALL.iter().map(move |&encoding| (kind, encoding)));
            let cells = names.map(|(kind, encoding)| (kind, encoding.name(), &self.cells[cell_of(kind, encoding)]));
            cells.filter_map(|(kind, encoding, cell)| Some((kind, encoding, cell.as_deref()?)))
        };
        let modules = self.modules.iter().map(|(name, cell)| (Kind::Module, name.as_str(), cell));
        let others = self.others.as_deref().map(|cell| (Kind::Module, OTHER_MODULES, cell));
        let all: Vec<_> = plain().chain(modules).chain(others).collect();

        let total = all.iter().map(|(_, _, cell)| cell.memory).sum();
        let mut rows: Vec<_> = all.into_iter().map(|(kind, encoding, cell)| cell.row(kind, encoding, total)).collect();
        rows.compact_sort_by(|a, b| order(a).cmp(&order(b)));
        rows
    }

    /// Counts a usual key, leaving its sums to [`TypeStats::add_usual`].
    #[inline]
    pub fn count(&mut self, record: &Record<'_>) {
        self.cells[cell_of(record.kind, record.encoding)].get_or_insert_default().spread.add(record.memory.0);
    }

    /// Adds the sums of usual keys that [`TypeStats::count`] has counted.
    pub fn add_usual(&mut self, keys: &UsualKeys) {
        let cell = self.cells[cell_of(keys.kind, keys.encoding)].get_or_insert_default();
        cell.length = cell.length.saturating_add(keys.sums.length);
        cell.memory += keys.sums.keys.memory;
    }

    /// Adds a key of a module. These keys are rare enough for a lookup by name.
    fn observe_module(&mut self, name: ModuleName, record: &Record<'_>) {
        // Sorts after all kept names: counted with the others without inserting and evicting a row.
        if self.modules.len() == MODULES
            && !self.modules.contains_key(&name)
            && self.modules.last_key_value().is_some_and(|(last, _)| *last < name)
        {
            return self.others.get_or_insert_default().add(record);
        }
        self.modules.entry(name).or_default().add(record);
        self.trim();
    }

    fn trim(&mut self) {
        while self.modules.len() > MODULES {
            let Some((_, cell)) = self.modules.pop_last() else { return };
            self.others.get_or_insert_default().merge(&cell);
        }
    }
}

fn order(row: &TypeRow) -> (Reverse<Bytes>, &'static str, &str) {
    (Reverse(row.memory), row.kind.name(), &row.encoding)
}

impl Aggregate for TypeStats {
    #[inline]
    fn observe(&mut self, record: &Record<'_>) {
        match record.module {
            Some(name) => self.observe_module(name, record),
            None => self.cells[cell_of(record.kind, record.encoding)].get_or_insert_default().add(record),
        }
    }

    fn merge(&mut self, other: Self) {
        for (cell, more) in self.cells.iter_mut().zip(other.cells.iter()) {
            if let Some(more) = more {
                cell.get_or_insert_default().merge(more);
            }
        }
        for (name, cell) in other.modules {
            self.modules.entry(name).or_default().merge(&cell);
        }
        if let Some(cell) = other.others {
            self.others.get_or_insert_default().merge(&cell);
        }
        self.trim();
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{OwnedRecord, check_laws, observe_all, samples};
    use super::*;

    #[test]
    fn the_heaviest_row_comes_first_with_exact_sums() {
        let records = [
            OwnedRecord::string("a", 5, 50),
            OwnedRecord::string("b", 6, 70),
            OwnedRecord::of("c", Kind::Hash, Encoding::Listpack, 9, 360),
        ];
        let rows = observe_all(TypeStats::new(), &records).finish();
        let short: Vec<_> =
            rows.iter().map(|r| (r.kind, &*r.encoding, r.keys, r.elements, r.share, r.mean.0)).collect();
        assert_eq!(short, [(Kind::Hash, "listpack", 1, 9, 0.75, 360), (Kind::String, "embstr", 2, 2, 0.25, 60)]);
        assert_eq!((rows[0].string_bytes, rows[1].string_bytes), (None, Some(Bytes(11))));
        assert_eq!((rows[1].p50.0, rows[1].p99.0, rows[1].max.0), (50, 70, 70));
    }

    fn module(number: u64, memory: u64) -> OwnedRecord {
        let mut record = OwnedRecord::of("m", Kind::Module, Encoding::Unknown, 1, memory);
        record.rest.module = Some(ModuleName::from_id(number << 46));
        record
    }

    #[test]
    fn module_names_beyond_the_limit_share_a_row_in_any_order() {
        let mut records: Vec<_> = (0..100).map(|number| module(number, number)).collect();
        let upwards = observe_all(TypeStats::new(), &records).finish();
        records.reverse();
        let downwards = observe_all(TypeStats::new(), &records).finish();
        assert_eq!(format!("{upwards:?}"), format!("{downwards:?}"));
        assert_eq!(upwards.len(), MODULES + 1);
        let others = upwards.iter().find(|row| row.encoding == OTHER_MODULES).unwrap();
        assert_eq!((others.keys, others.memory.0), (36, (64..100).sum()));
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, TypeStats::new, TypeStats::finish);
        }

        #[test]
        fn laws_with_many_modules(numbers in proptest::collection::vec(0u64..200, 0..200), cut in 0usize..200) {
            let records: Vec<_> = numbers.iter().map(|&number| module(number, number)).collect();
            let (left, right) = records.split_at(cut.min(records.len()));
            let mut forward = observe_all(TypeStats::new(), left);
            forward.merge(observe_all(TypeStats::new(), right));
            let mut backward = observe_all(TypeStats::new(), right);
            backward.merge(observe_all(TypeStats::new(), left));
            let whole = format!("{:?}", observe_all(TypeStats::new(), &records).finish());
            proptest::prop_assert_eq!(&format!("{:?}", forward.finish()), &whole);
            proptest::prop_assert_eq!(&format!("{:?}", backward.finish()), &whole);
        }
    }
}
