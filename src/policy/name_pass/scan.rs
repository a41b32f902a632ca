//! Classes of the bytes of a name, and what is found in a pass over them.

use crate::pattern::segment::Separators;
use crate::policy::rules::key::special_chars::is_special;

/// Separator of segments.
pub const SEPARATOR: u8 = 1;
/// ASCII character that violates `key.special-chars`.
pub const SPECIAL: u8 = 2;
/// Byte beyond ASCII: part of a character, or invalid.
pub const HIGH: u8 = 4;
/// Opening brace, which may begin a hash tag; with ids that must be filled in also the percent sign, which may begin a placeholder.
pub const BRACE: u8 = 8;
/// Upper-case ASCII letter.
pub const UPPER: u8 = 16;
/// Byte outside the set of allowed characters.
pub const OUTSIDE: u8 = 32;
/// Closing brace, which may end a hash tag.
pub const CLOSE: u8 = 64;
/// Separator of words. If words have separators, those of segments have this class, too.
pub const WORD: u8 = 128;

/// Longest name counted here: each count has 16 bits. The rules themselves count in longer names.
pub const MAX_COUNTED_LEN: usize = u16::MAX as usize - 1; // there is one segment more than separators

/// Increments of the four counts by classes of a byte, 16 bits each, from the lowest: special characters, upper-case
/// letters, characters outside the set. The highest 16 bits count empty segments.
static COUNTS: [u64; 256] = {
    let mut counts = [0; 256];
    let mut classes = 0;
    while classes < counts.len() {
        let special = (classes as u64) >> SPECIAL.trailing_zeros() & 1;
        let upper = (classes as u64) >> UPPER.trailing_zeros() & 1;
        let outside = (classes as u64) >> OUTSIDE.trailing_zeros() & 1;
        counts[classes] = special | upper << 16 | outside << 32;
        classes += 1;
    }
    counts
};

/// State of a pass over the bytes of a name.
#[derive(Clone, Copy)]
pub struct NameScan {
    /// Union of the classes of all bytes.
    pub union: u8,
    /// [`SEPARATOR`] if the current segment is still empty, [`WORD`] if the current word is.
    pub open: u8,
    /// [`SEPARATOR`] if a segment was empty, [`WORD`] if a word was.
    pub empty: u8,
    pub separators: u32,
}

impl NameScan {
    pub const NOTHING: NameScan = NameScan { union: 0, open: SEPARATOR | WORD, empty: 0, separators: 0 };

    #[inline]
    pub fn pass(mut self, bytes: &[u8], classes: &[u8; 256]) -> NameScan {
        for &byte in bytes {
            let class = classes[usize::from(byte)];
            self.union |= class;
            self.empty |= class & self.open;
            self.open = class & (SEPARATOR | WORD);
            self.separators = self.separators.wrapping_add(u32::from(class & SEPARATOR));
        }
        self
    }

    pub fn has_empty_segment(self) -> bool {
        (self.empty | self.open) & SEPARATOR != 0
    }

    /// Returns whether a segment or a word is empty, if words have separators.
    pub fn has_empty_word(self) -> bool {
        (self.empty | self.open) & WORD != 0
    }

    pub fn has(self, class: u8) -> bool {
        self.union & class != 0
    }
}

/// Counts special, upper-case and disallowed characters of an ASCII name, and its empty segments if it has no braces.
///
/// Four counters share one word, as in [`COUNTS`], so that each byte costs one addition.
pub fn count(name: &[u8], classes: &[u8; 256]) -> u64 {
    let (mut counts, mut open) = (0, SEPARATOR);
    for &byte in name {
        let class = classes[usize::from(byte)];
        counts += COUNTS[usize::from(class)] + (u64::from(class & open & SEPARATOR) << 48);
        open = class & SEPARATOR;
    }
    // The last segment ends without a separator.
    counts.wrapping_add(u64::from(open & SEPARATOR) << 48)
}

/// Returns the classes of a byte.
pub fn class_of(byte: u8, separators: &Separators) -> u8 {
    let class = |is: bool, class: u8| if is { class } else { 0 };
    class(separators.contains(byte), SEPARATOR)
        | class(byte.is_ascii() && is_special(char::from(byte)), SPECIAL)
        | class(!byte.is_ascii(), HIGH)
        | class(byte == b'{', BRACE)
        | class(byte == b'}', CLOSE)
        | class(byte.is_ascii_uppercase(), UPPER)
}
