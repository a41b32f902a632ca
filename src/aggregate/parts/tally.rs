//! Keys and their memory, counted.

use crate::report::Weight;
use crate::units::Bytes;

/// A number of keys and the sum of their memory. The sum saturates, so it does not depend on its order.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Keys counted.
    pub keys: u64,
    /// The sum of their memory.
    pub memory: Bytes,
}

impl Tally {
    /// Counts one key.
    #[inline]
    pub fn add(&mut self, memory: Bytes) {
        self.keys += 1;
        self.memory += memory;
    }

    /// Counts what `other` has counted.
    #[inline]
    pub fn merge(&mut self, other: Tally) {
        self.keys += other.keys;
        self.memory += other.memory;
    }

    /// Counts, class by class, what `others` have counted. Both sides have the same classes.
    pub fn merge_all(tallies: &mut [Tally], others: &[Tally]) {
        debug_assert_eq!(tallies.len(), others.len(), "both sides are of one plan");
        tallies.iter_mut().zip(others).for_each(|(tally, other)| tally.merge(*other));
    }
}

impl From<Tally> for Weight {
    fn from(tally: Tally) -> Self {
        Weight { keys: tally.keys, memory: tally.memory }
    }
}

/// `part` as a fraction of `whole`; 0 when there is no whole. Only for finished sums: rounding is fine there.
pub fn share(part: Bytes, whole: Bytes) -> f64 {
    match whole.0 {
        0 => 0.0,
        whole => part.0 as f64 / whole as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_all_machines_saturates() {
        let mut tally = Tally::default();
        tally.add(Bytes(u64::MAX));
        tally.add(Bytes(7));
        assert_eq!(tally, Tally { keys: 2, memory: Bytes(u64::MAX) });
    }

    #[test]
    fn a_share_of_nothing_is_zero() {
        assert_eq!(share(Bytes(0), Bytes(0)), 0.0);
        assert_eq!(share(Bytes(1), Bytes(4)), 0.25);
    }
}
