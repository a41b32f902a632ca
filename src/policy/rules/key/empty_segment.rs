//! `key.empty-segment`: no part of a name is missing.
//!
//! Measured: empty segments. The empty name is one empty segment.

use crate::policy::KeyView;
use crate::policy::rule::{Chapter, KeyRule, Meta, Severity, Violation};

/// The rule's description.
pub static META: Meta = Meta {
    id: "key.empty-segment",
    severity: Severity::Must,
    what: "no segment of the name is empty",
    why: "An empty segment is an id or a name that the program did not have when it made the key: all such keys \
          collide in one place, and nobody can tell what they are about.",
    chapters: &[
        Chapter { preset: "service", heading: "Key 命名规范 / 命名格式" },
        Chapter { preset: "hzero", heading: "key名设计 / 可读性和可管理性" },
        Chapter { preset: "platform", heading: "一 1. Key 设计规范 / 可读性与结构化" },
        Chapter { preset: "strict", heading: "二 2. 命名规范" },
        Chapter { preset: "aliyun", heading: "一 1.(1) 可读性和可管理性" },
    ],
    fix: "find the code that builds the name from an empty variable, and drop doubled or trailing colons",
    passes: "user:profile:12345",
    fails: "user:profile:",
};

/// No two separators side by side, none at either end.
#[derive(Debug, Clone, Copy)]
pub struct EmptySegment;

impl KeyRule for EmptySegment {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.segments().filter(|segment| segment.is_empty()).count() as u64;
        (measured > 0).then_some(Violation { measured, allowed: 0 })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Separators;

    fn empty(name: &str) -> Option<u64> {
        let separators = Separators::new(b":");
        EmptySegment.check(&KeyView::new(name.as_bytes(), &separators)).map(|violation| violation.measured)
    }

    #[test]
    fn empty_segments_are_counted_wherever_they_are() {
        let names = ["user:profile:", "a::b", ":a", "", ":", "a{:}:b"];
        assert_eq!(names.map(empty), [Some(1), Some(1), Some(1), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn braces_fill_no_segment_unless_they_are_a_tag_with_something_in_it() {
        assert_eq!(["a:{b}:c", "a:{}:c", "a", "a:b"].map(empty), [None; 4]);
    }
}
