//! `ttl.idle`: keys with an expiry are in use.
//!
//! Measured: milliseconds since the last access, which only dumps of servers with an LRU policy contain. The counters of LFU
//! policies tell no time: by default they fall to zero within minutes, which says nothing about a key that expires anyway.

use crate::policy::harmless::HarmlessKeys;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Lifetime, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::{Context, KeyView};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "ttl.idle",
    severity: Severity::Hint,
    problem: Text {
        en: "cold key with an expiry: unused for longer than {max}",
        zh: "设置了过期时间的冷数据：空闲超过 {max}",
    },
    what: Text {
        en: "no key with an expiry is unused for longer than {max}",
        zh: "设置了过期时间的 key，空闲时间不超过 {max}",
    },
    why: Text {
        en: "Data that is hardly ever read does not belong in memory, which is expensive, even if it expires one day. An expiry \
             far beyond the last access also shows that it is too long.",
        zh: "很少访问的数据即使终会过期，也不该放在成本昂贵的内存中；最后一次访问之后很久仍未过期，也说明过期时间设得过长。",
    },
    fix: Text {
        en: "move cold data to a database, and give the keys a shorter expiry",
        zh: "把冷数据迁移到数据库，并缩短这些 key 的过期时间",
    },
    params: &[ParamSpec {
        name: "max",
        what: Text { en: "maximum idle time", zh: "允许的最长空闲时间" },
        default: ParamDefault::Span(30 * 86_400_000),
    }],
    unit: Some(Unit::Millis),
    passes: RuleSample::of(&[SampleKey { idle: Some(86_400), ..SampleKey::named("city:map:berlin") }]),
    fails: RuleSample::of(&[SampleKey { idle: Some(45 * 86_400), ..SampleKey::named("city:map:berlin") }]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(Idle { max: params.number("max") })))
}

/// Limits the idle time of keys with an expiry.
#[derive(Debug, Clone, Copy)]
pub struct Idle {
    /// Maximum idle time, in milliseconds.
    pub max: u64,
}

impl KeyRule for Idle {
    #[inline]
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        key.record.expires_at?;
        let measured = key.record.idle?.saturating_mul(1000);
        (measured > self.max).then_some(Violation { measured, allowed: self.max })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks(Need::IdleTimes, |report| {
            let totals = &report.totals;
            totals.without_ttl.keys < totals.keys && report.idle.as_ref().is_none_or(|idle| idle.keys < totals.keys)
        })
    }

    fn harmless(&self, _: Kind, _: &Context) -> Option<HarmlessKeys> {
        Some(HarmlessKeys { unknown_use: true, ..HarmlessKeys::default() })
    }

    fn lifetime(&self) -> Lifetime {
        Lifetime::Expires
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{check_record, record};
    use crate::units::Millis;

    #[test]
    fn only_the_idle_time_of_keys_with_an_expiry_counts() {
        let check = |expires: bool, idle: Option<u64>, freq: Option<u8>| {
            let mut record = record(b"a:b");
            record.expires_at = expires.then_some(Millis(1));
            (record.idle, record.freq) = (idle, freq);
            check_record(&Idle { max: 30_000 }, &record, &Context::default())
        };
        assert_eq!(check(true, Some(31), None), Some(Violation { measured: 31_000, allowed: 30_000 }));
        assert_eq!([check(true, Some(30), None), check(false, Some(31), None), check(true, None, Some(0))], [None; 3]);
        assert!(check(true, Some(u64::MAX), None).is_some());
    }
}
