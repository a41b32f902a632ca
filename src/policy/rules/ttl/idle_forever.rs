//! `ttl.idle-forever`: what never expires is at least used.
//!
//! Measured: milliseconds since the last access, which only dumps of servers with an LRU policy hold. Those of LFU policies
//! hold a counter instead, which starts at 5, grows with use and shrinks by one a minute by default: at or below `freq`
//! it says that nobody has asked for the key lately, but not since when, so there is no number then. Dumps of other servers
//! say nothing, and no key breaks the rule.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Chapter, KeyRule, Lifetime, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};

static META: RuleMeta = RuleMeta {
    id: "ttl.idle-forever",
    severity: Severity::Should,
    problem: Text {
        en: "key without expiry, unused for longer than `max`", zh: "未设过期时间的 key 空闲超过 max"
    },
    what: Text {
        en: "no key without expiry is unused for longer than `max`",
        zh: "未设过期时间的 key，空闲时间不超过 max",
    },
    why: Text {
        en: "A key that never expires and that nobody asks for is memory lost for good; of all keys without expiry these are \
             the ones to look at first.",
        zh: "既不过期又无人访问的 key 会永久占用内存；在没有过期时间的数据里，应首先关注 idletime 长的 key。",
    },
    fix: Text {
        en: "delete what is not needed, move cold data to a database, and give the rest an expiry",
        zh: "删除不再需要的数据，把冷数据迁移到数据库，其余设置过期时间",
    },
    chapters: &[
        Chapter { preset: "hzero", heading: "value设计 / 控制key的生命周期" },
        Chapter { preset: "aliyun", heading: "一 2.(3) 控制key的生命周期" },
    ],
    params: &[
        ParamSpec {
            name: "max",
            what: Text { en: "the longest idle time that is allowed", zh: "允许的最长空闲时间" },
            default: ParamDefault::Span(30 * 86_400_000),
        },
        ParamSpec {
            name: "freq",
            what: Text {
                en: "in dumps with LFU counters: a counter up to this is unused",
                zh: "在带 LFU 计数的快照中：计数不大于此值视为无人使用",
            },
            default: ParamDefault::Int(0),
        },
    ],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey { idle: Some(86_400), ..SampleKey::named("city:map:berlin").forever() }]),
    fails: RuleSample::of(&[SampleKey { idle: Some(90 * 86_400), ..SampleKey::named("city:map:berlin").forever() }]),
};

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(IdleForever { max: params.number("max"), freq: params.number("freq") })))
}

/// Expires, or is used.
#[derive(Debug, Clone, Copy)]
pub struct IdleForever {
    /// The longest idle time, in milliseconds.
    pub max: u64,
    /// A use counter up to this means unused.
    pub freq: u64,
}

impl KeyRule for IdleForever {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let record = key.record;
        if record.expires_at.is_some() {
            return None;
        }
        let measured = record.idle.map(|seconds| seconds.saturating_mul(1000));
        if let Some(measured) = measured.filter(|&idle| idle > self.max) {
            return Some(Violation { measured, allowed: self.max });
        }
        let unused = record.freq.is_some_and(|freq| u64::from(freq) <= self.freq);
        unused.then_some(Violation { measured: 0, allowed: 0 })
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Forever
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::units::Millis;

    fn check(expires: bool, idle: Option<u64>, freq: Option<u8>) -> Option<Violation> {
        let mut record = record(b"a:b");
        record.expires_at = expires.then_some(Millis(1));
        (record.idle, record.freq) = (idle, freq);
        check_record(&IdleForever { max: 30_000, freq: 1 }, &record, &Context::default())
    }

    #[test]
    fn idle_longer_than_allowed_is_measured() {
        assert_eq!(check(false, Some(30), None), None);
        assert_eq!(check(false, Some(31), None), Some(Violation { measured: 31_000, allowed: 30_000 }));
        assert!(check(false, Some(u64::MAX), None).is_some());
        assert_eq!(check(true, Some(31), None), None);
    }

    #[test]
    fn a_low_counter_says_unused_but_not_since_when() {
        assert_eq!(check(false, None, Some(1)), Some(Violation { measured: 0, allowed: 0 }));
        assert_eq!(check(false, None, Some(2)), None);
        assert_eq!((check(true, None, Some(0)), check(false, None, None)), (None, None));
    }
}
