//! A policy made ready to be held against millions of keys.
//!
//! Every setting of a rule about keys is a bit. Which bits a key breaks comes from one pass over its name (`name_pass`) and
//! from the few rules that its type can break; what the policy says of its pattern comes from one walk of the
//! `matcher`. Of several limits of one rule only the gravest that is broken counts, so that a key counts once a rule.

mod judged;

pub use judged::{Judged, NameJudged};

use super::context::Context;
use super::dictionary::{DictionaryEntry, Exemption, Matched};
use super::key_view::KeyView;
use super::matcher::Matcher;
use super::name_pass::{NamePass, Violations};
use super::rule::{BuiltRule, KeyRule, NameTest, PatternRule, RuleMeta, Severity, SizeTest, SnapshotRule};
use super::sensitive::Inspection;
use super::settings::Policy;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::name::KeyName;
use crate::record::{Kind, Record};
use crate::units::Bytes;

/// More settings of rules about keys than this cannot be told apart in a mask.
pub const MOST_KEY_CHECKS: usize = 64;

/// A rule in force.
#[derive(Debug)]
pub struct RuleCheck<R: ?Sized> {
    /// Its description.
    pub meta: &'static RuleMeta,
    /// How much a violation matters.
    pub severity: Severity,
    /// Its question.
    pub rule: Box<R>,
}

/// What a pattern of the policy stands for: a place in one of its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PatternTarget {
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
    pub keys: Vec<RuleCheck<dyn KeyRule>>,
    /// Rules about patterns.
    pub patterns: Vec<RuleCheck<dyn PatternRule>>,
    /// Rules about the snapshot.
    pub snapshots: Vec<RuleCheck<dyn SnapshotRule>>,
    /// All budgets: of `[[budget]]`, then of classes, then of entries.
    pub budgets: Vec<BudgetLine>,
    names: NamePass,
    /// By type, of keys that never expire and of those that do: the bits of the rules that have to be asked.
    asked: [[Vec<u8>; 2]; Kind::ALL.len()],
    /// The same where the answer is known before: the bits of the rules that all of them break.
    constant_result: [[Option<u64>; 2]; Kind::ALL.len()],
    /// By type: the rules that are asked about keys of some size only.
    sized: [BySize; Kind::ALL.len()],
    /// A bit, and those of the same rule's milder limits.
    graver: Vec<(u64, u64)>,
    /// Bits whose rules measure a number that the pass over the name does not tell.
    measured: u64,
    /// Bits of tests of names whose rules measure a number.
    counting: u64,
    /// Bits whose rules tell what the remedy would save.
    saving: u64,
    matcher: Matcher<PatternTarget>,
    /// By exemption: the bits that it excuses.
    excuses: Vec<u64>,
    class_budgets: Vec<Option<u16>>,
    entry_budgets: Vec<Option<u16>>,
}

/// Rules about sizes.
#[derive(Debug)]
struct BySize {
    /// Keys that exceed neither break none of them.
    length: u64,
    memory: u64,
    /// Their bits.
    asked: Vec<u8>,
}

impl Default for BySize {
    fn default() -> Self {
        BySize { length: u64::MAX, memory: u64::MAX, asked: Vec::new() }
    }
}

impl BySize {
    fn add(&mut self, test: SizeTest, place: u8) {
        match test {
            SizeTest::Length(most) => self.length = self.length.min(most),
            SizeTest::Memory(most) => self.memory = self.memory.min(most),
        }
        self.asked.push(place);
    }

    /// Whether the rules have to be asked.
    #[inline]
    fn concerns(&self, record: &Record<'_>) -> bool {
        record.length.unwrap_or(0) > self.length || record.memory.0 > self.memory
    }
}

