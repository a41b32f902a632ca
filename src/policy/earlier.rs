//! Weight of the patterns of an earlier snapshot, for rules about growth.

use std::collections::BTreeMap;

use crate::pattern::segment::Separators;
use crate::report::{NamedReport, Weight};
use crate::units::Bytes;

/// Patterns of an earlier report with their weights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierPatterns {
    /// Name of the earlier report.
    pub name: String,
    /// Keys and memory by pattern.
    pub patterns: BTreeMap<String, Weight>,
    /// True if the list holds all patterns; otherwise only the heaviest ones.
    pub complete: bool,
}

/// Weight of a pattern in an earlier snapshot, as far as known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierWeight {
    /// Exact weight.
    Known(Weight),
    /// Pattern did not exist.
    Absent,
    /// Pattern was lighter than this, or did not exist.
    Below(Bytes),
    /// Weight is unknown.
    Unknown,
}

impl EarlierWeight {
    /// Returns the most memory that the pattern can have taken; `None` if nothing is known.
    pub fn most(self) -> Option<Bytes> {
        match self {
            EarlierWeight::Known(weight) => Some(weight.memory),
            EarlierWeight::Absent => Some(Bytes(0)),
            EarlierWeight::Below(bound) => Some(bound),
            EarlierWeight::Unknown => None,
        }
    }
}

impl EarlierPatterns {
    /// Returns the patterns of an earlier report; `None` if its snapshot was not read completely.
    pub fn of(NamedReport { name, report }: &NamedReport) -> Option<EarlierPatterns> {
        let patterns =
            report.weights_by_pattern().into_iter().map(|(text, weight)| (text.to_owned(), weight)).collect();
        let complete = report.lists_all_patterns();
        report.complete.then(|| EarlierPatterns { name: name.clone(), patterns, complete })
    }

    /// Returns the earlier weight of a pattern.
    ///
    /// A level that has since been collapsed to `{*}` is compared with the sum of all earlier patterns that it covers.
    pub fn before(&self, pattern: &str, separators: &Separators) -> EarlierWeight {
        if let Some(weight) = self.patterns.get(pattern) {
            return EarlierWeight::Known(*weight);
        }
        let mut collapsed = Weight::default();
        if pattern.contains(ANY) {
            for (_, weight) in self.patterns.iter().filter(|(earlier, _)| covers(pattern, earlier, separators)) {
                collapsed.merge(*weight);
            }
        }
        match self.patterns.values().map(|weight| weight.memory).min() {
            _ if collapsed.keys > 0 => EarlierWeight::Known(collapsed),
            _ if self.complete => EarlierWeight::Absent,
            Some(least) => EarlierWeight::Below(least),
            None => EarlierWeight::Unknown,
        }
    }
}

/// Segment that stands for a collapsed level.
const ANY: &str = "{*}";

/// Returns whether `pattern`, whose crowded levels are collapsed, covers every key of the pattern `earlier`.
fn covers(pattern: &str, earlier: &str, separators: &Separators) -> bool {
    let is_separator = |c: char| u8::try_from(c).is_ok_and(|byte| separators.contains(byte));
    let (mut one, mut other) = (pattern.split(is_separator), earlier.split(is_separator));
    loop {
        match (one.next(), other.next()) {
            (None, None) => return true,
            (Some(ANY), Some(_)) => {}
            (Some(one), Some(other)) if one == other => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(patterns: &[(&str, u64, u64)], complete: bool) -> EarlierPatterns {
        let weight =
            |&(text, keys, memory): &(&str, u64, u64)| (text.to_owned(), Weight { keys, memory: Bytes(memory) });
        EarlierPatterns { name: "old".to_owned(), patterns: patterns.iter().map(weight).collect(), complete }
    }

    #[test]
    fn an_unlisted_pattern_is_new_only_if_the_list_is_complete() {
        let list = [("a:{int}", 5, 500), ("b:{int}", 1, 100)];
        let known = EarlierWeight::Known(Weight { keys: 5, memory: Bytes(500) });
        assert_eq!(earlier(&list, true).before("a:{int}", &Separators::default()), known);
        assert_eq!(earlier(&list, true).before("c:{int}", &Separators::default()), EarlierWeight::Absent);
        assert_eq!(earlier(&list, false).before("c:{int}", &Separators::default()), EarlierWeight::Below(Bytes(100)));
        assert_eq!(earlier(&[], false).before("c:{int}", &Separators::default()), EarlierWeight::Unknown);
    }

    #[test]
    fn a_collapsed_level_is_compared_with_the_sum_of_its_patterns() {
        let old = earlier(&[("a:x:n", 1, 10), ("a:y:n", 2, 20), ("a:y:m", 4, 40), ("a:z", 8, 80)], true);
        assert_eq!(
            old.before("a:{*}:n", &Separators::default()),
            EarlierWeight::Known(Weight { keys: 3, memory: Bytes(30) })
        );
        assert_eq!(old.before("b:{*}:n", &Separators::default()), EarlierWeight::Absent);
    }
}
