//! The checksum at the end of a snapshot: CRC-64 by Jones, reflected, initial value 0, no final xor.
//!
//! Parts may be checked apart and joined in file order, so that the file is read once, batch by batch, on as many
//! threads as there are. The work is done by `crc-fast` with the processor's carry-less multiplication where it has
//! one.

use crc_fast::CrcAlgorithm::Crc64Redis;

/// The checksum of `bytes`; of none, 0.
#[inline]
pub fn checksum(bytes: &[u8]) -> u64 {
    crc_fast::checksum(Crc64Redis, bytes)
}

/// The checksum of bytes that come piece by piece.
#[derive(Debug, Clone)]
pub struct Crc64Digest(crc_fast::Digest);

impl Crc64Digest {
    /// Of no bytes yet.
    pub fn new() -> Self {
        Crc64Digest(crc_fast::Digest::new(Crc64Redis))
    }

    /// Takes more bytes into account.
    #[inline]
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// The checksum so far.
    pub fn value(&self) -> u64 {
        self.0.finalize()
    }
}

impl Default for Crc64Digest {
    fn default() -> Self {
        Crc64Digest::new()
    }
}

/// The checksum of two parts one behind the other, from the checksum of each and the length of the second.
///
/// Costs about 3 microseconds for a batch of 4 MiB, 10 for any length: the checksum of the first part is
/// carried over `second_len` bytes by one multiplication with a power of x, and powers come by squaring. (The combining
/// of `crc-fast` squares matrices instead, which took as long as the checksums themselves.)
pub fn combine(first: u64, second: u64, second_len: u64) -> u64 {
    times(first, power_of_bytes(second_len)) ^ second
}

/// The polynomial, reflected like all numbers here: the highest bit is the coefficient of 1, the lowest that of x^63.
const POLYNOMIAL: u64 = 0x95AC_9329_AC4B_C9B5;
const ONE: u64 = 1 << 63;
const X_TO_THE_8: u64 = ONE >> 8;

/// x to the power of 8 * `len`, modulo the polynomial.
fn power_of_bytes(mut len: u64) -> u64 {
    let (mut power, mut square) = (ONE, X_TO_THE_8);
    while len > 0 {
        if len & 1 == 1 {
            power = times(power, square);
        }
        square = times(square, square);
        len >>= 1;
    }
    power
}

/// The product of two polynomials, modulo the polynomial.
fn times(left: u64, mut right: u64) -> u64 {
    let mut product = 0;
    for bit in (0..u64::BITS).rev() {
        product ^= right & ((left >> bit) & 1).wrapping_neg();
        right = by_x(right);
    }
    product
}

/// `value` times x: one bit of the division that a checksum is.
fn by_x(value: u64) -> u64 {
    (value >> 1) ^ (POLYNOMIAL & (value & 1).wrapping_neg())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The slow, obvious twin: one bit at a time, by the reflected polynomial.
    fn bitwise(bytes: &[u8]) -> u64 {
        bytes.iter().fold(0, |crc, &byte| (0..8).fold(crc ^ u64::from(byte), |crc, _| by_x(crc)))
    }

    #[test]
    fn check_value_is_that_of_the_servers() {
        assert_eq!(checksum(b"123456789"), 0xE9C6_D914_C4B8_D9CA);
        assert_eq!(bitwise(b"123456789"), 0xE9C6_D914_C4B8_D9CA);
        assert_eq!(checksum(b""), 0);
    }

    #[test]
    fn processor_with_carry_less_multiplication_uses_it() {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("pclmulqdq") && std::arch::is_x86_feature_detected!("sse4.1") {
            assert!(crc_fast::get_calculator_target(Crc64Redis).contains("pclmulqdq"));
        }
    }

    #[test]
    fn combining_does_not_walk_the_length() {
        // 2^64 - 1 zero bytes behind an empty part: over in no time, or never.
        assert_eq!(combine(0, 7, u64::MAX), 7);
        assert_eq!(combine(5, 0, 0), 5);
    }

    proptest! {
        #[test]
        fn combining_equals_that_of_the_crate(first: u64, second: u64, len: u64, shift in 0u32..64) {
            let len = len >> shift;
            prop_assert_eq!(combine(first, second, len), crc_fast::checksum_combine(Crc64Redis, first, second, len));
        }

        #[test]
        fn equals_the_bitwise_twin(bytes in prop::collection::vec(any::<u8>(), 0..3000)) {
            prop_assert_eq!(checksum(&bytes), bitwise(&bytes));
        }

        #[test]
        fn parts_combine_to_the_whole(bytes in prop::collection::vec(any::<u8>(), 0..3000), at in any::<prop::sample::Index>()) {
            let (first, second) = bytes.split_at(at.index(bytes.len() + 1));
            let second_len = u64::try_from(second.len()).unwrap();
            prop_assert_eq!(combine(checksum(first), checksum(second), second_len), checksum(&bytes));
        }
    }
}
