//! Weight of the patterns of an earlier snapshot, for rules about growth.

use std::collections::BTreeMap;

use crate::pattern::segment::Separators;
use crate::report::{NamedReport, PatternRow, Weight};
use crate::units::Bytes;

/// Patterns of an earlier report with their weights.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EarlierPatterns {
    /// Name of the earlier report.
    pub name: String,
    /// Memory of all its keys.
    pub memory: Bytes,
    /// True if the memory of some of its keys is unknown.
    pub lacks_memory: bool,
    /// Keys and memory by pattern.
    patterns: BTreeMap<String, Weight>,
    /// Those with a collapsed level.
    collapsed: Vec<(String, Weight)>,
    /// Weight of a pattern that is not listed.
    unlisted: EarlierWeight,
}

/// Weight of a pattern in an earlier snapshot, as far as known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EarlierWeight {
    /// Exact weight.
    Known(Weight),
    /// Pattern did not exist.
    Absent,
    /// Pattern took at most this, or did not exist.
    AtMost(Bytes),
    /// Weight is unknown.
    #[default]
    Unknown,
}

impl EarlierWeight {
    /// Returns the most memory that the pattern can have taken; `None` if nothing is known.
    pub fn most(self) -> Option<Bytes> {
        match self {
            EarlierWeight::Known(weight) => Some(weight.memory),
            EarlierWeight::Absent => Some(Bytes(0)),
            EarlierWeight::AtMost(bound) => Some(bound),
            EarlierWeight::Unknown => None,
        }
    }
}

impl EarlierPatterns {
    /// Returns the patterns of an earlier report; `None` if they cannot be compared with those of a run with this selection and
    /// these separators: its snapshot was not read completely, it counted other keys, or it divided names elsewhere.
    pub fn of(earlier: &NamedReport, selection: &[String], separators: &[String]) -> Option<EarlierPatterns> {
        let NamedReport { name, report } = earlier;
        let options = &report.options;
        // Reports of the first versions do not name their separators.
        let divided_alike = options.separators.is_empty() || options.separators == separators;
        if !report.complete || options.selection != selection || !divided_alike {
            return None;
        }
        // Memory that is not wholly known had no limit: a pattern of such keys cannot be said to have grown.
        let weight = |row: &PatternRow| Weight {
            keys: row.keys,
            memory: if row.unknown.is_none() { row.memory } else { Bytes(u64::MAX) },
        };
        let patterns = report.patterns.list.iter().map(|row| (row.pattern.clone(), weight(row))).collect();
        let mut known = Self::listed(name, report.totals.memory, patterns, report.lists_all_patterns());
        known.lacks_memory = !report.totals.unknown.is_none();
        if known.lacks_memory
            && let EarlierWeight::AtMost(bound) = &mut known.unlisted
        {
            *bound = Bytes(u64::MAX);
        }
        Some(known)
    }

    /// Creates a list that holds all patterns if `complete`, otherwise only the heaviest ones.
    pub fn listed(name: &str, memory: Bytes, patterns: BTreeMap<String, Weight>, complete: bool) -> EarlierPatterns {
        let unlisted = match patterns.values().map(|weight| weight.memory).min() {
            _ if complete => EarlierWeight::Absent,
            Some(least) => EarlierWeight::AtMost(least),
            None => EarlierWeight::Unknown,
        };
        let collapsed = patterns.iter().filter(|(text, _)| text.contains(ANY));
        let collapsed = collapsed.map(|(text, weight)| (text.clone(), *weight)).collect();
        EarlierPatterns { name: name.to_owned(), memory, lacks_memory: false, patterns, collapsed, unlisted }
    }

    /// Returns whether anything is known about patterns: an earlier report that lists none of several says nothing.
    pub fn is_known(&self) -> bool {
        self.unlisted != EarlierWeight::Unknown
    }

    /// Returns the earlier weight of a pattern.
    ///
    /// A level that has since been collapsed to `{*}` is compared with the sum of all earlier patterns that it covers. A pattern
    /// below a level that was collapsed then took at most as much as that.
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
        if collapsed.keys > 0 {
            return EarlierWeight::Known(collapsed);
        }
        let above = self.collapsed.iter().filter(|(earlier, _)| covers(earlier, pattern, separators));
        above.map(|(_, weight)| weight.memory).max().map_or(self.unlisted, EarlierWeight::AtMost)
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
        EarlierPatterns::listed("old", Bytes(1000), patterns.iter().map(weight).collect(), complete)
    }

    #[test]
    fn an_unlisted_pattern_is_new_only_if_the_list_is_complete() {
        let list = [("a:{int}", 5, 500), ("b:{int}", 1, 100)];
        let known = EarlierWeight::Known(Weight { keys: 5, memory: Bytes(500) });
        assert_eq!(earlier(&list, true).before("a:{int}", &Separators::default()), known);
        assert_eq!(earlier(&list, true).before("c:{int}", &Separators::default()), EarlierWeight::Absent);
        assert_eq!(earlier(&list, false).before("c:{int}", &Separators::default()), EarlierWeight::AtMost(Bytes(100)));
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

    #[test]
    fn a_pattern_of_a_level_that_was_collapsed_is_not_new() {
        let old = earlier(&[("a:{*}:n", 9, 90), ("b", 1, 10)], true);
        assert_eq!(old.before("a:x:n", &Separators::default()), EarlierWeight::AtMost(Bytes(90)));
        assert_eq!(old.before("a:x:m", &Separators::default()), EarlierWeight::Absent);
    }

    #[test]
    fn reports_of_other_keys_or_other_separators_are_not_compared() {
        let mut report = crate::analyze::examples::empty_report();
        report.complete = true;
        (report.options.selection, report.options.separators) = (vec!["--db 0".to_owned()], vec![":".to_owned()]);
        let mut named = NamedReport { name: "old".to_owned(), report };
        let of = |named: &NamedReport, selection: &str, separator: &str| {
            EarlierPatterns::of(named, &[selection.to_owned()], &[separator.to_owned()]).is_some()
        };
        assert!(of(&named, "--db 0", ":") && !of(&named, "--db 1", ":") && !of(&named, "--db 0", "/"));
        named.report.options.separators.clear();
        assert!(of(&named, "--db 0", "/"));
        named.report.complete = false;
        assert!(!of(&named, "--db 0", ":"));
    }
}
