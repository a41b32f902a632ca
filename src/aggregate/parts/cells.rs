//! Numbering of the pairs of type and encoding.

use crate::record::{Encoding, Kind};

/// Number of pairs.
pub const CELLS: usize = Kind::ALL.len() * Encoding::ALL.len();

/// Returns the number of a pair, below [`CELLS`].
///
/// Both enums are numbered from 0 in the order of their `ALL`.
#[inline]
pub fn cell_of(kind: Kind, encoding: Encoding) -> usize {
    kind as usize * Encoding::ALL.len() + encoding as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_has_a_number_of_its_own() {
        let cells: Vec<_> =
            Kind::ALL.iter().flat_map(|&kind| Encoding::ALL.map(|encoding| cell_of(kind, encoding))).collect();
        assert_eq!(cells, (0..CELLS).collect::<Vec<_>>());
    }
}
