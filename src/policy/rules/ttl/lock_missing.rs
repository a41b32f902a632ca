//! `ttl.lock-missing`: locks have an expiry.
//!
//! Locks are recognised by their first segment, without regard to case and to the brace of a hash tag.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Lifetime, Rule, RuleMeta, Severity, Text, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.lock-missing",
    severity: Severity::Must,
    problem: Text { en: "lock without expiry", zh: "分布式锁未设置过期时间" },
    what: Text { en: "every lock has an expiry", zh: "分布式锁都设置过期时间" },
    why: Text {
        en: "If a client crashes while it holds a lock without expiry, the lock is never released, and all waiting clients \
             wait forever.",
        zh: "持有锁的客户端一旦崩溃，没有过期时间的锁就永远不会释放，所有等待者都会一直等下去。",
    },
    fix: Text {
        en: "acquire the lock and set its expiry in one command: SET lock:… token NX EX 30",
        zh: "用一条命令同时加锁并设置过期时间：SET lock:… token NX EX 30",
    },
    params: &[ParamSpec {
        name: "prefixes",
        what: Text { en: "first segments of lock names", zh: "锁的 key 名首段" },
        default: ParamDefault::Words(&["lock"]),
    }],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("lock:task:processing:456").expiring_in(30)]),
    fails: RuleSample::of(&[SampleKey::named("lock:task:processing:456").forever()]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let prefixes = params.words("prefixes");
    if prefixes.is_empty() || prefixes.iter().any(String::is_empty) {
        return Err("\"prefixes\" must not be empty or contain an empty word".to_owned());
    }
    Ok(BuiltRule::Key(Box::new(LockMissing { prefixes: prefixes.to_vec() })))
}

/// Demands an expiry on locks.
#[derive(Debug, Clone)]
pub struct LockMissing {
    /// First segments of lock names.
    pub prefixes: Vec<String>,
}

impl KeyRule for LockMissing {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        if key.record.expires_at.is_some() {
            return None;
        }
        // Fast path: most names do not begin with a lock prefix, so they need not be split into segments.
        let start = key.name().strip_prefix(b"{").unwrap_or(key.name());
        let begins = |prefix: &String| {
            start.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
        };
        if !self.prefixes.iter().any(begins) {
            return None;
        }
        let name = key.untagged();
        let mut segments = key.context.separators.split(&name);
        let first = segments.next().unwrap_or_default();
        let is_lock = self.prefixes.iter().any(|prefix| first.eq_ignore_ascii_case(prefix.as_bytes()));
        (is_lock && segments.next().is_some()).then_some(Violation { measured: 0, allowed: 0 })
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Forever
    }
}

#[cfg(test)]
mod tests {
    use crate::policy::testing::{breaks, checks};
    use crate::units::Millis;

    #[test]
    fn locks_are_known_by_their_first_segment() {
        let checks = checks("[rules]\n\"ttl.lock-missing\" = \"must\"\n");
        let is_lock = |name: &str| breaks(&checks, name, |_| {});
        assert!(["lock:order:1", "{lock:order}:1", "{lock}:1", "Lock:a"].iter().all(|name| is_lock(name)));
        assert!(!["locks:1", "lock", "order:lock:1", "locker", "{lock", "{lo", ""].iter().any(|name| is_lock(name)));
        assert!(!breaks(&checks, "lock:1", |record| record.expires_at = Some(Millis(1))));
    }

    #[test]
    fn the_prefixes_of_locks_can_be_changed() {
        let checks = checks("[rules.\"ttl.lock-missing\"]\nprefixes = [\"mutex\", \"redlock\"]\n");
        assert!(breaks(&checks, "mutex:1", |_| {}) && breaks(&checks, "redlock:1", |_| {}));
        assert!(!breaks(&checks, "lock:1", |_| {}));
    }
}
