//! Policies compiled for checking millions of keys.
//!
//! Each enabled key rule has a bit. The bits that a key violates come from one pass over its name (`name_pass`) and from the
//! few other rules that apply to its type; dictionary entry, TTL class, budget and exemptions come from one walk of the
//! `matcher`. If a rule has several limits, only the violated one of the highest severity counts, so that a key counts once
//! per rule.

mod judged;

pub use judged::{Judged, NameJudged, UsualJudged};

use std::cmp::Reverse;

use super::context::Context;
use super::dictionary::{DictionaryEntry, Exemption, Matched};
use super::key_view::KeyView;
use super::matcher::{Matcher, PolicyPattern};
use super::name_pass::{NamePass, Violations};
use super::rule::{
    BuiltRule, HarmlessKeys, KeyRule, Known, NameTest, Need, PatternRule, RuleMeta, Severity, SizeTest, SnapshotRule,
    StoredStrings,
};
use super::sensitive::Inspection;
use super::settings::{Policy, RuleSetting};
use super::word_set::WordSet;
use super::wording::RuleWording;
use crate::pattern::PatternBuf;
use crate::pattern::classify::Classifier;
use crate::pattern::name::KeyName;
use crate::rdb::payload::PACKED_GAIN;
use crate::record::{Kind, Record};
use crate::report::{NotEvaluated, Passage, Report};
use crate::units::Bytes;

/// Maximum number of limits about keys in a policy: one bit each in a mask.
pub const MOST_KEY_CHECKS: usize = 64;

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
    Budget(u16),
    Exemption(u16),
    Expected(u16),
    Lock,
    /// Rule that recognises its keys by a word in the name, as its bit.
    Rule(u8),
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
    /// Rules to check one by one, by type and by whether the key expires.
    asked: [[Vec<u8>; 2]; Kind::ALL.len()],
    /// Bits of rules that are asked only about keys with one of their words, by type and by whether the key expires.
    worded: [[u64; 2]; Kind::ALL.len()],
    /// Bits that all keys of a type and lifetime violate if they match no pattern of the policy.
    constant: [[u64; 2]; Kind::ALL.len()],
    /// Those of the rules in `asked` that depend on more than type and lifetime even then.
    varying: [[VaryingRules; 2]; Kind::ALL.len()],
    /// Bits that all keys of a type and lifetime violate if they are harmless to `varying`, their names violate nothing and match
    /// no pattern; `None` if they depend on more.
    settled: [[Option<u64>; 2]; Kind::ALL.len()],
    /// Bits of rules that measure a number, and those of them that are name tests.
    measuring: u64,
    counting: u64,
    /// Rules that only keys above some size can violate, by type.
    sized: [SizeRules; Kind::ALL.len()],
    /// Rules that only strings that may be JSON can violate.
    json: Vec<u8>,
    /// Bit of a limit, and of a less severe limit of the same rule.
    milder: Vec<(u64, u64)>,
    /// Bits of name tests whose measured value needs a call of the rule.
    measured: u64,
    /// Bits of rules that estimate what their remedy saves.
    saving: u64,
    /// Bits of rules about expected types.
    expecting: u64,
    matcher: Matcher<PatternTarget>,
    /// Bits that each exemption excuses.
    excuses: Vec<u64>,
    class_budgets: Vec<Option<u16>>,
    entry_budgets: Vec<Option<u16>>,
}

/// Rules to check one by one about keys of one type and lifetime that match no pattern of the policy.
#[derive(Debug, Default)]
struct VaryingRules {
    /// All of them.
    rules: Vec<u8>,
    /// Keys that comply with some of them.
    harmless: HarmlessKeys,
    /// The others.
    others: Vec<u8>,
}

impl VaryingRules {
    fn add(&mut self, bit: u8, harmless: Option<HarmlessKeys>) {
        self.rules.push(bit);
        match harmless {
            Some(harmless) => self.harmless = self.harmless.both(harmless),
            None => self.others.push(bit),
        }
    }
}

