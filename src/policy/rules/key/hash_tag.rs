//! `key.hash-tag`: braces stand for a hash tag, or not at all.
//!
//! A cluster hashes only what stands between the first `{` and the first `}` behind it. Braces that are empty, left open,
//! nested or there a second time look like a tag and are none, or are another than was meant.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, Chapter, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// The rule's description.
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
        en: "In a cluster the text in braces alone decides where a key lives. With an empty, open, nested or second pair \
             the server hashes something else than the author meant: keys that belong together part, and commands over \
             several of them fail.",
        zh: "集群中只有花括号内的内容决定 key 所在的槽。花括号为空、未闭合、嵌套或出现第二对时，服务器取哈希的部分与本意不同：本应在一起的 key 会分散，多 key 命令会失败。",
    },
    chapters: &[
        Chapter { preset: "platform", heading: "四、高可用与集群规范 / 使用 Hash Tag" },
        Chapter { preset: "aliyun", heading: "二 5. Redis事务功能较弱" },
    ],
    fix: Text {
        en: "put one pair of braces around what related keys have in common: `{user:1001}:profile`, `{user:1001}:orders`; \
             leave braces out of everything else",
        zh: "只用一对花括号括住相关 key 的公共部分：`{user:1001}:profile`、`{user:1001}:orders`；其他地方不要使用花括号",
    },
    params: &[],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("{user:1001}:profile"), SampleKey::named("user:profile:1")]),
    fails: RuleSample::of(&[SampleKey::named("user:{}:profile")]),
};

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(HashTag)))
}

/// One sound tag or none.
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

/// Whether the braces of a name are one tag that is not empty, or there are none.
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
