//! What is kept for one pattern. There may be a hundred thousand of them in each worker, so lists come to be only when
//! they have an entry, and no longer than they are.

use super::Timing;
use super::examples::{Candidate, Examples, beginning, example};
use crate::aggregate::parts::Ranked;
use crate::pattern::tree::Payload;
use crate::policy::evidence::{Expiries, Secrets};
use crate::policy::sensitive::Inspection;
use crate::policy::{Judged, Violation};
use crate::rdb::peek::PeekBuffers;
use crate::record::{Kind, Record};
use crate::report::{Example, Weight};
use crate::units::Bytes;

/// What the keys of one pattern add up to.
#[derive(Debug, Clone, Default)]
pub(super) struct PatternFacts {
    counted: Counted,
    /// Keys by type, in the order of [`Kind::ALL`].
    pub kinds: [u64; Kind::ALL.len()],
    /// The heaviest key.
    heaviest: Option<Ranked<()>>,
    /// The heaviest keys that never expire.
    without_ttl: Examples,
    /// What the next usual key is held against: one that never expires, and one that does.
    lightest: [Lightest; 2],
    /// By bit of the rule, those broken only, ascending.
    broken: Vec<Broken>,
    /// Memory under each alternative; empty as long as none was asked.
    alternatives: Box<[Bytes]>,
    /// The keys that will expire, where that is asked for. Few patterns have any.
    expiries: Option<Box<Expiries>>,
    /// What was found in the values of some keys, where that is asked for.
    secrets: Option<Box<Secrets>>,
}

/// Sums over keys; they saturate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sums {
    pub keys: u64,
    pub memory: Bytes,
    pub disk: Bytes,
    pub elements: u64,
    pub name_bytes: Bytes,
    /// The latest expiry; [`NEVER`] when no key has one.
    pub last_expiry: i64,
    /// Bytes of the texts of strings.
    pub string_bytes: Bytes,
    pub without_ttl: Weight,
}

/// The latest expiry of keys that have none.
pub(super) const NEVER: i64 = i64::MIN;

impl Default for Sums {
    fn default() -> Self {
        Sums {
            keys: 0,
            memory: Bytes(0),
            disk: Bytes(0),
            elements: 0,
            name_bytes: Bytes(0),
            string_bytes: Bytes(0),
            last_expiry: NEVER,
            without_ttl: Weight::default(),
        }
    }
}

impl Sums {
    pub fn add(&mut self, other: &Sums) {
        self.keys = self.keys.saturating_add(other.keys);
        self.memory += other.memory;
        self.disk += other.disk;
        self.elements = self.elements.saturating_add(other.elements);
        self.name_bytes += other.name_bytes;
        self.last_expiry = self.last_expiry.max(other.last_expiry);
        self.string_bytes += other.string_bytes;
        self.without_ttl.merge(other.without_ttl);
    }
}

/// What is added up key by key, in as few places as will do: sums are made of it in the end.
#[derive(Debug, Clone, Copy)]
struct Counted {
    /// Keys that never expire, and those that do.
    lifetimes: [Weight; 2],
    /// Elements of collections, and bytes of strings.
    lengths: [u64; 2],
    disk: Bytes,
    name_bytes: Bytes,
    last_expiry: i64,
}

impl Default for Counted {
    fn default() -> Self {
        Counted {
            lifetimes: Default::default(),
            lengths: Default::default(),
            disk: Bytes(0),
            name_bytes: Bytes(0),
            last_expiry: NEVER,
        }
    }
}

impl Counted {
    #[inline]
    fn add(&mut self, record: &Record<'_>) {
        self.lifetimes[usize::from(record.expires_at.is_some())].add(record.memory);
        let length = &mut self.lengths[usize::from(record.kind == Kind::String)];
        *length = length.saturating_add(record.length.unwrap_or(0));
        self.disk += record.disk;
        self.name_bytes += Bytes(record.key.len() as u64);
        self.last_expiry = self.last_expiry.max(record.expires_at.map_or(NEVER, |at| at.0));
    }