/// Rules about sizes, with the smallest of their limits.
#[derive(Debug)]
struct SizeRules {
    /// Smallest limit on the length. A key that exceeds neither limit violates none of the rules.
    length: u64,
    /// Smallest limit on the memory.
    memory: u64,
    /// Smallest limit on the payload.
    payload: u64,
    /// Bits of the rules.
    asked: Vec<u8>,
}

impl Default for SizeRules {
    fn default() -> Self {
        SizeRules { length: u64::MAX, memory: u64::MAX, payload: u64::MAX, asked: Vec::new() }
    }
}

impl SizeRules {
    /// Adds a rule about keys, whose payload may exceed their memory by far if they are `denser`.
    fn add(&mut self, test: SizeTest, place: u8, denser: bool) {
        if let SizeTest::Payload(most) = test {
            self.payload = self.payload.min(most);
        }
        match test {
            SizeTest::Length(most) => self.length = self.length.min(most),
            SizeTest::Payload(_) if denser => (self.length, self.memory) = (0, 0),
            SizeTest::Payload(most) => {
                // Packed elements take less memory than their payload by at most `PACKED_GAIN` each, two to a pair.
                self.memory = self.memory.min(most / 2);
                self.length = self.length.min(most / 2 / (2 * PACKED_GAIN));
            }
        }
        self.asked.push(place);
    }

    /// Returns whether a key is large enough to violate one of the rules.
    #[inline]
    fn concerns(&self, record: &Record<'_>) -> bool {
        record.length.unwrap_or(0) > self.length
            || record.memory.0 > self.memory
            || record.encoding.shares_names() && record.payload_over(self.payload).is_some()
    }
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
            asked: Default::default(),
            worded: Default::default(),
            constant: Default::default(),
            varying: Default::default(),
            settled: Default::default(),
            measuring: 0,
            counting: 0,
            sized: Default::default(),
            json: Vec::new(),
            milder: Vec::new(),
            measured: 0,
            saving: 0,
            expecting: 0,
            matcher: Matcher::default(),
            excuses: Vec::new(),
            class_budgets: Vec::new(),
            entry_budgets: Vec::new(),
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

    /// Records that a rule of the policy cannot be evaluated.
    pub fn disable(&mut self, rule: &'static str, severity: Severity, need: Need) {
        self.disabled.push(need.of(rule, severity));
    }

    /// Returns the limits that lack something to be evaluated, given the finished report and the rules that found something.
    ///
    /// A rule that found something was evaluated: what it found is true.
    pub fn not_evaluated(&self, report: &Report, strings: StoredStrings) -> Vec<NotEvaluated> {
        let known = Known { context: &self.context, report: Some(report), strings };
        let keys = self.keys.iter().map(|check| (check.meta.id, check.severity, check.rule.needs(&known)));
        let patterns = self.patterns.iter().map(|check| (check.meta.id, check.severity, check.rule.needs(&known)));
        let snapshots = self.snapshots.iter().map(|check| (check.meta.id, check.severity, check.rule.needs(&known)));
        let lacking = keys.chain(patterns).chain(snapshots);
        let found = |rule: &str| report.findings.list.iter().any(|finding| finding.rule == rule);
        let lacking = lacking.filter(|(rule, ..)| !found(rule));
        let mut list = self.disabled.clone();
        list.extend(lacking.filter_map(|(rule, severity, need)| Some(need?.of(rule, severity))));
        list.sort_by(|one, other| (&one.rule, Reverse(one.severity)).cmp(&(&other.rule, Reverse(other.severity))));
        list.dedup_by(|later, first| later.rule == first.rule);
        list
    }

