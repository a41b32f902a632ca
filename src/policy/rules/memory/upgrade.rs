//! `memory.upgrade`: no newer server would store the same keys in much less memory.
//!
//! Measured: largest saving among the servers estimated in the same run, in thousandths of the current memory. Without such
//! estimates nothing is checked.

use std::cmp::Reverse;

use crate::policy::capacity::{UpgradeEstimate, comparable_memory, exceeds, permille_above, upgrades};
use crate::policy::params::{ParamDefault, ParamSpec, Params};
use crate::policy::rule::{
    Breach, BuiltRule, DetailField, DetailValue, Known, Need, Rule, RuleMeta, Severity, SnapshotRule, Text, Unit,
};
use crate::policy::sample::{RuleSample, SampleFacts, SampleKey};
use crate::policy::{Context, Policy};
use crate::record::Kind;
use crate::report::{DetailPart, Report};
use crate::units::Bytes;

/// Description of the rule.
static META: RuleMeta = RuleMeta {
    id: "memory.upgrade",
    severity: Severity::Hint,
    problem: Text {
        en: "a newer server would save more than `saves` of the memory",
        zh: "升级服务器版本可节省超过 saves 的内存",
    },
    what: Text {
        en: "no newer server would save more than `saves` of the memory",
        zh: "升级到更高版本可节省的内存不超过 saves",
    },
    why: Text {
        en: "Newer servers store the same data in less memory: more compact encodings, smaller entries, fewer pointers. An \
             upgrade may save the cost of a bigger machine.",
        zh: "新版本通常在内存效率上有所提升：更紧凑的编码、更小的条目、更少的指针。升级可能省下扩容的成本。",
    },
    fix: Text {
        en: "check that the applications are compatible with the newer version, then upgrade",
        zh: "评估应用与新版本的兼容性后升级",
    },
    params: &[ParamSpec {
        name: "saves",
        what: Text {
            en: "minimum share of the memory saved for an upgrade to be worthwhile",
            zh: "值得升级的最小内存节省比例",
        },
        default: ParamDefault::Share(100),
    }],
    unit: Some(Unit::Permille),
    passes: RuleSample::of(&[SampleKey::of("user:{i}", Kind::Hash, 20, 1_000)])
        .with(SampleFacts { upgraded_permille: Some(900), ..SampleFacts::NONE }),
    fails: RuleSample::of(&[SampleKey::of("user:{i}", Kind::Hash, 20, 1_000)])
        .with(SampleFacts { upgraded_permille: Some(899), ..SampleFacts::NONE }),
};

/// Registry entry of the rule.
pub static RULE: Rule = Rule { meta: &META, build };

fn build(params: &Params) -> Result<BuiltRule, String> {
    Ok(BuiltRule::Snapshot(Box::new(UpgradeRule { saves: params.number("saves") })))
}

/// Returns whether a policy enables the rule, so that the run has to estimate a newer server, too.
pub fn is_in_force(policy: &Policy) -> bool {
    policy.settings.iter().any(|setting| setting.rule.meta.id == META.id)
}

const BEST: DetailField = DetailField::new("best", "best", "最佳");
const ALTERNATIVES: DetailField = DetailField::new("alternatives", "alternatives", "可选方案");

/// Limits the saving that an upgrade would bring.
#[derive(Debug, Clone, Copy)]
pub struct UpgradeRule {
    /// Largest share saved that is not reported, in thousandths.
    pub saves: u64,
}

impl SnapshotRule for UpgradeRule {
    fn judge(&self, report: &Report, context: &Context) -> Vec<Breach> {
        // Savings of a selection say nothing about the server.
        if !report.options.selection.is_empty() {
            return Vec::new();
        }
        let now = comparable_memory(report);
        let others = upgrades(report, context);
        let Some(best) = others.iter().min_by_key(|other| (other.memory, Reverse(&other.model))) else {
            return Vec::new();
        };
        let saved = now.0.saturating_sub(best.memory.0);
        // A share of known memory is not one of all memory.
        let is_partial = report.what_if.iter().any(|what_if| !what_if.unknown.is_none());
        if is_partial || !exceeds(saved, now.0, self.saves) {
            return Vec::new();
        }
        let part = |other: &UpgradeEstimate| DetailPart {
            name: other.model.clone(),
            memory: Some(other.memory),
            ..DetailPart::default()
        };
        let list = others.iter().map(part).collect();
        vec![Breach {
            keys: report.totals.keys,
            memory: report.totals.memory,
            measured: Some(permille_above(saved, now.0, self.saves)),
            allowed: Some(self.saves),
            saves: Some(Bytes(saved)),
            details: [BEST.with(DetailValue::Text(best.model.clone())), ALTERNATIVES.with(DetailValue::Parts(list))]
                .into(),
            ..Breach::default()
        }]
    }
    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let none = |report: &Report| report.totals.keys > 0 && upgrades(report, known.context).is_empty();
        let is_unknown = |report: &Report| report.what_if.iter().any(|what_if| !what_if.unknown.is_none());
        let newer = known.lacks(Need::NewerServer, none).or_else(|| known.lacks_keys());
        newer.or_else(|| known.lacks(Need::KnownMemory, is_unknown))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyze::examples::empty_report;
    use crate::policy::capacity;

    fn breaches(memory: u64, others: &[(&str, u64)]) -> Vec<Breach> {
        let mut report = empty_report();
        report.totals.memory = Bytes(memory);
        let upgrade = |&(model, memory): &(&str, u64)| capacity::UpgradeEstimate {
            model: model.to_owned(),
            memory: Bytes(memory),
        };
        let context = Context { upgrades: others.iter().map(upgrade).collect(), ..Context::default() };
        UpgradeRule { saves: 100 }.judge(&report, &context)
    }

    #[test]
    fn the_server_that_saves_most_is_named_with_what_it_saves() {
        let [breach] = &breaches(1000, &[("a 7", 950), ("a 8", 700), ("b 9", 700)])[..] else { panic!() };
        assert_eq!((breach.saves, breach.measured), (Some(Bytes(300)), Some(300)));
        assert_eq!(breach.details["best"].value, DetailValue::Text("b 9".into()));
        assert!(matches!(&breach.details["alternatives"].value, DetailValue::Parts(parts) if parts.len() == 3));
    }

    #[test]
    fn a_selection_of_keys_is_not_judged() {
        let mut report = empty_report();
        report.totals.memory = Bytes(1000);
        report.options.selection = vec!["--type stream".to_owned()];
        let upgrades = vec![UpgradeEstimate { model: "a 8".to_owned(), memory: Bytes(100) }];
        let context = Context { upgrades, ..Context::default() };
        let rule = UpgradeRule { saves: 100 };
        assert!(rule.judge(&report, &context).is_empty());
        let known = Known { report: Some(&report), ..Known::before(&context) };
        assert_eq!(rule.needs(&known), Some(Need::AllKeys));
    }

    #[test]
    fn small_savings_and_more_memory_are_not_reported() {
        assert!(breaches(1000, &[("a 7", 900), ("a 8", 2000)]).is_empty() && breaches(1000, &[]).is_empty());
        assert!(breaches(0, &[("a 7", 0)]).is_empty());
    }
}
