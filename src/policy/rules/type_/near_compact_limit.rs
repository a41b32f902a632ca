//! `type.near-compact-limit`: collections that miss their compact form by little.
//!
//! Measured: elements of hashes, sets and sorted sets with more of them than the setting in force allows in a listpack,
//! ziplist or intset, but at most `factor` times as many, and which would be compact if the limit were that high. The
//! last is no guess: such a value is walked a second time by a model with the higher limits (`analyze/read/raised_limits.rs`), so a
//! hash with one value too long for the compact form does not count. What is saved is the difference of the two figures,
//! that is of `MEMORY USAGE` under the two settings.

use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, Chapter, KeyRule, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::{KeyView, Policy};
use crate::record::{Encoding, Kind};
use crate::units::Bytes;

static META: RuleMeta = RuleMeta {
    id: "type.near-compact-limit",
    severity: Severity::Hint,
    problem: Text {
        en: "collection just above the limit of its compact encoding (up to `factor` times)",
        zh: "集合类元素个数略微超出紧凑编码上限（factor 倍以内）",
    },
    what: Text {
        en: "no collection just above the limit of its compact form (up to `factor` times)",
        zh: "集合类元素个数不应略微超出紧凑编码上限（factor 倍以内）",
    },
    why: Text {
        en: "Servers keep small collections in one piece of memory (listpack, ziplist, intset). One element more than \
             the setting allows and each element gets allocations and pointers of its own, several times the memory.",
        zh: "服务器把小集合存放在一块连续内存中（listpack、ziplist、intset）。元素个数一旦超过配置上限，每个元素都要单独分配内存和指针，占用增至数倍。",
    },
    fix: Text {
        en: "raise hash-max-listpack-entries, zset-max-listpack-entries, set-max-listpack-entries or \
             set-max-intset-entries a little (before 7.0: -ziplist-) and measure the CPU time, or split the collections",
        zh: "适当调高 hash-max-listpack-entries、zset-max-listpack-entries、set-max-listpack-entries 或 set-max-intset-entries（7.0 之前为 -ziplist-）并观察 CPU 开销，或拆分集合",
    },
    chapters: &[
        Chapter { preset: "hzero", heading: "value设计 / 选择适合的数据类" },
        Chapter { preset: "platform", heading: "十五 1. 内存优化" },
        Chapter { preset: "aliyun", heading: "一 2.(2) 选择适合的数据类型" },
    ],
    params: &[ParamSpec {
        name: "factor",
        what: Text { en: "times the limit that counts as near it", zh: "上限的多少倍以内算接近" },
        default: ParamDefault::Int(2),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[
        SampleKey::of("cart:{i}:items", Kind::Hash, 512, 12_000),
        SampleKey::of("catalogue:index", Kind::Hash, 100_000, 9_000_000),
    ]),
    fails: RuleSample::of(&[SampleKey::of("cart:{i}:items", Kind::Hash, 600, 60_000)]),
};

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

/// Limits that are raised further than this are no longer near.
const LARGEST_FACTOR: u64 = 16;

fn build(params: &Params) -> Result<BuiltRule, String> {
    match params.number("factor") {
        factor @ 2..=LARGEST_FACTOR => Ok(BuiltRule::Key(Box::new(NearCompactLimit { factor }))),
        factor => Err(format!("{}: factor is 2 to {LARGEST_FACTOR}, not {factor}", META.id)),
    }
}

/// The factor that limits have to be raised by for this rule; `None` if the policy does not have it.
pub fn factor(policy: &Policy) -> Option<u64> {
    let own = policy.settings.iter().filter(|setting| setting.rule.meta.id == META.id);
    own.map(|setting| setting.params.number("factor")).max()
}

/// At most the limit, or far above it.
#[derive(Debug, Clone, Copy)]
pub struct NearCompactLimit {
    /// Times the limit that is near it.
    pub factor: u64,
}

impl KeyRule for NearCompactLimit {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let compact = key.record.value.compact?;
        let config = &key.context.config;
        let allowed = match (key.record.kind, compact.encoding) {
            (Kind::Hash, _) => config.hash_max_entries(),
            (Kind::Zset, _) => config.zset_max_entries(),
            (_, Encoding::Intset) => config.intset_max_entries(),
            _ => config.set_max_entries(),
        };
        let measured = key.record.length.unwrap_or_default();
        let near = measured > allowed && measured <= allowed.saturating_mul(self.factor);
        near.then_some(Violation { measured, allowed })
    }

    fn estimates_saving(&self) -> bool {
        true
    }

    fn saving(&self, key: &KeyView<'_>) -> Bytes {
        let compact = key.record.value.compact.map_or(key.record.memory, |compact| compact.memory);
        Bytes(key.record.memory.0.saturating_sub(compact.0))
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::Hash, Kind::Set, Kind::Zset]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Context;
    use crate::policy::testing::{check_record, checks, record};
    use crate::record::{Compact, Record, ValueFacts};

    const RULE: NearCompactLimit = NearCompactLimit { factor: 2 };

    fn check(kind: Kind, length: u64, encoding: Encoding) -> Option<u64> {
        let compact = Some(Compact { encoding, memory: Bytes(30) });
        let value = ValueFacts { compact, ..ValueFacts::default() };
        let record = Record { kind, length: Some(length), value, ..record(b"a:b") };
        check_record(&RULE, &record, &Context::default()).map(|violation| violation.allowed)
    }

    #[test]
    fn near_is_above_the_limit_of_the_form_and_within_the_factor() {
        let hash = |length| check(Kind::Hash, length, Encoding::Listpack);
        assert_eq!([512, 513, 1024, 1025].map(hash), [None, Some(512), Some(512), None]);
        let zset = |length| check(Kind::Zset, length, Encoding::Listpack);
        assert_eq!([128, 129, 256, 257].map(zset), [None, Some(128), Some(128), None]);
        assert_eq!(check(Kind::Set, 200, Encoding::Listpack), Some(128));
        assert_eq!(check(Kind::Set, 200, Encoding::Intset), None);
        assert_eq!(check(Kind::Set, 600, Encoding::Intset), Some(512));
    }

    #[test]
    fn what_no_limit_would_make_compact_is_not_near() {
        let record = Record { kind: Kind::Hash, length: Some(600), ..record(b"a:b") };
        assert_eq!(check_record(&RULE, &record, &Context::default()), None);
    }

    #[test]
    fn the_factor_of_a_policy_is_its_greatest() {
        let of = |text: &str| factor(&checks(text).policy);
        assert_eq!(of("[rules]\n\"type.near-compact-limit\" = \"hint\""), Some(2));
        assert_eq!(of("[rules.\"type.near-compact-limit\"]\nseverity = \"hint\"\nfactor = 3"), Some(3));
        assert_eq!(of("[rules]\n\"key.prefix\" = \"must\""), None);
    }

    #[test]
    fn factors_that_raise_nothing_or_everything_are_refused() {
        for (wrong, right) in [(0, 2), (1, 3), (17, 16)] {
            let params = |factor| {
                let mut params = Params::defaults(META.params);
                params.set("factor", crate::policy::params::ParamValue::Number(factor));
                params
            };
            assert!(build(&params(wrong)).is_err());
            assert!(build(&params(right)).is_ok());
        }
    }
}