    #[expect(clippy::cast_possible_truncation, reason = "a policy has at most 64 limits about keys")]
    fn add_key(&mut self, check: RuleCheck<dyn KeyRule>) -> Result<(), String> {
        let place = self.keys.len();
        if place >= MOST_KEY_CHECKS {
            return Err(format!("a policy has at most {MOST_KEY_CHECKS} limits about keys"));
        }
        let bit = 1 << place;
        for pattern in check.rule.words().iter().flat_map(|word| spellings(word)) {
            self.matcher.add(&pattern, PatternTarget::Rule(place as u8));
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
            self.measuring |= bit;
            self.counting |= if named { bit } else { 0 };
            self.measured |= if named && !measures { bit } else { 0 };
        }
        if check.rule.estimates_saving() {
            self.saving |= bit;
        }
        if check.rule.is_about_expected_types() {
            self.expecting |= bit;
        }
        let is_about_json = check.rule.is_about_json();
        if is_about_json {
            self.json.push(place as u8);
        }
        let asked = if named || is_about_json { &[] } else { check.rule.kinds() };
        for &kind in asked {
            let lifetimes = [false, true].into_iter().enumerate();
            let lifetimes = lifetimes.filter(|(_, expires)| check.rule.lifetime().includes(*expires));
            match check.rule.size_test(kind) {
                Some(test) => {
                    let packed_lists = kind == Kind::List && self.context.config.compresses_lists();
                    // Entries of a stream share their field names in memory.
                    let shares_names = kind == Kind::Stream;
                    self.sized[kind as usize].add(test, place as u8, packed_lists || shares_names);
                }
                None if check.rule.words().is_empty() && !check.rule.is_about_expected_types() => {
                    lifetimes.for_each(|(at, _)| self.asked[kind as usize][at].push(place as u8));
                }
                None => lifetimes.for_each(|(at, _)| self.worded[kind as usize][at] |= bit),
            }
        }
        self.keys.push(check);
        Ok(())
    }

