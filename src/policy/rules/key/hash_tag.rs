//! `key.hash-tag`: braces are used only for a single, valid hash tag.
//!
//! A cluster hashes only the text between the first `{` and the next `}`. Braces that are empty, unclosed, nested or
//! repeated look like a tag but are ignored or select another part than intended.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.hash-tag",
    severity: Severity::Hint,
    problem: Text {
        en: "hash tag that is empty, not closed, or not the only one",
        zh: "哈希标签为空、未闭合或多于一个",
    },
    what: Text {
        en: "at most one hash tag, closed and not empty", zh: "最多一个哈希标签，花括号成对且非空"
    },
    why: Text {
        en: "In a cluster, the text in braces alone determines the slot of a key. With an empty, unclosed, nested or second \
             pair the server hashes a different part than intended: related keys end up in different slots, and multi-key \
             commands fail.",
        zh: "集群中只有花括号内的内容决定 key 所在的槽。花括号为空、未闭合、嵌套或出现第二对时，服务器取哈希的部分与本意不同：本应在一起的 key 会分散，多 key 命令会失败。",
    },
    fix: Text {
        en: "put one pair of braces around the common part of related keys: `{user:1001}:profile`, `{user:1001}:orders`; \
             do not use braces elsewhere",
        zh: "只用一对花括号括住相关 key 的公共部分：`{user:1001}:profile`、`{user:1001}:orders`；其他地方不要使用花括号",
    },
    params: &[],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("{user:1001}:profile"), SampleKey::named("user:profile:1")]),
    fails: RuleSample::of(&[SampleKey::named("user:{}:profile")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(HashTag)))
}

/// Accepts one valid tag or none.
#[derive(Debug, Clone, Copy)]
pub struct HashTag;

impl KeyRule for HashTag {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        (!is_sound(key.name())).then_some(Violation { measured: 0, allowed: 1 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::BadTag)
    }
}

/// Returns whether the name has no braces, or exactly one pair around a non-empty tag.
pub fn is_sound(name: &[u8]) -> bool {
    let mut braces = name.iter().enumerate().filter(|(_, byte)| matches!(byte, b'{' | b'}'));
    match (braces.next(), braces.next(), braces.next()) {
        (None, ..) => true,
        (Some((open, b'{')), Some((close, b'}')), None) => close - open > 1,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    #[test]
    fn one_closed_tag_or_none_is_sound() {
        let names = ["", "user:1", "{user:1001}:profile", "lock:{7}", "a{b}c", "{a}"];
        names.iter().for_each(|name| assert_eq!(check_name(&HashTag, name), None, "{name}"));
    }

    #[test]
    fn empty_open_nested_and_second_tags_are_not() {
        let names = ["user:{}:1", "{user:1", "user:1}", "}{", "{a}:{b}", "{{a}}", "{a}}", "{{a}", "{", "}"];
        names.iter().for_each(|name| assert!(check_name(&HashTag, name).is_some(), "{name}"));
    }
}
