//! `ttl.lock-missing`: locks have an expiry.
//!
//! Locks are strings or hashes with a segment `lock`, or another [name](crate::policy::content::lock::NAMES) of distributed locks, at
//! any level, that another segment follows: `lock:order:7`, `shop:lock:order:7`, `redis_lock:7`. The word as the last segment
//! (`order:7:lock`) may as well be a property of the order, unless the value is what only a holder writes; so may it be as a part of
//! a segment (`order_lock:7`), which counts if `lock` is among the words. Keys whose [value](crate::policy::content::lock) shows
//! something else than a lock do not count.

use crate::policy::KeyView;
use crate::policy::content::lock::NAMES;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Lifetime, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.lock-missing",
    severity: Severity::Must,
    problem: Text { en: "lock without expiry", zh: "分布式锁未设置过期时间" },
    what: Text { en: "every lock has an expiry", zh: "分布式锁都设置过期时间" },
    why: Text {
        en: "If a client crashes while it holds a lock without expiry, the lock is never released, and all waiting clients \
             wait forever.",
        zh: "持有锁的客户端一旦崩溃，未设置过期时间的锁就永远不会释放，所有等待者都会一直等下去。",
    },
    fix: Text {
        en: "acquire the lock and set its expiry in one command: SET lock:… token NX EX 30",
        zh: "用一条命令同时加锁并设置过期时间：SET lock:… token NX EX 30",
    },
    params: &[ParamSpec {
        name: "prefixes",
        what: Text {
            en: "segments that mark a lock, at any level, with a segment after them; as the last segment, and `lock` as a part of one, only if the value is a holder's token",
            zh: "标明锁的段，可在任意层级，其后须还有一段；位于末段，或段内仅部分为 `lock` 时，value 须为持有者令牌",
        },
        default: ParamDefault::Words(NAMES),
    }],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("lock:task:processing:456").expiring_in(30)]),
    fails: RuleSample::of(&[SampleKey::named("lock:task:processing:456").forever()]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let prefixes = params.segments("prefixes")?;
    if prefixes.is_empty() {
        return Err("\"prefixes\" must not be empty".to_owned());
    }
    Ok(BuiltRule::Key(Box::new(LockMissing { prefixes: prefixes.to_vec() })))
}

/// Demands an expiry on locks.
#[derive(Debug, Clone)]
pub struct LockMissing {
    /// Segments that mark a lock.
    pub prefixes: Vec<String>,
}

impl KeyRule for LockMissing {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let breaks = !key.record.is_to_expire() && key.may_be_lock();
        breaks.then_some(Violation { measured: 0, allowed: 0 })
    }

    fn words(&self) -> &[String] {
        &self.prefixes
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String, Kind::Hash]
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Forever
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::testing::{breaks, checks};
    use crate::rdb::peek::RawValue;
    use crate::rdb::template::Templates;
    use crate::rdb::value_type::ValueType;
    use crate::record::Kind;
    use crate::units::Millis;

    #[test]
    fn locks_are_known_by_a_segment_that_another_follows() {
        let checks = checks("[rules]\n\"ttl.lock-missing\" = \"must\"\n");
        let is_lock = |name: &str| breaks(&checks, name, |_| {});
        let locks = [
            "lock:order:1",
            "{lock:order}:1",
            "{lock}:1",
            "Lock:a",
            "LOCK:a",
            "shop:lock:order:7",
            "{tag}:lock:x",
            "distlock:order:7",
            "redis_lock:7",
            "shop:RedisLock:7",
            "DistLock:7",
            "REDIS_LOCK:7",
            "dist-lock:7",
            "locks:1",
        ];
        locks.iter().for_each(|name| assert!(is_lock(name), "{name}"));
        let others = [
            "lock",
            "order:1:lock",
            "locker",
            "{lock",
            "{lo",
            "",
            "order:lock-1:x",
            "stock:1",
            "block:7",
            "redis_locks:7",
            "order_lock:7",
        ];
        others.iter().for_each(|name| assert!(!is_lock(name), "{name}"));
        assert!(!breaks(&checks, "lock:1", |record| record.expires_at = Some(Millis(1))));
    }

    #[test]
    fn lock_as_a_part_of_a_segment_stands_for_the_word() {
        let uuid = b"\x248d9f2c71-51a3-4b0c-9d3f-6b7a1c2d3e4f";
        let is_lock = |policy: &str, name: &str, value: &'static [u8]| {
            breaks(&checks(policy), name, |record| {
                record.length = Some(value.len() as u64 - 1);
                record.raw = Some(RawValue { value_type: ValueType::String, bytes: value, templates: Templates::NONE });
            })
        };
        let rule = "[rules]\n\"ttl.lock-missing\" = \"must\"\n";
        let class = "[rules.\"ttl.missing\"]\nunclassified = false\n[[ttl_class]]\nname = \"held\"\nlocks = true\n";
        for policy in [rule, class] {
            for name in [
                "order_lock:a",
                "order_lock:7",
                "mall:orderLock:a",
                "{mall}:lock_order:7",
                "mall:订单锁:a",
                "LOCK_ORDER:a",
            ] {
                assert!(is_lock(policy, name, uuid), "{name}");
                assert!(!is_lock(policy, name, b"\x011"), "{name}");
            }
            assert!(!is_lock(policy, "unlock_order:a", uuid) && !is_lock(policy, "door_lock:a", uuid));
        }
        // A word of the policy itself needs no proof, and others stand for nothing.
        let own = "[rules.\"ttl.lock-missing\"]\nprefixes = [\"order_lock\"]\n";
        assert!(is_lock(own, "order_lock:a", b"\x011") && !is_lock(own, "pay_lock:a", uuid));
        let both = "[rules.\"ttl.lock-missing\"]\nprefixes = [\"lock\", \"order_lock\"]\n";
        assert!(is_lock(both, "order_lock:a", b"\x011") && is_lock(both, "pay_lock:a", uuid));
        let class_of_own = "[rules.\"ttl.missing\"]\nunclassified = false\n[rules.\"value.lock-token\"]\n\
             [[ttl_class]]\nname = \"held\"\nlocks = true\npatterns = [\"**:order_lock:**\"]\n";
        assert!(is_lock(class_of_own, "order_lock:a", b"\x011"));
        let fixed = format!("{class}patterns = [\"own:**\"]\n");
        assert!(!is_lock(&fixed, "order_lock:a", uuid));
    }

    #[test]
    fn locks_are_strings_or_hashes() {
        let checks = checks("[rules]\n\"ttl.lock-missing\" = \"must\"\n");
        let breaking = Kind::ALL.into_iter().filter(|&kind| breaks(&checks, "lock:1", |record| record.kind = kind));
        assert_eq!(breaking.collect::<Vec<_>>(), [Kind::String, Kind::Hash]);
    }

    #[test]
    fn the_prefixes_of_locks_can_be_changed() {
        let checks = checks("[rules.\"ttl.lock-missing\"]\nprefixes = [\"mutex\", \"redlock\"]\n");
        assert!(breaks(&checks, "mutex:1", |_| {}) && breaks(&checks, "redlock:1", |_| {}));
        assert!(!breaks(&checks, "lock:1", |_| {}));
    }

    #[test]
    fn words_with_digits_are_looked_up_as_patterns_show_them() {
        let checks = checks("[rules.\"ttl.lock-missing\"]\nprefixes = [\"lock2024001\"]\n");
        assert!(breaks(&checks, "lock2024001:1", |_| {}) && !breaks(&checks, "lock:1", |_| {}));
    }
}