    fn merge(&mut self, other: &Counted) {
        Weight::merge_all(&mut self.lifetimes, &other.lifetimes);
        self.lengths.iter_mut().zip(other.lengths).for_each(|(sum, more)| *sum = sum.saturating_add(more));
        self.disk += other.disk;
        self.name_bytes += other.name_bytes;
        self.last_expiry = self.last_expiry.max(other.last_expiry);
    }
}

/// The keys of one pattern that break one rule.
#[derive(Debug, Clone)]
struct Broken {
    rule: u8,
    weight: Weight,
    /// What was measured farthest from what is allowed.
    worst: Violation,
    /// What the remedy would save, for rules that tell.
    saves: Bytes,
    examples: Examples,
}

/// What usual keys need not weigh to be shown.
#[derive(Debug, Clone, Copy)]
struct Lightest {
    /// Of keys that break exactly these rules
    rules: u64,
    /// no lighter one is an example of anything,
    shown: u64,
    /// and none as heavy of this database
    db: u64,
    /// whose name begins behind this.
    beginning: u64,
}

impl Default for Lightest {
    /// Any key may be shown.
    fn default() -> Self {
        Lightest { rules: 0, shown: 0, db: 0, beginning: u64::MAX }
    }
}

impl Lightest {
    /// Whether a key is surely no example.
    #[inline]
    fn passes_over(&self, record: &Record<'_>, rules: u64) -> bool {
        let comes_behind = || record.db == self.db && beginning(record.key) > self.beginning;
        let memory = record.memory.0;
        rules == self.rules && (memory < self.shown || memory == self.shown && comes_behind())
    }

    /// Learns of the last entry of a list that is full.
    fn meet(&mut self, last: &Ranked<()>) {
        if last.weight < self.shown {
            (self.shown, self.db, self.beginning) = (last.weight, last.db, beginning(&last.key));
        } else if last.weight == self.shown {
            let same = last.db == self.db;
            self.beginning = if same { self.beginning.max(beginning(&last.key)) } else { u64::MAX };
        }
    }
}

impl PatternFacts {
    /// Takes a usual key of this pattern into account, which breaks these rules, and says so; or leaves it for
    /// [`PatternFacts::observe`], because it is a new example.
    #[inline]
    pub fn observe_usual(&mut self, record: &Record<'_>, rules: u64) -> bool {
        let lightest = &self.lightest[usize::from(record.expires_at.is_some())];
        if !lightest.passes_over(record, rules) && self.shows(record, rules) {
            return false;
        }
        self.add(record);
        self.each_broken(rules, |broken, _| broken.weight.merge(Weight { keys: 1, memory: record.memory }));
        true
    }

