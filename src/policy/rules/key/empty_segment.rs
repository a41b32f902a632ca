//! `key.empty-segment`: no segment of a name is empty.
//!
//! Measured: empty segments. The empty name has one.

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.empty-segment",
    severity: Severity::Must,
    problem: Text { en: "empty segment in the name", zh: "key 名中有空段" },
    what: Text { en: "no segment of the name is empty", zh: "名称中没有空段" },
    why: Text {
        en: "An empty segment usually comes from an id or name that was missing when the program built the key: all keys \
          built that way collide, and their meaning is lost.",
        zh: "空段通常表示程序拼接 key 名时缺少 id 或名称：这样生成的 key 会互相冲突，也无法看出其含义。",
    },
    fix: Text {
        en: "find the code that builds the name from an empty variable, and remove doubled or trailing colons",
        zh: "找出用空变量拼接 key 名的代码；去掉重复的或结尾的冒号",
    },
    params: &[],
    unit: Some(Unit::Segments),
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345")]),
    fails: RuleSample::of(&[SampleKey::named("user:profile:")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(EmptySegment)))
}

/// Rejects adjacent separators and separators at either end.
#[derive(Debug, Clone, Copy)]
pub struct EmptySegment;

impl KeyRule for EmptySegment {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let name = key.untagged();
        let measured = key.context.separators.split(&name).filter(|segment| segment.is_empty()).count() as u64;
        (measured > 0).then_some(Violation { measured, allowed: 0 })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::EmptySegment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    fn empty(name: &str) -> Option<u64> {
        check_name(&EmptySegment, name).map(|violation| violation.measured)
    }

    #[test]
    fn empty_segments_are_counted_at_any_position() {
        let names = ["user:profile:", "a::b", ":a", "", ":", "a{:}:b"];
        assert_eq!(names.map(empty), [Some(1), Some(1), Some(1), Some(1), Some(2), Some(1)]);
    }

    #[test]
    fn braces_without_a_tag_are_not_an_empty_segment() {
        assert_eq!(["a:{b}:c", "a:{}:c", "a", "a:b"].map(empty), [None; 4]);
    }
}
