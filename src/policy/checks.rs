//! A policy made ready to be held against millions of keys.
//!
//! Every setting of a rule about keys is a bit. Which bits a key breaks comes from one pass over its name (`name_pass`) and
//! from the few rules that its type can break; what the policy says of its pattern comes from one walk of the
//! `matcher`. Of several limits of one rule only the gravest that is broken counts, so that a key counts once a rule.

use super::context::Context;
use super::dictionary::{Entry, Matched};
use super::key_view::KeyView;
use super::matcher::Matcher;
use super::name_pass::NamePass;
use super::rule::{KeyRule, Meta, PatternRule, Question, Severity, SnapshotRule, Violation};
use super::sensitive::Inspection;
use super::settings::Policy;
use crate::pattern::PatternBuf;
use crate::record::{Kind, Record};
use crate::units::Bytes;

/// More settings of rules about keys than this cannot be told apart in a mask.
pub const MOST_KEY_CHECKS: usize = 64;

/// A rule in force.
#[derive(Debug)]
pub struct Check<R: ?Sized> {
    /// Its description.
    pub meta: &'static Meta,
    /// How much a violation matters.
    pub severity: Severity,
    /// Its question.
    pub rule: Box<R>,
}

/// What a pattern of the policy stands for: a place in one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Target {
    Entry(u16),
    Class(u16),
    Budget(u16),
    Exemption(u16),
}

/// A budget, whoever sets it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BudgetLine {
    /// What it is for: a pattern, or a class of lifetimes.
    pub what: String,
    /// The most that its keys may take together.
    pub memory: Bytes,
}

/// All that a snapshot is held against.
#[derive(Debug)]
pub struct Checks {
    /// The policy.
    pub policy: Policy,
    /// What rules may know.
    pub context: Context,
    /// Rules about keys. The place in this list is the rule's bit.
    pub keys: Vec<Check<dyn KeyRule>>,
    /// Rules about patterns.
    pub patterns: Vec<Check<dyn PatternRule>>,
    /// Rules about the snapshot.
    pub snapshots: Vec<Check<dyn SnapshotRule>>,
    /// All budgets: of `[[budget]]`, then of classes, then of entries.
    pub budgets: Vec<BudgetLine>,
    names: NamePass,
    /// By type: the bits of the rules that have to be asked.
    asked: [Vec<u8>; Kind::ALL.len()],
    /// A bit, and those of the same rule's milder limits.
    graver: Vec<(u64, u64)>,
    /// Bits whose rules measure a number.
    measured: u64,
    matcher: Matcher<Target>,
    /// By exemption: the bits that it excuses.
    excuses: Vec<u64>,
    class_budgets: Vec<Option<u16>>,
    entry_budgets: Vec<Option<u16>>,
}

/// What is found about one key. Made once a worker, filled for every key.
#[derive(Debug, Clone)]
pub struct Judged {
    /// The bits of rules that it breaks.
    pub broken: u64,
    /// The bits of rules that it breaks and is exempt from.
    pub excused: u64,
    /// What the policy says of its pattern.
    pub matched: Matched,
    /// By bit: by how much. Only where the bit is set and the rule measures a number.
    pub violations: [Violation; MOST_KEY_CHECKS],
    /// Exemptions that it matches, by place.
    exemptions: Vec<u16>,
    targets: Vec<Target>,
}

impl Default for Judged {
    fn default() -> Self {
        Judged {
            broken: 0,
            excused: 0,
            matched: Matched::default(),
            violations: [Violation { measured: 0, allowed: 0 }; MOST_KEY_CHECKS],
            exemptions: Vec::new(),
            targets: Vec::new(),
        }
    }
}

