//! `key.levels`: names have at least `min` segments, as the format of the standard demands.
//!
//! Measured: segments between separators; the braces of a hash tag belong to none. Empty segments count;
//! `key.empty-segment` reports them. The formats: `service` {business}:{module}:{id}, `hzero` service:module:name (two where a name belongs to
//! the whole service), `platform` `business:module:table:id[:attribute]`, `strict` `module:meaning:…:type`, `aliyun`
//! business:table:id as an example and a business prefix as the demand.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, NameTest, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.levels",
    severity: Severity::Should,
    problem: Text { en: "name of fewer than `min` segments", zh: "key 名不足 min 段" },
    what: Text { en: "the name has at least `min` segments", zh: "key 名至少 min 段" },
    why: Text {
        en: "The standards assign a meaning to each segment: business, module, table, id. If one is missing, tools that \
             group by prefix mix different data, and names collide with those of other modules.",
        zh: "规范规定了 key 名各段的含义：业务、模块、表、id。缺少一段时，按前缀归类的工具会把不同数据混在一起，key 名也容易与其他模块冲突。",
    },
    fix: Text {
        en: "add the levels that are missing between business and id: `user:12345` becomes `user:profile:12345`",
        zh: "在业务名和 id 之间补上缺少的层级：`user:12345` 改为 `user:profile:12345`",
    },
    params: &[ParamSpec {
        name: "min",
        what: Text { en: "minimum number of segments", zh: "最少段数" },
        default: ParamDefault::Int(3),
    }],
    unit: Some(Unit::Segments),
    passes: RuleSample::of(&[SampleKey::named("user:profile:12345")]),
    fails: RuleSample::of(&[SampleKey::named("user:12345")]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(LevelsRule { min: params.number("min") })))
}

/// Demands a minimum number of segments.
#[derive(Debug, Clone, Copy)]
pub struct LevelsRule {
    /// Minimum number of segments.
    pub min: u64,
}

impl KeyRule for LevelsRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.segment_count();
        (measured < self.min).then_some(Violation { measured, allowed: self.min })
    }

    fn name_test(&self) -> Option<NameTest> {
        Some(NameTest::FewerSegments(self.min))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::check_name;

    fn breaks(min: u64, name: &str) -> bool {
        check_name(&LevelsRule { min }, name).is_some()
    }

    #[test]
    fn each_standards_own_example_has_just_enough() {
        let enough = |min, name| assert!(!breaks(min, name) && breaks(min + 1, name), "{name}");
        enough(3, "user:profile:12345");
        enough(3, "hpfm:fnd:profile");
        enough(4, "live:room:1001:info");
        enough(4, "order:20241104:2001:status");
        enough(4, "user:basic.info:1001:string");
        enough(3, "ugc:video:1");
    }

    #[test]
    fn the_braces_of_a_tag_do_not_change_the_segments() {
        assert!(!breaks(3, "{user:1001}:profile"));
        assert!(breaks(4, "{user:1001}:profile"));
        assert_eq!(check_name(&LevelsRule { min: 3 }, "{a}"), Some(Violation { measured: 1, allowed: 3 }));
    }
}
