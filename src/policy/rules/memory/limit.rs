//! `memory.limit`: the server has a memory limit.
//!
//! Checked only if `--maxmemory` or a server configuration states `maxmemory`. Which eviction policy suits the data is left to people;
//! `memory.volatile-policy` checks those that need an expiry.

use crate::policy::Context;
use crate::policy::params::Params;
use crate::policy::rule::{Breach, BuiltRule, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::Report;
use crate::units::Bytes;

const fn limited_to(maxmemory: u64) -> SampleFacts {
    SampleFacts { maxmemory: Some(maxmemory), ..SampleFacts::NONE }
}

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.limit",
    severity: Severity::Must,
    problem: Text {
        en: "the server has no memory limit (maxmemory 0)", zh: "服务器未设置内存上限（maxmemory 为 0）"
    },
    what: Text { en: "the server has a memory limit (maxmemory)", zh: "服务器设置了内存上限（maxmemory）" },
    why: Text {
        en: "Without a limit, a server grows until the machine runs out of memory: it swaps, or the system kills it. Eviction \
             never starts, whatever maxmemory-policy says.",
        zh: "没有上限时，服务器会一直增长，直到机器内存耗尽：发生 swap，或被系统杀死；无论 maxmemory-policy 如何设置，淘汰都不会发生。",
    },
    fix: Text {
        en: "set maxmemory on the server, below the memory of the machine to leave room for forks and fragmentation, and a \
             maxmemory-policy that suits the data",
        zh: "在服务器上设置 maxmemory（低于机器内存，为 fork 和内存碎片留出余量），并设置适合数据用途的 maxmemory-policy",
    },
    params: &[],
    unit: None,
    passes: RuleSample::of(&[SampleKey::named("user:{i}")]).with(limited_to(10 << 20)),
    fails: RuleSample::of(&[SampleKey::named("user:{i}")]).with(limited_to(0)),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(LimitRule)))
}

/// Demands `maxmemory`.
#[derive(Debug, Clone, Copy)]
pub struct LimitRule;

impl SnapshotRule for LimitRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let (keys, memory) = (report.totals.keys, report.totals.memory);
        let breach = Breach { keys, memory, ..Breach::default() };
        context.maxmemory.filter(|limit| *limit == Bytes(0)).map(|_| breach).into_iter().collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        known.context.maxmemory.is_none().then_some(Need::Maxmemory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::empty_report;

    #[test]
    fn only_a_stated_limit_of_zero_is_none() {
        let report = empty_report();
        let judge = |maxmemory: Option<u64>| {
            let context = Context { maxmemory: maxmemory.map(Bytes), ..Context::default() };
            (LimitRule.judge(&report, &context).len(), LimitRule.needs(&Known::before(&context)))
        };
        assert_eq!(judge(Some(0)), (1, None));
        assert_eq!(judge(Some(1)), (0, None));
        assert_eq!(judge(None), (0, Some(Need::Maxmemory)));
    }
}
