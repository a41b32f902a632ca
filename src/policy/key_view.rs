//! A key's name as the rules see it: its bytes, and its segments without the braces of a hash tag.

use std::borrow::Cow;

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

/// One name.
#[derive(Debug, Clone)]
pub struct KeyView<'a> {
    /// All bytes.
    pub bytes: &'a [u8],
    untagged: Cow<'a, [u8]>,
    separators: &'a Separators,
}

impl<'a> KeyView<'a> {
    /// Looks at a name. Copies it when a hash tag must be taken out.
    pub fn new(bytes: &'a [u8], separators: &'a Separators) -> Self {
        let untagged = match untagged(bytes) {
            [_, [], _] => Cow::Borrowed(bytes), // what a tag encloses is never empty
            pieces => Cow::Owned(pieces.concat()),
        };
        KeyView { bytes, untagged, separators }
    }

    /// The name's segments; at least one, which may be empty. The two braces of a hash tag belong to none:
    /// `{user:1}:name` has the segments `user`, `1`, `name`.
    pub fn segments(&self) -> impl Iterator<Item = &[u8]> {
        self.untagged.split(|&byte| self.separators.contains(byte))
    }
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

    fn segments(name: &str, separators: &[u8]) -> Vec<String> {
        let separators = Separators::new(separators);
        let view = KeyView::new(name.as_bytes(), &separators);
        view.segments().map(|segment| String::from_utf8(segment.to_vec()).unwrap()).collect()
    }

    #[test]
    fn names_divide_at_each_separator() {
        assert_eq!(segments("a:b.c", b""), ["a", "b.c"]);
        assert_eq!(segments("a:b.c", b":."), ["a", "b", "c"]);
        assert_eq!(segments("a::", b":"), ["a", "", ""]);
        assert_eq!(segments("", b":"), [""]);
    }

    #[test]
    fn the_braces_of_a_tag_belong_to_no_segment() {
        assert_eq!(segments("{user:1}:name", b":"), ["user", "1", "name"]);
        assert_eq!(segments("user:{1}", b":"), ["user", "1"]);
        assert_eq!(segments("{user}", b":"), ["user"]);
        assert_eq!(segments("a{b}c{d}", b":"), ["abc{d}"]);
    }

    #[test]
    fn braces_that_are_no_tag_stay() {
        assert_eq!(segments("user:{}:1", b":"), ["user", "{}", "1"]);
        assert_eq!(segments("user:{1", b":"), ["user", "{1"]);
        assert_eq!(segments("}a{", b":"), ["}a{"]);
    }
}
