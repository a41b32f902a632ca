//! `key.starts-with-letter`: names begin with a letter from a to z.
//!
//! With `tags`, the brace of a hash tag may precede the letter: `{user:1}:name` begins with `u`. A brace that does not
//! begin a tag (`{}a`, `{a`) is treated like any other character. With `numbered`, digits may precede the letters of the first
//! segment, as in the names of some businesses: `4s:store`, `2fa:code`.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.starts-with-letter",
    severity: Severity::Must,
    problem: Text { en: "name does not begin with a letter", zh: "key 名不以英文字母开头" },
    what: Text { en: "the name begins with a letter from a to z", zh: "key 名以英文字母开头" },
    why: Text {
        en: "A name begins with its business or module, which is a word. A digit or sign at the start usually means that \
             the prefix of an id was forgotten.",
        zh: "key 名以业务名或模块名开头，而它们都是单词。以数字或符号开头的，通常是忘了加前缀的标识。",
    },
    fix: Text {
        en: "prefix the name with the business or module: `12345` becomes `user:profile:12345`",
        zh: "在前面加上业务名或模块名：`12345` 改为 `user:profile:12345`",
    },
    params: &[
        ParamSpec {
            name: "tags",
            what: Text {
                en: "whether the brace of a hash tag may precede the letter",
                zh: "是否允许以哈希标签的花括号开头",
            },
            default: ParamDefault::Flag(true),
        },
        ParamSpec {
            name: "numbered",
            what: Text {
                en: "whether the first segment may be a word with up to three digits before it, such as 4s",
                zh: "第一段是否可以是前面带有不超过三位数字的单词，例如 4s",
            },
            default: ParamDefault::Flag(false),
        },
    ],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345"), SampleKey::named("{user:1001}:profile")]),
    fails: RuleSample::of(&[SampleKey::named("1001:user:profile")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(StartsWithLetter { tags: params.flag("tags"), numbered: params.flag("numbered") })))
}

/// Demands an ASCII letter at the start.
#[derive(Debug, Clone, Copy)]
pub struct StartsWithLetter {
    /// True if the brace of a hash tag may precede it.
    pub tags: bool,
    /// True if digits may precede it.
    pub numbered: bool,
}

impl KeyRule for StartsWithLetter {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let name = if self.tags { key.untagged() } else { key.name().into() };
        let numbered = || is_numbered_word(key.context.separators.split(&name).next().unwrap_or_default());
        let begins = name.first().is_some_and(u8::is_ascii_alphabetic) || self.numbered && numbered();
        (!begins).then_some(Violation { measured: 0, allowed: 1 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::StartsOtherwise { tags: self.tags, numbered: self.numbered })
    }
}

/// Returns whether a segment is a word with up to three digits before it.
pub fn is_numbered_word(segment: &[u8]) -> bool {
    let digits = segment.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let letters = segment.get(digits..).unwrap_or_default();
    (1..=3).contains(&digits) && !letters.is_empty() && letters.iter().all(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    fn breaks(tags: bool, name: &str) -> bool {
        check_name(&StartsWithLetter { tags, numbered: false }, name).is_some()
    }

    #[test]
    fn digits_may_precede_a_word_if_numbers_are_allowed() {
        let breaks = |tags, name: &str| check_name(&StartsWithLetter { tags, numbered: true }, name).is_some();
        for name in ["4s:store:12", "2fa:code", "51job", "360safe:user", "a:1"] {
            assert!(!breaks(true, name) && !breaks(false, name), "{name}");
        }
        for name in ["", "12306:ticket", "5f3a9c:name", "1001user:name", "4:s", "_4s:a", "4-s:a", ":4s"] {
            assert!(breaks(true, name) && breaks(false, name), "{name}");
        }
        assert!(!breaks(true, "{4s}:a") && !breaks(true, "{4s:1}:a") && breaks(false, "{4s}:a") && breaks(true, "{4s"));
    }

    #[test]
    fn digits_signs_and_other_scripts_are_rejected() {
        let names = ["", "1:a", "_a:b", ":a", " a", "\u{7528}:1", "\u{e4}:1"];
        names.iter().for_each(|name| assert!(breaks(true, name) && breaks(false, name), "{name}"));
        assert!(!breaks(false, "a") && !breaks(false, "Z:1"));
    }

    #[test]
    fn the_brace_of_a_tag_is_skipped_only_if_tags_are_allowed() {
        assert!(!breaks(true, "{user:1}:name") && breaks(false, "{user:1}:name"));
        assert!(breaks(true, "{1001}:user") && breaks(true, "{}user:1") && breaks(true, "{user:1"));
    }
}
