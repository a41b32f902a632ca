//! Policies compiled for checking millions of keys.
//!
//! Each enabled key rule has a bit. The bits that a key violates come from one pass over its name (`name_pass`) and from the
//! few other rules that apply to its type; dictionary entry, TTL class, budget and exemptions come from one walk of the
//! `matcher`. If a rule has several limits, only the violated one of the highest severity counts, so that a key counts once
//! per rule.

mod class_choice;
mod compile;
mod judge;
mod judged;
mod limited;

pub use judged::{Judged, NameJudged, UsualJudged};

use std::cmp::Reverse;
use std::collections::BTreeMap;

use limited::{KindRules, SizeRules};

use super::context::Context;
use super::dictionary::{DictionaryEntry, Exemption};
use super::matcher::Matcher;
use super::name_pass::NamePass;
use super::rule::{Breach, KeyRule, Known, Need, PatternRule, RuleMeta, Severity, SnapshotRule, TokenNeeds};
use super::sensitive::Inspection;
use super::settings::{Policy, RuleSetting};
use super::word_set::WordSet;
use super::wording::RuleWording;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::name::KeyName;
use crate::record::Kind;
use crate::report::{NotEvaluated, Passage, Report};
use crate::sorting::CompactSort;
use crate::units::Bytes;

/// Maximum number of limits about keys in a policy: one bit each in a mask.
pub const MAX_KEY_CHECKS: usize = 64;

/// Enabled rule, built from its parameters.
#[derive(Debug)]
pub struct RuleCheck<R: ?Sized> {
    /// Description of the rule.
    pub meta: &'static RuleMeta,
    /// Severity of a violation.
    pub severity: Severity,
    /// Texts of findings, with the limits in force.
    pub texts: RuleWording,
    /// Passage of a standard that demands the rule.
    pub source: Option<Passage>,
    /// Check of the rule.
    pub rule: Box<R>,
}

/// Declaration that a pattern of the policy belongs to, as index into one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternTarget {
    Entry(u16),
    Class(u16),
    /// Class by a pattern that may begin at any level.
    ClassAnywhere(u16),
    /// Class of caches, by a compound such as `goods_cache`.
    CompoundCache(u16),
    Budget(u16),
    Exemption(u16),
    Expected(u16),
    /// Another spelling of the pattern of expected types, which counts if the policy file itself expects nothing of the key.
    ExpectedSpelling(u16),
    Lock,
    /// Rule that recognises its keys by a word in the name, as its bit.
    Rule(u8),
    /// Rule that a segment of the name may violate, as its bit.
    Failing(u8),
}

/// Memory budget with the name that reports use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetLine {
    /// Pattern or TTL class that it limits.
    pub what: String,
    /// Memory that its keys may take in total.
    pub memory: Bytes,
}

/// Compiled policy: everything that a snapshot is checked against.
#[derive(Debug)]
pub struct Checks {
    /// Source policy.
    pub policy: Policy,
    /// Digest of each rule of the policy, evaluated or not.
    pub digests: BTreeMap<&'static str, String>,
    /// Facts that rules may use.
    pub context: Context,
    /// Rules about keys; the index of a rule is its bit.
    pub keys: Vec<RuleCheck<dyn KeyRule>>,
    /// Rules about patterns.
    pub patterns: Vec<RuleCheck<dyn PatternRule>>,
    /// Rules about the snapshot.
    pub snapshots: Vec<RuleCheck<dyn SnapshotRule>>,
    /// Rules of the policy that cannot be evaluated, whatever the keys are.
    pub disabled: Vec<NotEvaluated>,
    /// All budgets: those of `[[budget]]`, then of TTL classes, then of dictionary entries.
    pub budgets: Vec<BudgetLine>,
    names: NamePass,
    /// Rules about keys of a type, without and with an expiry.
    rules: [[KindRules; 2]; Kind::ALL.len()],
    /// Properties of rules about keys.
    masks: RuleMasks,
    /// Rules that only keys above some size can violate, by type.
    sized: [SizeRules; Kind::ALL.len()],
    /// Rules that only strings that may be JSON can violate.
    json: Vec<u8>,
    /// Bit of a limit, and of a less severe limit of the same rule.
    milder: Vec<(u64, u64)>,
    matcher: Matcher<PatternTarget>,
    /// Targets of the word `lock` in rules and classes about locks: those of a name with it as a part of a segment, too.
    lock_parts: Vec<PatternTarget>,
    /// Bits that each exemption excuses.
    excuses: Vec<u64>,
    class_budgets: Vec<Option<u16>>,
    entry_budgets: Vec<Option<u16>>,
}

