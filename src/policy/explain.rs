//! Judgement on one key with its reasons, for people who look at a single key.

use super::KeyView;
use super::checks::{Checks, Judged, NameJudged};
use super::rule::{RuleMeta, Severity, Unit};
use super::wording::RuleWording;
use crate::pattern::PatternBuf;
use crate::pattern::name::KeyName;
use crate::record::Record;
use crate::report::Wording;
use crate::sorting::CompactSort;

/// Verdict of the policy on one key, with measured values and reasons.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct KeyJudgement {
    /// Name of the policy.
    pub policy: String,
    /// Owner of its entry in the data dictionary.
    pub owner: Option<String>,
    /// Contact of the owner.
    pub contact: Option<String>,
    /// TTL class.
    pub class: Option<String>,
    /// Rules about keys that it breaks, the most severe first.
    pub breaks: Vec<BrokenRule>,
}

/// Rule that a key breaks.
#[derive(Debug, Clone, PartialEq)]
pub struct BrokenRule {
    /// Its id.
    pub rule: &'static str,
    /// Severity.
    pub severity: Severity,
    /// Headline with the limit in force.
    pub problem: Wording,
    /// Unit of the figures.
    pub unit: Option<Unit>,
    /// Measured value and limit, if the violation is a number.
    pub figures: Option<[u64; 2]>,
    /// Reason of the exemption, if the key is exempt from the rule.
    pub exempted: Option<String>,
}

impl Checks {
    /// Checks a key against every rule about keys. `pattern` must come from the classifier of the run.
    pub fn explain(&self, record: &Record<'_>, pattern: &PatternBuf) -> KeyJudgement {
        let (mut named, mut judged) = (NameJudged::default(), Judged::default());
        self.judge_name(&KeyName::Classified(record.key, pattern), &mut named);
        self.judge_named(record, &named, &mut judged);
        let either = judged.broken | judged.excused;
        let broken = (0..self.keys.len()).filter(|bit| either >> bit & 1 == 1);
        let mut breaks: Vec<_> = broken.map(|bit| self.broken_rule(&judged, bit)).collect();
        breaks
            .compact_sort_by_key(|broken| (broken.exempted.is_some(), std::cmp::Reverse(broken.severity), broken.rule));
        let entry = judged.matched.entry.and_then(|entry| self.policy.entries.get(usize::from(entry)));
        let class = KeyView { record, context: &self.context, matched: judged.matched }.class();
        KeyJudgement {
            policy: self.policy.name.clone(),
            owner: entry.and_then(|entry| entry.owner.clone()),
            contact: entry.and_then(|entry| entry.contact.clone()),
            class: class.map(|class| class.name.clone()),
            breaks,
        }
    }

    fn broken_rule(&self, judged: &Judged, bit: usize) -> BrokenRule {
        let (check, violation) = (&self.keys[bit], judged.violations[bit]);
        let meta: &RuleMeta = check.meta;
        let mut settings = self.policy.settings.iter();
        let wording = settings.find(|setting| setting.rule.meta.id == meta.id && setting.severity == check.severity);
        let wording = wording.map(RuleWording::in_force);
        let exemption = Some(bit).filter(|bit| judged.excused >> bit & 1 == 1);
        let exemption = exemption.and_then(|bit| self.exemption(judged, bit));
        let measures = meta.unit.is_some() && violation.measured != violation.allowed;
        BrokenRule {
            rule: meta.id,
            severity: check.severity,
            problem: wording.map_or_else(|| meta.problem.into(), |wording| wording.problem),
            unit: meta.unit,
            figures: measures.then_some([violation.measured, violation.allowed]),
            exempted: exemption
                .and_then(|place| self.policy.exemptions.get(usize::from(place)))
                .map(|exemption| exemption.reason.clone()),
        }
    }
}
