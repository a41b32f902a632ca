//! Compiling a policy: which rules are asked about which keys.

use super::limited::SettledRules;
use super::{BudgetLine, Checks, MAX_KEY_CHECKS, PatternTarget, RuleCheck, RuleMasks};
use crate::pattern::classify::Classifier;
use crate::policy::caches::{self, CACHE};
use crate::policy::context::Context;
use crate::policy::dictionary::ExpectedTypes;
use crate::policy::digest::digests;
use crate::policy::matcher::{Matcher, PolicyPattern};
use crate::policy::name_pass::NamePass;
use crate::policy::rule::{BuiltRule, KeyRule, Known, NameTest, PatternRule};
use crate::policy::settings::Policy;
use crate::policy::spelling::{spellings, word_patterns};
use crate::record::Kind;
use crate::units::Bytes;

impl Checks {
    /// Compiles a policy. TTL classes and dictionary in `context` are replaced by those of the policy.
    ///
    /// Fails if a rule cannot be built or the policy has too many limits; the parser of policies has ruled out both.
    pub fn new(policy: Policy, mut context: Context) -> Result<Checks, String> {
        context.classes.clone_from(&policy.classes);
        context.entries.clone_from(&policy.entries);
        context.expected.clone_from(&policy.expected);
        let mut checks = Checks {
            names: NamePass::new(context.separators.clone()),
            keys: Vec::new(),
            patterns: Vec::new(),
            snapshots: Vec::new(),
            disabled: Vec::new(),
            budgets: Vec::new(),
            rules: Default::default(),
            masks: RuleMasks::default(),
            sized: Default::default(),
            json: Vec::new(),
            milder: Vec::new(),
            matcher: Matcher::default(),
            lock_parts: Vec::new(),
            excuses: Vec::new(),
            class_budgets: Vec::new(),
            entry_budgets: Vec::new(),
            digests: digests(&policy),
            policy,
            context,
        };
        for setting in std::mem::take(&mut checks.policy.settings) {
            let built = (setting.rule.build)(&setting.params)?;
            if let Some(need) = built.needs(&Known::before(&checks.context)) {
                checks.disable(setting.rule.meta.id, setting.severity, need);
                continue;
            }
            match built {
                BuiltRule::Key(rule) => checks.add_key(RuleCheck::new(&setting, rule))?,
                BuiltRule::Pattern(rule) => checks.add_pattern_rule(RuleCheck::new(&setting, rule)),
                BuiltRule::Snapshot(rule) => checks.snapshots.push(RuleCheck::new(&setting, rule)),
            }
            checks.policy.settings.push(setting);
        }
        checks.names.settle();
        checks.add_patterns();
        checks.divide_asked();
        Ok(checks)
    }

    #[expect(clippy::cast_possible_truncation, reason = "a policy has at most 64 limits about keys")]
    fn add_key(&mut self, check: RuleCheck<dyn KeyRule>) -> Result<(), String> {
        let place = self.keys.len();
        if place >= MAX_KEY_CHECKS {
            return Err(format!("a policy has at most {MAX_KEY_CHECKS} limits about keys"));
        }
        let bit = 1 << place;
        for pattern in check.rule.words().iter().flat_map(|word| word_patterns(word)) {
            self.matcher.add(&pattern, PatternTarget::Rule(place as u8));
        }
        if check.rule.words().iter().any(|word| is_word_lock(word)) {
            self.lock_parts.push(PatternTarget::Rule(place as u8));
        }
        let classifier = Classifier::default();
        for word in check.rule.failing_segments() {
            for pattern in [PolicyPattern::word(word, &classifier), PolicyPattern::last_word(word, &classifier)] {
                self.matcher.add(&pattern, PatternTarget::Failing(place as u8));
            }
        }
        for (before, other) in self.keys.iter().enumerate() {
            if other.meta.id == check.meta.id {
                // Settings are sorted by severity: earlier ones are more severe.
                self.milder.push((1 << before, bit));
            }
        }
        let test = check.rule.name_test();
        let measures = test.as_ref().is_some_and(NameTest::measures);
        let named = test.is_some_and(|test| self.names.add(place, test))
            || check.rule.type_words().is_some_and(|words| self.names.add_type_words(place, words));
        if check.meta.unit.is_some() {
            self.masks.measuring |= bit;
            self.masks.measuring_names |= if named { bit } else { 0 };
            self.masks.measured_apart |= if named && !measures { bit } else { 0 };
        }
        if check.rule.estimates_saving() {
            self.masks.saving |= bit;
        }
        if check.rule.is_about_expected_types() {
            self.masks.expecting |= bit;
        }
        let is_about_json = check.rule.is_about_json();
        if is_about_json {
            self.json.push(place as u8);
        }
        let asked = if named || is_about_json { &[] } else { check.rule.kinds() };
        for &kind in asked {
            let lifetimes = [false, true].into_iter().zip(&mut self.rules[kind as usize]);
            let rules =
                lifetimes.filter(|(expires, _)| check.rule.lifetime().includes(*expires)).map(|(_, rules)| rules);
            match check.rule.size_test(kind) {
                Some(test) => {
                    let packed_lists = kind == Kind::List && self.context.config.compresses_lists();
                    // Entries of a stream share their field names in memory.
                    let shares_names = kind == Kind::Stream;
                    self.sized[kind as usize].add(test, place as u8, packed_lists || shares_names);
                }
                None if check.rule.words().is_empty() && !check.rule.is_about_expected_types() => {
                    rules.for_each(|rules| rules.asked.push(place as u8));
                }
                None => rules.for_each(|rules| rules.worded |= bit),
            }
        }
        self.keys.push(check);
        Ok(())
    }