/// Bits of the rules about keys with a property.
#[derive(Debug, Default)]
struct RuleMasks {
    /// They measure a number.
    measuring: u64,
    /// They measure a number, and the name pass finds their violations.
    measuring_names: u64,
    /// The name pass finds their violations, but only the rule itself can tell the number.
    measured_apart: u64,
    /// They estimate what their remedy saves.
    saving: u64,
    /// They are about expected types.
    expecting: u64,
}

impl<R: ?Sized> RuleCheck<R> {
    fn new(setting: &RuleSetting, rule: Box<R>) -> RuleCheck<R> {
        RuleCheck {
            meta: setting.rule.meta,
            severity: setting.severity,
            texts: RuleWording::in_force(setting),
            source: setting.source.clone(),
            rule,
        }
    }
}

impl Checks {
    /// Records that a rule of the policy cannot be evaluated.
    pub fn disable(&mut self, rule: &'static str, severity: Severity, need: Need) {
        self.disabled.push(need.of(rule, severity));
    }

    /// Returns the limits that lack something to be evaluated, given the finished report and the rules that found something.
    ///
    /// A rule that found something was evaluated, unless [one file](Need::is_of_file) of several lacks what it needs. Of a file that
    /// could not be read completely nothing else is known, except to rules about the files themselves.
    pub fn not_evaluated(&self, report: &Report, sizes_hidden: bool) -> Vec<NotEvaluated> {
        let known = Known { context: &self.context, report: Some(report), sizes_hidden };
        let unread = (!report.complete).then_some(Need::WholeFiles);
        let keys = self.keys.iter().map(|check| (check.meta.id, check.severity, check.rule.needs(&known).or(unread)));
        let patterns =
            self.patterns.iter().map(|check| (check.meta.id, check.severity, check.rule.needs(&known).or(unread)));
        let snapshots = self.snapshots.iter().map(|check| {
            let unread = unread.filter(|_| !check.rule.is_about_files());
            (check.meta.id, check.severity, check.rule.needs(&known).or(unread))
        });
        let lacking = keys.chain(patterns).chain(snapshots);
        let found = |rule: &str| report.findings.list.iter().any(|finding| finding.rule == rule);
        let lacking = lacking.filter_map(|(rule, severity, need)| Some((rule, severity, need?)));
        let is_partial = |need: Need| need.is_of_file() && report.source.files.len() > 1;
        let lacking = lacking.filter(|(rule, _, need)| is_partial(*need) || !found(rule));
        let mut list = self.disabled.clone();
        list.extend(lacking.map(|(rule, severity, need)| need.of(rule, severity)));
        list.compact_sort_by(|one, other| {
            (&one.rule, Reverse(one.severity)).cmp(&(&other.rule, Reverse(other.severity)))
        });
        list.dedup_by(|later, first| later.rule == first.rule);
        list
    }

    /// Returns the exemption that excuses a key from a rule.
    pub fn exemption(&self, judged: &Judged, bit: usize) -> Option<u16> {
        let excuses = |place: &&u16| self.excuses.get(usize::from(**place)).is_some_and(|mask| mask >> bit & 1 == 1);
        judged.exemptions.iter().find(excuses).copied()
    }

    /// Returns the index of the first exemption that excuses a breach of a rule about patterns or the snapshot.
    ///
    /// Its pattern must be equal to that of the breach or match it. Only `**` excuses a breach without a pattern.
    pub fn exemption_of(&self, rule: &str, breach: &Breach, classifier: &Classifier) -> Option<u16> {
        let (pattern, mut matched) = (breach.pattern.as_deref(), Vec::new());
        if let Some(text) = pattern.filter(|_| !self.policy.exemptions.is_empty()) {
            let mut buf = PatternBuf::default();
            classifier.read_pattern(text, &mut buf);
            self.matcher.find(&KeyName::from(&buf), &mut matched);
            if !text.contains('{') {
                // A file, a database or a slot: `db 3` matches `db {int}`, since policies write ids as classes.
                classifier.classify(text.as_bytes(), &mut buf);
                self.matcher.find(&KeyName::from(&buf), &mut matched);
            }
        }
        let excuses = |(place, exemption): (usize, &Exemption)| {
            let place = u16::try_from(place).ok()?;
            let named = exemption.rules.is_empty() && !breach.is_label || exemption.rules.iter().any(|id| id == rule);
            let meant =
                exemption.pattern.text == pattern.unwrap_or("**") || matched.contains(&PatternTarget::Exemption(place));
            (named && meant).then_some(place)
        };
        self.policy.exemptions.iter().enumerate().find_map(excuses)
    }

