//! Weight of the patterns of an earlier snapshot, for rules about growth.

use std::collections::BTreeMap;

use crate::pattern::joined::{COLLAPSED, TreeTexts, join};
use crate::pattern::segment::Separators;
use crate::report::diff::growth::Unlisted;
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
    /// True if its tree of patterns was in strict mode.
    pub strict: bool,
    /// Keys and memory by pattern.
    patterns: BTreeMap<String, Weight>,
    /// Weight of a pattern that is not listed.
    unlisted: EarlierWeight,
    /// Memory of all patterns that are not listed.
    rest: Bytes,
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
        let mut known = Self::listed(name, report.totals.memory, patterns, report.unlisted_patterns());
        known.lacks_memory = !report.totals.unknown.is_none();
        known.strict = report.has_strict_patterns();
        if known.lacks_memory
            && let EarlierWeight::AtMost(bound) = &mut known.unlisted
        {
            (*bound, known.rest) = (Bytes(u64::MAX), Bytes(u64::MAX));
        }
        Some(known)
    }

    /// Creates a list of the heaviest patterns, beside which `hidden` ones are not listed.
    pub fn listed(name: &str, memory: Bytes, patterns: BTreeMap<String, Weight>, hidden: u64) -> EarlierPatterns {
        let Unlisted { one, all } = Unlisted::beside(patterns.values().map(|weight| weight.memory), hidden, memory);
        let unlisted = match hidden {
            0 => EarlierWeight::Absent,
            _ if patterns.is_empty() => EarlierWeight::Unknown,
            _ => EarlierWeight::AtMost(Bytes(one)),
        };
        let name = name.to_owned();
        EarlierPatterns { name, memory, lacks_memory: false, strict: false, patterns, unlisted, rest: Bytes(all) }
    }

    /// Returns whether anything is known about patterns: an earlier report that lists none of several says nothing.
    pub fn is_known(&self) -> bool {
        self.unlisted != EarlierWeight::Unknown
    }

    /// Returns the earlier weight of each of some patterns of a tree, which is in strict mode or not.
    ///
    /// A level that has since been collapsed to `{*}` is compared with the sum of all earlier patterns that it covers. A pattern
    /// below a level that was collapsed then took at most as much as that.
    pub fn before(&self, patterns: &[&str], strict: bool, separators: &Separators) -> Vec<EarlierWeight> {
        let (texts, weights): (Vec<&str>, Vec<Weight>) =
            self.patterns.iter().map(|(text, weight)| (text.as_str(), *weight)).unzip();
        let sides = [TreeTexts { texts: &texts, strict: self.strict }, TreeTexts { texts: patterns, strict }];
        let mut before = vec![self.unlisted; patterns.len()];
        for row in join(sides, separators) {
            let [then, now] = &row.members;
            let listed: Vec<Weight> = then.iter().filter_map(|at| weights.get(*at).copied()).collect();
            let is_whole = row.is_whole(0, sides);
            for &at in now {
                if let (Some(pattern), Some(before)) = (patterns.get(at), before.get_mut(at)) {
                    *before = self.weight(*pattern == row.pattern, pattern.contains(COLLAPSED), is_whole, &listed);
                }
            }
        }
        before
    }

    /// Returns the earlier weight of a pattern that may have been counted under the `listed` ones: `is_row` if all of their keys
    /// are now under it, `is_whole` if none of its keys was under another.
    fn weight(&self, is_row: bool, is_collapsed: bool, is_whole: bool, listed: &[Weight]) -> EarlierWeight {
        let sum: Weight = listed.iter().copied().sum();
        // A pattern without `{*}` had all its keys under one pattern.
        let heaviest = || listed.iter().map(|weight| weight.memory).max().unwrap_or_default();
        let bound = || if is_collapsed { sum.memory } else { heaviest() };
        match self.unlisted {
            _ if is_row && is_whole => EarlierWeight::Known(sum),
            EarlierWeight::Absent if listed.is_empty() => EarlierWeight::Absent,
            EarlierWeight::Absent if is_row => EarlierWeight::Known(sum),
            EarlierWeight::Absent => EarlierWeight::AtMost(bound()),
            EarlierWeight::AtMost(_) if is_collapsed => EarlierWeight::AtMost(sum.memory + self.rest),
            EarlierWeight::AtMost(least) => EarlierWeight::AtMost(heaviest().max(least)),
            unknown => unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn earlier(patterns: &[(&str, u64, u64)], complete: bool) -> EarlierPatterns {
        let weight =
            |&(text, keys, memory): &(&str, u64, u64)| (text.to_owned(), Weight { keys, memory: Bytes(memory) });
        let hidden = if complete { 0 } else { u64::MAX };
        EarlierPatterns::listed("old", Bytes(1000), patterns.iter().map(weight).collect(), hidden)
    }

    fn before(earlier: &EarlierPatterns, pattern: &str) -> EarlierWeight {
        earlier.before(&[pattern], false, &Separators::default())[0]
    }

    fn known(keys: u64, memory: u64) -> EarlierWeight {
        EarlierWeight::Known(Weight { keys, memory: Bytes(memory) })
    }

    #[test]
    fn an_unlisted_pattern_is_new_only_if_the_list_is_complete() {
        let list = [("a:{int}", 5, 500), ("b:{int}", 1, 100)];
        assert_eq!(before(&earlier(&list, true), "a:{int}"), known(5, 500));
        assert_eq!(before(&earlier(&list, false), "a:{int}"), known(5, 500));
        assert_eq!(before(&earlier(&list, true), "c:{int}"), EarlierWeight::Absent);
        assert_eq!(before(&earlier(&list, false), "c:{int}"), EarlierWeight::AtMost(Bytes(100)));
        assert_eq!(before(&earlier(&[], false), "c:{int}"), EarlierWeight::Unknown);
    }

    #[test]
    fn an_unlisted_pattern_took_at_most_what_the_listed_ones_left() {
        let list = [("a:{int}", 5, 500), ("b:{int}", 1, 490)];
        assert_eq!(before(&earlier(&list, false), "c:{int}"), EarlierWeight::AtMost(Bytes(10)));
        // A report that lists more than its total says nothing by it.
        let list = [("a:{int}", 5, 900), ("b:{int}", 1, 490)];
        assert_eq!(before(&earlier(&list, false), "c:{int}"), EarlierWeight::AtMost(Bytes(490)));
    }

    #[test]
    fn a_collapsed_level_is_compared_with_the_sum_of_its_patterns() {
        let list = [("a:x:n", 1, 10), ("a:y:n", 2, 20), ("a:y:m", 4, 40), ("a:{int}:n", 16, 160), ("a:z", 8, 80)];
        assert_eq!(before(&earlier(&list, true), "a:{*}:n"), known(3, 30));
        assert_eq!(before(&earlier(&list, true), "b:{*}:n"), EarlierWeight::Absent);
        // All that is not listed may have been below it.
        assert_eq!(before(&earlier(&list, false), "a:{*}:n"), EarlierWeight::AtMost(Bytes(30 + 690)));
        let listed = [("a:{*}:n", 9, 90), ("b", 1, 10)];
        assert_eq!(before(&earlier(&listed, false), "a:{*}:n"), known(9, 90));
    }

    #[test]
    fn at_its_end_a_collapsed_pattern_stands_for_several_segments_in_strict_mode() {
        let list = [("a:x:o:{int}:d:i:v1", 1, 10), ("a:y:o:{int}:d:{int}", 2, 20), ("a:y:p:{int}:d", 4, 40)];
        let old = earlier(&list, true);
        let strict = old.before(&["a:{*}:o:{int}:{*}"], true, &Separators::default());
        assert_eq!(strict, [known(3, 30)]);
        // The same text stood for fewer keys.
        let old = earlier(&[("a:b:c:d:{*}", 1, 10), ("a:b:c:d:e:f", 2, 20)], true);
        assert_eq!(old.before(&["a:b:c:d:{*}"], true, &Separators::default()), [known(3, 30)]);
        assert_eq!(old.before(&["a:b:c:d:{*}"], false, &Separators::default()), [known(1, 10)]);
    }

    #[test]
    fn a_pattern_of_a_level_that_was_collapsed_is_not_new() {
        let list = [("a:{*}:n", 9, 90), ("b", 1, 10)];
        assert_eq!(before(&earlier(&list, true), "a:x:n"), EarlierWeight::AtMost(Bytes(90)));
        assert_eq!(before(&earlier(&list, true), "a:x:m"), EarlierWeight::Absent);
        assert_eq!(before(&earlier(&list, false), "a:x:m"), EarlierWeight::AtMost(Bytes(10)));
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
