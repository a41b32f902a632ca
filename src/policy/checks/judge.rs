//! Checking a key against the rules about keys.

use std::ops::RangeInclusive;

use super::class_choice::ClassChoice;
use super::limited::KindRules;
use super::{Checks, Judged, MAX_KEY_CHECKS, NameJudged, PatternTarget, UsualJudged};
use crate::pattern::name::KeyName;
use crate::pattern::shape::IdByte;
use crate::pattern::slot::untagged;
use crate::policy::content::lock::{LockName, has_lock_part, may_have_lock_word};
use crate::policy::dictionary::{Matched, TtlClass};
use crate::policy::job_queues::QueueName;
use crate::policy::key_view::KeyView;
use crate::policy::name_pass::Violations;
use crate::policy::rules::key::empty_segment;
use crate::rdb::payload::Payload;
use crate::record::{Kind, Record};
use crate::units::Bytes;

/// Removes what the name of a queue matches at any level: it says neither what the key is nor its type.
fn leave_out_queue(queue: QueueName, classes: &[TtlClass], targets: &mut Vec<PatternTarget>) {
    // The first of these is that of the word for queues before the name.
    let (mut is_first_class, mut is_first_type) = (queue == QueueName::Queues, queue == QueueName::Queues);
    let may_be_of_queues = |class: u16| classes.get(usize::from(class)).is_some_and(|class| !class.required);
    targets.retain(|target| match target {
        PatternTarget::ClassAnywhere(class) => std::mem::take(&mut is_first_class) && may_be_of_queues(*class),
        PatternTarget::Expected(_) | PatternTarget::ExpectedSpelling(_) => std::mem::take(&mut is_first_type),
        PatternTarget::Lock | PatternTarget::Rule(_) | PatternTarget::CompoundCache(_) => false,
        PatternTarget::Entry(_)
        | PatternTarget::Class(_)
        | PatternTarget::Budget(_)
        | PatternTarget::Exemption(_)
        | PatternTarget::Failing(_) => true,
    });
}

impl Checks {
    /// Checks a key against every rule. `pattern` must come from the classifier of the run.
    #[cfg(any(test, feature = "internals"))]
    pub fn judge(&self, record: &Record<'_>, pattern: &crate::pattern::PatternBuf, judged: &mut Judged) {
        let mut named = NameJudged::default();
        self.judge_name(&KeyName::Classified(record.key, pattern), &mut named);
        self.judge_named(record, &named, judged);
    }

    /// Returns whether names of the same pattern that differ only in the values of digits share one [`NameJudged`].
    pub fn ignores_digit_values(&self) -> bool {
        self.names.ignores_digit_values()
    }

    /// Returns for each byte what it means to a [`NameJudged`] in an id.
    pub fn id_bytes(&self) -> [IdByte; 256] {
        self.names.id_bytes()
    }

    /// Changes the result for a name into that for another one, which differs only in bytes of ids that are
    /// [counted](IdByte::Counted).
    #[inline]
    pub fn recount_name(&self, name: &[u8], named: &mut NameJudged) {
        self.names.recount(name, &mut named.broken);
        named.add_failing();
    }

    /// Checks what depends on the name alone: name tests and patterns of the policy.
    ///
    /// The name must come from the classifier of the run.
    #[inline(always)] // in the caller, the kind of name is known
    pub fn judge_name(&self, name: &KeyName<'_>, named: &mut NameJudged) {
        named.broken = self.names.broken(name);
        if self.matcher.may_match(name) || self.may_have_lock_part(name) {
            self.match_pattern(name, named);
            named.add_failing();
        } else if named.is_matched {
            named.unmatch();
        }
    }

