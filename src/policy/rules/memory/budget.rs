//! `memory.budget`: keys stay within the memory budgets of the policy.
//!
//! Measured: memory of the keys that match a `[[budget]]`, a TTL class with a budget, or a dictionary entry with one. Without
//! budgets the rule never reports anything, so every preset enables it.

use crate::policy::Context;
use crate::policy::params::Params;
use crate::policy::rule::{Breach, BuiltRule, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::Report;

const BUDGET: SampleFacts =
    SampleFacts { policy: "[[budget]]\npattern = \"config:**\"\nmemory = \"1KB\"\n", ..SampleFacts::NONE };

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.budget",
    severity: Severity::Must,
    problem: Text { en: "memory budget exceeded", zh: "超出内存预算" },
    what: Text { en: "no budget of the policy is exceeded", zh: "不超过策略中设定的内存预算" },
    why: Text {
        en: "Counters and configuration may live forever, and data without expiry only grows. A budget limits this growth \
             before it displaces other data.",
        zh: "计数器、配置项等可以永久保存，但不过期的数据只增不减。内存预算可在其挤占其他数据之前限制增长。",
    },
    fix: Text {
        en: "delete data that is no longer needed, set an expiry, or raise the budget after review",
        zh: "清理不再需要的数据，设置过期时间，或经评估后提高预算",
    },
    params: &[],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("config:{i}", crate::record::Kind::Hash, 10, 512).times(2, 0)]).with(BUDGET),
    fails: RuleSample::of(&[SampleKey::of("config:{i}", crate::record::Kind::Hash, 10, 512).times(3, 0)]).with(BUDGET),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(BudgetRule)))
}

/// Checks all budgets of the policy.
#[derive(Debug, Clone, Copy)]
pub struct BudgetRule;

impl SnapshotRule for BudgetRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        let exceeded = report.findings.budgets.iter().filter(|budget| budget.memory > budget.allowed);
        exceeded
            .map(|budget| Breach {
                pattern: Some(budget.pattern.clone()),
                is_label: true,
                keys: budget.keys,
                memory: budget.memory,
                measured: Some(budget.memory.0),
                allowed: Some(budget.allowed.0),
                ..Breach::default()
            })
            .collect()
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let is_unknown = |report: &Report| report.findings.budgets.iter().any(|budget| !budget.unknown.is_none());
        let budget = known.lacks(Need::Budget, |report| report.findings.budgets.is_empty());
        budget.or_else(|| known.lacks_keys()).or_else(|| known.lacks(Need::KnownMemory, is_unknown))
    }
}
