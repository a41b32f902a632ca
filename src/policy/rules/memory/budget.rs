//! `memory.budget`: what a policy sets a budget for stays within it.
//!
//! Measured: memory of the keys that match a `[[budget]]`, a class of lifetimes with a budget, or an entry of the dictionary
//! with one. Without budgets the rule has nothing to say, so every preset has it.

use crate::policy::Context;
use crate::policy::params::Params;
use crate::policy::rule::{Breach, BuiltRule, Chapter, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::Report;

const BUDGET: SampleFacts =
    SampleFacts { policy: "[[budget]]\npattern = \"config:**\"\nmemory = \"1KB\"\n", ..SampleFacts::NONE };

static META: RuleMeta = RuleMeta {
    id: "memory.budget",
    severity: Severity::Must,
    problem: Text { en: "memory budget exceeded", zh: "超出内存预算" },
    what: Text { en: "no budget of the policy is exceeded", zh: "不超过策略中设定的内存预算" },
    why: Text {
        en: "Counters and configuration may live forever, and what never expires only grows. A budget says how far, before the \
             growth takes the memory of everything else.",
        zh: "计数器、配置项等持久类数据可以不设 TTL，但不过期的数据只增不减。必须严格监控其增长，并纳入内存预算。",
    },
    fix: Text {
        en: "delete what is no longer needed, give it an expiry, or raise the budget on purpose",
        zh: "清理不再需要的数据，设置过期时间，或经评估后提高预算",
    },
    chapters: &[Chapter { preset: "platform", heading: "一 3. 生命周期管理(TTL) / 持久类数据" }],
    params: &[],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("config:{i}", crate::record::Kind::Hash, 10, 512).times(2, 0)]).with(BUDGET),
    fails: RuleSample::of(&[SampleKey::of("config:{i}", crate::record::Kind::Hash, 10, 512).times(3, 0)]).with(BUDGET),
};

/// The rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(_: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(BudgetRule)))
}

/// All budgets are kept.
#[derive(Debug, Clone, Copy)]
pub struct BudgetRule;

impl SnapshotRule for BudgetRule {
    fn judge(&self, report: &Report, _: &Context) -> Vec<Breach> {
        let exceeded = report.findings.budgets.iter().filter(|budget| budget.memory > budget.allowed);
        exceeded
            .map(|budget| Breach {
                pattern: Some(budget.pattern.clone()),
                keys: budget.keys,
                memory: budget.memory,
                measured: Some(budget.memory.0),
                allowed: Some(budget.allowed.0),
                ..Breach::default()
            })
            .collect()
    }
}
