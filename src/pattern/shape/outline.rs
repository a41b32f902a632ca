//! Outlines: shapes in which every digit is a mark, whatever its number is. They are cheaper than shapes, and usually
//! sufficient to tell whether a cached shape applies.

use super::{BLOCKS, MAX_LEN, Shape, WORDS, used};
use crate::pattern::block::{BLOCK, each_block};
use crate::pattern::word::{FACTOR, HIGH, ONES, WORD, equal_in, last_word};

/// Outline of one name.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The name with its marks, eight bytes a word, padded with zeros to the end of its last block.
    pub(super) words: [u64; WORDS],
    pub(super) length: usize,
    /// Hash of words and length.
    hash: u64,
    /// Bitmap of the digits.
    pub(super) digits: u64,
}

impl Outline {
    /// Draws the outline of `name`; returns false if it has neither outline nor shape.
    #[inline]
    pub fn draw(&mut self, name: &[u8]) -> bool {
        if name.len() > MAX_LEN {
            return false;
        }
        let drawn = self.words.as_chunks_mut::<2>().0;
        let (mut hash, mut digits, mut beyond_ascii) = (name.len() as u64, 0, 0);
        each_block(name, |block, place| {
            let (bare, of_block) = block.without_digits(); // 0x80 is the mark of a number
            let words = bare.words();
            drawn[place / BLOCK % BLOCKS] = words;
            hash = mixed(hash, words);
            digits |= of_block << place;
            beyond_ascii |= block.beyond_ascii();
        });
        (self.length, self.hash, self.digits) = (name.len(), folded(hash), digits);
        beyond_ascii == 0
    }

    /// Returns true if the name has digits.
    #[inline]
    pub fn has_digits(&self) -> bool {
        self.digits != 0
    }

    /// Returns a hash of the length, of the first segment, or eight bytes of it, and of the places of a separator in the last
    /// word, given that separator.
    #[inline]
    pub fn beginning(&self, separator: u8) -> u64 {
        let separator = ONES * u64::from(separator);
        let divides = equal_in(self.words[0], separator);
        // The lowest bit is that of the first separator; without one, this keeps all bytes.
        let before = (divides & divides.wrapping_neg()).wrapping_sub(1);
        let last = equal_in(self.words[used(self.length).saturating_sub(1) % WORDS], separator);
        let all = (self.words[0] & before) ^ (self.length as u64) << 1 ^ last >> 3;
        folded(all)
    }

    /// Returns the hash; names can be made to collide, which costs cache hits only.
    #[inline]
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

impl Shape {
    /// Returns true if `name`, whose outline this is, certainly has this shape. Returns false if the values of digits
    /// may matter; then the shape has to be computed.
    #[inline]
    pub fn fits(&self, name: &[u8], outline: &Outline) -> bool {
        if !self.is_plain || self.length != outline.length {
            return false;
        }
        // Differences are combined and tested once: a branch per block would cost more than the few blocks it saves.
        let (mine, other) = (self.words.as_chunks::<2>().0, outline.words.as_chunks::<2>().0);
        let mut difference = 0;
        for block in 0..self.length.div_ceil(BLOCK).min(mine.len()) {
            let ([first, last], [other_first, other_last]) = (mine[block], other[block]);
            difference |= (first ^ other_first) | (last ^ other_last);
        }
        (difference == 0 || self.fits_exactly(name, outline)) && !self.may_hold_date(name)
    }

    /// Compares with a shape that keeps some digits.
    #[cold]
    fn fits_exactly(&self, name: &[u8], outline: &Outline) -> bool {
        let (words, rest) = name.as_chunks::<WORD>();
        let last = (!rest.is_empty()).then(|| last_word(name, rest));
        let name = words.iter().map(|word| u64::from_le_bytes(*word)).chain(last);
        self.words.iter().zip(&outline.words).zip(name).all(|((shape, outline), name)| {
            // The name has a digit where the shape has the mark of a number; all other bytes are equal.
            let numbers = all_of(shape & HIGH);
            (shape ^ outline) & numbers | (shape ^ name) & !numbers == 0
        })
    }

    /// Returns true if a number of this name, which is otherwise equal, might be a date or the year of one.
    #[inline]
    pub(super) fn may_hold_date(&self, name: &[u8]) -> bool {
        let mut left = self.dates;
        while left != 0 {
            let number = name.get(left.trailing_zeros() as usize..).unwrap_or_default();
            // The year of a date is followed by something other than a digit; without marks, by the month.
            if let [b'1', b'9', _, _, behind, ..] | [b'2', b'0', _, _, behind, ..] = number
                && !matches!(behind, b'2'..=b'9')
            {
                return true;
            }
            left &= left - 1;
        }
        false
    }
}

/// Makes the low bits of a hash depend on all of its bits. A product alone does not: its low bits depend on those of its factors.
#[inline(always)]
fn folded(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 32).wrapping_mul(FACTOR);
    hash ^ hash >> 32
}

/// Mixes two words into a hash; their products do not wait for each other.
#[inline(always)]
fn mixed(hash: u64, [first, last]: [u64; 2]) -> u64 {
    (hash ^ first).wrapping_mul(FACTOR).rotate_left(23) ^ last.wrapping_mul(FACTOR)
}

/// Sets all bits of the bytes whose high bit is set. No other bits may be set.
#[inline]
fn all_of(high: u64) -> u64 {
    (high - (high >> 7)) | high
}
