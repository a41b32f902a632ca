//! An earlier snapshot, as far as rules compare a later one with it: the weight of each of its patterns.

use std::collections::BTreeMap;

use crate::pattern::segment::Separators;
use crate::report::{NamedReport, Weight};
use crate::units::Bytes;

/// The patterns of an earlier report.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierPatterns {
    /// What the earlier report is called.
    pub name: String,
    /// Its patterns with their keys and memory.
    pub patterns: BTreeMap<String, Weight>,
    /// Whether these are all patterns that it had. Otherwise they are the heaviest.
    pub complete: bool,
}

/// What is known of a pattern's weight in an earlier snapshot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EarlierWeight {
    /// It weighed this much.
    Known(Weight),
    /// There was none.
    Absent,
    /// It was lighter than this, if it was there at all.
    Below(Bytes),
    /// Nothing is known.
    Unknown,
}

impl EarlierWeight {
    /// The most that it can have taken; `None` if nothing is known.
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
    /// Returns the patterns of an earlier report, unless its snapshot could not be read whole.
    pub fn of(NamedReport { name, report }: &NamedReport) -> Option<EarlierPatterns> {
        let patterns =
            report.weights_by_pattern().into_iter().map(|(text, weight)| (text.to_owned(), weight)).collect();
        let complete = report.lists_all_patterns();
        report.complete.then(|| EarlierPatterns { name: name.clone(), patterns, complete })
    }

    /// What a pattern weighed. A level that has collapsed to `{*}` since is held against all that was there before.
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

/// What a crowded level shows as.
const ANY: &str = "{*}";

/// Whether every key of `earlier` would be one of `pattern`, whose crowded levels are collapsed.
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
    fn a_pattern_that_was_not_there_is_new_only_if_all_are_known() {
        let list = [("a:{int}", 5, 500), ("b:{int}", 1, 100)];
        let known = EarlierWeight::Known(Weight { keys: 5, memory: Bytes(500) });
        assert_eq!(earlier(&list, true).before("a:{int}", &Separators::default()), known);
        assert_eq!(earlier(&list, true).before("c:{int}", &Separators::default()), EarlierWeight::Absent);
        assert_eq!(earlier(&list, false).before("c:{int}", &Separators::default()), EarlierWeight::Below(Bytes(100)));
        assert_eq!(earlier(&[], false).before("c:{int}", &Separators::default()), EarlierWeight::Unknown);
    }

    #[test]
    fn a_level_that_has_collapsed_since_is_not_new() {
        let old = earlier(&[("a:x:n", 1, 10), ("a:y:n", 2, 20), ("a:y:m", 4, 40), ("a:z", 8, 80)], true);
        assert_eq!(
            old.before("a:{*}:n", &Separators::default()),
            EarlierWeight::Known(Weight { keys: 3, memory: Bytes(30) })
        );
        assert_eq!(old.before("b:{*}:n", &Separators::default()), EarlierWeight::Absent);
    }
}
