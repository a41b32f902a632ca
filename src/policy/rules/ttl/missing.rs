//! `ttl.missing`: keys have an expiry, unless their TTL class does not require one.
//!
//! The class of a key is that of its dictionary entry, or else the class whose patterns it matches. Keys without a class
//! must expire, too, unless `unclassified = false`. Another rule may demand the expiry of some classes, as `ttl.lock-missing` that of
//! locks: `except` names them. A hash all of whose fields expire does so with the last of them.

use crate::policy::KeyView;
use crate::policy::dictionary::TtlClass;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Lifetime, Need, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Id of the rule.
pub const ID: &str = "ttl.missing";

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: ID,
    severity: Severity::Should,
    problem: Text { en: "key without expiry", zh: "key 未设置过期时间" },
    what: Text {
        en: "every key has an expiry, except those of TTL classes that may live forever",
        zh: "除允许永久保存的类别外，所有 key 都设置过期时间",
    },
    why: Text {
        en: "Keys without expiry stay in memory until they are deleted, which is usually forgotten: memory grows until the \
             server reaches its limit. Under volatile-* policies these keys are never evicted either.",
        zh: "不过期的 key 会一直占用内存，直到被删除，而删除往往被遗忘：内存不断增长直至达到上限；在 volatile-* 策略下这些 key 也永远不会被淘汰。",
    },
    fix: Text {
        en: "write with an expiry (SET … EX, SETEX, EXPIRE); list what may live forever in a [[ttl_class]] with required = \
             false, under a budget",
        zh: "写入时设置过期时间（SET … EX、SETEX、EXPIRE）；确需永久保存的 key 列入 required = false 的 [[ttl_class]]，并设定内存预算",
    },
    params: &[
        ParamSpec {
            name: "unclassified",
            what: Text {
                en: "whether keys without a TTL class must expire, too",
                zh: "不属于任何 TTL 类别的 key 是否也必须过期",
            },
            default: ParamDefault::Flag(true),
        },
        ParamSpec {
            name: "except",
            what: Text {
                en: "TTL classes whose expiry another rule demands, as `ttl.lock-missing` that of locks",
                zh: "由其他规则要求过期时间的 TTL 类别，如锁由 `ttl.lock-missing` 检查",
            },
            default: ParamDefault::Words(&[]),
        },
    ],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("cache:user:123").expiring_in(3600)]),
    fails: RuleSample::of(&[SampleKey::named("cache:user:123").forever()]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let except = params.words("except").to_vec();
    Ok(BuiltRule::Key(Box::new(MissingTtl { unclassified: params.flag("unclassified"), except })))
}

/// Demands an expiry.
#[derive(Debug, Clone)]
pub struct MissingTtl {
    /// True if keys without a class must expire, too.
    pub unclassified: bool,
    /// Names of the classes that are left to other rules.
    pub except: Vec<String>,
}

impl MissingTtl {
    fn demands_expiry_of(&self, class: &TtlClass) -> bool {
        class.required && !self.except.contains(&class.name)
    }
}

impl KeyRule for MissingTtl {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        if key.record.is_to_expire() {
            return None;
        }
        let required = key.class().map_or(self.unclassified, |class| self.demands_expiry_of(class));
        required.then_some(Violation { measured: 0, allowed: 0 })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let required = self.unclassified || known.context.classes.iter().any(|class| self.demands_expiry_of(class));
        (!required).then_some(Need::RequiredExpiry)
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Forever
    }

    fn constant_result(&self) -> Option<bool> {
        Some(self.unclassified)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{breaks, checks};
    use crate::record::Kind;
    use crate::units::Millis;

    const CLASSES: &str = "[[ttl_class]]\nname = \"kept\"\npatterns = [\"config:**\"]\nrequired = false\n\
         [[ttl_class]]\nname = \"cache\"\npatterns = [\"cache:**\"]\n\
         [[dictionary]]\npattern = \"shop:*\"\nttl = \"kept\"\n";

    #[test]
    fn classes_that_may_live_forever_do() {
        let checks = checks(&format!("[rules]\n\"ttl.missing\" = \"must\"\n{CLASSES}"));
        assert!(breaks(&checks, "cache:1", |_| {}) && breaks(&checks, "user:1", |_| {}));
        assert!(!breaks(&checks, "config:a:b", |_| {}) && !breaks(&checks, "shop:7", |_| {}));
        assert!(!breaks(&checks, "cache:1", |record| record.expires_at = Some(Millis(1))));
    }

    #[test]
    fn a_hash_expires_if_all_its_fields_do() {
        let checks = checks(&format!("[rules]\n\"ttl.missing\" = \"must\"\n{CLASSES}"));
        let breaks = |name, with_ttl| {
            breaks(&checks, name, |record| {
                (record.kind, record.length, record.fields_with_ttl) = (Kind::Hash, Some(3), with_ttl);
            })
        };
        for name in ["cache:1", "user:1"] {
            assert!(breaks(name, None) && breaks(name, Some(0)) && breaks(name, Some(2)) && !breaks(name, Some(3)));
        }
    }

    #[test]
    fn keys_without_a_class_can_be_excluded() {
        let checks = checks(&format!("[rules.\"ttl.missing\"]\nunclassified = false\n{CLASSES}"));
        assert!(breaks(&checks, "cache:1", |_| {}));
        assert!(!breaks(&checks, "user:1", |_| {}) && !breaks(&checks, "config:a", |_| {}));
    }

    #[test]
    fn classes_can_be_left_to_another_rule() {
        let checks = checks(&format!("[rules.\"ttl.missing\"]\nexcept = [\"cache\"]\n{CLASSES}"));
        assert!(
            !breaks(&checks, "cache:1", |_| {})
                && !breaks(&checks, "config:a", |_| {})
                && breaks(&checks, "user:1", |_| {})
        );
    }

    #[test]
    fn a_policy_without_keys_that_must_expire_cannot_be_broken() {
        let lacks = |unclassified, classes: &str| {
            let checks = checks(classes);
            let known = Known { context: &checks.context, report: None, sizes_hidden: false };
            MissingTtl { unclassified, except: Vec::new() }.needs(&known)
        };
        let kept = "[[ttl_class]]\nname = \"kept\"\npatterns = [\"config:**\"]\nrequired = false\n";
        assert_eq!(lacks(false, kept), Some(Need::RequiredExpiry));
        assert_eq!((lacks(false, CLASSES), lacks(true, kept)), (None, None));
    }
}
