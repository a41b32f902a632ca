//! `memory.budget`: keys stay within the memory budgets of the policy.
//!
//! Measured: memory of the keys that match a `[[budget]]`, a TTL class with a budget, or a dictionary entry with one. Without
//! budgets the rule never reports anything, so every preset enables it. The budget of a preset is a default that no team has agreed on.
//! Each limit of the rule therefore says whether it is about budgets of the preset (`preset`), of the policy file (`declared`), or both.

use crate::policy::Context;
use crate::policy::dictionary::TtlClass;
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{Breach, BuiltRule, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::report::{BudgetRow, Report};

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
    params: &[
        ParamSpec {
            name: "declared",
            what: Text {
                en: "whether budgets of the policy file count", zh: "是否检查策略文件中声明的预算"
            },
            default: ParamDefault::Flag(true),
        },
        ParamSpec {
            name: "preset",
            what: Text { en: "whether budgets of the preset count", zh: "是否检查预设自带的预算" },
            default: ParamDefault::Flag(true),
        },
    ],
    unit: Some(Unit::Bytes),
    passes: RuleSample::of(&[SampleKey::of("config:{i}", crate::record::Kind::Hash, 10, 512).times(2, 0)]).with(BUDGET),
    fails: RuleSample::of(&[SampleKey::of("config:{i}", crate::record::Kind::Hash, 10, 512).times(3, 0)]).with(BUDGET),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    let rule = BudgetRule { declared: params.flag("declared"), preset: params.flag("preset") };
    Ok(BuiltRule::Snapshot(Box::new(rule)))
}

/// Checks budgets of the policy.
#[derive(Debug, Clone, Copy)]
pub struct BudgetRule {
    /// True if those of the policy file count.
    pub declared: bool,
    /// True if those of the preset count.
    pub preset: bool,
}

impl BudgetRule {
    /// Returns the budgets that count.
    fn budgets<'r>(self, report: &'r Report, context: &'r Context) -> impl Iterator<Item = &'r BudgetRow> {
        let counts = move |budget: &&BudgetRow| if is_of_preset(budget, context) { self.preset } else { self.declared };
        report.findings.budgets.iter().filter(counts)
    }
}

/// Returns whether a preset brings a budget along, for a class that the policy file does not change.
fn is_of_preset(budget: &BudgetRow, context: &Context) -> bool {
    let is_own = |class: &TtlClass| class.name == budget.pattern && class.budget == Some(budget.allowed);
    context.classes.iter().any(|class| class.line == 0 && is_own(class))
}

impl SnapshotRule for BudgetRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        let exceeded = self.budgets(report, context).filter(|budget| budget.memory > budget.allowed);
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
        let context = known.context;
        let is_unknown = |report: &Report| self.budgets(report, context).any(|budget| !budget.unknown.is_none());
        let budget = known.lacks(Need::Budget, |report| self.budgets(report, context).next().is_none());
        budget.or_else(|| known.lacks_keys()).or_else(|| known.lacks(Need::KnownMemory, is_unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::empty_report;
    use crate::units::Bytes;

    #[test]
    fn budgets_of_the_preset_are_told_from_declared_ones() {
        let class = |line| TtlClass {
            name: "persistent".to_owned(),
            patterns: Vec::new(),
            kinds: Vec::new(),
            locks: false,
            required: false,
            max: None,
            jitter: None,
            budget: Some(Bytes(10)),
            line,
        };
        let mut report = empty_report();
        let row = |pattern: &str| BudgetRow {
            pattern: pattern.to_owned(),
            allowed: Bytes(10),
            keys: 1,
            memory: Bytes(11),
            unknown: Default::default(),
        };
        let judged = |report: &Report, line, declared, preset| -> (Vec<String>, bool) {
            let context = Context { classes: vec![class(line)], ..Context::default() };
            let rule = BudgetRule { declared, preset };
            let found = rule.judge(report, &context).into_iter().filter_map(|breach| breach.pattern).collect();
            let known = Known { report: Some(report), ..Known::before(&context) };
            (found, rule.needs(&known).is_some())
        };
        let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
        report.findings.budgets = vec![row("persistent")];
        assert_eq!(judged(&report, 0, true, false), (names(&[]), true));
        assert_eq!(judged(&report, 0, false, true), (names(&["persistent"]), false));
        assert_eq!(judged(&report, 7, true, false), (names(&["persistent"]), false), "a class of the file");
        assert_eq!(judged(&report, 7, false, true), (names(&[]), true));
        report.findings.budgets.push(row("cache:**"));
        assert_eq!(judged(&report, 0, true, false), (names(&["cache:**"]), false));
        assert_eq!(judged(&report, 0, true, true), (names(&["persistent", "cache:**"]), false));
    }
}
