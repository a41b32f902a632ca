//! Sets of words that are recognised at the end of a segment.

/// Length from which words share a list.
const LAST_LIST: usize = 31;

/// Words, compared without ASCII case.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WordSet {
    /// Words by length; the last list holds all from [`LAST_LIST`] on.
    by_length: [Vec<Box<[u8]>>; LAST_LIST + 1],
}

impl WordSet {
    /// Creates the set of these words.
    pub fn new<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Self {
        let mut set = WordSet::default();
        words.into_iter().for_each(|word| set.add(word.as_ref().as_bytes()));
        set
    }

    /// Adds the words of another set.
    pub fn extend(&mut self, other: &WordSet) {
        other.by_length.iter().flatten().for_each(|word| self.add(word));
    }

    fn add(&mut self, word: &[u8]) {
        if !self.has(word) {
            self.by_length[word.len().min(LAST_LIST)].push(word.into());
        }
    }

    /// Returns whether a segment is one of the words, or its last word is: `name` of `nick_name` and `nickName`.
    pub fn ends(&self, segment: &[u8]) -> bool {
        let joins = |byte: &u8| matches!(byte, b'_' | b'-' | b'.');
        let last = segment.rsplit(joins).next().unwrap_or_default();
        let hump = last.iter().rposition(u8::is_ascii_uppercase).map_or(&[][..], |at| &last[at..]);
        self.has(segment) || self.has(last) || self.has(hump)
    }

    fn has(&self, word: &[u8]) -> bool {
        self.by_length[word.len().min(LAST_LIST)].iter().any(|known| known.eq_ignore_ascii_case(word))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_word_of_a_segment_counts() {
        let set = WordSet::new(["Name", "\u{59d3}\u{540d}"]);
        let is_name = |segment: &str| set.ends(segment.as_bytes());
        assert!(
            ["name", "Name", "nick_name", "nickName", "real-name", "a.name", "\u{59d3}\u{540d}"].map(is_name)
                == [true; 7]
        );
        assert!(["names", "rename", "name_of", "", "\u{59d3}"].map(is_name) == [false; 5]);
    }

    #[test]
    fn long_words_are_told_apart() {
        let long = |byte: &str| byte.repeat(LAST_LIST + 3);
        let mut set = WordSet::new([long("a")]);
        assert!(set.ends(long("A").as_bytes()) && !set.ends(long("b").as_bytes()));
        set.extend(&WordSet::new([long("b")]));
        assert!(set.ends(long("a").as_bytes()) && set.ends(long("b").as_bytes()));
    }
}
