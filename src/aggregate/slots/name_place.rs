//! Order of keys by database and name, by a number of 16 bytes that decides most comparisons.

/// Database and beginning of a name as a number. If it is greater than that of another key, the key comes later in the order of
/// database and name; if it is equal, nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct NamePlace(u128);

impl NamePlace {
    /// Place that no key comes after.
    pub const UNKNOWN: NamePlace = NamePlace(u128::MAX);

    /// Returns the place of a key, given its name without the common beginning.
    pub fn of(db: u64, rest: &[u8]) -> NamePlace {
        let mut bytes = [0; 16];
        // Higher databases share a number, so that their names are always compared.
        bytes[0] = u8::try_from(db).unwrap_or(u8::MAX);
        match rest.first_chunk::<15>() {
            _ if bytes[0] == u8::MAX => {}
            Some(rest) => bytes[1..].copy_from_slice(rest),
            None => bytes[1..=rest.len()].copy_from_slice(rest),
        }
        NamePlace(u128::from_be_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn places_keep_the_order(
            one in (0u64..300, "[a\\x00\u{ff}]{0,20}"), other in (0u64..300, "[a\\x00\u{ff}]{0,20}"),
        ) {
            let place = |(db, name): &(u64, String)| NamePlace::of(*db, name.as_bytes());
            if place(&one) > place(&other) {
                proptest::prop_assert!(one > other);
            }
            proptest::prop_assert!(place(&one) <= NamePlace::UNKNOWN);
        }
    }
}