    /// Returns whether a pattern says that its keys are locks.
    fn is_about_locks(&self, target: PatternTarget) -> bool {
        match target {
            PatternTarget::Lock | PatternTarget::Rule(_) => true,
            PatternTarget::Class(class) | PatternTarget::ClassAnywhere(class) => {
                self.context.classes.get(usize::from(class)).is_some_and(|class| class.locks)
            }
            PatternTarget::Entry(_)
            | PatternTarget::Budget(_)
            | PatternTarget::Exemption(_)
            | PatternTarget::Expected(_)
            | PatternTarget::ExpectedSpelling(_)
            | PatternTarget::CompoundCache(_)
            | PatternTarget::Failing(_) => false,
        }
    }

    /// Returns whether a name may have `lock` as a part of a segment, if that matters. Other names than plain ones are looked at anyway.
    #[inline]
    fn may_have_lock_part(&self, name: &KeyName<'_>) -> bool {
        match name {
            KeyName::Plain(plain) => !self.lock_parts.is_empty() && may_have_lock_word(plain),
            KeyName::Classified(..) => false,
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
        let rules = self.rules_about(record);
        broken |= self.ask(rules.asked.iter().copied(), &view, &mut judged.violations);
        let worded = rules.worded & named.matched.rules;
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
        if (broken & self.masks.saving) | judged.saving != 0 {
            self.save(broken & self.masks.saving, &view, judged);
        }
        judged.broken = broken & !named.excuse;
        judged.excused = broken & named.excuse;
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
        match self.rules_about(record).settled.as_ref().and_then(|settled| settled.broken_by(record)) {
            Some(broken) if is_plain => Some(UsualJudged { broken, measured: 0, lock: None, violations }),
            Some(others) if !named.is_matched => self.judge_name_alone(record.kind, named, others, violations),
            _ => self.judge_varying(record, named, violations),
        }
    }

    /// Path of [`Checks::judge_usual`] for a name that violates rules and matches no pattern of the policy; `others` are the bits
    /// that its key violates besides.
    fn judge_name_alone<'v>(
        &self,
        kind: Kind,
        named: &NameJudged,
        others: u64,
        violations: &'v mut Violations,
    ) -> Option<UsualJudged<'v>> {
        let unmeasured = self.masks.measured_apart & !named.broken.counted;
        if named.broken.bits & (unmeasured | self.masks.saving) != 0 {
            return None;
        }
        let broken = self.most_severe(self.names.broken_as(&named.broken, kind) | others);
        if broken & self.masks.measuring_names != 0 {
            self.names.measure(&named.broken, violations);
        }
        Some(UsualJudged { broken, measured: broken & self.masks.measuring, lock: None, violations })
    }

    /// Slow path of [`Checks::judge_usual`]: a rule has to be asked, or the name matches a pattern.
    fn judge_varying<'v>(
        &self,
        record: &Record<'_>,
        named: &NameJudged,
        violations: &'v mut Violations,
    ) -> Option<UsualJudged<'v>> {
        let Matched { entry, class, lock_class: _, budget, expected: _, lock_name, lock, rules } = named.matched;
        // With a dictionary, every key counts under an entry or as unregistered.
        let counts_elsewhere = entry.is_some() || budget.is_some() || !named.exemptions.is_empty();
        let unmeasured = named.broken.bits & self.masks.measured_apart & !named.broken.counted;
        if counts_elsewhere || unmeasured != 0 || self.has_dictionary() {
            return None;
        }
        let view = KeyView { record, context: &self.context, matched: named.matched };
        let about_key = self.rules_about(record);
        let (constant, asked) = match class {
            None if about_key.varying.harmless.includes(record) => (about_key.constant, &about_key.varying.others),
            None => (about_key.constant, &about_key.varying.rules),
            Some(_) => (0, &about_key.asked),
        };
        let worded = rules & about_key.worded;
        let mut broken = self.names.broken_as(&named.broken, record.kind)
            | constant
            | self.ask(asked.iter().copied().chain(ones(worded)), &view, violations);
        if broken & self.masks.saving != 0 {
            return None;
        }
        if broken != 0 {
            broken = self.most_severe(broken);
        }
        if broken & self.masks.measuring_names != 0 {
            self.names.measure(&named.broken, violations);
        }
        Some(UsualJudged {
            broken,
            measured: broken & self.masks.measuring,
            lock: lock.then_some(lock_name),
            violations,
        })
    }

    /// Returns the rules about keys of this type and lifetime.
    #[inline]
    fn rules_about(&self, record: &Record<'_>) -> &KindRules {
        &self.rules[record.kind as usize][usize::from(record.is_to_expire())]
    }

    /// Returns whether a key is large enough to violate a rule about sizes.
    #[inline]
    pub fn exceeds_size_limit(&self, record: &Record<'_>) -> bool {
        self.sized[record.kind as usize].concerns(record)
    }

    /// Returns the payload that rules will ask for, of a value whose blobs have to be read for it.
    ///
    /// To be kept in the record, so that each of them and the list of big keys, which are those over `listed`, need not read the
    /// blobs again.
    ///
    /// Unless it has to be `exact`, returns a lower bound without reading blobs if both bounds of the payload violate the same rules
    /// and the upper one does not exceed `worst`, the largest payload so far among the keys of the pattern that violate a rule.
    pub fn packed_payload(
        &self,
        record: &Record<'_>,
        exact: bool,
        listed: u64,
        mut worst: impl FnMut(usize) -> u64,
    ) -> Option<Payload> {
        let sized = &self.sized[record.kind as usize];
        if sized.payload == u64::MAX || record.value.payload.is_some() || !sized.concerns(record) {
            return None;
        }
        let bounds = record.payload_bounds().filter(|bounds| {
            let [least, most] = [*bounds.start(), *bounds.end()];
            (least > listed) == (most > listed) && sized.broken_by(least) == sized.broken_by(most)
        });
        let Some((least, most)) = bounds.map(RangeInclusive::into_inner) else {
            return record.packed_payload(sized.payload);
        };
        let broken = self.most_severe(sized.broken_by(least));
        if broken == 0 && least <= listed {
            return None;
        }
        match !exact && ones(broken).all(|bit| worst(usize::from(bit)) >= most) {
            true => Some(Payload::at_least(least)),
            // A damaged value counts by its bound, as it does where it is not read.
            false => Some(record.packed_payload(sized.payload).unwrap_or(Payload::at_least(least))),
        }
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
                violations[usize::from(bit) % MAX_KEY_CHECKS] = violation;
            }
        }
        broken
    }

    /// Returns the violated rules about keys with their severities, sorted by id.
    #[cfg(any(test, feature = "internals"))]
    pub fn broken_by(
        &self,
        record: &Record<'_>,
        pattern: &crate::pattern::PatternBuf,
    ) -> Vec<(&'static str, crate::policy::rule::Severity)> {
        let mut judged = Judged::default();
        self.judge(record, pattern, &mut judged);
        let broken = self.keys.iter().enumerate().filter(|(bit, _)| judged.broken >> bit & 1 == 1);
        broken.map(|(_, check)| (check.meta.id, check.severity)).collect()
    }

    /// Drops bits of rules that are violated at a higher severity as well.
    pub(super) fn most_severe(&self, broken: u64) -> u64 {
        let milder = self.milder.iter().filter(|(graver, _)| broken & graver != 0);
        broken & !milder.fold(0, |mask, (_, milder)| mask | milder)
    }

    /// Measures violations that the name pass only detected, by calling their rules.
    fn measure(&self, broken: u64, view: &KeyView<'_>, judged: &mut Judged) {
        for bit in ones(broken & self.masks.measured_apart).map(usize::from) {
            if let Some(violation) = self.keys.get(bit).and_then(|check| check.rule.check(view)) {
                judged.violations[bit % MAX_KEY_CHECKS] = violation;
            }
        }
    }

    /// Estimates what the remedies of violated rules save, and clears the estimates of the previous key.
    #[cold]
    fn save(&self, broken: u64, view: &KeyView<'_>, judged: &mut Judged) {
        for bit in ones(broken | judged.saving).map(usize::from) {
            let check = self.keys.get(bit).filter(|_| broken >> bit & 1 == 1);
            judged.savings[bit % MAX_KEY_CHECKS] = check.map_or(Bytes(0), |check| check.rule.saving(view));
        }
        judged.saving = broken;
    }

    /// Looks up dictionary entry, TTL class, budget and exemptions of a name.
    #[inline(never)] // few names come here
    fn match_pattern(&self, name: &KeyName<'_>, named: &mut NameJudged) {
        named.unmatch();
        self.matcher.find(name, &mut named.targets);
        let queue = QueueName::of(name);
        if let Some(queue) = queue {
            leave_out_queue(queue, &self.context.classes, &mut named.targets);
        }
        let names_lock = || named.targets.iter().any(|target| self.is_about_locks(*target));
        if !self.lock_parts.is_empty() && queue.is_none() && has_lock_part(name) && !names_lock() {
            named.targets.extend_from_slice(&self.lock_parts);
            named.matched.lock_name = LockName::Part;
        }
        let (matched, mut is_spelling) = (&mut named.matched, false);
        let mut classes = ClassChoice::new(&self.context.classes);
        // The first target of each list takes precedence.
        for target in &named.targets {
            match *target {
                PatternTarget::Entry(entry) => _ = matched.entry.get_or_insert(entry),
                PatternTarget::Class(class) => classes.add(class),
                PatternTarget::ClassAnywhere(class) => classes.add_floating(class),
                PatternTarget::CompoundCache(class) => classes.add_compound(class),
                PatternTarget::Budget(budget) => _ = matched.budget.get_or_insert(budget),
                PatternTarget::Expected(expected) => {
                    let is_own = self.policy.expected[usize::from(expected)].line > 0;
                    if is_own && is_spelling {
                        (matched.expected, is_spelling) = (None, false);
                    }
                    matched.expected.get_or_insert(expected);
                }
                PatternTarget::ExpectedSpelling(expected) if matched.expected.is_none() => {
                    (matched.expected, is_spelling) = (Some(expected), true);
                }
                PatternTarget::ExpectedSpelling(_) => {}
                PatternTarget::Lock => matched.lock = true,
                PatternTarget::Failing(bit) => named.failing |= 1 << (usize::from(bit) % MAX_KEY_CHECKS),
                PatternTarget::Rule(bit) => matched.rules |= 1 << (usize::from(bit) % MAX_KEY_CHECKS),
                PatternTarget::Exemption(exemption) if named.exemptions.contains(&exemption) => {}
                PatternTarget::Exemption(exemption) => {
                    named.excuse |= self.excuses.get(usize::from(exemption)).copied().unwrap_or_default();
                    named.exemptions.push(exemption);
                }
            }
        }
        let of_any_type = |place: &u16| self.policy.expected[usize::from(*place)].kinds.is_empty();
        matched.expected = matched.expected.filter(|place| !of_any_type(place));
        if matched.expected.is_some() {
            matched.rules |= self.masks.expecting;
        }
        let entry = matched.entry.map(usize::from);
        let class_of_entry = entry.and_then(|entry| self.context.entries.get(entry)?.class);
        (matched.class, matched.lock_class) = match class_of_entry {
            Some(class) => (Some(class), None),
            None => (classes.of_name(name), classes.of_lock()),
        };
        let of_entry = || entry.and_then(|entry| self.entry_budgets.get(entry).copied().flatten());
        let of_class = || self.class_budgets.get(usize::from(matched.class?)).copied().flatten();
        matched.budget = matched.budget.or_else(of_entry).or_else(of_class);
        let is_filled = || empty_segment::unfilled(&untagged(name.bytes()).concat(), &self.context.separators) == 0;
        if named.failing != 0 && is_filled() {
            named.failing = 0;
        }
        named.is_matched = *matched != Matched::default() || !named.exemptions.is_empty() || named.failing != 0;
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
