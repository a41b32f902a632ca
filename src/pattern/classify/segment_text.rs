//! Writer of one segment of a pattern.

use super::{MAX_NAME_LEN, SegmentClass};
use crate::pattern::PartKind;

/// Appends one segment to the text of a pattern, at most [`MAX_NAME_LEN`] bytes of it.
pub struct SegmentText<'a> {
    text: &'a mut String,
    start: usize,
    literals: bool,
    classes: u32,
    full: bool,
}

impl<'a> SegmentText<'a> {
    /// Starts a segment at the end of `text`.
    #[inline]
    pub fn new(text: &'a mut String) -> Self {
        let start = text.len();
        SegmentText { text, start, literals: false, classes: 0, full: false }
    }

    /// Appends text of the key, or doubled braces.
    #[inline]
    pub fn literal(&mut self, literal: &str) {
        self.literals |= !literal.is_empty();
        self.append(literal);
    }

    /// Appends a class.
    #[inline]
    pub fn class(&mut self, class: SegmentClass) {
        self.classes += 1; // a class takes bytes, so there are few
        self.append(class.text());
    }

    /// Returns whether the segment is too long, so that the rest of it does not matter.
    pub fn is_full(&self) -> bool {
        self.full
    }

    /// Ends the segment and returns its kind.
    #[inline]
    pub fn finish(self) -> PartKind {
        if self.full {
            self.text.truncate(self.start);
            self.text.push_str(SegmentClass::Long.text());
            return PartKind::Class;
        }
        if self.classes == 1 && !self.literals { PartKind::Class } else { PartKind::Literal }
    }

    #[inline]
    fn append(&mut self, more: &str) {
        self.full |= self.text.len() - self.start + more.len() > MAX_NAME_LEN;
        if !self.full {
            self.text.push_str(more);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(of: impl Fn(&mut SegmentText<'_>)) -> (String, PartKind) {
        let mut text = String::from("a:");
        let mut name = SegmentText::new(&mut text);
        of(&mut name);
        let kind = name.finish();
        (text, kind)
    }

    #[test]
    fn a_lone_class_is_a_class_and_the_rest_is_literal() {
        assert_eq!(name(|n| n.class(SegmentClass::Int)), ("a:{int}".to_owned(), PartKind::Class));
        assert_eq!(name(|_| ()), ("a:".to_owned(), PartKind::Literal));
        let holed = name(|n| {
            n.literal("b_");
            n.class(SegmentClass::Int);
        });
        assert_eq!(holed, ("a:b_{int}".to_owned(), PartKind::Literal));
    }

    #[test]
    fn too_long_a_segment_is_long_and_leaves_the_text_before_it() {
        assert_eq!(name(|n| n.literal(&"x".repeat(64))).1, PartKind::Literal);
        assert_eq!(name(|n| n.literal(&"x".repeat(65))), ("a:{long}".to_owned(), PartKind::Class));
        assert_eq!(name(|n| (0..40).for_each(|_| n.class(SegmentClass::Int))).0, "a:{long}");
    }
}
