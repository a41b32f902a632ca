//! `big.expiring`: big collections have no expiry.
//!
//! `elements` defines big collections and usually repeats the limit of `big.elements`. Measured: elements of hashes, lists, sets
//! and sorted sets. Strings do not count: freeing one takes no time, however long it is. The remaining time does not matter: an
//! expiry in a year blocks the server as much as one in an hour.

use super::COLLECTIONS;
use crate::policy::KeyView;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, SizeTest, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::record::Kind;
use crate::report::BigRules;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "big.expiring",
    severity: Severity::Should,
    problem: Text {
        en: "collection of more than {elements} elements with an expiry",
        zh: "元素超过 {elements} 个的集合类型依赖过期自动删除",
    },
    what: Text {
        en: "no collection of more than {elements} elements has an expiry",
        zh: "元素超过 {elements} 个的集合类型不依赖过期自动删除",
    },
    why: Text {
        en: "Unless lazyfree-lazy-expire is on, the server deletes an expired key at once on its main thread: a sorted set of two \
             million members with a TTL of one hour blocks all clients when it expires, and the slow log does not show \
             the reason.",
        zh: "除非开启惰性释放（lazyfree-lazy-expire），过期 key 会在主线程上一次性删除：一个含 200 万个成员的 zset 设置 1 小时过期，到期时会阻塞所有请求，而且不会出现在慢查询中。",
    },
    fix: Text {
        en: "reduce its size first: split it, or delete it in steps (HSCAN and HDEL, SSCAN and SREM, ZREMRANGEBYRANK, \
             LTRIM); set lazyfree-lazy-expire yes (only from 4.0 on)",
        zh: "先缩小：拆分，或分批删除（HSCAN+HDEL、SSCAN+SREM、ZREMRANGEBYRANK、LTRIM）；并设置 lazyfree-lazy-expire yes（4.0 起才有）",
    },
    params: &[ParamSpec {
        name: "elements",
        what: Text {
            en: "collections with more elements than this are big", zh: "元素超过此数的集合类型视为大 key"
        },
        default: ParamDefault::Int(BigRules::ELEMENTS),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[
        SampleKey::of("rank:all", Kind::Zset, 2_000_000, 200_000_000).forever(),
        SampleKey::of("rank:{i}", Kind::Zset, 5_000, 500_000),
    ]),
    fails: RuleSample::of(&[SampleKey::of("rank:all", Kind::Zset, 2_000_000, 200_000_000).expiring_in(3_600)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Key(Box::new(ExpiringRule { elements: params.number("elements") })))
}

/// Rejects an expiry on big collections.
#[derive(Debug, Clone, Copy)]
pub struct ExpiringRule {
    /// Number of elements of the largest collection that is not big.
    pub elements: u64,
}

impl KeyRule for ExpiringRule {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        key.record.expires_at?;
        let measured = key.record.length.unwrap_or_default();
        (measured > self.elements).then_some(Violation { measured, allowed: self.elements })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_values()
    }

    fn kinds(&self) -> &'static [Kind] {
        COLLECTIONS
    }

    fn size_test(&self, _: Kind) -> Option<SizeTest> {
        Some(SizeTest::Length(self.elements))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{breaks, checks};
    use crate::units::Millis;

    #[test]
    fn a_big_collection_may_live_forever_and_a_small_one_may_expire() {
        let checks = checks("[rules]\n\"big.expiring\" = \"must\"\n");
        let breaks = |kind, length, expires_at: Option<i64>| {
            breaks(&checks, "a:b", |record| {
                (record.kind, record.length, record.expires_at) = (kind, Some(length), expires_at.map(Millis));
            })
        };
        assert!(breaks(Kind::Zset, 2_000_000, Some(1)));
        assert!(!breaks(Kind::Zset, 2_000_000, None));
        assert!(!breaks(Kind::Hash, 5_000, Some(1)));
        assert!(breaks(Kind::List, 5_001, Some(1)));
    }

    #[test]
    fn strings_and_streams_are_no_collections() {
        let checks = checks("[rules]\n\"big.expiring\" = \"must\"\n");
        for kind in [Kind::String, Kind::Stream, Kind::Array, Kind::Module] {
            let breaks = breaks(&checks, "a:b", |record| {
                (record.kind, record.length, record.expires_at) = (kind, Some(2_000_000), Some(Millis(1)));
            });
            assert!(!breaks, "{kind:?}");
        }
    }
}