impl Checks {
    /// Makes a policy ready. `context` is what is known besides; classes and dictionary come from the policy. Fails with
    /// what is wrong when a rule cannot be made, which reading the policy has excluded, or there are too many.
    pub fn new(policy: Policy, mut context: Context) -> Result<Checks, String> {
        context.classes.clone_from(&policy.classes);
        context.entries.clone_from(&policy.entries);
        let mut checks = Checks {
            names: NamePass::new(context.separators),
            keys: Vec::new(),
            patterns: Vec::new(),
            snapshots: Vec::new(),
            budgets: Vec::new(),
            asked: Default::default(),
            graver: Vec::new(),
            measured: 0,
            matcher: Matcher::default(),
            excuses: Vec::new(),
            class_budgets: Vec::new(),
            entry_budgets: Vec::new(),
            policy,
            context,
        };
        for setting in checks.policy.settings.clone() {
            let (meta, severity) = (setting.rule.meta, setting.severity);
            match (setting.rule.build)(&setting.params)? {
                Question::Key(rule) => checks.add_key(Check { meta, severity, rule })?,
                Question::Pattern(rule) => checks.patterns.push(Check { meta, severity, rule }),
                Question::Snapshot(rule) => checks.snapshots.push(Check { meta, severity, rule }),
            }
        }
        checks.add_patterns();
        Ok(checks)
    }

    fn add_key(&mut self, check: Check<dyn KeyRule>) -> Result<(), String> {
        let place = self.keys.len();
        if place >= MOST_KEY_CHECKS {
            return Err(format!("a policy has at most {MOST_KEY_CHECKS} limits about keys"));
        }
        let bit = 1 << place;
        for (before, other) in self.keys.iter().enumerate() {
            if other.meta.id == check.meta.id {
                // Settings are sorted: what came before is graver.
                self.graver.push((1 << before, bit));
            }
        }
        if check.meta.unit.is_some() {
            self.measured |= bit;
        }
        let named = check.rule.name_test().is_some_and(|test| self.names.add(bit, test));
        if !named {
            for kind in check.rule.kinds() {
                // Below 64.
                self.asked[*kind as usize].push(place as u8);
            }
        }
        self.keys.push(check);
        Ok(())
    }

    fn add_patterns(&mut self) {
        // Reading the policy has bounded the lists, so the numbers fit.
        let number = |place: usize| u16::try_from(place).unwrap_or(u16::MAX);
        let policy = &self.policy;
        let line = |what: &str, memory: Bytes| BudgetLine { what: what.to_owned(), memory };
        for (place, budget) in policy.budgets.iter().enumerate() {
            self.matcher.add(&budget.pattern, Target::Budget(number(place)));
            self.budgets.push(line(&budget.pattern.text, budget.memory));
        }
        for (place, class) in policy.classes.iter().enumerate() {
            class.patterns.iter().for_each(|pattern| self.matcher.add(pattern, Target::Class(number(place))));
            self.class_budgets.push(class.budget.map(|memory| {
                self.budgets.push(line(&class.name, memory));
                number(self.budgets.len() - 1)
            }));
        }
        for (place, entry) in policy.entries.iter().enumerate() {
            self.matcher.add(&entry.pattern, Target::Entry(number(place)));
            self.entry_budgets.push(entry.budget.map(|memory| {
                self.budgets.push(line(&entry.pattern.text, memory));
                number(self.budgets.len() - 1)
            }));
        }
        for (place, exemption) in policy.exemptions.iter().enumerate() {
            self.matcher.add(&exemption.pattern, Target::Exemption(number(place)));
            let excused = |check: &Check<dyn KeyRule>| {
                exemption.rules.is_empty() || exemption.rules.iter().any(|id| id == check.meta.id)
            };
            let bits = self.keys.iter().enumerate().filter(|(_, check)| excused(check));
            self.excuses.push(bits.fold(0, |mask, (bit, _)| mask | 1 << bit));
        }
    }

