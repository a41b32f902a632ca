//! Filters that tell of nearly all names that they are not in a set, without comparing bytes.

/// Filter of the names that patterns begin with. Presets have some three hundred, which every segment of every key is compared
/// with.
#[derive(Debug, Clone)]
pub(super) struct NameFilter {
    /// Lengths of the names by the first letter, without its case, as bits.
    lengths: [u32; 32],
    /// One of four thousand bits for each name, by its length and three letters.
    places: [u64; 64],
}

impl Default for NameFilter {
    fn default() -> Self {
        NameFilter { lengths: [0; 32], places: [0; 64] }
    }
}

impl NameFilter {
    /// Adds a name.
    pub fn add(&mut self, name: &[u8]) {
        let (letter, length) = NameFilter::beginning(name);
        self.lengths[letter] |= length;
        let (word, bit) = NameFilter::place(name);
        self.places[word] |= bit;
    }

    /// Returns false only if the name was not added.
    #[inline]
    pub fn may_hold(&self, name: &[u8]) -> bool {
        let (letter, length) = NameFilter::beginning(name);
        self.lengths[letter % 32] & length != 0 && self.may_hold_place(name)
    }

    #[inline(never)] // few names have the length and first letter of one in the set
    fn may_hold_place(&self, name: &[u8]) -> bool {
        let (word, bit) = NameFilter::place(name);
        self.places[word % 64] & bit != 0
    }

    /// Returns the number of the first letter and the bit of the length.
    #[inline]
    fn beginning(name: &[u8]) -> (usize, u32) {
        let first = name.first().copied().unwrap_or_default();
        // Lengths that are equal modulo 32 share a bit.
        (usize::from(first % 32), 1 << (name.len() % 32))
    }

    /// Returns the word and the bit of a name.
    #[inline]
    fn place(name: &[u8]) -> (usize, u64) {
        let letter = |byte: Option<&u8>| u32::from(byte.copied().unwrap_or_default());
        let letters = letter(name.first()) | letter(name.get(name.len() / 2)) << 8 | letter(name.last()) << 16;
        // Lengths that are equal modulo 256 share a place.
        let mixed = (letters | u32::try_from(name.len()).unwrap_or(u32::MAX) << 24).wrapping_mul(0x9e37_79b1) >> 20;
        (mixed as usize / 64, 1 << (mixed % 64))
    }
}

/// Smaller filter, over length, first and last letter.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Marks([u64; MARK_WORDS]);

/// Words of a filter. Presets have some two hundred names, most of which get a bit of their own.
const MARK_WORDS: usize = 16;

impl Marks {
    /// Adds a name.
    pub fn add(&mut self, name: &[u8]) {
        let (word, bit) = Marks::place(name);
        self.0[word] |= bit;
    }

    /// Returns false only if the name was not added.
    #[inline]
    pub fn may_hold(&self, name: &[u8]) -> bool {
        let (word, bit) = Marks::place(name);
        self.0[word] & bit != 0
    }

    /// Returns the word and the bit of a name.
    #[inline]
    fn place(name: &[u8]) -> (usize, u64) {
        let letter = |byte: Option<&u8>| usize::from(byte.copied().unwrap_or_default());
        let (first, last) = (letter(name.first()), letter(name.last()));
        ((first + 5 * name.len()) % MARK_WORDS, 1 << ((last + 7 * name.len()) % 64))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_was_added_is_held(names in prop::collection::vec("[a-zA-Z]{0,40}|\\PC{0,9}", 0..20)) {
            let (mut filter, mut marks) = (NameFilter::default(), Marks::default());
            for name in &names {
                filter.add(name.as_bytes());
                marks.add(name.as_bytes());
            }
            prop_assert!(names.iter().all(|name| filter.may_hold(name.as_bytes()) && marks.may_hold(name.as_bytes())));
        }
    }

    #[test]
    fn most_other_names_are_not() {
        let mut filter = NameFilter::default();
        ["lock", "session", "queue", "counter", "rate"].iter().for_each(|name| filter.add(name.as_bytes()));
        let others = ["look", "sess", "user", "order", "cart", "profile", "lockers", "", "q", "Session", "queues"];
        assert!(others.iter().filter(|name| filter.may_hold(name.as_bytes())).count() <= 1);
    }
}
