//! `memory.growth`: no pattern has grown abnormally since an earlier snapshot.
//!
//! Measured: current memory of a pattern. Allowed are `factor` times its earlier memory, but at least `least` more than that;
//! a new pattern counts as 0 before. On small instances, less is abnormal: there, `share` of all earlier memory takes the place
//! of `least`, but at least 1 MiB. If the earlier report lists only its heaviest patterns, an unlisted pattern was at most as
//! heavy as the lightest listed one, and as all that is not listed; it is compared with the lesser of these; a pattern with a collapsed level (`{*}`) with all that it covers, listed
//! or not. Without an earlier report of the same keys and shards the rule cannot be evaluated.

use crate::policy::Context;
use crate::policy::earlier::{EarlierPatterns, EarlierWeight};
use crate::policy::forest::{Forest, PatternNode, PatternSums};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::record::Kind;
use crate::report::{Details, MIN_PATTERN_GROWTH, Report, Weight};

const BEFORE: SampleFacts =
    SampleFacts { before: &[SampleKey::of("cart:{i}", Kind::Hash, 50, 1 << 20).times(10, 0)], ..SampleFacts::NONE };

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.growth",
    severity: Severity::Must,
    problem: Text {
        en: "pattern is new, or grew to more than `factor` times its memory, by `least` or `share` of all memory",
        zh: "模式新出现，或内存超过此前的 factor 倍，且增量达到 least 或全部内存的 share",
    },
    what: Text {
        en: "no pattern grows to more than `factor` times its earlier memory, if it grew by `least` or `share` of all memory",
        zh: "与之前的快照相比，任何模式的内存不超过此前的 factor 倍（增量达到 least 或全部内存的 share 才计入）",
    },
    why: Text {
        en: "Sudden growth of a pattern usually means a runaway write loop, a missing TTL or a feature without planned memory. \
             Found the next day it is a small fix; found at maxmemory it is an outage.",
        zh: "模式的内存突然增长，往往意味着写入循环失控、忘记设置过期时间，或新功能上线前未规划内存。次日发现只需小修，等到内存打满就是故障。",
    },
    fix: Text {
        en: "find the release or job that writes these keys; set a TTL or a budget",
        zh: "查明是哪次发布或哪个任务在写这些 key；为其设置过期时间或内存预算",
    },
    params: &[
        ParamSpec {
            name: "factor",
            what: Text { en: "maximum growth factor", zh: "允许的最大增长倍数" },
            default: ParamDefault::Int(2),
        },
        ParamSpec {
            name: "least",
            what: Text {
                en: "growth below this is ignored, unless it reaches `share`",
                zh: "增量低于此值且未达到 share 时忽略",
            },
            default: ParamDefault::Bytes(10 << 20),
        },
        ParamSpec {
            name: "share",
            what: Text {
                en: "growth by this share of all earlier memory counts as well, from 1 MiB on",
                zh: "增量达到此前全部内存的该比例（且不少于 1 MiB）时也计入",
            },
            default: ParamDefault::Share(100),
        },
    ],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("cart:{i}", Kind::Hash, 50, 1 << 20).times(20, 0)]).with(BEFORE),
    fails: RuleSample::of(&[SampleKey::of("cart:{i}", Kind::Hash, 50, 1 << 20).times(21, 0)]).with(BEFORE),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let (factor, least, share) = (params.number("factor"), params.number("least"), params.number("share"));
    let growth = GrowthRule { factor, least, share };
    if growth.factor == 0 {
        return Err("\"factor\" must be at least 1".to_owned());
    }
    Ok(BuiltRule::Pattern(Box::new(growth)))
}

/// Limits the growth of patterns.
#[derive(Debug, Clone, Copy)]
pub struct GrowthRule {
    /// Maximum growth factor.
    pub factor: u64,
    /// Growth in bytes that is always allowed, on large instances.
    pub least: u64,
    /// Growth that is always allowed on small instances, in thousandths of all earlier memory.
    pub share: u64,
}

impl PatternRule for GrowthRule {
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach> {
        let Some(earlier) = &context.earlier else { return Vec::new() };
        let ignored = self.ignored(earlier.memory.0);
        // Patterns lighter than this cannot have grown by more.
        let heavy: Vec<_> = forest.patterns().filter(|(_, sums)| sums.memory.0 > ignored).collect();
        let texts: Vec<&str> = heavy.iter().map(|(node, _)| node.text.as_str()).collect();
        let before = earlier.before(&texts, forest.strict, &context.separators);
        let grown = |((node, sums), before): (&(&PatternNode<'_>, &PatternSums), _)| {
            self.grown(&node.text, sums, before, earlier)
        };
        heavy.iter().zip(before).filter_map(grown).collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        match &known.context.earlier {
            None => Some(known.context.earlier_need.unwrap_or(Need::Baseline)),
            Some(earlier) if !earlier.is_known() => Some(Need::ListedPatterns),
            Some(_) if is_of_snapshot(known) => Some(Need::EarlierBaseline),
            Some(earlier) if earlier.lacks_memory => Some(Need::KnownMemory),
            Some(_) => known.lacks_memory(),
        }
    }
}

/// Returns whether the earlier report is of the snapshot itself.
fn is_of_snapshot(known: &Known<'_>) -> bool {
    let now = known.report.and_then(Report::snapshot_key);
    now.is_some() && now == known.context.earlier_snapshot
}

impl GrowthRule {
    /// Returns the growth that is ignored, given all earlier memory.
    fn ignored(&self, memory: u64) -> u64 {
        let share = u128::from(memory) * u128::from(self.share) / 1000;
        u64::try_from(share).unwrap_or(u64::MAX).max(MIN_PATTERN_GROWTH).min(self.least)
    }

