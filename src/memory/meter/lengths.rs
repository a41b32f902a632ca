//! Numbers of elements by length, for collections stored element by element.
//!
//! The memory of a table depends on how many elements have each length, not on their order. To count lengths during the walk and
//! price each of them once takes fewer instructions than to price each element, above all for several servers.

use std::mem;

/// Element lengths that are counted: those below this.
const LENGTHS: usize = 256;
/// Lengths of fields that are counted with those of their values.
const FIELDS: usize = 64;

/// Fewest elements for which counting pays.
const MIN_ELEMENTS: u64 = 256;
/// Fewest pairs for which counting pays: a field length has a count for each value length.
const MIN_PAIRS: u64 = 512;

/// Numbers of elements by length, or of pairs by their lengths.
#[derive(Debug, Default)]
pub(super) struct Lengths {
    /// Empty unless elements are counted.
    elements: Vec<u64>,
    /// Empty unless pairs are counted; by field length, then by value length.
    pairs: Vec<[u64; LENGTHS]>,
    /// Field lengths that have counts, as bits.
    fields: u64,
    /// The lists above while they are not used: all zero.
    spare_elements: Vec<u64>,
    spare_pairs: Vec<[u64; LENGTHS]>,
}

impl Lengths {
    /// Starts a set or sorted set of `count` elements.
    #[inline]
    pub fn expect_elements(&mut self, count: u64) {
        if count >= MIN_ELEMENTS {
            self.elements = mem::take(&mut self.spare_elements);
            self.elements.resize(LENGTHS, 0);
        }
    }

    /// Starts a hash of `count` pairs.
    #[inline]
    pub fn expect_pairs(&mut self, count: u64) {
        if count >= MIN_PAIRS {
            self.pairs = mem::take(&mut self.spare_pairs);
            self.pairs.resize(FIELDS, [0; LENGTHS]);
        }
    }

    /// Returns whether lengths are counted.
    #[inline]
    pub fn is_counting(&self) -> bool {
        !self.elements.is_empty() || !self.pairs.is_empty()
    }

    /// Counts an element; returns false if it has to be priced by itself.
    #[inline(always)]
    pub fn count(&mut self, len: u64) -> bool {
        let count = usize::try_from(len).ok().and_then(|len| self.elements.get_mut(len));
        count.map(|count| *count += 1).is_some()
    }

    /// Counts a pair; returns false if it has to be priced by itself.
    #[inline(always)]
    pub fn count_pair(&mut self, field: u64, value: u64) -> bool {
        let (Ok(row), Ok(column)) = (usize::try_from(field), usize::try_from(value)) else { return false };
        let count = self.pairs.get_mut(row).and_then(|row| row.get_mut(column));
        count.map(|count| *count += 1).is_some_and(|()| {
            self.fields |= 1 << row;
            true
        })
    }

    /// Calls `see` with each length of elements and how many have it, and stops counting.
    pub fn take(&mut self, mut see: impl FnMut(u64, u64)) {
        for (len, count) in (0..).zip(&mut self.elements) {
            if *count > 0 {
                see(len, mem::take(count));
            }
        }
        self.spare_elements = mem::take(&mut self.elements);
    }

    /// Calls `see` with each pair of field and value lengths and how many pairs have them, and stops counting.
    pub fn take_pairs(&mut self, mut see: impl FnMut(u64, u64, u64)) {
        let used = mem::take(&mut self.fields);
        let rows = (0..).zip(&mut self.pairs).filter(|(field, _)| used >> field & 1 == 1);
        for (field, row) in rows {
            for (value, count) in (0..).zip(row) {
                if *count > 0 {
                    see(field, value, mem::take(count));
                }
            }
        }
        self.spare_pairs = mem::take(&mut self.pairs);
    }

    /// Forgets all counts and stops counting, as after a damaged value.
    pub fn forget(&mut self) {
        if !self.elements.is_empty() {
            self.take(|_, _| ());
        }
        if !self.pairs.is_empty() {
            self.take_pairs(|_, _, _| ());
        }
    }
}
