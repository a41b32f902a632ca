//! `key.registered`: every key matches an entry of the data dictionary that names an owner, and has its type.
//!
//! Checked only if the policy has a dictionary. A key that matches an entry of another type, or one without an owner,
//! violates the rule like one without an entry: a draft that nobody has filled in registers nothing.

use crate::policy::KeyView;
use crate::policy::dictionary::DictionaryEntry;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "key.registered",
    severity: Severity::Should,
    problem: Text {
        en: "pattern missing from the data dictionary, or its entry has another type or no owner",
        zh: "数据字典中未登记该模式，或类型不一致，或未填负责人",
    },
    what: Text {
        en: "the data dictionary lists the pattern with this type and an owner",
        zh: "数据字典中登记了该模式，类型一致且填有负责人",
    },
    why: Text {
        en: "For unregistered keys there is no owner, TTL policy or documented meaning to look up, which is what delays \
             the handling of incidents. A pattern with an unexpected type belongs to another application, or its entry \
             is out of date.",
        zh: "未登记的 key 没有负责人、TTL 策略和可查的业务含义，出现故障时难以处理。类型与登记不符，说明它属于其他应用，或登记已过时。",
    },
    fix: Text {
        en: "add a [[dictionary]] entry with pattern, type, ttl and owner (`rdblens dictionary` drafts all but the owner), or \
             delete keys that nobody owns",
        zh: "补充 [[dictionary]] 条目，写明 pattern、type、ttl、owner（`rdblens dictionary` 可生成草稿，负责人须自行填写）；无人认领的 key 则删除",
    },
    params: &[],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:1:name")]).with(SampleFacts {
        policy: "[[dictionary]]\npattern = \"user:{int}:name\"\ntype = \"string\"\nowner = \"accounts\"\n",
        ..SampleFacts::NONE
    }),
    fails: RuleSample::of(&[SampleKey::of("user:1:name", Kind::Set, 3, 200)]).with(SampleFacts {
        policy: "[[dictionary]]\npattern = \"user:{int}:name\"\ntype = \"string\"\nowner = \"accounts\"\n",
        ..SampleFacts::NONE
    }),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(RegisteredRule)))
}

/// Demands a dictionary entry of the same type with an owner.
#[derive(Debug, Clone, Copy)]
pub struct RegisteredRule;

impl KeyRule for RegisteredRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let fits =
            |entry: &DictionaryEntry| entry.owner.is_some() && entry.kind.is_none_or(|kind| kind == key.record.kind);
        let as_written = key.entry().is_some_and(fits);
        (!as_written).then_some(Violation { measured: 0, allowed: 1 })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.context.entries.is_empty().then_some(Need::Dictionary)
    }
}

#[cfg(test)]
mod tests {
    use crate::pattern::PatternBuf;
    use crate::pattern::classify::Classifier;
    use crate::policy::Judged;
    use crate::policy::testing::{checks, record};
    use crate::record::{Kind, Record};

    const RULES: &str = "[rules]\n\"key.registered\" = \"must\"\n";

    fn breaks(policy: &str, name: &str, kind: Kind) -> bool {
        let (mut pattern, mut judged) = (PatternBuf::default(), Judged::default());
        Classifier::default().classify(name.as_bytes(), &mut pattern);
        checks(policy).judge(&Record { kind, ..record(name.as_bytes()) }, &pattern, &mut judged);
        judged.broken != 0
    }

    #[test]
    fn a_key_must_match_an_entry_and_its_type() {
        let policy = format!(
            "{RULES}[[dictionary]]\npattern = \"user:{{int}}\"\ntype = \"hash\"\nowner = \"a\"\n\
             [[dictionary]]\npattern = \"page:**\"\nowner = \"b\"\n"
        );
        assert!(!breaks(&policy, "user:1", Kind::Hash) && breaks(&policy, "user:1", Kind::String));
        assert!(!breaks(&policy, "page:a:b", Kind::Hash) && !breaks(&policy, "page:a:b", Kind::String));
        assert!(breaks(&policy, "order:1", Kind::Hash));
    }

    #[test]
    fn an_entry_without_an_owner_registers_nothing() {
        for owner in ["", "owner = \"\"", "owner = \" \\t\""] {
            let policy = format!("{RULES}[[dictionary]]\npattern = \"user:{{int}}\"\n{owner}\n");
            assert!(breaks(&policy, "user:1", Kind::Hash), "{owner}");
        }
    }

    #[test]
    fn without_a_dictionary_the_rule_is_not_checked() {
        assert!(!breaks(RULES, "user:1", Kind::Hash));
        let checks = checks(RULES);
        assert!(checks.keys.is_empty() && checks.policy.settings.is_empty());
    }
}
