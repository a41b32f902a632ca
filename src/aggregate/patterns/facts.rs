//! Facts of one pattern. Each worker may hold a hundred thousand of these, so lists are allocated with their first
//! entry and never have spare capacity.

use serde::{Deserialize, Serialize};

use super::TokenPlan;
use super::counts::{LeafCounts, LeafSums};
use super::examples::{Candidate, ExampleThreshold, Examples, example};
use crate::aggregate::parts::{ColdKeys, RankedKey};
use crate::pattern::tree::Payload;
use crate::policy::evidence::ids::IdPlace;
use crate::policy::evidence::{Expiries, IdSample, Secrets, Tokens};
use crate::policy::sensitive::Inspection;
use crate::policy::{Judged, UsualJudged, Violation};
use crate::rdb::peek::PeekBuffers;
use crate::record::{Kind, Record};
use crate::report::{Example, Unknown, Weight};
use crate::units::{Bytes, Millis};

/// Sums and examples of the keys of one pattern.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct PatternFacts {
    counted: LeafCounts,
    /// Facts that few patterns have.
    rare: Option<Box<RareFacts>>,
    /// Keys by type, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// The heaviest key.
    heaviest: Option<RankedKey<()>>,
    /// The heaviest keys that never expire.
    without_ttl: Examples,
    /// Thresholds below which a usual key cannot become an example: for keys without expiry, and with one.
    #[serde(skip)]
    lightest: [ExampleThreshold; 2],
    /// Broken rules only, ascending by bit.
    broken: Vec<BrokenRule>,
    /// Memory now and under each alternative, of the keys for which all of these are known; empty if no alternative was
    /// requested.
    alternatives: Box<[Bytes]>,
    /// Expiries to come, if a rule needs them. Few patterns have any.
    expiries: Option<Box<Expiries>>,
    /// Ids of strings, if a rule needs them.
    ids: Option<Box<IdSample>>,
    /// Findings in the values of sampled keys, if a rule needs them.
    secrets: Option<Box<Secrets>>,
    /// Values of locks, if a rule needs them.
    tokens: Option<Box<Tokens>>,
}

/// Facts that few patterns have.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct RareFacts {
    /// Keys whose memory is unknown.
    unknown: Unknown,
    /// Keys out of use, in dumps that record idle times.
    cold: ColdKeys,
}

/// Keys of one pattern that break one rule.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct BrokenRule {
    rule: u8,
    weight: Weight,
    /// Largest deviation from the limit.
    worst: Violation,
    /// Memory that the remedy would save, for rules that compute it.
    saves: Bytes,
    examples: Examples,
}

impl PatternFacts {
    /// Fast path of [`PatternFacts::observe`] for usual keys that break these rules; returns false without counting the
    /// key if it may become an example.
    #[inline]
    pub fn observe_usual(&mut self, record: &Record<'_>, judged: &UsualJudged<'_>) -> bool {
        let rules = judged.broken;
        let lightest = &self.lightest[usize::from(record.expires_at.is_some())];
        if !lightest.excludes(record, rules) && self.shows(record, rules) {
            return false;
        }
        self.add(record);
        // One alternative is what a policy asks for.
        match (&mut *self.alternatives, record.alternatives) {
            (_, []) => {}
            ([now, then], [memory]) => {
                *now += record.memory;
                *then += *memory;
            }
            _ => self.add_alternatives(record.memory, record.alternatives),
        }
        let measured = judged.measured();
        // All these rules have an entry: a key without one may become an example.
        for broken in self.broken.iter_mut().filter(|broken| rules >> broken.rule & 1 == 1) {
            broken.weight.add(record.memory);
            if measured >> broken.rule & 1 == 1 {
                broken.worst = worse(broken.worst, judged.violation(usize::from(broken.rule)));
            }
        }
        true
    }

    /// Returns whether a key that breaks these rules would become an example; if not, updates the threshold.
    #[inline(never)]
    fn shows(&mut self, record: &Record<'_>, rules: u64) -> bool {
        let mut candidate = Candidate::new(record);
        let forever = record.expires_at.is_none();
        let Some(heaviest) = &self.heaviest else { return true };
        let broken = || self.broken.iter().filter(|broken| rules >> broken.rule & 1 == 1);
        if broken().count() < rules.count_ones() as usize
            || candidate.is_before(heaviest)
            || forever && self.without_ttl.takes(&mut candidate)
            || broken().any(|broken| broken.examples.takes(&mut candidate))
        {
            return true;
        }
        // Not an example, so no lighter key is one either: remember the bar for the next usual keys.
        let mut lightest = ExampleThreshold::above_all(rules);
        lightest.lower_to(heaviest);
        // These lists are full, otherwise they would have taken the key.
        for last in broken().filter_map(|broken| broken.examples.last()) {
            lightest.lower_to(last);
        }
        if let Some(last) = self.without_ttl.last().filter(|_| forever) {
            lightest.lower_to(last);
        }
        self.lightest[usize::from(!forever)] = lightest;
        false
    }

