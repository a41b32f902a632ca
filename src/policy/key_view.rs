//! View of one key for rules: its record, the declarations of the policy that it matches, and its segments without the
//! braces of a hash tag.

use std::borrow::Cow;

use super::caches::{CACHE, must_stay};
use super::context::Context;
use super::dictionary::{DictionaryEntry, ExpectedTypes, Matched, TtlClass};
use crate::pattern::slot::untagged;
use crate::record::Record;
use crate::units::Millis;

/// Key as seen by rules.
#[derive(Debug, Clone, Copy)]
pub struct KeyView<'a> {
    /// Record of the key.
    pub record: &'a Record<'a>,
    /// Facts about run, server and policy.
    pub context: &'a Context,
    /// Declarations of the policy that the key matches.
    pub matched: Matched,
}

impl<'a> KeyView<'a> {
    /// Returns the name, including the braces of a hash tag.
    pub fn name(&self) -> &'a [u8] {
        self.record.key
    }

    /// Returns the name without the two braces of its hash tag: `{user:1}:name` becomes `user:1:name`.
    ///
    /// Copies only if the name has a tag.
    pub fn untagged(&self) -> Cow<'a, [u8]> {
        match untagged(self.record.key) {
            [_, [], _] => Cow::Borrowed(self.record.key), // no tag: a tag is never empty
            pieces => Cow::Owned(pieces.concat()),
        }
    }

    /// Returns the number of segments, at least one. The braces of a hash tag belong to no segment.
    pub fn segment_count(&self) -> u64 {
        let divides = |byte: &&u8| self.context.separators.contains(**byte);
        let separators = untagged(self.record.key).into_iter().flatten().filter(divides);
        separators.count() as u64 + 1
    }

    /// Returns the dictionary entry that the key matches.
    pub fn entry(&self) -> Option<&'a DictionaryEntry> {
        self.matched.entry.and_then(|entry| self.context.entries.get(usize::from(entry)))
    }

    /// Returns the TTL class of the key: that of its dictionary entry, or the class whose patterns it matches; `None` if the
    /// class does not take its type, takes locks only and this is none, or is that of caches and this has to stay.
    pub fn class(&self) -> Option<&'a TtlClass> {
        self.context.classes.get(usize::from(self.class_index()?))
    }

    /// Returns the index of [`KeyView::class`].
    pub fn class_index(&self) -> Option<u16> {
        let takes = |index: &u16| {
            let class = self.context.classes.get(usize::from(*index));
            class.is_some_and(|class| {
                let suits = class.kinds.is_empty() || class.kinds.contains(&self.record.kind);
                suits && (!class.locks || self.may_be_lock()) && !(self.lasts() && self.must_stay(class))
            })
        };
        self.matched.lock_class.filter(takes).or_else(|| self.matched.class.filter(takes))
    }

    fn lasts(&self) -> bool {
        self.record.expires_at.is_none()
    }

    /// Returns whether a key without an expiry in the class of caches holds something that has to stay, such as a queue.
    fn must_stay(&self, class: &TtlClass) -> bool {
        class.required && class.name == CACHE && must_stay(self.record, &self.context.separators)
    }

    /// Returns whether the key, whose name is that of a lock, may be one.
    pub fn may_be_lock(&self) -> bool {
        self.matched.lock_name.may_be_lock(self.record)
    }

    /// Returns the types that the policy expects; `None` if it says nothing about the key.
    pub fn expected(&self) -> Option<&'a ExpectedTypes> {
        self.context.expected.get(usize::from(self.matched.expected?))
    }

    /// Returns the reference time of the file of the key.
    pub fn reference(&self) -> Option<Millis> {
        self.context.reference.of(self.record.file)
    }

    /// Returns the remaining time to live at the reference time in milliseconds, negative if expired; `None` without expiry
    /// or reference time.
    pub fn left(&self) -> Option<i64> {
        let (Millis(at), Millis(now)) = (self.record.expires_at?, self.reference()?);
        Some(at.saturating_sub(now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pattern::segment::Separators;
    use crate::policy::testing::with_name;

    fn all(name: &str, separators: &[u8]) -> Vec<String> {
        let separators = Separators::of(separators);
        let context = Context { separators: separators.clone(), ..Context::default() };
        with_name(name.as_bytes(), &context, |view| {
            let name = view.untagged();
            let segments: Vec<_> =
                separators.split(&name).map(|segment| String::from_utf8(segment.to_vec()).unwrap()).collect();
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
