//! Shares of a whole.

use crate::units::Bytes;

/// Returns `part` as a fraction of `whole`; 0 if `whole` is 0. For finished sums only, since it rounds.
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
    fn a_share_of_nothing_is_zero() {
        assert_eq!(share(Bytes(0), Bytes(0)), 0.0);
        assert_eq!(share(Bytes(1), Bytes(4)), 0.25);
    }
}
