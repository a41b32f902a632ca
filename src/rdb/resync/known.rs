//! Values that a search behind damage has come past, so that it reads none of them again and again.

use std::collections::BTreeMap;

use crate::rdb::value_type::ValueType;

/// Number of values that are remembered: a few megabytes.
const MAX_VALUES: usize = 1 << 16;
/// Work from which a value is worth remembering.
const LONG: usize = 256;

/// Size of a value, and whether it is sound, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    /// It has this many bytes; its content was not checked.
    Framed(usize),
    /// It has this many bytes, and is sound.
    Sound(usize),
    Damaged,
}

/// Values by the position of their first byte.
#[derive(Debug, Default)]
pub(super) struct Known(BTreeMap<usize, (ValueType, Value)>);

impl Known {
    /// Forgets all values: those of compact hashes depend on templates, which differ between searches.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns what is known about the value of this type at `at`.
    pub fn get(&self, at: usize, value_type: ValueType) -> Option<Value> {
        self.0.get(&at).filter(|(known, _)| *known == value_type).map(|&(_, value)| value)
    }

    /// Remembers a value that took so much work, unless reading it again takes no longer.
    pub fn add(&mut self, at: usize, value_type: ValueType, value: Value, work: usize) {
        if work < LONG {
            return;
        }
        if self.0.len() >= MAX_VALUES {
            self.0.clear();
        }
        self.0.insert(at, (value_type, value));
    }
}