    /// Computes the sums over the keys; a string counts as one element.
    pub fn sums(&self) -> LeafSums {
        let LeafCounts { lifetimes: [forever, expiring], elements, content, .. } = self.counted;
        LeafSums {
            keys: forever.keys.saturating_add(expiring.keys),
            memory: forever.memory + expiring.memory,
            disk: self.counted.disk,
            elements: elements.saturating_add(self.kinds[Kind::String as usize]),
            name_bytes: self.counted.name_bytes,
            last_expiry: self.counted.last_expiry,
            content,
            without_ttl: forever,
            unknown: self.rare.as_deref().map_or_else(Unknown::default, |rare| rare.unknown),
        }
    }

    /// Adds a key to the counters.
    #[inline(always)] // for every key, in the fast path and in the slow one
    fn add(&mut self, record: &Record<'_>) {
        self.counted.add(record);
        if let Some(count) = self.kinds.get_mut(record.kind as usize) {
            *count = count.saturating_add(1);
        }
        if let Some(idle) = ColdKeys::idle_time(record) {
            self.add_cold(record, idle);
        }
    }

    #[inline(never)] // few dumps have idle times
    fn add_cold(&mut self, record: &Record<'_>, idle: u64) {
        self.rare.get_or_insert_default().cold.add(record, idle);
    }

    /// Returns the keys out of use, if there are any.
    pub fn cold(&self) -> Option<&ColdKeys> {
        self.rare.as_deref().map(|rare| &rare.cold).filter(|cold| cold.least().keys > 0)
    }

