//! `ttl.idle-forever`: keys without expiry are in use.
//!
//! Measured: milliseconds since the last access, which only dumps of servers with an LRU policy contain. Dumps of servers
//! with an LFU policy contain a counter instead, which starts at 5, grows with use and by default shrinks by one a minute.
//! At or below `freq` the key was not used recently, but the time is unknown and nothing is measured. Other dumps contain
//! neither, and the rule cannot be evaluated.

use crate::policy::harmless::HarmlessKeys;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Lifetime, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::{Context, KeyView};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.idle-forever",
    severity: Severity::Should,
    problem: Text {
        en: "unused key without expiry: idle for longer than {max}, or an LFU counter of [at most ]{freq}",
        zh: "未设置过期时间的 key 已无人使用：空闲超过 {max}，或 LFU 计数不大于 {freq}",
    },
    what: Text {
        en: "no key without expiry is idle for longer than {max}, or has an LFU counter of [at most ]{freq}",
        zh: "未设置过期时间的 key，空闲时间不超过 {max}，LFU 计数大于 {freq}",
    },
    why: Text {
        en: "A key that never expires and is never read wastes its memory permanently; among keys without expiry, these are \
             the first to review.",
        zh: "既不过期又无人访问的 key 会永久占用内存；在未设置过期时间的 key 中，应首先检查空闲时间长的。",
    },
    fix: Text {
        en: "delete what is not needed, move cold data to a database, and set an expiry on the rest",
        zh: "删除不再需要的数据，把冷数据迁移到数据库，其余设置过期时间",
    },
    params: &[
        ParamSpec {
            name: "max",
            what: Text { en: "maximum idle time", zh: "允许的最长空闲时间" },
            default: ParamDefault::Span(30 * 86_400_000),
        },
        ParamSpec {
            name: "freq",
            what: Text {
                en: "for dumps with LFU counters: keys with a counter up to this value are unused",
                zh: "用于带 LFU 计数的快照：计数不大于此值视为未使用",
            },
            default: ParamDefault::Int(0),
        },
    ],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey { idle: Some(86_400), ..SampleKey::named("city:map:berlin").forever() }]),
    fails: RuleSample::of(&[SampleKey { idle: Some(90 * 86_400), ..SampleKey::named("city:map:berlin").forever() }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(IdleForever { max: params.number("max"), freq: params.number("freq") })))
}

/// Limits the idle time of keys without expiry.
#[derive(Debug, Clone, Copy)]
pub struct IdleForever {
    /// Maximum idle time, in milliseconds.
    pub max: u64,
    /// Highest LFU counter of an unused key.
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

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks(Need::IdleTimesOrCounters, |report| {
            let used =
                report.idle.as_ref().map_or(0, |idle| idle.keys) + report.freq.as_ref().map_or(0, |freq| freq.keys);
            report.totals.without_ttl.keys > 0 && used < report.totals.keys
        })
    }

    fn harmless(&self, _: Kind, _: &Context) -> Option<HarmlessKeys> {
        Some(HarmlessKeys { unknown_use: true, ..HarmlessKeys::default() })
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Forever
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    fn a_low_counter_means_unused_without_a_measured_time() {
        assert_eq!(check(false, None, Some(1)), Some(Violation { measured: 0, allowed: 0 }));
        assert_eq!(check(false, None, Some(2)), None);
        assert_eq!((check(true, None, Some(0)), check(false, None, None)), (None, None));
    }
}
