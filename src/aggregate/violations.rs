//! Violations of rules about keys: per rule, per entry of the data dictionary and per budget; and exempted keys.
//!
//! [`Checks::judge`] computes once per key which rules it breaks, as bits; counts per pattern are kept in the tree of
//! patterns under the same bits.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::parts::ColdKeys;
use crate::policy::rules::ttl::missing;
use crate::policy::{Checks, Judged, Severity};
use crate::record::Record;
use crate::report::{Unknown, Weight};
use crate::units::Bytes;

/// Counts of violations.
///
/// Keeps the laws of an [`Aggregate`](super::Aggregate) but not its signature, since it needs the verdict on each key.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Violations {
    /// Keys that break a rule about names.
    pub naming: Weight,
    /// Keys that break a rule, by severity, most severe first, as in [`Severity::ALL`]. A key counts once, under its
    /// most severe violation.
    pub severities: [Weight; Severity::ALL.len()],
    /// By bit of the rule.
    pub rules: Vec<Weight>,
    /// Memory that the remedy would save, by bit of the rule.
    pub savings: Vec<Bytes>,
    /// All keys of each dictionary entry.
    pub entries: Vec<Weight>,
    /// Keys without expiry of each dictionary entry.
    pub entries_without_ttl: Vec<Weight>,
    /// Keys that match no entry.
    pub unregistered: Weight,
    /// Keys of each dictionary entry that are out of use.
    pub entries_cold: Vec<ColdKeys>,
    /// Keys that match no entry and are out of use.
    pub unregistered_cold: ColdKeys,
    /// By dictionary entry and bit; `None` for keys without an entry.
    pub by_entry: BTreeMap<(Option<u16>, u8), Weight>,
    /// Keys that break any rule, by dictionary entry.
    pub entry_any: BTreeMap<Option<u16>, Weight>,
    /// All keys of each budget.
    pub budgets: Vec<Weight>,
    /// Keys of each budget whose memory is unknown.
    pub budgets_unknown: Vec<Unknown>,
    /// Exempted violations, by exemption and bit.
    pub excused: BTreeMap<(u16, u8), Weight>,
    /// Keys that break `ttl.missing`, by position of the file.
    pub without_ttl: BTreeMap<usize, Weight>,
    #[serde(skip)]
    masks: RuleMasks,
}

/// Sets of rule bits.
#[derive(Debug, Clone, Copy, Default)]
struct RuleMasks {
    naming: u64,
    severities: [u64; Severity::ALL.len()],
    missing_ttl: u64,
    dictionary: bool,
}

impl Violations {
    /// Creates an empty aggregate for these checks.
    pub fn new(checks: &Checks) -> Self {
        let mut masks = RuleMasks { dictionary: checks.has_dictionary(), ..RuleMasks::default() };
        checks.naming_bits().for_each(|bit| masks.naming |= 1 << bit);
        for (bit, check) in checks.keys.iter().enumerate() {
            let places = Severity::ALL.iter().zip(&mut masks.severities);
            places.filter(|(severity, _)| **severity == check.severity).for_each(|(_, mask)| *mask |= 1 << bit);
            masks.missing_ttl |= u64::from(check.meta.id == missing::ID) << bit;
        }
        Violations {
            naming: Weight::default(),
            severities: Default::default(),
            rules: vec![Weight::default(); checks.keys.len()],
            savings: vec![Bytes(0); checks.keys.len()],
            entries: vec![Weight::default(); checks.policy.entries.len()],
            entries_without_ttl: vec![Weight::default(); checks.policy.entries.len()],
            unregistered: Weight::default(),
            entries_cold: vec![ColdKeys::default(); checks.policy.entries.len()],
            unregistered_cold: ColdKeys::default(),
            by_entry: BTreeMap::new(),
            entry_any: BTreeMap::new(),
            budgets: vec![Weight::default(); checks.budgets.len()],
            budgets_unknown: vec![Unknown::default(); checks.budgets.len()],
            excused: BTreeMap::new(),
            without_ttl: BTreeMap::new(),
            masks,
        }
    }

