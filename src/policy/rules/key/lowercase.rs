//! `key.lowercase`: names have no upper-case letters.
//!
//! Measured: upper-case letters of any script. Characters without case, such as Chinese ones, do not count. In a name that is not
//! UTF-8, only letters of ASCII count: in GBK, bytes of Chinese characters may read as letters of UTF-8.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.lowercase",
    severity: Severity::Must,
    problem: Text { en: "upper-case letters in the name", zh: "key 名含大写字母" },
    what: Text { en: "no upper-case letters", zh: "不含大写字母" },
    why: Text {
        en: "Names are compared byte by byte: `UserProfile:1` and `userprofile:1` are two keys. If only lower \
             case is allowed, such duplicates cannot occur.",
        zh: "key 名按字节比较：`UserProfile:1` 和 `userprofile:1` 是两个 key。只允许小写，就不会出现这样的重复 key。",
    },
    fix: Text {
        en: "write names in lower case and separate words as the standard does: `UserProfile:12345` becomes \
             `user:profile:12345`",
        zh: "key 名全部小写，单词按规范分隔：`UserProfile:12345` 改为 `user:profile:12345`",
    },
    params: &[],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345")]),
    fails: RuleSample::of(&[SampleKey::named("UserProfile:12345")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(LowercaseRule)))
}

/// Rejects upper-case letters.
#[derive(Debug, Clone, Copy)]
pub struct LowercaseRule;

impl KeyRule for LowercaseRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = upper_case_letters(key.name());
        (measured > 0).then_some(Violation { measured, allowed: 0 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::UpperCase)
    }
}

/// Returns the number of upper-case letters in a name.
pub fn upper_case_letters(name: &[u8]) -> u64 {
    if let Ok(text) = std::str::from_utf8(name) {
        return text.chars().filter(|character| character.is_uppercase()).count() as u64;
    }
    name.iter().filter(|byte| byte.is_ascii_uppercase()).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_bytes;

    fn upper(name: &[u8]) -> u64 {
        check_bytes(&LowercaseRule, name).map_or(0, |violation| violation.measured)
    }

    #[test]
    fn every_upper_case_letter_counts() {
        assert_eq!(upper(b"UserProfile:12345"), 2);
        assert_eq!(upper("\u{c4}pfel:\u{416}".as_bytes()), 2);
        assert_eq!(upper(b"a\xffB"), 1);
    }

    #[test]
    fn lower_case_and_caseless_characters_are_fine() {
        assert_eq!(upper("user:profile_\u{e4}-1.{x}:\u{7528}\u{6237}".as_bytes()), 0);
        assert_eq!(upper(b"\xff\xfe"), 0);
        // GBK: 商品 has bytes that read as a letter of UTF-8.
        assert_eq!([upper(b"\xc9\xcc\xc6\xb7:1002"), upper(b"\xc9\xcc\xc6\xb7:A")], [0, 1]);
    }
}
