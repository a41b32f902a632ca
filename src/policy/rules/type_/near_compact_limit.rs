//! `type.near-compact-limit`: no collection exceeds the limit of its compact encoding only slightly.
//!
//! Measured: elements of hashes, sets and sorted sets above the configured limit of listpack, ziplist or intset, but at most
//! `factor` times the limit, that would be compact with the limit raised that far. These values are walked a second time
//! with a model of the higher limits (`analyze/read/raised_limits.rs`), so a hash with one value too long for the compact
//! encoding does not count. The saving is the difference of the two results, that is of `MEMORY USAGE` under both settings.

use crate::policy::harmless::HarmlessKeys;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, Rule, RuleMeta, Severity, Text, Unit, Violation};
use crate::policy::sample::{RuleSample, SampleKey};
use crate::policy::{Context, KeyView, Policy};
use crate::record::{Encoding, Kind};
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "type.near-compact-limit",
    severity: Severity::Hint,
    problem: Text {
        en: "collection just above the limit of its compact encoding (up to `factor` times)",
        zh: "集合类型的元素个数略微超出紧凑编码上限（factor 倍以内）",
    },
    what: Text {
        en: "no collection is just above the limit of its compact encoding (up to `factor` times)",
        zh: "集合类型的元素个数不应略微超出紧凑编码上限（factor 倍以内）",
    },
    why: Text {
        en: "Servers store small collections in one block of memory (listpack, ziplist, intset). Above the configured limit, \
             every element has its own allocations and pointers, which take several times the memory.",
        zh: "服务器把元素少的集合类型存放在一块连续内存中（listpack、ziplist、intset）。元素个数一旦超过配置上限，每个元素都要单独分配内存和指针，占用增至数倍。",
    },
    fix: Text {
        en: "raise hash-max-listpack-entries, zset-max-listpack-entries (before 7.0: -ziplist-) or set-max-intset-entries \
             slightly, for sets of texts set-max-listpack-entries (only from 7.2 on), and watch the CPU usage, or split the \
             collections",
        zh: "适当调高 hash-max-listpack-entries、zset-max-listpack-entries（7.0 之前为 -ziplist-）或 set-max-intset-entries，元素不全为整数的 set 调高 set-max-listpack-entries（7.2 起才有），并观察 CPU 开销，或拆分 key",
    },
    params: &[ParamSpec {
        name: "factor",
        what: Text {
            en: "multiple of the limit that still counts as near it", zh: "上限的多少倍以内算接近"
        },
        default: ParamDefault::Int(2),
    }],
    unit: Some(Unit::Elements),
    passes: RuleSample::of(&[
        SampleKey::of("cart:{i}:items", Kind::Hash, 512, 12_000),
        SampleKey::of("catalogue:index", Kind::Hash, 100_000, 9_000_000),
    ]),
    fails: RuleSample::of(&[SampleKey::of("cart:{i}:items", Kind::Hash, 600, 60_000)]),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

/// Highest allowed factor: collections further above the limit are not near it.
const MAX_FACTOR: u64 = 16;

fn build(params: &Params) -> Result<BuiltRule, String> {
    match params.number("factor") {
        factor @ 2..=MAX_FACTOR => Ok(BuiltRule::Key(Box::new(NearCompactLimit { factor }))),
        factor => Err(format!("\"factor\" must be from 2 to {MAX_FACTOR}, not {factor}")),
    }
}

/// Returns the factor by which limits must be raised for this rule; `None` if the policy does not enable it.
pub fn factor(policy: &Policy) -> Option<u64> {
    let own = policy.settings.iter().filter(|setting| setting.rule.meta.id == META.id);
    own.map(|setting| setting.params.number("factor")).max()
}

/// Rejects collections slightly above the limit of their compact encoding.
#[derive(Debug, Clone, Copy)]
pub struct NearCompactLimit {
    /// Multiple of the limit that counts as near it.
    pub factor: u64,
}

impl KeyRule for NearCompactLimit {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let compact = key.record.compact?;
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
        let compact = key.record.compact.map_or(key.record.memory, |compact| compact.memory);
        Bytes(key.record.memory.0.saturating_sub(compact.0))
    }

    fn harmless(&self, _: Kind, _: &Context) -> Option<HarmlessKeys> {
        Some(HarmlessKeys { far_from_compact: true, ..HarmlessKeys::default() })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.lacks_values()
    }

    fn kinds(&self) -> &'static [Kind] {
        &[Kind::Hash, Kind::Set, Kind::Zset]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::testing::{check_record, checks, record};
    use crate::record::{Compact, Record};

    const RULE: NearCompactLimit = NearCompactLimit { factor: 2 };

    fn check(kind: Kind, length: u64, encoding: Encoding) -> Option<u64> {
        let compact = Some(Compact { encoding, memory: Bytes(30) });
        let record = Record { kind, length: Some(length), compact, ..record(b"a:b") };
        check_record(&RULE, &record, &Context::default()).map(|violation| violation.allowed)
    }

    #[test]
    fn near_means_above_the_limit_of_the_encoding_and_within_the_factor() {
        let hash = |length| check(Kind::Hash, length, Encoding::Listpack);
        assert_eq!([512, 513, 1024, 1025].map(hash), [None, Some(512), Some(512), None]);
        let zset = |length| check(Kind::Zset, length, Encoding::Listpack);
        assert_eq!([128, 129, 256, 257].map(zset), [None, Some(128), Some(128), None]);
        assert_eq!(check(Kind::Set, 200, Encoding::Listpack), Some(128));
        assert_eq!(check(Kind::Set, 200, Encoding::Intset), None);
        assert_eq!(check(Kind::Set, 600, Encoding::Intset), Some(512));
    }

    #[test]
    fn the_remedy_says_since_when_sets_have_listpacks() {
        assert!(META.fix.en.contains("set-max-listpack-entries (only from 7.2 on)"));
        assert!(META.fix.zh.contains("set-max-listpack-entries（7.2 起才有）"));
    }

    #[test]
    fn values_that_no_limit_would_make_compact_do_not_count() {
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
    fn factors_out_of_range_are_rejected() {
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