    fn add_pattern_rule(&mut self, check: RuleCheck<dyn PatternRule>) {
        for pattern in check.rule.locks().iter().flat_map(|locks| &locks.words).flat_map(|word| spellings(word)) {
            self.matcher.add(&pattern, PatternTarget::Lock);
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
        for (place, expected) in policy.expected.iter().enumerate() {
            self.matcher.add(&expected.pattern, PatternTarget::Expected(number(place)));
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

    /// Checks a key against every rule. `pattern` must come from the classifier of the run.
    #[cfg(any(test, feature = "internals"))]
    pub fn judge(&self, record: &Record<'_>, pattern: &PatternBuf, judged: &mut Judged) {
        let mut named = NameJudged::default();
        self.judge_name(&KeyName::Classified(record.key, pattern), &mut named);
        self.judge_named(record, &named, judged);
    }

    /// Returns whether names of the same pattern that differ only in the values of digits share one [`NameJudged`].
    pub fn ignores_digit_values(&self) -> bool {
        self.names.ignores_digit_values()
    }

    /// Returns for each byte whether ids of a name may have it, or another of these, without effect on its [`NameJudged`].
    pub fn harmless_bytes(&self) -> [bool; 256] {
        self.names.harmless_bytes()
    }

    /// Checks what depends on the name alone: name tests and patterns of the policy.
    ///
    /// The name must come from the classifier of the run.
    #[inline(always)] // in the caller, the kind of name is known
    pub fn judge_name(&self, name: &KeyName<'_>, named: &mut NameJudged) {
        named.broken = self.names.broken(name);
        if !self.matcher.is_empty() {
            self.match_pattern(name, named);
        }
    }

    /// Checks the remaining rules, given the result of [`Checks::judge_name`].
    #[inline]
    pub fn judge_named(&self, record: &Record<'_>, named: &NameJudged, judged: &mut Judged) {
        judged.matched = named.matched;
        // Mostly both are empty. Skip `clone_from` then: the pointer of an empty list is dangling, and a masked vector load
        // from there costs 100 ns.
        if !named.exemptions.is_empty() || !judged.exemptions.is_empty() {
            judged.exemptions.clone_from(&named.exemptions);
        }
        let view = KeyView { record, context: &self.context, matched: named.matched };
        self.names.measure(&named.broken, &mut judged.violations);
        let mut broken = self.names.broken_as(&named.broken, record.kind);
        let asked = &self.asked[record.kind as usize][usize::from(record.expires_at.is_some())];
        broken |= self.ask(asked.iter().copied(), &view, &mut judged.violations);
        let worded = self.worded[record.kind as usize][usize::from(record.expires_at.is_some())] & named.matched.rules;
        if worded != 0 {
            broken |= self.ask(ones(worded), &view, &mut judged.violations);
        }
        let sized = &self.sized[record.kind as usize];
        if sized.concerns(record) {
            broken |= self.ask(sized.asked.iter().copied(), &view, &mut judged.violations);
        }
        if self.wants_json(record) {
            broken |= self.ask(self.json.iter().copied(), &view, &mut judged.violations);
        }
        if broken != 0 {
            broken = self.most_severe(broken);
            self.measure(broken & !named.broken.counted, &view, judged);
        }
        if (broken & self.saving) | judged.saving != 0 {
            self.save(broken & self.saving, &view, judged);
        }
        judged.broken = broken & !named.excuse;
        judged.excused = broken & named.excuse;
    }

    /// Divides the rules in `asked` into those with a constant result and the others.
    fn divide_asked(&mut self) {
        for kind in 0..self.asked.len() {
            for expires in 0..2 {
                for &bit in &self.asked[kind][expires] {
                    let Some(RuleCheck { rule, .. }) = self.keys.get(usize::from(bit)) else { continue };
                    match rule.constant_result() {
                        Some(true) if self.measuring >> bit & 1 == 0 => self.constant[kind][expires] |= 1 << bit,
                        Some(false) => {}
                        Some(true) | None => self.varying[kind][expires].add(bit, rule.harmless(&self.context)),
                    }
                }
                let constant = self.constant[kind][expires];
                let settles = self.varying[kind][expires].others.is_empty() && constant & self.saving == 0;
                self.settled[kind][expires] = (settles && !self.has_dictionary()).then(|| self.most_severe(constant));
            }
        }
    }

    /// Fast path of [`Checks::judge_named`]: the bits that a key violates, unless it counts elsewhere, too, or its name has to
    /// be measured anew. Writes what was measured to `violations`. `is_plain` is that of the [name](NameJudged::is_plain).
    ///
    /// Valid only for keys below all [size limits](Checks::exceeds_size_limit) that need no [look at JSON](Checks::wants_json).
    #[inline]
    pub fn judge_usual<'v>(
        &self,
        record: &Record<'_>,
        named: &NameJudged,
        is_plain: bool,
        violations: &'v mut Violations,
    ) -> Option<UsualJudged<'v>> {
        let (kind, expires) = (record.kind as usize, usize::from(record.expires_at.is_some()));
        let harmless = &self.varying[kind][expires].harmless;
        match self.settled[kind][expires] {
            Some(broken) if is_plain && harmless.includes(record) => {
                Some(UsualJudged { broken, measured: 0, is_lock: false, violations })
            }
            _ => self.judge_varying(record, named, violations),
        }
    }

    /// Slow path of [`Checks::judge_usual`]: a rule has to be asked, or the name violates one or matches a pattern.
    fn judge_varying<'v>(
        &self,
        record: &Record<'_>,
        named: &NameJudged,
        violations: &'v mut Violations,
    ) -> Option<UsualJudged<'v>> {
        let Matched { entry, class, budget, expected: _, lock: is_lock, rules } = named.matched;
        // With a dictionary, every key counts under an entry or as unregistered.
        let counts_elsewhere = entry.is_some() || budget.is_some() || !named.exemptions.is_empty();
        let unmeasured = named.broken.bits & self.measured & !named.broken.counted;
        if counts_elsewhere || unmeasured != 0 || self.has_dictionary() {
            return None;
        }
        let (kind, expires) = (record.kind as usize, usize::from(record.expires_at.is_some()));
        let view = KeyView { record, context: &self.context, matched: named.matched };
        let varying = &self.varying[kind][expires];
        let (constant, asked) = match class {
            None if varying.harmless.includes(record) => (self.constant[kind][expires], &varying.others),
            None => (self.constant[kind][expires], &varying.rules),
            Some(_) => (0, &self.asked[kind][expires]),
        };
        let worded = rules & self.worded[kind][expires];
        let mut broken = self.names.broken_as(&named.broken, record.kind)
            | constant
            | self.ask(asked.iter().copied().chain(ones(worded)), &view, violations);
        if broken & self.saving != 0 {
            return None;
        }
        if broken != 0 {
            broken = self.most_severe(broken);
        }
        if broken & self.counting != 0 {
            self.names.measure(&named.broken, violations);
        }
        Some(UsualJudged { broken, measured: broken & self.measuring, is_lock, violations })
    }

    /// Returns whether a key is large enough to violate a rule about sizes.
    #[inline]
    pub fn exceeds_size_limit(&self, record: &Record<'_>) -> bool {
        self.sized[record.kind as usize].concerns(record)
    }

    /// Returns the payload that rules will ask for, of a value whose blobs have to be read for it.
    ///
    /// To be kept in the record, so that each of them and the list of big keys need not read the blobs again.
    pub fn packed_payload(&self, record: &Record<'_>) -> Option<Bytes> {
        let sized = &self.sized[record.kind as usize];
        let is_asked = sized.payload < u64::MAX && record.value.payload.is_none() && sized.concerns(record);
        if is_asked { record.packed_payload(sized.payload).map(Bytes) } else { None }
    }

    /// Returns whether a rule has to look for JSON in the value.
    #[inline]
    pub fn wants_json(&self, record: &Record<'_>) -> bool {
        record.value.may_be_json && !self.json.is_empty()
    }

    /// Returns the smallest limits on length and memory: keys that exceed neither violate no rule about sizes.
    pub fn least_size_limits(&self, kind: Kind) -> (u64, Bytes) {
        let sized = &self.sized[kind as usize];
        (sized.length, Bytes(sized.memory))
    }

    /// Checks rules one by one and returns the bits of the violated ones.
    #[inline]
    fn ask(&self, bits: impl Iterator<Item = u8>, view: &KeyView<'_>, violations: &mut Violations) -> u64 {
        let mut broken = 0;
        for bit in bits {
            if let Some(violation) = self.keys[usize::from(bit)].rule.check(view) {
                broken |= 1 << bit;
                violations[usize::from(bit) % MOST_KEY_CHECKS] = violation;
            }
        }
        broken
    }

    /// Returns the violated rules about keys with their severities, sorted by id.
    #[cfg(any(test, feature = "internals"))]
    pub fn broken_by(&self, record: &Record<'_>, pattern: &PatternBuf) -> Vec<(&'static str, Severity)> {
        let mut judged = Judged::default();
        self.judge(record, pattern, &mut judged);
        let broken = self.keys.iter().enumerate().filter(|(bit, _)| judged.broken >> bit & 1 == 1);
        broken.map(|(_, check)| (check.meta.id, check.severity)).collect()
    }

    /// Drops bits of rules that are violated at a higher severity as well.
    fn most_severe(&self, broken: u64) -> u64 {
        let milder = self.milder.iter().filter(|(graver, _)| broken & graver != 0);
        broken & !milder.fold(0, |mask, (_, milder)| mask | milder)
    }

    /// Measures violations that the name pass only detected, by calling their rules.
    fn measure(&self, broken: u64, view: &KeyView<'_>, judged: &mut Judged) {
        for bit in ones(broken & self.measured).map(usize::from) {
            if let Some(violation) = self.keys.get(bit).and_then(|check| check.rule.check(view)) {
                judged.violations[bit % MOST_KEY_CHECKS] = violation;
            }
        }
    }

    /// Estimates what the remedies of violated rules save, and clears the estimates of the previous key.
    #[cold]
    fn save(&self, broken: u64, view: &KeyView<'_>, judged: &mut Judged) {
        for bit in ones(broken | judged.saving).map(usize::from) {
            let check = self.keys.get(bit).filter(|_| broken >> bit & 1 == 1);
            judged.savings[bit % MOST_KEY_CHECKS] = check.map_or(Bytes(0), |check| check.rule.saving(view));
        }
        judged.saving = broken;
    }

    /// Looks up dictionary entry, TTL class, budget and exemptions of a name.
    fn match_pattern(&self, name: &KeyName<'_>, named: &mut NameJudged) {
        named.targets.clear();
        named.exemptions.clear();
        self.matcher.find(name, &mut named.targets);
        (named.matched, named.excuse) = (Matched::default(), 0);
        if named.targets.is_empty() {
            return; // the common case
        }
        let (matched, mut class) = (&mut named.matched, None);
        // The first target of each list takes precedence.
        for target in &named.targets {
            match *target {
                PatternTarget::Entry(entry) => _ = matched.entry.get_or_insert(entry),
                PatternTarget::Class(of_class) => _ = class.get_or_insert(of_class),
                PatternTarget::Budget(budget) => _ = matched.budget.get_or_insert(budget),
                PatternTarget::Expected(expected) => {
                    matched.expected.get_or_insert(expected);
                    matched.rules |= self.expecting;
                }
                PatternTarget::Lock => matched.lock = true,
                PatternTarget::Rule(bit) => matched.rules |= 1 << (usize::from(bit) % MOST_KEY_CHECKS),
                PatternTarget::Exemption(exemption) if named.exemptions.contains(&exemption) => {}
                PatternTarget::Exemption(exemption) => {
                    named.excuse |= self.excuses.get(usize::from(exemption)).copied().unwrap_or_default();
                    named.exemptions.push(exemption);
                }
            }
        }
        let of_any_type = |place: u16| self.policy.expected[usize::from(place)].kinds.is_empty();
        if matched.expected.is_some_and(of_any_type) {
            matched.expected = None;
            matched.rules &= !self.expecting;
        }
        let entry = matched.entry.map(usize::from);
        matched.class = entry.and_then(|entry| self.context.entries.get(entry)?.class).or(class);
        let of_entry = || entry.and_then(|entry| self.entry_budgets.get(entry).copied().flatten());
        let of_class = || self.class_budgets.get(usize::from(matched.class?)).copied().flatten();
        matched.budget = matched.budget.or_else(of_entry).or_else(of_class);
    }

    /// Returns the exemption that excuses a key from a rule.
    pub fn exemption(&self, judged: &Judged, bit: usize) -> Option<u16> {
        let excuses = |place: &&u16| self.excuses.get(usize::from(**place)).is_some_and(|mask| mask >> bit & 1 == 1);
        judged.exemptions.iter().find(excuses).copied()
    }

    /// Returns the index of the first exemption that excuses a breach of a rule about patterns or the snapshot.
    ///
    /// Its pattern must be equal to that of the breach or match it. Only `**` excuses a breach without a pattern.
    pub fn exemption_of(&self, rule: &str, pattern: Option<&str>, classifier: &Classifier) -> Option<u16> {
        let mut matched = Vec::new();
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
            let named = exemption.rules.is_empty() || exemption.rules.iter().any(|id| id == rule);
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

    /// Returns the least length of a lock's token; `None` if no rule needs the tokens of locks.
    pub fn least_token(&self) -> Option<u64> {
        self.patterns.iter().filter_map(|check| Some(check.rule.locks()?.min)).min()
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

/// Returns the numbers of the bits that are set, in ascending order.
#[expect(clippy::cast_possible_truncation, reason = "a mask has 64 bits")]
fn ones(mut mask: u64) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let bit = (mask != 0).then(|| mask.trailing_zeros() as u8)?;
        mask &= mask - 1;
        Some(bit)
    })
}

/// Returns the patterns of a word in lower case, in capitals and with a capital first.
fn spellings(word: &str) -> impl Iterator<Item = PolicyPattern> {
    let upper = word.to_uppercase();
    let first = word.chars().next().map_or(0, char::len_utf8);
    let capital = format!("{}{}", word[..first].to_uppercase(), &word[first..]);
    let mut all = vec![word.to_owned(), word.to_lowercase(), upper, capital];
    all.sort_unstable();
    all.dedup();
    all.into_iter().map(|word| PolicyPattern::word(&word, &Classifier::default()))
}

#[cfg(test)]
mod tests;