    /// Whether a key that breaks these rules is a new example of anything; if not, learns from which weight on one may be.
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
        let lists = broken().map(|broken| &broken.examples).chain(forever.then_some(&self.without_ttl));
        let mut lightest = Lightest { rules, shown: u64::MAX, ..Lightest::default() };
        // They are full: the key would have been taken.
        lists.filter_map(Examples::last).chain([heaviest]).for_each(|last| lightest.meet(last));
        self.lightest[usize::from(!forever)] = lightest;
        false
    }

    /// What the keys add up to; a string is one element.
    pub fn sums(&self) -> Sums {
        let Counted { lifetimes: [forever, expiring], lengths: [elements, string_bytes], .. } = self.counted;
        Sums {
            keys: forever.keys.saturating_add(expiring.keys),
            memory: forever.memory + expiring.memory,
            disk: self.counted.disk,
            elements: elements.saturating_add(self.kinds[Kind::String as usize]),
            name_bytes: self.counted.name_bytes,
            last_expiry: self.counted.last_expiry,
            string_bytes: Bytes(string_bytes),
            without_ttl: forever,
        }
    }

    /// Counts a key.
    #[inline]
    fn add(&mut self, record: &Record<'_>) {
        self.counted.add(record);
        if let Some(count) = self.kinds.get_mut(record.kind as usize) {
            *count = count.saturating_add(1);
        }
    }

    /// Takes a key of this pattern into account; `judged` says which rules it breaks.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, judged: &Judged) {
        self.add(record);
        let mut candidate = Candidate::new(record);
        if self.heaviest.as_ref().is_none_or(|heaviest| candidate.is_before(heaviest)) {
            self.offer_heaviest(candidate.ranked());
        }
        if record.expires_at.is_none() {
            self.without_ttl.offer(&mut candidate);
        }
        if !record.alternatives.is_empty() {
            self.add_alternatives(record.alternatives);
        }
        self.each_broken(judged.broken, |broken, bit| {
            broken.observe(&mut candidate, judged.violations[bit], judged.savings[bit]);
        });
    }

    /// Shows the entries of these rules to `see`, each with its bit.
    #[inline]
    fn each_broken(&mut self, mut rules: u64, mut see: impl FnMut(&mut Broken, usize)) {
        let mut at = 0;
        while rules != 0 {
            #[expect(clippy::cast_possible_truncation, reason = "at most 63")]
            let rule = rules.trailing_zeros() as u8;
            at = self.place_of(rule, at);
            see(&mut self.broken[at], usize::from(rule));
            rules &= rules - 1;
        }
    }

    /// Takes the expiry of a key into account, if it is still to come. Returns by how many bytes that made this grow.
    #[inline]
    pub fn time(&mut self, record: &Record<'_>, timing: Timing) -> usize {
        let Some(at) = record.expires_at.filter(|&at| at >= timing.reference) else { return 0 };
        let new = if self.expiries.is_none() { size_of::<Expiries>() } else { 0 };
        let expiries = self.expiries.get_or_insert_with(|| Box::new(Expiries::new(timing.most)));
        new + expiries.add(record.key, record.memory, at)
    }

    /// Keeps at most so many expiries. Returns the bytes that they take.
    pub fn keep_expiries(&mut self, most: usize) -> usize {
        let Some(expiries) = &mut self.expiries else { return 0 };
        expiries.keep(most);
        size_of::<Expiries>() + expiries.heap_bytes()
    }

    /// The keys that will expire.
    pub fn expiries(&self) -> Option<&Expiries> {
        self.expiries.as_deref()
    }

    /// Looks into the value of a key, if it belongs to the pattern's sample. Returns by how many bytes that made this grow.
    pub fn inspect(&mut self, record: &Record<'_>, inspection: &Inspection, room: &mut PeekBuffers) -> usize {
        let new = if self.secrets.is_none() { size_of::<Secrets>() } else { 0 };
        new + self.secrets.get_or_insert_default().observe(record, inspection, room)
    }

    /// What was found in the values of some keys.
    pub fn secrets(&self) -> Option<&Secrets> {
        self.secrets.as_deref()
    }

    fn offer_heaviest(&mut self, entry: Ranked<()>) {
        if self.heaviest.as_ref().is_none_or(|heaviest| entry > *heaviest) {
            self.heaviest = Some(entry);
        }
    }

    /// The first that comes decides how many there are: it is the same for all of a run.
    fn add_alternatives(&mut self, more: &[Bytes]) {
        if self.alternatives.is_empty() {
            self.alternatives = more.into();
            return;
        }
        self.alternatives.iter_mut().zip(more).for_each(|(sum, memory)| *sum += *memory);
    }

    /// Memory under each alternative.
    pub fn alternatives(&self) -> &[Bytes] {
        &self.alternatives
    }

    /// The largest difference that an alternative makes, to either side.
    pub fn largest_difference(&self) -> u64 {
        let base = self.sums().memory.0;
        self.alternatives.iter().map(|memory| memory.0.abs_diff(base)).max().unwrap_or(0)
    }

    /// The place of a rule's entry, which is made if there is none; it is not before `at`.
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
            Broken {
                rule,
                weight: Weight::default(),
                worst: Violation { measured: 0, allowed: 0 },
                saves: Bytes(0),
                examples: Examples::default(),
            },
        );
    }

    /// Says that all keys so far were of database `db`.
    pub fn settle_database(&mut self, db: u64) {
        self.lightest = Default::default();
        self.heaviest.iter_mut().for_each(|entry| entry.db = db);
        self.without_ttl.settle_database(db);
        self.secrets.iter_mut().for_each(|secrets| secrets.settle_database(db));
        self.broken.iter_mut().for_each(|broken| broken.examples.settle_database(db));
    }

    /// The heaviest key; none before the first key.
    pub fn heaviest(&self) -> Option<Example> {
        self.heaviest.as_ref().map(example)
    }

    /// The heaviest keys that never expire.
    pub fn without_ttl(&self) -> Vec<Example> {
        self.without_ttl.show()
    }

    /// Rules broken: their bit and what breaks them.
    pub fn broken_rules(&self) -> impl Iterator<Item = (usize, Weight)> {
        self.broken.iter().map(|broken| (usize::from(broken.rule), broken.weight))
    }

    /// The worst violation of a rule.
    pub fn worst(&self, rule: usize) -> Violation {
        let found = self.broken.iter().find(|broken| usize::from(broken.rule) == rule);
        found.map_or(Violation { measured: 0, allowed: 0 }, |broken| broken.worst)
    }

    /// What the remedy of a rule would save.
    pub fn saves(&self, rule: usize) -> Bytes {
        let found = self.broken.iter().find(|broken| usize::from(broken.rule) == rule);
        found.map_or(Bytes(0), |broken| broken.saves)
    }

    /// The heaviest keys that break a rule.
    pub fn breaking(&self, rule: usize) -> Vec<Example> {
        let found = self.broken.iter().find(|broken| usize::from(broken.rule) == rule);
        found.map_or_else(Vec::new, |broken| broken.examples.show())
    }
}

