//! Segments that are tokens, such as session ids and base64, found with the bitmaps of their characters.

use std::ops::Range;

use super::ids::IdMarker;
use super::ones;
use crate::pattern::classify::MIN_HEX_LEN;
use crate::pattern::classify::token::{self, RunBits};

/// Most punctuation before a token that belongs to it, and most `=` behind it.
const PADDING: usize = 2;

impl IdMarker {
    /// Returns true if a whole segment is certainly one token, with the punctuation before it and the `=` behind it. `hex` is the
    /// bitmap of its letters up to `f`; with `counted` it may hold bytes that tests count.
    pub(super) fn is_one_token(&self, segment: &[u8], bits: RunBits, hex: u64, counted: bool) -> bool {
        let padding = segment.iter().rev().take_while(|&&byte| byte == b'=').count();
        let letters_or_digits = bits.digits | bits.lower | bits.upper;
        let before = letters_or_digits.trailing_zeros() as usize;
        let range = before..segment.len() - padding;
        let is_padded_too_much = padding > PADDING || before > PADDING || padding > 0 && !self.may_hold(b'=', counted);
        if is_padded_too_much || range.len() < token::MIN_LEN {
            return false;
        }
        let run = &segment[range];
        let mut left = !letters_or_digits & ones(before + run.len());
        while left != 0 {
            match segment.get(left.trailing_zeros() as usize) {
                Some(&byte @ (b'-' | b'_' | b'+' | b'/')) if self.may_hold(byte, counted) => {}
                _ => return false,
            }
            left &= left - 1;
        }
        let RunBits { digits, lower, upper } = bits;
        let bits = RunBits { digits: digits >> before, lower: lower >> before, upper: upper >> before };
        let marks = !(letters_or_digits >> before) & ones(run.len());
        let is_named = |piece| marks != 0 && bits.is_named(run, &piece);
        let first = 0..(marks.trailing_zeros() as usize).min(run.len());
        let last = (u64::BITS - marks.leading_zeros()) as usize..run.len();
        if begins_otherwise(run, &first, bits, hex >> before) || !bits.is_token(run, marks) {
            return false;
        }
        // A word or a number at either end is not part of the token.
        !is_named(first) && (padding > 0 || !is_named(last))
    }
}

/// Returns true if the first piece of a run may be a date, a hexadecimal number or the beginning of a UUID.
fn begins_otherwise(run: &[u8], first: &Range<usize>, bits: RunBits, hex: u64) -> bool {
    let all = ones(first.len());
    let is_number = first.len() > 3 && bits.digits & all == all;
    let is_hex = first.len() >= MIN_HEX_LEN && (bits.digits | hex) & all == all;
    is_number || is_hex || bits.digits.trailing_ones() == 8 || matches!(run, [b'0', b'x' | b'X', ..])
}
