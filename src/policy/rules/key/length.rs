//! `key.length`: names are at most `max` characters long.
//!
//! Measured: characters, as the standards count (「不超过 128 字符」): code points of Unicode. A name that is not UTF-8 has no
//! characters, so its bytes count.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.length",
    severity: Severity::Should,
    problem: Text { en: "name longer than {max} characters", zh: "key 名超过 {max} 个字符" },
    what: Text { en: "the name has at most {max} characters", zh: "key 名不超过 {max} 个字符" },
    why: Text {
        en: "Every name is kept in memory along with its value and sent with every command; with millions of keys, names \
          alone can take more memory than values.",
        zh: "每个 key 名都与 value 一起常驻内存，并随每条命令传输；key 的数量达到百万级时，仅 key 名就可能比 value 更占内存。",
    },
    fix: Text {
        en: "shorten the fixed segments (`user:{uid}:friends:messages:{mid}` to `u:{uid}:fr:m:{mid}`), and hash \
          inherently long parts such as URLs and queries",
        zh: "缩短固定的段（`user:{uid}:friends:messages:{mid}` 简化为 `u:{uid}:fr:m:{mid}`），对 URL、查询语句等天然很长的内容取哈希",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text {
            en: "maximum number of characters; of bytes if the name is not UTF-8",
            zh: "最大字符数；不是 UTF-8 的 key 名按字节计",
        },
        default: ParamDefault::Int(128),
    }],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[SampleKey::named("u:1001:fr:m:42")]),
    fails: RuleSample::of(&[SampleKey::named(
        "user:1001:friends-of-this-user:messages-that-were-sent-by-these-friends:ordered-by-date-of-delivery:\
            that-were-not-read-by-the-user-so-far:42",
    )]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(LengthRule { max: params.number("max") })))
}

/// Limits the length of names.
#[derive(Debug, Clone, Copy)]
pub struct LengthRule {
    /// Maximum length in characters.
    pub max: u64,
}

impl KeyRule for LengthRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = length(key.name());
        (measured > self.max).then_some(Violation { measured, allowed: self.max })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::LongerThan(self.max))
    }
}

/// Returns the number of characters of a name; of bytes if it is not UTF-8.
pub fn length(name: &[u8]) -> u64 {
    match std::str::from_utf8(name) {
        Ok(text) => text.chars().count() as u64,
        Err(_) => name.len() as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_bytes;

    #[test]
    fn the_limit_itself_is_allowed() {
        let check = |length| check_bytes(&LengthRule { max: 128 }, &b"x".repeat(length));
        assert_eq!(check(128), None);
        assert_eq!(check(129), Some(Violation { measured: 129, allowed: 128 }));
    }

    #[test]
    fn characters_count_not_bytes() {
        let check = |name: &[u8]| check_bytes(&LengthRule { max: 4 }, name).map(|violation| violation.measured);
        assert_eq!(check("\u{7528}\u{6237}:1".as_bytes()), None);
        assert_eq!(check("\u{7528}\u{6237}:12".as_bytes()), Some(5));
        assert_eq!(check("e\u{301}:1".as_bytes()), None);
        assert_eq!(check(b"\xff\xfe:1"), None);
        assert_eq!(check("\u{7528}:\u{fffd}".as_bytes()), None);
        assert_eq!(check(&[b"\xff", "\u{7528}:".as_bytes()].concat()), Some(5));
    }
}
