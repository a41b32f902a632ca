//! Rules about big keys.

pub mod collection_hard;
pub mod elements;
pub mod expiring;
pub mod hash_fields;
pub mod string;
pub mod total;

use crate::policy::KeyView;
use crate::policy::params::Params;
use crate::policy::rule::{BuiltRule, KeyRule, Known, Need, SizeTest, Violation};
use crate::record::Kind;

/// Types that the standards call collections.
const COLLECTIONS: &[Kind] = &[Kind::List, Kind::Set, Kind::Zset, Kind::Hash];

/// Limits the length of keys of some types: bytes of a string, elements of a collection.
#[derive(Debug, Clone, Copy)]
struct NotLonger {
    max: u64,
    kinds: &'static [Kind],
}

impl NotLonger {
    /// Builds the rule with the limit that a policy sets.
    fn built(params: &Params, kinds: &'static [Kind]) -> BuiltRule {
        BuiltRule::Key(Box::new(NotLonger { max: params.number("max"), kinds }))
    }
}

impl KeyRule for NotLonger {
    fn check(&self, key: &KeyView<'_>) -> Option<Violation> {
        let measured = key.record.length.unwrap_or_default();
        let breaks = measured > self.max && !key.record.is_hyperloglog();
        breaks.then_some(Violation { measured, allowed: self.max })
    }

    fn needs(&self, known: &Known<'_>) -> Option<Need> {
        let strings_only = self.kinds == [Kind::String];
        known.lacks_values().filter(|_| !strings_only)
    }

    fn kinds(&self) -> &'static [Kind] {
        self.kinds
    }

    fn size_test(&self, _: Kind) -> Option<SizeTest> {
        Some(SizeTest::Length(self.max))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_types_that_the_standards_name_are_collections() {
        let other = [Kind::String, Kind::Stream, Kind::Array, Kind::Module];
        assert!(Kind::ALL.iter().all(|kind| COLLECTIONS.contains(kind) != other.contains(kind)));
    }
}
