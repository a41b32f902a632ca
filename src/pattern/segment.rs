//! Separators of a key's segments: `user:1001:cart` has three.

use crate::error::{Error, Result};

/// Set of bytes that separate the segments of a key; `:` by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Separators {
    bytes: Vec<u8>,
    /// INVARIANT: true exactly for the members of `bytes`.
    table: [bool; 256],
}

impl Separators {
    /// Checks one or more separators, each a different ASCII punctuation character or the space.
    ///
    /// Letters and digits are refused because names are made of them, braces because hash tags are, control characters because
    /// patterns are printed.
    pub fn new(separators: &[String]) -> Result<Self> {
        if separators.is_empty() {
            return Err(Error::usage("at least one separator is needed"));
        }
        let mut all = Separators { bytes: Vec::with_capacity(separators.len()), table: [false; 256] };
        for separator in separators {
            let &[byte] = separator.as_bytes() else {
                return Err(Error::usage(format!("separator {separator:?}: must be a single ASCII character")));
            };
            if !(byte == b' ' || byte.is_ascii_punctuation()) || byte == b'{' || byte == b'}' {
                return Err(Error::usage(format!("separator {separator:?}: must be punctuation, and no brace")));
            }
            if all.contains(byte) {
                return Err(Error::usage(format!("separator {separator:?} is given twice")));
            }
            all.insert(byte);
        }
        Ok(all)
    }

    /// Returns true if `byte` separates segments.
    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        self.table[usize::from(byte)]
    }

    /// Returns the separators in the order given.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Separators for tests, without the checks of [`Separators::new`]; the colon if `bytes` is empty.
    #[cfg(test)]
    pub fn of(bytes: &[u8]) -> Self {
        let mut all = Separators { bytes: Vec::new(), table: [false; 256] };
        bytes.iter().for_each(|&byte| all.insert(byte));
        if bytes.is_empty() { Separators::default() } else { all }
    }

    /// Splits `key` into segments: one more than it has separators, so that the empty key has one empty segment.
    pub fn split<'a>(&'a self, key: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        key.split(|&byte| self.contains(byte))
    }

    fn insert(&mut self, byte: u8) {
        self.bytes.push(byte);
        self.table[usize::from(byte)] = true;
    }
}

impl Default for Separators {
    fn default() -> Self {
        let mut colon = Separators { bytes: Vec::new(), table: [false; 256] };
        colon.insert(b':');
        colon
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn separators(given: &[&str]) -> Result<Separators> {
        Separators::new(&given.iter().map(|&s| s.to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn default_is_the_colon() {
        assert_eq!(Separators::default(), separators(&[":"]).unwrap());
        assert_eq!((0..=255).filter(|&b| Separators::default().contains(b)).collect::<Vec<u8>>(), b":");
    }

    #[test]
    fn several_separators_count_alike() {
        let separators = separators(&[":", "/", " "]).unwrap();
        assert_eq!(separators.as_bytes(), b":/ ");
        assert_eq!(separators.split(b"a/b:c d").collect::<Vec<_>>(), [b"a", b"b", b"c", b"d"]);
    }

    #[test]
    fn every_separator_ends_a_segment() {
        let colon = Separators::default();
        let count = |key: &[u8]| colon.split(key).count();
        assert_eq!([count(b""), count(b"a"), count(b":"), count(b"a::b:")], [1, 1, 2, 4]);
    }

    #[test]
    fn invalid_separators_are_refused() {
        for (given, word) in [
            (&[][..], "at least one"),
            (&[""], "single ASCII"),
            (&["::"], "single ASCII"),
            (&["：" /* full-width */], "single ASCII"),
            (&["a"], "punctuation"),
            (&["7"], "punctuation"),
            (&["{"], "brace"),
            (&["}"], "brace"),
            (&["\n"], "punctuation"),
            (&[":", "/", ":"], "twice"),
        ] {
            let error = separators(given).unwrap_err();
            assert!(matches!(error.kind(), crate::error::ErrorKind::Usage(_)));
            assert!(error.to_string().contains(word), "{error}");
        }
    }
}
