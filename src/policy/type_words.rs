//! Words for the types of values, as which the last segment of a name is recognised.

use crate::record::Kind;

/// Length from which words share a list.
const LAST_LIST: usize = 31;

/// Words by type, compared without ASCII case.
#[derive(Debug, Clone, Default)]
pub struct TypeWords {
    /// Words by length, each with the set of types that it names; the last list holds all from [`LAST_LIST`] on.
    by_length: [Vec<(Box<[u8]>, KindSet)>; LAST_LIST + 1],
    /// Types that have words.
    kinds: KindSet,
}

/// Set of types, one bit each.
pub type KindSet = u8;

const _: () = assert!(Kind::ALL.len() <= KindSet::BITS as usize);

impl TypeWords {
    /// Adds a word for a type.
    pub fn add(&mut self, kind: Kind, word: &[u8]) {
        self.kinds |= 1 << kind as usize;
        self.by_length[word.len().min(LAST_LIST)].push((word.into(), 1 << kind as usize));
    }

    /// Returns the types that have words, none of which is this segment.
    #[inline]
    pub fn not_named_by(&self, segment: &[u8]) -> KindSet {
        let same = self.by_length[segment.len().min(LAST_LIST)].iter();
        let named = same.filter(|(word, _)| word.eq_ignore_ascii_case(segment));
        self.kinds & !named.fold(0, |kinds, (_, kind)| kinds | kind)
    }

    /// Returns whether a word has digits or `@`, one of which every id has.
    pub fn may_be_ids(&self) -> bool {
        let tells = |byte: &u8| byte.is_ascii_digit() || *byte == b'@';
        self.by_length.iter().flatten().any(|(word, _)| word.iter().any(tells))
    }
}