impl Checks {
    /// Makes a policy ready. `context` is what is known besides; classes and dictionary come from the policy. Fails with
    /// what is wrong when a rule cannot be made, which reading the policy has excluded, or there are too many.
    pub fn new(policy: Policy, mut context: Context) -> Result<Checks, String> {
        context.classes.clone_from(&policy.classes);
        context.entries.clone_from(&policy.entries);
        let mut checks = Checks {
            names: NamePass::new(context.separators.clone()),
            keys: Vec::new(),
            patterns: Vec::new(),
            snapshots: Vec::new(),
            budgets: Vec::new(),
            asked: Default::default(),
            constant_result: Default::default(),
            sized: Default::default(),
            graver: Vec::new(),
            measured: 0,
            counting: 0,
            saving: 0,
            matcher: Matcher::default(),
            excuses: Vec::new(),
            class_budgets: Vec::new(),
            entry_budgets: Vec::new(),
            policy,
            context,
        };
        for setting in std::mem::take(&mut checks.policy.settings) {
            let (meta, severity) = (setting.rule.meta, setting.severity);
            match (setting.rule.build)(&setting.params)? {
                BuiltRule::Key(rule) if !rule.applies(&checks.context) => continue,
                BuiltRule::Key(rule) => checks.add_key(RuleCheck { meta, severity, rule })?,
                BuiltRule::Pattern(rule) => checks.patterns.push(RuleCheck { meta, severity, rule }),
                BuiltRule::Snapshot(rule) => checks.snapshots.push(RuleCheck { meta, severity, rule }),
            }
            checks.policy.settings.push(setting);
        }
        checks.names.settle();
        checks.add_patterns();
        checks.constant_result = checks.constant_result();
        Ok(checks)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a policy has at most 64 limits about keys")]
    fn add_key(&mut self, check: RuleCheck<dyn KeyRule>) -> Result<(), String> {
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
        let test = check.rule.name_test();
        let measures = test.as_ref().is_some_and(NameTest::measures);
        let named = test.is_some_and(|test| self.names.add(place, test));
        if named && check.meta.unit.is_some() {
            self.counting |= bit;
            self.measured |= if measures { 0 } else { bit };
        }
        if check.rule.estimates_saving() {
            self.saving |= bit;
        }
        let asked = if named { &[] } else { check.rule.kinds() };
        for &kind in asked {
            match check.rule.size_test(kind) {
                Some(test) => self.sized[kind as usize].add(test, place as u8),
                None => {
                    let lifetimes = self.asked[kind as usize].iter_mut().zip([false, true]);
                    let asked = lifetimes.filter(|(_, expires)| check.rule.lifetime().includes(*expires));
                    asked.for_each(|(asked, _)| asked.push(place as u8));
                }
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
            self.matcher.add(&budget.pattern, PatternTarget::Budget(number(place)));
            self.budgets.push(line(&budget.pattern.text, budget.memory));
        }
        for (place, class) in policy.classes.iter().enumerate() {
            class.patterns.iter().for_each(|pattern| self.matcher.add(pattern, PatternTarget::Class(number(place))));
            self.class_budgets.push(class.budget.map(|memory| {
                self.budgets.push(line(&class.name, memory));
                number(self.budgets.len() - 1)
            }));
        }
        for (place, entry) in policy.entries.iter().enumerate() {
            self.matcher.add(&entry.pattern, PatternTarget::Entry(number(place)));
            self.entry_budgets.push(entry.budget.map(|memory| {
                self.budgets.push(line(&entry.pattern.text, memory));
                number(self.budgets.len() - 1)
            }));
        }
        for (place, exemption) in policy.exemptions.iter().enumerate() {
            self.matcher.add(&exemption.pattern, PatternTarget::Exemption(number(place)));
            let excused = |check: &RuleCheck<dyn KeyRule>| {
                exemption.rules.is_empty() || exemption.rules.iter().any(|id| id == check.meta.id)
            };
            let bits = self.keys.iter().enumerate().filter(|(_, check)| excused(check));
            self.excuses.push(bits.fold(0, |mask, (bit, _)| mask | 1 << bit));
        }
    }

    /// Holds a key against every rule. `pattern` is the key's own, by the classifier of the run.
    #[cfg(any(test, feature = "internals"))]
    pub fn judge(&self, record: &Record<'_>, pattern: &PatternBuf, judged: &mut Judged) {
        let mut named = NameJudged::default();
        self.judge_name(&KeyName::Classified(record.key, pattern), &mut named);
        self.judge_named(record, &named, judged);
    }

    /// Whether what is said of a name is the same for all that differ in the values of digits only and have its pattern.
    pub fn takes_digits_alike(&self) -> bool {
        self.names.takes_digits_alike()
    }

    /// Judges a name by the rules and patterns that look at nothing else. The name was read by the classifier of the run.
    #[inline(always)] // in the caller, the kind of name is known
    pub fn judge_name(&self, name: &KeyName<'_>, named: &mut NameJudged) {
        named.broken = self.names.broken(name);
        if !self.matcher.is_empty() {
            self.match_pattern(name, named);
        }
    }

    /// Holds a key against every rule, after its name was.
    #[inline]
    pub fn judge_named(&self, record: &Record<'_>, named: &NameJudged, judged: &mut Judged) {
        judged.matched = named.matched;
        // Mostly both are empty. They are not compared, and nothing is copied: there is nothing behind the pointer of an empty
        // list, and a vector load from there, though masked out, costs 100 ns.
        if !named.exemptions.is_empty() || !judged.exemptions.is_empty() {
            judged.exemptions.clone_from(&named.exemptions);
        }
        let view = KeyView { record, context: &self.context, matched: named.matched };
        self.names.measure(&named.broken, &mut judged.violations);
        let mut broken = named.broken.bits;
        let asked = &self.asked[record.kind as usize][usize::from(record.expires_at.is_some())];
        broken |= self.ask(asked, &view, &mut judged.violations);
        let sized = &self.sized[record.kind as usize];
        if sized.concerns(record) {
            broken |= self.ask(&sized.asked, &view, &mut judged.violations);
        }
        if broken != 0 {
            broken = self.gravest(broken);
            self.measure(broken & !named.broken.counted, &view, judged);
        }
        if (broken & self.saving) | judged.saving != 0 {
            self.save(broken & self.saving, &view, judged);
        }
        judged.broken = broken & !named.excuse;
        judged.excused = broken & named.excuse;
    }

    /// What is known before any key is asked about.
    fn constant_result(&self) -> [[Option<u64>; 2]; Kind::ALL.len()] {
        let answer = |bit: u8| {
            let rule = &self.keys.get(usize::from(bit))?.rule;
            Some(if rule.constant_result()? { 1 << bit } else { 0 })
        };
        let answers = |asked: &Vec<u8>| asked.iter().try_fold(0, |bits, &bit| Some(bits | answer(bit)?));
        let is_known = |bits: &u64| self.matcher.is_empty() && bits & self.saving == 0;
        std::array::from_fn(|kind| {
            std::array::from_fn(|expires| {
                answers(&self.asked[kind][expires]).filter(is_known).map(|bits| self.gravest(bits))
            })
        })
    }

    /// The rules that a key breaks, if that follows from its type, from whether it expires and from its name, and none of them
    /// measures anything: for keys that no rule about sizes [concerns](Checks::concern_size).
    #[inline]
    pub fn follow(&self, kind: Kind, expires: bool, named: &NameJudged) -> Option<u64> {
        let always = self.constant_result[kind as usize][usize::from(expires)]?;
        match named.broken.bits {
            0 => Some(always),
            bits if bits & (self.counting | self.saving) == 0 => Some(self.gravest(always | bits)),
            _ => None,
        }
    }

    /// Whether rules about sizes have to be asked about a key.
    #[inline]
    pub fn concern_size(&self, record: &Record<'_>) -> bool {
        self.sized[record.kind as usize].concerns(record)
    }

    /// Rules about sizes are not asked about keys that exceed neither this length nor this memory.
    pub fn least_sizes(&self, kind: Kind) -> (u64, Bytes) {
        let sized = &self.sized[kind as usize];
        (sized.length, Bytes(sized.memory))
    }

    /// Asks rules one by one; the bits of those that are broken.
    #[inline]
    fn ask(&self, bits: &[u8], view: &KeyView<'_>, violations: &mut Violations) -> u64 {
        let mut broken = 0;
        for &bit in bits {
            if let Some(violation) = self.keys[usize::from(bit)].rule.check(view) {
                broken |= 1 << bit;
                violations[usize::from(bit) % MOST_KEY_CHECKS] = violation;
            }
        }
        broken
    }

    /// The rules about keys that this key breaks, each with its severity, by id.
    #[cfg(any(test, feature = "internals"))]
    pub fn broken_by(&self, record: &Record<'_>, pattern: &PatternBuf) -> Vec<(&'static str, Severity)> {
        let mut judged = Judged::default();
        self.judge(record, pattern, &mut judged);
        let broken = self.keys.iter().enumerate().filter(|(bit, _)| judged.broken >> bit & 1 == 1);
        broken.map(|(_, check)| (check.meta.id, check.severity)).collect()
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
            if let Some(violation) = self.keys.get(bit).and_then(|check| check.rule.check(view)) {
                judged.violations[bit % MOST_KEY_CHECKS] = violation;
            }
        }
    }

    /// Asks what the remedies would save, and forgets what was said of the key before.
    #[cold]
    fn save(&self, broken: u64, view: &KeyView<'_>, judged: &mut Judged) {
        let mut left = broken | judged.saving;
        while left != 0 {
            let bit = left.trailing_zeros() as usize;
            left &= left - 1;
            let check = self.keys.get(bit).filter(|_| broken >> bit & 1 == 1);
            judged.savings[bit % MOST_KEY_CHECKS] = check.map_or(Bytes(0), |check| check.rule.saving(view));
        }
        judged.saving = broken;
    }

    /// Adds what the policy says of the pattern, and the bits that it excuses.
    fn match_pattern(&self, name: &KeyName<'_>, named: &mut NameJudged) {
        named.targets.clear();
        named.exemptions.clear();
        self.matcher.find(name, &mut named.targets);
        (named.matched, named.excuse) = (Matched::default(), 0);
        let (matched, mut class) = (&mut named.matched, None);
        for target in &named.targets {
            match *target {
                PatternTarget::Entry(entry) => matched.entry = Some(entry),
                PatternTarget::Class(of_class) => class = Some(of_class),
                PatternTarget::Budget(budget) => matched.budget = Some(budget),
                PatternTarget::Exemption(exemption) => {
                    named.excuse |= self.excuses.get(usize::from(exemption)).copied().unwrap_or_default();
                    named.exemptions.push(exemption);
                }
            }
        }
        let entry = matched.entry.map(usize::from);
        matched.class = entry.and_then(|entry| self.context.entries.get(entry)?.class).or(class);
        let of_entry = || entry.and_then(|entry| self.entry_budgets.get(entry).copied().flatten());
        let of_class = || self.class_budgets.get(usize::from(matched.class?)).copied().flatten();
        matched.budget = matched.budget.or_else(of_entry).or_else(of_class);
    }

    /// The exemption that excuses a key from a rule.
    pub fn exemption(&self, judged: &Judged, bit: usize) -> Option<u16> {
        let excuses = |place: &&u16| self.excuses.get(usize::from(**place)).is_some_and(|mask| mask >> bit & 1 == 1);
        judged.exemptions.iter().find(excuses).copied()
    }

    /// The first exemption, by place, that excuses a breach of a rule about patterns or the snapshot: one whose pattern is
    /// that of the breach, or matches it. A breach without a pattern is excused by `**` alone.
    pub fn exemption_of(&self, rule: &str, pattern: Option<&str>, classifier: &Classifier) -> Option<u16> {
        let mut matched = Vec::new();
        if let Some(text) = pattern.filter(|_| !self.policy.exemptions.is_empty()) {
            let mut buf = PatternBuf::default();
            classifier.read_pattern(text, &mut buf);
            self.matcher.find(&KeyName::from(&buf), &mut matched);
            if !text.contains('{') {
                // A file, a database or a slot: `db 3` is exempt as `db {int}`, since a policy writes ids as classes.
                classifier.classify(text.as_bytes(), &mut buf);
                self.matcher.find(&KeyName::from(&buf), &mut matched);
            }
        }
        let excuses = |(place, exemption): (usize, &Exemption)| {
            let place = u16::try_from(place).ok()?;
            let named = exemption.rules.is_empty() || exemption.rules.iter().any(|id| id == rule);
            let meant =
                exemption.pattern.text == pattern.unwrap_or("**") || matched.contains(&PatternTarget::Exemption(place));
            (named && meant).then_some(place)
        };
        self.policy.exemptions.iter().enumerate().find_map(excuses)
    }

    /// The entry of the dictionary that a pattern matches.
    pub fn entry_of(&self, pattern: &PatternBuf) -> Option<&DictionaryEntry> {
        let mut targets = Vec::new();
        self.matcher.find(&KeyName::from(pattern), &mut targets);
        let entry = targets.into_iter().find_map(|target| match target {
            PatternTarget::Entry(entry) => Some(entry),
            _ => None,
        });
        entry.and_then(|entry| self.policy.entries.get(usize::from(entry)))
    }

    /// Whether a rule looks at when keys expire.
    pub fn wants_expiries(&self) -> bool {
        self.patterns.iter().any(|check| check.rule.wants_expiries())
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

    /// The bits of rules about names as such: not whether a dictionary knows them.
    pub fn naming_bits(&self) -> impl Iterator<Item = usize> {
        let about_names =
            |check: &RuleCheck<dyn KeyRule>| check.meta.id.starts_with("key.") && check.meta.id != "key.registered";
        self.keys.iter().enumerate().filter(move |(_, check)| about_names(check)).map(|(bit, _)| bit)
    }
}

#[cfg(test)]
mod tests;