    /// Holds a key against every rule. `pattern` is the key's own, by the classifier of the run.
    #[inline]
    pub fn judge(&self, record: &Record<'_>, pattern: &PatternBuf, judged: &mut Judged) {
        judged.matched = Matched::default();
        let excuse = if self.matcher.is_empty() { 0 } else { self.match_pattern(pattern, judged) };
        let view = KeyView { record, context: &self.context, matched: judged.matched };
        let mut broken = self.names.broken(record.key);
        for &bit in &self.asked[record.kind as usize] {
            if let Some(violation) = self.keys[usize::from(bit)].rule.check(&view) {
                broken |= 1 << bit;
                judged.violations[usize::from(bit) % MOST_KEY_CHECKS] = violation;
            }
        }
        if broken != 0 {
            broken = self.gravest(broken);
            self.measure(broken, &view, judged);
        }
        judged.broken = broken & !excuse;
        judged.excused = broken & excuse;
    }

    /// Of each rule, the gravest limit that is broken.
    fn gravest(&self, broken: u64) -> u64 {
        let milder = self.graver.iter().filter(|(graver, _)| broken & graver != 0);
        broken & !milder.fold(0, |mask, (_, milder)| mask | milder)
    }

    /// Asks the rules whose tests of the name only said yes or no by how much they are broken.
    fn measure(&self, broken: u64, view: &KeyView<'_>, judged: &mut Judged) {
        let mut left = broken & self.measured;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            if let Some(check) = self.keys.get(bit).filter(|check| check.rule.name_test().is_some())
                && let Some(violation) = check.rule.check(view)
            {
                judged.violations[bit % MOST_KEY_CHECKS] = violation;
            }
        }
    }

    /// What the policy says of the pattern, and the bits that it excuses.
    fn match_pattern(&self, pattern: &PatternBuf, judged: &mut Judged) -> u64 {
        judged.targets.clear();
        judged.exemptions.clear();
        self.matcher.find(pattern, &mut judged.targets);
        let (mut excuse, mut class) = (0, None);
        for target in &judged.targets {
            match *target {
                Target::Entry(entry) => judged.matched.entry = Some(entry),
                Target::Class(matched) => class = Some(matched),
                Target::Budget(budget) => judged.matched.budget = Some(budget),
                Target::Exemption(exemption) => {
                    excuse |= self.excuses.get(usize::from(exemption)).copied().unwrap_or_default();
                    judged.exemptions.push(exemption);
                }
            }
        }
        let entry = judged.matched.entry.map(usize::from);
        judged.matched.class = entry.and_then(|entry| self.context.entries.get(entry)?.class).or(class);
        let of_entry = || entry.and_then(|entry| self.entry_budgets.get(entry).copied().flatten());
        let of_class = || self.class_budgets.get(usize::from(judged.matched.class?)).copied().flatten();
        judged.matched.budget = judged.matched.budget.or_else(of_entry).or_else(of_class);
        excuse
    }

    /// The exemption that excuses a key from a rule.
    pub fn exemption(&self, judged: &Judged, bit: usize) -> Option<u16> {
        let excuses = |place: &&u16| self.excuses.get(usize::from(**place)).is_some_and(|mask| mask >> bit & 1 == 1);
        judged.exemptions.iter().find(excuses).copied()
    }

    /// The entry of the dictionary that a pattern matches.
    pub fn entry_of(&self, pattern: &PatternBuf) -> Option<&Entry> {
        let mut targets = Vec::new();
        self.matcher.find(pattern, &mut targets);
        let entry = targets.into_iter().find_map(|target| match target {
            Target::Entry(entry) => Some(entry),
            _ => None,
        });
        entry.and_then(|entry| self.policy.entries.get(usize::from(entry)))
    }

    /// What all rules together look for in values; `None` if none does.
    pub fn inspection(&self) -> Option<Inspection> {
        self.patterns.iter().filter_map(|check| check.rule.inspection()).reduce(|mut all, more| {
            all.extend(more);
            all
        })
    }

    /// Whether the policy has a data dictionary.
    pub fn has_dictionary(&self) -> bool {
        !self.policy.entries.is_empty()
    }

    /// The bits of rules about names.
    pub fn naming_bits(&self) -> impl Iterator<Item = usize> {
        self.keys.iter().enumerate().filter(|(_, check)| check.meta.id.starts_with("key.")).map(|(bit, _)| bit)
    }
}

#[cfg(test)]
mod tests;
