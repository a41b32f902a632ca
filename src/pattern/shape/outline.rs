//! Outlines: shapes in which every digit is a mark, whatever its number is. They are cheaper than shapes, and usually
//! sufficient to tell whether a cached shape applies.

use super::{LONGEST, Shape, WORDS, used};
use crate::pattern::word::{FACTOR, HIGH, ONES, WORD, equal_in, last_word};

/// Outline of one name.
#[derive(Debug, Clone, Default)]
pub struct Outline {
    /// The name with its marks, eight bytes a word, padded with zeros.
    pub(super) words: [u64; WORDS],
    pub(super) length: usize,
    /// Hash of words and length.
    hash: u64,
    /// High bits in place of digits, of all words together.
    digits: u64,
}

impl Outline {
    /// Draws the outline of `name`; returns false if it has neither outline nor shape.
    #[inline]
    pub fn draw(&mut self, name: &[u8]) -> bool {
        if name.len() > LONGEST {
            return false;
        }
        let (words, rest) = name.as_chunks::<WORD>();
        let (mut hash, mut all_digits, mut all) = (name.len() as u64, 0, 0);
        let mut add = |drawn: &mut u64, word: u64| {
            let digits = digits_of_ascii(word);
            *drawn = (word & !all_of(digits)) | digits; // the mark of a number
            hash = (hash.rotate_left(23) ^ *drawn).wrapping_mul(FACTOR);
            all_digits |= digits;
            all |= word;
        };
        for (drawn, word) in self.words.iter_mut().zip(words) {
            add(drawn, u64::from_le_bytes(*word));
        }
        if !rest.is_empty() {
            add(&mut self.words[words.len() % WORDS], last_word(name, rest));
        }
        (self.length, self.hash, self.digits) = (name.len(), hash ^ hash >> 32, all_digits);
        all & HIGH == 0
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
        let hash = ((self.words[0] & before) ^ (self.length as u64).rotate_right(8) ^ last >> 3).wrapping_mul(FACTOR);
        hash ^ hash >> 32
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
        // Differences are combined and tested once: a branch per word would cost more than the few words it saves.
        let mut difference = 0;
        for at in 0..used(self.length) {
            difference |= self.words[at % WORDS] ^ outline.words[at % WORDS];
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

/// Sets the high bit of each byte that is a digit. If some bytes are not ASCII, the result has no meaning.
#[inline(always)]
fn digits_of_ascii(word: u64) -> u64 {
    // Adding `0x80 - first` carries into the high bit exactly from `first` on, and no sum of ASCII leaves its byte. Bytes above
    // the last digit set both bits, so that the difference is the range.
    let from_first = word.wrapping_add(ONES * (0x80 - u64::from(b'0')));
    let above_last = word.wrapping_add(ONES * (0x80 - u64::from(b'9') - 1));
    (from_first ^ above_last) & HIGH
}

/// Sets all bits of the bytes whose high bit is set. No other bits may be set.
#[inline]
fn all_of(high: u64) -> u64 {
    (high - (high >> 7)) | high
}