    /// Returns the dictionary entry that a pattern matches.
    pub fn entry_of(&self, pattern: &PatternBuf) -> Option<&DictionaryEntry> {
        let mut targets = Vec::new();
        self.matcher.find(&KeyName::from(pattern), &mut targets);
        let entry = targets.into_iter().find_map(|target| match target {
            PatternTarget::Entry(entry) => Some(entry),
            _ => None,
        });
        entry.and_then(|entry| self.policy.entries.get(usize::from(entry)))
    }

    /// Returns whether keys of pattern `new` match the same patterns of the policy as those of `old`, in the same order, and
    /// break no rule about names that those keep.
    pub fn demands_no_more(
        &self,
        old: &str,
        new: &str,
        mut kinds: impl Iterator<Item = Kind>,
        classifier: &Classifier,
    ) -> bool {
        let judge = |text: &str| {
            let (mut buf, mut targets) = (PatternBuf::default(), Vec::new());
            classifier.read_pattern(text, &mut buf);
            let name = KeyName::from(&buf);
            self.matcher.find(&name, &mut targets);
            (targets, self.names.broken(&name))
        };
        let ((old_targets, before), (new_targets, after)) = (judge(old), judge(new));
        let breaks_no_more = |kind| self.names.broken_as(&after, kind) & !self.names.broken_as(&before, kind) == 0;
        old_targets == new_targets && kinds.all(breaks_no_more)
    }

    /// Returns whether a rule needs expiry times.
    pub fn wants_expiries(&self) -> bool {
        self.patterns.iter().any(|check| check.rule.wants_expiries())
    }

    /// Returns the words that may name an attribute before an id; `None` if no rule needs the ids of string keys.
    pub fn words_before_ids(&self) -> Option<WordSet> {
        let mut all = self.patterns.iter().filter_map(|check| check.rule.words_before_ids());
        let mut words = all.next()?.clone();
        all.for_each(|more| words.extend(more));
        Some(words)
    }

    /// Returns what all rules together search for in values; `None` if no rule does.
    pub fn inspection(&self) -> Option<Inspection> {
        let all = self.patterns.iter().filter_map(|check| check.rule.inspection()).reduce(|mut all, more| {
            all.extend(more);
            all
        })?;
        Some(Inspection { separators: self.context.separators.clone(), ..all })
    }

    /// Returns which values of locks the rules need; `None` if none needs any.
    pub fn token_needs(&self) -> Option<TokenNeeds> {
        let needs = self.patterns.iter().filter_map(|check| check.rule.locks());
        let needs = needs.map(|locks| TokenNeeds { min: locks.min, uuids: locks.uuids });
        needs.reduce(|one, other| TokenNeeds { min: one.min.min(other.min), uuids: one.uuids || other.uuids })
    }

    /// Returns the least length of the texts whose compressed size a rule needs; `None` if none does.
    pub fn least_text(&self) -> Option<u64> {
        self.keys.iter().filter_map(|check| check.rule.text_size()).min()
    }

    /// Returns whether the policy has a data dictionary.
    pub fn has_dictionary(&self) -> bool {
        !self.policy.entries.is_empty()
    }

    /// Returns the bits of rules about names; registration in the dictionary does not count as one.
    pub fn naming_bits(&self) -> impl Iterator<Item = usize> {
        let about_names =
            |check: &RuleCheck<dyn KeyRule>| check.meta.id.starts_with("key.") && check.meta.id != "key.registered";
        self.keys.iter().enumerate().filter(move |(_, check)| about_names(check)).map(|(bit, _)| bit)
    }
}

#[cfg(test)]
mod tests;
