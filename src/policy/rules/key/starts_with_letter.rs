//! `key.starts-with-letter`: names begin with a letter from a to z.
//!
//! With `tags`, the brace of a hash tag may precede the letter: `{user:1}:name` begins with `u`. A brace that does not
//! begin a tag (`{}a`, `{a`) is treated like any other character.

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
        zh: "key 名以业务名或模块名开头，而它们都是单词。以数字或符号开头的，通常是忘了加前缀的 id。",
    },
    fix: Text {
        en: "prefix the name with the business or module: `12345` becomes `user:profile:12345`",
        zh: "在前面加上业务名或模块名：`12345` 改为 `user:profile:12345`",
    },
    params: &[ParamSpec {
        name: "tags",
        what: Text {
            en: "whether the brace of a hash tag may precede the letter",
            zh: "是否允许以哈希标签的花括号开头",
        },
        default: ParamDefault::Flag(true),
    }],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345"), SampleKey::named("{user:1001}:profile")]),
    fails: RuleSample::of(&[SampleKey::named("1001:user:profile")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(StartsWithLetter { tags: params.flag("tags") })))
}

/// Demands an ASCII letter at the start.
#[derive(Debug, Clone, Copy)]
pub struct StartsWithLetter {
    /// True if the brace of a hash tag may precede it.
    pub tags: bool,
}

impl KeyRule for StartsWithLetter {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let first = if self.tags { key.untagged().first().copied() } else { key.name().first().copied() };
        let begins = first.is_some_and(|byte| byte.is_ascii_alphabetic());
        (!begins).then_some(Violation { measured: 0, allowed: 1 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::StartsOtherwise(self.tags))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    fn breaks(tags: bool, name: &str) -> bool {
        check_name(&StartsWithLetter { tags }, name).is_some()
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
