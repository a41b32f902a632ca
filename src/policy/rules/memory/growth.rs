//! `memory.growth`: no pattern has grown abnormally since an earlier snapshot.
//!
//! Measured: current memory of a pattern. Allowed are `factor` times its earlier memory, but at least `least` more than that;
//! a new pattern counts as 0 before. If the earlier report lists only its heaviest patterns, an unlisted pattern was at most
//! as heavy as the lightest listed one and is compared with that. Without an earlier report nothing is checked.

use crate::policy::Context;
use crate::policy::earlier::EarlierWeight;
use crate::policy::forest::{Forest, PatternSums};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, PatternRule, Rule, RuleMeta, Severity, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::record::Kind;
use crate::report::{Details, Weight};

const BEFORE: SampleFacts =
    SampleFacts { before: &[SampleKey::of("cart:{i}", Kind::Hash, 50, 1 << 20).times(10, 0)], ..SampleFacts::NONE };

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.growth",
    severity: Severity::Must,
    problem: Text {
        en: "pattern grew to more than `factor` times its memory, by `least` or more",
        zh: "模式的内存增长到 factor 倍以上，且增量不少于 least",
    },
    what: Text {
        en: "no pattern takes more than `factor` times its earlier memory and at least `least` more",
        zh: "与之前的快照相比，任何模式的内存增长不超过 factor 倍（增量至少 least 才计入）",
    },
    why: Text {
        en: "Sudden growth of a pattern usually means a runaway write loop, a missing TTL or a feature without planned memory. \
             Found the next day it is a small fix; found at maxmemory it is an outage.",
        zh: "模式的内存突然增长，往往意味着循环写入、遗漏的 TTL，或未规划内存的新功能。次日发现只需小修，等到内存打满就是故障。",
    },
    fix: Text {
        en: "find the release or job that writes these keys; set a TTL or a budget",
        zh: "查明是哪个版本或任务在写这些 key；为其设置 TTL 或内存预算",
    },
    params: &[
        ParamSpec {
            name: "factor",
            what: Text { en: "maximum growth factor", zh: "允许的最大增长倍数" },
            default: ParamDefault::Int(2),
        },
        ParamSpec {
            name: "least",
            what: Text { en: "growth below this is ignored", zh: "增量低于此值时忽略" },
            default: ParamDefault::Bytes(10 << 20),
        },
    ],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("cart:{i}", Kind::Hash, 50, 1 << 20).times(20, 0)]).with(BEFORE),
    fails: RuleSample::of(&[SampleKey::of("cart:{i}", Kind::Hash, 50, 1 << 20).times(21, 0)]).with(BEFORE),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let growth = GrowthRule { factor: params.number("factor"), least: params.number("least") };
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
    /// Growth in bytes that is always allowed.
    pub least: u64,
}

impl PatternRule for GrowthRule {
    fn judge(&self, forest: &Forest<'_>, context: &Context) -> Vec<Breach> {
        let Some(earlier) = &context.earlier else { return Vec::new() };
        // Patterns lighter than this cannot have grown by more.
        let heavy = forest.patterns().filter(|(_, sums)| sums.memory.0 > self.least);
        heavy
            .filter_map(|(node, sums)| {
                self.grown(&node.text, sums, earlier.before(&node.text, &context.separators), &earlier.name)
            })
            .collect()
    }
    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let known =
            known.context.earlier.as_ref().is_some_and(|earlier| earlier.complete || !earlier.patterns.is_empty());
        (!known).then_some(Need::Baseline)
    }
}

impl GrowthRule {
    fn grown(&self, pattern: &str, now: &PatternSums, before: EarlierWeight, name: &str) -> Option<Breach> {
        let most = before.most()?.0;
        let allowed = most.saturating_mul(self.factor).max(most.saturating_add(self.least));
        if now.memory.0 <= allowed {
            return None;
        }
        Some(Breach {
            pattern: Some(pattern.to_owned()),
            keys: now.keys,
            memory: now.memory,
            measured: Some(now.memory.0),
            allowed: Some(allowed),
            details: details(before, name),
            examples: now.example.iter().cloned().collect(),
            ..Breach::default()
        })
    }
}

const EARLIER: DetailField = DetailField::new("earlier", "earlier", "此前的报告");
const NEW: DetailField = DetailField::new("new", "new", "新出现");
const KEYS_BEFORE: DetailField = DetailField::new("keys_before", "keys before", "此前 key 数");
const MEMORY_BEFORE: DetailField = DetailField::new("memory_before", "memory before", "此前内存");
const MEMORY_BEFORE_BELOW: DetailField = DetailField::new("memory_before_below", "memory before below", "此前内存低于");

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
        EarlierWeight::Below(bound) => details.extend([MEMORY_BEFORE_BELOW.with(DetailValue::Bytes(bound))]),
        EarlierWeight::Unknown => {}
    }
    details
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::earlier::EarlierPatterns;
    use crate::policy::forest::PatternNode;
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
        let context = Context {
            earlier: Some(EarlierPatterns { name: "old".to_owned(), patterns, complete }),
            ..Context::default()
        };
        let mut breaches = GrowthRule { factor: 2, least: 150 }.judge(&Forest { nodes: vec![node] }, &context);
        breaches.pop().map(|breach| breach.allowed.unwrap())
    }

    fn nothing() -> PatternSums {
        PatternSums {
            keys: 0,
            memory: Bytes(0),
            disk: Bytes(0),
            name_bytes: Bytes(0),
            string_bytes: Bytes(0),
            without_ttl: Weight::default(),
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
    fn a_factor_of_zero_is_rejected() {
        let mut params = Params::defaults(META.params);
        params.set("factor", crate::policy::params::ParamValue::Number(0));
        assert!(build(&params).is_err());
    }
}