    /// Adds a key with its verdict.
    #[inline]
    pub fn observe(&mut self, record: &Record<'_>, judged: &Judged, checks: &Checks) {
        if self.masks.dictionary {
            self.observe_entry(record, judged.matched.entry);
        }
        if let Some(place) = judged.matched.budget.map(usize::from)
            && let (Some(budget), Some(unknown)) = (self.budgets.get_mut(place), self.budgets_unknown.get_mut(place))
        {
            budget.add(record.memory);
            unknown.note(record.memory, record.disk);
        }
        if judged.broken != 0 {
            self.observe_broken(record, judged);
        }
        if judged.excused != 0 {
            for bit in bits(judged.excused) {
                if let Some(exemption) = checks.exemption(judged, usize::from(bit)) {
                    self.excused.entry((exemption, bit)).or_default().add(record.memory);
                }
            }
        }
    }

    fn observe_entry(&mut self, record: &Record<'_>, entry: Option<u16>) {
        match entry.map(usize::from).and_then(|entry| Some((self.entries.get_mut(entry)?, entry))) {
            Some((tally, entry)) => {
                tally.add(record.memory);
                if record.expires_at.is_none() {
                    self.entries_without_ttl[entry].add(record.memory);
                }
            }
            None => self.unregistered.add(record.memory),
        }
        if let Some(idle) = ColdKeys::idle_time(record) {
            let place = entry.and_then(|entry| self.entries_cold.get_mut(usize::from(entry)));
            place.unwrap_or(&mut self.unregistered_cold).add(record, idle);
        }
    }

    /// Adds keys of a file that break these rules, none of which is exempt or saves memory.
    pub fn add_usual(&mut self, file: usize, broken: u64, keys: Weight) {
        if keys.keys == 0 {
            return;
        }
        if broken & self.masks.naming != 0 {
            self.naming.merge(keys);
        }
        if let Some(place) = self.masks.severities.iter().position(|mask| broken & mask != 0) {
            self.severities[place].merge(keys);
        }
        if broken & self.masks.missing_ttl != 0 {
            self.without_ttl.entry(file).or_default().merge(keys);
        }
        for bit in bits(broken) {
            if let Some(rule) = self.rules.get_mut(usize::from(bit)) {
                rule.merge(keys);
            }
        }
    }

    fn observe_broken(&mut self, record: &Record<'_>, judged: &Judged) {
        self.add_usual(record.file, judged.broken, Weight { keys: 1, memory: record.memory });
        for bit in bits(judged.broken) {
            if let Some(savings) = self.savings.get_mut(usize::from(bit)) {
                *savings += judged.savings[usize::from(bit)];
            }
            if self.masks.dictionary {
                self.by_entry.entry((judged.matched.entry, bit)).or_default().add(record.memory);
            }
        }
        if self.masks.dictionary {
            self.entry_any.entry(judged.matched.entry).or_default().add(record.memory);
        }
    }

    /// Returns whether stored counts can be those of these checks.
    pub fn fit(&self, checks: &Checks) -> bool {
        let (rules, entries, budgets) = (checks.keys.len(), checks.policy.entries.len(), checks.budgets.len());
        let is_rule = |bit: u8| usize::from(bit) < rules;
        let is_entry = |entry: Option<u16>| entry.is_none_or(|entry| usize::from(entry) < entries);
        [self.rules.len(), self.savings.len()] == [rules; 2]
            && [self.entries.len(), self.entries_without_ttl.len(), self.entries_cold.len()] == [entries; 3]
            && [self.budgets.len(), self.budgets_unknown.len()] == [budgets; 2]
            && self.by_entry.keys().all(|&(entry, bit)| is_entry(entry) && is_rule(bit))
            && self.entry_any.keys().all(|&entry| is_entry(entry))
            && self.excused.keys().all(|&(_, bit)| is_rule(bit))
    }

