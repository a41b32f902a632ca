//! One key as the rules see it: its record, what the policy says of its pattern, and its segments without the braces of
//! a hash tag.

use std::borrow::Cow;

use super::context::Context;
use super::dictionary::{Entry, Matched, TtlClass};
use crate::record::Record;
use crate::units::Millis;

/// The bytes that divide a name into segments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Separators([bool; 256]);

impl Separators {
    /// These bytes, each of which divides; none at all means the usual `:`.
    pub fn new(bytes: &[u8]) -> Self {
        let mut set = [false; 256];
        let bytes = if bytes.is_empty() { b":" } else { bytes };
        bytes.iter().for_each(|&byte| set[usize::from(byte)] = true);
        Separators(set)
    }

    /// Whether the byte divides.
    #[inline]
    pub fn contains(&self, byte: u8) -> bool {
        self.0[usize::from(byte)]
    }
}

impl Default for Separators {
    fn default() -> Self {
        Separators::new(b":")
    }
}

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct KeyView<'a> {
    /// All that was read of it.
    pub record: &'a Record<'a>,
    /// What else rules may know.
    pub context: &'a Context,
    /// What the policy says of its pattern.
    pub matched: Matched,
}

impl<'a> KeyView<'a> {
    /// The name, all bytes.
    pub fn name(&self) -> &'a [u8] {
        self.record.key
    }

    /// The name without the two braces of its hash tag: `{user:1}:name` is `user:1:name`. Copies when there is one.
    pub fn untagged(&self) -> Cow<'a, [u8]> {
        match untagged(self.record.key) {
            [_, [], _] => Cow::Borrowed(self.record.key), // what a tag encloses is never empty
            pieces => Cow::Owned(pieces.concat()),
        }
    }

    /// How many segments there are; at least one. The braces of a hash tag belong to none.
    pub fn segment_count(&self) -> u64 {
        let divides = |byte: &&u8| self.context.separators.contains(**byte);
        let separators = untagged(self.record.key).into_iter().flatten().filter(divides);
        separators.count() as u64 + 1
    }

    /// The entry of the data dictionary that the key matches.
    pub fn entry(&self) -> Option<&'a Entry> {
        self.matched.entry.and_then(|entry| self.context.entries.get(usize::from(entry)))
    }

    /// Its class of lifetimes: that of its entry, or the class whose patterns it matches.
    pub fn class(&self) -> Option<&'a TtlClass> {
        self.matched.class.and_then(|class| self.context.classes.get(usize::from(class)))
    }

    /// Milliseconds that it has left at the reference time; negative when it had expired. `None` without expiry or
    /// without a time to hold it against.
    pub fn left(&self) -> Option<i64> {
        let (Millis(at), Millis(now)) = (self.record.expires_at?, self.context.reference?);
        Some(at.saturating_sub(now))
    }
}

/// Segments of a name that has been [untagged](KeyView::untagged); at least one, which may be empty.
pub fn segments<'n>(untagged: &'n [u8], separators: &'n Separators) -> impl Iterator<Item = &'n [u8]> {
    untagged.split(|&byte| separators.contains(byte))
}

/// The name before, inside and after its hash tag, without the braces.
///
/// As the servers define it, a tag stands between the first `{` and the first `}` behind it, and is not empty:
/// `a{}b` and `a}b{` have none. A name without a tag comes back in one piece, whatever the place.
pub(super) fn untagged(name: &[u8]) -> [&[u8]; 3] {
    let whole = [name, &[], &[]];
    let Some(open) = name.iter().position(|&byte| byte == b'{') else { return whole };
    let (before, rest) = (&name[..open], &name[open + 1..]);
    match rest.iter().position(|&byte| byte == b'}') {
        None | Some(0) => whole,
        Some(close) => [before, &rest[..close], &rest[close + 1..]],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::with_name;

    fn all(name: &str, separators: &[u8]) -> Vec<String> {
        let separators = Separators::new(separators);
        let context = Context { separators, ..Context::default() };
        with_name(name.as_bytes(), &context, |view| {
            let name = view.untagged();
            let segments: Vec<_> =
                segments(&name, &separators).map(|segment| String::from_utf8(segment.to_vec()).unwrap()).collect();
            assert_eq!(view.segment_count(), segments.len() as u64);
            segments
        })
    }

    #[test]
    fn names_divide_at_each_separator() {
        assert_eq!(all("a:b.c", b""), ["a", "b.c"]);
        assert_eq!(all("a:b.c", b":."), ["a", "b", "c"]);
        assert_eq!(all("a::", b":"), ["a", "", ""]);
        assert_eq!(all("", b":"), [""]);
    }

    #[test]
    fn the_braces_of_a_tag_belong_to_no_segment() {
        assert_eq!(all("{user:1}:name", b":"), ["user", "1", "name"]);
        assert_eq!(all("user:{1}", b":"), ["user", "1"]);
        assert_eq!(all("{user}", b":"), ["user"]);
        assert_eq!(all("a{b}c{d}", b":"), ["abc{d}"]);
    }

    #[test]
    fn braces_that_are_no_tag_stay() {
        assert_eq!(all("user:{}:1", b":"), ["user", "{}", "1"]);
        assert_eq!(all("user:{1", b":"), ["user", "{1"]);
        assert_eq!(all("}a{", b":"), ["}a{"]);
    }
}