impl Broken {
    #[inline]
    fn observe(&mut self, candidate: &mut Candidate<'_>, violation: Violation, saves: Bytes) {
        self.worst = worse(self.worst, violation);
        self.saves += saves;
        self.weight.merge(Weight { keys: 1, memory: candidate.record.memory });
        self.examples.offer(candidate);
    }
}

/// The one that is farther from what is allowed.
#[inline]
fn worse(one: Violation, other: Violation) -> Violation {
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
        self.add_alternatives(&other.alternatives);
        if let Some(expiries) = other.expiries {
            match &mut self.expiries {
                Some(own) => own.merge(*expiries),
                None => self.expiries = Some(expiries),
            }
        }
        if let Some(secrets) = other.secrets {
            self.secrets.get_or_insert_default().merge(*secrets);
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
mod tests {
    use super::super::examples::LONGEST_EXAMPLE;
    use super::*;
    use crate::aggregate::patterns::tests::record;

    #[test]
    fn facts_stay_small() {
        assert!(size_of::<PatternFacts>() <= 312, "{}", size_of::<PatternFacts>());
    }

    #[test]
    fn kinds_are_numbered_as_listed() {
        assert!(Kind::ALL.iter().enumerate().all(|(i, &kind)| kind as usize == i));
    }

    #[test]
    fn long_names_are_examples_only_in_part() {
        let key = format!("{}ä{}", "x".repeat(LONGEST_EXAMPLE - 1), "y".repeat(5000));
        let mut facts = PatternFacts::default();
        facts.observe(&record(0, key.as_bytes(), 7, None), &Judged::default());
        let shown = facts.heaviest().unwrap();
        assert_eq!(shown.key.as_text().unwrap(), format!("{}…", "x".repeat(LONGEST_EXAMPLE - 1)));
    }

    #[test]
    fn examples_are_the_heaviest_then_the_lowest_database_then_the_smallest_name() {
        let mut facts = PatternFacts::default();
        for (db, key, memory) in [(1, "b", 5), (0, "z", 5), (1, "a", 5), (0, "a", 4), (9, "q", 9), (0, "b", 1)] {
            facts.observe(&record(db, key.as_bytes(), memory, None), &crate::policy::testing::broken(0b100));
        }
        let names =
            |shown: Vec<Example>| shown.iter().map(|e| e.key.as_text().unwrap().to_string()).collect::<Vec<_>>();
        assert_eq!(names(facts.without_ttl()), ["q", "z", "a"]);
        assert_eq!(names(facts.breaking(2)), ["q", "z", "a"]);
        assert!(facts.breaking(1).is_empty());
        assert_eq!(facts.heaviest().unwrap().key.as_text(), Some("q"));
    }
}