    fn add_pattern_rule(&mut self, check: RuleCheck<dyn PatternRule>) {
        for pattern in check.rule.locks().iter().flat_map(|locks| &locks.words).flat_map(|word| word_patterns(word)) {
            self.matcher.add(&pattern, PatternTarget::Lock);
        }
        if check.rule.locks().is_some_and(|locks| locks.words.iter().any(|word| is_word_lock(word))) {
            self.lock_parts.push(PatternTarget::Lock);
        }
        self.patterns.push(check);
    }

    fn add_patterns(&mut self) {
        // The parser limits the length of the lists, so the numbers fit.
        let number = |place: usize| u16::try_from(place).unwrap_or(u16::MAX);
        let policy = &self.policy;
        let line = |what: &str, memory: Bytes| BudgetLine { what: what.to_owned(), memory };
        for (place, budget) in policy.budgets.iter().enumerate() {
            self.matcher.add(&budget.pattern, PatternTarget::Budget(number(place)));
            self.budgets.push(line(&budget.pattern.text, budget.memory));
        }
        for (place, class) in policy.classes.iter().enumerate() {
            for pattern in &class.patterns {
                let target = if pattern.is_floating() { PatternTarget::ClassAnywhere } else { PatternTarget::Class };
                self.matcher.add(pattern, target(number(place)));
            }
            if class.required && class.name == CACHE && class.patterns.iter().any(is_of_caches) {
                self.matcher.set_compound_cache(PatternTarget::CompoundCache(number(place)));
            }
            if class.locks && class.patterns.iter().any(|pattern| pattern.text == LOCK_PATTERN) {
                self.lock_parts.push(PatternTarget::ClassAnywhere(number(place)));
            }
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
        for (place, expected) in policy.expected.iter().enumerate() {
            self.matcher.add(&expected.pattern, PatternTarget::Expected(number(place)));
            for pattern in other_spellings(expected) {
                self.matcher.add(&pattern, PatternTarget::ExpectedSpelling(number(place)));
            }
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

    /// Divides the rules in `asked` into those with a constant result and the others.
    pub(super) fn divide_asked(&mut self) {
        let mut table = std::mem::take(&mut self.rules);
        for kind in Kind::ALL {
            for rules in &mut table[kind as usize] {
                for &bit in &rules.asked {
                    let Some(RuleCheck { rule, .. }) = self.keys.get(usize::from(bit)) else { continue };
                    match rule.constant_result() {
                        Some(true) if self.masks.measuring >> bit & 1 == 0 => rules.constant |= 1 << bit,
                        Some(false) => {}
                        Some(true) | None => rules.varying.add(bit, rule.harmless(kind, &self.context)),
                    }
                }
                let settles = rules.varying.others.is_empty() && rules.constant & self.masks.saving == 0;
                rules.settled = (settles && !self.has_dictionary()).then(|| SettledRules {
                    broken: self.most_severe(rules.constant),
                    harmless: rules.varying.harmless.clone().unless_all(),
                });
            }
        }
        self.rules = table;
    }
}

/// Returns whether keys of a pattern have a word for caches at any level: so have those with a compound of it.
fn is_of_caches(pattern: &PolicyPattern) -> bool {
    pattern.is_floating() && pattern.first_name().is_some_and(|name| caches::is_word(name.as_bytes()))
}

/// Pattern of the names with the word `lock` as a segment that another follows.
const LOCK_PATTERN: &str = "**:lock:**";

/// Returns whether a word by which keys are recognised is `lock`.
fn is_word_lock(word: &str) -> bool {
    word.eq_ignore_ascii_case("lock")
}

/// Returns other spellings of a pattern of expected types in a preset: with its first word in capitals and, if any type is allowed,
/// with a capital first.
///
/// A capital alone may be the name of a class, which object mappers such as Ohm use as prefix: `Queue:7` is a hash, `Queue:all` a
/// set. Policy files write all spellings that they mean.
fn other_spellings(expected: &ExpectedTypes) -> impl Iterator<Item = PolicyPattern> {
    let word = expected.pattern.first_name().filter(|_| expected.line == 0).unwrap_or_default();
    let is_meant = |other: &String| other != word && (expected.kinds.is_empty() || *other == word.to_uppercase());
    spellings(word)
        .filter(is_meant)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|other| expected.pattern.with_first_name(other))
}