    fn grown(
        &self,
        pattern: &str,
        now: &PatternSums,
        before: EarlierWeight,
        earlier: &EarlierPatterns,
    ) -> Option<Breach> {
        let most = before.most()?.0;
        let ignored = self.ignored(earlier.memory.0);
        let allowed = most.saturating_mul(self.factor).max(most.saturating_add(ignored));
        if now.memory.0 <= allowed {
            return None;
        }
        Some(Breach {
            pattern: Some(pattern.to_owned()),
            keys: now.keys,
            memory: now.memory,
            measured: Some(now.memory.0),
            allowed: Some(allowed),
            details: details(before, &earlier.name),
            examples: now.example.iter().cloned().collect(),
            ..Breach::default()
        })
    }
}

const EARLIER: DetailField = DetailField::new("earlier", "earlier", "此前的报告");
const NEW: DetailField = DetailField::new("new", "new", "新出现");
const KEYS_BEFORE: DetailField = DetailField::new("keys_before", "keys before", "此前 key 数");
const MEMORY_BEFORE: DetailField = DetailField::new("memory_before", "memory before", "此前内存");
const MEMORY_BEFORE_AT_MOST: DetailField =
    DetailField::new("memory_before_at_most", "memory before at most", "此前内存不超过");

fn details(before: EarlierWeight, report: &str) -> Details {
    let mut details = Details::from([
        EARLIER.with(DetailValue::Text(report.to_owned())),
        NEW.with(DetailValue::Flag(before == EarlierWeight::Absent)),
    ]);
    let mut known = |weight: Weight| {
        details.extend([
            KEYS_BEFORE.with(DetailValue::Count(weight.keys)),
            MEMORY_BEFORE.with(DetailValue::Bytes(weight.memory)),
        ]);
    };
    match before {
        EarlierWeight::Known(weight) => known(weight),
        EarlierWeight::Absent => known(Weight::default()),
        EarlierWeight::AtMost(bound) => details.extend([MEMORY_BEFORE_AT_MOST.with(DetailValue::Bytes(bound))]),
        EarlierWeight::Unknown => {}
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Bytes;

    /// Returns the allowed memory if a pattern takes `memory` now and the only earlier one, `a:{int}`, took 100.
    fn allowed(pattern: &str, memory: u64, complete: bool) -> Option<u64> {
        let sums = PatternSums { keys: 2, memory: Bytes(memory), ..nothing() };
        let node = PatternNode {
            text: pattern.to_owned(),
            segment: "",
            varies: false,
            parent: None,
            facts: Some(sums),
            expiries: None,
            ids: None,
            secrets: None,
            tokens: None,
        };
        let weight = Weight { keys: 1, memory: Bytes(100) };
        let patterns = [("a:{int}".to_owned(), weight)].into();
        let earlier = EarlierPatterns::listed("old", Bytes(1 << 40), patterns, if complete { 0 } else { u64::MAX });
        let context = Context { earlier: Some(earlier), ..Context::default() };
        let mut breaches = GrowthRule { factor: 2, least: 150, share: 100 }
            .judge(&Forest { nodes: vec![node], ..Forest::default() }, &context);
        breaches.pop().map(|breach| breach.allowed.unwrap())
    }

    fn nothing() -> PatternSums {
        PatternSums {
            keys: 0,
            memory: Bytes(0),
            name_bytes: Bytes(0),
            content: Bytes(0),
            without_ttl: Weight::default(),
            last_expiry: None,
            kinds: Default::default(),
            example: None,
        }
    }

    #[test]
    fn growth_counts_by_factor_and_by_bytes() {
        assert_eq!((allowed("a:{int}", 250, true), allowed("a:{int}", 251, true)), (None, Some(250)));
        assert_eq!((allowed("b:{int}", 150, true), allowed("b:{int}", 151, true)), (None, Some(150)));
    }

    #[test]
    fn unlisted_patterns_were_at_most_as_heavy_as_the_lightest_listed() {
        assert_eq!((allowed("b:{int}", 250, false), allowed("b:{int}", 251, false)), (None, Some(250)));
    }

    #[test]
    fn small_instances_ignore_less() {
        let rule = GrowthRule { factor: 2, least: 10 << 20, share: 100 };
        let ignored = [0, 20 << 20, 50 << 20, 1 << 40].map(|memory| rule.ignored(memory));
        assert_eq!(ignored, [1 << 20, 2 << 20, 5 << 20, 10 << 20]);
        assert_eq!(GrowthRule { least: 100, ..rule }.ignored(0), 100);
        assert_eq!(GrowthRule { share: 1000, ..rule }.ignored(u64::MAX), 10 << 20);
    }

    #[test]
    fn a_factor_of_zero_is_rejected() {
        let mut params = Params::defaults(META.params);
        params.set("factor", crate::policy::params::ParamValue::Number(0));
        assert!(build(&params).is_err());
    }
}