    /// Adds a key of this pattern; `judged` says which rules it breaks.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, judged: &Judged) {
        self.add(record);
        if record.known_memory().is_none() {
            self.rare.get_or_insert_default().unknown.note(record.memory, record.disk);
        }
        let mut candidate = Candidate::new(record);
        if self.heaviest.as_ref().is_none_or(|heaviest| candidate.is_before(heaviest)) {
            self.offer_heaviest(candidate.ranked());
        }
        if record.expires_at.is_none() {
            self.without_ttl.offer(&mut candidate);
        }
        if !record.alternatives.is_empty() {
            self.add_alternatives(record.memory, record.alternatives);
        }
        self.each_broken(judged.broken, |broken, bit| {
            broken.observe(&mut candidate, judged.violations[bit], judged.savings[bit]);
        });
    }

    /// Calls `see` with the entry and bit of each of these rules.
    #[inline]
    fn each_broken(&mut self, mut rules: u64, mut see: impl FnMut(&mut BrokenRule, usize)) {
        let mut at = 0;
        while rules != 0 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 63")]
            let rule = rules.trailing_zeros() as u8;
            at = self.place_of(rule, at);
            see(&mut self.broken[at], usize::from(rule));
            rules &= rules - 1;
        }
    }

    /// Records the expiry of a key. Returns the growth in heap bytes.
    #[inline]
    pub fn time(&mut self, record: &Record<'_>, at: Millis, most: usize) -> usize {
        match &mut self.expiries {
            Some(expiries) => expiries.add(record.key, record.memory, at),
            None => self.time_first(record, at, most),
        }
    }

    #[cold]
    fn time_first(&mut self, record: &Record<'_>, at: Millis, most: usize) -> usize {
        let expiries = self.expiries.insert(Box::new(Expiries::new(most)));
        size_of::<Expiries>() + expiries.add(record.key, record.memory, at)
    }

    /// Reduces the kept expiries to at most `most`. Returns their heap bytes.
    pub fn keep_expiries(&mut self, most: usize) -> usize {
        let Some(expiries) = &mut self.expiries else { return 0 };
        expiries.keep(most);
        size_of::<Expiries>() + expiries.heap_bytes()
    }

    /// Returns the expiries to come.
    pub fn expiries(&self) -> Option<&Expiries> {
        self.expiries.as_deref()
    }

    /// Samples the id of a key. Returns the growth in heap bytes.
    #[inline(always)] // for nearly every string
    pub fn sample_id(&mut self, id: IdPlace, record: &Record<'_>, most: usize) -> usize {
        match &mut self.ids {
            Some(ids) => ids.add(id, record),
            None => self.sample_first_id(id, record, most),
        }
    }

    #[cold]
    fn sample_first_id(&mut self, id: IdPlace, record: &Record<'_>, most: usize) -> usize {
        size_of::<IdSample>() + self.ids.insert(Box::new(IdSample::new(most))).add(id, record)
    }

    /// Reduces the sampled ids to at most `most`. Returns their heap bytes.
    pub fn keep_ids(&mut self, most: usize) -> usize {
        let Some(ids) = &mut self.ids else { return 0 };
        ids.keep(most);
        size_of::<IdSample>() + ids.heap_bytes()
    }

    /// Returns the sampled ids.
    pub fn ids(&self) -> Option<&IdSample> {
        self.ids.as_deref()
    }

    /// Inspects the value of a key if the key belongs to the pattern's sample. Returns the growth in heap bytes.
    pub fn inspect(&mut self, record: &Record<'_>, inspection: &Inspection, buffers: &mut PeekBuffers) -> usize {
        let new = if self.secrets.is_none() { size_of::<Secrets>() } else { 0 };
        new + self.secrets.get_or_insert_default().observe(record, inspection, buffers)
    }

    /// Returns the findings in values of sampled keys.
    pub fn secrets(&self) -> Option<&Secrets> {
        self.secrets.as_deref()
    }

    /// Adds the value of a lock. Returns the growth in heap bytes.
    pub fn hold(&mut self, lock: &Record<'_>, plan: TokenPlan, buffers: &mut PeekBuffers) -> usize {
        let new = if self.tokens.is_none() { size_of::<Tokens>() } else { 0 };
        let tokens = self.tokens.get_or_insert_with(|| Box::new(Tokens::new(plan.most)));
        new + tokens.observe(lock, plan.needs, buffers)
    }

    /// Reduces the kept values of locks to at most `most`.
    pub fn keep_tokens(&mut self, most: usize) {
        self.tokens.iter_mut().for_each(|tokens| tokens.keep(most));
    }

    /// Returns the values of locks.
    pub fn tokens(&self) -> Option<&Tokens> {
        self.tokens.as_deref()
    }

    fn offer_heaviest(&mut self, entry: RankedKey<()>) {
        if self.heaviest.as_ref().is_none_or(|heaviest| entry > *heaviest) {
            self.heaviest = Some(entry);
        }
    }

    /// Adds memory now and under the alternatives, whose number is the same for all keys of a run.
    #[inline(never)]
    fn add_alternatives(&mut self, now: Bytes, more: &[Bytes]) {
        let Some((sum, then)) = self.alternatives.split_first_mut() else {
            self.alternatives = std::iter::once(now).chain(more.iter().copied()).collect();
            return;
        };
        *sum += now;
        then.iter_mut().zip(more).for_each(|(sum, memory)| *sum += *memory);
    }

    /// Returns the memory now and under each alternative, of the keys for which all of these are known; `None` if there
    /// are no alternatives or no such keys.
    pub fn alternatives(&self) -> Option<(Bytes, &[Bytes])> {
        self.alternatives.split_first().map(|(now, then)| (*now, then))
    }

    /// Returns the largest change in memory, up or down, that an alternative makes.
    pub fn largest_difference(&self) -> u64 {
        let Some((now, then)) = self.alternatives() else { return 0 };
        then.iter().map(|memory| memory.0.abs_diff(now.0)).max().unwrap_or(0)
    }

    /// Returns the index of a rule's entry at `at` or later, inserting one if there is none.
    #[inline]
    fn place_of(&mut self, rule: u8, mut at: usize) -> usize {
        while self.broken.get(at).is_some_and(|broken| broken.rule < rule) {
            at += 1;
        }
        if self.broken.get(at).is_none_or(|broken| broken.rule != rule) {
            self.make(rule, at);
        }
        at
    }

    #[cold]
    fn make(&mut self, rule: u8, at: usize) {
        self.broken.reserve_exact(1);
        self.broken.insert(
            at,
            BrokenRule {
                rule,
                weight: Weight::default(),
                worst: Violation { measured: 0, allowed: 0 },
                saves: Bytes(0),
                examples: Examples::default(),
            },
        );
    }

    /// Assigns all keys observed so far to database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.lightest = Default::default();
        self.heaviest.iter_mut().for_each(|entry| entry.db = db);
        self.without_ttl.settle_database(db);
        self.secrets.iter_mut().for_each(|secrets| secrets.settle_database(db));
        self.tokens.iter_mut().for_each(|tokens| tokens.settle_database(db));
        self.broken.iter_mut().for_each(|broken| broken.examples.settle_database(db));
    }

    /// Returns whether stored facts can be those of a run with this number of rules and alternatives.
    pub fn fit(&self, rules: usize, alternatives: usize) -> bool {
        let is_ascending = self.broken.is_sorted_by(|one, next| one.rule < next.rule);
        let is_known = self.broken.last().is_none_or(|last| usize::from(last.rule) < rules);
        let prices = self.alternatives.len();
        is_ascending && is_known && (prices == 0 || alternatives > 0 && prices == alternatives + 1)
    }

    /// Returns the heaviest key; `None` before the first key.
    pub fn heaviest(&self) -> Option<Example> {
        self.heaviest.as_ref().map(example)
    }

    /// Returns the heaviest keys without expiry.
    pub fn without_ttl(&self) -> Vec<Example> {
        self.without_ttl.show()
    }

    /// Iterates over the broken rules: bit of the rule, and the keys that break it.
    pub fn broken_rules(&self) -> impl Iterator<Item = (usize, Weight)> {
        self.broken.iter().map(|broken| (usize::from(broken.rule), broken.weight))
    }

    /// Returns the worst violation of a rule.
    pub fn worst(&self, rule: usize) -> Violation {
        let found = self.broken.iter().find(|broken| usize::from(broken.rule) == rule);
        found.map_or(Violation { measured: 0, allowed: 0 }, |broken| broken.worst)
    }

    /// Returns the memory that the remedy of a rule would save.
    pub fn saves(&self, rule: usize) -> Bytes {
        let found = self.broken.iter().find(|broken| usize::from(broken.rule) == rule);
        found.map_or(Bytes(0), |broken| broken.saves)
    }

    /// Returns the heaviest keys that break a rule.
    pub fn breaking(&self, rule: usize) -> Vec<Example> {
        let found = self.broken.iter().find(|broken| usize::from(broken.rule) == rule);
        found.map_or_else(Vec::new, |broken| broken.examples.show())
    }
}

