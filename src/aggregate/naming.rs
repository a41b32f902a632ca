//! Keys whose names break a rule, in total and per rule.
//!
//! Which rules a name breaks comes in as a bit mask, made once per key by [`KeyRules::broken`]; the counts per
//! pattern are kept beside the pattern tree under the same bits and come in at the end.

use super::parts::Tally;
use crate::policy::KeyRules;
use crate::record::Record;
use crate::report::{self, NamingRule, PatternWeight};

/// Keys and memory per broken rule.
///
/// Not an [`Aggregate`](super::Aggregate) by its signature, since it must be told what a key breaks, but by its laws.
#[derive(Debug, Clone)]
pub struct Naming {
    any: Tally,
    /// By bit of the mask.
    rules: Vec<Tally>,
}

impl Naming {
    /// Nothing yet.
    pub fn new(rules: &KeyRules) -> Self {
        Naming { any: Tally::default(), rules: vec![Tally::default(); rules.metas().len()] }
    }

    /// Takes one key into account, which breaks the rules whose bits are set. Bits without a rule are ignored.
    #[inline]
    pub fn observe_broken(&mut self, record: &Record<'_>, broken: u64) {
        if broken == 0 {
            return; // the common case
        }
        self.any.add(record.memory);
        let mut left = broken;
        while left != 0 {
            // At most 63: the loop ends at zero.
            if let Some(rule) = self.rules.get_mut(left.trailing_zeros() as usize) {
                rule.add(record.memory);
            }
            left &= left - 1;
        }
    }

    /// Takes everything into account that `other` has seen.
    pub fn merge(&mut self, other: Self) {
        self.any.merge(other.any);
        Tally::merge_all(&mut self.rules, &other.rules);
    }

    /// The report's section. `rules` are those that the masks came from; `patterns` are the patterns with most keys
    /// that break each of them, by bit.
    pub fn finish(self, rules: &KeyRules, patterns: Vec<Vec<PatternWeight>>) -> report::Naming {
        let patterns = patterns.into_iter().chain(std::iter::repeat_with(Vec::new));
        let row = |((meta, tally), patterns): ((&&crate::policy::Meta, Tally), Vec<PatternWeight>)| NamingRule {
            rule: meta.id,
            severity: meta.severity.name(),
            demand: meta.what.to_owned(),
            keys: tally.keys,
            memory: tally.memory,
            patterns,
        };
        report::Naming {
            keys: self.any.keys,
            memory: self.any.memory,
            rules: rules.metas().iter().zip(self.rules).zip(patterns).map(row).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Aggregate;
    use super::super::testing::{OwnedRecord, check_laws, samples};
    use super::*;
    use crate::units::Bytes;

    /// Naming with the masks of the rules themselves.
    struct Checked(Naming, KeyRules);

    impl Checked {
        fn new() -> Self {
            let rules = KeyRules::default_rules(b":");
            Checked(Naming::new(&rules), rules)
        }

        fn finish(self) -> report::Naming {
            self.0.finish(&self.1, Vec::new())
        }
    }

    impl Aggregate for Checked {
        fn observe(&mut self, record: &Record<'_>) {
            self.0.observe_broken(record, self.1.broken(record.key));
        }
        fn merge(&mut self, other: Self) {
            self.0.merge(other.0);
        }
    }

    #[test]
    fn a_key_that_breaks_two_rules_counts_once_in_the_total() {
        let mut naming = Checked::new();
        for key in ["user:1", "user", "a b", "user:"] {
            naming.observe(&OwnedRecord::string(key, 1, 10).record());
        }
        let section = naming.finish();
        assert_eq!((section.keys, section.memory), (3, Bytes(30)));
        let rules: Vec<_> = section.rules.iter().map(|rule| (rule.rule, rule.severity, rule.keys)).collect();
        let expected = [
            ("key.empty-segment", "must", 1),
            ("key.length", "should", 0),
            ("key.prefix", "must", 2),
            ("key.special-chars", "must", 1),
        ];
        assert_eq!(rules, expected);
    }

    #[test]
    fn patterns_come_to_the_rule_of_their_bit_and_unknown_bits_do_no_harm() {
        let rules = KeyRules::default_rules(b":");
        let mut naming = Naming::new(&rules);
        naming.observe_broken(&OwnedRecord::string("a", 1, 10).record(), 1 << 63 | 0b10);
        let pattern = PatternWeight { pattern: "a".into(), keys: 1, memory: Bytes(10), examples: Vec::new() };
        let section = naming.finish(&rules, vec![Vec::new(), vec![pattern.clone()]]);
        let by_rule: Vec<_> = section.rules.iter().map(|rule| (rule.keys, rule.patterns.len())).collect();
        assert_eq!(by_rule, [(0, 0), (1, 1), (0, 0), (0, 0)]);
    }

    proptest::proptest! {
        #[test]
        fn laws(sample in samples()) {
            check_laws(&sample, Checked::new, Checked::finish);
        }
    }
}