    /// Adds everything that `other` has observed.
    pub fn merge(&mut self, other: Self) {
        self.naming.merge(other.naming);
        Weight::merge_all(&mut self.severities, &other.severities);
        Weight::merge_all(&mut self.rules, &other.rules);
        self.savings.iter_mut().zip(other.savings).for_each(|(sum, more)| *sum += more);
        Weight::merge_all(&mut self.entries, &other.entries);
        Weight::merge_all(&mut self.entries_without_ttl, &other.entries_without_ttl);
        self.unregistered.merge(other.unregistered);
        self.entries_cold.iter_mut().zip(&other.entries_cold).for_each(|(sum, more)| sum.merge(more));
        self.unregistered_cold.merge(&other.unregistered_cold);
        Weight::merge_all(&mut self.budgets, &other.budgets);
        self.budgets_unknown.iter_mut().zip(other.budgets_unknown).for_each(|(sum, more)| sum.merge(more));
        other.by_entry.into_iter().for_each(|(key, tally)| self.by_entry.entry(key).or_default().merge(tally));
        other.entry_any.into_iter().for_each(|(key, tally)| self.entry_any.entry(key).or_default().merge(tally));
        other.excused.into_iter().for_each(|(key, tally)| self.excused.entry(key).or_default().merge(tally));
        other.without_ttl.into_iter().for_each(|(file, tally)| self.without_ttl.entry(file).or_default().merge(tally));
    }
}

/// Iterates over the positions of the bits that are set.
fn bits(mask: u64) -> impl Iterator<Item = u8> {
    let mut left = mask;
    std::iter::from_fn(move || {
        #[expect(clippy::cast_possible_truncation, reason = "at most 63")]
        let bit = (left != 0).then(|| left.trailing_zeros() as u8)?;
        left &= left - 1;
        Some(bit)
    })
}

#[cfg(test)]
mod tests {
    use super::super::Aggregate;
    use super::super::testing::{OwnedRecord, check_laws, samples};
    use super::*;
    use crate::pattern::PatternBuf;
    use crate::pattern::classify::Classifier;
    use crate::policy::testing::checks;

    /// Violations as an [`Aggregate`] that judges the keys itself.
    struct JudgedViolations(Violations, Checks, Judged, PatternBuf);

    const POLICY: &str =
        "extends = \"default\"\n[[dictionary]]\npattern = \"a:**\"\n[[exempt]]\npattern = \"b:**\"\nreason = \"old\"\n";

    impl JudgedViolations {
        fn new() -> Self {
            let checks = checks(POLICY);
            JudgedViolations(Violations::new(&checks), checks, Judged::default(), PatternBuf::default())
        }
    }

    impl serde::Serialize for JudgedViolations {
        fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            self.0.serialize(serializer)
        }
    }

    impl<'de> serde::Deserialize<'de> for JudgedViolations {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let JudgedViolations(_, checks, judged, pattern) = JudgedViolations::new();
            Ok(JudgedViolations(Violations::deserialize(deserializer)?, checks, judged, pattern))
        }
    }

    impl Aggregate for JudgedViolations {
        fn observe(&mut self, record: &Record<'_>) {
            Classifier::default().classify(record.key, &mut self.3);
            self.1.judge(record, &self.3, &mut self.2);
            self.0.observe(record, &self.2, &self.1);
        }
        fn merge(&mut self, other: Self) {
            self.0.merge(other.0);
        }
    }

    #[test]
    fn a_key_that_breaks_two_rules_counts_once_in_the_totals() {
        let mut violations = JudgedViolations::new();
        for key in ["user:1", "user", "a b", "user:", "a:b", "b:"] {
            violations.observe(&OwnedRecord::string(key, 1, 10).record());
        }
        let found = &violations.0;
        assert_eq!(found.naming, Weight { keys: 3, memory: Bytes(30) });
        assert_eq!(found.severities[0].keys, 3);
        assert_eq!((found.entries[0].keys, found.unregistered.keys), (1, 5));
        assert_eq!(found.excused.values().map(|tally| tally.keys).max(), Some(1));
    }

    #[test]
    fn keys_without_expiry_are_counted_by_file() {
        let mut violations = JudgedViolations::new();
        for (file, key, expires) in [(0, "user:1", false), (2, "user:2", true), (2, "user:3", false), (0, "b:4", false)]
        {
            let mut record = OwnedRecord::string(key, 1, 10);
            (record.rest.file, record.rest.expires_at) = (file, expires.then_some(crate::units::Millis(1)));
            violations.observe(&record.record());
        }
        let of = |file| violations.0.without_ttl.get(&file).map(|found| found.keys);
        assert_eq!((of(0), of(1), of(2)), (Some(1), None, Some(1)), "`b:4` is exempt");
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, JudgedViolations::new, |judging| format!("{:?}", judging.0));
        }
    }
}