impl BrokenRule {
    #[inline]
    fn observe(&mut self, candidate: &mut Candidate<'_>, violation: Violation, saves: Bytes) {
        self.worst = worse(self.worst, violation);
        self.saves += saves;
        self.weight.merge(Weight { keys: 1, memory: candidate.record.memory });
        self.examples.offer(candidate);
    }
}

/// Returns the violation that deviates more from its limit.
#[inline]
fn worse(one: Violation, other: Violation) -> Violation {
    if one == other {
        return one; // as most keys of a pattern deviate by the same
    }
    let distance = |violation: &Violation| (violation.measured.abs_diff(violation.allowed), *violation);
    std::cmp::max_by_key(one, other, distance)
}

impl Payload for PatternFacts {
    fn absorb(&mut self, other: Self) {
        self.counted.merge(&other.counted);
        for (count, more) in self.kinds.iter_mut().zip(other.kinds) {
            *count = count.saturating_add(more);
        }
        if let Some(entry) = other.heaviest {
            self.offer_heaviest(entry);
        }
        self.without_ttl.merge(other.without_ttl);
        if let Some((now, then)) = other.alternatives.split_first() {
            self.add_alternatives(*now, then);
        }
        if let Some(rare) = other.rare {
            let own = self.rare.get_or_insert_default();
            own.unknown.merge(rare.unknown);
            own.cold.merge(&rare.cold);
        }
        if let Some(expiries) = other.expiries {
            match &mut self.expiries {
                Some(own) => own.merge(*expiries),
                None => self.expiries = Some(expiries),
            }
        }
        if let Some(ids) = other.ids {
            match &mut self.ids {
                Some(own) => own.merge(*ids),
                None => self.ids = Some(ids),
            }
        }
        if let Some(secrets) = other.secrets {
            self.secrets.get_or_insert_default().merge(*secrets);
        }
        if let Some(tokens) = other.tokens {
            match &mut self.tokens {
                Some(own) => own.merge(*tokens),
                None => self.tokens = Some(tokens),
            }
        }
        let mut at = 0;
        for broken in other.broken {
            at = self.place_of(broken.rule, at);
            let into = &mut self.broken[at];
            into.weight.merge(broken.weight);
            into.worst = worse(into.worst, broken.worst);
            into.saves += broken.saves;
            into.examples.merge(broken.examples);
        }
    }
}

#[cfg(test)]
mod tests;
