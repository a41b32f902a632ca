//! IPv4 addresses, recognised without a branch on their digits, which are unpredictable.

use crate::pattern::block::Block;

/// Longest address: four numbers of three digits.
const MAX_LEN: usize = 15;

/// Returns whether all of `id` is four numbers of at most 255, without leading zeros, with dots between.
pub fn is_ipv4(id: &[u8]) -> bool {
    if id.len() > MAX_LEN {
        return false;
    }
    let block = Block::load_padded(id);
    let (dots, digits) = (block.equal(b'.'), block.within(b'0', b'9'));
    let end = 1 << id.len();
    if dots.count_ones() != 3 || dots | digits != end - 1 {
        return false;
    }
    let [first, last] = block.words();
    let text = u128::from(first) | u128::from(last) << u64::BITS;
    let (mut good, mut start, mut ends) = (true, 0, dots | end);
    for _ in 0..4 {
        let end = ends.trailing_zeros();
        ends &= ends - 1;
        good &= is_octet(text >> (8 * start), end - start);
        start = end + 1;
    }
    good
}

/// Returns whether the first `length` bytes of a text, all of them digits, are a number of at most 255 without leading zeros.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the first four bytes")]
fn is_octet(text: u128, length: u32) -> bool {
    // Right-aligned: the last digit is the third byte, and those that are missing are zero.
    let digits = (text as u32) << (8 * 3u32.saturating_sub(length)) & 0x0F_0F_0F;
    let value = (digits & 0xF) * 100 + (digits >> 8 & 0xF) * 10 + (digits >> 16);
    let leading_zero = length > 1 && text as u32 & 0xF == 0;
    (1..=3).contains(&length) & (value <= 255) & !leading_zero
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4_000))]
        #[test]
        fn addresses_are_those_of_the_standard_library(
            text in prop_oneof!["[0-9]{1,3}(\\.(25[4-7]|[0-2]?[0-9]?[0-9])){3}", "[0-9.]{5,16}", "[ -~]{0,17}"],
        ) {
            prop_assert_eq!(is_ipv4(text.as_bytes()), text.parse::<Ipv4Addr>().is_ok(), "{}", text);
        }
    }
}
