//! `big.expiring`: big keys have no expiry.
//!
//! `bytes` and `elements` define big keys and usually repeat the limits of `big.string` and `big.elements`. Measured: bytes
//! of a string, elements of other types. The remaining time does not matter: an expiry in a year blocks the server as much
//! as one in an hour.

use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Rule, RuleMeta, Severity, SizeTest, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.expiring",
    severity: Severity::Should,
    problem: Text { en: "big key with an expiry", zh: "大 key 依赖过期自动删除" },
    what: Text { en: "no big key has an expiry", zh: "大 key 不依赖过期自动删除" },
    why: Text {
        en: "Unless lazy expiry is enabled, the server deletes an expired key at once on its main thread: a sorted set of two \
             million members with a TTL of one hour blocks all clients when it expires, and the slow log does not show \
             the reason.",
        zh: "除非开启惰性删除，过期 key 会在主线程上一次性删除：一个 200 万成员的 zset 设置 1 小时过期，到期时会阻塞所有请求，而且不会出现在慢查询中。",
    },
    fix: Text {
        en: "reduce its size first: split it, or delete it in steps (HSCAN and HDEL, SSCAN and SREM, ZREMRANGEBYRANK, \
             LTRIM); set lazyfree-lazy-expire yes",
        zh: "先缩小：拆分，或分批删除（HSCAN+HDEL、SSCAN+SREM、ZREMRANGEBYRANK、LTRIM）；并设置 lazyfree-lazy-expire yes",
    },
    params: &[
        ParamSpec {
            name: "bytes",
            what: Text { en: "strings longer than this are big", zh: "超过该长度的字符串视为大 key" },
            default: ParamDefault::Bytes(10_240),
        },
        ParamSpec {
            name: "elements",
            what: Text {
                en: "collections with more elements than this are big", zh: "超过该元素个数的集合视为大 key"
            },
            default: ParamDefault::Int(5_000),
        },
    ],
    unit: Some(Unit::Count),
    passes: RuleSample::of(&[
        SampleKey::of("rank:all", Kind::Zset, 2_000_000, 200_000_000).forever(),
        SampleKey::of("rank:{i}", Kind::Zset, 5_000, 500_000),
    ]),
    fails: RuleSample::of(&[SampleKey::of("rank:all", Kind::Zset, 2_000_000, 200_000_000).expiring_in(3_600)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(ExpiringRule { bytes: params.number("bytes"), elements: params.number("elements") })))
}

/// Rejects an expiry on big keys.
#[derive(Debug, Clone, Copy)]
pub struct ExpiringRule {
    /// Length of the longest string that is not big.
    pub bytes: u64,
    /// Number of elements of the largest collection that is not big.
    pub elements: u64,
}

impl ExpiringRule {
    fn most(&self, kind: Kind) -> u64 {
        if kind == Kind::String { self.bytes } else { self.elements }
    }
}

impl KeyRule for ExpiringRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        key.record.expires_at?;
        let allowed = self.most(key.record.kind);
        let measured = key.record.length.unwrap_or_default();
        (measured > allowed).then_some(Violation { measured, allowed })
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::String, Kind::List, Kind::Set, Kind::Zset, Kind::Hash, Kind::Stream, Kind::Array]
    }

    fn size_test(&self, kind: Kind) -> Option<SizeTest> {
        Some(SizeTest::Length(self.most(kind)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, record};
    use crate::record::Record;
    use crate::units::Millis;

    #[test]
    fn a_big_key_may_live_forever_and_a_small_one_may_expire() {
        let rule = ExpiringRule { bytes: 10_240, elements: 5_000 };
        let breaks = |kind, length, expires_at: Option<i64>| {
            let expires_at = expires_at.map(Millis);
            let record = Record { kind, length: Some(length), expires_at, ..record(b"a:b") };
            check_record(&rule, &record, &Context::default())
        };
        assert_eq!(breaks(Kind::Zset, 2_000_000, Some(1)), Some(Violation { measured: 2_000_000, allowed: 5_000 }));
        assert_eq!(breaks(Kind::String, 10_241, Some(1)), Some(Violation { measured: 10_241, allowed: 10_240 }));
        assert_eq!(breaks(Kind::Zset, 2_000_000, None), None);
        assert_eq!(breaks(Kind::String, 10_240, Some(1)), None);
        assert_eq!(breaks(Kind::Hash, 5_000, Some(1)), None);
    }
}
