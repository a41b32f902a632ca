//! `key.length`: a name is short enough to be kept millions of times.
//!
//! Measured: bytes, since it is bytes that take memory; the standards say characters, which for the names that they
//! allow is the same.

use crate::policy::KeyView;
use crate::policy::rule::{Chapter, KeyRule, Meta, Severity, Violation};

/// The rule's description.
pub static META: Meta = Meta {
    id: "key.length",
    severity: Severity::Should,
    what: "the name has at most 128 bytes",
    why: "Every name is kept in memory beside its value and is sent with every command; over millions of keys the \
          names alone can outweigh the values.",
    chapters: &[
        Chapter { preset: "service", heading: "Key 命名规范 / Key 长度限制" },
        Chapter { preset: "hzero", heading: "key名设计 / 简洁性" },
        Chapter { preset: "platform", heading: "一 1. Key 设计规范 / 简洁性" },
        Chapter { preset: "strict", heading: "二 1. Redis key命名风格" },
        Chapter { preset: "aliyun", heading: "一 1.(2) 简洁性" },
    ],
    fix: "shorten the fixed segments (`user:{uid}:friends:messages:{mid}` to `u:{uid}:fr:m:{mid}`), and hash what \
          is long by nature, such as URLs and queries",
    passes: "u:1001:fr:m:42",
    fails: "user:1001:friends-of-this-user:messages-that-were-sent-by-these-friends:ordered-by-date-of-delivery:\
            that-were-not-read-by-the-user-so-far:42",
};

/// At most so many bytes.
#[derive(Debug, Clone, Copy)]
pub struct Length {
    /// The greatest length allowed.
    pub max: u64,
}

impl Default for Length {
    fn default() -> Self {
        Length { max: 128 }
    }
}

impl KeyRule for Length {
    fn meta(&self) -> &'static Meta {
        &META
    }

    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.bytes.len() as u64;
        (measured > self.max).then_some(Violation { measured, allowed: self.max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Separators;

    #[test]
    fn the_limit_itself_is_allowed() {
        let separators = Separators::new(b":");
        let check = |length| Length::default().check(&KeyView::new(&b"x".repeat(length), &separators));
        assert_eq!(check(128), None);
        assert_eq!(check(129), Some(Violation { measured: 129, allowed: 128 }));
    }
}
